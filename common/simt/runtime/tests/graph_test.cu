// Stream capture and graphs. Holds on a device too.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <chrono>
#include <thread>
#include <vector>

#include "testing/catch.h"

namespace {

__global__ void add(int* x, int value) { x[threadIdx.x] += value; }
__global__ void multiply(int* x, int value) { x[threadIdx.x] *= value; }
__global__ void count_down(int* x, cudaGraphConditionalHandle handle) {
    *x -= 1;
    cudaGraphSetConditional(handle, *x > 0);
}

__global__ void add_blocks(int* x) {
    atomicAdd(x, 1);
    cooperative_groups::this_grid().sync();
    if (threadIdx.x == 0) x[1 + blockIdx.x] = *x;
}

void CUDART_CB bump(void* data) { ++*static_cast<int*>(data); }

struct Fixture {
    cudaStream_t stream = nullptr, other = nullptr;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    int* d = nullptr;
    Fixture() {
        REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
        REQUIRE(cudaStreamCreate(&other) == cudaSuccess);
        REQUIRE(cudaMalloc(&d, 32 * sizeof(int)) == cudaSuccess);
        REQUIRE(cudaMemset(d, 0, 32 * sizeof(int)) == cudaSuccess);
    }
    ~Fixture() {
        if (exec) cudaGraphExecDestroy(exec);
        if (graph) cudaGraphDestroy(graph);
        cudaStreamDestroy(stream);
        cudaStreamDestroy(other);
        cudaFree(d);
        cudaGetLastError();
    }
    /// Begins to capture in `stream`, and in `another`. @returns the event that this one waits for
    cudaEvent_t capture_in(cudaStream_t another) {
        cudaEvent_t fork;
        REQUIRE(cudaEventCreate(&fork) == cudaSuccess);
        REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
        CHECK(cudaEventRecord(fork, stream) == cudaSuccess);
        CHECK(cudaStreamWaitEvent(another, fork, 0) == cudaSuccess);
        return fork;
    }
    int first() {
        int value = -1;
        CHECK(cudaMemcpy(&value, d, sizeof value, cudaMemcpyDeviceToHost) == cudaSuccess);
        return value;
    }
    void run(int times = 1) {
        for (int i = 0; i < times; ++i) CHECK(cudaGraphLaunch(exec, stream) == cudaSuccess);
        CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
    }
};

cudaMemAllocNodeParams memory_of(std::size_t bytes) {
    cudaMemAllocNodeParams p{};
    p.poolProps.allocType = cudaMemAllocationTypePinned;
    p.poolProps.location.type = cudaMemLocationTypeDevice;
    p.bytesize = bytes;
    return p;
}

unsigned long long graph_memory(cudaGraphMemAttributeType attribute) {
    unsigned long long value = 0;
    CHECK(cudaDeviceGetGraphMemAttribute(0, attribute, &value) == cudaSuccess);
    return value;
}

}  // namespace

