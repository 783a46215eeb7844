// A V-cycle, the parts put together: on each grid a sweep from 0, the residual to the next grid; and back
// with the correction, and a sweep in the opposite order.

#include <vector>

#include "grids.cuh"

using namespace pcg;

// TODO 11.1: the kernels. Those of rungs 09 and 10 are what is needed, besides one for r - A x.
// BEGIN SOLUTION
static constexpr int block_size = 256;

static __device__ long long thread_number() {
    return blockIdx.x * static_cast<long long>(block_size) + threadIdx.x;
}

/// A thread owns a point: relaxed if it has this colour, or, with colour 2, replaced by what is left of r.
template <int d>
__global__ void v_cycle_kernel(const float* r, const float* x, float* y, int side, int colour) {
    const long long i = thread_number();
    if (i >= points(d, side)) return;
    const Point<d> point(i, side);
    if (colour != 2 && colour != colour_of(point)) return;
    const float around = -laplace_at(point, side, 0.0f, [x](const Point<d>& at) { return x[at.index]; });
    y[i] = colour == 2 ? r[i] - (2 * d * x[i] - around) : (r[i] + around) / (2 * d);
}

/// Visits the 2^d coarse points that a fine point takes from: use(index, weight).
template <int d, class Use>
__device__ void for_coarse(const Point<d>& fine, int side, const Use& use) {
    const Weights weight_of(side);
    for (int corner = 0; corner < 1 << d; ++corner) {
        float weight = 1;
        long long index = 0, stride = 1;
        for (int k = 0; k < d; ++k, stride *= coarse_side(side)) {
            const int before = corner >> k & 1, from = fine.c[k] / 2 - before;
            const float after = weight_of(fine.c[k]);
            weight *= from < 0 || from >= coarse_side(side) ? 0 : before ? 1 - after : after;
            index += from * stride;
        }
        if (weight != 0) use(index, weight);
    }
}

/// A thread owns a fine point. Down: it gives its residual away, to a coarse grid that is 0 at first.
template <int d>
__global__ void give_kernel(const float* rest, float* coarse, int side, float scale) {
    const long long i = thread_number();
    if (i >= points(d, side)) return;
    for_coarse(Point<d>(i, side), side,
               [&](long long at, float weight) { atomicAdd(&coarse[at], scale * weight * rest[i]); });
}

/// A thread owns a fine point. Up: it takes the correction.
template <int d>
__global__ void take_kernel(const float* coarse, float* x, int side) {
    const long long i = thread_number();
    if (i >= points(d, side)) return;
    for_coarse(Point<d>(i, side), side, [&](long long at, float weight) { x[i] += weight * coarse[at]; });
}
// END SOLUTION

void pcg::v_cycle(const float* u, float* y, int dimensions, int side, int count, cudaStream_t stream) {
    with_dimensions(dimensions, side, [&](auto known) {
        constexpr int d = decltype(known)::value;
        // TODO 11.2: memory for r, x and what is left of r, one rungs::stream_workspace for all grids together: a
        // second call gives the same memory again. Then, for each of the `count` vectors, the
        // launches down and up.
        // BEGIN SOLUTION
        std::vector<long long> begin{0};
        std::vector<int> sides;
        for (int s = side; s > 0; s = coarse_side(s)) {
            sides.push_back(s);
            begin.push_back(begin.back() + points(d, s));
        }
        const long long n = points(d, side), all = begin.back();
        auto* const r = static_cast<float*>(rungs::stream_workspace(stream, 3 * all * sizeof(float)));
        float *const x = r + all, *const rest = x + all;
        const auto blocks = [&](int level) {
            return static_cast<unsigned>((points(d, sides[level]) - 1) / block_size + 1);
        };
        const auto pass = [&](int level, float* to, int colour) {
            const long long at = begin[level];
            v_cycle_kernel<d>
                <<<blocks(level), block_size, 0, stream>>>(r + at, x + at, to + at, sides[level], colour);
        };
        const int last = static_cast<int>(sides.size()) - 1;
        for (int v = 0; v < count && n > 0; ++v) {
            CUDA_CHECK(cudaMemsetAsync(r + n, 0, (2 * all - n) * sizeof(float), stream));  // and x
            CUDA_CHECK(cudaMemcpyAsync(r, u + v * n, n * sizeof(float), cudaMemcpyDeviceToDevice, stream));
            for (int level = 0; level <= last; ++level) {
                pass(level, x, 0), pass(level, x, 1);
                if (level == last) break;
                pass(level, rest, 2);
                give_kernel<d><<<blocks(level), block_size, 0, stream>>>(rest + begin[level],
                                                                         r + begin[level + 1], sides[level],
                                                                         restriction_scale(d, sides[level]));
            }
            for (int level = last; level >= 0; --level) {
                if (level < last)
                    take_kernel<d><<<blocks(level), block_size, 0, stream>>>(x + begin[level + 1],
                                                                             x + begin[level], sides[level]);
                pass(level, x, 1), pass(level, x, 0);
            }
            CUDA_CHECK(cudaMemcpyAsync(y + v * n, x, n * sizeof(float), cudaMemcpyDeviceToDevice, stream));
        }
        CUDA_CHECK(cudaGetLastError());
        // END SOLUTION
    });
}
