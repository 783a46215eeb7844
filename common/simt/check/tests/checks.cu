// Kernels for check_test.cpp: what the interface of the checks promises beyond single findings.
#include "check/tests/checks.h"

#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cuda/atomic>

#include <numeric>

#include "check/tests/corpus/corpus.h"
#include "check/tests/stores.cuh"

using corpus::Device;

namespace {

__global__ void add(const float* a, const float* b, float* c, int n) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) c[i] = a[i] + b[i];
}

__global__ void leave_tail(float* v, int n) {
    const int i = static_cast<int>(threadIdx.x);
    if (i < n) v[i] = 1;
}

// Lane 3 makes a bad access; what it would have written afterwards stays away, all else is there.
__global__ void one_bad_lane(int* out, int* small) {
    if (threadIdx.x == 3) small[1000] = 7;
    __syncthreads();
    out[threadIdx.x] = static_cast<int>(threadIdx.x);
}

struct Rows {
    float4 rows[4];
};

// Nothing writes the third.
__global__ void sum_of_rows(float* out) {
    __shared__ Rows rows;
    const unsigned t = threadIdx.x;
    if (t != 2) rows.rows[t] = make_float4(1, 1, 1, 1);
    __syncthreads();
    const float4 row = rows.rows[t];
    out[t] = row.x + row.y + row.z + row.w;
}

__global__ void float4_sum(const float4* in, float4* out) {
    __shared__ float4 tile[32];
    tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    const float4 v = tile[31 - threadIdx.x];
    out[threadIdx.x] = v;
}

// A ticket says who comes last, not that the others have left theirs.
__global__ void collect(int* ones, unsigned* ticket, int* out, bool waits) {
    const bool last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
    atomicExch(&ones[blockIdx.x], 1);
    if (!last) return;
    int sum = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) {
        int one = 0;
        do one = atomicExch(&ones[b], 0);
        while (waits && one == 0);
        sum += one;
    }
    *out = sum;
}

__global__ void take_permit(int* permit, int* count) {
    while (atomicSub(permit, 1) <= 0) atomicAdd(permit, 1);
    atomicAdd(count, 1);
    atomicAdd(permit, 1);
}

__global__ void hand_over(int* value, int* there, unsigned* ticket, int* out, checks::Poll how) {
    if (atomicAdd(ticket, 1u) == 0) {
        *value = 42;
        __threadfence();
        for (int i = 0; i < 8; ++i) atomicExch(&there[i], 1);
        return;
    }
    switch (how) {
        case checks::Poll::update:
            while (atomicMax(there, 0) == 0) {}
            break;
        case checks::Poll::exchange:
            while (atomicCAS(there, 1, 1) == 0) {}
            break;
        case checks::Poll::load:
            while (cuda::atomic_ref<int>(*there).load() == 0) {}
            break;
        case checks::Poll::volatile_load:
            while (*static_cast<volatile int*>(there) == 0) {}
            break;
        case checks::Poll::several:  // no two reads in a row are of one address
            for (int all = 0; all < 8;) {
                all = 0;
                for (int i = 0; i < 8; ++i) all += static_cast<volatile int*>(there)[i];
            }
            break;
        case checks::Poll::vote:
            while (!__syncthreads_and(static_cast<volatile int*>(there)[threadIdx.x])) {}
            break;
    }
    __threadfence();
    if (atomicAdd(ticket, 1u) == 2 * (gridDim.x - 1)) *out = *value;
}

constexpr unsigned branch_line = __LINE__ + 2;
__global__ void branch(int* out, int number) {
    if (number >= 0) {
        out[0] = number;
    } else {
        out[1] = -number;
    }
}

struct Particle {
    float2 position;
    float4 velocity;
};
__global__ void shuffle_vectors(float2* pair, int* wrong) {
    namespace cg = cooperative_groups;
    const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    const auto lane = static_cast<float>(threadIdx.x);
    const float2 pairs = tile.shfl_xor(make_float2(lane, 1), 1);
    const double3 triples = tile.shfl(make_double3(lane, 2, 3), 4);
    const Particle particle = tile.shfl_down(Particle{{lane, 5}, {6, 7, 8, lane}}, 1);
    const float last = fminf(lane + 1, 31);
    const bool right = pairs.x == static_cast<float>(threadIdx.x ^ 1) && pairs.y == 1 && triples.x == 4 &&
                       triples.z == 3 && particle.position.x == last && particle.velocity.w == last;
    if (!right) atomicAdd(wrong, 1);
    if (threadIdx.x != 0) return;
    cuda::atomic_ref<float2> shared_pair(*pair);
    const float2 old = shared_pair.exchange(make_float2(3, 4));
    if (old.x != 1 || old.y != 1 || shared_pair.load().y != 4) atomicAdd(wrong, 1);
}

