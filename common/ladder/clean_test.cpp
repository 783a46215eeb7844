// The reference rungs of a chapter, in check mode: right answers, every output written, no finding, no leak;
// and what they ask of memory is what ncu counted on a GPU. One source for all chapters; rungs_add_chapter()
// makes a program of it for each compiler.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "ladder/chapter_exam.hpp"
#include "ladder/entries.hpp"
#include "ladder/invocation.hpp"
#include "rungs/catch.hpp"
#include "rungs/manifest.hpp"
#include "simt/api.h"
#include "simt/inspect/check.h"
#include "simt/inspect/control.h"

#ifdef RUNGS_COUNTED
#include <sstream>

#include "simt/inspect/counters.h"
#include "simt/inspect/metrics.h"
#include "tables.hpp"
#endif

namespace {

/// What a call may have to do, in bytes or flops, for the case to count as small: some 10 ns each.
constexpr double small_work = 1e6;
/// Orders in which blocks, warps and lanes run: RUNGS_ORDERS of them. They are the runtime's, so a second
/// compiler need not try all; and the gate for solutions tries yet another.
constexpr std::uint64_t orders[] = {1, 0};

const std::unique_ptr<rungs::Exam> exam = rungs::make_chapter_exam();

std::string found() {
    std::string text;
    for (const simt::check::Finding& finding : simt::check::findings()) text += to_text(finding);
    return text;
}

/// One call of a rung on `task`; what its outputs are.
std::vector<rungs::Array> call(const rungs::LadderEntry& rung, const rungs::Task& task) {
    const rungs::Invocation invocation(task);
    for (const auto* arrays : {&invocation.inputs(), &invocation.outputs()}) {
        for (const rungs::DeviceArray& one : *arrays) {
            simt::name_allocation(one.allocation(), one.array().name.c_str());
        }
    }
    invocation.run(rung.entry);
    CUDA_CHECK(cudaDeviceSynchronize());
    for (const rungs::DeviceArray& output : invocation.outputs()) {
        CHECK(simt::check::unwritten(output.data(), output.size()) == 0);
    }
    return invocation.results();
}

void try_case(const rungs::LadderEntry& rung, const rungs::Case& which) {
    const rungs::Task task = exam->make(which);
    for (const std::uint64_t seed : std::span(orders).first<RUNGS_ORDERS>()) {
        CAPTURE(which.problem, which.sizes, which.kind, which.seed, seed);
        simt::set_seed(seed);
        simt::check::clear();
        // A first call may make scratch memory for all that follow; a later one that keeps memory leaks it.
        const std::uint64_t before = simt::check::allocations();
        const std::vector<rungs::Array> outputs = call(rung, task);
        if (seed != orders[0]) simt::check::find_leaks(before);
        REQUIRE(found() == "");
        const rungs::Check check = exam->check(which, task, outputs);
        CAPTURE(check.error, check.tolerance, check.cause);
        REQUIRE(check.passed);
    }
}

}  // namespace

TEST_CASE("check mode finds nothing in the reference rungs", "[clean]") {
    const rungs::Manifest manifest = rungs::read_manifest(RUNGS_CHAPTER_FOLDER);
    const std::string only = std::getenv("RUNGS_RUNG") ? std::getenv("RUNGS_RUNG") : "";
    std::set<std::string> tried;
    for (const rungs::LadderEntry& rung : rungs::ladder_entries()) {
        if (!only.empty() && only != rung.rung) continue;
        CAPTURE(rung.rung);
        std::set<std::tuple<std::string, std::vector<long long>, std::string>> seen;
        for (const rungs::Case& which :
             manifest.cases_of(*manifest.find(rung.rung), rungs::Backend::cpu, 1)) {
            if (which.problem != rung.entry.problem) continue;
            const rungs::Work work = exam->work(which);
            const bool small = work.size() <= small_work;
            if (!small && work.size() > manifest.check.work) continue;
            // Of those that only the judge counts as small, one kind, as there.
            if (!seen.insert({which.problem, which.sizes, small ? which.kind : ""}).second) continue;
            try_case(rung, which);
            tried.insert(rung.rung);
        }
    }
    simt::set_seed(0);
    if (only.empty()) CHECK(tried.size() == rungs::rungs_of_contract().size());
}

#ifdef RUNGS_COUNTED

/// Of "01_reduction 03_shared_tree sum 1024x3 uniform": what was counted of the call.
static golden::Row count(const std::string& name) {
    std::istringstream words(name);
    std::string folder, number, rung, sizes;
    rungs::Case which;
    words >> folder >> rung >> which.problem >> sizes >> which.kind;
    std::istringstream list(sizes);
    while (std::getline(list, number, 'x')) which.sizes.push_back(std::stoll(number));
    const auto all = rungs::ladder_entries();
    const auto found = std::find_if(all.begin(), all.end(), [&](const rungs::LadderEntry& one) {
        return rung == one.rung && which.problem == one.entry.problem;
    });
    REQUIRE(found != all.end());
    const rungs::Task task = exam->make(which);
    simt::check::Counting counting;
    call(*found, task);
    golden::Row row;
    row.name = name;
    for (const std::string& metric : golden::compared_metrics()) row.value[metric] = 0;
    for (const simt::check::LaunchCounters& launch : counting.launches()) {
        REQUIRE(launch.exact);
        for (const auto& [metric, value] : golden::counts_of(launch)) row.value[metric] += value;
    }
    return row;
}

TEST_CASE("check mode counts what ncu counts, except for the listed exceptions", "[counted]") {
#if __GNUC__ != 12 || defined(__clang__)
    // What a compiler joins or leaves out, it joins or leaves out otherwise in another version.
    RUNGS_SKIP("the table of exceptions is that of g++ 12");
#endif
    const std::filesystem::path folder = RUNGS_COUNTED;
    const std::string chapter = RUNGS_CHAPTER_NAME;
    const golden::Table counted = rungs::validation::read_counts(folder / "counted.csv", chapter);
    const golden::Table committed = rungs::validation::read_counts(folder / "predicted.csv", chapter);
    const bool on_ramp = chapter.rfind("00", 0) == 0;
    if (on_ramp && counted.rows.empty() && committed.rows.empty())
        RUNGS_SKIP(chapter + " has no counted kernels");
    REQUIRE_FALSE(counted.rows.empty());
    golden::Table now;
    const int before = simt::multiprocessors();
    simt::set_multiprocessors(132);  // as the GPU that was counted has
    for (const golden::Row& row : counted.rows) now.rows.push_back(count(row.name));
    simt::set_multiprocessors(before);
    CHECK_NOTHROW(
        rungs::validation::compare_counts(counted, now, folder / "counted_exceptions.csv", chapter));
    // What docs/model.md tells.
    REQUIRE(committed.rows.size() == now.rows.size());
    for (std::size_t i = 0; i < now.rows.size(); ++i) {
        CAPTURE(now.rows[i].name);
        CHECK(committed.rows[i].name == now.rows[i].name);
        CHECK(committed.rows[i].value == now.rows[i].value);
    }
}

#endif
