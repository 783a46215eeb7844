// What programs written by others rely on: forms and words that our own code does not use.
#include <algorithm>

#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda/atomic>

#include "runtime/tests/simt_tools.h"

using namespace simt_tools;

#if !defined(__CUDACC__) || !defined(__DRIVER_TYPES_H__) || __CUDACC_VER_MAJOR__ < 13
#error "helper headers ask for these"
#endif

namespace {

struct Pair {
    int a, b;
};
__global__ void typed(const float* p, Pair pair, double d, long n, int* out) {
    *out = p == nullptr && pair.a == 1 && pair.b == 2 && d == 3.0 && n == 4;
}
__global__ void with_default(int* out, int value = 7) { *out = value; }
__global__ void declared_first(int* out, float scale);
__global__ void declared_first(int* out, float s) { *out = static_cast<int>(s * 10); }
__global__ void overloaded(int* out, int) { *out = 1; }
__global__ void overloaded(int* out, float) { *out = 2; }
__global__ void reads_registers(int* ok) {
    unsigned lane, below, above;
    unsigned long long begin, end;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin)::"memory");
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm("mov.u32 %0, %lanemask_lt;" : "=r"(below));
    asm("mov.u32 %0, %lanemask_ge;" : "=r"(above));
    asm volatile("bar.sync 0;" ::: "memory");
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(end));
    const unsigned flat = threadIdx.x + blockDim.x * threadIdx.y;
    if (lane == flat % 32 && below == (1u << lane) - 1 && above == ~below && end >= begin) atomicAdd(ok, 1);
}
template <int N>
__global__ void constant(int* out) {
    *out = N;
}

}  // namespace

TEST_CASE("special registers by inline PTX", "[simt][foreign]") {
    Managed<int> ok(1);
    reads_registers<<<2, dim3(16, 6)>>>(ok.get());
    REQUIRE_LAUNCHED();
    CHECK(ok[0] == 2 * 96);
}

TEST_CASE("arguments are converted to the parameters of the kernel", "[simt][launch][foreign]") {
    Managed<int> out(1);
    typed<<<1, 1>>>(0, {1, 2}, 3, 4, out.get());
    REQUIRE_LAUNCHED();
    CHECK(out[0] == 1);
    typed<<<1, 1>>>(NULL, Pair{1, 2}, 3.f, short{4}, out.get());
    REQUIRE_LAUNCHED();
    CHECK(out[0] == 1);
}

TEST_CASE("default arguments, overloads and earlier declarations still launch", "[simt][launch][foreign]") {
    Managed<int> out(1);
    with_default<<<1, 1>>>(out.get());
    REQUIRE_LAUNCHED();
    CHECK(out[0] == 7);
    with_default<<<1, 1>>>(out.get(), 8);
    REQUIRE_LAUNCHED();
    CHECK(out[0] == 8);
    declared_first<<<1, 1>>>(out.get(), 2);
    REQUIRE_LAUNCHED();
    CHECK(out[0] == 20);
    overloaded<<<1, 1>>>(out.get(), 0);
    REQUIRE_LAUNCHED();
    CHECK(out[0] == 1);
    overloaded<<<1, 1>>>(out.get(), 0.f);
    REQUIRE_LAUNCHED();
    CHECK(out[0] == 2);
}

// clang-format off
TEST_CASE("launches that a formatter tore apart", "[simt][launch][foreign]") {
    Managed<int> out(1);
    with_default << <1, 1 >> > (out.get(), 3);
    REQUIRE_LAUNCHED();
    CHECK(out[0] == 3);
    constant<5> << <dim3(1), 1, 0, 0 >> >(out.get());
    REQUIRE_LAUNCHED();
    CHECK(out[0] == 5);
    CHECK((1 << 3 >> 1) == 4);
}
// clang-format on

namespace {
__global__ void use_dynamic(int* out) {
    extern __shared__ int dynamic_words[];
    dynamic_words[20000] = 9;
    *out = dynamic_words[20000];
}
__global__ void use_dynamic_too(int* out) {
    extern __shared__ int dynamic_words[];
    *out = dynamic_words[0] = 1;
}
}  // namespace

