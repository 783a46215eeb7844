// Measures the constants of the time model on the GPU at hand and prints them as the machine's data file:
//
//     nvcc -std=c++20 -O3 -arch=native calibrate.cu -o calibrate && ./calibrate > my_gpu.toml
//
// Each number comes from a kernel that does one thing only. A minute's run; medians of repeats.

#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace {

void require(cudaError_t code, const char* what) {
    if (code == cudaSuccess) return;
    std::fprintf(stderr, "calibrate: %s: %s\n", what, cudaGetErrorString(code));
    std::exit(1);
}

cudaDeviceProp gpu;

/// Seconds of `work` on the device, after a kernel that spins while the host queues: the median of 9.
__global__ void spin(long long cycles) {
    for (const long long start = clock64(); clock64() - start < cycles;) {
    }
}

double seconds(const std::function<void()>& work) {
    cudaEvent_t begin, end;
    require(cudaEventCreate(&begin), "events");
    require(cudaEventCreate(&end), "events");
    std::vector<double> samples;
    for (int repeat = 0; repeat < 11; ++repeat) {
        spin<<<1, 1>>>(2'000'000);
        require(cudaEventRecord(begin), "recording");
        work();
        require(cudaEventRecord(end), "recording");
        require(cudaDeviceSynchronize(), "running");
        require(cudaGetLastError(), "launching");
        float milliseconds = 0;
        require(cudaEventElapsedTime(&milliseconds, begin, end), "timing");
        if (repeat >= 2) samples.push_back(milliseconds * 1e-3);
    }
    std::nth_element(samples.begin(), samples.begin() + 4, samples.end());
    return samples[4];
}

template <class T>
T* memory(std::size_t count) {
    T* pointer = nullptr;
    require(cudaMalloc(&pointer, count * sizeof(T)), "allocating");
    require(cudaMemset(pointer, 0, count * sizeof(T)), "clearing");
    return pointer;
}

// ---- Launches
// ----------------------------------------------------------------------------------------------

__global__ void nothing() {}

// ---- Bandwidths
// --------------------------------------------------------------------------------------------

__global__ void fill_random(unsigned* words, std::size_t n) {
    for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < n;
         i += gridDim.x * std::size_t{blockDim.x}) {
        unsigned x = static_cast<unsigned>(i) * 2654435761u + 12345u;
        x ^= x >> 13, x *= 2246822519u, x ^= x >> 16;
        words[i] = (x & 0x007fffffu) | 0x3f000000u;  // a float in [0.5, 1)
    }
}

__global__ void read_all(const float4* v, float* never, std::size_t quads) {
    float sum = 0;
    const std::size_t first = blockIdx.x * std::size_t{4096} + threadIdx.x;
#pragma unroll
    for (int r = 0; r < 8; ++r) {
        const float4 x = __ldcg(v + (first + r * 512) % quads);
        sum += x.x + x.y + x.z + x.w;
    }
    if (sum == -1.0f) *never = sum;
}

__global__ void write_all(float4* v, std::size_t quads) {
    const std::size_t first = blockIdx.x * std::size_t{4096} + threadIdx.x;
#pragma unroll
    for (int r = 0; r < 8; ++r)
        v[(first + r * 512) % quads] = make_float4(1.5f, 2.5f, 1.0f * threadIdx.x, 4.5f);
}

__global__ void copy_all(const float4* v, float4* w, std::size_t quads) {
    const std::size_t first = blockIdx.x * std::size_t{4096} + threadIdx.x;
#pragma unroll
    for (int r = 0; r < 8; ++r) w[(first + r * 512) % quads] = __ldcg(v + (first + r * 512) % quads);
}

// ---- Latencies
// ---------------------------------------------------------------------------------------------

__global__ void make_ring(unsigned* next, unsigned slots,
                          unsigned apart) {  // one random cycle: an LCG of full period
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < slots) next[std::size_t{i} * apart] = ((i * 1664525u + 1013904223u) & (slots - 1)) * apart;
}

template <bool cached>
__global__ void chase(const unsigned* next, unsigned warm_up, unsigned steps, unsigned* last,
                      long long* cycles) {
    unsigned at = 0;
    for (unsigned i = 0; i < warm_up; ++i)
        at = cached ? next[at] : __ldcg(next + at);  // warm-up, and the TLB's
    const long long start = clock64();
    for (unsigned i = 0; i < steps; ++i) at = cached ? next[at] : __ldcg(next + at);
    *cycles = clock64() - start;
    *last = at;
}

