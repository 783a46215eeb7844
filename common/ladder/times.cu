// The reference rungs of one chapter, measured or modelled: compiled by nvcc, this program times them on the
// GPU; compiled for check mode, it models their time on the GPU of a machine's data file. Both print the same
// table, a line for each rung and case. See docs/model.md, and validate.sh.

#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "ladder/chapter_exam.hpp"
#include "ladder/entries.hpp"
#include "ladder/invocation.hpp"
#include "rungs/cuda_check.cuh"

#ifdef RUNGS_SIMT
#include <iostream>

#include "simt/inspect/control.h"
#include "simt/inspect/metrics.h"
#include "simt/inspect/profile.h"
#else
#include "rungs/event.cuh"
#endif

namespace {

#ifdef RUNGS_SIMT
constexpr const char* usage =
    "usage: ladder MACHINE.toml [--profile | --count] [--rung NN_NAME] PROBLEM:SIZES:KIND...\n"
    "  models every rung that solves the problem; SIZES are joined by x, e.g. sum:1048576:uniform\n"
    "  --count    prints what each rung counts, under ncu's names, and models nothing\n"
    "  --profile  prints what each launch consists of, too, as comments\n";
#else
constexpr const char* usage =
    "usage: ladder [--once] [--rung NN_NAME] PROBLEM:SIZES:KIND...\n"
    "  times every rung that solves the problem; SIZES are joined by x, e.g. sum:1048576:uniform\n"
    "  --once  runs each rung once and times nothing, for profilers: after each the kernel rung_ends\n";
#endif

/// What the command line asks for.
struct Options {
    std::string machine;
    bool profile = false, once = false, count = false;
    std::string rung;
    std::vector<rungs::Case> cases;
};

rungs::Case parse_case(const std::string& word) {
    rungs::Case which;
    std::string sizes;
    std::istringstream in(word);
    if (!std::getline(in, which.problem, ':') || !std::getline(in, sizes, ':') ||
        !std::getline(in, which.kind)) {
        throw std::invalid_argument("'" + word + "' is not PROBLEM:SIZES:KIND");
    }
    std::istringstream list(sizes);
    for (std::string size; std::getline(list, size, 'x');) which.sizes.push_back(std::stoll(size));
    return which;
}

Options parse(int count, char** words) {
    Options options;
    int i = 1;
#ifdef RUNGS_SIMT
    if (i == count) throw std::invalid_argument("a machine's data file is missing");
    options.machine = words[i++];
#endif
    for (; i < count; ++i) {
        const std::string word = words[i];
        if (word == "--profile") {
            options.profile = true;
        } else if (word == "--once") {
            options.once = true;
        } else if (word == "--count") {
            options.count = true;
        } else if (word == "--rung" && i + 1 < count) {
            options.rung = words[++i];
        } else {
            options.cases.push_back(parse_case(word));
        }
    }
    if (options.cases.empty()) throw std::invalid_argument("a case is missing");
    return options;
}

/// The arguments of one call, with outputs that are 0.
std::unique_ptr<rungs::Invocation> invocation(const rungs::Task& task) {
    auto made = std::make_unique<rungs::Invocation>(task);
    made->reset_outputs(0);
    return made;
}

#ifdef RUNGS_SIMT

/// Modelled seconds of one call, after one that makes what later calls find: scratch memory, say.
class Clock {
  public:
    explicit Clock(const Options& options)
        : machine_(simt::model::read_machine(options.machine)), profile_(options.profile) {
        simt::set_multiprocessors(machine_.multiprocessors);
    }
    /// Of the first call: what `--once` shows a profiler.
    static golden::Row count(const rungs::LadderEntry& rung, const rungs::Task& task) {
        const auto arguments = invocation(task);
        simt::check::Counting counting;
        arguments->run(rung.entry);
        CUDA_CHECK(cudaDeviceSynchronize());
        golden::Row row;
        for (const std::string& metric : golden::compared_metrics()) row.value[metric] = 0;
        for (const simt::check::LaunchCounters& launch : counting.launches()) {
            if (!launch.exact) throw std::runtime_error(launch.kernel + " is too long to be counted");
            for (const auto& [metric, value] : golden::counts_of(launch)) row.value[metric] += value;
        }
        return row;
    }
    std::string name() const { return machine_.name + ", modelled"; }
    double seconds(const rungs::LadderEntry& rung, const rungs::Task& task) {
        invocation(task)->run(rung.entry);
        CUDA_CHECK(cudaDeviceSynchronize());
        const auto arguments = invocation(task);
        simt::check::Counting counting;
        const simt::model::Traffic traffic(machine_.l2_bytes);
        arguments->run(rung.entry);
        counting.stop();  // before the wait below, which is ours
        CUDA_CHECK(cudaDeviceSynchronize());
        // A lane that was stopped has not done its work.
        for (const auto& finding : simt::check::findings()) throw std::runtime_error(to_text(finding));
        const simt::model::CallProfile call = simt::model::profile(counting, traffic);
        const simt::model::Prediction prediction = simt::model::predict(machine_, call);
        if (profile_) {
            std::ostringstream lines;
            write(lines, call);
            lines << to_text(prediction);
            std::istringstream in(lines.str());
            for (std::string line; std::getline(in, line);) std::printf("# %s\n", line.c_str());
        }
        return prediction.seconds;
    }

