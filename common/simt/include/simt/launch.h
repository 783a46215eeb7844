/// @file
/// Launching kernels. The translator turns `k<<<grid, block, shared, stream>>>(a, b)` into
///
///     ::simt::kernel("k", [=](auto&&... p) { k(p...); })[::simt::cfg(grid, block, shared, stream)](a, b)
///
/// which evaluates the arguments once, copies them, and runs the kernel's body once per lane. If the name can
/// only mean one function, `k` follows the lambda and `.run` the configuration: then arguments are converted
/// to the kernel's parameters, and errors are reported, at the launch itself.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "simt/error.h"
#include "simt/lane.h"
#include "simt/stream.h"
#include "simt/switch.h"

namespace simt {

/// Everything the scheduler needs to know of a launch.
struct Grid {
    const char* name = nullptr;  ///< as written in the source; nullptr: ask the symbol table about `function`
    const void* function = nullptr;  ///< the kernel's address, when it is known
    dim3 grid, block;
    std::size_t dynamic_shared = 0;  ///< bytes
    bool cooperative = false;        ///< all blocks are resident: grid.sync() works
    void (*loop)() = nullptr;        ///< lane_loop() of the body
    const void* closure = nullptr;   ///< the body
    std::size_t closure_bytes = 0;
};

/// The error that launching `grid` has to give by its shape alone, or `cudaSuccess`.
cudaError_t check_grid(const Grid& grid);
/// Runs `grid` on all cores and returns when it has ended: with `cudaSuccess`, or the error of the lane that
/// failed first (see simt/inspect/control.h for the report).
cudaError_t run_grid(const Grid& grid);
/// Check mode's: one lane. A function of its own: lane_loop() is not instrumented, the kernel is.
template <class Body>
[[gnu::noinline]] void run_lane(const Body& body) {
    body();
    __asm__ __volatile__("" ::: "memory");
}

#if defined(SIMT_CHECK)
/// The checks see nothing of a function: neither its accesses nor its basic blocks.
#if defined(__clang__)
#define SIMT_UNSEEN __attribute__((disable_sanitizer_instrumentation, no_sanitize("coverage")))
#elif __has_attribute(no_sanitize_coverage)
#define SIMT_UNSEEN __attribute__((no_sanitize("thread"), no_sanitize_coverage))
#else
#define SIMT_UNSEEN __attribute__((no_sanitize("thread")))
#endif

template <class Body>
SIMT_UNSEEN void lane_loop() {
    const Context* next = nullptr;
    try {
#if defined(__clang__)
        const Body body = *static_cast<const Body*>(execution.closure);
#else
        // By bytes: a copy constructor's accesses would be seen.
        alignas(Body) unsigned char bytes[sizeof(Body)];
        __builtin_memcpy(bytes, execution.closure, sizeof bytes);
        const Body& body = *reinterpret_cast<const Body*>(bytes);
#endif
        do run_lane(body);
        while (!(next = next_lane()));
    } catch (...) {
        note_exception();
    }
    if (!next) fail_with_exception();
    leave_for(next);
}
#else
/// A fiber's life: runs lanes one after the other, until another fiber is to go on. The closure is a local
/// copy, which lets compilers keep the kernel's arguments in registers.
template <class Body>
void lane_loop() {
#if defined(SIMT_SANITIZED)
    notice_new_stack();
#endif
    const Context* next;
    try {
        const Body body = *static_cast<const Body*>(execution.closure);
        for (;;) {
            body();
            execution.spins = 0;
            if (__builtin_expect(execution.fast && ++threadIdx.x < blockDim.x, 1)) continue;
            next = advance_lane();
            if (next) break;
        }
    } catch (...) {
        note_exception();
        next = nullptr;
    }
    if (!next) fail_with_exception();
    leave_for(next);
}
#endif

/// One of a kernel's arguments.
template <std::size_t I, class T, bool = std::is_trivially_destructible<T>::value>
struct Argument {
    T value;
    SIMT_DEVICE const T& get() const { return value; }
};
/// What has a destructor reaches a device as bytes, and is never destroyed there: what it owns is the host's.
template <std::size_t I, class T>
struct Argument<I, T, false> {
    Argument(const T& value) { __builtin_memcpy(bytes, &value, sizeof bytes); }
    alignas(T) unsigned char bytes[sizeof(T)];
    SIMT_DEVICE const T& get() const { return *reinterpret_cast<const T*>(bytes); }
};
/// What a function gets by its address, because it has a destructor (Itanium C++ ABI, 3.1.2.3).
template <class T>
constexpr bool by_address = !std::is_reference<T>::value && !std::is_trivially_destructible<T>::value;
/// A lane's own copy of an argument, made of bytes as a device makes it.
template <class T, bool = by_address<T>>
struct LaneCopy {
    using Passed = void*;
    SIMT_DEVICE explicit LaneCopy(const T& value) { __builtin_memcpy(bytes, &value, sizeof bytes); }
    SIMT_DEVICE void* pass() { return bytes; }
    alignas(T) unsigned char bytes[sizeof(T)];
};
template <class T>
struct LaneCopy<T, false> {
    using Passed = T;
    SIMT_DEVICE explicit LaneCopy(const T& own) : value(own) {}
    SIMT_DEVICE T pass() const { return value; }
    T value;
};
/// A kernel that neither copies nor destroys its parameters: no constructor and no destructor
/// runs on a device.
template <class... P>
struct BytewiseKernel {
    void (*function)(P...);
    SIMT_DEVICE void operator()(const P&... arguments) const {
        // The optimiser shall not see that this is another type than the function's.
        auto* address = reinterpret_cast<void*>(function);
        __asm__("" : "+r"(address));
        reinterpret_cast<void (*)(typename LaneCopy<P>::Passed...)>(address)(
            LaneCopy<P>(arguments).pass()...);
    }
};

/// What an argument is made of: no copy that dies before the launch.
template <class T, class P>
using Given = std::conditional_t<std::is_trivially_destructible<T>::value, T, P&&>;

/// What a launch keeps for a parameter: of a reference, where it leads.
template <class P>
using Kept = std::conditional_t<std::is_reference<P>::value, P, std::decay_t<P>>;

/// A kernel with its arguments. Every launch is one, and compiles in half the time that std::tuple takes.
template <class F, class Indices, class... A>
struct Body;
template <class F, std::size_t... I, class... A>
struct Body<F, std::index_sequence<I...>, A...> : Argument<I, A>... {
    F f;
    SIMT_DEVICE void operator()() const { f(static_cast<const Argument<I, A>&>(*this).get()...); }
};

/// `f` with copies of `arguments`, as `A...`.
template <class... A, class F, class... P>
auto bind(F f, P&&... arguments) {
    return Body<F, std::index_sequence_for<A...>, A...>{{static_cast<Given<A, P>>(arguments)}..., f};
}

struct LaunchConfiguration {
    dim3 grid, block;
    std::size_t dynamic_shared = 0;
    cudaStream_t stream = nullptr;
};

/// The launch parameters as written between `<<<` and `>>>`.
inline LaunchConfiguration cfg(dim3 grid, dim3 block, std::size_t dynamic_shared = 0,
                               cudaStream_t stream = nullptr) {
    return {grid, block, dynamic_shared, stream};
}

/// `<<<grid, block, stream>>>`, reported at its line.
template <class Object>
__attribute__((
    error("the third place between <<< and >>> is for bytes of shared memory; the stream has the "
          "fourth: <<<grid, block, 0, stream>>>"))) LaunchConfiguration
cfg(dim3 grid, dim3 block, Object* stream);

/// Checks the shape, then hands `run` to the stream, which calls it now or records it into a graph.
cudaError_t launch_action(const Grid& grid, cudaStream_t stream, Action run);
/// The same for a kernel whose closure can be copied as bytes.
cudaError_t launch_copy(const Grid& grid, std::size_t alignment, cudaStream_t stream);

/// Kernels are launched in many variants: what does not depend on a kernel's type is compiled
/// once, in the runtime.
template <class B>
cudaError_t launch(Grid& grid, cudaStream_t stream, const B& body) {
    grid.loop = lane_loop<B>;
    grid.closure = &body;
    grid.closure_bytes = sizeof(B);
    if constexpr (std::is_trivially_copyable_v<B>) {
        return launch_copy(grid, alignof(B), stream);
    } else {
        return launch_action(grid, stream, [grid, body]() mutable {
            grid.closure = &body;
            return run_grid(grid);
        });
    }
}

template <class F>
struct BoundKernel {
    const char* name;
    F f;
    LaunchConfiguration configuration;

