// Shapes of grids and blocks, arguments, and the errors of launches.
#include "runtime/tests/simt_tools.h"

using namespace simt_tools;

namespace {

__device__ unsigned long long flat_block() {
    return blockIdx.x + 1ull * gridDim.x * (blockIdx.y + 1ull * gridDim.y * blockIdx.z);
}

// Every thread writes to its own place what it believes to be its coordinates.
__global__ void coordinates(uint3* thread, uint3* block, int* visits) {
    const unsigned in_block = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const unsigned long long i = flat_block() * blockDim.x * blockDim.y * blockDim.z + in_block;
    thread[i] = threadIdx;
    block[i] = blockIdx;
    visits[i] += 1;
}

__global__ void coordinates_after_barrier(uint3* thread, uint3* block, int* visits) {
    __syncthreads();
    const unsigned in_block = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const unsigned long long i = flat_block() * blockDim.x * blockDim.y * blockDim.z + in_block;
    __syncthreads();
    thread[i] = threadIdx;
    block[i] = blockIdx;
    visits[i] += 1;
}

__global__ void nothing() {}
__global__ void count(unsigned long long* n) { atomicAdd(n, 1ull); }
__global__ void write_if_inside(int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = i;
}

struct Large {
    double values[64];
    char letter;
};
__global__ void take(Large large, const int* p, char c, double d, int* ok) {
    large.values[0] += threadIdx.x;  // a thread's own copy
    if (large.values[0] == 1.0 + threadIdx.x && large.values[63] == 64 && large.letter == 'x' && *p == 7 &&
        c == 'c' && d == 0.25)
        atomicAdd(ok, 1);
}

/// As wrong as many are: a copy frees the same memory.
struct Owner {
    int* memory = nullptr;
    Owner() {
        const int five = 5;
        cudaMalloc(&memory, sizeof five);
        cudaMemcpy(memory, &five, sizeof five, cudaMemcpyHostToDevice);
    }
    ~Owner() { cudaFree(memory); }
};
__global__ void add_owned(Owner owner, int* sum) { atomicAdd(sum, *owner.memory); }
/// Counts how it is copied and destroyed.
struct Counted {
    int *copies, *deaths, own = 0;
    Counted(int* c, int* d) : copies(c), deaths(d) {}
    Counted(const Counted& other) : copies(other.copies), deaths(other.deaths), own(other.own) { ++*copies; }
    ~Counted() { ++*deaths; }
};
__global__ void change_own(Counted counted, char, int* wrong) {
    counted.own += threadIdx.x + 1;
    __syncthreads();
    if (counted.own != static_cast<int>(threadIdx.x + 1)) atomicAdd(wrong, 1);
}
__global__ void change_lent(Counted& counted, int* wrong) {
    counted.own = 7;
    *wrong = 0;
}
template <class T>
__global__ void add_owned_by(T owner, int* sum) {
    atomicAdd(sum, *owner.memory);
}

template <class T, int N>
__global__ void fill(T* out, T value) {
    if (threadIdx.x < N) out[threadIdx.x] = value;
}
__global__ void dynamic_size(unsigned char* out, int bytes) {
    extern __shared__ unsigned char memory[];
    for (int i = threadIdx.x; i < bytes; i += blockDim.x) memory[i] = static_cast<unsigned char>(i);
    __syncthreads();
    for (int i = threadIdx.x; i < bytes; i += blockDim.x) out[i] = memory[bytes - 1 - i];
}

}  // namespace

TEST_CASE("every thread of every shape runs once and knows where it is", "[simt][launch]") {
    Orders orders;
    const auto shape = GENERATE(table<dim3, dim3>({{dim3(1), dim3(1)},
                                                   {dim3(3), dim3(31)},
                                                   {dim3(2), dim3(32)},
                                                   {dim3(2), dim3(33)},
                                                   {dim3(7, 3, 2), dim3(5, 3, 2)},
                                                   {dim3(1, 1, 5), dim3(1, 1, 64)},
                                                   {dim3(2, 5), dim3(1, 1024)},
                                                   {dim3(3), dim3(1024)},
                                                   {dim3(1, 997), dim3(8, 4)}}));
    const dim3 grid = std::get<0>(shape), block = std::get<1>(shape);
    const bool barrier = GENERATE(false, true);
    const size_t lanes = size_t{block.x} * block.y * block.z, n = lanes * grid.x * grid.y * grid.z;
    Managed<uint3> thread(n), where(n);
    Managed<int> visits(n);
    if (barrier)
        coordinates_after_barrier<<<grid, block>>>(thread.get(), where.get(), visits.get());
    else
        coordinates<<<grid, block>>>(thread.get(), where.get(), visits.get());
    REQUIRE_LAUNCHED();
    size_t wrong = 0;
    for (size_t i = 0; i < n; ++i) {
        const uint3 t = thread[i], b = where[i];
        const size_t in_block = t.x + size_t{block.x} * (t.y + size_t{block.y} * t.z);
        const size_t flat = b.x + size_t{grid.x} * (b.y + size_t{grid.y} * b.z);
        wrong += flat * lanes + in_block != i || visits[i] != 1 || t.x >= block.x || t.y >= block.y ||
                 b.x >= grid.x || b.y >= grid.y;
    }
    CHECK(wrong == 0);
}

TEST_CASE("a million tiny blocks", "[simt][launch]") {
    Managed<unsigned long long> n(1);
    count<<<1000003, 1>>>(n.get());
    REQUIRE_LAUNCHED();
    CHECK(n[0] == 1000003);
}

