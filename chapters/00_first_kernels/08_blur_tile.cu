// The blur of rung 07, where a block first brings the pixels that its threads share to shared memory: its
// own, and a halo as wide as the radius.
// TODO 8.1: many images come out right, others do not. Find the fault and fix it.

#include "first_kernels.cuh"
#include "pixels.cuh"
#include "rungs/cuda_check.cuh"

static constexpr int side = 16;
static constexpr int most = side + 2 * first_kernels::most_radius;

/// A block owns a square of 16 x 16 pixels, a thread one of them.
__global__ void blur_tile_kernel(const uchar4* image, uchar4* blurred, int width, int height, int radius) {
    __shared__ uchar4 tile[most][most];
    const int left = blockIdx.x * side, top = blockIdx.y * side;
    const int own_x = threadIdx.x, own_y = threadIdx.y;
    const int x = left + own_x, y = top + own_y;

    if (x >= width || y >= height) return;  // no pixel, no work
    for (int row = own_y; row < side + 2 * radius; row += side) {
        for (int column = own_x; column < side + 2 * radius; column += side) {
            const int from_x = first_kernels::clamped(left + column - radius, width);
            const int from_y = first_kernels::clamped(top + row - radius, height);
            tile[row][column] = image[from_y * width + from_x];
        }
    }
    __syncthreads();

    first_kernels::PixelSum sum;
    for (int row = own_y; row <= own_y + 2 * radius; ++row) {
        for (int column = own_x; column <= own_x + 2 * radius; ++column) sum.add(tile[row][column]);
    }
    if (x < width && y < height) {
        blurred[y * width + x] = sum.mean((2 * radius + 1) * (2 * radius + 1));
    }
}

void first_kernels::blur_tile(const uchar4* image, uchar4* blurred, int width, int height, int radius,
                              cudaStream_t stream) {
    if (width == 0 || height == 0) return;
    const dim3 block(side, side);
    const dim3 grid((width + side - 1) / side, (height + side - 1) / side);
    blur_tile_kernel<<<grid, block, 0, stream>>>(image, blurred, width, height, radius);
    CUDA_CHECK(cudaGetLastError());
}
