#include "protocol/launches.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <atomic>

#ifdef RUNGS_SIMT

#include <bit>
#include <cstring>
#include <mutex>
#include <set>
#include <vector>

extern "C" const char __executable_start[], etext[];  // the linker's

namespace {

std::atomic<std::uint64_t> launched{0};
std::atomic<bool> refused{false};

std::mutex kinds_mutex;
std::set<rungs::protocol::LaunchKind> kinds;
std::vector<rungs::protocol::LaunchKind> untold;  ///< of these, the ones that the judge has not heard of

/// 0 for what is no code of this program.
std::uint64_t distance_of(const void* code) {
    const auto address = reinterpret_cast<std::uintptr_t>(code);
    const auto begin = reinterpret_cast<std::uintptr_t>(__executable_start);
    return address > begin && address < reinterpret_cast<std::uintptr_t>(etext) ? address - begin : 0;
}

void note_kind(const simt::Grid& grid) {
    constexpr std::size_t most_words = 32;
    rungs::protocol::LaunchKind kind;
    kind.loop = distance_of(reinterpret_cast<const void*>(grid.loop));
    kind.kernel = distance_of(grid.function);
    // If a kernel is a variable, its address is one of the arguments.
    const std::size_t words = std::min(most_words, grid.closure_bytes / sizeof(void*));
    auto* next = std::begin(kind.pointers);
    for (std::size_t i = 0; i < words && next != std::end(kind.pointers); ++i) {
        const void* word = nullptr;
        std::memcpy(&word, static_cast<const char*>(grid.closure) + i * sizeof word, sizeof word);
        if (const std::uint64_t distance = distance_of(word)) *next++ = distance;
    }
    kind.block[0] = grid.block.x, kind.block[1] = grid.block.y, kind.block[2] = grid.block.z;
    kind.shared_bits = static_cast<std::uint32_t>(std::bit_width(grid.dynamic_shared));
    const std::lock_guard<std::mutex> lock(kinds_mutex);
    if (kinds.insert(kind).second) untold.push_back(kind);
}

}  // namespace

// ld's --wrap: calls of run_grid arrive at __wrap_run_grid, and __real_run_grid is the function itself.
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
extern "C" cudaError_t JOIN(__real_, RUNGS_RUN_GRID)(const void* grid);
extern "C" cudaError_t JOIN(__wrap_, RUNGS_RUN_GRID)(const void* grid);
extern "C" cudaError_t JOIN(__wrap_, RUNGS_RUN_GRID)(const void* grid) {
    if (refused.load(std::memory_order_relaxed)) return cudaErrorLaunchOutOfResources;
    launched.fetch_add(1, std::memory_order_relaxed);
    note_kind(*static_cast<const simt::Grid*>(grid));
    return JOIN(__real_, RUNGS_RUN_GRID)(grid);
}

std::size_t rungs::protocol::take_launch_kinds(LaunchKind* to, std::size_t most) {
    const std::lock_guard<std::mutex> lock(kinds_mutex);
    const std::size_t count = untold.size();
    std::copy_n(untold.begin(), std::min(most, count), to);
    untold.clear();
    return count;
}

rungs::protocol::Launches rungs::protocol::launches() { return {true, launched.load(), 0}; }
void rungs::protocol::refuse_launches(bool refuse) { refused = refuse; }
void rungs::protocol::learn_from(void (*)()) {}
void rungs::protocol::watch_host(bool) {}

#else

namespace {

std::atomic<std::uint64_t> launched{0}, copied{0}, seen_by_both{0};
std::atomic<bool> known{false}, expected{false}, watched{false};

void note_launch() {
    if (expected.load(std::memory_order_relaxed))
        known = true;
    else
        launched.fetch_add(1, std::memory_order_relaxed);
}

/// The destination of a copy decides, not what its author calls it.
void note_copy(const void* to, std::size_t bytes, std::size_t rows = 1) {
    if (!watched.load(std::memory_order_relaxed)) return;
    cudaPointerAttributes of{};
    if (cudaPointerGetAttributes(&of, to) != cudaSuccess || of.type != cudaMemoryTypeDevice)
        copied.fetch_add(rows * bytes, std::memory_order_relaxed);
}

void note_memory(std::size_t bytes) { seen_by_both.fetch_add(bytes, std::memory_order_relaxed); }

}  // namespace

