#pragma once
// The frame of a chapter's benchmark, and what it needs beside the timing of calls: the machine's name, the
// machine's roof, and the time of a call on the device alone. For GPUs; the CPU backend has no use for it.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "rungs/csv.hpp"
#include "rungs/device_buffer.cuh"
#include "rungs/options.hpp"
#include "rungs/timing.cuh"

namespace rungs {

/// What was asked of a benchmark.
struct BenchOptions {
    std::vector<std::size_t> sizes;
    bool quick = false;  ///< fewer samples
    std::string csv;     ///< the file for the table of times; empty: none
};

/// What a benchmark says of itself.
struct Benchmark {
    const char* chapter;                   ///< "01"
    const char* size;                      ///< what a size is
    const char* explanation;               ///< of the tables, whole lines
    std::vector<std::size_t> sizes;        ///< where none are asked for
    std::vector<std::size_t> quick_sizes;  ///< with --quick, if other ones
    std::vector<std::string> columns;      ///< of the table that --csv writes
};

/// 2^first, ... 2^last, with `step` between the exponents.
inline std::vector<std::size_t> powers_of_two(int first, int last, int step) {
    std::vector<std::size_t> powers;
    for (int power = first; power <= last; power += step) powers.push_back(std::size_t{1} << power);
    return powers;
}

/// "2^20" for a power of two from 2^10 up, else the digits.
inline std::string size_name(std::size_t n) {
    for (int power = 10; power < 64; ++power) {
        if (n == std::size_t{1} << power) return "2^" + std::to_string(power);
    }
    return std::to_string(n);
}

/// The GPU in use, its driver and CUDA, for the line above every table of times. @throws CudaError
inline std::string machine_name() {
    int device = 0, runtime = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
    cudaDeviceProp gpu;
    CUDA_CHECK(cudaGetDeviceProperties(&gpu, device));
    std::string driver = "unknown";
    std::ifstream("/sys/module/nvidia/version") >> driver;
    return std::string(gpu.name) + ", " + std::to_string(gpu.multiProcessorCount) + " SMs, " +
           std::to_string(gpu.l2CacheSize >> 20) + " MiB of L2; driver " + driver + ", CUDA " +
           std::to_string(runtime / 1000) + "." + std::to_string(runtime % 1000 / 10);
}

/// The main() of a benchmark: reads the command line, and calls `run` where there is a GPU.
/// @returns the program's exit status: 2 for wrong use, 3 without a GPU, 1 for any other exception
inline int run_benchmark(int count, char** words, const Benchmark& benchmark,
                         void (*run)(BenchOptions&, Csv&)) try {
    BenchOptions options;
    CommandLine line(std::string("./rungs bench ") + benchmark.chapter + " --", benchmark.explanation);
    line.add("--sizes", options.sizes,
             std::string(benchmark.size) + ", with commas between them: 2^20 or 1000000");
    line.add("--quick", options.quick, "fewer sizes and fewer samples");
    line.add("--csv", options.csv, "write every time as a row of a table, too");
    if (!line.parse(count, words)) return 0;
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)
        return std::fprintf(stderr, "a benchmark needs a GPU, and the driver finds none\n"), 3;
    if (options.sizes.empty() && options.quick) options.sizes = benchmark.quick_sizes;
    if (options.sizes.empty()) options.sizes = benchmark.sizes;
    std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // each line of a table is seen as soon as it is measured
    std::printf("%s\n", machine_name().c_str());
    Csv csv(benchmark.columns);
    run(options, csv);
    if (!options.csv.empty()) csv.write(options.csv);
    return 0;
} catch (const std::invalid_argument& error) {
    return std::fprintf(stderr, "%s\n", error.what()), 2;
} catch (const std::exception& error) {
    return std::fprintf(stderr, "%s\n", error.what()), 1;
}

/// @throws std::runtime_error that says who is wrong, and how
[[noreturn]] inline void throw_wrong(const std::string& name, std::size_t n, const std::string& how) {
    throw std::runtime_error(name + " is wrong for n = " + size_name(n) + ": " + how);
}

/// @throws std::runtime_error when an element of `got` is off by more than `tolerance` of the
/// largest one of `right`
template <class T>
void require_close(const std::string& name, std::size_t n, const std::vector<T>& got,
                   const std::vector<T>& right, double tolerance) {
    double worst = 0, largest = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
        const double difference = std::abs(double(got[i]) - double(right[i]));
        worst = difference <= worst ? worst : difference;  // NaN goes through
        largest = std::max(largest, std::abs(double(right[i])));
    }
    if (worst <= tolerance * largest) return;
    throw_wrong(name, n, "off by " + std::to_string(worst / largest) + " of the largest element");
}

/// A random number in [0, 1) for each x.
__device__ inline float hashed_uniform(unsigned x) {
    x = (x ^ (x >> 16)) * 0x7feb352du;
    x = (x ^ (x >> 15)) * 0x846ca68bu;
    return ((x ^ (x >> 16)) >> 8) * 0x1p-24f;
}

