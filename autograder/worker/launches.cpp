#include "protocol/launches.hpp"

#include <cuda_runtime.h>

#include <atomic>

#ifdef RUNGS_SIMT

namespace {
std::atomic<std::uint64_t> launched{0};
std::atomic<bool> refused{false};
}  // namespace

// ld's --wrap: calls of run_grid arrive at __wrap_run_grid, and __real_run_grid is the function itself.
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
extern "C" cudaError_t JOIN(__real_, RUNGS_RUN_GRID)(const void* grid);
extern "C" cudaError_t JOIN(__wrap_, RUNGS_RUN_GRID)(const void* grid);
extern "C" cudaError_t JOIN(__wrap_, RUNGS_RUN_GRID)(const void* grid) {
    if (refused.load(std::memory_order_relaxed)) return cudaErrorLaunchOutOfResources;
    launched.fetch_add(1, std::memory_order_relaxed);
    return JOIN(__real_, RUNGS_RUN_GRID)(grid);
}

rungs::protocol::Launches rungs::protocol::launches() { return {true, launched.load()}; }
void rungs::protocol::refuse_launches(bool refuse) { refused = refuse; }

#else

rungs::protocol::Launches rungs::protocol::launches() { return {false, 0}; }
void rungs::protocol::refuse_launches(bool) {}

#endif
