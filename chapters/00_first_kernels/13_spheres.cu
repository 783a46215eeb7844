// A picture of forty spheres: one thread for every pixel, and all threads read the same scene.

#include "first_kernels.cuh"
#include "rungs/cuda_check.cuh"
#include "spheres.cuh"

using first_kernels::Sphere;

static constexpr int side = 16;

// TODO 13.1 (1 line): the scene, sphere_count spheres, in constant memory.

/// A block owns a square of 16 x 16 pixels, a thread one of them.
__global__ void spheres_kernel(uchar4* image, int width, int height) {
    const int column = blockIdx.x * side + threadIdx.x;
    const int row = blockIdx.y * side + threadIdx.y;
    if (column >= width || row >= height) return;
    const int x = column * first_kernels::scene_side / width;
    const int y = row * first_kernels::scene_side / height;

    // TODO 13.2 (about 8 lines): the colour of the sphere that is highest at (x, y), or the background.
}

void first_kernels::spheres(uchar4* image, int width, int height, cudaStream_t stream) {
    if (width == 0 || height == 0) return;
    // TODO 13.3 (about 3 lines): bring spheres_of_the_scene to constant memory, in the order of the stream.
    const dim3 block(side, side);
    const dim3 grid((width + side - 1) / side, (height + side - 1) / side);
    spheres_kernel<<<grid, block, 0, stream>>>(image, width, height);
    CUDA_CHECK(cudaGetLastError());
}