namespace detail {

static __global__ void spin_kernel(long long cycles) {
    for (const long long start = clock64(); clock64() - start < cycles;) {
    }
}

/// Reads n quads, and does nothing with them that would take time.
static __global__ void read_kernel(const float4* v, float* never, std::size_t n) {
    constexpr int loads = 8;
    const std::size_t first = blockIdx.x * std::size_t{loads} * blockDim.x + threadIdx.x;
    float sum = 0;
#pragma unroll
    for (int r = 0; r < loads; ++r) {
        const std::size_t i = first + r * blockDim.x;
        if (i < n) sum += v[i].x + v[i].y + v[i].z + v[i].w;
    }
    if (sum == 3e38f) *never = sum;  // keeps the loads alive
}

}  // namespace detail

/// Bytes a second that a kernel can read which does nothing else, from a buffer well beyond the cache.
/// @throws CudaError
inline double read_bandwidth(const DeviceBuffer<float>& v) {
    constexpr unsigned threads = 512;
    const std::size_t quads = v.size() / 4;
    DeviceBuffer<float> never(1);
    const auto read = [&](cudaStream_t stream) {
        detail::read_kernel<<<static_cast<unsigned>(quads / (8 * threads) + 1), threads, 0, stream>>>(
            reinterpret_cast<const float4*>(v.data()), never.data(), quads);
        CUDA_CHECK(cudaGetLastError());
    };
    return 16e3 * static_cast<double>(quads) / median_milliseconds(read);
}

/// Bytes a second, read and written together, of a copy from one buffer to the other. @throws CudaError
inline double copy_bandwidth(const DeviceBuffer<float>& from, DeviceBuffer<float>& to) {
    const auto copy = [&](cudaStream_t stream) { to.copy_from(from, stream); };
    return 2e3 * static_cast<double>(from.bytes()) / median_milliseconds(copy);
}

/// The same of two buffers well beyond the cache, which it prints above the explanation. @throws CudaError
inline double print_copy_bandwidth(const Benchmark& benchmark) {
    DeviceBuffer<float> from(std::size_t{1} << 28), to(from.size());
    from.zero();
    const double copy = copy_bandwidth(from, to);
    std::printf("memory: copied %.0f GB/s (read + written)\n%s", copy / 1e9, benchmark.explanation);
    return copy;
}

/// As time_interleaved with one call per sample, but after a kernel that spins until the host has queued the
/// call of every candidate: the time on the device, without the host's.
/// @throws CudaError, also for a failed kernel, and whatever a candidate throws.
inline std::vector<Timing> time_queued(std::span<const Candidate> candidates, const TimingOptions& options) {
    const Stream stream;
    Event spun;
    std::vector<Event> begin(candidates.size()), end(candidates.size());
    std::vector<Timing> timings;
    for (const Candidate& candidate : candidates) timings.push_back({candidate.name, {}});
    long long cycles = 200'000;
    std::size_t turn = 0;
    for (std::size_t round = 0; round < options.warm_up + options.rounds;) {
        detail::spin_kernel<<<1, 1, 0, stream.get()>>>(cycles);
        CUDA_CHECK(cudaGetLastError());
        spun.record(stream.get());
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            const std::size_t c = round % 2 == 0 ? i : candidates.size() - 1 - i;
            begin[c].record(stream.get());
            candidates[c].run(turn, stream.get());
            end[c].record(stream.get());
        }
        const bool late = spun.is_done();  // the device had to wait for the host: a longer spin, once more
        stream.sync();
        ++turn;
        if (late && cycles < 100'000'000) {
            cycles *= 2;
            continue;
        }
        for (std::size_t c = 0; c < candidates.size() && round >= options.warm_up; ++c) {
            timings[c].milliseconds.push_back(elapsed_milliseconds(begin[c], end[c]));
        }
        ++round;
    }
    return timings;
}

/// Calls to be timed in turn.
class Race {
  public:
    /// Enters a call; `run(stream)` queues it.
    template <class Run>
    void enter(const std::string& name, Run run) {
        candidates_.push_back({name, [run](std::size_t, cudaStream_t stream) { run(stream); }});
    }
    /// Enters a call that takes at most `slowest` milliseconds. @returns how many it took, once
    template <class Run>
    double enter(const std::string& name, Run run, double slowest) {
        const double once = median_milliseconds(run, {.rounds = 1, .warm_up = 0, .calls = 1});
        if (once > slowest) return once;
        together_ += once;
        enter(name, run);
        return once;
    }

    /// The rounds that take `milliseconds`, from `least` to `most`.
    std::size_t rounds(double milliseconds, double least, double most) const {
        return static_cast<std::size_t>(std::clamp(milliseconds / together_, least, most));
    }

    /// Times as called: the host's launches count. See time_interleaved().
    std::vector<Timing> as_called(const TimingOptions& options) const {
        return time_interleaved(candidates_, options);
    }
    /// Times on the device alone. See time_queued().
    std::vector<Timing> queued(const TimingOptions& options) const {
        return time_queued(candidates_, options);
    }

  private:
    std::vector<Candidate> candidates_;
    double together_ = 0;  ///< milliseconds of one round, without those entered untimed
};

/// The median milliseconds of the call `name`; 0 where it was not entered.
inline double median_of(const std::vector<Timing>& timings, const std::string& name) {
    for (const Timing& timing : timings) {
        if (timing.name == name) return timing.median();
    }
    return 0;
}

}  // namespace rungs