TEST_CASE("the limit of dynamic shared memory is each kernel's own", "[simt][launch][foreign]") {
    Managed<int> out(1);
    CHECK(cudaFuncSetAttribute(use_dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000) ==
          cudaSuccess);
    use_dynamic<<<1, 1, 100000>>>(out.get());
    REQUIRE_LAUNCHED();
    CHECK(out[0] == 9);
    use_dynamic_too<<<1, 1, 100000>>>(out.get());
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
}

TEST_CASE("kernel nodes take a kernel cast to void*, 0 and NULL", "[simt][graph][foreign]") {
    Managed<int> out(1);
    int* p = out.get();
    int value = 42;
    void* arguments[] = {&p, &value};
    cudaKernelNodeParams parameters{};
    parameters.func = 0;
    CHECK(parameters.func == nullptr);
    parameters.func = NULL;
    CHECK(parameters.func == nullptr);
    parameters.func = (void*)with_default;
    parameters.gridDim = dim3(1);
    parameters.blockDim = dim3(1);
    parameters.kernelParams = arguments;
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaGraphExec_t executable;
    REQUIRE(cudaGraphCreate(&graph, 0) == cudaSuccess);
    REQUIRE(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &parameters) == cudaSuccess);
    REQUIRE(cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess);
    REQUIRE(cudaGraphLaunch(executable, 0) == cudaSuccess);
    CHECK(out[0] == 42);
    CHECK(cudaGraphExecDestroy(executable) == cudaSuccess);
    CHECK(cudaGraphDestroy(graph) == cudaSuccess);
}

TEST_CASE("a capture into a graph of one's own ends without an address for it", "[simt][graph][foreign]") {
    Managed<int> out(1);
    cudaStream_t stream;
    cudaGraph_t graph;
    REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
    REQUIRE(cudaGraphCreate(&graph, 0) == cudaSuccess);
    REQUIRE(cudaStreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, 0, cudaStreamCaptureModeRelaxed) ==
            cudaSuccess);
    with_default<<<1, 1, 0, stream>>>(out.get(), 1);
    CHECK(cudaStreamEndCapture(stream, nullptr) == cudaSuccess);
    size_t count = 0;
    CHECK(cudaGraphGetNodes(graph, nullptr, &count) == cudaSuccess);
    CHECK(count == 1);
    REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed) == cudaSuccess);
    CHECK(cudaStreamEndCapture(stream, nullptr) == cudaErrorInvalidValue);  // nobody would have the graph
    cudaGraph_t other;
    CHECK(cudaStreamEndCapture(stream, &other) == cudaSuccess);
    CHECK(cudaGraphDestroy(other) == cudaSuccess);
    CHECK(cudaGraphDestroy(graph) == cudaSuccess);
    CHECK(cudaStreamDestroy(stream) == cudaSuccess);
}

namespace {
__global__ void rank_in_grid(unsigned long long* out) {
    auto grid = cooperative_groups::this_grid();
    grid.sync();
    out[grid.thread_rank()] = grid.thread_rank();
}
__global__ void block_with_memory(unsigned* out) {
    __shared__ cooperative_groups::block_tile_memory<64> room;
    auto block = cooperative_groups::this_thread_block(room);
    out[block.thread_rank()] = block.size();
}
}  // namespace

TEST_CASE("launches with attributes", "[simt][launch][foreign]") {
    Managed<unsigned long long> out(64);
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    cudaLaunchConfig_t configuration{};
    configuration.gridDim = dim3(2);
    configuration.blockDim = dim3(32);
    configuration.attrs = &attribute;
    configuration.numAttrs = 1;
    REQUIRE(cudaLaunchKernelEx(&configuration, rank_in_grid, out.get()) == cudaSuccess);
    for (unsigned i = 0; i < 64; ++i) CHECK(out[i] == i);
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {2, 1, 1};
    CHECK(cudaLaunchKernelEx(&configuration, rank_in_grid, out.get()) == cudaErrorNotSupported);
    CHECK(cudaGetLastError() == cudaErrorNotSupported);
}

