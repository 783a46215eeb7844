#pragma once
// Tests of what a contract promises of each of its rungs: each pair of a rung and a promise is a test. For
// tests that also run where nvcc has no GPU.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <string>
#include <utility>

#include "rungs/catch.hpp"
#include "rungs/cuda_check.cuh"
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

/// On how many keys, from exam_key() on, a rung has to pass the exam: RUNGS_EXAM_KEYS, or 1. On all but the
/// first only cases that are small are tried.
inline std::uint64_t exam_keys() {
    const char* keys = std::getenv("RUNGS_EXAM_KEYS");
    return keys ? std::max(1ULL, std::strtoull(keys, nullptr, 0)) : 1;  // none would be a test of nothing
}

/// What a contract promises of a rung.
template <class Rung>
struct Promise {
    void (*test)(const Rung&);
    const char* name;
    bool (*concerns)(const Rung&) = [](const Rung&) { return true; };  ///< whether it is promised of this one
};

namespace detail {

template <class Rungs, const auto& promises, std::size_t pair>
void keep() {
    promises[pair % std::size(promises)].test(Rungs::at(pair / std::size(promises)));
}

template <class Rungs, const auto& promises, std::size_t... pair>
bool register_pairs(const std::string& chapter, std::index_sequence<pair...>) {
    if (Rungs::count() > Rungs::most) std::abort();  // some would have no test
    const auto add = [&](void (*test)(), std::size_t index) {
        const std::size_t rung = index / std::size(promises);
        const auto& promise = promises[index % std::size(promises)];
        if (rung >= Rungs::count() || !promise.concerns(Rungs::at(rung))) return;
        const std::string name = Rungs::name(rung);
        REGISTER_TEST_CASE(test, name + " " + promise.name, "[" + chapter + "][" + name + "]");
    };
    (add(keep<Rungs, promises, pair>, pair), ...);
    return true;
}

/// The rows of a contract's table.
template <const auto& ladder>
struct Table {
    static constexpr std::size_t most = std::size(ladder);
    static std::size_t count() { return most; }
    static const auto& at(std::size_t rung) { return ladder[rung]; }
    static std::string name(std::size_t rung) { return ladder[rung].name; }
};

}  // namespace detail

/// Registers the test "NN_name promise" with the tags [chapter][NN_name] for each of `Rungs` and each of
/// `promises` that concerns it. Catch2 wants a function for each test: one is made for
/// each of Rungs::most rungs.
template <class Rungs, const auto& promises>
bool register_promises(const std::string& chapter) {
    return detail::register_pairs<Rungs, promises>(
        chapter, std::make_index_sequence<Rungs::most * std::size(promises)>());
}

/// The same for the rows of a contract's table `ladder`.
template <const auto& ladder, const auto& promises>
bool register_promises(const std::string& chapter) {
    return register_promises<detail::Table<ladder>, promises>(chapter);
}

}  // namespace rungs
