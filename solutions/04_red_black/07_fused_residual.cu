// The norm falls out of the update. A red point moves by (b - A u) / 6 at that point, so its step tells the
// residual that was there before; and a black point, updated last, has none. So the pass that computed the
// residual again, 6 bytes for each point, is needed for the last iteration only.

#include "red_black.cuh"
#include "split.cuh"

// TODO 7.1: the kernel of a half-sweep on the arrays of split.cuh. It adds the squares of the residual before
// the update to *total, if asked to. split.cuh has what loads four elements at once and adds up their
// neighbours; norm.cuh what adds up the squares of a block.
// BEGIN SOLUTION
// A block owns 64 x 4 x 4 elements: the more compact it is, the fewer of its neighbours belong to others.
static constexpr int along_k = 16, along_j = 4, along_i = 4;  // threads

/// A thread owns four elements m, ... m + 3 of a row of its colour. With `norm`, the squares of the residual
/// before the update are added to *total; without, the values before are not even read.
template <class T, bool norm>
__global__ void __launch_bounds__(along_k* along_j* along_i)
    fused_residual_kernel(const T* b, const T* other, T* own, double* total, int n, int colour) {
    const int m = 4 * (blockIdx.x * along_k + threadIdx.x);
    const int j = blockIdx.y * along_j + threadIdx.y;
    // Black goes from the last plane to the first: what red has touched last is still in the cache.
    const int i = along_i * (colour == 0 ? blockIdx.z : gridDim.z - 1 - blockIdx.z) + threadIdx.z;
    double squares = 0;
    if (i < n && j < n && 2 * m < n) {  // no early return: all threads add up their squares below
        const int parity = (i + j + colour) & 1;
        const std::size_t c = (static_cast<std::size_t>(i) * n + j) * red_black::half_row(n) + m;
        const red_black::Four<T> rhs = red_black::four(b, c);
        red_black::Four<T> mine{};
        if (norm) mine = red_black::four(own, c);
        const red_black::Four<T> sum = red_black::four_neighbours(other, c, i, j, m, parity, n);
#pragma unroll
        for (int v = 0; v < 4; ++v) {
            const bool inside = 2 * (m + v) + parity < n;
            const T updated = inside ? (rhs.v[v] + sum.v[v]) * T(1.0 / 6.0) : T(0);
            const T residual = T(6) * (updated - mine.v[v]);
            squares += residual * residual;
            mine.v[v] = updated;
        }
        *reinterpret_cast<red_black::Four<T>*>(own + c) = mine;
    }
    if (norm) red_black::add_over_block(squares, total);
}
// END SOLUTION

template <class T>
static void launch(const T* start, const T* b, T* u, double* norms, T* work, int n, int iterations,
                   cudaStream_t stream) {
    const red_black::Split<T> halves(work, n);

    red_black::clear(norms, iterations, stream);
    if (n == 0) return;
    red_black::split(start, halves.u, n, stream);
    red_black::split(b, halves.b, n, stream);
    // TODO 7.2: the half-sweeps of all iterations. norms[t] belongs to the iterate after iteration t + 1; the
    // last norm is found below.
    // BEGIN SOLUTION
    const auto blocks = [](std::size_t elements, int each) {
        return static_cast<unsigned>((elements + each - 1) / each);
    };
    const dim3 block(along_k, along_j, along_i);
    const dim3 grid(blocks(red_black::half_row(n), 4 * along_k), blocks(n, along_j), blocks(n, along_i));
    for (int t = 0; t < iterations; ++t) {
        for (int colour = 0; colour < 2; ++colour) {
            double* const total = colour == 0 && t > 0 ? norms + t - 1 : nullptr;
            const auto kernel = total ? fused_residual_kernel<T, true> : fused_residual_kernel<T, false>;
            kernel<<<grid, block, 0, stream>>>(halves.b[colour], halves.u[1 - colour], halves.u[colour],
                                               total, n, colour);
            CUDA_CHECK(cudaGetLastError());
        }
    }
    // END SOLUTION
    if (iterations > 0) red_black::add_red_residual(halves, norms + iterations - 1, n, stream);
    red_black::merge(halves.u, u, n, stream);
    red_black::take_roots(norms, iterations, stream);
}

void red_black::fused_residual(const float* start, const float* b, float* u, double* norms, float* work,
                               int n, int iterations, cudaStream_t stream) {
    launch(start, b, u, norms, work, n, iterations, stream);
}

void red_black::fused_residual(const double* start, const double* b, double* u, double* norms, double* work,
                               int n, int iterations, cudaStream_t stream) {
    launch(start, b, u, norms, work, n, iterations, stream);
}