__global__ void chase_shared(unsigned steps, unsigned* last, long long* cycles) {
    __shared__ unsigned next[1024];
    for (unsigned i = threadIdx.x; i < 1024; i += 32) next[i] = (i * 5 + 33) % 1024;
    __syncthreads();
    unsigned at = threadIdx.x;
    const long long start = clock64();
    for (unsigned i = 0; i < steps; ++i) at = next[at];
    if (threadIdx.x == 0) *cycles = clock64() - start;
    last[threadIdx.x] = at;
}

__global__ void chase_shuffle(unsigned steps, unsigned* last, long long* cycles) {
    unsigned x = threadIdx.x;
    const long long start = clock64();
#pragma unroll 8
    for (unsigned i = 0; i < steps; ++i) x = __shfl_xor_sync(0xffffffffu, x, 1) + 1;
    if (threadIdx.x == 0) *cycles = clock64() - start;
    last[threadIdx.x] = x;
}

__global__ void chase_atomic(unsigned* word, unsigned steps, long long* cycles) {
    unsigned x = 0;
    const long long start = clock64();
    for (unsigned i = 0; i < steps; ++i) x = atomicAdd(word + (x >> 31), 1);
    *cycles = clock64() - start + (x == 0xffffffffu);
}

__global__ void barriers(unsigned steps, long long* cycles) {
    const long long start = clock64();
    for (unsigned i = 0; i < steps; ++i) __syncthreads();
    if (threadIdx.x == 0 && blockIdx.x == 0) *cycles = clock64() - start;
}

// ---- Rates
// -------------------------------------------------------------------------------------------------

template <class T>
__global__ void add_same(T* word, unsigned steps) {
    for (unsigned i = 0; i < steps; ++i) atomicAdd(word, static_cast<T>(threadIdx.x + i));
}

__global__ void exchange_same(unsigned* word, unsigned steps, unsigned* last) {
    unsigned x = 0;
    for (unsigned i = 0; i < steps; ++i) x += atomicExch(word, threadIdx.x + i);
    if (x == 0x12345678u) *last = x;
}

template <class T>
__global__ void add_one_lane(T* word, unsigned steps) {
    if (threadIdx.x % 32 == 0) {
        for (unsigned i = 0; i < steps; ++i) atomicAdd(word, static_cast<T>(threadIdx.x + i));
    }
}

/// Each warp adds to 32 neighbours somewhere else in `words`, a power of two.
template <class T>
__global__ void add_spread(T* words, unsigned count, unsigned steps) {
    unsigned at = (blockIdx.x * blockDim.x + threadIdx.x) * 1u;
    for (unsigned i = 0; i < steps; ++i) {
        atomicAdd(words + (at & (count - 1)), static_cast<T>(1 + threadIdx.x));
        at += 32 * 977;
    }
}

__global__ void shared_words(float* never, unsigned steps, unsigned stride) {
    __shared__ float s[2048];
    for (unsigned i = threadIdx.x; i < 2048; i += blockDim.x) s[i] = 1.0f * i;
    __syncthreads();
    unsigned at = threadIdx.x * stride;
    float a = 0, b = 0, c = 0, d = 0;
    for (unsigned i = 0; i < steps; ++i) {
        a += s[at & 2047], b += s[(at + 32) & 2047], c += s[(at + 64) & 2047], d += s[(at + 96) & 2047];
        at += 128;
    }
    if (a + b + c + d == -1.0f) *never = a;
}

__global__ void shared_add(int* never, unsigned steps, unsigned mask) {
    __shared__ int s[1024];
    for (unsigned i = threadIdx.x; i < 1024; i += blockDim.x) s[i] = 0;
    __syncthreads();
    for (unsigned i = 0; i < steps; ++i)
        atomicAdd(&s[(threadIdx.x + i * 32) & mask], static_cast<int>(i + threadIdx.x));
    __syncthreads();
    if (s[threadIdx.x & 31] == -1) *never = 1;
}

/// Loads from 16 KiB, which the first-level cache holds, lanes `stride` floats apart. The address moves on,
/// so that no load can leave the loop; what that costs is less than the loads themselves.
__global__ void level_one(const float* v, float* never, unsigned steps, unsigned stride) {
    constexpr unsigned words = 4096;
    unsigned at = (threadIdx.x % 32) * stride + threadIdx.x / 32 * 32;
    float a = 0, b = 0, c = 0, d = 0;
    for (unsigned i = 0; i < steps; ++i) {
        a += v[at % words], b += v[(at + 32) % words], c += v[(at + 64) % words], d += v[(at + 96) % words];
        at += 128;
    }
    if (a + b + c + d == -1.0f) *never = a;
}

