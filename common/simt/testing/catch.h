/// @file
/// Catch2 as tests see it: version 3 where it is installed, 2.13 otherwise. Include this, never Catch2
/// itself, and link Catch2::Catch2WithMain.
///
/// Available under both: TEST_CASE, SECTION, TEMPLATE_TEST_CASE, GENERATE, CHECK, REQUIRE, *_THROWS_*,
/// CAPTURE, INFO, FAIL, Catch::Approx, Catch::Matchers::{WithinAbs, WithinRel, WithinULP, ContainsSubstring,
/// StartsWith, EndsWith, Equals}.
#pragma once

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

namespace simt_testing {

/// Set by a test that cannot run here; testing/main.cpp tells CTest.
inline bool skipped = false;

}  // namespace simt_testing
