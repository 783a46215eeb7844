// The judge's GPU memory, with CUDA. The only file of the judge that calls it.
#include <cuda_runtime.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <future>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "judge/clock/device.hpp"
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

constexpr std::size_t chunk_bytes = 4U << 20;

/// A way between host and device through memory that is pinned: two buffers, so that the host copies into or
/// out of one while the device is busy with the other. Of memory that is not pinned, one thread of the driver
/// copies every byte.
class Lane {
  public:
    Lane() {
        check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "stream");
        for (Buffer& buffer : buffers_) {
            check(cudaMallocHost(&buffer.memory, chunk_bytes), "pinning memory");
            check(cudaEventCreateWithFlags(&buffer.done, cudaEventDisableTiming), "event");
        }
    }

    /// Turns to the other buffer, once that is free.
    void next_buffer() {
        current_ = 1 - current_;
        settle(buffers_[current_]);
    }
    void* buffer() { return buffers_[current_].memory; }
    void begin(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
        check(cudaMemcpyAsync(to, from, bytes, kind, stream_), "copying");
        check(cudaEventRecord(buffers_[current_].done, stream_), "event");
    }
    /// When the device has filled the buffer, its content goes there.
    void then_copy_to(void* host, std::size_t bytes) {
        buffers_[current_].host = host;
        buffers_[current_].bytes = bytes;
    }
    void finish() {
        next_buffer();
        next_buffer();
    }
    /// After an error: nothing of it is carried further.
    void forget() {
        for (Buffer& buffer : buffers_) buffer.host = nullptr;
    }

  private:
    struct Buffer {
        void* memory = nullptr;
        cudaEvent_t done = nullptr;
        void* host = nullptr;
        std::size_t bytes = 0;
    };

    void settle(Buffer& buffer) {
        check(cudaEventSynchronize(buffer.done), "copying");
        if (buffer.host) std::memcpy(buffer.host, buffer.memory, buffer.bytes);
        buffer.host = nullptr;
    }

    cudaStream_t stream_ = nullptr;
    Buffer buffers_[2];
    int current_ = 0;
};

template <class Byte>
struct Chunk {
    std::byte* device;
    Byte* host;
    std::size_t bytes;
};

template <class Byte>
std::vector<Chunk<Byte>> in_chunks(const std::vector<Device::Piece<Byte>>& pieces, std::byte* memory) {
    std::vector<Chunk<Byte>> chunks;
    for (const auto& piece : pieces) {
        for (std::size_t at = 0; at < piece.bytes; at += chunk_bytes) {
            chunks.push_back(
                {memory + piece.offset + at, piece.host + at, std::min(chunk_bytes, piece.bytes - at)});
        }
    }
    return chunks;
}

/// As many as keep the bus busy. Made once, while there is memory for them, and used by one who copies at a
/// time: `lock`.
std::deque<Lane>& all_lanes(std::unique_lock<std::mutex>& lock) {
    static std::mutex mutex;
    static std::deque<Lane> lanes;
    lock = std::unique_lock(mutex);
    const unsigned wanted = std::clamp(std::thread::hardware_concurrency() / 2, 1U, 4U);
    while (lanes.size() < wanted) lanes.emplace_back();
    return lanes;
}

/// Carries all chunks; returns when the device has finished.
template <class Byte, class Begin>
void carry(const std::vector<Chunk<Byte>>& chunks, Begin begin) {
    std::unique_lock<std::mutex> lock;
    std::deque<Lane>& lanes = all_lanes(lock);
    std::atomic<std::size_t> next{0};
    std::vector<std::future<void>> parts;
    for (Lane& lane : lanes) {
        parts.push_back(std::async(std::launch::async, [&] {
            try {
                for (std::size_t i = next++; i < chunks.size(); i = next++) begin(lane, chunks[i]);
                lane.finish();
            } catch (...) {
                lane.forget();
                throw;
            }
        }));
    }
    for (auto& part : parts) part.wait();
    for (auto& part : parts) part.get();
    check(cudaDeviceSynchronize(), "copying");
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

void Device::upload(const std::vector<Piece<const std::byte>>& pieces) {
    carry(in_chunks(pieces, static_cast<std::byte*>(memory_)), [](Lane& lane, const auto& chunk) {
        lane.next_buffer();
        std::memcpy(lane.buffer(), chunk.host, chunk.bytes);
        lane.begin(chunk.device, lane.buffer(), chunk.bytes, cudaMemcpyHostToDevice);
    });
}

void Device::download(const std::vector<Piece<std::byte>>& pieces) const {
    carry(in_chunks(pieces, static_cast<std::byte*>(memory_)), [](Lane& lane, const auto& chunk) {
        lane.next_buffer();
        lane.begin(lane.buffer(), chunk.device, chunk.bytes, cudaMemcpyDeviceToHost);
        lane.then_copy_to(chunk.host, chunk.bytes);
    });
}

void Device::fill(std::size_t offset, std::uint32_t word, std::size_t bytes) {
    auto* words = reinterpret_cast<std::uint32_t*>(static_cast<char*>(memory_) + offset);
    fill_kernel<<<512, 256>>>(words, word, bytes / sizeof word);
    check(cudaGetLastError(), "filling");
    check(cudaDeviceSynchronize(), "filling");
}

double Device::free_part() {
    std::size_t free = 0, all = 1;
    check(cudaMemGetInfo(&free, &all), "asking for free memory");
    return static_cast<double>(free) / static_cast<double>(all);
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
