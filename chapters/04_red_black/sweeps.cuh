#pragma once
/// @file
/// What surrounds the sweeps of a call, given: start is copied, every iteration is followed by its norm, and
/// the answer goes to u. A rung brings the sweep.

#include "norm.cuh"
#include "red_black.cuh"
#include "rungs/cuda_check.cuh"
#include "split.cuh"

namespace red_black {

/// Iterates from one array to another and back, so that the last iterate is in u.
/// `sweep(b, old, next, n, stream)` queues one iteration.
template <class T, class Sweep>
void iterate_between(const T* start, const T* b, T* u, double* norms, T* work, int n, int iterations,
                     cudaStream_t stream, const Sweep& sweep) {
    const std::size_t bytes = static_cast<std::size_t>(n) * n * n * sizeof(T);

    clear(norms, iterations, stream);
    if (n == 0) return;
    if (iterations == 0) CUDA_CHECK(cudaMemcpyAsync(u, start, bytes, cudaMemcpyDeviceToDevice, stream));
    const T* old = start;
    for (int t = 0; t < iterations; ++t) {
        T* const next = (iterations - t) % 2 ? u : work;  // the last one is u
        sweep(b, old, next, n, stream);
        add_residual(b, next, norms + t, n, stream);
        old = next;
    }
    take_roots(norms, iterations, stream);
}

/// Iterates in place, red before black. `half_sweep(b, u, n, colour, stream)` queues the update of the points
/// of one colour, 0 for red and 1 for black.
template <class T, class HalfSweep>
void iterate_in_place(const T* start, const T* b, T* u, double* norms, int n, int iterations,
                      cudaStream_t stream, const HalfSweep& half_sweep) {
    const std::size_t bytes = static_cast<std::size_t>(n) * n * n * sizeof(T);

    clear(norms, iterations, stream);
    if (n == 0) return;
    CUDA_CHECK(cudaMemcpyAsync(u, start, bytes, cudaMemcpyDeviceToDevice, stream));
    for (int t = 0; t < iterations; ++t) {
        for (int colour = 0; colour < 2; ++colour) half_sweep(b, u, n, colour, stream);
        add_residual(b, u, norms + t, n, stream);
    }
    take_roots(norms, iterations, stream);
}

/// The same with the colours in arrays of their own, which are filled from start and b first.
/// `half_sweep(halves, n, colour, stream)` queues the update of halves.u[colour].
template <class T, class HalfSweep>
void iterate_split(const T* start, const T* b, T* u, double* norms, T* work, int n, int iterations,
                   cudaStream_t stream, const HalfSweep& half_sweep) {
    const Split<T> halves(work, n);

    clear(norms, iterations, stream);
    if (n == 0) return;
    split(start, halves.u, n, stream);
    split(b, halves.b, n, stream);
    for (int t = 0; t < iterations; ++t) {
        for (int colour = 0; colour < 2; ++colour) half_sweep(halves, n, colour, stream);
        add_red_residual(halves, norms + t, n, stream);  // the black points have no residual left
    }
    merge(halves.u, u, n, stream);
    take_roots(norms, iterations, stream);
}

}  // namespace red_black
