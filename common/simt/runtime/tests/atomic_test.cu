// Atomics across all threads of the pool.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <limits>

#include "runtime/tests/simt_tools.h"

using namespace simt_tools;

namespace {

template <class T>
__global__ void all_operations(T* cells, T* old, T value) {
    old[0] = atomicAdd(&cells[0], value);
    old[1] = atomicExch(&cells[1], value);
    old[2] = atomicMin(&cells[2], value);
    old[3] = atomicMax(&cells[3], value);
    old[4] = atomicAnd(&cells[4], value);
    old[5] = atomicOr(&cells[5], value);
    old[6] = atomicXor(&cells[6], value);
    old[7] = atomicCAS(&cells[7], T(10), value);  // succeeds
    old[8] = atomicCAS(&cells[8], T(11), value);  // fails
    old[9] = atomicAdd_block(&cells[9], value);
    old[10] = atomicMax_system(&cells[10], value);
}

__global__ void half_sums(__half* a, __half2* b, __nv_bfloat16* c, __nv_bfloat162* d) {
    atomicAdd(a, __half(1.f));
    atomicAdd(b, __half2{1.f, 2.f});
    atomicAdd(c, __nv_bfloat16(1.f));
    atomicAdd(d, __nv_bfloat162{1.f, 2.f});
}

template <class T>
__global__ void sum(T* total, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(total, T(1));
}

__global__ void wrap(unsigned* up, unsigned* down, unsigned limit) {
    atomicInc(up, limit);
    atomicDec(down, limit);
}

__global__ void extremes(const int* in, int* low, int* high, unsigned* bits, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    atomicMin(low, in[i]);
    atomicMax(high, in[i]);
    atomicOr(bits, 1u << (in[i] & 31));
}

__global__ void vectors(float2* two, float4* four) {
    atomicAdd(two, make_float2(1, 2));
    atomicAdd(four, make_float4(1, 2, 3, 4));
}

// A lock per block of data: the classic spin lock.
__global__ void locked(int* lock, int* counter) {
    for (bool done = false; !done;) {
        if (atomicCAS(lock, 0, 1) == 0) {
            const int before = *counter;
            __threadfence();
            *counter = before + 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}
__global__ void locked_by_exchange(int* lock, int* counter) {
    while (atomicExch(lock, 1) != 0) {
    }
    *counter += 1;
    __threadfence();
    atomicExch(lock, 0);
}

// The last block to arrive finishes the sum.
__global__ void last_block(const int* in, int* partial, unsigned* arrived, int* out, int n) {
    __shared__ int sum;
    __shared__ bool last;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&sum, in[i]);
    __syncthreads();
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        __threadfence();
        last = atomicInc(arrived, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int total = 0;
        for (unsigned b = 0; b < gridDim.x; ++b) total += __ldcg(&partial[b]);
        *out = total;
    }
}

// Prefix sums in which every block waits for the one before it, polled in three ways.
enum class Poll { atomic, cached_load, sleep };
template <Poll How>
__global__ void chained_scan(const int* in, int* out, int* flag, int n) {
    __shared__ int before;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) {
        int value = 0;
        if (blockIdx.x > 0) {
            for (;;) {
                if (How == Poll::atomic) value = atomicAdd(&flag[blockIdx.x - 1], 0);
                if (How == Poll::cached_load) value = __ldcg(&flag[blockIdx.x - 1]);
                if (How == Poll::sleep) {
                    value = *const_cast<volatile int*>(&flag[blockIdx.x - 1]);
                    __nanosleep(10);
                }
                if (value != 0) break;
            }
            value -= 1;
        }
        before = value;
        int mine = 0;
        for (unsigned k = 0; k < blockDim.x && i + static_cast<int>(k) < n; ++k) mine += in[i + k];
        __threadfence();
        atomicExch(&flag[blockIdx.x], value + mine + 1);
    }
    __syncthreads();
    if (i < n) {
        int total = before;
        for (int k = blockIdx.x * blockDim.x; k <= i; ++k) total += in[k];
        out[i] = total;
    }
}

}  // namespace

TEMPLATE_TEST_CASE("each atomic returns the old value and stores the new one", "[simt][atomic]", int,
                   unsigned, unsigned long long, long long) {
    using T = TestType;
    Managed<T> cells(11), old(11);
    const T value = GENERATE(T(3), T(10), T(200), static_cast<T>(-1));
    for (T& c : cells) c = 10;
    all_operations<T><<<1, 1>>>(cells.get(), old.get(), value);
    REQUIRE_LAUNCHED();
    for (T& o : old) CHECK(o == 10);
    const T ten = 10;
    const T expected[] = {static_cast<T>(ten + value),
                          value,
                          std::min(ten, value),
                          std::max(ten, value),
                          static_cast<T>(ten & value),
                          static_cast<T>(ten | value),
                          static_cast<T>(ten ^ value),
                          value,
                          ten,
                          static_cast<T>(ten + value),
                          std::max(ten, value)};
    for (size_t i = 0; i < 11; ++i) {
        CAPTURE(i);
        CHECK(cells[i] == expected[i]);
    }
}

TEMPLATE_TEST_CASE("sums over many blocks lose nothing", "[simt][atomic]", int, unsigned, unsigned long long,
                   float, double) {
    Orders orders;
    Managed<TestType> total(1);
    const int n = GENERATE(1, 1023, 100003);
    sum<TestType><<<static_cast<unsigned>(n + 255) / 256, 256>>>(total.get(), n);
    REQUIRE_LAUNCHED();
    CHECK(total[0] == static_cast<TestType>(n));
}

