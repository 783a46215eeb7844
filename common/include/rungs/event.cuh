#pragma once
// An event with an owner. Member names follow cuda::timed_event of later toolkits (see stream.cuh).

#include <utility>

#include "rungs/cuda_check.cuh"

namespace rungs {

/// A point in a stream's queue that can be waited for and that notes the time; move-only.
class Event {
  public:
    /// @throws CudaError
    Event() { CUDA_CHECK(cudaEventCreate(&event_)); }
    Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
    Event& operator=(Event&& other) noexcept {
        Event taken(std::move(other));
        std::swap(event_, taken.event_);
        return *this;
    }
    ~Event() {
        if (event_) static_cast<void>(cudaEventDestroy(event_));
    }

    cudaEvent_t get() const { return event_; }

    /// Marks the present end of `stream`'s queue; a later record moves the mark. @throws CudaError
    void record(cudaStream_t stream = nullptr) { CUDA_CHECK(cudaEventRecord(event_, stream)); }

    /// Waits on the host until the mark is reached. @throws CudaError
    void sync() const { CUDA_CHECK(cudaEventSynchronize(event_)); }

    /// True when the mark has been reached, or was never set; never waits. @throws CudaError
    bool is_done() const {
        const cudaError_t status = cudaEventQuery(event_);
        if (status == cudaErrorNotReady) {
            static_cast<void>(cudaGetLastError());
            return false;
        }
        CUDA_CHECK(status);
        return true;
    }

  private:
    cudaEvent_t event_ = nullptr;
};

/// Milliseconds between two events that have been recorded; waits for `end`. The resolution on a GPU is about
/// half a microsecond: time many short kernels together. @throws CudaError
inline double elapsed_milliseconds(const Event& begin, const Event& end) {
    end.sync();
    float milliseconds = 0;
    CUDA_CHECK(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()));
    return static_cast<double>(milliseconds);
}

}  // namespace rungs