TEST_CASE("sizes around a block", "[simt][launch]") {
    Orders orders;
    const int n = GENERATE(0, 1, 31, 32, 33, 127, 128, 129, 1009);
    Managed<int> out(static_cast<size_t>(n) + 1);
    out[static_cast<size_t>(n)] = -5;
    write_if_inside<<<(n + 127) / 128 + 1, 128>>>(out.get(), n);
    REQUIRE_LAUNCHED();
    for (int i = 0; i < n; ++i) REQUIRE(out[static_cast<size_t>(i)] == i);
    CHECK(out[static_cast<size_t>(n)] == -5);
}

TEST_CASE("arguments arrive by value, one copy a thread", "[simt][launch]") {
    Orders orders;
    Managed<int> p(1), ok(1);
    p[0] = 7;
    Large large{};
    large.values[0] = 1;
    large.values[63] = 64;
    large.letter = 'x';
    take<<<2, 100>>>(large, p.get(), 'c', 0.25, ok.get());
    REQUIRE_LAUNCHED();
    CHECK(ok[0] == 200);
    CHECK(large.values[0] == 1);
}

TEST_CASE("templates and cudaLaunchKernel", "[simt][launch]") {
    Managed<double> out(64);
    fill<double, 40><<<1, 64>>>(out.get(), 2.5);
    REQUIRE_LAUNCHED();
    CHECK(out[39] == 2.5);
    CHECK(out[40] == 0);
    double* pointer = out.get();
    double value = -1;
    void* arguments[] = {&pointer, &value};
    CHECK(cudaLaunchKernel(fill<double, 64>, dim3(1), dim3(64), arguments, 0, nullptr) == cudaSuccess);
    CHECK(out[63] == -1);
    CHECK(cudaLaunchKernel(fill<double, 64>, dim3(1), dim3(0), arguments, 0, nullptr) ==
          cudaErrorInvalidConfiguration);
    CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
}

TEST_CASE("an argument with a destructor is destroyed on the host, after the launch", "[simt][launch]") {
    Managed<int> sum(1);
    {
        const Owner owner;
        add_owned<<<3, 64>>>(owner, sum.get());
        CHECK(cudaGetLastError() == cudaSuccess);
        CHECK(cudaFree(owner.memory) == cudaErrorInvalidValue);  // the argument's copy has done it
    }
    CHECK(sum[0] == 3 * 64 * 5);
    {
        const Owner owner;
        add_owned_by<Owner><<<3, 64>>>(owner, sum.get());
    }
    CHECK(sum[0] == 2 * 3 * 64 * 5);
    cudaGetLastError();
}

TEST_CASE("no constructor and no destructor of a parameter runs on the device", "[simt][launch]") {
    Managed<int> copies(1), deaths(1), wrong(1);
    {
        const Counted counted(copies.get(), deaths.get());
        change_own<<<2, 64>>>(counted, 'a', wrong.get());
        REQUIRE_LAUNCHED();
        CHECK(copies[0] == deaths[0]);
        CHECK(copies[0] == 1);
    }
    CHECK(deaths[0] == 2);
    CHECK(wrong[0] == 0);
}

TEST_CASE("a reference leads to what it was launched with", "[simt][launch]") {
    Managed<int> copies(1), deaths(1), wrong(1);
    Counted* lent = nullptr;
    REQUIRE(cudaMallocManaged(&lent, sizeof *lent) == cudaSuccess);
    new (lent) Counted(copies.get(), deaths.get());
    change_lent<<<1, 1>>>(*lent, wrong.get());
    REQUIRE_LAUNCHED();
    CHECK(lent->own == 7);
    CHECK(copies[0] == 0);
    cudaFree(lent);
}

TEST_CASE("impossible shapes are refused", "[simt][launch]") {
    const auto shape = GENERATE(table<dim3, dim3>({{dim3(0), dim3(32)},
                                                   {dim3(1, 0), dim3(32)},
                                                   {dim3(1), dim3(0)},
                                                   {dim3(1), dim3(1025)},
                                                   {dim3(1), dim3(33, 32)},
                                                   {dim3(1), dim3(1, 1, 65)},
                                                   {dim3(1, 65536), dim3(1)},
                                                   {dim3(1, 1, 65536), dim3(1)},
                                                   {dim3(0x80000000u), dim3(1)}}));
    nothing<<<std::get<0>(shape), std::get<1>(shape)>>>();
    CHECK(cudaPeekAtLastError() == cudaErrorInvalidConfiguration);
    CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
    CHECK(cudaGetLastError() == cudaSuccess);  // not sticky
    nothing<<<1, 1>>>();
    REQUIRE_LAUNCHED();
}

TEST_CASE("dynamic shared memory up to the limit, after opting in", "[simt][launch]") {
    const int bytes = GENERATE(1, 4096, 48 * 1024, 227 * 1024);
    Managed<unsigned char> out(static_cast<size_t>(bytes));
    if (bytes > 48 * 1024)
        REQUIRE(cudaFuncSetAttribute(dynamic_size, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) ==
                cudaSuccess);
    dynamic_size<<<2, 96, static_cast<size_t>(bytes)>>>(out.get(), bytes);
    REQUIRE_LAUNCHED();
    int wrong = 0;
    for (int i = 0; i < bytes; ++i)
        wrong += out[static_cast<size_t>(i)] != static_cast<unsigned char>(bytes - 1 - i);
    CHECK(wrong == 0);
}

TEST_CASE("more dynamic shared memory than a block may have", "[simt][launch]") {
    nothing<<<1, 1, 227 * 1024 + 1>>>();
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
}