__global__ void fused_multiply_adds(float* never, unsigned steps, float x) {
    float a = x, b = x + 1, c = x + 2, d = x + 3, e = x + 4, f = x + 5, g = x + 6, h = x + 7;
    for (unsigned i = 0; i < steps; ++i) {
        a = a * x + b, b = b * x + c, c = c * x + d, d = d * x + e, e = e * x + f, f = f * x + g,
        g = g * x + h, h = h * x + a;
    }
    if (a + b + c + d + e + f + g + h == -1.0f) *never = a;
}

__global__ void fused_multiply_adds_double(double* never, unsigned steps, double x) {
    double a = x, b = x + 1, c = x + 2, d = x + 3;
    for (unsigned i = 0; i < steps; ++i) a = a * x + b, b = b * x + c, c = c * x + d, d = d * x + a;
    if (a + b + c + d == -1.0) *never = a;
}

__global__ void reciprocal_roots(float* never, unsigned steps, float x) {
    float a = x, b = x + 1, c = x + 2, d = x + 3;
    for (unsigned i = 0; i < steps; ++i) a = rsqrtf(a), b = rsqrtf(b), c = rsqrtf(c), d = rsqrtf(d);
    if (a + b + c + d == -1.0f) *never = a;
}

/// The values fit 32 bits, as sizes and indices do, also where the type is wider: that is a shorter way.
template <class T>
__global__ void divisions(T* never, unsigned steps, T x) {
    T a = x, b = x + 1, c = x + 2, d = x + 3;
    for (unsigned i = 0; i < steps; ++i)
        a = 2000000000 / (a + x), b = 2000000001 / (b + x), c = 2000000002 / (c + x),
        d = 2000000003 / (d + x);
    if (a + b + c + d == -1) *never = a;
}

__global__ void shuffles(float* never, unsigned steps, float x) {
    float a = x + threadIdx.x, b = a + 1, c = a + 2, d = a + 3;
    for (unsigned i = 0; i < steps; ++i) {
        a = __shfl_xor_sync(0xffffffffu, a, 1), b = __shfl_xor_sync(0xffffffffu, b, 2);
        c = __shfl_xor_sync(0xffffffffu, c, 4), d = __shfl_xor_sync(0xffffffffu, d, 8);
    }
    if (a + b + c + d == -1.0f) *never = a;
}

/// One 4-byte load at a time in each thread, all threads of the GPU: what latency becomes under load.
__global__ void one_load_in_flight(const float* v, float* never, std::size_t n) {
    float sum = 0;
#pragma unroll 1
    for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < n;
         i += gridDim.x * std::size_t{blockDim.x})
        sum += v[i];
    if (sum == -1.0f) *never = sum;
}

// What all measurements use.
constexpr std::size_t big = std::size_t{1} << 30;  // bytes of `v` and of `w`
unsigned sms;
float *v, *w, *never;
double clock_rate;  // Hz
double one_kernel;  // seconds of an empty kernel

long long* cycles_memory;
double cycles() {
    long long value = 0;
    require(cudaMemcpy(&value, cycles_memory, sizeof value, cudaMemcpyDeviceToHost), "fetching");
    return static_cast<double>(value);
}

void show(const char* name, double value, const char* comment) {
    std::printf("%-28s = %-12.6g # %s\n", name, value, comment);
}

/// What each multiprocessor does in a cycle of `operations` that all of them do in `work`.
double rate(const std::function<void()>& work, double operations) {
    return operations / (seconds(work) - one_kernel) / (clock_rate * sms);
}

/// The clock under load.
void measure_clock() {
    fused_multiply_adds<<<sms * 8, 256>>>(never, 200000, 0.5f);
    require(cudaDeviceSynchronize(), "warming up");
    barriers<<<1, 32>>>(1, cycles_memory);
    clock_rate = 20e6 / seconds([] { spin<<<1, 1>>>(20'000'000); });
    show("clock_hz", clock_rate, "spinning kernel of 2e7 cycles");
}

