// The virtual device, occupancy, and what only this backend promises: poison, guards, names, sticky errors.
#include <cuda_runtime.h>

#include <sys/wait.h>
#include <unistd.h>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "simt/inspect/control.h"
#include "testing/catch.h"

namespace {

void some_kernel(float*) {}
using D = simt::VirtualDevice;

// Runs `body` in a child process; its exit status, or minus the signal that ended it.
template <class F>
int in_child(F body) {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        std::signal(SIGSEGV, SIG_DFL);
        std::signal(SIGBUS, SIG_DFL);
        if (!std::freopen("/dev/null", "w", stderr)) _exit(99);
        _exit(body());
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace

TEST_CASE("there is one device and it says what it is", "[simt][device]") {
    int count = 0, device = 9, value = 0;
    CHECK(cudaGetDeviceCount(&count) == cudaSuccess);
    CHECK(count == 1);
    CHECK(cudaGetDevice(&device) == cudaSuccess);
    CHECK(device == 0);
    CHECK(cudaSetDevice(0) == cudaSuccess);
    CHECK(cudaSetDevice(1) == cudaErrorInvalidDevice);
    CHECK(cudaSetDevice(-1) == cudaErrorInvalidDevice);
    cudaDeviceProp p;
    REQUIRE(cudaGetDeviceProperties(&p, 0) == cudaSuccess);
    CHECK(std::string(p.name) == "Rungs CPU (simt)");
    CHECK(p.warpSize == 32);
    CHECK(p.maxThreadsPerBlock == 1024);
    CHECK(p.totalGlobalMem == simt::device_memory_capacity());
    CHECK(cudaGetDeviceProperties(&p, 1) == cudaErrorInvalidDevice);
    CHECK(cudaGetDeviceProperties(nullptr, 0) == cudaErrorInvalidValue);
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0) == cudaSuccess);
    CHECK(value == p.multiProcessorCount);
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0) == cudaSuccess);
    CHECK(value == 227 * 1024);
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrComputeCapabilityMajor, 0) == cudaSuccess);
    CHECK(value == 9);
    CHECK(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(9999), 0) == cudaErrorInvalidValue);
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 3) == cudaErrorInvalidDevice);
    CHECK(cudaRuntimeGetVersion(&value) == cudaSuccess);
    CHECK(value == 13000);
    CHECK(cudaDriverGetVersion(&value) == cudaSuccess);
    CHECK(value == 13000);
    char id[16];
    CHECK(cudaDeviceGetPCIBusId(id, sizeof id, 0) == cudaSuccess);
    CHECK(cudaDeviceGetByPCIBusId(&device, id) == cudaSuccess);
    CHECK(device == 0);
    CHECK(cudaDeviceCanAccessPeer(&value, 0, 1) == cudaErrorInvalidDevice);
    cudaGetLastError();
}

TEST_CASE("limits are kept", "[simt][device]") {
    std::size_t value = 0;
    CHECK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 16) == cudaSuccess);
    CHECK(cudaDeviceGetLimit(&value, cudaLimitPrintfFifoSize) == cudaSuccess);
    CHECK(value == 1 << 16);
    CHECK(cudaDeviceGetLimit(&value, static_cast<cudaLimit>(99)) == cudaErrorInvalidValue);
    CHECK(cudaDeviceGetLimit(nullptr, cudaLimitStackSize) == cudaErrorInvalidValue);
    CHECK(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1) == cudaSuccess);
    CHECK(cudaFuncSetCacheConfig(some_kernel, cudaFuncCachePreferShared) == cudaSuccess);
    cudaGetLastError();
}

