#pragma once
// Times device work the way results should be compared: several candidates in turn, so that drift of clocks
// and temperature meets all of them alike, on a stream of their own, by device events.

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rungs/cuda_check.cuh"
#include "rungs/event.cuh"
#include "rungs/statistics.hpp"
#include "rungs/stream.cuh"

namespace rungs {

/// Whether a device is a GPU, whose times mean something, rather than the CPU backend.
inline bool is_gpu(const cudaDeviceProp& device) {
    return std::string_view(device.name).rfind("Rungs CPU", 0) != 0;
}

/// One thing to time. `run(turn, stream)` queues the work of one call on `stream` and returns; `turn`
/// counts calls, so that a caller can rotate buffers (`in[turn % in.size()]`) and no call finds its input
/// in the cache.
struct Candidate {
    std::string name;
    std::function<void(std::size_t turn, cudaStream_t stream)> run;
};

/// How to time.
struct TimingOptions {
    std::size_t rounds = 30;       ///< samples of each candidate
    std::size_t warm_up = 3;       ///< rounds before, not recorded
    std::size_t calls = 0;         ///< calls in one sample; 0: enough for `shortest_sample`
    double shortest_sample = 0.2;  ///< milliseconds; events resolve half a microsecond
    /// Record the calls of a sample into a graph and time its replay: without the host's launch cost, which
    /// hides the speed of kernels below about 5 microseconds. `run` must not allocate or synchronise then,
    /// and each replay repeats the turns that were recorded.
    bool graph = false;
};

/// The samples of one candidate, in milliseconds of one call.
struct Timing {
    std::string name;
    std::vector<double> milliseconds;  ///< one a round; element i of all candidates belongs together

    double quantile(double q) const { return rungs::quantile(milliseconds, q); }
    double median() const { return quantile(0.5); }
    /// The estimate to compare and to report: the 20 % quantile.
    double typical() const { return quantile(0.2); }
    /// Units of 1e9 bytes per second at the typical time.
    double gigabytes_per_second(double bytes) const { return bytes / typical() / 1e6; }
};

namespace detail {

/// A recorded sequence of calls, ready to replay.
class Replay {
  public:
    Replay(const Candidate& candidate, std::size_t first_turn, std::size_t calls, const Stream& stream) {
        cudaGraph_t graph = nullptr;
        CUDA_CHECK(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal));
        try {
            for (std::size_t i = 0; i < calls; ++i) candidate.run(first_turn + i, stream.get());
        } catch (...) {  // a stream left in capture mode would fail everything after it
            static_cast<void>(cudaStreamEndCapture(stream.get(), &graph));
            if (graph) static_cast<void>(cudaGraphDestroy(graph));
            static_cast<void>(cudaGetLastError());
            throw;
        }
        CUDA_CHECK(cudaStreamEndCapture(stream.get(), &graph));
        const cudaError_t status = cudaGraphInstantiate(&executable_, graph, 0);
        static_cast<void>(cudaGraphDestroy(graph));
        CUDA_CHECK(status);
    }
    Replay(const Replay&) = delete;
    Replay& operator=(const Replay&) = delete;
    ~Replay() { static_cast<void>(cudaGraphExecDestroy(executable_)); }

    void launch(const Stream& stream) const { CUDA_CHECK(cudaGraphLaunch(executable_, stream.get())); }

  private:
    cudaGraphExec_t executable_ = nullptr;
};

/// Milliseconds that `work` takes on `stream`.
template <class Work>
double time_once(const Stream& stream, Event& begin, Event& end, const Work& work) {
    begin.record(stream.get());
    work();
    end.record(stream.get());
    return elapsed_milliseconds(begin, end);
}

}  // namespace detail

/// Times all candidates in turn, `options.rounds` times; every other round goes through them backwards, so
/// that none always runs after the same one. Check results first: a wrong kernel's time means nothing.
/// @throws CudaError, also for a failed kernel, and whatever a candidate throws.
inline std::vector<Timing> time_interleaved(std::span<const Candidate> candidates,
                                            TimingOptions options = {}) {
    const Stream stream;
    Event begin, end;
    std::vector<Timing> timings;
    std::vector<std::size_t> turns(candidates.size(), 0);
    std::vector<std::size_t> calls(candidates.size(), options.calls);
    std::vector<std::function<void()>> samples;

    for (std::size_t c = 0; c < candidates.size(); ++c) {
        const Candidate& candidate = candidates[c];
        timings.push_back({candidate.name, {}});
        timings.back().milliseconds.reserve(options.rounds);
        const auto call = [&candidate, &turn = turns[c], &stream] { candidate.run(turn++, stream.get()); };
        for (std::size_t i = 0; i < 2; ++i) {  // the first call may load code; the second tells the length
            const double once = detail::time_once(stream, begin, end, call);
            if (options.calls == 0) {
                const double wanted = options.shortest_sample / std::max(once, 1e-4);
                calls[c] = static_cast<std::size_t>(std::clamp(wanted, 1.0, 1000.0));
            }
        }
        if (options.graph) {
            auto replay = std::make_shared<detail::Replay>(candidate, turns[c], calls[c], stream);
            samples.push_back([replay, &stream] { replay->launch(stream); });
        } else {
            samples.push_back([call, count = calls[c]] {
                for (std::size_t i = 0; i < count; ++i) call();
            });
        }
    }
    for (std::size_t round = 0; round < options.warm_up + options.rounds; ++round) {
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            const std::size_t c = round % 2 == 0 ? i : candidates.size() - 1 - i;
            const double sample = detail::time_once(stream, begin, end, samples[c]);
            if (round >= options.warm_up) {
                timings[c].milliseconds.push_back(sample / static_cast<double>(calls[c]));
            }
        }
    }
    return timings;
}

/// The median time of one call in milliseconds; `run(stream)` queues it.
template <class Run>
double median_milliseconds(const Run& run, TimingOptions options = {}) {
    const Candidate candidate{"", [&run](std::size_t, cudaStream_t stream) { run(stream); }};
    return time_interleaved(std::span(&candidate, 1), options).front().median();
}

}  // namespace rungs
