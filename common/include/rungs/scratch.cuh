#pragma once
// Scratch memory for kernels whose blocks leave something for each other: partial sums, a ticket, flags.
// Works the same with nvcc and with the CPU backend; C++17, light enough for a rung.

#include <cuda_runtime.h>

#include <cstddef>

#include "rungs/cuda_check.cuh"
#include "rungs/host_lock.hpp"
#include "rungs/stream.cuh"

#ifdef RUNGS_SIMT
/// Is told of memory that has to be all zero whenever no kernel runs; a grader's worker defines it.
extern "C" void rungs_note_scratch(void* memory, std::size_t bytes) __attribute__((weak));
#endif

namespace rungs {
namespace detail {

/// Lets this thread allocate while a stream is captured, which all modes but the relaxed one forbid.
class RelaxedCapture {
  public:
    RelaxedCapture() { CUDA_CHECK(cudaThreadExchangeStreamCaptureMode(&mode_)); }
    RelaxedCapture(const RelaxedCapture&) = delete;
    RelaxedCapture& operator=(const RelaxedCapture&) = delete;
    ~RelaxedCapture() { cudaThreadExchangeStreamCaptureMode(&mode_); }

  private:
    cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;  // then the one before
};

/// New device memory, never freed; all zero once this returns if `zero`.
inline void* new_memory(std::size_t bytes, bool zero) {
    const RelaxedCapture relaxed;
    void *scratch = nullptr, *workspace = nullptr;  // messages of check mode show the name
    cudaError_t status = zero ? cudaMalloc(&scratch, bytes) : cudaMalloc(&workspace, bytes);
    void* const data = zero ? scratch : workspace;
    if (status == cudaSuccess && zero) {
        const Stream zeroing;  // a memset in the captured stream would become a node of the graph
        status = cudaMemsetAsync(data, 0, bytes, zeroing.get());
        if (status == cudaSuccess) status = cudaStreamSynchronize(zeroing.get());
    }
    CUDA_CHECK(status);
#ifdef RUNGS_SIMT
    if (zero && rungs_note_scratch != nullptr) rungs_note_scratch(data, bytes);
#endif
    return data;
}

/// The memory of one kind that each stream has.
class StreamMemory {
  public:
    explicit constexpr StreamMemory(bool zero) : zero_(zero) {}

    void* of(cudaStream_t stream, std::size_t bytes) {
        cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
        CUDA_CHECK(cudaStreamIsCapturing(stream, &capture));
        if (capture != cudaStreamCaptureStatusNone) return new_memory(bytes, zero_);

        unsigned long long id =
            0;  // a handle may be given to a new stream once its own is destroyed; an id is not
        CUDA_CHECK(cudaStreamGetId(stream, &id));

        const HostLock lock(mutex_);
        Memory* memory = newest_;
        while (memory && memory->stream != id) memory = memory->older;
        if (!memory) memory = newest_ = new Memory{id, nullptr, 0, newest_};
        if (memory->size < bytes) {
            std::size_t size = 64 * 1024;
            if (size < 2 * memory->size) size = 2 * memory->size;
            if (size < bytes) size = bytes;
            memory->data = new_memory(size, zero_);
            memory->size = size;
        }
        return memory->data;
    }

  private:
    /// Never freed, as what it points to. The streams that are in use are most often the newest.
    struct Memory {
        unsigned long long stream;
        void* data;
        std::size_t size;
        Memory* older;
    };

    bool zero_;
    HostMutex mutex_;
    Memory* newest_ = nullptr;
};

}  // namespace detail

/// Device memory of at least `bytes` that belongs to `stream`: every call for the same stream and device
/// gives the same memory. It is all zero at first, and **a kernel must leave it all zero again**; the next
/// kernel on the stream then finds it so without a memset, which would cost a launch.
///
/// Kernels on one stream run one after another, so they never meet in it; kernels on different streams have
/// different memory. A call that is being captured into a graph gets memory of its own, since graphs may be
/// replayed side by side; only two executables made from one graph share it, and must not run at the same
/// time. A kernel that stopped with an error takes the context along, scratch included.
///
/// The first call for a stream, and every captured one, allocates and waits for a memset; other calls look
/// the memory up, in well under a microsecond. Asking for more than before gives new memory, of twice the
/// size at least; the old stays allocated, as earlier kernels may still use it. Nothing is freed before the
/// process ends. Safe from several host threads; but what a thread queues on a stream by several operations
/// must not mix with what another one does: such calls on the same stream come one after the other.
/// @param stream any stream, the default streams included
/// @throws CudaError
inline void* stream_scratch(cudaStream_t stream, std::size_t bytes) {
    static detail::StreamMemory memory(true);
    return memory.of(stream, bytes);
}

/// As stream_scratch, but other memory, which holds anything at first and may hold anything afterwards: for
/// partial results that one kernel writes and the next one on the stream reads. @throws CudaError
inline void* stream_workspace(cudaStream_t stream, std::size_t bytes) {
    static detail::StreamMemory memory(false);
    return memory.of(stream, bytes);
}

}  // namespace rungs
