// The reference rungs of a chapter, in check mode: right answers, every output written, no finding, no leak;
// and what they ask of memory is what ncu counted on a GPU. One source for all chapters; rungs_add_chapter()
// makes a program of it for each compiler.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "rungs/catch.hpp"
#include "rungs/device_buffer.cuh"
#include "rungs/exam.hpp"
#include "rungs/manifest.hpp"
#include "simt/api.h"
#include "simt/check.h"
#include "simt/control.h"
#include "table.hpp"

#ifdef RUNGS_COUNTED
#include <sstream>

#include "counts.h"
#include "simt/counters.h"
#include "tables.hpp"
#endif

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define TEXT_(a) #a
#define TEXT(a) TEXT_(a)
std::unique_ptr<rungs::Exam> JOIN(make_exam_, RUNGS_CHAPTER)();

namespace {

/// What a call may have to do, in bytes or flops, for the case to count as small: some 10 ns each.
constexpr double small_work = 1e6;
/// Orders in which blocks, warps and lanes run.
constexpr std::uint64_t seeds[] = {0, 1, 2};

const std::unique_ptr<rungs::Exam> exam = JOIN(make_exam_, RUNGS_CHAPTER)();

/// One array of a task in device memory, under the name that findings will use.
class Buffer {
  public:
    explicit Buffer(const rungs::Array& array)
        : array_(array), skip_(array.misalignment * size_of(array.element)), bytes_(skip_ + size()) {
        if (bytes_.empty()) return;
        data_ = bytes_.data() + skip_;
        simt::name_allocation(bytes_.data(), array.name.c_str());
        if (!array.bytes.empty())
            CUDA_CHECK(cudaMemcpy(data_, array.bytes.data(), size(), cudaMemcpyHostToDevice));
    }
    std::size_t size() const { return array_.count * size_of(array_.element); }
    unsigned char* data() const { return data_; }  ///< null if there are no elements
    std::size_t unwritten() const { return simt::check::unwritten(data_, size()); }
    rungs::Array to_host() const {
        rungs::Array array = array_;
        array.bytes.resize(size());
        if (size() > 0) CUDA_CHECK(cudaMemcpy(array.bytes.data(), data_, size(), cudaMemcpyDeviceToHost));
        return array;
    }

  private:
    rungs::Array array_;
    std::size_t skip_;
    rungs::DeviceBuffer<unsigned char> bytes_;
    unsigned char* data_ = nullptr;
};

std::vector<rungs::Scalar> scalars_of(const rungs::Task& task) {
    std::vector<rungs::Scalar> scalars;
    for (const rungs::Number& number : task.numbers)
        scalars.push_back(number.is_integer ? rungs::Scalar::of(number.integer)
                                            : rungs::Scalar::of(number.real));
    return scalars;
}

std::string found() {
    std::string text;
    for (const simt::check::Finding& finding : simt::check::findings()) text += to_text(finding);
    return text;
}

/// One call of a rung on `task`; what its outputs are.
std::vector<rungs::Array> call(const rungs::CheckedRung& rung, const rungs::Task& task) {
    std::vector<std::unique_ptr<Buffer>> inputs, outputs;
    std::vector<const void*> in;
    std::vector<void*> out;
    for (const rungs::Array& array : task.inputs) {
        inputs.push_back(std::make_unique<Buffer>(array));
        in.push_back(inputs.back()->data());
    }
    for (const rungs::Array& array : task.outputs) {
        outputs.push_back(std::make_unique<Buffer>(array));
        out.push_back(outputs.back()->data());
    }
    const std::vector<rungs::Scalar> scalars = scalars_of(task);
    rungs::Call arguments;
    arguments.inputs = in.data();
    arguments.input_count = in.size();
    arguments.outputs = out.data();
    arguments.output_count = out.size();
    arguments.scalars = scalars.data();
    arguments.scalar_count = scalars.size();
    rung.entry.run(arguments);
    CUDA_CHECK(cudaDeviceSynchronize());
    std::vector<rungs::Array> results;
    for (const auto& output : outputs) {
        CHECK(output->unwritten() == 0);
        results.push_back(output->to_host());
    }
    return results;
}

void try_case(const rungs::CheckedRung& rung, const rungs::Case& which) {
    const rungs::Task task = exam->make(which);
    for (const std::uint64_t seed : seeds) {
        CAPTURE(which.problem, which.sizes, which.kind, which.seed, seed);
        simt::set_seed(seed);
        simt::check::clear();
        // A first call may make scratch memory for all that follow; a later one that keeps memory leaks it.
        const std::uint64_t before = simt::check::allocations();
        const std::vector<rungs::Array> outputs = call(rung, task);
        if (seed != seeds[0]) simt::check::find_leaks(before);
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
    for (const rungs::CheckedRung& rung : rungs::checked_rungs) {
        if (!only.empty() && only != rung.rung) continue;
        CAPTURE(rung.rung);
        std::set<std::tuple<std::string, std::vector<long long>, std::string>> seen;
        for (const rungs::Case& which :
             manifest.cases_of(*manifest.find(rung.rung), rungs::Backend::cpu, 1)) {
            if (which.problem != rung.entry.problem) continue;
            const rungs::Work work = exam->work(which);
            const bool small = std::max(work.bytes, work.flops) <= small_work;
            if (!small && std::max(work.bytes, work.flops) > manifest.check.work) continue;
            // Of those that only the judge counts as small, one kind, as there.
            if (!seen.insert({which.problem, which.sizes, small ? which.kind : ""}).second) continue;
            try_case(rung, which);
            tried.insert(rung.rung);
        }
    }
    simt::set_seed(0);
    if (only.empty()) CHECK(tried.size() == manifest.rungs.size());
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
    const auto found = std::find_if(rungs::checked_rungs.begin(), rungs::checked_rungs.end(),
                                    [&](const rungs::CheckedRung& one) {
                                        return rung == one.rung && which.problem == one.entry.problem;
                                    });
    REQUIRE(found != rungs::checked_rungs.end());
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

TEST_CASE("check mode counts of the reference rungs what ncu counts, but for the exceptions", "[counted]") {
#if __GNUC__ != 12 || defined(__clang__)
    // What a compiler joins or leaves out, it joins or leaves out otherwise in another version.
    RUNGS_SKIP("the table of exceptions is that of g++ 12");
#endif
    const std::string folder = RUNGS_COUNTED, chapter = TEXT(RUNGS_CHAPTER);
    const golden::Table counted = rungs::validation::read_counts(folder + "/counted.csv", chapter);
    const golden::Table committed = rungs::validation::read_counts(folder + "/predicted.csv", chapter);
    golden::Table now;
    const int before = simt::multiprocessors();
    simt::set_multiprocessors(132);  // as the GPU that was counted has
    for (const golden::Row& row : counted.rows) now.rows.push_back(count(row.name));
    simt::set_multiprocessors(before);
    CHECK_NOTHROW(
        rungs::validation::compare_counts(counted, now, folder + "/counted_exceptions.csv", chapter));
    // What docs/model.md shows.
    REQUIRE(committed.rows.size() == now.rows.size());
    for (std::size_t i = 0; i < now.rows.size(); ++i) {
        CAPTURE(now.rows[i].name);
        CHECK(committed.rows[i].name == now.rows[i].name);
        CHECK(committed.rows[i].value == now.rows[i].value);
    }
}

#endif
