// The judge's GPU memory, with CUDA. The only file of the judge that calls it.
#include <cuda_runtime.h>

#include <algorithm>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "judge/device.hpp"
#include "rungs/roof.cuh"

namespace rungs::judge {
namespace {

void check(cudaError_t code, const char* what) {
    if (code == cudaSuccess) return;
    throw std::runtime_error(std::string("the judge's GPU: ") + what + ": " + cudaGetErrorName(code) + ": " +
                             cudaGetErrorString(code));
}

__global__ void fill_kernel(std::uint32_t* words, std::uint32_t word, std::size_t count) {
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
        words[i] = word;
    }
}

}  // namespace

std::string Device::missing() {
    int count = 0;
    const cudaError_t code = cudaGetDeviceCount(&count);
    if (code == cudaSuccess && count > 0) return "";
    cudaGetLastError();
    if (code == cudaErrorInsufficientDriver)
        return "there is no NVIDIA driver on this machine, or it is too old";
    if (code == cudaSuccess || code == cudaErrorNoDevice) return "the driver finds no device";
    return std::string(cudaGetErrorName(code)) + ": " + cudaGetErrorString(code);
}

Device::Device(std::size_t bytes) : bytes_(bytes) {
    const cudaError_t code = cudaMalloc(&memory_, bytes);
    if (code == cudaErrorMemoryAllocation) {
        cudaGetLastError();
        throw std::bad_alloc();
    }
    check(code, "allocating memory");
}

Device::~Device() { cudaFree(memory_); }

bool Device::share(unsigned char (&handle)[64]) const {
    cudaIpcMemHandle_t ipc;
    static_assert(sizeof ipc == sizeof handle);
    if (cudaIpcGetMemHandle(&ipc, memory_) != cudaSuccess) {
        cudaGetLastError();
        return false;
    }
    std::copy_n(reinterpret_cast<const unsigned char*>(&ipc), sizeof ipc, handle);
    return true;
}

void Device::upload(std::size_t offset, const void* from, std::size_t bytes) {
    check(cudaMemcpy(static_cast<char*>(memory_) + offset, from, bytes, cudaMemcpyHostToDevice), "uploading");
    check(cudaDeviceSynchronize(), "uploading");
}

void Device::fill(std::size_t offset, std::uint32_t word, std::size_t bytes) {
    auto* words = reinterpret_cast<std::uint32_t*>(static_cast<char*>(memory_) + offset);
    fill_kernel<<<512, 256>>>(words, word, bytes / sizeof word);
    check(cudaGetLastError(), "filling");
    check(cudaDeviceSynchronize(), "filling");
}

std::string Device::bus_id() {
    char text[32] = "";
    check(cudaDeviceGetPCIBusId(text, sizeof text, 0), "asking for its place");
    return text;
}

void Device::reset_persisting_cache() {
    // Older GPUs have none to reset.
    if (cudaCtxResetPersistingL2Cache() != cudaSuccess) cudaGetLastError();
}

void Device::take(std::size_t to, const Device& from, std::size_t offset, std::size_t bytes) {
    check(cudaMemcpyAsync(static_cast<char*>(memory_) + to, static_cast<const char*>(from.memory_) + offset,
                          bytes, cudaMemcpyDeviceToDevice),
          "copying");
}

void Device::wait() { check(cudaDeviceSynchronize(), "waiting"); }

void Device::download(std::size_t offset, void* to, std::size_t bytes) const {
    check(cudaMemcpy(to, static_cast<const char*>(memory_) + offset, bytes, cudaMemcpyDeviceToHost),
          "downloading");
}

double Device::copy_bandwidth() {
    const std::size_t half = bytes_ / 2 / 256 * 256;
    cudaEvent_t start = nullptr, stop = nullptr;
    check(cudaEventCreate(&start), "event");
    check(cudaEventCreate(&stop), "event");
    float best = 0;
    for (int round = 0; round < 12; ++round) {
        check(cudaEventRecord(start), "event");
        check(cudaMemcpyAsync(static_cast<char*>(memory_) + half, memory_, half, cudaMemcpyDeviceToDevice),
              "copy");
        check(cudaEventRecord(stop), "event");
        check(cudaEventSynchronize(stop), "event");
        float milliseconds = 0;
        check(cudaEventElapsedTime(&milliseconds, start, stop), "event");
        if (round >= 2 && (best == 0 || milliseconds < best)) best = milliseconds;
    }
    cudaEventDestroy(start);
    cudaEventDestroy(stop);
    return best > 0 ? 2.0 * static_cast<double>(half) / (1e-3 * static_cast<double>(best)) : 0;
}

double Device::fma_roof() { return rungs::fma_roof(); }

}  // namespace rungs::judge