TEST_CASE("attributes of streams", "[simt][stream][foreign]") {
    cudaStream_t stream;
    REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
    cudaStreamAttrValue value{};
    value.accessPolicyWindow.hitRatio = 0.5f;
    CHECK(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &value) == cudaSuccess);
    CHECK(cudaStreamGetAttribute(stream, cudaStreamAttributeSynchronizationPolicy, &value) == cudaSuccess);
    CHECK(value.syncPolicy == cudaSyncPolicyAuto);
    CHECK(cudaStreamDestroy(stream) == cudaSuccess);
}

TEST_CASE("the driver API is refused, and the reason is reported", "[simt][device][foreign]") {
    const ExpectFailure quiet;
    void* function = &function;
    cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSuccess;
    CHECK(cudaGetDriverEntryPoint("cuMemCreate", &function, cudaEnableDefault, &result) ==
          cudaErrorNotSupported);
    CHECK(function == nullptr);
    CHECK(result == cudaDriverEntryPointSymbolNotFound);
    CHECK_THAT(simt::last_report(),
               Catch::Matchers::ContainsSubstring("no driver API, and no cuMemCreate()"));
    CHECK(cudaGetDriverEntryPointByVersion(nullptr, &function, 13000, cudaEnableDefault) ==
          cudaErrorInvalidValue);
}

TEST_CASE("handles for other processes are refused, and the reason is reported", "[simt][memory][foreign]") {
    const ExpectFailure quiet;
    Managed<int> p(1);
    void* other = nullptr;
    cudaIpcMemHandle_t memory{};
    cudaIpcEventHandle_t event_handle{};
    cudaEvent_t event = nullptr;
    const auto told = [](const std::string& function) {
        CHECK(cudaGetLastError() == cudaErrorNotSupported);
        CHECK_THAT(simt::last_report(),
                   Catch::Matchers::StartsWith(function + "() is not supported: the virtual device "
                                                          "belongs to this process"));
    };
    CHECK(cudaIpcGetMemHandle(&memory, p.get()) == cudaErrorNotSupported);
    told("cudaIpcGetMemHandle");
    CHECK(cudaIpcOpenMemHandle(&other, memory, cudaIpcMemLazyEnablePeerAccess) == cudaErrorNotSupported);
    told("cudaIpcOpenMemHandle");
    CHECK(cudaIpcCloseMemHandle(p.get()) == cudaErrorNotSupported);
    told("cudaIpcCloseMemHandle");
    CHECK(cudaIpcGetEventHandle(&event_handle, event) == cudaErrorNotSupported);
    told("cudaIpcGetEventHandle");
    CHECK(cudaIpcOpenEventHandle(&event, event_handle) == cudaErrorNotSupported);
    told("cudaIpcOpenEventHandle");
}

TEST_CASE("pointers to const can be allocated, and the older forms of hints exist",
          "[simt][memory][foreign]") {
    const float* p = nullptr;
    CHECK(cudaMalloc(&p, 64) == cudaSuccess);
    CHECK(cudaFree((void*)p) == cudaSuccess);
    int* managed = nullptr;
    CHECK(cudaMallocManaged(&managed, 64) == cudaSuccess);
    CHECK(cudaMemPrefetchAsync(managed, 64, 0) == cudaSuccess);
    CHECK(cudaMemPrefetchAsync(managed, 64, cudaCpuDeviceId, cudaStream_t{}) == cudaSuccess);
    CHECK(cudaMemAdvise(managed, 64, cudaMemAdviseSetReadMostly, 0) == cudaSuccess);
    CHECK(cudaMemPrefetchAsync(managed, 64, 3) == cudaErrorInvalidDevice);
    CHECK(cudaGetLastError() == cudaErrorInvalidDevice);
    CHECK(cudaFree(managed) == cudaSuccess);
}

/// Waits for 20 ms, as a kernel does that is to keep the device busy.
__global__ void wait_by_clock(long long* begin, long long* end) {
    const unsigned i = threadIdx.x;
    begin[i] = clock64();
    while (clock64() - begin[i] < 20000000) {
    }
    end[i] = clock64();
}
__global__ void measure_by_clock(long long* begin, long long* end) {
    const unsigned i = threadIdx.x;
    begin[i] = clock64();
    end[i] = clock64();
}

