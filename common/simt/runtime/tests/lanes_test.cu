// Loops over lanes give what a stack for each lane gives: in every order, for blocks of every shape.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/tests/simt_tools.h"
#include "simt/inspect/control.h"
#include "testing/catch.h"

namespace {

constexpr int most = 1024;

/// Runs `launch(out)` by loops, by stacks, and by stacks in other orders; all give the same.
template <class Number, class Launch>
std::vector<Number> in_every_way(int size, Launch launch) {
    std::vector<Number> first;
    for (int way = 0; way < 5; ++way) {
        simt::set_loops_over_lanes(way != 1);
        simt::set_seed(way < 2 ? 0 : static_cast<std::uint64_t>(way));
        std::vector<Number> out(static_cast<std::size_t>(size), Number(-1));
        launch(out.data());
        CHECK(cudaDeviceSynchronize() == cudaSuccess);
        if (way == 0)
            first = out;
        else
            CHECK(out == first);
    }
    simt::set_loops_over_lanes(true);
    simt::set_seed(0);
    return first;
}

// ---- The shape of the code --------------------------------------------------------------------------------

__global__ void tree(const int* in, int* out, int n) {
    __shared__ int partial[most];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    partial[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned count = blockDim.x; count > 1;) {
        const unsigned half = (count + 1) / 2;
        if (threadIdx.x + half < count) partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
        count = half;
    }
    if (threadIdx.x == 0) out[blockIdx.x] = partial[0];
}

// Variables of every kind that outlive a barrier: changed, arrays,
// references, pointers, structures, parameters.
struct Pair {
    int a;
    double b;
};

__global__ void variables(int* out, int n) {
    extern __shared__ int s[];
    const int lane = threadIdx.x, mirrored = blockDim.x - 1 - lane;
    int sum = lane * n, twice[2] = {lane, 2 * lane}, later;
    int& own = s[lane];
    int* pointer = out + lane;
    Pair pair{lane, 0.5};
    n += lane;  // a parameter, from here on each lane's own
    own = n;
    __syncthreads();
    later = s[mirrored];
    sum += later;
    twice[1] += s[mirrored];
    pair.a += 3;
    __syncthreads();
    own += twice[1];
    for (int round = 0; round < 3; ++round) {
        __syncthreads();
        const int seen = s[mirrored] % 1000;
        __syncthreads();
        own += seen + round;
        sum += seen;
    }
    *pointer = sum + later + twice[0] + pair.a + static_cast<int>(2 * pair.b) + n + own;
}

__global__ void leaves_early(int* out, int n) {
    __shared__ int s[most];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = 0;
    __syncthreads();
    if (i >= n) return;
    for (int k = 0; k < 3; ++k) {
        if (i % 7 == k) {
            out[i] = -k - 10;
            return;
        }
        atomicAdd(&s[k], 1);
        __syncthreads();
    }
    int i_last = n - 1;
    switch (i % 3) {
        case 0:
            i_last = s[0];
            break;
        case 1:
            if (i > 500) return;
            [[fallthrough]];
        default:
            i_last += 2;
    }
    __syncthreads();
    out[i] = i_last + s[2];
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
__global__ void ways(int* out, int n, bool long_way) {
    __shared__ int s[most];
    const int t = threadIdx.x;
    s[t] = t;
    int done = 0;
    if (long_way) {
        __syncthreads();
        s[t] += 5;
    } else
        __syncthreads();
    int k = 0;
    do {
        __syncthreads();
        if (k == 2) {
            ++k;
            continue;
        }
        if (k > n) break;
        s[t] += k * t;
        done += k;
        ++k;
    } while (k < 10);
    {
        const int inner = s[t] + done;
        __syncthreads();
        s[t] = inner * 2;
    }
    while (k > 5) {
        int k_inner = k;
        __syncthreads();
        for (int k = 0; k < 2; ++k) s[t] += k + k_inner;
        --k;
    }
    if (n == 3) return;
    out[t] = s[t];
}

#pragma GCC diagnostic pop

template <class T, int rows>
__global__ void tiled(const T* a, T* out, int width) {
    __shared__ T tile[rows][rows + 1];
    int x = blockIdx.x * rows + threadIdx.x, y = blockIdx.y * rows + threadIdx.y;
    if (x < width && y < width) tile[threadIdx.y][threadIdx.x] = a[y * width + x];
    __syncthreads();
    x = blockIdx.y * rows + threadIdx.x;
    y = blockIdx.x * rows + threadIdx.y;
    if (x < width && y < width) out[y * width + x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void solid(int* out) {
    __shared__ int s[8][8][8];
    const unsigned x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    s[z][y][x] = static_cast<int>(x + 10 * y + 100 * z);
    __syncthreads();
    out[(z * blockDim.y + y) * blockDim.x + x] =
        s[blockDim.z - 1 - z][blockDim.y - 1 - y][blockDim.x - 1 - x] + static_cast<int>(threadIdx.x);
}

// ---- Shuffles ---------------------------------------------------------------------------------------------

template <class T>
__global__ void shuffled(T* out, int width) {
    const int i = threadIdx.x;
    T v = static_cast<T>(i * 3 + 1);
    for (int d = 1; d < 32; d *= 2) {
        v += __shfl_up_sync(0xffffffffu, v, d, width);
        T w = __shfl_down_sync(0xffffffffu, v, d, width);
        w = w + v;
        v = max(w, __shfl_xor_sync(0xffffffffu, w, d, width));
        __syncwarp();
        const T first = __shfl_sync(0xffffffffu, v, d, width);
        v -= first;
    }
    out[i] = v;
}

__global__ void shuffled_by_the_rest(int* out, int n) {
    int v = threadIdx.x;
    if (v >= n) return;
    v += __shfl_xor_sync(0xffffffffu, v, 1);
    out[threadIdx.x] = v;
}

__device__ float halve(float x) { return x / 2; }

__global__ void calls(float* out) {
    __shared__ float s[most];
    s[threadIdx.x] = halve(static_cast<float>(threadIdx.x));
    __syncthreads();
    out[threadIdx.x] = sqrtf(s[blockDim.x - 1 - threadIdx.x]) + fmaxf(halve(3), 1.0f);
}

__global__ void many_variables(int* out) {
    __shared__ int s[most];
    int large[3000];
    for (int k = 0; k < 3000; ++k) large[k] = k + threadIdx.x;
    s[threadIdx.x] = large[17];
    __syncthreads();
    out[threadIdx.x] = large[2999] + s[0];
}

__global__ void out_of_bounds(int* out, int at) {
    __shared__ int s[most];
    s[threadIdx.x] = 1;
    __syncthreads();
    if (threadIdx.x == 37) out[static_cast<long>(at) * 1000000000] = s[0];
    __syncthreads();
    s[threadIdx.x] = 2;
}

__global__ void endless_between_barriers(int* out) {
    __syncthreads();
    if (threadIdx.x == 3)
        while (true) {
        }
    __syncthreads();
    out[0] = 1;
}

__global__ void endless_barriers(int* out, int n) {
    for (int i = 0; i < n || n > 0; ++i) {
        out[threadIdx.x] = i;
        __syncthreads();
    }
}

// Every lane's update changes nothing but the first's: no lane waits for another.
__global__ void in_vain(int* out) {
    __syncthreads();
    for (int k = 0; k < 100; ++k) atomicMax(out, 0);
    __syncthreads();
    atomicAdd(out, 1);
}

__global__ void volatile_values(int* out) {
    __shared__ volatile int s[most];
    volatile int x = threadIdx.x;
    s[threadIdx.x] = x;
    __syncthreads();
    x = x + s[blockDim.x - 1 - threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = x;
}

__global__ void groups(int* out) {
    __shared__ int s[most];
    const cooperative_groups::thread_block block = cooperative_groups::this_thread_block();
    const unsigned rank = block.thread_rank();
    s[rank] = static_cast<int>(3 * rank + block.group_index().x);
    cooperative_groups::sync(block);
    const int other = s[block.size() - 1 - rank];
    block.sync();
    s[rank] += other;
    cooperative_groups::sync(block);
    out[rank] = s[block.size() - 1 - rank] + other;
}

}  // namespace

TEST_CASE("A tree is the same by loops over lanes and by stacks", "[simt][lanes]") {
    std::vector<int> in(5000);
    for (int i = 0; i < 5000; ++i) in[static_cast<std::size_t>(i)] = i % 11;
    for (const int threads : {1, 2, 31, 32, 33, 127, 256, 1000, 1024}) {
        const int blocks = (5000 + threads - 1) / threads;
        const auto out = in_every_way<int>(
            blocks, [&](int* result) { tree<<<blocks, threads>>>(in.data(), result, 5000); });
        int sum = 0, expected = 0;
        for (const int x : out) sum += x;
        for (const int x : in) expected += x;
        CHECK(sum == expected);
    }
}

TEST_CASE("What a lane's variables hold outlives a barrier", "[simt][lanes]") {
    for (const int threads : {1, 7, 32, 64, 100, 512}) {
        in_every_way<int>(threads, [&](int* out) {
            variables<<<1, threads, static_cast<std::size_t>(threads) * sizeof(int)>>>(out, 5);
        });
    }
}

TEST_CASE("Lanes that return early take part no more", "[simt][lanes]") {
    for (const int n : {0, 1, 5, 500, 2000})
        for (const int threads : {32, 96, 1000})
            in_every_way<int>(2000, [&](int* out) { leaves_early<<<2000 / threads + 1, threads>>>(out, n); });
}

TEST_CASE("Branches and loops around barriers, entered by all or by none", "[simt][lanes]") {
    for (const bool long_way : {false, true})
        for (const int n : {0, 1, 3, 5, 100})
            in_every_way<int>(100, [&](int* out) { ways<<<1, 100>>>(out, n, long_way); });
}

TEST_CASE("Blocks in two and three dimensions, templates", "[simt][lanes]") {
    for (const int width : {1, 16, 50}) {
        std::vector<double> a(static_cast<std::size_t>(width * width));
        for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<double>(i);
        const unsigned blocks = static_cast<unsigned>(width + 15) / 16;
        const auto out = in_every_way<double>(width * width, [&](double* result) {
            tiled<double, 16><<<dim3(blocks, blocks), dim3(16, 16)>>>(a.data(), result, width);
        });
        for (int y = 0; y < width; ++y)
            for (int x = 0; x < width; ++x)
                CHECK(out[static_cast<std::size_t>(y * width + x)] == x * width + y);
    }
    for (const dim3 shape : {dim3(8, 8, 8), dim3(1, 1, 8), dim3(3, 5, 7), dim3(8, 1, 2)})
        in_every_way<int>(512, [&](int* out) { solid<<<1, shape>>>(out); });
}

TEST_CASE("Shuffles of every type, width and kind", "[simt][lanes]") {
    for (const int width : {32, 16, 8, 2})
        for (const int threads : {32, 64, 256}) {
            in_every_way<int>(threads, [&](int* out) { shuffled<<<1, threads>>>(out, width); });
            in_every_way<float>(threads, [&](float* out) { shuffled<<<1, threads>>>(out, width); });
            in_every_way<double>(threads, [&](double* out) { shuffled<<<1, threads>>>(out, width); });
            in_every_way<long long>(threads, [&](long long* out) { shuffled<<<1, threads>>>(out, width); });
            in_every_way<short>(threads, [&](short* out) { shuffled<<<1, threads>>>(out, width); });
        }
}

TEST_CASE("A shuffle reads lanes that are not there", "[simt][lanes]") {
    simt::set_quiet(true);
    for (const int n : {1, 2, 33, 40, 63, 64}) {
        const auto out =
            in_every_way<int>(64, [&](int* result) { shuffled_by_the_rest<<<1, 64>>>(result, n); });
        if (n % 2 == 1) CHECK(out[static_cast<std::size_t>(n) - 1] == n - 2);  // 0xFF bytes are -1
    }
    for (const int threads : {1, 31, 45})
        in_every_way<int>(threads, [&](int* out) { shuffled_by_the_rest<<<1, threads>>>(out, threads); });
    simt::set_quiet(false);
}

TEST_CASE("Functions without a wait, and variables that need much room", "[simt][lanes]") {
    in_every_way<float>(300, [&](float* out) { calls<<<1, 300>>>(out); });
    in_every_way<int>(1024, [&](int* out) { many_variables<<<3, 1024>>>(out); });
}

TEST_CASE("A crash in a loop over lanes is reported with its thread", "[simt][lanes]") {
    const simt_tools::ExpectFailure expected;
    std::vector<int> out(1);
    out_of_bounds<<<2, 64>>>(out.data(), 1000);
    CHECK(cudaDeviceSynchronize() != cudaSuccess);
    CHECK(simt::last_report().find("37") != std::string::npos);
}

TEST_CASE("A launch by loops over lanes ends at its limit of time", "[simt][lanes]") {
    const simt_tools::ExpectFailure expected;
    std::vector<int> out(64);
    simt::set_time_limit(0.2);
    for (const bool at_barriers : {false, true}) {
        CAPTURE(at_barriers);
        at_barriers ? endless_barriers<<<4, 64>>>(out.data(), 1)
                    : endless_between_barriers<<<4, 64>>>(out.data());
        CHECK(cudaDeviceSynchronize() != cudaSuccess);
        CHECK(simt::last_report().find("has run for") != std::string::npos);
        cudaDeviceReset();
    }
    simt::set_time_limit(0);
}

TEST_CASE("Operations that change nothing do not wait in a loop over lanes", "[simt][lanes]") {
    CHECK(in_every_way<int>(1, [](int* out) { in_vain<<<1, 300>>>(out); })[0] == 300);
    in_every_way<int>(100, [](int* out) { volatile_values<<<1, 100>>>(out); });
}

TEST_CASE("Barriers by the block's group", "[simt][lanes]") {
    for (const dim3 shape : {dim3(64), dim3(8, 5), dim3(3, 4, 5)})
        in_every_way<int>(64, [&](int* out) { groups<<<1, shape>>>(out); });
}