    template <class... A>
    void operator()(A&&... arguments) const {
        if (false) f(std::decay_t<A>(arguments)...);  // complains in fewer lines than what follows
        Grid grid;
        grid.name = name;
        grid.grid = configuration.grid;
        grid.block = configuration.block;
        grid.dynamic_shared = configuration.dynamic_shared;
        if constexpr ((std::is_trivially_destructible_v<std::decay_t<A>> && ...)) {
            launch(grid, configuration.stream, bind<std::decay_t<A>...>(f, std::forward<A>(arguments)...));
        } else {  // the copies of a call
            [&](std::decay_t<A>... copies) {
                launch(grid, configuration.stream, bind<std::decay_t<A>...>(f, copies...));
            }(std::forward<A>(arguments)...);
        }
    }
};

template <class F>
struct Kernel {
    const char* name;
    F f;
    BoundKernel<F> operator[](const LaunchConfiguration& configuration) const {
        return {name, f, configuration};
    }
};

template <class F>
Kernel<F> kernel(const char* name, F f) {
    return {name, f};
}

/// A kernel whose parameters are known: arguments are converted to them at the launch itself, as
/// in a call.
template <class F, class... P>
struct TypedBoundKernel {
    const char* name;
    F f;
    void (*function)(P...);
    LaunchConfiguration configuration;

