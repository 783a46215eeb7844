// What check mode says of kernels that are wrong: which fault, where, and on what.

#include "demonstrations.cuh"

#include <algorithm>
#include <string>
#include <vector>

#include "rungs/catch.hpp"
#include "simt/inspect/check.h"

namespace {

namespace demonstrations = jacobi::demonstrations;
using simt::check::Finding;
using simt::check::Tool;

/// The errors of one run.
template <class Run>
std::vector<Finding> errors_of(const Run& run) {
    simt::check::clear();
    run();
    std::vector<Finding> findings = simt::check::findings();
    findings.erase(
        std::remove_if(findings.begin(), findings.end(),
                       [](const Finding& f) { return f.severity != simt::check::Severity::error; }),
        findings.end());
    return findings;
}

/// That there are errors, all of them of `tool` in `kernel`.
void expect(const std::vector<Finding>& found, Tool tool, const std::string& kernel) {
    std::string text;
    for (const Finding& finding : found) text += to_text(finding);
    INFO(text);
    REQUIRE_FALSE(found.empty());
    for (const Finding& finding : found) {
        CHECK(finding.tool == tool);
        CHECK(finding.kernel.find(kernel) != std::string::npos);
    }
}

}  // namespace

TEST_CASE("a sweep in place races", "[03_jacobi][demonstration]") {
    expect(errors_of(demonstrations::in_place), Tool::racecheck, "in_place");
}

TEST_CASE("two sweeps in one launch race between blocks, and only between blocks",
          "[03_jacobi][demonstration]") {
    const auto found = errors_of([] { demonstrations::two_sweeps(2); });
    expect(found, Tool::racecheck, "two_sweeps");
    for (const Finding& finding : found) CHECK(finding.side.block.x != finding.other.block.x);
    CHECK(errors_of([] { demonstrations::two_sweeps(1); }).empty());
}

TEST_CASE("a tile without its barrier races in shared memory", "[03_jacobi][demonstration]") {
    const auto found = errors_of(demonstrations::tile_without_barrier);
    REQUIRE_FALSE(found.empty());
    CHECK(std::any_of(found.begin(), found.end(), [](const Finding& f) {
        return f.tool == Tool::racecheck && f.array.find("tile") != std::string::npos;
    }));
}

TEST_CASE("a tile without its halo reads what nobody wrote", "[03_jacobi][demonstration]") {
    expect(errors_of(demonstrations::tile_without_rim), Tool::initcheck, "tile_kernel");
}

TEST_CASE("a sweep without a guard reads outside the field", "[03_jacobi][demonstration]") {
    expect(errors_of(demonstrations::without_guard), Tool::memcheck, "without_guard");
}

TEST_CASE("blocks that share a slot of the sums race", "[03_jacobi][demonstration]") {
    const auto found = errors_of(demonstrations::one_sum_a_column);
    expect(found, Tool::racecheck, "one_sum_a_column");
    for (const Finding& finding : found) CHECK(finding.side.block.y != finding.other.block.y);
}