TEST_CASE("occupancy follows the table of limits", "[simt][device]") {
    CHECK(simt::resident_blocks(1024, 0) == 2);
    CHECK(simt::resident_blocks(256, 0) == 8);
    CHECK(simt::resident_blocks(32, 0) == 32);
    CHECK(simt::resident_blocks(33, 0) == 32);  // two warps; blocks are the limit
    CHECK(simt::resident_blocks(768, 0) == 2);
    CHECK(simt::resident_blocks(256, 100 * 1024) == 2);
    CHECK(simt::resident_blocks(256, 227 * 1024) == 1);
    CHECK(simt::resident_blocks(256, 228 * 1024) == 0);
    CHECK(simt::resident_blocks(1025, 0) == 0);
    int blocks = 0, grid = 0, block = 0;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, some_kernel, 256, 0) == cudaSuccess);
    CHECK(blocks == 8);
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, some_kernel, 0, 0) == cudaErrorInvalidValue);
    CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, some_kernel) == cudaSuccess);
    CHECK(block == 1024);
    CHECK(grid == 2 * D::multiprocessors);
    simt::set_multiprocessors(132);
    CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, some_kernel) == cudaSuccess);
    CHECK(grid == 2 * 132);
    simt::set_multiprocessors(D::multiprocessors);
    CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, some_kernel, 0, 100) == cudaSuccess);
    CHECK(block <= 100);
    CHECK(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &block, some_kernel, [](int b) {
              return static_cast<std::size_t>(b) * 400;
          }) == cudaSuccess);
    CHECK(static_cast<std::size_t>(block) * 400 <= D::shared_per_block_optin);
    std::size_t bytes = 0;
    CHECK(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, some_kernel, 2, 256) == cudaSuccess);
    CHECK(simt::resident_blocks(256, bytes) == 2);
    CHECK(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, some_kernel, 9, 256) == cudaErrorInvalidValue);
    cudaGetLastError();
}