TEST_CASE("atomicInc and atomicDec wrap at their limit", "[simt][atomic]") {
    Orders orders;
    Managed<unsigned> cell(2);
    const unsigned limit = GENERATE(0u, 1u, 6u, 1000u);
    wrap<<<3, 67>>>(&cell[0], &cell[1], limit);
    REQUIRE_LAUNCHED();
    CHECK(cell[0] == 201 % (limit + 1));
    CHECK(cell[1] == (limit + 1 - 201 % (limit + 1)) % (limit + 1));
    cell[1] = limit + 5;  // above the limit: starts again from it
    cell[0] = limit + 5;
    wrap<<<1, 1>>>(&cell[0], &cell[1], limit);
    REQUIRE_LAUNCHED();
    CHECK(cell[0] == 0);
    CHECK(cell[1] == limit);
}

TEST_CASE("extremes and bits", "[simt][atomic]") {
    Orders orders;
    const int n = 5003;
    Managed<int> in(n), result(2);
    Managed<unsigned> bits(1);
    for (int i = 0; i < n; ++i) in[static_cast<size_t>(i)] = (i * 7919) % 10007 - 5000;
    result[0] = std::numeric_limits<int>::max();
    result[1] = std::numeric_limits<int>::min();
    extremes<<<20, 256>>>(in.get(), &result[0], &result[1], bits.get(), n);
    REQUIRE_LAUNCHED();
    CHECK(result[0] == *std::min_element(in.begin(), in.end()));
    CHECK(result[1] == *std::max_element(in.begin(), in.end()));
    CHECK(bits[0] == 0xffffffffu);
}

TEST_CASE("vector atomics add by component", "[simt][atomic]") {
    Orders orders;
    Managed<float2> two(1);
    Managed<float4> four(1);
    vectors<<<4, 100>>>(two.get(), four.get());
    REQUIRE_LAUNCHED();
    CHECK(two[0].x == 400);
    CHECK(two[0].y == 800);
    CHECK(four[0].x == 400);
    CHECK(four[0].w == 1600);
}

TEST_CASE("spin locks end", "[simt][atomic][spin]") {
    Orders orders;
    Managed<int> lock(1), counter(1);
    locked<<<8, 64>>>(lock.get(), counter.get());
    REQUIRE_LAUNCHED();
    CHECK(counter[0] == 512);
    locked_by_exchange<<<8, 64>>>(lock.get(), counter.get());
    REQUIRE_LAUNCHED();
    CHECK(counter[0] == 1024);
}

TEST_CASE("the last block finishes", "[simt][atomic]") {
    Orders orders;
    const int n = 10007;
    Managed<int> in(n), partial(79), out(1);
    Managed<unsigned> arrived(1);
    int expected = 0;
    for (int i = 0; i < n; ++i) expected += in[static_cast<size_t>(i)] = i % 13 - 6;
    for (int repeat = 0; repeat < 3; ++repeat) {
        out[0] = 0;
        last_block<<<79, 128>>>(in.get(), partial.get(), arrived.get(), out.get(), n);
        REQUIRE_LAUNCHED();
        CHECK(out[0] == expected);
        CHECK(arrived[0] == 0);
    }
}

TEST_CASE("blocks that wait for other blocks end, in any order", "[simt][atomic][spin]") {
    Orders orders;
    const int n = 300 * 32 + 5, how = GENERATE(0, 1, 2);
    Managed<int> in(n), out(n), flag(301);
    for (int i = 0; i < n; ++i) in[static_cast<size_t>(i)] = i % 5;
    if (how == 0) chained_scan<Poll::atomic><<<301, 32>>>(in.get(), out.get(), flag.get(), n);
    if (how == 1) chained_scan<Poll::cached_load><<<301, 32>>>(in.get(), out.get(), flag.get(), n);
    if (how == 2) chained_scan<Poll::sleep><<<301, 32>>>(in.get(), out.get(), flag.get(), n);
    REQUIRE_LAUNCHED();
    int total = 0, wrong = 0;
    for (int i = 0; i < n; ++i) wrong += out[static_cast<size_t>(i)] != (total += i % 5);
    CHECK(wrong == 0);
}

TEST_CASE("half-precision numbers and pairs are added atomically", "[simt][atomic]") {
    Managed<__half> a(2);
    Managed<__half2> b(1);
    Managed<__nv_bfloat16> c(2);
    Managed<__nv_bfloat162> d(1);
    half_sums<<<4, 32>>>(&a[1], b.get(), &c[1], d.get());
    REQUIRE_LAUNCHED();
    CHECK(float(a[0]) == 0);
    CHECK(float(a[1]) == 128);
    CHECK(float(b[0].x) == 128);
    CHECK(float(b[0].y) == 256);
    CHECK(float(c[0]) == 0);
    CHECK(float(c[1]) == 128);
    CHECK(float(d[0].x) == 128);
    CHECK(float(d[0].y) == 256);
    CHECK(float(htanh(a[1])) == 1);
    CHECK(float(h2tanh_approx(__half2{-0.5f, 0.f}).x) == float(__half(tanhf(-0.5f))));
    CHECK(float(htanh_approx(__nv_bfloat16(-0.5f))) == float(__nv_bfloat16(tanhf(-0.5f))));
}
