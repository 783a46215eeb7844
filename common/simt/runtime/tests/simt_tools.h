// What the tests of the run mode share.
#pragma once

#include <cuda_runtime.h>

#include <vector>

#include "simt/inspect/control.h"
#include "testing/catch.h"

namespace simt_tools {

/// Runs the rest of a test under every order and number of threads of a small set; restores both.
class Orders {
  public:
    Orders() {
        simt::set_seed(GENERATE(0u, 1u, 20261121u));
        simt::set_threads(GENERATE(1u, 3u));
    }
    ~Orders() {
        simt::set_seed(seed_);
        simt::set_threads(threads_);
    }
    Orders(const Orders&) = delete;
    Orders& operator=(const Orders&) = delete;

  private:
    std::uint64_t seed_ = simt::seed();
    unsigned threads_ = simt::thread_count();
};

/// For launches that are meant to fail: nothing is printed, and the device is usable again afterwards.
class ExpectFailure {
  public:
    ExpectFailure() {
        simt::clear_report();
        simt::set_quiet(true);
    }
    ~ExpectFailure() {
        simt::set_quiet(false);
        cudaDeviceReset();
        cudaGetLastError();
    }
    ExpectFailure(const ExpectFailure&) = delete;
    ExpectFailure& operator=(const ExpectFailure&) = delete;
};

/// Memory that kernels and the host see, zeroed.
template <class T>
class Managed {
  public:
    explicit Managed(size_t n) : size_(n) {
        REQUIRE(cudaMallocManaged(&data_, (n ? n : 1) * sizeof(T)) == cudaSuccess);
        for (size_t i = 0; i < n; ++i) data_[i] = T();
    }
    ~Managed() { cudaFree(data_); }
    Managed(const Managed&) = delete;
    Managed& operator=(const Managed&) = delete;
    T* get() { return data_; }
    T& operator[](size_t i) { return data_[i]; }
    T* begin() { return data_; }
    T* end() { return data_ + size_; }

  private:
    T* data_ = nullptr;
    size_t size_;
};

#define REQUIRE_LAUNCHED()                               \
    do {                                                 \
        REQUIRE(cudaGetLastError() == cudaSuccess);      \
        REQUIRE(cudaDeviceSynchronize() == cudaSuccess); \
    } while (0)

}  // namespace simt_tools
