/// @file
/// The seam between launches and streams: everything a stream executes is an Operation.
///
/// The model is eager: an operation runs, to its end, inside the call that enqueues it. That is one of the
/// orders CUDA allows, so a correct program cannot tell; a program that forgets a synchronisation gets away
/// with it here. Operations of one stream never overlap, whichever host threads enqueue them, and the legacy
/// default stream excludes all blocking streams, as CUDA's does. While a stream is captured, operations
/// become graph nodes.
#pragma once

#include "simt/structures.h"

namespace simt {

/// A callable without arguments that returns a `cudaError_t`; copies share it. Lighter to compile than
/// std::function, and this header is part of every translated file.
class Action {
  public:
    Action() = default;
    template <class F, class = decltype(static_cast<cudaError_t>((*static_cast<F*>(nullptr))()))>
    Action(F f) : body_(new Body<F>(static_cast<F&&>(f))) {}
    Action(const Action& other) : body_(other.body_) {
        if (body_) __atomic_add_fetch(&body_->owners, 1, __ATOMIC_RELAXED);
    }
    Action(Action&& other) noexcept : body_(other.body_) { other.body_ = nullptr; }
    Action& operator=(Action other) noexcept {
        Base* mine = body_;
        body_ = other.body_;
        other.body_ = mine;
        return *this;
    }
    ~Action() {
        if (body_ && __atomic_sub_fetch(&body_->owners, 1, __ATOMIC_ACQ_REL) == 0) delete body_;
    }
    explicit operator bool() const { return body_ != nullptr; }
    cudaError_t operator()() const { return body_->call(); }

  private:
    struct Base {
        virtual ~Base() = default;
        virtual cudaError_t call() = 0;
        long owners = 1;
    };
    template <class F>
    struct Body final : Base {
        explicit Body(F&& f) : function(static_cast<F&&>(f)) {}
        cudaError_t call() override { return function(); }
        F function;
    };
    Base* body_ = nullptr;
};

/// One piece of work of a stream or of a graph.
struct Operation {
    enum class Kind : unsigned char {
        kernel,
        memcpy,
        memset,
        host,
        event_record,
        event_wait,
        allocate,
        free,
        child_graph,
        conditional,
        empty
    };
    Kind kind;
    /// For messages, a string that lives as long as the program: the kernel's name, "cudaMemcpyAsync" ...
    const char* name;
    /// Does the work and waits for it. Called once for a stream, any number of times for a graph.
    Action run;
    /// Of a kernel: extent and dynamic shared memory, for cudaGraphKernelNodeGetParams().
    dim3 grid = dim3(), block = dim3();
    size_t shared_bytes = 0;
};

/// Runs `operation` in `stream` (0: the default stream) now, or adds it to the graph that `stream` is
/// captured into. Returns what it returned, `cudaErrorInvalidResourceHandle` for a stream that does not
/// exist, or an error of the capture. Does not record the last error: the API function that enqueues
/// does, with fail().
cudaError_t enqueue(cudaStream_t stream, Operation operation);

}  // namespace simt
