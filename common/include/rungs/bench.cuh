#pragma once
// What every chapter's benchmark needs beside the timing of calls: its command line, the machine's name, the
// machine's roof, and the time of a call on the device alone. For GPUs; the CPU backend has no use for it.

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "rungs/device_buffer.cuh"
#include "rungs/timing.cuh"

namespace rungs {

/// The command line of a benchmark.
struct BenchOptions {
    std::vector<std::size_t> sizes;
    bool quick = false;
    bool help = false;
    std::string csv;  ///< the file to write; empty: none
};

inline constexpr const char* bench_usage =
    "  --sizes LIST  which sizes, separated by commas: 2^20 or 1000000\n"
    "  --quick       fewer sizes and fewer samples\n"
    "  --csv FILE    write every time as a row of a table, too\n";

/// "2^20" or "1048576". @throws std::invalid_argument for anything else, and for sizes beyond 2^40
inline std::size_t parse_size(std::string_view text) {
    const bool power = text.substr(0, 2) == "2^";
    const std::string_view digits = power ? text.substr(2) : text;
    const char* const end = digits.data() + digits.size();
    std::size_t value = 0;
    const auto read = std::from_chars(digits.data(), end, value);
    const bool whole = read.ec == std::errc() && read.ptr == end;
    if (!whole || (power ? value > 40 : value == 0 || value > std::size_t{1} << 40)) {
        throw std::invalid_argument("--sizes takes sizes from 1 to 2^40, such as 2^20,1000000, not '" +
                                    std::string(text) + "'");
    }
    return power ? std::size_t{1} << value : value;
}

/// Reads the command line. @throws std::invalid_argument that names what is wrong
inline BenchOptions parse_bench_options(int count, char** words) {
    BenchOptions options;
    for (int i = 1; i < count; ++i) {
        const std::string flag = words[i];
        if (flag == "--help") {
            options.help = true;
        } else if (flag == "--quick") {
            options.quick = true;
        } else if (flag != "--sizes" && flag != "--csv") {
            throw std::invalid_argument("unknown option '" + flag + "'");
        } else if (++i == count) {
            throw std::invalid_argument(flag + " needs a value");
        } else if (flag == "--csv") {
            options.csv = words[i];
        } else {
            const std::string_view list = words[i];
            for (std::size_t from = 0; from <= list.size();) {
                const std::size_t comma = std::min(list.find(',', from), list.size());
                options.sizes.push_back(parse_size(list.substr(from, comma - from)));
                from = comma + 1;
            }
        }
    }
    return options;
}

/// The main() of a benchmark: reads the command line, and calls bench(options) where there is a GPU.
/// @returns the program's exit status: 2 for wrong use, 3 without a GPU, 1 for any other exception
inline int bench_main(int count, char** words, const char* usage, const char* explanation,
                      void (*bench)(BenchOptions& options)) try {
    BenchOptions options = parse_bench_options(count, words);
    if (options.help) return std::printf("%s%s\n%s", usage, bench_usage, explanation), 0;
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        return std::fprintf(stderr, "a benchmark needs a GPU, and the driver finds none\n"), 3;
    }
    bench(options);
    return 0;
} catch (const std::invalid_argument& error) {
    return std::fprintf(stderr, "%s\n%s%s", error.what(), usage, bench_usage), 2;
} catch (const std::exception& error) {
    return std::fprintf(stderr, "%s\n", error.what()), 1;
}

/// "2^20" for a power of two from 2^10 up, else the digits.
inline std::string size_name(std::size_t n) {
    for (int power = 10; power < 64; ++power) {
        if (n == std::size_t{1} << power) return "2^" + std::to_string(power);
    }
    return std::to_string(n);
}

/// The GPU in use, its driver and CUDA: stands above every table of times. @throws CudaError
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

/// As time_interleaved with one call a sample, but behind a kernel that spins until the host has queued the
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

}  // namespace rungs