TEST_CASE("a captured stream does nothing until its graph is launched", "[simt][graph]") {
    Fixture f;
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusInvalidated;
    REQUIRE(cudaStreamBeginCapture(f.stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
    CHECK(cudaStreamIsCapturing(f.stream, &status) == cudaSuccess);
    CHECK(status == cudaStreamCaptureStatusActive);
    add<<<1, 32, 0, f.stream>>>(f.d, 3);
    multiply<<<1, 32, 0, f.stream>>>(f.d, 2);
    REQUIRE(cudaStreamEndCapture(f.stream, &f.graph) == cudaSuccess);
    CHECK(cudaStreamIsCapturing(f.stream, &status) == cudaSuccess);
    CHECK(status == cudaStreamCaptureStatusNone);
    CHECK(f.first() == 0);
    std::size_t count = 0;
    CHECK(cudaGraphGetNodes(f.graph, nullptr, &count) == cudaSuccess);
    CHECK(count == 2);
    REQUIRE(cudaGraphInstantiate(&f.exec, f.graph, 0) == cudaSuccess);
    f.run();
    CHECK(f.first() == 6);
    f.run(2);
    CHECK(f.first() == 42);  // ((6 + 3) * 2 + 3) * 2
}

TEST_CASE("a capture forks and joins through events", "[simt][graph]") {
    Fixture f;
    cudaEvent_t fork, join;
    REQUIRE(cudaEventCreate(&fork) == cudaSuccess);
    REQUIRE(cudaEventCreate(&join) == cudaSuccess);
    REQUIRE(cudaStreamBeginCapture(f.stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
    add<<<1, 1, 0, f.stream>>>(f.d, 1);
    CHECK(cudaEventRecord(fork, f.stream) == cudaSuccess);
    CHECK(cudaStreamWaitEvent(f.other, fork, 0) == cudaSuccess);
    add<<<1, 1, 0, f.other>>>(f.d + 1, 10);
    add<<<1, 1, 0, f.stream>>>(f.d + 2, 100);
    CHECK(cudaEventRecord(join, f.other) == cudaSuccess);
    CHECK(cudaStreamWaitEvent(f.stream, join, 0) == cudaSuccess);
    multiply<<<1, 3, 0, f.stream>>>(f.d, 2);
    REQUIRE(cudaStreamEndCapture(f.stream, &f.graph) == cudaSuccess);
    std::size_t nodes = 0, edges = 0, roots = 0;
    CHECK(cudaGraphGetNodes(f.graph, nullptr, &nodes) == cudaSuccess);
    CHECK(cudaGraphGetEdges(f.graph, nullptr, nullptr, nullptr, &edges) == cudaSuccess);
    CHECK(cudaGraphGetRootNodes(f.graph, nullptr, &roots) == cudaSuccess);
    CHECK(nodes == 4);
    CHECK(edges == 4);
    CHECK(roots == 1);
    REQUIRE(cudaGraphInstantiate(&f.exec, f.graph, 0) == cudaSuccess);
    f.run();
    int out[3];
    CHECK(cudaMemcpy(out, f.d, sizeof out, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(out[0] == 2);
    CHECK(out[1] == 20);
    CHECK(out[2] == 200);
    cudaEventDestroy(fork);
    cudaEventDestroy(join);
}

TEST_CASE("what a capture forbids", "[simt][graph]") {
    Fixture f;
    cudaStreamCaptureStatus status;
    SECTION("the legacy stream") {
        CHECK(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal) ==
              cudaErrorStreamCaptureUnsupported);
    }
    SECTION("ending what was not begun") {
        CHECK(cudaStreamEndCapture(f.stream, &f.graph) == cudaErrorIllegalState);
    }
    SECTION("beginning twice") {
        REQUIRE(cudaStreamBeginCapture(f.stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
        CHECK(cudaStreamBeginCapture(f.stream, cudaStreamCaptureModeGlobal) == cudaErrorIllegalState);
        CHECK(cudaStreamEndCapture(f.stream, &f.graph) == cudaSuccess);
    }
    SECTION("waiting for the stream") {
        REQUIRE(cudaStreamBeginCapture(f.stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
        CHECK(cudaStreamSynchronize(f.stream) == cudaErrorStreamCaptureUnsupported);
        CHECK(cudaStreamIsCapturing(f.stream, &status) == cudaSuccess);
        CHECK(status == cudaStreamCaptureStatusInvalidated);
        CHECK(cudaMemsetAsync(f.d, 0, 4, f.stream) == cudaErrorStreamCaptureInvalidated);
        CHECK(cudaStreamEndCapture(f.stream, &f.graph) == cudaErrorStreamCaptureInvalidated);
        CHECK(f.graph == nullptr);
    }
    SECTION("the legacy stream beside it") {
        REQUIRE(cudaStreamBeginCapture(f.stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
        int value = 0;
        CHECK(cudaMemcpy(f.d, &value, sizeof value, cudaMemcpyHostToDevice) ==
              cudaErrorStreamCaptureImplicit);
        CHECK(cudaStreamEndCapture(f.stream, &f.graph) == cudaErrorStreamCaptureInvalidated);
    }
    SECTION("allocating") {
        REQUIRE(cudaStreamBeginCapture(f.stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
        void* p = nullptr;
        CHECK(cudaMalloc(&p, 4) == cudaErrorStreamCaptureUnsupported);
        CHECK(cudaStreamEndCapture(f.stream, &f.graph) == cudaErrorStreamCaptureInvalidated);
    }
    SECTION("allocating is fine in relaxed mode") {
        REQUIRE(cudaStreamBeginCapture(f.stream, cudaStreamCaptureModeRelaxed) == cudaSuccess);
        void* p = nullptr;
        CHECK(cudaMalloc(&p, 4) == cudaSuccess);
        CHECK(cudaStreamEndCapture(f.stream, &f.graph) == cudaSuccess);
        cudaFree(p);
    }
    SECTION("work that is not joined") {
        const cudaEvent_t fork = f.capture_in(f.other);
        add<<<1, 1, 0, f.other>>>(f.d, 1);
        CHECK(cudaStreamEndCapture(f.stream, &f.graph) == cudaErrorStreamCaptureUnjoined);
        cudaEventDestroy(fork);
    }
    SECTION("a stream that took part and is gone") {
        cudaEvent_t join;
        cudaStream_t gone;
        REQUIRE(cudaEventCreate(&join) == cudaSuccess);
        REQUIRE(cudaStreamCreate(&gone) == cudaSuccess);
        const cudaEvent_t fork = f.capture_in(gone);
        add<<<1, 1, 0, gone>>>(f.d, 1);
        cudaEventRecord(join, gone);
        cudaStreamWaitEvent(f.stream, join, 0);
        CHECK(cudaStreamDestroy(gone) == cudaSuccess);
        CHECK(cudaEventDestroy(fork) == cudaSuccess);
        CHECK(cudaEventDestroy(join) == cudaSuccess);
        add<<<1, 1, 0, f.stream>>>(f.d, 1);
        REQUIRE(cudaStreamEndCapture(f.stream, &f.graph) == cudaSuccess);
        REQUIRE(cudaGraphInstantiate(&f.exec, f.graph, 0) == cudaSuccess);
        f.run();
        CHECK(f.first() == 2);
    }
    SECTION("a stream that is gone without having been joined") {
        cudaStream_t gone;
        REQUIRE(cudaStreamCreate(&gone) == cudaSuccess);
        const cudaEvent_t fork = f.capture_in(gone);
        add<<<1, 1, 0, gone>>>(f.d, 1);
        CHECK(cudaStreamDestroy(gone) == cudaSuccess);
        CHECK(cudaStreamEndCapture(f.stream, &f.graph) == cudaErrorStreamCaptureUnjoined);
        cudaEventDestroy(fork);
    }
    SECTION("ending in another stream") {
        const cudaEvent_t fork = f.capture_in(f.other);
        CHECK(cudaEventQuery(fork) == cudaErrorCapturedEvent);
        CHECK(cudaStreamEndCapture(f.other, &f.graph) == cudaErrorStreamCaptureUnmatched);
        CHECK(cudaStreamEndCapture(f.stream, &f.graph) == cudaErrorStreamCaptureInvalidated);
        cudaEventDestroy(fork);
    }
    SECTION("an event from outside") {
        cudaEvent_t outside;
        REQUIRE(cudaEventCreate(&outside) == cudaSuccess);
        cudaEventRecord(outside, f.other);
        REQUIRE(cudaStreamBeginCapture(f.stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
        CHECK(cudaStreamWaitEvent(f.stream, outside, 0) == cudaErrorStreamCaptureIsolation);
        CHECK(cudaStreamEndCapture(f.stream, &f.graph) == cudaErrorStreamCaptureInvalidated);
        cudaEventDestroy(outside);
    }
}

TEST_CASE("a graph built by hand", "[simt][graph]") {
    Fixture f;
    REQUIRE(cudaGraphCreate(&f.graph, 0) == cudaSuccess);
    int in[32], out[32] = {}, calls = 0;
    for (int i = 0; i < 32; ++i) in[i] = i;
    cudaGraphNode_t copy_in, kernel, fill, host, copy_out;
    CHECK(cudaGraphAddMemcpyNode1D(&copy_in, f.graph, nullptr, 0, f.d, in, sizeof in,
                                   cudaMemcpyHostToDevice) == cudaSuccess);
    int value = 5;
    int* pointer = f.d;
    void* arguments[] = {&pointer, &value};
    cudaKernelNodeParams kp{};
    kp.func = decltype(kp.func)(add);  // a cast to void*; here it keeps the signature
    kp.gridDim = dim3(1);
    kp.blockDim = dim3(32);
    kp.kernelParams = arguments;
    CHECK(cudaGraphAddKernelNode(&kernel, f.graph, &copy_in, 1, &kp) == cudaSuccess);
    cudaMemsetParams mp{};
    mp.dst = f.d;
    mp.elementSize = 4;
    mp.value = 77;
    mp.width = 2;
    mp.height = 1;
    CHECK(cudaGraphAddMemsetNode(&fill, f.graph, &kernel, 1, &mp) == cudaSuccess);
    cudaHostNodeParams hp{};
    hp.fn = bump;
    hp.userData = &calls;
    CHECK(cudaGraphAddHostNode(&host, f.graph, nullptr, 0, &hp) == cudaSuccess);
    CHECK(cudaGraphAddMemcpyNode1D(&copy_out, f.graph, &fill, 1, out, f.d, sizeof out,
                                   cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(cudaGraphAddDependencies(f.graph, &host, &copy_out, nullptr, 1) == cudaSuccess);
    CHECK(cudaGraphAddDependencies(f.graph, &host, &copy_out, nullptr, 1) == cudaErrorInvalidValue);
    REQUIRE(cudaGraphInstantiate(&f.exec, f.graph, 0) == cudaSuccess);
    value = 1000;  // the node copied it
    f.run();
    CHECK(out[0] == 77);
    CHECK(out[1] == 77);
    for (int i = 2; i < 32; ++i) CHECK(out[i] == i + 5);
    CHECK(calls == 1);

    // Another argument for the same kernel.
    value = 6;
    CHECK(cudaGraphExecKernelNodeSetParams(f.exec, kernel, &kp) == cudaSuccess);
    CHECK(cudaGraphNodeSetEnabled(f.exec, fill, 0) == cudaSuccess);
    f.run();
    for (int i = 0; i < 32; ++i) CHECK(out[i] == i + 6);

    cudaGraphNodeType type;
    CHECK(cudaGraphNodeGetType(kernel, &type) == cudaSuccess);
    CHECK(type == cudaGraphNodeTypeKernel);
    cudaKernelNodeParams read{};
    CHECK(cudaGraphKernelNodeGetParams(kernel, &read) == cudaSuccess);
    CHECK(read.blockDim.x == 32);
    CHECK(*static_cast<int*>(read.kernelParams[1]) == 5);  // the graph keeps what it had
    std::size_t count = 0;
    CHECK(cudaGraphNodeGetDependencies(copy_out, nullptr, nullptr, &count) == cudaSuccess);
    CHECK(count == 2);
    CHECK(cudaGraphNodeGetDependentNodes(copy_in, nullptr, nullptr, &count) == cudaSuccess);
    CHECK(count == 1);
    CHECK(cudaGraphDestroyNode(host) == cudaSuccess);
    CHECK(cudaGraphGetNodes(f.graph, nullptr, &count) == cudaSuccess);
    CHECK(count == 4);
}

TEST_CASE("wrong graphs", "[simt][graph]") {
    Fixture f;
    REQUIRE(cudaGraphCreate(&f.graph, 0) == cudaSuccess);
    cudaGraphNode_t a, b;
    REQUIRE(cudaGraphAddEmptyNode(&a, f.graph, nullptr, 0) == cudaSuccess);
    REQUIRE(cudaGraphAddEmptyNode(&b, f.graph, &a, 1) == cudaSuccess);
    CHECK(cudaGraphAddDependencies(f.graph, &b, &a, nullptr, 1) == cudaSuccess);
    CHECK(cudaGraphInstantiate(&f.exec, f.graph, 0) == cudaErrorInvalidValue);  // a cycle
    f.exec = nullptr;
    CHECK(cudaGraphRemoveDependencies(f.graph, &b, &a, nullptr, 1) == cudaSuccess);
    CHECK(cudaGraphInstantiate(&f.exec, f.graph, 0) == cudaSuccess);
    CHECK(cudaGraphCreate(nullptr, 0) == cudaErrorInvalidValue);
    cudaGraph_t flagged;
    CHECK(cudaGraphCreate(&flagged, 9) == cudaErrorInvalidValue);
    cudaMemsetParams mp{};
    mp.dst = f.d;
    mp.elementSize = 3;
    mp.width = mp.height = 1;
    cudaGraphNode_t node;
    CHECK(cudaGraphAddMemsetNode(&node, f.graph, nullptr, 0, &mp) == cudaErrorInvalidValue);
}

TEST_CASE("clones and child graphs", "[simt][graph]") {
    Fixture f;
    cudaGraph_t child, clone;
    REQUIRE(cudaStreamBeginCapture(f.stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
    add<<<1, 1, 0, f.stream>>>(f.d, 4);
    REQUIRE(cudaStreamEndCapture(f.stream, &child) == cudaSuccess);
    REQUIRE(cudaGraphClone(&clone, child) == cudaSuccess);
    cudaGraphNode_t original, twin = nullptr, c1, c2;
    std::size_t one = 1;
    REQUIRE(cudaGraphGetNodes(child, &original, &one) == cudaSuccess);
    CHECK(cudaGraphNodeFindInClone(&twin, original, clone) == cudaSuccess);
    CHECK(twin != original);
    REQUIRE(cudaGraphCreate(&f.graph, 0) == cudaSuccess);
    CHECK(cudaGraphAddChildGraphNode(&c1, f.graph, nullptr, 0, child) == cudaSuccess);
    CHECK(cudaGraphAddChildGraphNode(&c2, f.graph, &c1, 1, clone) == cudaSuccess);
    CHECK(cudaGraphDestroy(child) == cudaSuccess);  // the nodes own copies
    CHECK(cudaGraphDestroy(clone) == cudaSuccess);
    REQUIRE(cudaGraphInstantiate(&f.exec, f.graph, 0) == cudaSuccess);
    f.run();
    CHECK(f.first() == 8);
}

TEST_CASE("updating an executable graph", "[simt][graph]") {
    Fixture f;
    const auto capture = [&](int value, int kernels) {
        cudaGraph_t graph = nullptr;
        REQUIRE(cudaStreamBeginCapture(f.stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
        for (int i = 0; i < kernels; ++i) add<<<1, 1, 0, f.stream>>>(f.d, value);
        REQUIRE(cudaStreamEndCapture(f.stream, &graph) == cudaSuccess);
        return graph;
    };
    f.graph = capture(1, 2);
    REQUIRE(cudaGraphInstantiate(&f.exec, f.graph, 0) == cudaSuccess);
    cudaGraph_t same = capture(10, 2), longer = capture(10, 3);
    cudaGraphExecUpdateResultInfo info{};
    CHECK(cudaGraphExecUpdate(f.exec, same, &info) == cudaSuccess);
    CHECK(info.result == cudaGraphExecUpdateSuccess);
    f.run();
    CHECK(f.first() == 20);
    CHECK(cudaGraphExecUpdate(f.exec, longer, &info) == cudaErrorGraphExecUpdateFailure);
    CHECK(info.result == cudaGraphExecUpdateErrorTopologyChanged);
    cudaGraphDestroy(same);
    cudaGraphDestroy(longer);
}

TEST_CASE("a while node repeats until a kernel says stop", "[simt][graph]") {
    Fixture f;
    REQUIRE(cudaGraphCreate(&f.graph, 0) == cudaSuccess);
    cudaGraphConditionalHandle handle;
    REQUIRE(cudaGraphConditionalHandleCreate(&handle, f.graph, 1, cudaGraphCondAssignDefault) == cudaSuccess);
    cudaGraphNodeParams p = {};
    p.type = cudaGraphNodeTypeConditional;
    p.conditional.handle = handle;
    p.conditional.type = cudaGraphCondTypeWhile;
    p.conditional.size = 1;
    cudaGraphNode_t node;
    REQUIRE(cudaGraphAddNode(&node, f.graph, nullptr, nullptr, 0, &p) == cudaSuccess);
    cudaGraph_t body = p.conditional.phGraph_out[0];
    REQUIRE(cudaStreamBeginCaptureToGraph(f.stream, body, nullptr, nullptr, 0, cudaStreamCaptureModeGlobal) ==
            cudaSuccess);
    add<<<1, 1, 0, f.stream>>>(f.d + 1, 1);
    count_down<<<1, 1, 0, f.stream>>>(f.d, handle);
    cudaGraph_t same = nullptr;
    REQUIRE(cudaStreamEndCapture(f.stream, &same) == cudaSuccess);
    REQUIRE(cudaGraphInstantiate(&f.exec, f.graph, 0) == cudaSuccess);
    int start[2] = {7, 0}, out[2] = {};
    REQUIRE(cudaMemcpy(f.d, start, sizeof start, cudaMemcpyHostToDevice) == cudaSuccess);
    f.run();
    CHECK(cudaMemcpy(out, f.d, sizeof out, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(out[0] == 0);
    CHECK(out[1] == 7);
    // The default value is assigned again at every launch.
    REQUIRE(cudaMemcpy(f.d, start, sizeof start, cudaMemcpyHostToDevice) == cudaSuccess);
    f.run();
    CHECK(cudaMemcpy(out, f.d, sizeof out, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(out[1] == 7);
}

TEST_CASE("if and else, and a choice of bodies", "[simt][graph]") {
    Fixture f;
    REQUIRE(cudaGraphCreate(&f.graph, 0) == cudaSuccess);
    const auto bodies = [&](cudaGraphConditionalNodeType type, unsigned value, unsigned size) {
        cudaGraphConditionalHandle handle;
        REQUIRE(cudaGraphConditionalHandleCreate(&handle, f.graph, value, cudaGraphCondAssignDefault) ==
                cudaSuccess);
        cudaGraphNodeParams p = {};
        p.type = cudaGraphNodeTypeConditional;
        p.conditional.handle = handle;
        p.conditional.type = type;
        p.conditional.size = size;
        cudaGraphNode_t node;
        REQUIRE(cudaGraphAddNode(&node, f.graph, nullptr, nullptr, 0, &p) == cudaSuccess);
        for (unsigned i = 0; i < size; ++i) {
            int amount = 1;
            int* pointer = f.d + 4 * type + static_cast<int>(i);
            void* arguments[] = {&pointer, &amount};
            cudaKernelNodeParams kp{};
            kp.func = decltype(kp.func)(add);  // a cast to void*; here it keeps the signature
            kp.gridDim = kp.blockDim = dim3(1);
            kp.kernelParams = arguments;
            cudaGraphNode_t inner;
            REQUIRE(cudaGraphAddKernelNode(&inner, p.conditional.phGraph_out[i], nullptr, 0, &kp) ==
                    cudaSuccess);
        }
    };
    bodies(cudaGraphCondTypeIf, 0, 2);
    bodies(cudaGraphCondTypeSwitch, 2, 3);
    REQUIRE(cudaGraphInstantiate(&f.exec, f.graph, 0) == cudaSuccess);
    f.run();
    int out[12];
    CHECK(cudaMemcpy(out, f.d, sizeof out, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(out[0] == 0);
    CHECK(out[1] == 1);  // else
    CHECK(out[8] == 0);
    CHECK(out[9] == 0);
    CHECK(out[10] == 1);  // body 2
}

TEST_CASE("a thread can relax what captures forbid it", "[simt][graph]") {
    Fixture f;
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    REQUIRE(cudaStreamBeginCapture(f.stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
    CHECK(cudaThreadExchangeStreamCaptureMode(&mode) == cudaSuccess);
    CHECK(mode == cudaStreamCaptureModeGlobal);
    void* p = nullptr;
    CHECK(cudaMalloc(&p, 4) == cudaSuccess);
    CHECK(cudaThreadExchangeStreamCaptureMode(&mode) == cudaSuccess);
    CHECK(mode == cudaStreamCaptureModeRelaxed);
    CHECK(cudaStreamEndCapture(f.stream, &f.graph) == cudaSuccess);
    cudaFree(p);
}

TEST_CASE("a graph allocates memory at one address and frees it", "[simt][graph][memory]") {
    Fixture f;
    REQUIRE(cudaGraphCreate(&f.graph, 0) == cudaSuccess);
    cudaMemAllocNodeParams p = memory_of(32 * sizeof(int));
    cudaMemAccessDesc access{};
    access.location.type = cudaMemLocationTypeDevice;
    access.flags = cudaMemAccessFlagsProtReadWrite;
    p.accessDescs = &access;
    p.accessDescCount = 1;
    cudaGraphNode_t allocation, clear, kernel, copy, release, again;
    REQUIRE(cudaGraphAddMemAllocNode(&allocation, f.graph, nullptr, 0, &p) == cudaSuccess);
    REQUIRE(p.dptr != nullptr);
    // The address is there for other nodes, and no memory for anybody else.
    CHECK(cudaMemset(p.dptr, 0, 4) == cudaErrorInvalidValue);
    CHECK(cudaFree(p.dptr) == cudaErrorInvalidValue);
    cudaMemsetParams zeros{};
    zeros.dst = p.dptr;
    zeros.elementSize = 4;
    zeros.width = 32;
    zeros.height = 1;
    REQUIRE(cudaGraphAddMemsetNode(&clear, f.graph, &allocation, 1, &zeros) == cudaSuccess);
    int* const memory = static_cast<int*>(p.dptr);
    int five = 5;
    void* arguments[] = {const_cast<int**>(&memory), &five};
    cudaKernelNodeParams launch{};
    launch.func = (void*)add;
    launch.gridDim = 1;
    launch.blockDim = 32;
    launch.kernelParams = arguments;
    REQUIRE(cudaGraphAddKernelNode(&kernel, f.graph, &clear, 1, &launch) == cudaSuccess);
    REQUIRE(cudaGraphAddMemcpyNode1D(&copy, f.graph, &kernel, 1, f.d, memory, 32 * sizeof(int),
                                     cudaMemcpyDeviceToDevice) == cudaSuccess);
    REQUIRE(cudaGraphAddMemFreeNode(&release, f.graph, &copy, 1, memory) == cudaSuccess);
    CHECK(cudaGraphAddMemFreeNode(&again, f.graph, &copy, 1, memory) == cudaErrorInvalidValue);
    cudaGraphNodeType type;
    CHECK(cudaGraphNodeGetType(allocation, &type) == cudaSuccess);
    CHECK(type == cudaGraphNodeTypeMemAlloc);
    CHECK(cudaGraphNodeGetType(release, &type) == cudaSuccess);
    CHECK(type == cudaGraphNodeTypeMemFree);
    cudaMemAllocNodeParams got{};
    CHECK(cudaGraphMemAllocNodeGetParams(allocation, &got) == cudaSuccess);
    CHECK(got.dptr == memory);
    CHECK(got.bytesize == 32 * sizeof(int));
    CHECK(got.poolProps.location.type == cudaMemLocationTypeDevice);
    void* freed = nullptr;
    CHECK(cudaGraphMemFreeNodeGetParams(release, &freed) == cudaSuccess);
    CHECK(freed == memory);
    CHECK(cudaGraphMemAllocNodeGetParams(release, &got) == cudaErrorInvalidValue);

    REQUIRE(cudaGraphInstantiate(&f.exec, f.graph, 0) == cudaSuccess);
    f.run(3);
    CHECK(f.first() == 5);
#if defined(__SIMT__)  // a device counts it, in pieces of 32 MiB, as long as the graph is there
    CHECK(graph_memory(cudaGraphMemAttrUsedMemCurrent) == 0);
#endif
    CHECK(graph_memory(cudaGraphMemAttrUsedMemHigh) >= 32 * sizeof(int));
    CHECK(cudaFree(memory) == cudaErrorInvalidValue);  // the graph's own node frees it
}

TEST_CASE("memory of a graph outlives its launch", "[simt][graph][memory]") {
    Fixture f;
    REQUIRE(cudaGraphCreate(&f.graph, 0) == cudaSuccess);
    cudaMemAllocNodeParams p = memory_of(1000);
    cudaGraphNode_t allocation, fill;
    REQUIRE(cudaGraphAddMemAllocNode(&allocation, f.graph, nullptr, 0, &p) == cudaSuccess);
    cudaMemsetParams sevens{};
    sevens.dst = p.dptr;
    sevens.value = 7;
    sevens.elementSize = 1;
    sevens.width = 1000;
    sevens.height = 1;
    REQUIRE(cudaGraphAddMemsetNode(&fill, f.graph, &allocation, 1, &sevens) == cudaSuccess);
    unsigned char value = 0;
    const auto read = [&] {
        return cudaMemcpy(&value, static_cast<char*>(p.dptr) + 999, 1, cudaMemcpyDeviceToHost);
    };

    SECTION("until somebody frees it, once") {
        REQUIRE(cudaGraphInstantiate(&f.exec, f.graph, 0) == cudaSuccess);
        for (const bool in_stream : {true, false}) {
            f.run();
            CHECK(read() == cudaSuccess);
            CHECK(value == 7);
            CHECK(graph_memory(cudaGraphMemAttrUsedMemCurrent) >= 1000);
            CHECK(cudaGraphLaunch(f.exec, f.stream) == cudaErrorInvalidValue);  // it is still there
            CHECK((in_stream ? cudaFreeAsync(p.dptr, f.stream) : cudaFree(p.dptr)) == cudaSuccess);
            CHECK(cudaStreamSynchronize(f.stream) == cudaSuccess);
            CHECK(cudaFreeAsync(p.dptr, f.stream) == cudaErrorInvalidValue);
        }
#if defined(__SIMT__)
        CHECK(graph_memory(cudaGraphMemAttrUsedMemCurrent) == 0);
#endif
    }
    SECTION("until another graph frees it") {
        cudaGraph_t other;
        cudaGraphExec_t other_exec;
        cudaGraphNode_t release;
        REQUIRE(cudaGraphCreate(&other, 0) == cudaSuccess);
        REQUIRE(cudaGraphAddMemFreeNode(&release, other, nullptr, 0, p.dptr) == cudaSuccess);
        CHECK(cudaGraphAddMemFreeNode(&release, f.graph, &fill, 1, p.dptr) == cudaErrorInvalidValue);
        REQUIRE(cudaGraphInstantiate(&f.exec, f.graph, 0) == cudaSuccess);
        REQUIRE(cudaGraphInstantiate(&other_exec, other, 0) == cudaSuccess);
        for (int i = 0; i < 2; ++i) {
            f.run();
            CHECK(read() == cudaSuccess);
            CHECK(cudaGraphLaunch(other_exec, f.stream) == cudaSuccess);
        }
        CHECK(cudaStreamSynchronize(f.stream) == cudaSuccess);
        CHECK(cudaFree(p.dptr) == cudaErrorInvalidValue);
        CHECK(cudaGraphExecDestroy(other_exec) == cudaSuccess);
        CHECK(cudaGraphDestroy(other) == cudaSuccess);
    }
    SECTION("until the next launch, where that is asked for") {
        REQUIRE(cudaGraphInstantiate(&f.exec, f.graph, cudaGraphInstantiateFlagAutoFreeOnLaunch) ==
                cudaSuccess);
        f.run(3);
        CHECK(read() == cudaSuccess);
        CHECK(value == 7);
        CHECK(cudaFree(p.dptr) == cudaSuccess);
        f.run();
        CHECK(cudaFree(p.dptr) == cudaSuccess);
    }
    SECTION("and the graph") {
        REQUIRE(cudaGraphInstantiate(&f.exec, f.graph, 0) == cudaSuccess);
        f.run();
        REQUIRE(cudaGraphExecDestroy(f.exec) == cudaSuccess);
        REQUIRE(cudaGraphDestroy(f.graph) == cudaSuccess);
        f.exec = nullptr;
        f.graph = nullptr;
        CHECK(read() == cudaSuccess);
        CHECK(value == 7);
        CHECK(cudaFree(p.dptr) == cudaSuccess);
        CHECK(cudaFree(p.dptr) == cudaErrorInvalidValue);
    }
}

TEST_CASE("a captured stream allocates and frees", "[simt][graph][memory]") {
    Fixture f;
    int* memory = nullptr;
    REQUIRE(cudaStreamBeginCapture(f.stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
    REQUIRE(cudaMallocAsync(&memory, 32 * sizeof(int), f.stream) == cudaSuccess);
    REQUIRE(memory != nullptr);
    CHECK(cudaMemsetAsync(memory, 0, 32 * sizeof(int), f.stream) == cudaSuccess);
    add<<<1, 32, 0, f.stream>>>(memory, 4);
    multiply<<<1, 32, 0, f.stream>>>(memory, 3);
    CHECK(cudaMemcpyAsync(f.d, memory, 32 * sizeof(int), cudaMemcpyDeviceToDevice, f.stream) == cudaSuccess);
    CHECK(cudaFreeAsync(memory, f.stream) == cudaSuccess);
    REQUIRE(cudaStreamEndCapture(f.stream, &f.graph) == cudaSuccess);
    std::size_t count = 0;
    CHECK(cudaGraphGetNodes(f.graph, nullptr, &count) == cudaSuccess);
    REQUIRE(count == 6);
    REQUIRE(cudaGraphInstantiate(&f.exec, f.graph, 0) == cudaSuccess);
    f.run(2);
    CHECK(f.first() == 12);

    // Only memory of graphs can be freed in one.
    cudaGraph_t none = nullptr;
    REQUIRE(cudaStreamBeginCapture(f.stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
    CHECK(cudaFreeAsync(f.d, f.stream) == cudaErrorInvalidValue);
    cudaStreamEndCapture(f.stream, &none);
    if (none) cudaGraphDestroy(none);
}

TEST_CASE("what a graph with memory cannot do", "[simt][graph][memory]") {
    Fixture f;
    REQUIRE(cudaGraphCreate(&f.graph, 0) == cudaSuccess);
    cudaGraphNode_t allocation, fill, node;
    cudaMemAllocNodeParams p = memory_of(0);
    CHECK(cudaGraphAddMemAllocNode(&allocation, f.graph, nullptr, 0, &p) == cudaErrorInvalidValue);
    p = memory_of(64);
    p.poolProps.location.id = 99;
    CHECK(cudaGraphAddMemAllocNode(&allocation, f.graph, nullptr, 0, &p) == cudaErrorInvalidValue);
    CHECK(cudaGraphAddMemAllocNode(&allocation, f.graph, nullptr, 0, nullptr) == cudaErrorInvalidValue);
    p = memory_of(64);
    REQUIRE(cudaGraphAddMemAllocNode(&allocation, f.graph, nullptr, 0, &p) == cudaSuccess);
    CHECK(cudaGraphAddMemFreeNode(&node, f.graph, &allocation, 1, f.d) == cudaErrorInvalidValue);
    REQUIRE(cudaGraphAddMemcpyNode1D(&fill, f.graph, &allocation, 1, p.dptr, f.d, 64,
                                     cudaMemcpyDeviceToDevice) == cudaSuccess);

    cudaGraph_t other;
    CHECK(cudaGraphClone(&other, f.graph) == cudaErrorNotSupported);
    REQUIRE(cudaGraphCreate(&other, 0) == cudaSuccess);
    CHECK(cudaGraphAddChildGraphNode(&node, other, nullptr, 0, f.graph) == cudaErrorNotSupported);
    CHECK(cudaGraphDestroy(other) == cudaSuccess);
    CHECK(cudaGraphRemoveDependencies(f.graph, &allocation, &fill, nullptr, 1) == cudaErrorNotSupported);
    CHECK(cudaGraphDestroyNode(fill) == cudaErrorNotSupported);
    REQUIRE(cudaGraphInstantiate(&f.exec, f.graph, 0) == cudaSuccess);
    cudaGraphExec_t second;
    CHECK(cudaGraphInstantiate(&second, f.graph, 0) == cudaErrorNotSupported);
    CHECK(cudaGraphExecDestroy(f.exec) == cudaSuccess);
    CHECK(cudaGraphInstantiate(&f.exec, f.graph, 0) == cudaSuccess);

    unsigned long long value = 1;
    CHECK(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &value) == cudaErrorInvalidValue);
    value = 0;
    CHECK(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &value) == cudaSuccess);
    CHECK(graph_memory(cudaGraphMemAttrUsedMemHigh) == graph_memory(cudaGraphMemAttrUsedMemCurrent));
    CHECK(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &value) == cudaErrorInvalidValue);
    CHECK(cudaDeviceGetGraphMemAttribute(0, static_cast<cudaGraphMemAttributeType>(9), &value) ==
          cudaErrorInvalidValue);
    CHECK(cudaDeviceGraphMemTrim(0) == cudaSuccess);
}

TEST_CASE("a graph keeps what belongs to it", "[simt][graph]") {
    Fixture f;
    int destroyed = 0;
    cudaUserObject_t object = nullptr, wrong = nullptr;
    CHECK(cudaUserObjectCreate(&wrong, &destroyed, bump, 0, cudaUserObjectNoDestructorSync) ==
          cudaErrorInvalidValue);
    CHECK(cudaUserObjectCreate(&wrong, &destroyed, bump, 1, 0) == cudaErrorInvalidValue);
    REQUIRE(cudaUserObjectCreate(&object, &destroyed, bump, 1, cudaUserObjectNoDestructorSync) ==
            cudaSuccess);
    REQUIRE(cudaGraphCreate(&f.graph, 0) == cudaSuccess);
    CHECK(cudaGraphRetainUserObject(f.graph, object, 0, 0) == cudaErrorInvalidValue);

    SECTION("the caller's reference, when it is handed over") {
        REQUIRE(cudaGraphRetainUserObject(f.graph, object, 1, cudaGraphUserObjectMove) == cudaSuccess);
        cudaGraph_t clone;
        REQUIRE(cudaGraphClone(&clone, f.graph) == cudaSuccess);
        REQUIRE(cudaGraphDestroy(f.graph) == cudaSuccess);
        f.graph = nullptr;
        CHECK(destroyed == 0);
        REQUIRE(cudaGraphInstantiate(&f.exec, clone, 0) == cudaSuccess);
        REQUIRE(cudaGraphDestroy(clone) == cudaSuccess);
        CHECK(destroyed == 0);
        f.run();
        REQUIRE(cudaGraphExecDestroy(f.exec) == cudaSuccess);
        f.exec = nullptr;
    }
    SECTION("one of its own, until it gives it back") {
        REQUIRE(cudaGraphRetainUserObject(f.graph, object, 2) == cudaSuccess);
        CHECK(cudaUserObjectRelease(object) == cudaSuccess);
#if defined(__SIMT__)  // a device takes what is there
        CHECK(cudaGraphReleaseUserObject(f.graph, object, 3) == cudaErrorInvalidValue);
#endif
        CHECK(cudaGraphReleaseUserObject(f.graph, object) == cudaSuccess);
        CHECK(destroyed == 0);
        CHECK(cudaUserObjectRetain(object) == cudaSuccess);
        CHECK(cudaUserObjectRelease(object) == cudaSuccess);
        CHECK(cudaGraphReleaseUserObject(f.graph, object) == cudaSuccess);
    }
    // A device may call it later, in a thread of its own.
    for (int i = 0; i < 1000 && static_cast<volatile int&>(destroyed) == 0; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    CHECK(destroyed == 1);
}

TEST_CASE("parameters of a node of any kind", "[simt][graph]") {
    Fixture f;
    REQUIRE(cudaGraphCreate(&f.graph, 0) == cudaSuccess);
    cudaGraphNodeParams p{};
    p.type = cudaGraphNodeTypeKernel;
    int three = 3;
    void* arguments[] = {&f.d, &three};
    p.kernel.func = (void*)add;
    p.kernel.gridDim = 1;
    p.kernel.blockDim = 32;
    p.kernel.kernelParams = arguments;
    cudaGraphNode_t node, empty;
    REQUIRE(cudaGraphAddNode(&node, f.graph, nullptr, nullptr, 0, &p) == cudaSuccess);
    REQUIRE(cudaGraphAddEmptyNode(&empty, f.graph, nullptr, 0) == cudaSuccess);
    int seven = 7;
    arguments[1] = &seven;
    REQUIRE(cudaGraphNodeSetParams(node, &p) == cudaSuccess);
    REQUIRE(cudaGraphInstantiate(&f.exec, f.graph, 0) == cudaSuccess);
    f.run();
    CHECK(f.first() == 7);
    arguments[1] = &three;
    REQUIRE(cudaGraphExecNodeSetParams(f.exec, node, &p) == cudaSuccess);
    f.run();
    CHECK(f.first() == 10);
    CHECK(cudaGraphNodeSetParams(empty, &p) == cudaErrorInvalidValue);  // it is no kernel
    CHECK(cudaGraphNodeSetParams(node, nullptr) == cudaErrorInvalidValue);
}

TEST_CASE("attributes of kernel nodes", "[simt][graph]") {
    Fixture f;
    REQUIRE(cudaGraphCreate(&f.graph, 0) == cudaSuccess);
    void* arguments[] = {&f.d};
    cudaKernelNodeParams p{};
    p.func = (void*)add_blocks;
    p.gridDim = 4;
    p.blockDim = 32;
    p.kernelParams = arguments;
    cudaGraphNode_t node, other, empty;
    REQUIRE(cudaGraphAddKernelNode(&node, f.graph, nullptr, 0, &p) == cudaSuccess);
    REQUIRE(cudaGraphAddKernelNode(&other, f.graph, &node, 1, &p) == cudaSuccess);
    REQUIRE(cudaGraphAddEmptyNode(&empty, f.graph, nullptr, 0) == cudaSuccess);
    cudaLaunchAttributeValue value{};
    value.cooperative = 1;
    // All blocks wait for each other.
    CHECK(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeCooperative, &value) == cudaSuccess);
    CHECK(cudaGraphKernelNodeCopyAttributes(other, node) == cudaSuccess);
    cudaLaunchAttributeValue got{};
    CHECK(cudaGraphKernelNodeGetAttribute(other, cudaLaunchAttributeCooperative, &got) == cudaSuccess);
    CHECK(got.cooperative == 1);
    CHECK(cudaGraphKernelNodeSetAttribute(empty, cudaLaunchAttributeCooperative, &value) ==
          cudaErrorInvalidValue);
#if defined(__SIMT__)  // a device's runtime crashes
    CHECK(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeCooperative, nullptr) ==
          cudaErrorInvalidValue);
#endif
    REQUIRE(cudaGraphInstantiate(&f.exec, f.graph, 0) == cudaSuccess);
    f.run();
    int result[5] = {};
    REQUIRE(cudaMemcpy(result, f.d, sizeof result, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(std::vector<int>(result, result + 5) == std::vector<int>(5, 256));
}
