// Shared memory: one instance a block, one array an instantiation, poison, limits.
#include <cstdint>

#include "runtime/tests/simt_tools.h"

using namespace simt_tools;

namespace {

template <class T, int N>
__global__ void exchange(T* out) {
    __shared__ T a[N];
    __shared__ T b[N];
    a[threadIdx.x] = static_cast<T>(blockIdx.x * N + threadIdx.x);
    b[threadIdx.x] = static_cast<T>(1000);
    __syncthreads();
    out[blockIdx.x * N + threadIdx.x] = a[N - 1 - threadIdx.x] + b[threadIdx.x];
}

__global__ void untouched(unsigned* out, float* number) {
    __shared__ unsigned words[64];
    __shared__ float value;
    extern __shared__ unsigned more[];
    out[blockIdx.x * 192 + threadIdx.x] = words[threadIdx.x];
    out[blockIdx.x * 192 + 64 + threadIdx.x] = more[threadIdx.x];
    if (threadIdx.x == 0) number[blockIdx.x] = value;
    __syncthreads();
    words[threadIdx.x] = more[threadIdx.x] = 1;
    __syncthreads();
    out[blockIdx.x * 192 + 128 + threadIdx.x] = words[threadIdx.x];
}

struct alignas(32) Wide {
    double v[4];
};
__global__ void alignment(std::uintptr_t* out) {
    __shared__ char one;
    __shared__ float floats[5];
    __shared__ Wide wide;
    extern __shared__ double dynamic[];
    one = 1;
    out[0] = reinterpret_cast<std::uintptr_t>(&one);
    out[1] = reinterpret_cast<std::uintptr_t>(floats);
    out[2] = reinterpret_cast<std::uintptr_t>(&wide);
    out[3] = reinterpret_cast<std::uintptr_t>(dynamic);
}

__device__ int* counter() {
    __shared__ int c;
    return &c;
}
__global__ void in_a_function(int* out) {
    if (threadIdx.x == 0) *counter() = 0;
    __syncthreads();
    atomicAdd(counter(), 1);
    __syncthreads();
    out[blockIdx.x] = *counter();
}

// Outside functions: each kernel has its own, and its device functions see that one.
__shared__ int everywhere[64];
static __shared__ __align__(64) float lone;
__shared__ double plane[4][5];

__device__ int next(int i) { return everywhere[(i + 1) % 64]; }
__device__ float* where() { return &lone; }
__global__ void outside(int* out, float* number, bool* aligned) {
    const int i = static_cast<int>(threadIdx.x);
    everywhere[i] = i + 100 * static_cast<int>(blockIdx.x);
    if (i < 20) plane[i / 5][i % 5] = i;
    if (i == 0) lone = 0;
    __syncthreads();
    atomicAdd(&lone, 0.5f);
    out[blockIdx.x * 64 + threadIdx.x] = next(i);
    __syncthreads();
    if (i != 0) return;
    number[blockIdx.x] = *where() + static_cast<float>(plane[3][4] + sizeof(everywhere));
    aligned[blockIdx.x] = reinterpret_cast<std::uintptr_t>(&lone) % 64 == 0;
}

__global__ void full(int* out) {
    __shared__ int all[12 * 1024];  // 48 KB, to the byte
    for (int i = threadIdx.x; i < 12 * 1024; i += blockDim.x) all[i] = i;
    __syncthreads();
    out[threadIdx.x] = all[12 * 1024 - 1 - threadIdx.x];
}
__global__ void too_much(int* out) {
    __shared__ int all[12 * 1024];
    __shared__ int one_more;
    all[threadIdx.x] = 1;
    one_more = 2;
    out[threadIdx.x] = all[threadIdx.x] + one_more;
}

__global__ void two_dimensional(int* out) {
    __shared__ int tile[8][9];
    tile[threadIdx.y][threadIdx.x] = threadIdx.y * 8 + threadIdx.x;
    __syncthreads();
    out[threadIdx.y * 8 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

}  // namespace

TEST_CASE("blocks and instantiations have arrays of their own", "[simt][shared]") {
    Orders orders;
    Managed<int> ints(40 * 64);
    Managed<double> doubles(40 * 100);
    exchange<int, 64><<<40, 64>>>(ints.get());
    exchange<double, 100><<<40, 100>>>(doubles.get());
    REQUIRE_LAUNCHED();
    for (int i = 0; i < 40 * 64; ++i)
        REQUIRE(ints[static_cast<size_t>(i)] == i / 64 * 64 + 63 - i % 64 + 1000);
    for (int i = 0; i < 40 * 100; ++i)
        REQUIRE(doubles[static_cast<size_t>(i)] == i / 100 * 100 + 99 - i % 100 + 1000);
}

TEST_CASE("shared memory starts poisoned in every block", "[simt][shared]") {
    Orders orders;
    Managed<unsigned> out(30 * 192);
    Managed<float> number(30);
    untouched<<<30, 64, 64 * sizeof(unsigned)>>>(out.get(), number.get());
    REQUIRE_LAUNCHED();
    for (size_t i = 0; i < 30 * 192; ++i) REQUIRE(out[i] == (i % 192 < 128 ? 0xffffffffu : 1));
    for (float v : number) REQUIRE(v != v);
}

TEST_CASE("alignment of shared memory", "[simt][shared]") {
    Managed<std::uintptr_t> out(4);
    alignment<<<1, 1, 8>>>(out.get());
    REQUIRE_LAUNCHED();
    CHECK(out[1] % 16 == 0);
    CHECK(out[2] % 32 == 0);
    CHECK(out[3] % 1024 == 0);
}

TEST_CASE("a shared variable of a device function", "[simt][shared]") {
    Orders orders;
    Managed<int> out(10);
    in_a_function<<<10, 77>>>(out.get());
    REQUIRE_LAUNCHED();
    for (int v : out) REQUIRE(v == 77);
}

TEST_CASE("48 KB of static shared memory, and not a byte more", "[simt][shared]") {
    {
        Managed<int> out(256);
        full<<<3, 256>>>(out.get());
        REQUIRE_LAUNCHED();
        for (int i = 0; i < 256; ++i) REQUIRE(out[static_cast<size_t>(i)] == 12 * 1024 - 1 - i);
    }
    ExpectFailure quiet;
    Managed<int> out(256);
    too_much<<<3, 256>>>(out.get());
    CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
    CHECK_THAT(simt::last_report(), Catch::Matchers::ContainsSubstring("'one_more' of 4 bytes does not fit"));
}

TEST_CASE("a padded tile", "[simt][shared]") {
    Orders orders;
    Managed<int> out(64);
    two_dimensional<<<1, dim3(8, 8)>>>(out.get());
    REQUIRE_LAUNCHED();
    for (int i = 0; i < 64; ++i) REQUIRE(out[static_cast<size_t>(i)] == i % 8 * 8 + i / 8);
}

TEST_CASE("shared variables outside functions", "[simt][shared]") {
    Orders orders;
    Managed<int> out(5 * 64);
    Managed<float> number(5);
    Managed<bool> aligned(5);
    outside<<<5, 64>>>(out.get(), number.get(), aligned.get());
    REQUIRE_LAUNCHED();
    for (int b = 0; b < 5; ++b) {
        for (int i = 0; i < 64; ++i) REQUIRE(out[static_cast<size_t>(b * 64 + i)] == (i + 1) % 64 + 100 * b);
        REQUIRE(number[static_cast<size_t>(b)] == 32 + 19 + 256);
        REQUIRE(aligned[static_cast<size_t>(b)]);
    }
}
