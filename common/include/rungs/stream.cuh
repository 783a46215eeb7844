#pragma once
// A stream with an owner. Member names follow cuda::stream, which toolkits after 13.0 bring in <cuda/stream>:
// where a chapter can require such a toolkit, that type can take this one's place. It is not switched here by
// __has_include, since a program's meaning should not depend on the toolkit it happens to find.

#include <utility>

#include "rungs/cuda_check.cuh"
#include "rungs/event.cuh"

namespace rungs {

/// An owned stream; move-only. It does not wait for the default stream, nor the default stream for it.
class Stream {
  public:
    /// @throws CudaError
    Stream() { CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
    Stream(Stream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
    Stream& operator=(Stream&& other) noexcept {
        Stream taken(std::move(other));
        std::swap(stream_, taken.stream_);
        return *this;
    }
    /// Work that was queued still runs to its end.
    ~Stream() {
        if (stream_) static_cast<void>(cudaStreamDestroy(stream_));
    }

    /// The handle for launches and CUDA calls; null (the default stream) after a move.
    cudaStream_t get() const { return stream_; }

    /// Waits on the host until everything queued so far is done. @throws CudaError, also for failed kernels.
    void sync() const { CUDA_CHECK(cudaStreamSynchronize(stream_)); }

    /// Makes later work on this stream wait for `event`, without stopping the host. @throws CudaError
    void wait(const Event& event) const { CUDA_CHECK(cudaStreamWaitEvent(stream_, event.get(), 0)); }

    /// Makes later work on this stream wait for all that is queued on `other` now. @throws CudaError
    void wait(const Stream& other) const {
        Event now;
        now.record(other.get());
        wait(now);  // CUDA keeps what the wait needs: the event may be destroyed before it happened
    }

    /// True when everything queued so far is done; never waits. @throws CudaError
    bool is_done() const {
        const cudaError_t status = cudaStreamQuery(stream_);
        if (status == cudaErrorNotReady) {
            static_cast<void>(cudaGetLastError());  // "not ready" must not stay behind as the last error
            return false;
        }
        CUDA_CHECK(status);
        return true;
    }

  private:
    cudaStream_t stream_ = nullptr;
};

}  // namespace rungs
