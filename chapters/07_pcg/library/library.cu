// The C interface of pcg.h around the rungs: checks arguments, brings data to the device, turns
// exceptions into numbers.

#include <cstddef>
#include <limits>
#include <mutex>
#include <new>
#include <vector>

#include "pcg.cuh"
#include "pcg.h"
#include "rungs/cuda_check.cuh"
#include "rungs/cuda_error.hpp"
#include "rungs/device_buffer.cuh"

namespace {

/// What is wrong with the arguments, or 0.
int refuse(const void* b, const void* x, int d, long long side, int limit, double tolerance) {
    if (d < 1 || d > pcg::most_dimensions) return PCG_BAD_DIMENSION;
    if (side < 0) return PCG_BAD_SIDE;
    if (side > std::numeric_limits<int>::max()) return PCG_TOO_LARGE;
    long long points = 1;
    for (int axis = 0; axis < d; ++axis) {
        if (side > 0 && points > (1LL << 40) / side) return PCG_TOO_LARGE;
        points *= side;
    }
    if (points > 0 && (!b || !x)) return PCG_NULL_POINTER;
    if (limit < 0) return PCG_BAD_LIMIT;
    return tolerance >= 0 ? 0 : PCG_BAD_TOLERANCE;  // so is NaN
}

/// CUDA's error as one of ours.
int status_of(cudaError_t error) {
    switch (error) {
        case cudaErrorMemoryAllocation:
            return PCG_OUT_OF_MEMORY;
        case cudaErrorNoDevice:
        case cudaErrorInsufficientDriver:
            return PCG_NO_DEVICE;
        default:
            return PCG_DEVICE_ERROR;
    }
}

/// Copies `count` elements between host and device, whichever each side is.
template <class T>
void copy(T* to, const T* from, std::size_t count) {
    if (count > 0) CUDA_CHECK(cudaMemcpy(to, from, count * sizeof(T), cudaMemcpyDefault));
}

template <class T>
int solve(pcg::Solve<T>* solver, const T* b, T* x, int d, long long side, int limit, double tolerance,
          double* history, int* iterations) {
    // The rungs keep their scratch memory by stream, and all calls use the same.
    static std::mutex one_at_a_time;
    const std::lock_guard<std::mutex> lock(one_at_a_time);
    const auto n = static_cast<std::size_t>(pcg::points(d, static_cast<int>(side)));
    rungs::DeviceBuffer<T> device_b(n), device_x(n);
    rungs::DeviceBuffer<double> device_history(static_cast<std::size_t>(limit) + 1);
    rungs::DeviceBuffer<int> device_outcome(2);
    copy(device_b.data(), b, n);
    solver(device_b.data(), device_x.data(), device_history.data(), device_outcome.data(), d,
           static_cast<int>(side), limit, tolerance, nullptr);
    CUDA_CHECK(cudaStreamSynchronize(nullptr));
    const std::vector<int> outcome = device_outcome.to_host();
    copy(x, device_x.data(), n);
    if (history) copy(history, device_history.data(), static_cast<std::size_t>(limit) + 1);
    if (iterations) *iterations = outcome[1];
    return outcome[0];
}

/// Calls action(), and lets no exception out.
template <class Action>
int guarded(const Action& action) noexcept {
    try {
        return action();
    } catch (const rungs::CudaError& error) {
        return status_of(static_cast<cudaError_t>(error.code()));
    } catch (const std::bad_alloc&) {
        return PCG_OUT_OF_MEMORY;
    } catch (...) {
        return PCG_INTERNAL_ERROR;
    }
}

}  // namespace

extern "C" {

const char* pcg_strerror(int status) {
    switch (status) {
        case PCG_CONVERGED:
            return "converged: the residual of x is within the tolerance";
        case PCG_LIMIT_REACHED:
            return "the limit of iterations was reached before the tolerance";
        case PCG_BREAKDOWN:
            return "breakdown: a sum has left the range of its type";
        case PCG_DIVERGED:
            return "the right-hand side has an element that is not a finite number, or the residual grew "
                   "without bound";
        case PCG_NULL_POINTER:
            return "b or x is a null pointer";
        case PCG_BAD_DIMENSION:
            return "d is not between 1 and 6";
        case PCG_BAD_SIDE:
            return "L is negative";
        case PCG_TOO_LARGE:
            return "L is more than 2^31 - 1, or L^d more than 2^40";
        case PCG_BAD_LIMIT:
            return "limit is negative";
        case PCG_BAD_TOLERANCE:
            return "tolerance is negative or not a number";
        case PCG_BAD_METHOD:
            return "method is none of PCG_PLAIN, PCG_MIXED, PCG_MULTIGRID";
        case PCG_OUT_OF_MEMORY:
            return "out of memory, on the host or on the device";
        case PCG_NO_DEVICE:
            return "no CUDA device, or no driver for it";
        case PCG_DEVICE_ERROR:
            return "CUDA reported an error";
        case PCG_INTERNAL_ERROR:
            return "internal error";
        default:
            return "unknown status";
    }
}

int pcg_solve_float(const float* b, float* x, int d, long long L, int limit, double tolerance,
                    double* history, int* iterations) {
    if (const int status = refuse(b, x, d, L, limit, tolerance)) return status;
    return guarded(
        [&] { return solve<float>(pcg::cg_fused, b, x, d, L, limit, tolerance, history, iterations); });
}

int pcg_solve_double(const double* b, double* x, int d, long long L, int method, int limit, double tolerance,
                     double* history, int* iterations) {
    if (const int status = refuse(b, x, d, L, limit, tolerance)) return status;
    pcg::DoubleSolve* const solvers[] = {pcg::cg_fused, pcg::mixed_precision, pcg::multigrid};
    if (method < PCG_PLAIN || method > PCG_MULTIGRID) return PCG_BAD_METHOD;
    return guarded([&] { return solve(solvers[method], b, x, d, L, limit, tolerance, history, iterations); });
}

}  // extern "C"