  private:
    simt::model::Machine machine_;
    bool profile_;
};

#else

/// Tells a reader of a profile that the launches so far were one rung's.
__global__ void rung_ends() {}

__global__ void spin_kernel(long long cycles) {
    for (const long long start = clock64(); clock64() - start < cycles;) {
    }
}

/// Seconds of one call in a stream of calls, each of which finds its inputs in memory and not in the cache:
/// the median of seven streams, queued after a kernel that spins.
class Clock {
  public:
    explicit Clock(const Options& options) : once_(options.once) {
        cudaDeviceProp gpu;
        CUDA_CHECK(cudaGetDeviceProperties(&gpu, 0));
        name_ = gpu.name;
        cache_ = static_cast<std::size_t>(gpu.l2CacheSize);
        int kilohertz = 0;
        CUDA_CHECK(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, 0));
        clock_ = 1e3 * kilohertz;
    }
    std::string name() const { return name_; }
    double seconds(const rungs::LadderEntry& rung, const rungs::Task& task) {
        std::vector<std::unique_ptr<rungs::Invocation>> sets;
        std::size_t bytes = 0;
        const std::size_t most = once_ ? 1 : 256;
        while (sets.size() < most && (sets.size() < 2 || bytes < 4 * cache_)) {
            sets.push_back(invocation(task));
            bytes += sets.back()->bytes();
        }
        std::size_t next = 0;
        const auto call = [&] { sets[next++ % sets.size()]->run(rung.entry); };
        call();
        if (once_) {
            rung_ends<<<1, 1>>>();
            CUDA_CHECK(cudaGetLastError());
        }
        CUDA_CHECK(cudaDeviceSynchronize());
        if (once_) return 0;
        const double rough = stream_of(1, 0, call);
        // The host has to be ahead of the GPU, with no more in the queue than fits there (1024 launches). A
        // call that waits for the GPU cannot be queued: what the host does in between is part of its time.
        const auto start = std::chrono::steady_clock::now();
        call();
        const double queueing =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        CUDA_CHECK(cudaDeviceSynchronize());
        const int calls = static_cast<int>(std::clamp(std::min(3e-3 / rough, 2e-3 / queueing), 1.0, 200.0));
        const double ahead = 1.5 * queueing * calls + 2e-4;
        const int repeats = rough > 0.05 ? 1 : 7;
        std::vector<double> samples;
        for (int i = 0; i < repeats; ++i)
            samples.push_back(stream_of(calls, static_cast<long long>(ahead * clock_), call));
        std::sort(samples.begin(), samples.end());
        return samples[samples.size() / 2];
    }

  private:
    template <class Call>
    double stream_of(int calls, long long spin, const Call& call) {
        rungs::Event begin, end;
        spin_kernel<<<1, 1>>>(spin);
        CUDA_CHECK(cudaGetLastError());
        begin.record(nullptr);
        for (int i = 0; i < calls; ++i) call();
        end.record(nullptr);
        CUDA_CHECK(cudaDeviceSynchronize());
        return 1e-3 * rungs::elapsed_milliseconds(begin, end) / calls;
    }

    bool once_;
    std::string name_;
    std::size_t cache_;
    double clock_;  ///< cycles per second
};

#endif

std::string joined(const std::vector<long long>& sizes) {
    std::string text;
    for (const long long size : sizes) {
        if (!text.empty()) text += 'x';
        text += std::to_string(size);
    }
    return text;
}

void run(const Options& options) {
    const std::unique_ptr<rungs::Exam> exam = rungs::make_chapter_exam();
    Clock clock(options);
#ifdef RUNGS_SIMT
    golden::Table counts;
    counts.metrics = golden::compared_metrics();
#endif
    if (!options.count) std::printf("# %s\n", clock.name().c_str());
    for (const rungs::Case& which : options.cases) {
        const rungs::Task task = exam->make(which);
        for (const rungs::LadderEntry& rung : rungs::ladder_entries()) {
            if (which.problem != rung.entry.problem) continue;
            if (!options.rung.empty() && options.rung != rung.rung) continue;
            const std::string sizes = joined(which.sizes);
#ifdef RUNGS_SIMT
            if (options.count) {
                counts.rows.push_back(Clock::count(rung, task));
                counts.rows.back().name = std::string(RUNGS_CHAPTER_NAME) + ' ' + rung.rung + ' ' +
                                          which.problem + ' ' + sizes + ' ' + which.kind;
                continue;
            }
#endif
            const double seconds = clock.seconds(rung, task);
            std::printf("%s,%s,%s,%s,%s,%.4g\n", RUNGS_CHAPTER_NAME, rung.rung, which.problem.c_str(),
                        sizes.c_str(), which.kind.c_str(), 1e6 * seconds);
            std::fflush(stdout);
        }
    }
#ifdef RUNGS_SIMT
    if (options.count) golden::write(std::cout, counts);
#endif
}

}  // namespace

int main(int count, char** words) {
    try {
        run(parse(count, words));
        return 0;
    } catch (const std::invalid_argument& error) {
        std::fprintf(stderr, "ladder: %s\n%s", error.what(), usage);
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "ladder: %s\n", error.what());
        return 1;
    }
}
