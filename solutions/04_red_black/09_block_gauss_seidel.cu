// Gauss-Seidel inside a tile, Jacobi between tiles: a block fetches its tile with a halo of one point,
// iterates in shared memory as often as it likes, and writes the tile back. Only the first of the sweeps
// costs memory traffic.

#include "norm.cuh"
#include "red_black.cuh"

using red_black::tile_i;
using red_black::tile_j;
using red_black::tile_k;

// TODO 9.1: the kernel, block_gauss_seidel_kernel. A block owns a tile of the contract's size; it iterates
// `sweeps` times in shared memory, and before that adds up the residual of the iterate that it fetched.
// BEGIN SOLUTION
/// A block owns a tile, a thread the tile_i points of it that have its j and k. ||b - A old||^2 is added to
/// *total, unless that is null.
template <class T>
__global__ void __launch_bounds__(tile_k* tile_j)
    block_gauss_seidel_kernel(const T* b, const T* old, T* next, double* total, int n, int sweeps) {
    __shared__ T tile[tile_i + 2][tile_j + 2][tile_k + 2];
    const int i0 = blockIdx.z * tile_i, j0 = blockIdx.y * tile_j, k0 = blockIdx.x * tile_k;
    const int j = j0 + threadIdx.y, k = k0 + threadIdx.x, y = threadIdx.y + 1, x = threadIdx.x + 1;
    const std::size_t row = n, plane = row * n;
    const auto value = [&](int a, int e, int o) {
        const bool inside = a >= 0 && e >= 0 && o >= 0 && a < n && e < n && o < n;
        return inside ? old[a * plane + e * row + o] : T(0);
    };

    T rhs[tile_i];
#pragma unroll
    for (int z = 0; z < tile_i + 2; ++z) {
        const int i = i0 + z - 1;
        tile[z][y][x] = value(i, j, k);
        if (threadIdx.y == 0) tile[z][0][x] = value(i, j0 - 1, k);
        if (threadIdx.y == tile_j - 1) tile[z][tile_j + 1][x] = value(i, j0 + tile_j, k);
        if (threadIdx.x == 0) tile[z][y][0] = value(i, j, k0 - 1);
        if (threadIdx.x == tile_k - 1) tile[z][y][tile_k + 1] = value(i, j, k0 + tile_k);
        if (z > 0 && z <= tile_i) rhs[z - 1] = i < n && j < n && k < n ? b[i * plane + j * row + k] : T(0);
    }
    __syncthreads();
    const auto around = [&](int z) {
        return ((tile[z - 1][y][x] + tile[z + 1][y][x]) + (tile[z][y - 1][x] + tile[z][y + 1][x])) +
               (tile[z][y][x - 1] + tile[z][y][x + 1]);
    };
    const auto inside = [&](int z) { return i0 + z - 1 < n && j < n && k < n; };

    double squares = 0;
    for (int z = 1; z <= tile_i && total; ++z) {
        const T r = (rhs[z - 1] - T(6) * tile[z][y][x]) + around(z);
        if (inside(z)) squares += r * r;
    }
    if (total) red_black::add_over_block(squares, total);  // and a barrier: all have read before one writes

    for (int half = 0; half < 2 * sweeps; ++half) {
#pragma unroll
        for (int z = 1; z <= tile_i; ++z) {
            const bool due = ((i0 + z - 1 + j + k) & 1) == (half & 1);
            if (due && inside(z)) tile[z][y][x] = (rhs[z - 1] + around(z)) * T(1.0 / 6.0);
        }
        __syncthreads();
    }

    for (int z = 1; z <= tile_i; ++z) {
        if (inside(z)) next[(i0 + z - 1) * plane + j * row + k] = tile[z][y][x];
    }
}
// END SOLUTION

template <class T>
static void launch(const T* start, const T* b, T* u, double* norms, T* work, int n, int iterations,
                   int sweeps, cudaStream_t stream) {
    const std::size_t bytes = static_cast<std::size_t>(n) * n * n * sizeof(T);

    red_black::clear(norms, iterations, stream);
    if (n == 0) return;
    if (iterations == 0) CUDA_CHECK(cudaMemcpyAsync(u, start, bytes, cudaMemcpyDeviceToDevice, stream));
    // TODO 9.2: the launches of all iterations, and all norms. The last iterate has to be in u.
    // BEGIN SOLUTION
    const dim3 block(tile_k, tile_j);
    const dim3 grid((n + tile_k - 1) / tile_k, (n + tile_j - 1) / tile_j, (n + tile_i - 1) / tile_i);
    const T* old = start;
    for (int t = 0; t < iterations; ++t) {
        T* const next = (iterations - t) % 2 ? u : work;  // the last one is u
        block_gauss_seidel_kernel<<<grid, block, 0, stream>>>(b, old, next, t > 0 ? norms + t - 1 : nullptr,
                                                              n, sweeps);
        CUDA_CHECK(cudaGetLastError());
        old = next;
    }
    if (iterations > 0) red_black::add_residual(b, u, norms + iterations - 1, n, stream);
    // END SOLUTION
    red_black::take_roots(norms, iterations, stream);
}

void red_black::block_gauss_seidel(const float* start, const float* b, float* u, double* norms, float* work,
                                   int n, int iterations, int sweeps, cudaStream_t stream) {
    launch(start, b, u, norms, work, n, iterations, sweeps, stream);
}

void red_black::block_gauss_seidel(const double* start, const double* b, double* u, double* norms,
                                   double* work, int n, int iterations, int sweeps, cudaStream_t stream) {
    launch(start, b, u, norms, work, n, iterations, sweeps, stream);
}
