// Streams, events and host functions. Holds on a device too.
#include <cuda_runtime.h>

#include <chrono>
#include <vector>

#include "testing/catch.h"

namespace {

__global__ void add_one(int* x) { x[threadIdx.x] += 1; }
__global__ void twice(int* x) { x[threadIdx.x] *= 2; }

void CUDART_CB push(void* data) { static_cast<std::vector<int>*>(data)->push_back(1); }
void CUDART_CB call_runtime(void* data) {
    void* p = nullptr;
    *static_cast<cudaError_t*>(data) = cudaMalloc(&p, 4);
}

}  // namespace

TEST_CASE("a stream keeps its order", "[simt][stream]") {
    cudaStream_t stream;
    REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
    int *d = nullptr, out[32];
    REQUIRE(cudaMalloc(&d, sizeof out) == cudaSuccess);
    cudaMemsetAsync(d, 0, sizeof out, stream);
    add_one<<<1, 32, 0, stream>>>(d);
    twice<<<1, 32, 0, stream>>>(d);
    add_one<<<1, 32, 0, stream>>>(d);
    CHECK(cudaMemcpyAsync(out, d, sizeof out, cudaMemcpyDeviceToHost, stream) == cudaSuccess);
    CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
    CHECK(cudaStreamQuery(stream) == cudaSuccess);
    for (int v : out) CHECK(v == 3);
    CHECK(cudaStreamDestroy(stream) == cudaSuccess);
    cudaFree(d);
}

TEST_CASE("properties of streams", "[simt][stream]") {
    int least = 1, greatest = 1, priority = 9;
    CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest) == cudaSuccess);
    CHECK(least == 0);
    CHECK(greatest < 0);
    cudaStream_t a, b;
    REQUIRE(cudaStreamCreateWithPriority(&a, cudaStreamNonBlocking, greatest) == cudaSuccess);
    REQUIRE(cudaStreamCreateWithPriority(&b, cudaStreamDefault, -1000) == cudaSuccess);
    CHECK(cudaStreamGetPriority(a, &priority) == cudaSuccess);
    CHECK(priority == greatest);
    CHECK(cudaStreamGetPriority(b, &priority) == cudaSuccess);
    CHECK(priority == greatest);  // moved into the range
    unsigned flags = 9;
    CHECK(cudaStreamGetFlags(a, &flags) == cudaSuccess);
    CHECK(flags == cudaStreamNonBlocking);
    unsigned long long first = 0, second = 0;
    CHECK(cudaStreamGetId(a, &first) == cudaSuccess);
    CHECK(cudaStreamGetId(b, &second) == cudaSuccess);
    CHECK(first != second);
    CHECK(cudaStreamCreateWithFlags(&a, 77) == cudaErrorInvalidValue);
    CHECK(cudaStreamCreate(nullptr) == cudaErrorInvalidValue);
    cudaGetLastError();
}

