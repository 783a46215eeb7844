#pragma once
// Catch2 as this project's tests see it: version 3 where it is installed, 2.13 otherwise. Include this, never
// Catch2 itself, and link Catch2::Catch2WithMain.
//
// Available under both: TEST_CASE, SECTION, TEMPLATE_TEST_CASE, GENERATE, CHECK, REQUIRE, *_THROWS_*,
// CAPTURE, INFO, FAIL, Catch::Approx, Catch::Matchers::{WithinAbs, WithinRel, WithinULP, ContainsSubstring,
// StartsWith, EndsWith, Equals}, and RUNGS_SKIP.

#if __has_include(<catch2/catch_test_macros.hpp>)

#include <catch2/catch_approx.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_adapters.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <catch2/matchers/catch_matchers_vector.hpp>

#else

#include <catch2/catch.hpp>

namespace Catch {
using Detail::Approx;  // where version 3 has it

namespace Matchers {
/// Version 3's name of what version 2 calls Contains.
template <class... Arguments>
auto ContainsSubstring(Arguments&&... arguments) {
    return Contains(std::forward<Arguments>(arguments)...);
}
}  // namespace Matchers
}  // namespace Catch

#endif

#include <cstdio>
#include <string>

/// Ends a test that cannot run here, with the reason. CTest shows it as Skipped, never as a pass, when the
/// test has SKIP_RETURN_CODE 4 and SKIP_REGULAR_EXPRESSION "\\[SKIP\\]": version 3.3 and later leave with
/// status 4, older ones can only print the mark. Use it in the body of the test case, not in a function
/// that it calls.
#ifdef SKIP
#define RUNGS_SKIP(reason) SKIP("[SKIP] " << (reason))
#else
#define RUNGS_SKIP(reason)                                       \
    do {                                                         \
        std::printf("[SKIP] %s\n", std::string(reason).c_str()); \
        std::fflush(stdout);                                     \
        SUCCEED("[SKIP]");                                       \
        return;                                                  \
    } while (0)
#endif

/// Ends a test that needs a CUDA device where there is none: nvcc without a GPU. The CPU backend has one
/// always. The file has to include <cuda_runtime.h>.
#define RUNGS_NEEDS_DEVICE()                                                         \
    do {                                                                             \
        int rungs_devices = 0;                                                       \
        if (cudaGetDeviceCount(&rungs_devices) != cudaSuccess || rungs_devices == 0) \
            RUNGS_SKIP("no CUDA device here");                                       \
    } while (0)