    void run(P... arguments) const {
        Grid grid;
        grid.name = name;
        grid.function = reinterpret_cast<const void*>(function);
        grid.grid = configuration.grid;
        grid.block = configuration.block;
        grid.dynamic_shared = configuration.dynamic_shared;
        if constexpr ((by_address<P> || ...))
            launch(grid, configuration.stream,
                   bind<Kept<P>...>(BytewiseKernel<P...>{function}, std::forward<P>(arguments)...));
        else
            launch(grid, configuration.stream, bind<Kept<P>...>(f, std::forward<P>(arguments)...));
    }
};

template <class F, class... P>
struct TypedKernel {
    const char* name;
    F f;
    void (*function)(P...);
    TypedBoundKernel<F, P...> operator[](const LaunchConfiguration& configuration) const {
        return {name, f, function, configuration};
    }
};

/// For the name of a kernel that is neither a template nor overloaded.
template <class F, class... P>
TypedKernel<F, P...> kernel(const char* name, F f, void (*function)(P...)) {
    return {name, f, function};
}

/// The body of cudaLaunchKernel() and its relatives.
template <class... P, std::size_t... I>
cudaError_t launch_pointer(void (*function)(P...), const LaunchConfiguration& c, bool cooperative,
                           void** arguments, std::index_sequence<I...>) {
    if (!function) return fail(cudaErrorInvalidDeviceFunction);
    if (sizeof...(P) > 0 && !arguments) return fail(cudaErrorInvalidValue);
    Grid grid;
    grid.function = reinterpret_cast<const void*>(function);
    grid.grid = c.grid;
    grid.block = c.block;
    grid.dynamic_shared = c.dynamic_shared;
    grid.cooperative = cooperative;
    return launch(
        grid, c.stream,
        bind<std::remove_cv_t<P>...>(function, *static_cast<std::remove_cv_t<P>*>(arguments[I])...));
}
}  // namespace simt

/// Launches `function`; `arguments[i]` points at the i-th argument.
template <class... P>
cudaError_t cudaLaunchKernel(void (*function)(P...), dim3 grid, dim3 block, void** arguments,
                             std::size_t dynamic_shared = 0, cudaStream_t stream = nullptr) {
    return simt::launch_pointer(function, {grid, block, dynamic_shared, stream}, false, arguments,
                                std::index_sequence_for<P...>{});
}

/// As cudaLaunchKernel(), with all blocks resident, so that cooperative_groups::this_grid().sync() works.
/// More blocks than the virtual device holds give cudaErrorCooperativeLaunchTooLarge.
template <class... P>
cudaError_t cudaLaunchCooperativeKernel(void (*function)(P...), dim3 grid, dim3 block, void** arguments,
                                        std::size_t dynamic_shared = 0, cudaStream_t stream = nullptr) {
    return simt::launch_pointer(function, {grid, block, dynamic_shared, stream}, true, arguments,
                                std::index_sequence_for<P...>{});
}