TEST_CASE("attributes of kernels", "[simt][device]") {
    cudaFuncAttributes a{};
    REQUIRE(cudaFuncGetAttributes(&a, some_kernel) == cudaSuccess);
    CHECK(a.maxThreadsPerBlock == 1024);
    CHECK(a.maxDynamicSharedSizeBytes == 48 * 1024);
    const auto set = [](int bytes) {
        return cudaFuncSetAttribute(some_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    };
    CHECK(set(227 * 1024) == cudaSuccess);
    CHECK(simt::dynamic_shared_limit(reinterpret_cast<const void*>(some_kernel)) == 227 * 1024);
    CHECK(set(227 * 1024 + 1) == cudaErrorInvalidValue);
    CHECK(set(-1) == cudaErrorInvalidValue);
    CHECK(cudaFuncSetAttribute(some_kernel, cudaFuncAttributePreferredSharedMemoryCarveout, 101) ==
          cudaErrorInvalidValue);
    CHECK(cudaFuncSetAttribute(some_kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                               cudaSharedmemCarveoutMaxShared) == cudaSuccess);
    CHECK(set(48 * 1024) == cudaSuccess);
    cudaGetLastError();
}

TEST_CASE("fresh device memory is a NaN everywhere, small or large", "[simt][memory]") {
    for (std::size_t count : {std::size_t{1}, std::size_t{1000}, std::size_t{40} << 20}) {
        CAPTURE(count);
        float* d = nullptr;
        REQUIRE(cudaMalloc(&d, count * sizeof(float)) == cudaSuccess);
        for (std::size_t i : {std::size_t{0}, count / 2, count - 1}) CHECK(std::isnan(d[i]));
        d[count - 1] = 1;
        CHECK(d[count - 1] == 1.0f);
        CHECK(cudaFree(d) == cudaSuccess);
    }
}

TEST_CASE("memory is counted", "[simt][memory]") {
    std::size_t before = 0, during = 0, after = 0, total = 0;
    REQUIRE(cudaMemGetInfo(&before, &total) == cudaSuccess);
    void* d = nullptr;
    REQUIRE(cudaMalloc(&d, 1 << 20) == cudaSuccess);
    REQUIRE(cudaMemGetInfo(&during, &total) == cudaSuccess);
    CHECK(before - during == 1 << 20);
    cudaFree(d);
    REQUIRE(cudaMemGetInfo(&after, &total) == cudaSuccess);
    CHECK(after == before);
}

TEST_CASE("running past an allocation, and using it after it was freed, faults", "[simt][memory]") {
    CHECK(in_child([] {
              volatile char* d = nullptr;
              cudaMalloc(const_cast<char**>(&d), 4096);
              d[4095] = 1;
              return 7;
          }) == 7);
    CHECK(in_child([] {
              volatile char* d = nullptr;
              cudaMalloc(const_cast<char**>(&d), 4096);
              d[4096] = 1;
              return 7;
          }) == -SIGSEGV);
    CHECK(in_child([] {
              volatile char* d = nullptr;
              cudaMalloc(const_cast<char**>(&d), 100);
              cudaFree(const_cast<char*>(d));
              d[0] = 1;
              return 7;
          }) == -SIGSEGV);
}

TEST_CASE("a write into the red zone is reported when the device is synchronised", "[simt][memory]") {
    std::FILE* file = std::tmpfile();
    REQUIRE(file != nullptr);
    std::fflush(stderr);
    const int saved = dup(2);
    dup2(fileno(file), 2);
    char* victim = nullptr;
    cudaMalloc(&victim, 100);
    victim[103] = 1;
    cudaDeviceSynchronize();
    cudaDeviceSynchronize();  // says it once
    cudaFree(victim);
    std::fflush(stderr);
    dup2(saved, 2);
    close(saved);
    std::rewind(file);
    char text[512] = {};
    const std::size_t n = std::fread(text, 1, sizeof text - 1, file);
    std::fclose(file);
    CAPTURE(text);
    CHECK(n > 0);
    const std::string said = text;
    CHECK(said.find("4 bytes past the end of victim (100 bytes") != said.npos);
    CHECK(said.find("simt:") == said.rfind("simt:"));
}

TEST_CASE("allocations have the names of their variables", "[simt][memory]") {
    struct {
        float* values;
    } body[2];
    REQUIRE(cudaMalloc((void**)&body[1].values, 4000) == cudaSuccess);
    simt::Location where;
    REQUIRE(simt::locate(body[1].values + 10, &where));
    CHECK(std::string(where.name) == "body[1].values");
    CHECK(where.offset == 40);
    CHECK(where.size == 4000);
    CHECK(where.kind == simt::Location::Kind::device);
    REQUIRE(simt::locate(body[1].values + 1001, &where));  // behind its end
    CHECK(where.offset == 4004);
    float* gone = body[1].values;
    cudaFree(gone);
    REQUIRE(simt::locate(gone, &where));
    CHECK(where.kind == simt::Location::Kind::freed);
    float* cast = nullptr;
    REQUIRE(cudaMalloc(reinterpret_cast<void**>(&cast), 4) == cudaSuccess);
    REQUIRE(simt::locate(cast, &where));
    CHECK(std::string(where.name) == "cast");
    cudaFree(cast);
    int local = 0;
    CHECK_FALSE(simt::locate(&local, &where));
}

TEST_CASE("many small allocations", "[simt][memory]") {
    std::vector<char*> all(20000);
    for (char*& p : all) {
        REQUIRE(cudaMalloc(&p, 17) == cudaSuccess);
        p[16] = 3;
    }
    for (char* p : all) REQUIRE(cudaFree(p) == cudaSuccess);
}

TEST_CASE("directions that disagree with the addresses are refused", "[simt][memory]") {
    char *d = nullptr, *pinned = nullptr, host[64] = {};
    REQUIRE(cudaMalloc(&d, 64) == cudaSuccess);
    REQUIRE(cudaMallocHost(&pinned, 64) == cudaSuccess);
    CHECK(cudaMemcpy(host, host, 4, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    CHECK(cudaMemcpy(host, d, 4, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    CHECK(cudaMemcpy(d, host, 4, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
    CHECK(cudaMemcpy(d, host, 4, cudaMemcpyDeviceToDevice) == cudaErrorInvalidValue);
    CHECK(cudaMemcpy(d + 32, d, 4, cudaMemcpyHostToDevice) == cudaSuccess);  // as a device has it
    CHECK(cudaMemcpy(host, d, 65, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
    CHECK(cudaMemcpy(d + 60, host, 5, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    CHECK(cudaMemcpy(pinned, d, 64, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(cudaMemset(host, 0, 4) == cudaErrorInvalidValue);
    CHECK(cudaMemset(d, 0, 65) == cudaErrorInvalidValue);
    CHECK(cudaMemset(pinned, 5, 64) == cudaSuccess);
    CHECK(pinned[63] == 5);
    cudaFree(d);
    cudaFreeHost(pinned);
    cudaGetLastError();
}

TEST_CASE("handles that were destroyed are errors", "[simt][stream][event][graph]") {
    cudaStream_t stream;
    cudaEvent_t event;
    cudaGraph_t graph;
    REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
    REQUIRE(cudaEventCreate(&event) == cudaSuccess);
    REQUIRE(cudaGraphCreate(&graph, 0) == cudaSuccess);
    cudaStreamDestroy(stream);
    cudaEventDestroy(event);
    cudaGraphDestroy(graph);
    CHECK(cudaStreamDestroy(stream) == cudaErrorInvalidResourceHandle);
    CHECK(cudaStreamSynchronize(stream) == cudaErrorInvalidResourceHandle);
    CHECK(cudaEventRecord(event) == cudaErrorInvalidResourceHandle);
    CHECK(cudaEventDestroy(event) == cudaErrorInvalidResourceHandle);
    CHECK(cudaGraphDestroy(graph) == cudaErrorInvalidValue);
    cudaGraphExec_t exec;
    CHECK(cudaGraphInstantiate(&exec, graph, 0) == cudaErrorInvalidValue);
    cudaGetLastError();
}

TEST_CASE("a crash sticks in every host thread until the device is reset", "[simt][error]") {
    CHECK(in_child([] {
              void* p = nullptr;
              int bad = 0;
              bad += simt::fail(cudaErrorIllegalAddress) != cudaErrorIllegalAddress;
              bad += cudaGetLastError() != cudaErrorIllegalAddress;
              bad += cudaGetLastError() != cudaSuccess;  // read once; the next call records it again
              bad += cudaMalloc(&p, 4) != cudaErrorIllegalAddress;
              bad += cudaDeviceSynchronize() != cudaErrorIllegalAddress;
              bad += simt::fail(cudaErrorLaunchFailure) != cudaErrorLaunchFailure;
              bad += cudaDeviceSynchronize() != cudaErrorIllegalAddress;  // the first one is reported
              bad += cudaDeviceReset() != cudaSuccess;
              bad += cudaGetLastError() != cudaSuccess;
              bad += cudaMalloc(&p, 4) != cudaSuccess;
              return bad;
          }) == 0);
    CHECK_FALSE(simt::is_sticky(cudaErrorMemoryAllocation));
    CHECK_FALSE(simt::is_sticky(cudaErrorInvalidValue));
    CHECK(simt::is_sticky(cudaErrorAssert));
}

TEST_CASE("operations of one stream never overlap, whoever enqueues them", "[simt][stream]") {
    cudaStream_t stream;
    REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
    long counter = 0;  // not atomic: the stream has to keep it right
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
            for (int i = 0; i < 2000; ++i)
                cudaLaunchHostFunc(
                    stream, [](void* p) { ++*static_cast<long*>(p); }, &counter);
        });
    }
    for (auto& thread : threads) thread.join();
    CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
    CHECK(counter == 8000);
    cudaStreamDestroy(stream);
}
