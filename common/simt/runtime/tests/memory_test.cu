// Device, pinned and managed memory, copies and fills, and the errors they give. Holds on a device too.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "testing/catch.h"

__device__ float device_variable[4];

namespace {

/// A thread adds up eight halves, which come with one load.
__global__ void add_eight(const __half* in, float* out) {
    const uint4 loaded = reinterpret_cast<const uint4*>(in)[threadIdx.x];
    const auto* pairs = reinterpret_cast<const __half2*>(&loaded);
    float sum = 0;
    for (int k = 0; k < 4; ++k) sum += __low2float(pairs[k]) + __high2float(pairs[k]);
    out[threadIdx.x] = sum;
}

/// The same words as int4 on their way into shared memory, and as halves out of it.
__global__ void turn_round(const __half* in, __half* out) {
    __shared__ __align__(16) __half tile[8 * 32];
    reinterpret_cast<int4*>(tile)[threadIdx.x] = reinterpret_cast<const int4*>(in)[threadIdx.x];
    __syncthreads();
    for (int k = 0; k < 8; ++k) out[8 * threadIdx.x + k] = tile[8 * 32 - 1 - (8 * threadIdx.x + k)];
}

}  // namespace

TEST_CASE("what is stored as one type is read as another, as nvcc compiles it", "[simt][memory]") {
    constexpr int threads = 32, count = 8 * threads;
    __half* data = nullptr;
    REQUIRE(cudaMallocManaged(&data, 2 * count * sizeof(__half)) == cudaSuccess);
    float* sums = nullptr;
    REQUIRE(cudaMallocManaged(&sums, threads * sizeof(float)) == cudaSuccess);
    for (int i = 0; i < count; ++i) data[i] = __float2half(static_cast<float>(i));
    add_eight<<<1, threads>>>(data, sums);
    turn_round<<<1, threads>>>(data, data + count);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    for (int i = 0; i < threads; ++i) CHECK(sums[i] == static_cast<float>(64 * i + 28));
    for (int i = 0; i < count; ++i) CHECK(__half2float(data[count + i]) == static_cast<float>(count - 1 - i));
    cudaFree(data);
    cudaFree(sums);
}

TEST_CASE("cudaMalloc: sizes and alignment", "[simt][memory]") {
    void* p = reinterpret_cast<void*>(1);
    CHECK(cudaMalloc(&p, 0) == cudaSuccess);
    CHECK(p == nullptr);
    for (std::size_t size : {1u, 255u, 256u, 257u, 4095u, 4096u, 4097u, 1u << 20}) {
        CAPTURE(size);
        REQUIRE(cudaMalloc(&p, size) == cudaSuccess);
        CHECK(reinterpret_cast<std::uintptr_t>(p) % 256 == 0);
        CHECK(cudaMemset(p, 7, size) == cudaSuccess);
        CHECK(cudaFree(p) == cudaSuccess);
    }
    CHECK(cudaMalloc(static_cast<void**>(nullptr), 4) == cudaErrorInvalidValue);
    cudaGetLastError();
}

