#pragma once
// What the tests of all exams do: take cases from the manifest, let honest answers pass with room to spare,
// and let wrong ones fail with their cause.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "rungs/catch.hpp"
#include "rungs/exam.hpp"
#include "rungs/manifest.hpp"

namespace rungs {

/// The cases that a rung is given on the CPU backend.
/// @param key   makes their seeds
/// @param rung  its name; empty: the chapter's last
inline std::vector<Case> manifest_cases(std::uint64_t key, const std::string& rung = "") {
    const Manifest manifest = read_manifest(RUNGS_CHAPTER_FOLDER);
    return manifest.cases_of(rung.empty() ? manifest.rungs.back() : *manifest.find(rung), Backend::cpu, key);
}

/// Honest answers, which all have to pass.
class Honest {
  public:
    /// Fails the test unless `check` has passed. `tells` says whether it counts for the room that is left.
    void require(const Case& which, const Check& check, bool tells = true) {
        CAPTURE(which.problem, which.sizes, which.kind, which.seed, check.error, check.tolerance,
                check.measure, check.cause, check.wrong);
        REQUIRE(check.passed);
        if (tells && check.tolerance > 0) worst_ = std::max(worst_, check.error / check.tolerance);
    }

    /// Fails the test unless the worst answer came to at most `most` of its tolerance, and to more than
    /// `least`: a bound that nothing comes near would let faults through.
    void require_room(double most, double least) const {
        CHECK(worst_ <= most);
        CHECK(worst_ > least);
    }

  private:
    double worst_ = 0;
};

/// Fails the test unless a wrong answer has failed, and the exam's cause has `cause` in it.
inline void require_cause(const Check& check, const std::string& cause) {
    CAPTURE(check.cause, check.error, check.tolerance, check.measure);
    CHECK_FALSE(check.passed);
    CHECK_THAT(check.cause, Catch::Matchers::ContainsSubstring(cause));
}

/// A number with so many bits of mantissa: 11 for half precision.
inline float rounded(float value, int bits) {
    int exponent = 0;
    const float mantissa = std::frexp(value, &exponent);
    return std::ldexp(std::nearbyint(std::ldexp(mantissa, bits)), exponent - bits);
}

}  // namespace rungs
