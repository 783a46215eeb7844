// Jacobi with each tile of the cube in shared memory, where the six neighbours are read. A block goes through
// tiles one behind the other along i.
//
// TODO 2.1: iterates in float come out right, those in double are off in the eighth digit. Find the fault in
// the kernel and fix it.

#include <algorithm>

#include "red_black.cuh"
#include "sweeps.cuh"

static constexpr int along_k = 32, along_j = 8, along_i = 4;  ///< points of a tile, threads of a block
static constexpr int most_blocks = 4;                         ///< along i, each with many tiles

/// A block owns every gridDim.z-th tile of a column of tiles, a thread one point of each. A tile has a halo
/// of one point on each side; what lies outside the cube is 0.
template <class T>
__global__ void __launch_bounds__(along_k* along_j* along_i)
    shared_tile_kernel(const T* b, const T* old, T* next, int n) {
    __shared__ T tile[along_i + 2][along_j + 2][along_k + 2];
    const int x = threadIdx.x + 1, y = threadIdx.y + 1, z = threadIdx.z + 1;
    const int k = blockIdx.x * along_k + threadIdx.x, j = blockIdx.y * along_j + threadIdx.y;
    const std::size_t row = n, plane = row * n;
    const auto value = [&](int a, int e, int o) {
        const bool inside = a >= 0 && e >= 0 && o >= 0 && a < n && e < n && o < n;
        return inside ? old[a * plane + e * row + o] : T(0);
    };

    for (int i0 = blockIdx.z * along_i; i0 < n; i0 += gridDim.z * along_i) {
        const int i = i0 + threadIdx.z;
        tile[z][y][x] = value(i, j, k);
        if (z == 1) tile[0][y][x] = value(i - 1, j, k);
        if (z == along_i) tile[along_i + 1][y][x] = value(i + 1, j, k);
        if (y == 1) tile[z][0][x] = value(i, j - 1, k);
        if (y == along_j) tile[z][along_j + 1][x] = value(i, j + 1, k);
        if (x == 1) tile[z][y][0] = value(i, j, k - 1);
        if (x == along_k) tile[z][y][along_k + 1] = value(i, j, k + 1);
        __syncthreads();

        const T sum = ((tile[z - 1][y][x] + tile[z + 1][y][x]) + (tile[z][y - 1][x] + tile[z][y + 1][x])) +
                      (tile[z][y][x - 1] + tile[z][y][x + 1]);
        const std::size_t c = i * plane + j * row + k;
        // BEGIN SOLUTION
        if (i < n && j < n && k < n) next[c] = (b[c] + sum) * T(1.0 / 6.0);
        //~ if (i < n && j < n && k < n) next[c] = (b[c] + sum) * (1.0f / 6.0f);
        // END SOLUTION
        __syncthreads();  // all have read this tile before the next one comes in
    }
}

template <class T>
static void sweep(const T* b, const T* old, T* next, int n, cudaStream_t stream) {
    const dim3 block(along_k, along_j, along_i);
    const dim3 grid((n + along_k - 1) / along_k, (n + along_j - 1) / along_j,
                    std::min((n + along_i - 1) / along_i, most_blocks));
    shared_tile_kernel<<<grid, block, 0, stream>>>(b, old, next, n);
    CUDA_CHECK(cudaGetLastError());
}

void red_black::shared_tile(const float* start, const float* b, float* u, double* norms, float* work, int n,
                            int iterations, cudaStream_t stream) {
    iterate_between(start, b, u, norms, work, n, iterations, stream, sweep<float>);
}

void red_black::shared_tile(const double* start, const double* b, double* u, double* norms, double* work,
                            int n, int iterations, cudaStream_t stream) {
    iterate_between(start, b, u, norms, work, n, iterations, stream, sweep<double>);
}
