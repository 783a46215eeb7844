// A blur: every thread reads all pixels around its own from device memory.

#include "first_kernels.cuh"
#include "pixels.cuh"
#include "rungs/cuda_check.cuh"

static constexpr int side = 16;

// [kernel]
/// A block owns a square of 16 x 16 pixels, a thread one of them.
__global__ void blur_kernel(const uchar4* image, uchar4* blurred, int width, int height, int radius) {
    const int x = blockIdx.x * side + threadIdx.x;
    const int y = blockIdx.y * side + threadIdx.y;
    if (x >= width || y >= height) return;

    first_kernels::PixelSum sum;
    for (int row = y - radius; row <= y + radius; ++row) {
        for (int column = x - radius; column <= x + radius; ++column) {
            sum.add(
                image[first_kernels::clamped(row, height) * width + first_kernels::clamped(column, width)]);
        }
    }
    blurred[y * width + x] = sum.mean((2 * radius + 1) * (2 * radius + 1));
}
// [kernel]

void first_kernels::blur(const uchar4* image, uchar4* blurred, int width, int height, int radius,
                         cudaStream_t stream) {
    if (width == 0 || height == 0) return;
    const dim3 block(side, side);
    const dim3 grid((width + side - 1) / side, (height + side - 1) / side);
    blur_kernel<<<grid, block, 0, stream>>>(image, blurred, width, height, radius);
    CUDA_CHECK(cudaGetLastError());
}