__host__ __device__ int where() {
#ifdef __CUDA_ARCH__
    return __CUDA_ARCH__;
#else
    return 1;
#endif
}
__global__ void ask_where(int* out) {
#if __CUDA_ARCH__ >= 800
    out[0] = where();
#endif
}

__global__ void read_neighbour(int* out) {
    __shared__ int tile[65];
    tile[threadIdx.x] = static_cast<int>(threadIdx.x);
    if (threadIdx.x == 0) tile[blockDim.x] = 0;
    out[threadIdx.x] = tile[threadIdx.x + 1];
}

__global__ void shift_rounds(int* out) {
    __shared__ int tile[65];
    tile[threadIdx.x] = static_cast<int>(threadIdx.x);
    if (threadIdx.x == 0) tile[blockDim.x] = 0;
    __syncthreads();
    for (int round = 0; round < 3; ++round) {
        const int value = tile[threadIdx.x + 1];
        __syncthreads();
        tile[threadIdx.x] = value;
    }
    out[threadIdx.x] = 0;
}

/// All threads add to one word, which holds what the host has stored there, on one line.
__global__ void add_up(int* sum, bool the_same) { *sum += the_same ? 0 : static_cast<int>(threadIdx.x) + 1; }

__global__ void shift_in_place(int* out) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = out[i + 1];
}

__global__ void left_of_unsigned(int* out, const int* in, bool shared) {
    __shared__ int tile[64];
    const unsigned i = threadIdx.x;
    tile[i] = in[i];
    __syncthreads();
    const int* const from = shared ? tile : in;
    if (i == 0) out[i] = from[i - 1];
}

__global__ void shift_in_place_of_warp(int* out) {
    __shared__ int tile[33];
    tile[threadIdx.x] = 1;
    if (threadIdx.x == 0) tile[32] = 0;
    __syncthreads();
    tile[threadIdx.x] += tile[threadIdx.x + 1];
    __syncwarp();
    out[threadIdx.x] = tile[threadIdx.x];
}

__global__ void two_barriers(int* out) {
    if (threadIdx.x == 0) {
        __syncthreads();
        *out = 1;
    } else {
        __syncthreads();
        out[threadIdx.x] = 2;
    }
}

// A pointer, so that the call is not inlined.
using Sum = int (*)(const int*, const int*, int);
__global__ void add_up(int* out, const int* in, Sum sum) {
    *out = sum(in, in + 65, 0);
}
constexpr unsigned add_up_line = __LINE__ - 2;

__global__ void race_once(int* out) { *out = static_cast<int>(threadIdx.x); }

__global__ void store_outside(int* out, unsigned* lines) {
    if (threadIdx.x == 0) {
        lines[0] = __LINE__ + 1;
        store_inlined(out, 8);
    } else {
        lines[1] = __LINE__ + 1;
        store_apart(out, 9);
    }
}

__global__ void sum_of_eight(unsigned mask, int* out) {
    if (threadIdx.x >= 8) return;
    int v = static_cast<int>(threadIdx.x);
    for (unsigned step = 4; step > 0; step /= 2) v += __shfl_down_sync(mask, v, step);
    if (threadIdx.x == 0) *out = v;
}

__global__ void barrier_behind_return(int* out, unsigned n) {
    if (threadIdx.x >= n) return;
    out[threadIdx.x] = 1;
    __syncthreads();
}

__global__ void byte_of(const char* table, char* out, int row, int width, unsigned bits) {
    const long at = bits == 32 ? static_cast<int>(static_cast<unsigned>(row) * static_cast<unsigned>(width))
                               : static_cast<long>(row) * width;
    *out = table[at];
}