/// Launches: slope and offset of N kernels in a row.
void measure_launches() {
    const auto times = [](unsigned n, const std::function<void()>& one) {
        return seconds([&] {
            for (unsigned i = 0; i < n; ++i) one();
        });
    };
    const auto kernel = [] { nothing<<<1, 32>>>(); };
    const auto clear = [&] { require(cudaMemsetAsync(never, 0, 4), "memset"); };
    one_kernel = times(1, kernel);
    const double many_kernels = times(65, kernel);
    show("launch_first_s", one_kernel, "two events around one empty kernel, queued");
    show("launch_next_s", (many_kernels - one_kernel) / 64, "each further empty kernel");
    const auto wide_kernel = [] { nothing<<<sms * 8, 256>>>(); };
    show("launch_next_wide_s", (times(65, wide_kernel) - times(1, wide_kernel)) / 64,
         "each further empty kernel that fills the GPU");
    show("memset_next_s", (times(65, clear) - times(1, clear)) / 64, "each further 4-byte memset");
    const auto both = [&] { clear(), kernel(); };
    show("memset_and_kernel_s", (times(65, both) - times(1, both)) / 64,
         "each further pair of memset and kernel");
    const auto device_copy = [&] {
        require(cudaMemcpyAsync(never, never + 64, 4, cudaMemcpyDeviceToDevice), "copying");
    };
    show("copy_next_s", (times(65, device_copy) - times(1, device_copy)) / 64,
         "each further 4-byte copy on the device");
    float fetched = 0;
    const auto fetch = [&] {
        kernel();
        require(cudaMemcpy(&fetched, never, 4, cudaMemcpyDeviceToHost), "fetching");
    };
    show("kernel_and_fetch_s", (times(65, fetch) - times(1, fetch)) / 64,
         "each further kernel whose result the host waits for");
    // Nothing is queued ahead: a kernel cannot start before the host has asked for it.
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 4000; ++i) wide_kernel();
    require(cudaDeviceSynchronize(), "launching");
    show("launch_by_host_s",
         std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / 4000,
         "each of many empty kernels, as the host asks for them");
    show("blocks_per_s", (1 << 20) / (seconds([] { nothing<<<1 << 20, 256>>>(); }) - one_kernel),
         "empty blocks of 256 threads");
    show("blocks_32_per_s", (1 << 20) / (seconds([] { nothing<<<1 << 20, 32>>>(); }) - one_kernel),
         "empty blocks of 32 threads");
}

void measure_bandwidths() {
    const std::size_t quads = big / 16;
    const unsigned grid = static_cast<unsigned>(quads / 4096);
    const auto v4 = reinterpret_cast<float4*>(v), w4 = reinterpret_cast<float4*>(w);
    show("dram_read", big / (seconds([&] { read_all<<<grid, 512>>>(v4, never, quads); }) - one_kernel),
         "bytes/s, 1 GiB");
    show("dram_write", big / (seconds([&] { write_all<<<grid, 512>>>(w4, quads); }) - one_kernel), "bytes/s");
    show("dram_copy", 2.0 * big / (seconds([&] { copy_all<<<grid, 512>>>(v4, w4, quads); }) - one_kernel),
         "bytes/s, read and written");
    for (const unsigned mib : {4u, 8u, 16u, 24u, 32u, 40u, 48u, 64u}) {
        const std::size_t few = std::size_t{mib} * 65536;
        const double t = seconds([&] { read_all<<<grid, 512>>>(v4, never, few); }) - one_kernel;
        std::printf("# read %u MiB again and again: %.3g bytes/s\n", mib, big / t);
    }
    show("l2_read",
         big / (seconds([&] { read_all<<<grid, 512>>>(v4, never, std::size_t{24} * 65536); }) - one_kernel),
         "bytes/s, 24 MiB");
    show("l2_write",
         big / (seconds([&] { write_all<<<grid, 512>>>(w4, std::size_t{24} * 65536); }) - one_kernel),
         "bytes/s, 24 MiB");
    show(
        "l2_copy",
        2.0 * big / (seconds([&] { copy_all<<<grid, 512>>>(v4, w4, std::size_t{12} * 65536); }) - one_kernel),
        "bytes/s, 12 + 12 MiB");
}

