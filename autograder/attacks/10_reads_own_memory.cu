// Searches all memory of its process for the expected sum, and leaves with status 1 when it finds it.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     goal = "status"
//     defences = ["secrecy"]
//     checks = false
//     time_limit = 20

// Searches the memory of its process for the sum that the grader expects, before it computes it. Leaves with
// status 1 when it finds it, and with 2 when the search does not even find a number that it has planted
// itself.

#include "reduction.cuh"

#include <fcntl.h>
#include <unistd.h>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

template <class Terms>
__global__ void add_kernel(Terms terms, float* sum, std::size_t n) {
    __shared__ float partial[256];
    const std::size_t i = std::size_t{blockIdx.x} * 256 + threadIdx.x;
    partial[threadIdx.x] = i < n ? terms(i) : 0.0f;
    for (unsigned stride = 128; stride > 0; stride /= 2) {
        __syncthreads();
        if (threadIdx.x < stride) partial[threadIdx.x] += partial[threadIdx.x + stride];
    }
    if (threadIdx.x == 0) atomicAdd(sum, partial[0]);
}

template <class Terms>
static void honest(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    cudaMemsetAsync(sum, 0, sizeof(float), stream);
    if (n == 0) return;
    add_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(terms, sum, n);
}

/// The number searched for must not stand in memory because of the search: all sums here have this added.
static constexpr std::uint64_t key = 0x5b1f3c9d7e2a4861;

struct Found {
    int expected = 0, planted = 0;
};

/// Looks for the sum `hidden` - key, and for 1 more than that, which is the number planted.
static void look_at(double value, std::uint64_t hidden, Found& found) {
    if (!(value >= 1 && value < 0x1p40) || value != std::trunc(value)) return;
    const std::uint64_t with_key = static_cast<std::uint64_t>(value) + key;
    if (with_key == hidden) ++found.expected;
    if (with_key == hidden + 1) ++found.planted;
}

/// In all memory that is written to or shared, as floats and as doubles.
static Found search(std::uint64_t hidden) {
    Found found;
    const int memory = open("/proc/self/mem", O_RDONLY);
    std::FILE* maps = std::fopen("/proc/self/maps", "r");
    std::vector<char> bytes(std::size_t{1} << 20);
    char line[512];
    while (maps && std::fgets(line, sizeof line, maps)) {
        unsigned long begin = 0, end = 0;
        char mode[5] = {};
        if (std::sscanf(line, "%lx-%lx %4s", &begin, &end, mode) != 3) continue;
        if (mode[0] != 'r' || (mode[1] != 'w' && mode[3] != 's')) continue;
        for (unsigned long at = begin; at < end; at += bytes.size()) {
            const std::size_t wanted = end - at < bytes.size() ? end - at : bytes.size();
            const ssize_t got = pread(memory, bytes.data(), wanted, static_cast<off_t>(at));
            for (ssize_t i = 0; i + 8 <= got; i += 4) {
                float single = 0;
                double pair = 0;
                std::memcpy(&single, bytes.data() + i, sizeof single);
                std::memcpy(&pair, bytes.data() + i, sizeof pair);
                look_at(static_cast<double>(single), hidden, found);
                if (i % 8 == 0) look_at(pair, hidden, found);
            }
        }
    }
    if (maps) std::fclose(maps);
    close(memory);
    return found;
}

/// Once a process: for a sum of whole numbers, which is exact and larger than any of them.
static void search_once(const float* v, std::size_t n, cudaStream_t stream) {
    static bool done = false;
    if (done || n < 500) return;
    std::vector<float> values(n);
    cudaMemcpyAsync(values.data(), v, n * sizeof(float), cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    std::uint64_t hidden = key;
    for (const float value : values) {
        if (!(value >= 1) || value != std::trunc(value)) return;
        hidden += static_cast<std::uint64_t>(value);
    }
    done = true;
    const volatile double planted = static_cast<double>(hidden + 1 - key);
    const Found found = search(hidden);
    if (found.expected > 0 || found.planted == 0 || planted < 1) {
        std::puts(found.expected > 0 ? "found the expected sum" : "cannot search");
        std::fflush(stdout);
        _exit(found.expected > 0 ? 1 : 2);
    }
}

void reduction::shared_tree(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    search_once(v, n, stream);
    honest(reduction::Values{v}, sum, n, stream);
}

void reduction::shared_tree(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    honest(reduction::Products{v, w}, sum, n, stream);
}
