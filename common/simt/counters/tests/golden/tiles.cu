// Matrices, halos and tiles: global and shared memory together.

#include "counters/tests/golden/golden.h"

namespace golden {

static constexpr unsigned tile_side = 32;
static constexpr unsigned rows = 8;  // of threads in a block of 32 x 8

__global__ void transpose_naive(const float* in, float* out) {
    const unsigned col = blockIdx.x * tile_side + threadIdx.x;
    for (unsigned r = threadIdx.y; r < tile_side; r += rows) {
        const unsigned row = blockIdx.y * tile_side + r;
        out[col * side + row] = in[row * side + col];
    }
}

/// `pad` words at the end of each row of the tile: 0 has the 32-way conflict, 1 has none.
template <unsigned pad>
__global__ void transpose_tiled(const float* in, float* out) {
    __shared__ float tile[tile_side][tile_side + pad];
    const unsigned x = blockIdx.x * tile_side, y = blockIdx.y * tile_side;
    for (unsigned r = threadIdx.y; r < tile_side; r += rows) {
        tile[r][threadIdx.x] = in[(y + r) * side + x + threadIdx.x];
    }
    __syncthreads();
    for (unsigned r = threadIdx.y; r < tile_side; r += rows) {
        out[(x + r) * side + y + threadIdx.x] = tile[threadIdx.x][r];
    }
}

/// One load a thread, and two threads of the block load the halo.
__global__ void halo_1d(const float* in, float* out) {
    __shared__ float tile[threads + 2];
    const unsigned i = own_index() + 1;
    tile[threadIdx.x + 1] = in[i];
    if (threadIdx.x == 0) tile[0] = in[i - 1];
    if (threadIdx.x == threads - 1) tile[threads + 1] = in[i + 1];
    __syncthreads();
    out[i] = 0.25f * tile[threadIdx.x] + 0.5f * tile[threadIdx.x + 1] + 0.25f * tile[threadIdx.x + 2];
}

/// 16 x 16 threads load 18 x 18 cells, by their number in the tile.
__global__ void halo_2d(const float* in, float* out) {
    constexpr unsigned inner = 16, outer = inner + 2;
    __shared__ float tile[outer][outer];
    const unsigned x = blockIdx.x * inner, y = blockIdx.y * inner;
    for (unsigned k = threadIdx.y * inner + threadIdx.x; k < outer * outer; k += inner * inner) {
        tile[k / outer][k % outer] = in[(y + k / outer) * side + x + k % outer];
    }
    __syncthreads();
    const unsigned c = threadIdx.x + 1, r = threadIdx.y + 1;
    out[(y + r) * side + x + c] = 0.25f * (tile[r - 1][c] + tile[r + 1][c] + tile[r][c - 1] + tile[r][c + 1]);
}

/// Five points without shared memory, borders left alone.
__global__ void stencil_2d(const float* in, float* out) {
    const unsigned col = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
    if (col == 0 || row == 0 || col == side - 1 || row == side - 1) return;
    const unsigned i = row * side + col;
    out[i] = 0.25f * (in[i - 1] + in[i + 1] + in[i - side] + in[i + side]);
}

/// C = A B, all in global memory: a warp broadcasts A and reads a row of B.
__global__ void matrix_product_naive(const float* a, const float* b, float* c) {
    const unsigned col = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0.0f;
    for (unsigned k = 0; k < side; ++k) sum += a[row * side + k] * b[k * side + col];
    c[row * side + col] = sum;
}

/// The same by tiles of 16 x 16 in shared memory: a warp spans two rows of the tile.
__global__ void matrix_product_tiled(const float* a, const float* b, float* c) {
    constexpr unsigned n = 16;
    __shared__ float as[n][n], bs[n][n];
    const unsigned col = blockIdx.x * n + threadIdx.x, row = blockIdx.y * n + threadIdx.y;
    float sum = 0.0f;
    for (unsigned first = 0; first < side; first += n) {
        as[threadIdx.y][threadIdx.x] = a[row * side + first + threadIdx.x];
        bs[threadIdx.y][threadIdx.x] = b[(first + threadIdx.y) * side + col];
        __syncthreads();
        for (unsigned k = 0; k < n; ++k) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
        __syncthreads();
    }
    c[row * side + col] = sum;
}

/// One thread a row of a matrix stored by rows: every lane has a line of its own.
__global__ void matrix_vector_by_rows(const float* a, const float* x, float* y) {
    const unsigned row = own_index();
    float sum = 0.0f;
    for (unsigned k = 0; k < side; ++k) sum += a[row * side + k] * x[k];
    y[row] = sum;
}

/// One thread a row of a matrix stored by columns.
__global__ void matrix_vector_by_columns(const float* a, const float* x, float* y) {
    const unsigned row = own_index();
    float sum = 0.0f;
    for (unsigned k = 0; k < side; ++k) sum += a[k * side + row] * x[k];
    y[row] = sum;
}

std::vector<Kernel> tile_kernels() {
    static constexpr unsigned tiles = side / tile_side;
    return {
        {"transpose_naive", "rows in, columns out",
         [](const Data& d) { transpose_naive<<<dim3(tiles, tiles), dim3(32, rows)>>>(d.in, d.out); }},
        {"transpose_tiled", "through tile[32][32]",
         [](const Data& d) { transpose_tiled<0><<<dim3(tiles, tiles), dim3(32, rows)>>>(d.in, d.out); }},
        {"transpose_padded", "through tile[32][33]",
         [](const Data& d) { transpose_tiled<1><<<dim3(tiles, tiles), dim3(32, rows)>>>(d.in, d.out); }},
        {"halo_1d", "a tile with one cell more at each side",
         [](const Data& d) { halo_1d<<<blocks, threads>>>(d.in, d.out); }},
        {"halo_2d", "an 18 x 18 tile by 16 x 16 threads",
         [](const Data& d) { halo_2d<<<dim3(7, 7), dim3(16, 16)>>>(d.in, d.out); }},
        {"stencil_2d", "five points in global memory",
         [](const Data& d) { stencil_2d<<<dim3(4, 16), dim3(32, 8)>>>(d.in, d.out); }},
        {"matrix_product_naive", "128 x 128, global memory",
         [](const Data& d) {
             matrix_product_naive<<<dim3(4, 16), dim3(32, 8)>>>(d.in, d.in + side * side, d.out);
         }},
        {"matrix_product_tiled", "128 x 128, tiles of 16 x 16",
         [](const Data& d) {
             matrix_product_tiled<<<dim3(8, 8), dim3(16, 16)>>>(d.in, d.in + side * side, d.out);
         }},
        {"matrix_vector_by_rows", "a thread a row, stored by rows",
         [](const Data& d) { matrix_vector_by_rows<<<2, 64>>>(d.in, d.in + side * side, d.out); }},
        {"matrix_vector_by_columns", "a thread a row, stored by columns",
         [](const Data& d) { matrix_vector_by_columns<<<2, 64>>>(d.in, d.in + side * side, d.out); }},
    };
}

}  // namespace golden