void measure_latencies() {
    unsigned* const ring = reinterpret_cast<unsigned*>(w);
    unsigned* const last = reinterpret_cast<unsigned*>(never);
    const auto latency = [&](unsigned slots, unsigned apart, unsigned warm_up, bool cached) {
        make_ring<<<(slots + 255) / 256, 256>>>(ring, slots, apart);
        if (cached)
            chase<true><<<1, 1>>>(ring, warm_up, 4096, last, cycles_memory);
        else
            chase<false><<<1, 1>>>(ring, warm_up, 4096, last, cycles_memory);
        require(cudaDeviceSynchronize(), "chasing");
        return cycles() / 4096;
    };
    show("dram_latency_cycles", latency(1u << 21, 128, 1024, false), "pointer chase through 1 GiB");
    show("dram_latency_small_cycles", latency(1u << 19, 64, 1024, false), "through 128 MiB");
    show("l2_latency_cycles", latency(1u << 16, 32, 1u << 16, false), "through 8 MiB, once before");
    show("l2_latency_near_cycles", latency(1u << 12, 32, 1u << 13, false), "through 512 KiB, twice before");
    show("l1_latency_cycles", latency(1u << 10, 8, 1u << 11, true), "through 32 KiB, cached");
    chase_shared<<<1, 32>>>(4096, last, cycles_memory), require(cudaDeviceSynchronize(), "chasing");
    show("shared_latency_cycles", cycles() / 4096, "pointer chase");
    chase_shuffle<<<1, 32>>>(4096, last, cycles_memory), require(cudaDeviceSynchronize(), "chasing");
    show("shuffle_latency_cycles", cycles() / 4096, "shuffle and an addition");
    chase_atomic<<<1, 1>>>(last, 1024, cycles_memory), require(cudaDeviceSynchronize(), "chasing");
    show("atomic_latency_cycles", cycles() / 1024, "atomicAdd whose result the next needs");
    for (const unsigned size : {32u, 64u, 128u, 256u, 512u, 1024u}) {
        barriers<<<1, size>>>(1024, cycles_memory), require(cudaDeviceSynchronize(), "barriers");
        std::printf("barrier_%-4u_cycles          = %-12.6g # __syncthreads() of one block alone\n", size,
                    cycles() / 1024);
    }
    barriers<<<sms * 8, 256>>>(1024, cycles_memory), require(cudaDeviceSynchronize(), "barriers");
    show("barrier_full_cycles", cycles() / 1024, "8 blocks of 256 a multiprocessor");
}

/// Atomics: operations of lanes a second.
void measure_atomics() {
    unsigned* const last = reinterpret_cast<unsigned*>(never);
    const auto atomic_rate = [&](auto add, double operations) {
        return operations / (seconds(add) - one_kernel);
    };
    const double lanes = sms * 8.0 * 256 * 4;
    show("atomic_same_float", atomic_rate([&] { add_same<<<sms * 8, 256>>>(never, 4); }, lanes),
         "lanes/s on one word");
    show("atomic_same_float_1_lane",
         atomic_rate([&] { add_one_lane<<<sms * 8, 256>>>(never, 8); }, lanes / 16),
         "one lane a warp, lanes/s");
    show("atomic_same_int",
         atomic_rate([&] { add_same<<<sms * 8, 256>>>(reinterpret_cast<int*>(never), 4); }, lanes),
         "lanes/s");
    show("atomic_same_int_1_lane",
         atomic_rate([&] { add_one_lane<<<sms * 8, 256>>>(reinterpret_cast<int*>(never), 8); }, lanes / 16),
         "lanes/s");
    show("atomic_same_double",
         atomic_rate([&] { add_same<<<sms * 8, 256>>>(reinterpret_cast<double*>(never), 4); }, lanes),
         "lanes/s");
    show(
        "atomic_same_double_1_lane",
        atomic_rate([&] { add_one_lane<<<sms * 8, 256>>>(reinterpret_cast<double*>(never), 8); }, lanes / 16),
        "lanes/s");
    show("atomic_same_exchange",
         atomic_rate([&] { exchange_same<<<sms * 8, 256>>>(last, 4, last + 64); }, lanes), "lanes/s");
    for (const unsigned words : {32u, 1024u, 32768u, 1u << 20, 1u << 22}) {
        const double spread = sms * 8.0 * 256 * 64;
        std::printf(
            "# atomics over %u words, warps on 32 neighbours: float %.4g lanes/s, int %.4g, double %.4g\n",
            words, atomic_rate([&] { add_spread<<<sms * 8, 256>>>(v, words, 64); }, spread),
            atomic_rate([&] { add_spread<<<sms * 8, 256>>>(reinterpret_cast<int*>(w), words, 64); }, spread),
            atomic_rate([&] { add_spread<<<sms * 8, 256>>>(reinterpret_cast<double*>(w), words, 64); },
                        spread));
    }
    show("atomic_spread",
         atomic_rate([&] { add_spread<<<sms * 8, 256>>>(v, 1u << 20, 64); }, sms * 8.0 * 256 * 64),
         "lanes/s, 2^20 words");
}

