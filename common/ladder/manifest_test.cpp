// What every manifest promises, without a call of any rung.

#include <cuda_runtime.h>

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "ladder/promises.hpp"
#include "ladder/trial.hpp"
#include "rungs/catch.hpp"
#include "rungs/manifest.hpp"

namespace {

using rungs::Case;

/// Bytes or flops beyond which a case takes too long to be made twice.
constexpr double most_work = 1e10;

const rungs::Manifest& manifest() {
    static const rungs::Manifest read = rungs::read_manifest(RUNGS_CHAPTER_FOLDER);
    return read;
}

bool is_same(const std::vector<rungs::Array>& one, const std::vector<rungs::Array>& other) {
    const auto all_of = [](const rungs::Array& a) {
        return std::tie(a.name, a.element, a.count, a.misalignment, a.bytes);
    };
    return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                      [&](const rungs::Array& a, const rungs::Array& b) { return all_of(a) == all_of(b); });
}

}  // namespace

TEST_CASE("the contract's table and the manifest name the same rungs", "[" RUNGS_CHAPTER_NAME "]") {
    std::vector<std::string> names;
    for (const rungs::RungEntry& rung : manifest().rungs)
        if (rung.kind != rungs::Kind::predict) names.push_back(rung.name);
    CHECK(rungs::rungs_of_contract() == names);
    CHECK(manifest().kinds);  // the gates ask nothing of a chapter that states none
}

TEST_CASE("every case of the manifest can be made, the same every time",
          "[" RUNGS_CHAPTER_NAME "][exam][cases]") {
    std::set<std::tuple<std::string, std::vector<long long>, std::string, std::uint64_t>> made;
    for (const auto backend : {rungs::Backend::cpu, rungs::Backend::cuda}) {
        for (const rungs::RungEntry& rung : manifest().rungs) {
            for (const Case& which : manifest().cases_of(rung, backend, rungs::exam_key())) {
                const rungs::Work work = rungs::chapter_exam().work(which);
                if (backend == rungs::Backend::cuda && work.size() > most_work) continue;
                if (!made.emplace(which.problem, which.sizes, which.kind, which.seed).second) continue;
                CAPTURE(which.problem, which.sizes, which.kind, which.seed);
                const rungs::Task task = rungs::chapter_exam().make(which);
                const rungs::Task again = rungs::chapter_exam().make(which);
                REQUIRE(is_same(task.inputs, again.inputs));
                REQUIRE(is_same(task.outputs, again.outputs));
                REQUIRE(task.numbers == again.numbers);
            }
        }
    }
}