// A call of `name` arrives at __wrap_name, which notes it and goes on to __real_name, the function itself.
#define WRAP(name, parameters, note, arguments)       \
    extern "C" cudaError_t __real_##name parameters;  \
    extern "C" cudaError_t __wrap_##name parameters;  \
    extern "C" cudaError_t __wrap_##name parameters { \
        note;                                         \
        return __real_##name arguments;               \
    }

#define LAUNCH(name, kernel)                                                                               \
    WRAP(name, (kernel what, dim3 grid, dim3 block, void** with, std::size_t shared, cudaStream_t stream), \
         note_launch(), (what, grid, block, with, shared, stream))
#if CUDART_VERSION >= 13000
LAUNCH(__cudaLaunchKernel, cudaKernel_t)
#endif
LAUNCH(cudaLaunchKernel, const void*)
LAUNCH(cudaLaunchCooperativeKernel, const void*)
WRAP(cudaLaunchKernelExC, (const cudaLaunchConfig_t* how, const void* what, void** with), note_launch(),
     (how, what, with))
WRAP(cudaGraphLaunch, (cudaGraphExec_t graph, cudaStream_t stream), note_launch(), (graph, stream))

WRAP(cudaMemcpy, (void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind), note_copy(to, bytes),
     (to, from, bytes, kind))
WRAP(cudaMemcpyAsync,
     (void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream),
     note_copy(to, bytes), (to, from, bytes, kind, stream))
WRAP(cudaMemcpy2D,
     (void* to, std::size_t to_pitch, const void* from, std::size_t pitch, std::size_t width,
      std::size_t height, cudaMemcpyKind kind),
     note_copy(to, width, height), (to, to_pitch, from, pitch, width, height, kind))
WRAP(cudaMemcpy2DAsync,
     (void* to, std::size_t to_pitch, const void* from, std::size_t pitch, std::size_t width,
      std::size_t height, cudaMemcpyKind kind, cudaStream_t stream),
     note_copy(to, width, height), (to, to_pitch, from, pitch, width, height, kind, stream))
WRAP(cudaMemcpyFromSymbol,
     (void* to, const void* from, std::size_t bytes, std::size_t offset, cudaMemcpyKind kind),
     note_copy(to, bytes), (to, from, bytes, offset, kind))
WRAP(cudaMemcpyFromSymbolAsync,
     (void* to, const void* from, std::size_t bytes, std::size_t offset, cudaMemcpyKind kind,
      cudaStream_t stream),
     note_copy(to, bytes), (to, from, bytes, offset, kind, stream))

WRAP(cudaMallocManaged, (void** memory, std::size_t bytes, unsigned flags), note_memory(bytes),
     (memory, bytes, flags))
WRAP(cudaMallocHost, (void** memory, std::size_t bytes), note_memory(bytes), (memory, bytes))
WRAP(cudaHostAlloc, (void** memory, std::size_t bytes, unsigned flags), note_memory(bytes),
     (memory, bytes, flags))
WRAP(cudaHostRegister, (void* memory, std::size_t bytes, unsigned flags), note_memory(bytes),
     (memory, bytes, flags))

rungs::protocol::Launches rungs::protocol::launches() {
    return {known.load(), launched.load(), copied.load() + seen_by_both.load()};
}
std::size_t rungs::protocol::take_launch_kinds(LaunchKind*, std::size_t) { return 0; }
void rungs::protocol::refuse_launches(bool) {}
void rungs::protocol::learn_from(void (*launch)()) {
    expected = true;
    launch();
    expected = false;
}
void rungs::protocol::watch_host(bool watch) {
    if (watch) copied = 0;
    watched = watch;
}

#endif
