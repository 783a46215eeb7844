#pragma once
// How the residual falls with time: --history. The same cube and right-hand side as in chapter 4's program,
// which writes the same table, so that two chapters' methods can be drawn together.

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "exam/reference.hpp"
#include "pcg.cuh"
#include "rungs/device_buffer.cuh"
#include "rungs/program.hpp"
#include "rungs/random.hpp"
#include "rungs/solve_history.cuh"
#include "solver.cuh"

namespace pcg {

/// The sums of steepest descent: those of iteration k are elements 2 k, r.r, and 2 k + 1, r.A r.
inline __device__ void add_to(double* sum, double term) {
    Sums<1> sums;
    sums.of[0] = term;
    sums = block_sums(sums);
    if (threadIdx.x == 0) atomicAdd(sum, sums.of[0]);
}

/// A thread owns a point: x = 0, r = b.
template <class T>
__global__ void descent_start_kernel(const T* b, T* x, T* r, double* sums, long long n) {
    const long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
    if (i < n) x[i] = 0, r[i] = b[i];
    add_to(&sums[0], i < n ? double(b[i]) * b[i] : 0.0);
}

/// A thread owns a point: w = A r.
template <class T, int d>
__global__ void descent_product_kernel(const T* r, T* w, double* sums, int side, long long n) {
    const long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
    if (i < n) w[i] = laplace_at(r, Point<d>(i, side), side);
    add_to(&sums[1], i < n ? double(r[i]) * w[i] : 0.0);
}

/// A thread owns a point: a step along r.
template <class T>
__global__ void descent_step_kernel(const T* w, T* x, T* r, double* sums, long long n) {
    const long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
    double square = 0;
    if (i < n) {
        const T alpha = static_cast<T>(sums[1] > 0 ? sums[0] / sums[1] : 0.0);
        x[i] += alpha * r[i];
        r[i] -= alpha * w[i];
        square = double(r[i]) * r[i];
    }
    add_to(&sums[2], square);
}

/// Queues `iterations` of steepest descent for A x = b, from x = 0. @param sums  2 * iterations + 2 doubles
template <class T, int d>
void descend(const T* b, T* x, T* r, T* w, double* sums, int side, int iterations, cudaStream_t stream) {
    constexpr int block_size = 256;
    const long long n = points(d, side);
    const auto blocks = static_cast<unsigned>((n + block_size - 1) / block_size);
    CUDA_CHECK(
        cudaMemsetAsync(sums, 0, (2 * static_cast<std::size_t>(iterations) + 2) * sizeof(double), stream));
    descent_start_kernel<<<blocks, block_size, 0, stream>>>(b, x, r, sums, n);
    for (int k = 0; k < iterations; ++k, sums += 2) {
        descent_product_kernel<T, d><<<blocks, block_size, 0, stream>>>(r, w, sums, side, n);
        descent_step_kernel<<<blocks, block_size, 0, stream>>>(w, x, r, sums, n);
    }
    CUDA_CHECK(cudaGetLastError());
}

/// Solves for random numbers of seed 1, in T, and records how far each call gets.
template <class T>
class HistoryOf {
  public:
    HistoryOf(rungs::SolveHistory& history, int side, double least)
        : history_(history),
          grid_{3, side},
          least_(least),
          field_(rungs::random_field<T>(grid_.points(), 1, rungs::signed_uniform)),
          b_(field_.begin(), field_.end()),
          d_b_(field_),
          d_x_(field_.size()),
          outcome_(2) {}

    void solve(const std::string& name, Solve<T>* rung) {
        history_.record(
            name,
            [&](int limit, cudaStream_t stream) {
                if (norms_.size() < static_cast<std::size_t>(limit) + 1)
                    norms_ = rungs::DeviceBuffer<double>(static_cast<std::size_t>(limit) + 1);
                rung(d_b_.data(), d_x_.data(), norms_.data(), outcome_.data(), 3, grid_.L, limit, least_,
                     stream);
            },
            [&](int) { return reached(outcome_.to_host()[1]); });
    }

    void descent(const std::string& name) {
        rungs::DeviceBuffer<T> r(field_.size()), w(field_.size());
        history_.record(
            name,
            [&](int limit, cudaStream_t stream) {
                const std::size_t sums = 2 * static_cast<std::size_t>(limit) + 2;
                if (norms_.size() < sums) norms_ = rungs::DeviceBuffer<double>(sums);
                descend<T, 3>(d_b_.data(), d_x_.data(), r.data(), w.data(), norms_.data(), grid_.L, limit,
                              stream);
            },
            [&](int limit) { return reached(limit); });
    }

  private:
    /// b - A x of what was left, in double.
    rungs::Reached reached(int iterations) const {
        const std::vector<T> x = d_x_.to_host();
        return {iterations, residual_norm(grid_, b_, Field(x.begin(), x.end())) / std::sqrt(dot(b_, b_))};
    }

    rungs::SolveHistory& history_;
    Grid grid_;
    double least_;
    std::vector<T> field_;
    Field b_;
    rungs::DeviceBuffer<T> d_b_, d_x_;
    rungs::DeviceBuffer<double> norms_;
    rungs::DeviceBuffer<int> outcome_;
};

/// Steepest descent and rungs 04, 12 and 14 on a cube of `side` points along an edge.
inline rungs::SolveHistory history_of(int side, double least, double seconds,
                                      const rungs::TimingOptions& timing) {
    rungs::SolveHistory history(least, seconds, timing);
    HistoryOf<float> single(history, side, least);
    HistoryOf<double> twice(history, side, least);
    twice.descent("steepest descent");
    single.solve("07/04_cg in float", cg);
    twice.solve("07/04_cg", cg);
    single.solve("07/12_cg_fused in float", cg_fused);
    twice.solve("07/12_cg_fused", cg_fused);
    twice.solve("07/14_multigrid", multigrid);
    return history;
}

}  // namespace pcg
