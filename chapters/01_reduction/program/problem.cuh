#pragma once
// The data of the chapter's program.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "exam/reference.hpp"
#include "program/options.hpp"
#include "reduction.cuh"
#include "rungs/device_buffer.cuh"
#include "rungs/random.hpp"

namespace reduction {

/// One sum or dot product, on the host and on the device, the same for every rung.
class Problem {
  public:
    /// The first `n` of the random numbers that `options` ask for.
    Problem(const Options& options, std::size_t n)
        : dot_(options.dot),
          v_(rungs::random_field(n, options.seed)),
          w_(rungs::random_field(n, options.seed + 1)),
          d_v_(v_),
          d_w_(w_),
          d_copy_(n),
          d_sum_(1),
          exact_(dot_ ? reference_dot(v_, w_) : reference_sum(v_)) {}

    /// Takes the last result away, so that a rung that writes none is seen.
    void forget() { d_sum_.fill_bytes(0xff); }

    /// Queues one call of a rung.
    void run(const Rung& rung, cudaStream_t stream = nullptr) {
        if (dot_) {
            rung.dot(d_v_.data(), d_w_.data(), d_sum_.data(), v_.size(), stream);
        } else {
            rung.sum(d_v_.data(), d_sum_.data(), v_.size(), stream);
        }
    }

    /// Queues a device-to-device copy of v, which reads and writes its bytes: the speed to compare with.
    void copy(cudaStream_t stream) { d_copy_.copy_from(d_v_, stream); }

    float result() const { return d_sum_.to_host()[0]; }  ///< of the call before
    double exact() const { return exact_.value; }

    /// |result - exact| / sum |terms|; NaN for NaN.
    double error() const { return std::abs(static_cast<double>(result()) - exact_.value) / scale(); }
    /// The largest error that rounding explains.
    double allowed() const { return rounding_bound(v_.size(), exact_.magnitude) / scale(); }

    /// Bytes that any implementation has to read.
    double bytes() const { return static_cast<double>(d_v_.bytes()) * (dot_ ? 2 : 1); }
    double copied_bytes() const { return 2 * static_cast<double>(d_v_.bytes()); }

  private:
    double scale() const { return exact_.magnitude > 0 ? exact_.magnitude : 1; }

    bool dot_;
    std::vector<float> v_, w_;
    rungs::DeviceBuffer<float> d_v_, d_w_, d_copy_, d_sum_;
    Reference exact_;
};

}  // namespace reduction