TEST_CASE("cudaMalloc: too much is an error that does not stick", "[simt][memory]") {
    std::size_t free = 0, total = 0;
    REQUIRE(cudaMemGetInfo(&free, &total) == cudaSuccess);
    CHECK(free <= total);
    void* p = nullptr;
    CHECK(cudaMalloc(&p, total + 1) == cudaErrorMemoryAllocation);
    CHECK(cudaMalloc(&p, SIZE_MAX) == cudaErrorMemoryAllocation);
    CHECK(cudaMalloc(&p, SIZE_MAX - 300) == cudaErrorMemoryAllocation);
    CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
    CHECK(cudaMalloc(&p, 16) == cudaSuccess);
    CHECK(cudaFree(p) == cudaSuccess);
    CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("cudaFree: null, twice, and what it did not give", "[simt][memory]") {
    CHECK(cudaFree(nullptr) == cudaSuccess);
    char* p = nullptr;
    REQUIRE(cudaMalloc(&p, 1000) == cudaSuccess);
    CHECK(cudaFree(p + 4) == cudaErrorInvalidValue);
    CHECK(cudaFree(p) == cudaSuccess);
    CHECK(cudaFree(p) == cudaErrorInvalidValue);
    int host = 0;
    CHECK(cudaFree(&host) == cudaErrorInvalidValue);
    CHECK(cudaFreeHost(&host) == cudaErrorInvalidValue);
    CHECK(cudaFreeHost(nullptr) == cudaSuccess);
    cudaGetLastError();
}

TEST_CASE("cudaMemcpy: round trips of many sizes", "[simt][memory]") {
    for (std::size_t size : {1u, 3u, 255u, 256u, 257u, 4099u, 1000003u}) {
        CAPTURE(size);
        std::vector<unsigned char> in(size), out(size, 0);
        for (std::size_t i = 0; i < size; ++i) in[i] = static_cast<unsigned char>(i * 31 + 7);
        void *a = nullptr, *b = nullptr;
        REQUIRE(cudaMalloc(&a, size) == cudaSuccess);
        REQUIRE(cudaMalloc(&b, size) == cudaSuccess);
        CHECK(cudaMemcpy(a, in.data(), size, cudaMemcpyHostToDevice) == cudaSuccess);
        CHECK(cudaMemcpy(b, a, size, cudaMemcpyDeviceToDevice) == cudaSuccess);
        CHECK(cudaMemcpy(out.data(), b, size, cudaMemcpyDefault) == cudaSuccess);
        CHECK(in == out);
        cudaFree(a);
        cudaFree(b);
    }
}

TEST_CASE("cudaMemcpy: direction and range are checked", "[simt][memory]") {
    char *d = nullptr, host[64] = {};
    REQUIRE(cudaMalloc(&d, 64) == cudaSuccess);
    CHECK(cudaMemcpy(d, host, 64, static_cast<cudaMemcpyKind>(9)) == cudaErrorInvalidMemcpyDirection);
    CHECK(cudaMemcpy(nullptr, host, 64, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    CHECK(cudaMemcpy(d, nullptr, 64, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    CHECK(cudaMemcpy(d, host, std::size_t{1} << 40, cudaMemcpyDeviceToDevice) == cudaErrorInvalidValue);
    CHECK(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice) == cudaSuccess);
    CHECK(cudaMemcpy(d, host, 0, cudaMemcpyHostToDevice) == cudaSuccess);
    CHECK(cudaMemset(host, 0, 0) == cudaSuccess);
    cudaFree(d);
    cudaGetLastError();
}

TEST_CASE("cudaMemcpy2D respects both pitches", "[simt][memory]") {
    const std::size_t width = 10, height = 5;
    void* d = nullptr;
    std::size_t pitch = 0;
    REQUIRE(cudaMallocPitch(&d, &pitch, width, height) == cudaSuccess);
    CHECK(pitch >= width);
    CHECK(pitch % 512 == 0);
    std::vector<char> in(12 * height), out(16 * height, 'x');
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<char>('a' + i % 26);
    CHECK(cudaMemcpy2D(d, pitch, in.data(), 12, width, height, cudaMemcpyHostToDevice) == cudaSuccess);
    CHECK(cudaMemcpy2D(out.data(), 16, d, pitch, width, height, cudaMemcpyDeviceToHost) == cudaSuccess);
    for (std::size_t y = 0; y < height; ++y) {
        CHECK(std::memcmp(&in[12 * y], &out[16 * y], width) == 0);
        CHECK(out[16 * y + width] == 'x');
    }
    CHECK(cudaMemcpy2D(d, pitch, in.data(), 9, width, height, cudaMemcpyHostToDevice) ==
          cudaErrorInvalidPitchValue);
    CHECK(cudaMemset2D(d, pitch, 'z', width, height) == cudaSuccess);
    CHECK(cudaMemcpy2D(out.data(), 16, d, pitch, width, height, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(out[16 * (height - 1) + width - 1] == 'z');
    cudaFree(d);
    cudaGetLastError();
}

TEST_CASE("cudaMemcpy3D copies a box", "[simt][memory]") {
    const cudaExtent extent = make_cudaExtent(6 * sizeof(float), 4, 3);
    cudaPitchedPtr d{};
    REQUIRE(cudaMalloc3D(&d, extent) == cudaSuccess);
    CHECK(d.xsize == extent.width);
    CHECK(d.ysize == extent.height);
    std::vector<float> in(6 * 4 * 3), out(2 * 2 * 2, -1);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i);
    cudaMemcpy3DParms p{};
    p.srcPtr = make_cudaPitchedPtr(in.data(), 6 * sizeof(float), 6 * sizeof(float), 4);
    p.dstPtr = d;
    p.extent = extent;
    p.kind = cudaMemcpyHostToDevice;
    REQUIRE(cudaMemcpy3D(&p) == cudaSuccess);
    cudaMemcpy3DParms q{};
    q.srcPtr = d;
    q.srcPos = make_cudaPos(3 * sizeof(float), 1, 1);
    q.dstPtr = make_cudaPitchedPtr(out.data(), 2 * sizeof(float), 2 * sizeof(float), 2);
    q.extent = make_cudaExtent(2 * sizeof(float), 2, 2);
    q.kind = cudaMemcpyDeviceToHost;
    REQUIRE(cudaMemcpy3D(&q) == cudaSuccess);
    for (int z = 0; z < 2; ++z)
        for (int y = 0; y < 2; ++y)
            for (int x = 0; x < 2; ++x)
                CHECK(out[static_cast<std::size_t>(4 * z + 2 * y + x)] ==
                      static_cast<float>(24 * (z + 1) + 6 * (y + 1) + x + 3));
    cudaFree(d.ptr);
}

TEST_CASE("pinned memory", "[simt][memory]") {
    int* p = nullptr;
    REQUIRE(cudaMallocHost(&p, 100 * sizeof(int)) == cudaSuccess);
    p[99] = 5;
    int* d = nullptr;
    CHECK(cudaHostGetDevicePointer(&d, p, 0) == cudaSuccess);
    CHECK(d == p);
    cudaPointerAttributes attributes{};
    CHECK(cudaPointerGetAttributes(&attributes, p) == cudaSuccess);
    CHECK(attributes.type == cudaMemoryTypeHost);
    CHECK(attributes.devicePointer == p);
    CHECK(cudaFree(p) == cudaErrorInvalidValue);
    CHECK(cudaFreeHost(p) == cudaSuccess);
    CHECK(cudaFreeHost(p) == cudaErrorInvalidValue);
    std::vector<char> mine(8192);
    CHECK(cudaHostRegister(mine.data(), mine.size(), cudaHostRegisterDefault) == cudaSuccess);
    CHECK(cudaHostRegister(mine.data(), mine.size(), cudaHostRegisterDefault) ==
          cudaErrorHostMemoryAlreadyRegistered);
    CHECK(cudaHostUnregister(mine.data()) == cudaSuccess);
    CHECK(cudaHostUnregister(mine.data()) == cudaErrorHostMemoryNotRegistered);
    CHECK(cudaHostAlloc(&p, 4, 64) == cudaErrorInvalidValue);
    cudaGetLastError();
}

TEST_CASE("managed memory and what addresses are", "[simt][memory]") {
    float* m = nullptr;
    REQUIRE(cudaMallocManaged(&m, 64 * sizeof(float)) == cudaSuccess);
    m[3] = 2.5f;
    float* d = nullptr;
    REQUIRE(cudaMalloc(&d, 64 * sizeof(float)) == cudaSuccess);
    CHECK(cudaMemcpy(d, m, 64 * sizeof(float), cudaMemcpyHostToDevice) == cudaSuccess);
    float back = 0;
    CHECK(cudaMemcpy(&back, d + 3, sizeof back, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(back == 2.5f);
    cudaPointerAttributes attributes{};
    CHECK(cudaPointerGetAttributes(&attributes, m) == cudaSuccess);
    CHECK(attributes.type == cudaMemoryTypeManaged);
    CHECK(cudaPointerGetAttributes(&attributes, d + 5) == cudaSuccess);
    CHECK(attributes.type == cudaMemoryTypeDevice);
    CHECK(attributes.device == 0);
    int host = 0;
    CHECK(cudaPointerGetAttributes(&attributes, &host) == cudaSuccess);
    CHECK(attributes.type == cudaMemoryTypeUnregistered);
    cudaFree(m);
    CHECK(cudaMallocManaged(&m, 0) == cudaSuccess);
    CHECK(cudaMallocManaged(&m, 4, 77) == cudaErrorInvalidValue);
    cudaFree(d);
    cudaGetLastError();
}

TEST_CASE("stream-ordered allocation and pools", "[simt][memory][pool]") {
    cudaStream_t stream;
    REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
    int* p = nullptr;
    REQUIRE(cudaMallocAsync(&p, 1000, stream) == cudaSuccess);
    CHECK(cudaMemsetAsync(p, 0, 1000, stream) == cudaSuccess);
    CHECK(cudaFreeAsync(p, stream) == cudaSuccess);
    CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
    cudaMemPool_t pool;
    REQUIRE(cudaDeviceGetDefaultMemPool(&pool, 0) == cudaSuccess);
    unsigned long long threshold = 12345, read = 0;
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold) == cudaSuccess);
    CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &read) == cudaSuccess);
    CHECK(read == threshold);
    threshold = 0;
    cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold);
    CHECK(cudaDeviceGetDefaultMemPool(&pool, 7) == cudaErrorInvalidDevice);
    cudaStreamDestroy(stream);
    cudaGetLastError();
}

TEST_CASE("host threads allocate and copy at once", "[simt][memory]") {
    std::vector<std::thread> threads;
    std::vector<int> wrong(8, 0);
    for (int t = 0; t < 8; ++t) {
        threads.emplace_back([t, &wrong] {
            for (int round = 0; round < 30; ++round) {
                std::vector<int> in(1000, t * 1000 + round), out(1000);
                int* d = nullptr;
                if (cudaMalloc(&d, 4000) != cudaSuccess) ++wrong[static_cast<std::size_t>(t)];
                cudaMemcpy(d, in.data(), 4000, cudaMemcpyHostToDevice);
                cudaMemcpy(out.data(), d, 4000, cudaMemcpyDeviceToHost);
                if (in != out || cudaFree(d) != cudaSuccess) ++wrong[static_cast<std::size_t>(t)];
            }
        });
    }
    for (auto& thread : threads) thread.join();
    CHECK(wrong == std::vector<int>(8, 0));
}

TEST_CASE("a created pool, a fill in three dimensions, flags of pinned memory", "[simt][memory]") {
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    cudaMemPool_t pool;
    REQUIRE(cudaMemPoolCreate(&pool, &properties) == cudaSuccess);
    int* p = nullptr;
    CHECK(cudaMallocFromPoolAsync(&p, 4000, pool, nullptr) == cudaSuccess);
    unsigned long long used = 0;
    CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used) == cudaSuccess);
    CHECK(used >= 4000);
    CHECK(cudaFreeAsync(p, nullptr) == cudaSuccess);
    CHECK(cudaStreamSynchronize(nullptr) == cudaSuccess);
    CHECK(cudaMemPoolDestroy(pool) == cudaSuccess);

    cudaPitchedPtr box{};
    REQUIRE(cudaMalloc3D(&box, make_cudaExtent(16, 3, 2)) == cudaSuccess);
    CHECK(cudaMemset3D(box, 9, make_cudaExtent(16, 3, 2)) == cudaSuccess);
    char last = 0;
    CHECK(cudaMemcpy(&last, static_cast<char*>(box.ptr) + box.pitch * 5 + 15, 1, cudaMemcpyDeviceToHost) ==
          cudaSuccess);
    CHECK(last == 9);
    cudaFree(box.ptr);

    void* pinned = nullptr;
    REQUIRE(cudaHostAlloc(&pinned, 64, cudaHostAllocPortable) == cudaSuccess);
    unsigned flags = 0;
    CHECK(cudaHostGetFlags(&flags, pinned) == cudaSuccess);
    CHECK((flags & cudaHostAllocPortable) != 0);
    cudaFreeHost(pinned);
}
