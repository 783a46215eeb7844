// The transpose by tiles: a block reads rows and writes rows, and turns its tile round in shared memory.

#include "first_kernels.cuh"
#include "rungs/cuda_check.cuh"

// TODO 11.1 (about 12 lines): the kernel, transpose_tiled_kernel. Both its loads and its stores are
// coalesced, and no two lanes of a warp meet in one bank of shared memory.
// BEGIN SOLUTION
static constexpr int side = 32;

/// A block owns a tile of 32 x 32 elements, a thread one of them on the way in and another on the way out.
__global__ void transpose_tiled_kernel(const float* in, float* out, int rows, int columns) {
    __shared__ float tile[side][side + 1];  // one column more: a column of the tile lies in 32 banks
    const int column = blockIdx.x * side + threadIdx.x;
    const int row = blockIdx.y * side + threadIdx.y;
    if (row < rows && column < columns) tile[threadIdx.y][threadIdx.x] = in[row * columns + column];
    __syncthreads();
    const int out_column = blockIdx.y * side + threadIdx.x;
    const int out_row = blockIdx.x * side + threadIdx.y;
    if (out_row < columns && out_column < rows) {
        out[out_row * rows + out_column] = tile[threadIdx.x][threadIdx.y];
    }
}
// END SOLUTION

void first_kernels::transpose_tiled(const float* in, float* out, int rows, int columns, cudaStream_t stream) {
    // TODO 11.2 (about 5 lines): the launch.
    // BEGIN SOLUTION
    if (rows == 0 || columns == 0) return;
    const dim3 block(side, side);
    const dim3 grid((columns + side - 1) / side, (rows + side - 1) / side);
    transpose_tiled_kernel<<<grid, block, 0, stream>>>(in, out, rows, columns);
    CUDA_CHECK(cudaGetLastError());
    // END SOLUTION
}