void measure_shared_and_level_one() {
    unsigned* const last = reinterpret_cast<unsigned*>(never);
    const double warps = sms * 8.0 * 8;
    show("shared_wavefronts", rate([&] { shared_words<<<sms * 8, 256>>>(never, 2048, 1); }, warps * 2048 * 4),
         "a cycle, no conflicts");
    show("shared_wavefronts_2_way",
         rate([&] { shared_words<<<sms * 8, 256>>>(never, 1024, 2); }, warps * 1024 * 4 * 2),
         "a cycle, 2-way conflicts");
    show("shared_wavefronts_32_way",
         rate([&] { shared_words<<<sms * 8, 256>>>(never, 128, 32); }, warps * 128 * 4 * 32),
         "a cycle, 32-way conflicts");
    show("shared_atomics_own",
         rate([&] { shared_add<<<sms * 8, 256>>>(reinterpret_cast<int*>(last), 512, 1023); }, warps * 512),
         "warp requests a cycle, own words");
    show("shared_atomics_same",
         rate([&] { shared_add<<<sms * 8, 256>>>(reinterpret_cast<int*>(last), 64, 0); }, warps * 64 * 32),
         "lanes a cycle, one word");
    for (const unsigned stride : {1u, 2u, 4u, 8u, 16u, 32u}) {
        std::printf("# level one, stride %u: %.4g requests a cycle\n", stride,
                    rate([&] { level_one<<<sms * 8, 256>>>(v, never, 256, stride); }, warps * 256 * 4));
    }
    show("l1_requests", rate([&] { level_one<<<sms * 8, 256>>>(v, never, 1024, 1); }, warps * 1024 * 4),
         "a cycle, stride 1");
}

void measure_issue() {
    const double warps = sms * 8.0 * 8;
    show("issue_fma",
         rate([&] { fused_multiply_adds<<<sms * 8, 256>>>(never, 4096, 0.5f); }, warps * 4096 * 8),
         "warp instructions a cycle");
    show("issue_fma_double",
         rate(
             [&] {
                 fused_multiply_adds_double<<<sms * 8, 256>>>(reinterpret_cast<double*>(never), 2048, 0.5);
             },
             warps * 2048 * 4),
         "a cycle");
    show("issue_rsqrt",
         rate([&] { reciprocal_roots<<<sms * 8, 256>>>(never, 2048, 1.5f); }, warps * 2048 * 4),
         "rsqrtf of warps a cycle");
    show("issue_division",
         rate([&] { divisions<<<sms * 8, 256>>>(reinterpret_cast<int*>(never), 512, 30000); },
              warps * 512 * 4),
         "int divisions of warps a cycle");
    show("issue_wide_division",
         rate([&] { divisions<<<sms * 8, 256>>>(reinterpret_cast<long long*>(never), 512, 30000LL); },
              warps * 512 * 4),
         "long long divisions of warps a cycle");
    show("issue_shuffle", rate([&] { shuffles<<<sms * 8, 256>>>(never, 2048, 1.5f); }, warps * 2048 * 4),
         "shuffles of warps a cycle");
}

void measure_loads_in_flight() {
    for (const unsigned per : {1u, 2u, 4u, 8u}) {
        const double t =
            seconds([&] { one_load_in_flight<<<sms * per, 256>>>(v, never, big / 4); }) - one_kernel;
        std::printf(
            "# one 4-byte load in flight a thread, %u blocks of 256 a multiprocessor: %.4g bytes/s, "
            "%.4g s a load\n",
            per, big / t, t / (big / 4.0 / (sms * per * 256.0)));
    }
}

}  // namespace

int main() {
    require(cudaGetDeviceProperties(&gpu, 0), "no GPU");
    sms = static_cast<unsigned>(gpu.multiProcessorCount);
    v = memory<float>(big / 4);
    w = memory<float>(big / 4);
    never = memory<float>(1024);
    cycles_memory = memory<long long>(1);
    fill_random<<<sms * 8, 512>>>(reinterpret_cast<unsigned*>(v), big / 4);
    fill_random<<<sms * 8, 512>>>(reinterpret_cast<unsigned*>(w), big / 4);

    std::printf("name = \"%s\"\n", gpu.name);
    show("multiprocessors", sms, "of the device");
    measure_clock();
    measure_launches();
    measure_bandwidths();
    measure_latencies();
    measure_atomics();
    measure_shared_and_level_one();
    measure_issue();
    measure_loads_in_flight();
    require(cudaDeviceSynchronize(), "the end");
}
