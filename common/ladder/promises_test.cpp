// What every contract promises of every rung, held by the chapter's exam: each pair of a rung and a promise
// is a test with the rung's tag, "[03_shared_tree]". One source for all chapters; rungs_add_chapter() makes a
// program of it for each backend, together with the tests of what is special to the chapter.

#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "ladder/promises.hpp"
#include "ladder/trial.hpp"
#include "rungs/catch.hpp"
#include "rungs/manifest.hpp"
#include "rungs/stream.cuh"

namespace {

using rungs::Case;
using rungs::DeviceArray;
using rungs::entries_of;
using rungs::Entry;
using rungs::Invocation;
using rungs::Trial;

/// Bytes or flops up to which a case is small: most promises are tried on a few of these.
constexpr double small_work = 1e6;

const rungs::Manifest& manifest() {
    static const rungs::Manifest read = rungs::read_manifest(RUNGS_CHAPTER_FOLDER);
    return read;
}

std::vector<const char*> rung_names() {
    std::vector<const char*> names;
    for (const rungs::LadderEntry& one : rungs::ladder_entries()) {
        if (names.empty() || std::string(names.back()) != one.rung) names.push_back(one.rung);
    }
    return names;
}

std::vector<Case> cases_of(const std::string& rung, rungs::Backend backend,
                           std::uint64_t key = rungs::exam_key()) {
    return manifest().cases_of(*manifest().find(rung), backend, key);
}

double work_of(const Case& which) { return rungs::chapter_exam().work(which).size(); }

/// The first small cases of a problem, one for each size; where none is small, the one with the least work.
std::vector<Case> small_cases(const std::string& rung, const Entry& entry, std::size_t most) {
    std::vector<Case> all = cases_of(rung, rungs::Backend::cpu), chosen;
    std::erase_if(all, [&](const Case& which) { return which.problem != entry.problem; });
    REQUIRE_FALSE(all.empty());
    std::set<std::vector<long long>> sizes;
    for (const Case& which : all) {
        if (chosen.size() == most) break;
        if (work_of(which) <= small_work && sizes.insert(which.sizes).second) chosen.push_back(which);
    }
    if (!chosen.empty()) return chosen;
    return {*std::min_element(all.begin(), all.end(), [](const Case& one, const Case& other) {
        return work_of(one) < work_of(other);
    })};
}

Case with_seed(Case which, std::uint64_t seed) {
    which.seed = seed;
    return which;
}

/// Two cases of a problem that have something to do at once: of different sizes, the largest small ones.
/// If there is only one size, the same with other numbers.
std::array<Case, 2> two_cases(const std::string& rung, const Entry& entry) {
    std::vector<Case> all = small_cases(rung, entry, std::numeric_limits<std::size_t>::max());
    std::stable_sort(all.begin(), all.end(),
                     [](const Case& one, const Case& other) { return work_of(one) > work_of(other); });
    if (all.size() == 1 || work_of(all[1]) == 0) return {all[0], with_seed(all[0], all[0].seed + 1)};
    return {all[0], all[1]};
}

using Trials = std::vector<std::unique_ptr<Trial>>;

Trials trials(const std::string& rung, std::size_t most) {
    Trials all;
    for (const Entry& entry : entries_of(rung)) {
        for (const Case& which : small_cases(rung, entry, most)) {
            all.push_back(std::make_unique<Trial>(rung, which));
        }
    }
    return all;
}

// The promises. Each is a function of one rung; the table at the end makes a test of each pair.

void passes_every_case_of_the_exam(const std::string& rung) {
    const auto backend = rungs::on_a_gpu() ? rungs::Backend::cuda : rungs::Backend::cpu;
    for (std::uint64_t more = 0; more < rungs::exam_keys(); ++more) {
        for (const Case& which : cases_of(rung, backend, rungs::exam_key() + more)) {
            if (more > 0 && work_of(which) > small_work) continue;
            const Trial trial(rung, which);
            trial.run();
            CUDA_CHECK(cudaDeviceSynchronize());
            trial.require();
        }
    }
}

void can_be_called_again_and_again(const std::string& rung) {
    // Many calls without a wait between them, of different sizes: what one leaves in scratch memory, in a
    // counter or in its outputs must not reach the next.
    const Trials all = trials(rung, 6);
    for (const unsigned char before : {DeviceArray::poison, static_cast<unsigned char>(0x40)}) {
        for (const auto& trial : all) trial->invocation().reset_outputs(before);
        for (int round = 0; round < 2; ++round) {
            for (const auto& trial : all) trial->run();
        }
        CUDA_CHECK(cudaDeviceSynchronize());
        for (const auto& trial : all) trial->require();
    }
}

void keeps_to_its_arrays(const std::string& rung) {
    // Whoever reads beyond an array finds NaN there, and whoever writes there changes it.
    Trials all = trials(rung, 8);
    for (const Entry& entry : entries_of(rung)) {
        for (const Case& which : cases_of(rung, rungs::Backend::cpu)) {
            if (which.problem != entry.problem || which.kind != "unaligned") continue;
            if (work_of(which) <= small_work) all.push_back(std::make_unique<Trial>(rung, which));
        }
    }
    for (const auto& trial : all) {
        trial->run();
        CUDA_CHECK(cudaDeviceSynchronize());
        trial->require();
        CAPTURE(trial->which().problem, trial->which().sizes, trial->which().kind);
        for (const DeviceArray& input : trial->invocation().inputs()) {
            CAPTURE(input.array().name);
            CHECK(input.guards_are_whole());
            CHECK((input.to_host().bytes == input.array().bytes));  // nobody wants to see the bytes
        }
        for (const DeviceArray& output : trial->invocation().outputs()) {
            CAPTURE(output.array().name);
            CHECK(output.guards_are_whole());
        }
    }
}

void works_in_the_stream_it_is_given(const std::string& rung) {
    // The data arrive late in `stream`: work in any other stream would see what was there before.
    for (const Entry& entry : entries_of(rung)) {
        const Case which = small_cases(rung, entry, 1).front();
        Trial trial(rung, which);
        const Trial before(rung, with_seed(which, which.seed + 1)), late(rung, which);
        const auto copy_from = [](Invocation& to, const Invocation& from, cudaStream_t stream) {
            for (std::size_t i = 0; i < to.inputs().size(); ++i) {
                const DeviceArray &target = to.inputs()[i], &source = from.inputs()[i];
                const std::size_t bytes = std::min(target.size(), source.size());
                if (bytes == 0) continue;
                CUDA_CHECK(
                    cudaMemcpyAsync(target.data(), source.data(), bytes, cudaMemcpyDeviceToDevice, stream));
            }
        };
        const rungs::Stream stream;
        copy_from(trial.invocation(), before.invocation(), nullptr);
        CUDA_CHECK(cudaDeviceSynchronize());
        const auto wait = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
        CUDA_CHECK(cudaLaunchHostFunc(stream.get(), wait, nullptr));
        copy_from(trial.invocation(), late.invocation(), stream.get());
        trial.run(stream.get());
        stream.sync();
        trial.require();
    }
}

void keeps_two_streams_apart(const std::string& rung) {
    const rungs::Stream streams[2];
    Trials all;
    for (const Entry& entry : entries_of(rung)) {
        for (const Case& which : two_cases(rung, entry)) {
            for (std::uint64_t more = 0; more < 8; more += 2) {
                all.push_back(std::make_unique<Trial>(rung, with_seed(which, which.seed + more)));
            }
        }
    }
    CUDA_CHECK(cudaDeviceSynchronize());
    for (std::size_t i = 0; i < all.size(); ++i) all[i]->run(streams[i % 2].get());
    for (const rungs::Stream& stream : streams) stream.sync();
    for (const auto& trial : all) trial->require();
}

void serves_two_host_threads(const std::string& rung) {
    // Of different sizes, which may ask for different amounts of scratch and shared memory.
    for (const Entry& entry : entries_of(rung)) {
        Trials all;
        for (const Case& which : two_cases(rung, entry)) all.push_back(std::make_unique<Trial>(rung, which));
        CUDA_CHECK(cudaDeviceSynchronize());
        std::vector<std::thread> threads;
        for (const auto& trial : all) {
            threads.emplace_back([&trial = *trial] {
                const rungs::Stream stream;
                for (int round = 0; round < 10; ++round) trial.run(stream.get());
                stream.sync();
            });
        }
        for (std::thread& thread : threads) thread.join();
        for (const auto& trial : all) trial->require();
    }
}

constexpr rungs::Promise<std::string> promises[] = {
    {passes_every_case_of_the_exam, "passes every case of the exam"},
    {can_be_called_again_and_again, "can be called again and again"},
    {keeps_to_its_arrays, "keeps to its arrays and leaves its inputs alone"},
    {works_in_the_stream_it_is_given, "works in the stream it is given"},
    {keeps_two_streams_apart, "keeps two streams apart"},
    {serves_two_host_threads, "serves two host threads"},
};

struct Rungs {
    static constexpr std::size_t most = 32;
    static std::size_t count() { return rung_names().size(); }
    static std::string at(std::size_t rung) { return rung_names()[rung]; }
    static std::string name(std::size_t rung) { return at(rung); }
};

const bool registered = rungs::register_promises<Rungs, promises>(RUNGS_CHAPTER_NAME);

}  // namespace
