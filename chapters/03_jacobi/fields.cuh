#pragma once
// What every solver does around its sweeps, whoever decides when to stop.

#include <algorithm>
#include <cmath>
#include <limits>

#include "jacobi.cuh"
#include "rungs/cuda_check.cuh"

namespace jacobi {

/// The newest field, and the buffer that the next sweep writes: phi and work in turn.
struct Fields {
    const float* now;  ///< `start` at first
    float* phi;
    float* work;

    __host__ __device__ float* next() const { return now == phi ? work : phi; }
    __host__ __device__ void advance() { now = next(); }
};

/// What the sum of squares is compared with; negative, and so never reached, for a negative `eps`. Never
/// infinite, which is what a first step finds in place of the sum of the step before.
inline double limit_of(float eps) {
    const double limit = static_cast<double>(eps) * std::abs(static_cast<double>(eps));
    return std::min(limit, std::numeric_limits<double>::max());
}

/// Ends a call: the newest field goes to phi, if it is not there already.
inline void finish(const Fields& fields, const Lattice& lattice, double square, int done, float* norm,
                   int* sweeps, cudaStream_t stream) {
    if (fields.now != fields.phi && !lattice.empty()) {
        const std::size_t pitch = lattice.pitch() * sizeof(float);
        CUDA_CHECK(cudaMemcpy2DAsync(fields.phi, pitch, fields.now, pitch, sizeof(float) * lattice.nx,
                                     lattice.ny, cudaMemcpyDeviceToDevice, stream));
    }
    const auto last = static_cast<float>(std::sqrt(square));
    CUDA_CHECK(cudaMemcpyAsync(norm, &last, sizeof last, cudaMemcpyHostToDevice, stream));
    CUDA_CHECK(cudaMemcpyAsync(sweeps, &done, sizeof done, cudaMemcpyHostToDevice, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));  // `last` and `done` are about to go
}

}  // namespace jacobi