__global__ void two_names(int* out) {
    extern __shared__ int first[];
    extern __shared__ unsigned second[];
    first[threadIdx.x] = 1;
    second[63 - threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = first[threadIdx.x];
}
__global__ void one_name(int* out) {
    extern __shared__ int first[];
    first[threadIdx.x] = 1;
    first[63 - threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = first[threadIdx.x];
}

__global__ void add_one(const int* in, int* out) { out[threadIdx.x] = in[threadIdx.x] + 1; }

constexpr unsigned recursion_line = __LINE__ + 5;
__device__ __noinline__ int deeper(int n, int* out) {
    int values[64];
    for (int i = 0; i < 64; ++i) values[i] = n + out[i % 8];
    if (n < 0) return values[3];
    return deeper(n + 1, out) + values[n % 64];
}
__global__ void recurse(int* out) {
    for (int i = 0; i < 8; ++i) out[i] = i;
    out[0] = deeper(0, out);
}

using Unary = int (*)(int);
__device__ int plus_one(int x) { return x + 1; }
__device__ Unary address_of_plus_one = plus_one;
constexpr unsigned call_line = __LINE__ + 2;
__global__ void call_by_address(int* out, Unary function) {
    out[threadIdx.x] = function(static_cast<int>(threadIdx.x));
}

template <class F>
__global__ void for_each(F f) {
    f(threadIdx.x);
}
struct Scaled {
    int by;
    int* out;
    unsigned run() {
        for_each<<<1, 32>>>([=, this] __device__(unsigned i) { out[i] = by; });
        return __LINE__ - 1;
    }
};

}  // namespace

void checks::add_vectors(int n) {
    Device<float> a("a", static_cast<size_t>(n), 1), b("b", static_cast<size_t>(n), 2),
        c("c", static_cast<size_t>(n));
    add<<<(n + 31) / 32, 32>>>(a.get(), b.get(), c.get(), n);
}

size_t checks::unwritten_tail(int written, int n) {
    Device<float> v("v", static_cast<size_t>(n));
    leave_tail<<<1, 64>>>(v.get(), written);
    return simt::check::unwritten(v.get(), static_cast<size_t>(n) * sizeof(float));
}

std::vector<int> checks::survivors() {
    Device<int> out("out", 32, -1), small("small", 4, 0);
    one_bad_lane<<<1, 32>>>(out.get(), small.get());
    std::vector<int> host(32);
    cudaMemcpy(host.data(), out.get(), 32 * sizeof(int), cudaMemcpyDeviceToHost);
    return host;
}

void checks::unwritten_row() {
    const Device<float> out("out", 4, 0);
    sum_of_rows<<<1, 4>>>(out.get());
}

int checks::shuffled_vectors() {
    const Device<float2> pair("pair", 1, make_float2(1, 1));
    const Device<int> wrong("wrong", 1, 0);
    shuffle_vectors<<<1, 32>>>(pair.get(), wrong.get());
    int result = -1;
    cudaMemcpy(&result, wrong.get(), sizeof result, cudaMemcpyDeviceToHost);
    return result;
}
std::vector<int> checks::sides() {
    const Device<int> out("out", 1, 0);
    ask_where<<<1, 1>>>(out.get());
    std::vector<int> result{0, where()};
    cudaMemcpy(result.data(), out.get(), sizeof(int), cudaMemcpyDeviceToHost);
    return result;
}

void checks::vectors() {
    Device<float4> in("in", 32, float4{1, 2, 3, 4}), out("out", 32);
    float4_sum<<<1, 32>>>(in.get(), out.get());
}

unsigned checks::library_past_end() {
    Device<int> out("out", 1), in("in", 64, 1);
    const Sum volatile sum = std::accumulate<const int*, int>;
    add_up<<<1, 1>>>(out.get(), in.get(), sum);
    return add_up_line;
}

int checks::collected(unsigned blocks, bool waits) {
    const Device<int> ones("ones", blocks, 0), out("out", 1, 0);
    const Device<unsigned> ticket("ticket", 1, 0);
    collect<<<blocks, 1>>>(ones.get(), ticket.get(), out.get(), waits);
    int sum = -1;
    cudaMemcpy(&sum, out.get(), sizeof sum, cudaMemcpyDeviceToHost);
    return sum;
}

int checks::permits(unsigned blocks) {
    const Device<int> permit("permit", 1, 1), count("count", 1, 0);
    take_permit<<<blocks, 1>>>(permit.get(), count.get());
    int all = -1;
    cudaMemcpy(&all, count.get(), sizeof all, cudaMemcpyDeviceToHost);
    return all;
}

int checks::handed_over(unsigned blocks, Poll how) {
    const Device<int> value("value", 1), there("there", 8, 0), out("out", 1, 0);
    const Device<unsigned> ticket("ticket", 1, 0);
    hand_over<<<blocks, 1>>>(value.get(), there.get(), ticket.get(), out.get(), how);
    int read = -1;
    cudaMemcpy(&read, out.get(), sizeof read, cudaMemcpyDeviceToHost);
    return read;
}

void checks::race() {
    Device<int> out("out", 1);
    race_once<<<1, 2>>>(out.get());
}

std::vector<unsigned> checks::stores_of_header() {
    Device<int> out("out", 8);
    Device<unsigned> lines("lines", 2);
    store_outside<<<1, 2>>>(out.get(), lines.get());
    std::vector<unsigned> host(2);
    cudaMemcpy(host.data(), lines.get(), 2 * sizeof(unsigned), cudaMemcpyDeviceToHost);
    return host;
}

void checks::neighbour(unsigned threads) {
    Device<int> out("out", 64);
    read_neighbour<<<1, threads>>>(out.get());
}

void checks::rounds(unsigned threads) {
    Device<int> out("out", 64);
    shift_rounds<<<1, threads>>>(out.get());
}

void checks::adds_up(bool the_same) {
    Device<int> sum("sum", 1);
    cudaMemset(sum.get(), 0, sizeof(int));
    add_up<<<1, 64>>>(sum.get(), the_same);
}

void checks::shifts_in_place(unsigned blocks) {
    Device<int> out("out", 65);
    cudaMemset(out.get(), 0, 65 * sizeof(int));
    shift_in_place<<<blocks, 64 / blocks>>>(out.get());
}

void checks::shifts_in_place_of_warp() {
    Device<int> out("out", 32);
    shift_in_place_of_warp<<<1, 32>>>(out.get());
}

__global__ void read_one(int* out, const int* from, std::ptrdiff_t i) { out[0] = from[i]; }

void checks::comes_beside_freed(std::ptrdiff_t bytes_before_freed) {
    Device<int> out("out", 1), in("in", 64);
    int* freed = nullptr;
    cudaMalloc(&freed, 100 * sizeof(int));
    const auto begin = reinterpret_cast<const char*>(freed);
    cudaFree(freed);
    const auto meant = begin - bytes_before_freed - reinterpret_cast<const char*>(in.get());
    read_one<<<1, 1>>>(out.get(), in.get(), meant / std::ptrdiff_t{sizeof(int)});
}

bool checks::index_of(unsigned width, std::size_t bytes) {
    char* table = nullptr;
    if (cudaMalloc(&table, bytes) != cudaSuccess) return false;
    simt::name_allocation(table, "table");
    Device<char> out("out", 1);
    cudaMemset(table + bytes - 32000, 7, 32000);
    byte_of<<<1, 1>>>(table, out.get(), 70000 - 1, 32000, width);
    cudaFree(table);
    return true;
}

bool checks::touches_little(std::size_t bytes, bool cleared) {
    char* array = nullptr;
    if (cudaMalloc(&array, bytes) != cudaSuccess) return false;
    Device<char> out("out", 1);
    if (cleared)
        cudaMemset(array, 0, bytes);
    else
        cudaMemset(array + bytes / 2, 0, 4);
    byte_of<<<1, 1>>>(array + bytes / 2, out.get(), 0, 0, 32);
    cudaFree(array);
    return true;
}

void checks::dynamic_arrays(bool same) {
    Device<int> out("out", 64);
    if (same)
        one_name<<<1, 64, 64 * sizeof(int)>>>(out.get());
    else
        two_names<<<1, 64, 64 * sizeof(int)>>>(out.get());
}

void checks::copies_a_part(int copied) {
    const std::vector<int> ones(64, 1);
    Device<int> in("in", 64), out("out", 64);
    cudaMemcpy(in.get(), ones.data(), copied * sizeof(int), cudaMemcpyHostToDevice);
    add_one<<<1, 64>>>(in.get(), out.get());
}

unsigned checks::endless_recursion() {
    Device<int> out("out", 8);
    recurse<<<1, 1>>>(out.get());
    return recursion_line;
}

unsigned checks::calls_by_address(bool of_host) {
    Device<int> out("out", 4);
    Unary function = plus_one;
    if (!of_host) cudaMemcpyFromSymbol(&function, address_of_plus_one, sizeof function);
    call_by_address<<<1, 4>>>(out.get(), function);
    return call_line;
}

unsigned checks::captures_this() {
    Device<int> out("out", 32);
    return Scaled{3, out.get()}.run();
}

void checks::goes_below_zero(bool shared) {
    Device<int> in("in", 64), out("out", 64), behind("behind", 64);
    cudaMemset(in.get(), 0, 64 * sizeof(int));
    left_of_unsigned<<<1, 64>>>(out.get(), in.get(), shared);
}

void checks::own_barrier() {
    Device<int> out("out", 64);
    two_barriers<<<1, 64>>>(out.get());
}

int checks::eight_lanes(unsigned threads, unsigned mask) {
    Device<int> out("out", 1);
    sum_of_eight<<<1, threads>>>(mask, out.get());
    int sum = 0;
    cudaMemcpy(&sum, out.get(), sizeof sum, cudaMemcpyDeviceToHost);
    return sum;
}

void checks::early_return(unsigned threads, unsigned n) {
    Device<int> out("out", threads);
    barrier_behind_return<<<1, threads>>>(out.get(), n);
}

checks::Branches checks::branches(int number) {
    Device<int> out("out", 2);
    branch<<<1, 1>>>(out.get(), number);
    return {branch_line + 1, branch_line + 3};
}