TEST_CASE("the default streams", "[simt][stream]") {
    int *d = nullptr, out = 0;
    REQUIRE(cudaMalloc(&d, sizeof(int)) == cudaSuccess);
    CHECK(cudaMemsetAsync(d, 0, sizeof(int), cudaStreamLegacy) == cudaSuccess);
    add_one<<<1, 1, 0, cudaStreamPerThread>>>(d);
    CHECK(cudaStreamSynchronize(cudaStreamPerThread) == cudaSuccess);
    CHECK(cudaMemcpy(&out, d, sizeof out, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(out == 1);
    CHECK(cudaStreamDestroy(nullptr) == cudaErrorInvalidResourceHandle);
    cudaFree(d);
    cudaGetLastError();
}

TEST_CASE("host functions run in order and may not call the runtime", "[simt][stream]") {
    cudaStream_t stream;
    REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
    std::vector<int> calls;
    CHECK(cudaLaunchHostFunc(stream, push, &calls) == cudaSuccess);
    CHECK(cudaLaunchHostFunc(stream, push, &calls) == cudaSuccess);
    cudaError_t inside = cudaSuccess;
    CHECK(cudaLaunchHostFunc(stream, call_runtime, &inside) == cudaSuccess);
    CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
    CHECK(calls.size() == 2);
    CHECK(inside == cudaErrorNotPermitted);
    CHECK(cudaLaunchHostFunc(stream, nullptr, nullptr) == cudaErrorInvalidValue);
    struct Seen {
        cudaStream_t stream;
        cudaError_t status;
    } seen{nullptr, cudaErrorUnknown};
    CHECK(cudaStreamAddCallback(
              stream,
              [](cudaStream_t s, cudaError_t status, void* data) {
                  *static_cast<Seen*>(data) = {s, status};
              },
              &seen, 0) == cudaSuccess);
    CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
    CHECK(seen.stream == stream);
    CHECK(seen.status == cudaSuccess);
    cudaStreamDestroy(stream);
    cudaGetLastError();
}

TEST_CASE("events measure time", "[simt][event]") {
    cudaEvent_t start, end, untimed, never;
    REQUIRE(cudaEventCreate(&start) == cudaSuccess);
    REQUIRE(cudaEventCreate(&end) == cudaSuccess);
    REQUIRE(cudaEventCreate(&never) == cudaSuccess);
    REQUIRE(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming) == cudaSuccess);
    float ms = -1;
    CHECK(cudaEventElapsedTime(&ms, start, end) == cudaErrorInvalidResourceHandle);  // not recorded yet
    CHECK(cudaEventQuery(never) == cudaSuccess);
    CHECK(cudaEventSynchronize(never) == cudaSuccess);
    const auto before = std::chrono::steady_clock::now();
    CHECK(cudaEventRecord(start) == cudaSuccess);
    CHECK(cudaEventRecord(end) == cudaSuccess);
    CHECK(cudaEventRecord(untimed) == cudaSuccess);
    CHECK(cudaEventSynchronize(end) == cudaSuccess);
    CHECK(cudaEventSynchronize(untimed) == cudaSuccess);
    CHECK(cudaEventElapsedTime(&ms, start, end) == cudaSuccess);
    CHECK(ms >= 0);
    const std::chrono::duration<float, std::milli> around = std::chrono::steady_clock::now() - before;
    CHECK(ms <= around.count());
    CHECK(cudaEventElapsedTime(&ms, start, untimed) == cudaErrorInvalidResourceHandle);
    CHECK(cudaEventElapsedTime(nullptr, start, end) == cudaErrorInvalidValue);
    CHECK(cudaEventCreateWithFlags(&start, 0x100) == cudaErrorInvalidValue);
    CHECK(cudaEventCreateWithFlags(&start, cudaEventInterprocess) == cudaErrorInvalidValue);
    CHECK(cudaEventDestroy(end) == cudaSuccess);
    cudaGetLastError();
}

TEST_CASE("events order streams", "[simt][event]") {
    cudaStream_t a, b;
    cudaEvent_t event;
    REQUIRE(cudaStreamCreate(&a) == cudaSuccess);
    REQUIRE(cudaStreamCreate(&b) == cudaSuccess);
    REQUIRE(cudaEventCreateWithFlags(&event, cudaEventDisableTiming) == cudaSuccess);
    int *d = nullptr, out = 0;
    REQUIRE(cudaMalloc(&d, sizeof(int)) == cudaSuccess);
    cudaMemsetAsync(d, 0, sizeof(int), a);
    add_one<<<1, 1, 0, a>>>(d);
    CHECK(cudaEventRecord(event, a) == cudaSuccess);
    CHECK(cudaStreamWaitEvent(b, event, 0) == cudaSuccess);
    twice<<<1, 1, 0, b>>>(d);
    CHECK(cudaMemcpyAsync(&out, d, sizeof out, cudaMemcpyDeviceToHost, b) == cudaSuccess);
    CHECK(cudaStreamSynchronize(b) == cudaSuccess);
    CHECK(out == 2);
    CHECK(cudaStreamWaitEvent(b, event, 55) == cudaErrorInvalidValue);
    cudaStreamDestroy(a);
    cudaStreamDestroy(b);
    cudaEventDestroy(event);
    cudaFree(d);
    cudaGetLastError();
}
