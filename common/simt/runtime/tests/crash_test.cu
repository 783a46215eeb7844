// Lanes that crash: the report, the error, and that the process goes on.
#include <cassert>
#include <cstdlib>
#include <stdexcept>

#include "runtime/tests/simt_tools.h"

using namespace simt_tools;
using Catch::Matchers::ContainsSubstring;

namespace {

__global__ void wild_store(int* p, int lane) {
    if (threadIdx.x == lane && blockIdx.x == 1) p[1ll << 40] = 1;
}
__global__ void wild_after_barrier(int* p, int lane) {
    __shared__ int a[64];
    a[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == lane) p[1ll << 40] = a[63 - threadIdx.x];
    __syncthreads();
}
__global__ void divide(int* p, int by) { *p = 10 / by; }
__global__ void aborts() {
    if (threadIdx.x == 2) std::abort();
}
__global__ void traps() {
    if (threadIdx.x == 3) __trap();
}
__global__ void asserts(int n) { assert(static_cast<int>(threadIdx.x) < n && "too many threads"); }
__global__ void throws() {
    if (threadIdx.x == 4) throw std::runtime_error("out of luck");
}
__device__ int endless(int n) {
    volatile char local[512];
    local[n % 512] = static_cast<char>(n);
    return n == -1 ? 0 : endless(n + 1) + local[n % 512];
}
__global__ void overflows(int* out) { *out = endless(0); }
__global__ void store(int* out, int value) { out[threadIdx.x] = value; }

void check_device_works() {
    Managed<int> out(64);
    store<<<1, 64>>>(out.get(), 5);
    REQUIRE_LAUNCHED();
    for (int v : out) REQUIRE(v == 5);
}

}  // namespace

TEST_CASE("an illegal address names the thread", "[simt][crash]") {
    simt::set_threads(GENERATE(1u, 3u));
    {
        ExpectFailure quiet;
        Managed<int> p(1);
        wild_store<<<3, 64>>>(p.get(), 37);
        CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
        CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);  // sticky
        INFO(simt::last_report());
        CHECK_THAT(
            simt::last_report(),
            ContainsSubstring("kernel wild_store: thread (37,0,0) of block (1,0,0): segmentation fault"));
        CHECK_THAT(simt::last_report(), ContainsSubstring("simt: error=illegal-address"));
        CHECK_THAT(simt::last_report(), ContainsSubstring("block=(1,0,0) thread=(37,0,0) signal=11"));
    }
    check_device_works();
    {
        ExpectFailure quiet;
        Managed<int> p(1);
        wild_after_barrier<<<3, 64>>>(p.get(), 5);
        CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
        CHECK_THAT(simt::last_report(), ContainsSubstring("thread (5,0,0)"));
    }
    check_device_works();
    simt::set_threads(2);
}

TEST_CASE("other ways to crash", "[simt][crash]") {
    const int way = GENERATE(0, 1, 2, 3, 4, 5);
    cudaError_t error = cudaSuccess;
    std::string report, expected;
    {
        ExpectFailure quiet;
        Managed<int> p(1);
        switch (way) {
            case 0:
                divide<<<1, 1>>>(p.get(), p[0]), expected = "integer division by zero";
                break;
            case 1:
                aborts<<<1, 32>>>(), expected = "thread (2,0,0) of block (0,0,0): abort()";
                break;
            case 2:
                traps<<<1, 32>>>(), expected = "thread (3,0,0) of block (0,0,0): __trap()";
                break;
            case 3:
                throws<<<1, 32>>>(), expected = "an exception left the kernel: out of luck";
                break;
            case 4:
                overflows<<<1, 32>>>(p.get()), expected = "stack overflow";
                break;
            default:
                asserts<<<1, 32>>>(20), expected = "thread (20,0,0) of block (0,0,0): assertion";
                break;
        }
        error = cudaDeviceSynchronize();
        report = simt::last_report();
    }
    INFO(report);
    CHECK(error == (way == 5 ? cudaErrorAssert : cudaErrorLaunchFailure));
    CHECK_THAT(report, ContainsSubstring(expected));
    check_device_works();
}
