#pragma once
/// @file
/// What the ladder is measured against: red-black and Jacobi as they are often written, with the faults
/// fixed that made them wrong, not those that make them slow.

#include "red_black.cuh"
#include "rungs/device_buffer.cuh"

namespace red_black::peers {

/// The masked kernels: u with a halo of zeros, a thread per point, each iteration followed by a kernel that
/// writes all squares of the residual, three kernels that add them up, and a copy of the sum to the host.
class Masked {
  public:
    /// Memory for n^3 points. 1 <= n.
    explicit Masked(int n);

    /// Sets u and b from device memory without a halo, on `stream`.
    void set(const float* start, const float* b, cudaStream_t stream);

    /// Runs on `stream`, and waits for each norm. Returns the last norm.
    float red_black(int iterations, cudaStream_t stream);
    float jacobi(int iterations, cudaStream_t stream);

    /// u without its halo, into device memory.
    void get(float* u, cudaStream_t stream) const;

  private:
    float norm(cudaStream_t stream);

    int n_;
    rungs::DeviceBuffer<float> u_, other_, b_, squares_, sums_;
};

}  // namespace red_black::peers
