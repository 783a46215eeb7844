// The transpose, one thread for every element: it reads along a row and writes down a column.

#include "first_kernels.cuh"
#include "rungs/cuda_check.cuh"

static constexpr int side = 32;

// [kernel]
/// A block owns a tile of 32 x 32 elements, a thread one of them.
__global__ void transpose_kernel(const float* in, float* out, int rows, int columns) {
    const int column = blockIdx.x * side + threadIdx.x;
    const int row = blockIdx.y * side + threadIdx.y;
    if (row < rows && column < columns) out[column * rows + row] = in[row * columns + column];
}
// [kernel]

void first_kernels::transpose(const float* in, float* out, int rows, int columns, cudaStream_t stream) {
    if (rows == 0 || columns == 0) return;
    const dim3 block(side, side);
    const dim3 grid((columns + side - 1) / side, (rows + side - 1) / side);
    transpose_kernel<<<grid, block, 0, stream>>>(in, out, rows, columns);
    CUDA_CHECK(cudaGetLastError());
}