namespace {
__global__ void count_with(cuda::atomic<int, cuda::thread_scope_device>* total, unsigned* word, float* sum) {
    total->fetch_add(2, cuda::std::memory_order_relaxed);
    cuda::atomic_ref<unsigned, cuda::thread_scope_block> ref(*word);
    ref.fetch_max(threadIdx.x);
    cuda::atomic_ref<float>(*sum) += 0.5f;
}
// The second half of the block waits for the first through memory.
__global__ void hand_over(cuda::atomic<int>* flag, int* data) {
    if (threadIdx.x == 0) {
        while (flag->load(cuda::memory_order_acquire) == 0) {
        }
        data[1] = data[0] + 1;
    } else if (threadIdx.x == 1) {
        data[0] = 5;
        flag->store(1, cuda::memory_order_release);
    }
}
__global__ void count_with_builtins(int* total, float* sum, unsigned* largest, unsigned* bits,
                                    unsigned long long* slots) {
    __nv_atomic_add(total, 2, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_fetch_add(sum, 0.5, __NV_ATOMIC_RELAXED);
    __nv_atomic_max(largest, threadIdx.x, __NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_BLOCK);
    __nv_atomic_or(bits, 1u << threadIdx.x % 32, __NV_ATOMIC_SEQ_CST);
    // A counter by compare-and-swap.
    unsigned long long seen = __nv_atomic_load_n(slots, __NV_ATOMIC_RELAXED), next;
    do {
        next = seen + 1;
    } while (
        !__nv_atomic_compare_exchange(slots, &seen, &next, true, __NV_ATOMIC_SEQ_CST, __NV_ATOMIC_RELAXED));
}
__global__ void hand_over_with_builtins(unsigned char* flag, int* data) {
    if (threadIdx.x == 0) {
        while (__nv_atomic_load_n(flag, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_BLOCK) == 0) {
        }
        data[1] = data[0] + 1;
    } else if (threadIdx.x == 1) {
        data[0] = __nv_atomic_exchange_n(&data[2], 4, __NV_ATOMIC_RELAXED);
        __nv_atomic_thread_fence(__NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_BLOCK);
        __nv_atomic_store_n(flag, 1, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_BLOCK);
    }
}
__global__ void wait_cycles(long* out) {
    const clock_t begin = clock();
    while (clock() - begin < 20000) {
    }
    *out = clock() - begin;
}
}  // namespace

TEST_CASE("atomic objects and references", "[simt][atomic][foreign]") {
    using Counter = cuda::atomic<int, cuda::thread_scope_device>;
    static_assert(sizeof(Counter) == sizeof(int), "lies in arrays and structures as on a device");
    Managed<int> total(1);
    Managed<unsigned> word(1);
    Managed<float> sum(1);
    total[0] = 0;
    word[0] = 0;
    sum[0] = 0;
    count_with<<<4, 96>>>(reinterpret_cast<Counter*>(total.get()), word.get(), sum.get());
    REQUIRE_LAUNCHED();
    CHECK(total[0] == 2 * 4 * 96);
    CHECK(word[0] == 95);
    CHECK(sum[0] == 192.f);
    Orders orders;
    Managed<int> flag(1), data(2);
    flag[0] = 0;
    hand_over<<<1, 2>>>(reinterpret_cast<cuda::atomic<int>*>(flag.get()), data.get());
    REQUIRE_LAUNCHED();
    CHECK(data[1] == 6);
}

TEST_CASE("built-in atomic functions", "[simt][atomic][foreign]") {
    Managed<int> total(1);
    Managed<float> sum(1);
    Managed<unsigned> largest(1), bits(1);
    Managed<unsigned long long> slots(1);
    total[0] = 0, sum[0] = 0, largest[0] = 0, bits[0] = 0, slots[0] = 0;
    count_with_builtins<<<4, 96>>>(total.get(), sum.get(), largest.get(), bits.get(), slots.get());
    REQUIRE_LAUNCHED();
    CHECK(total[0] == 2 * 4 * 96);
    CHECK(sum[0] == 192.f);
    CHECK(largest[0] == 95);
    CHECK(bits[0] == ~0u);
    CHECK(slots[0] == 4 * 96);
    Orders orders;
    Managed<unsigned char> flag(1);
    Managed<int> data(3);
    flag[0] = 0, data[2] = 5;
    hand_over_with_builtins<<<1, 2>>>(flag.get(), data.get());
    REQUIRE_LAUNCHED();
    CHECK(data[1] == 6);
    CHECK(data[2] == 4);
}

TEST_CASE("lanes that wait for time to pass wait together", "[simt][device][foreign]") {
    constexpr unsigned lanes = 256;
    Managed<long long> begin(lanes), end(lanes);
    wait_by_clock<<<1, lanes>>>(begin.get(), end.get());
    REQUIRE_LAUNCHED();
    // One after the other they would take 256 times 20 ms, whatever else the machine does.
    const long long first = *std::min_element(begin.begin(), begin.end());
    CHECK(*std::max_element(end.begin(), end.end()) - first < lanes * 20000000LL / 2);
}

TEST_CASE("a lane that measures something is left alone", "[simt][device][foreign]") {
    constexpr unsigned lanes = 64;
    Managed<long long> begin(lanes), end(lanes);
    simt::set_seed(0);
    for (int round = 0; round < 3; ++round) {
        measure_by_clock<<<1, lanes>>>(begin.get(), end.get());
        REQUIRE_LAUNCHED();
        for (unsigned i = 1; i < lanes; ++i) REQUIRE(end[i - 1] <= begin[i]);
    }
}

TEST_CASE("clock() in a kernel counts fast", "[simt][device][foreign]") {
    Managed<long> out(1);
    wait_cycles<<<1, 1>>>(out.get());  // 20 us here; 20 ms if it were the C library's
    REQUIRE_LAUNCHED();
    CHECK(out[0] >= 20000);
}

TEST_CASE("blocks with room for tiles", "[simt][groups][foreign]") {
    Managed<unsigned> out(64);
    block_with_memory<<<1, 64>>>(out.get());
    REQUIRE_LAUNCHED();
    for (unsigned i = 0; i < 64; ++i) CHECK(out[i] == 64);
}

namespace {
__global__ void write_layers(cudaSurfaceObject_t surface) {
    for (int layer = 0; layer < 3; ++layer)
        surf2DLayeredwrite(100.f * layer + threadIdx.x, surface,
                           static_cast<int>(threadIdx.x * sizeof(float)), 0, layer);
}
__global__ void read_layers(cudaSurfaceObject_t surface, float* out) {
    for (int layer = 0; layer < 3; ++layer)
        out[4 * layer + threadIdx.x] =
            surf2DLayeredread<float>(surface, static_cast<int>(threadIdx.x * sizeof(float)), 0, layer);
}
}  // namespace

TEST_CASE("layered surfaces", "[simt][texture][foreign]") {
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    REQUIRE(cudaMalloc3DArray(&array, &format, make_cudaExtent(4, 2, 3),
                              cudaArrayLayered | cudaArraySurfaceLoadStore) == cudaSuccess);
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaSurfaceObject_t surface;
    REQUIRE(cudaCreateSurfaceObject(&surface, &resource) == cudaSuccess);
    Managed<float> out(12);
    write_layers<<<1, 4>>>(surface);
    read_layers<<<1, 4>>>(surface, out.get());
    REQUIRE_LAUNCHED();
    for (int i = 0; i < 12; ++i) CHECK(out[i] == 100.f * (i / 4) + i % 4);
    CHECK(cudaDestroySurfaceObject(surface) == cudaSuccess);
    CHECK(cudaFreeArray(array) == cudaSuccess);
}

namespace {
__global__ void shuffle_halves(float* out) {
    const __half2 pair = __floats2half2_rn(threadIdx.x, 2.f * threadIdx.x);
    const __half2 next = __shfl_xor_sync(0xffffffffu, pair, 1);
    const __nv_bfloat16 first = __shfl_sync(0xffffffffu, __float2bfloat16(threadIdx.x + 1.f), 0);
    out[threadIdx.x] = __low2float(next) + __high2float(next) + __bfloat162float(first);
}
}  // namespace

TEST_CASE("halves are shuffled", "[simt][shuffle][foreign]") {
    Managed<float> out(32);
    shuffle_halves<<<1, 32>>>(out.get());
    REQUIRE_LAUNCHED();
    for (int i = 0; i < 32; ++i) CHECK(out[i] == 3.f * (i ^ 1) + 1.f);
}

namespace {

#if __CUDA_ARCH__ >= 700
__device__ int of_new_devices(int x) { return x + 1; }
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 600
__device__ double atomicAdd(double*, double) { return 0; }
#endif

__host__ __device__ int side(int x) {
#ifdef __CUDA_ARCH__
    const int y = x;
    return y + __CUDA_ARCH__;
#else
    return x;
#endif
}
template <class T>
constexpr __host__ __device__ T factor(T x) {
#if __CUDA_ARCH__ >= 800
    return x * 2;
#elif defined(__CUDA_ARCH__)
    return x * 3;
#else
    return x * 5;
#endif
}
struct Method {
    int x;
    __host__ __device__ int operator()() const {
        int y = x;
#ifndef __CUDA_ARCH__
        y = -y;
#endif
        return y;
    }
};

__global__ void ask_architecture(int* out) {
#if __CUDA_ARCH__ >= 700
    out[0] = of_new_devices(1);
#else
    out[0] = -1;
#endif
#ifdef __CUDA_ARCH__
    out[1] = __CUDA_ARCH__;
#endif
    out[2] = side(1);
    out[3] = factor(1);
    out[4] = Method{7}();
}

}  // namespace

TEST_CASE("__CUDA_ARCH__ is defined in device code only", "[simt][foreign][architecture]") {
    Managed<int> out(5);
    ask_architecture<<<1, 1>>>(out.get());
    REQUIRE_LAUNCHED();
    CHECK(out[0] == 2);
    CHECK(out[1] == 900);
    CHECK(out[2] == 901);
    CHECK(out[3] == 2);
    CHECK(out[4] == 7);
    CHECK(side(1) == 1);
    CHECK(factor(1) == 5);
    static_assert(factor(1) == 5, "constants are the host's");
    CHECK(Method{7}() == -7);
#ifdef __CUDA_ARCH__
    FAIL("this is host code");
#endif
}

namespace {

#define ROTATED(x, n) (((x) << (n)) | ((x) >> (32 - (n))))

template <class T>
__device__ T left(T x, int n) {
    return x << n;
}
template <class T>
__host__ __device__ T right(T x, int n) {
    x >>= n;
    return x;
}
struct Fields {
    unsigned five : 5;
    unsigned char eight;
};
enum Three { three = 3 };
/// Shifts of its own.
struct Log {
    int n;
    __device__ Log operator<<(int m) const { return {n * 10 + m}; }
    __device__ Log& operator>>=(int m) {
        n -= m;
        return *this;
    }
};
constexpr int exponent = 4;

__global__ void shift_far(long long* out, int n, unsigned negative, Fields fields) {
    const unsigned ones = ~0u;
    const unsigned long long wide = ~0ull;
    int i = 0;
    out[i++] = ones << n;
    out[i++] = ones >> n;
    out[i++] = -5 >> n;
    out[i++] = 5 >> n;
    out[i++] = ones << negative;
    out[i++] = ones << ((1ll << 32) + n - 31);
    out[i++] = static_cast<long long>(wide >> ((1ull << 40) + static_cast<unsigned long long>(n) + 28));
    out[i++] = static_cast<long long>(wide << n) + (1ll << 32);
    out[i++] = static_cast<long long>(wide >> (n + n));
    out[i++] = left(1, n) + left<long long>(1, 64) + right(-8, n) + right(8u, n);
    out[i++] = ROTATED(5u, n);
    unsigned value = 7;
    value <<= n > 31 ? 1 : 2;
    value >>= n - 31;
    out[i++] = value;
    out[i++] = fields.five << n - 30 << 1;
    out[i++] = fields.eight << three;
    Log log{1};
    log = log << n - 30 << 3;
    log >>= n;
    out[i++] = log.n;
    __shared__ int tile[1 << exponent];
    out[i++] = sizeof tile >> exponent;
    out[i++] = n > 8 >> n;
    const auto local = [=](int m) { return 1 << m; };
    out[i++] = local(n) + local(n - 30);
}

}  // namespace

TEST_CASE("a shift by the width or more gives what the hardware gives", "[simt][foreign][shift]") {
    Managed<long long> out(18);
    shift_far<<<1, 1>>>(out.get(), 32, 0x80000000u, Fields{3, 200});
    REQUIRE_LAUNCHED();
    const long long expected[18] = {0, 0, -1, 0, 0, 4294967294, 15, 0, 0, -1, 5, 7, 24, 1600, 91, 4, 1, 4};
    for (int i = 0; i < 18; ++i) {
        CAPTURE(i);
        CHECK(out[i] == expected[i]);
    }
}

namespace {
template <class T>
__global__ void null_pointer(const T* p, T value, const T* q, int* out) {
    *out = p == nullptr && value == 0 && q == nullptr;
}
template <class T>
__global__ void deduced(T value, int* out) {
    *out = value == 0 && sizeof(T) == sizeof(int);
}
}  // namespace

TEST_CASE("a literal 0 is a null pointer for a template kernel, too", "[simt][launch][foreign]") {
    Managed<int> out(1);
    null_pointer<double><<<1, 1>>>(0, 0, NULL, out.get());
    REQUIRE_LAUNCHED();
    CHECK(out[0] == 1);
    deduced<<<1, 1>>>(0, out.get());
    REQUIRE_LAUNCHED();
    CHECK(out[0] == 1);
}

namespace {
__global__ void construct_in_place(int* out) {
    __shared__ alignas(Method) unsigned char room[sizeof(Method)];
    Method* const method = new (room) Method{3};
    *out = (*method)();
}
}  // namespace

TEST_CASE("placement new needs no header", "[simt][foreign]") {
    Managed<int> out(1);
    construct_in_place<<<1, 1>>>(out.get());
    REQUIRE_LAUNCHED();
    CHECK(out[0] == 3);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
TEST_CASE("names that CUDA 13 removed work as they did", "[simt][foreign][removed]") {
    cudaDeviceProp properties;
    REQUIRE(cudaGetDeviceProperties(&properties, 0) == cudaSuccess);
    const auto attribute = [](cudaDeviceAttr which) {
        int value = -1;
        CHECK(cudaDeviceGetAttribute(&value, which, 0) == cudaSuccess);
        return value;
    };
    CHECK(properties.clockRate == attribute(cudaDevAttrClockRate));
    CHECK(properties.memoryClockRate == attribute(cudaDevAttrMemoryClockRate));
    CHECK(properties.deviceOverlap == attribute(cudaDevAttrGpuOverlap));
    CHECK(properties.kernelExecTimeoutEnabled == attribute(cudaDevAttrKernelExecTimeout));
    CHECK(properties.computeMode == attribute(cudaDevAttrComputeMode));
    CHECK(properties.maxTexture1DLinear == attribute(cudaDevAttrMaxTexture1DLinearWidth));
    CHECK(properties.singleToDoublePrecisionPerfRatio ==
          attribute(cudaDevAttrSingleToDoublePrecisionPerfRatio));
    CHECK(properties.cooperativeMultiDeviceLaunch == 0);
    CHECK(cudaThreadSynchronize() == cudaSuccess);
    size_t old = 0;
    REQUIRE(cudaThreadGetLimit(&old, cudaLimitStackSize) == cudaSuccess);
    CHECK(cudaThreadSetLimit(cudaLimitStackSize, old) == cudaSuccess);
    cudaFuncCache config;
    CHECK(cudaThreadGetCacheConfig(&config) == cudaSuccess);
    CHECK(cudaThreadSetCacheConfig(config) == cudaSuccess);
}
#pragma GCC diagnostic pop
