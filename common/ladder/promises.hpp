#pragma once
// Tests of what a contract promises of each of its rungs: each pair of a rung and a promise is a test. For
// tests that also run where nvcc has no GPU.

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "rungs/catch.hpp"
#include "rungs/device_buffer.cuh"
#include "rungs/exam.hpp"
#include "rungs/timing.cuh"

namespace rungs {

/// Whether the tests run on a GPU, rather than on the CPU backend. @throws CudaError
inline bool on_a_gpu() {
    cudaDeviceProp device;
    CUDA_CHECK(cudaGetDeviceProperties(&device, 0));
    return is_gpu(device);
}

/// The key of the exam's cases: RUNGS_EXAM_KEY, or 1. A student's check draws another each time, so
/// what holds for one key only is a fault of the exam or of the solution: docs/contributing.md shows
/// how to try many.
inline std::uint64_t exam_key() {
    const char* key = std::getenv("RUNGS_EXAM_KEY");
    return key ? std::strtoull(key, nullptr, 0) : 1;
}

namespace detail {

template <const auto& ladder, const auto& promises, std::size_t pair>
void keep() {
    RUNGS_NEEDS_DEVICE();
    promises[pair % std::size(promises)].first(ladder[pair / std::size(promises)]);
}

template <const auto& ladder, const auto& promises, class Concerns, std::size_t... pair>
bool register_pairs(const std::string& chapter, const Concerns& concerns, std::index_sequence<pair...>) {
    const auto add = [&](void (*test)(), const auto& rung, const char* promise) {
        if (!concerns(rung)) return;
        const std::string name = std::string(rung.name) + " " + promise;
        const std::string tags = "[" + chapter + "][" + rung.name + "]";
        REGISTER_TEST_CASE(test, name, tags);
    };
    (add(keep<ladder, promises, pair>, ladder[pair / std::size(promises)],
         promises[pair % std::size(promises)].second),
     ...);
    return true;
}

}  // namespace detail

/// Registers the test "NN_name promise" with the tags [chapter][NN_name] for each rung of the contract's
/// table `ladder` and each pair of a function of a rung and its name in `promises`. Catch2 wants a function
/// for each test: one is made for each of them.
/// @param concerns  says of a rung whether these promises are made of it
template <const auto& ladder, const auto& promises, class Concerns>
bool register_promises(const std::string& chapter, const Concerns& concerns) {
    return detail::register_pairs<ladder, promises>(
        chapter, concerns, std::make_index_sequence<std::size(ladder) * std::size(promises)>());
}
template <const auto& ladder, const auto& promises>
bool register_promises(const std::string& chapter) {
    return register_promises<ladder, promises>(chapter, [](const auto&) { return true; });
}

}  // namespace rungs
