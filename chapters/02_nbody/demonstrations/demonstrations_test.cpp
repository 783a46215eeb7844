// What check mode says of kernels that are wrong: which fault, where, and on what.

#include "demonstrations.cuh"

#include <algorithm>
#include <string>

#include "rungs/catch.hpp"
#include "simt/inspect/check.h"

namespace {

namespace demonstrations = nbody::demonstrations;
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

bool has(const std::vector<Finding>& findings, Tool tool, const std::string& kernel,
         const std::string& array) {
    return std::any_of(findings.begin(), findings.end(), [&](const Finding& f) {
        return f.tool == tool && f.kernel.find(kernel) != std::string::npos &&
               f.array.find(array) != std::string::npos;
    });
}

std::string text(const std::vector<Finding>& findings) {
    std::string text;
    for (const Finding& finding : findings) text += to_text(finding);
    return text;
}

}  // namespace

TEST_CASE("a leapfrog in one kernel races between blocks", "[02_nbody][demonstration]") {
    const auto found = errors_of([] { demonstrations::one_kernel(2); });
    INFO(text(found));
    REQUIRE_FALSE(found.empty());
    for (const Finding& finding : found) {
        CHECK(finding.tool == Tool::racecheck);
        CHECK(finding.kernel.find("one_kernel") != std::string::npos);
        CHECK(finding.side.block.x != finding.other.block.x);  // within a block the barrier does hold
    }
}

TEST_CASE("one block alone, or kernels of their own, do not race", "[02_nbody][demonstration]") {
    const auto alone = errors_of([] { demonstrations::one_kernel(1); });
    INFO(text(alone));
    CHECK(alone.empty());
    const auto apart = errors_of([] { demonstrations::own_kernels(2); });
    INFO(text(apart));
    CHECK(apart.empty());
}

TEST_CASE("a missing barrier is a race on what it protects", "[02_nbody][demonstration]") {
    using namespace demonstrations;
    const auto race = [](void (*run)(), const std::string& kernel, const std::string& array) {
        const auto found = errors_of(run);
        INFO(text(found));
        CHECK(has(found, Tool::racecheck, kernel, array));
    };
    race(tiled_without_first_barrier, "faulty_tiled", "tile");
    race(tiled_without_second_barrier, "faulty_tiled", "tile");
    race(symmetric_without_warp_barrier, "faulty_symmetric", "visitors");
    race(symmetric_without_turns, "faulty_symmetric", "back_x");
}

TEST_CASE("a missing guard is an access out of bounds", "[02_nbody][demonstration]") {
    const auto bodies = errors_of(demonstrations::tiled_without_guard);
    INFO(text(bodies));
    CHECK(has(bodies, Tool::memcheck, "faulty_tiled", ""));
    const auto rows = errors_of(demonstrations::split_with_one_row_more);
    INFO(text(rows));
    CHECK(has(rows, Tool::memcheck, "faulty_rows", ""));
}

TEST_CASE("a thread that leaves early leaves its part of the tile unset", "[02_nbody][demonstration]") {
    const auto found = errors_of(demonstrations::tiled_with_early_return);
    INFO(text(found));
    CHECK(has(found, Tool::initcheck, "faulty_tiled", "tile"));
}
