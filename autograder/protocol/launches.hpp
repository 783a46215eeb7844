#pragma once
// What a rung asks of the device, as far as the linker can lead it through the worker (ld's --wrap). On the
// CPU backend that is every launch, which can also be refused. On a GPU it is the ways in which a program
// usually launches a kernel, and those in which what lies on the device comes to the host.

#include <cstddef>
#include <cstdint>

#include "protocol/protocol.hpp"

namespace rungs::protocol {

/// simt::run_grid(const simt::Grid&), which every launch calls; workers are linked with --wrap of it.
#define RUNGS_RUN_GRID _ZN4simt8run_gridERKNS_4GridE

/// The same of a worker on a GPU.
inline constexpr const char* wrapped_on_cuda[] = {"__cudaLaunchKernel",  "cudaLaunchKernel",
                                                  "cudaLaunchKernelExC", "cudaLaunchCooperativeKernel",
                                                  "cudaGraphLaunch",     "cudaMemcpy",
                                                  "cudaMemcpyAsync",     "cudaMemcpy2D",
                                                  "cudaMemcpy2DAsync",   "cudaMemcpyFromSymbol",
                                                  "cudaMallocManaged",   "cudaMallocHost",
                                                  "cudaHostAlloc",       "cudaMemcpyFromSymbolAsync",
                                                  "cudaHostRegister"};

/// `known` is false where nobody counts.
struct Launches {
    bool known;
    std::uint64_t count;  ///< kernels since the process started; on a GPU a graph is one
    /// On a GPU: bytes that were copied to the host since watch_host(true), and all memory that host and
    /// device both see.
    std::uint64_t to_host;
};
Launches launches();

/// Writes the kinds of launches that are new since the last call to `kinds`, which has room for `most`; those
/// beyond are never told. Known on the CPU backend. @returns how many there are, told or not
std::size_t take_launch_kinds(LaunchKind* kinds, std::size_t most);

/// From now on no launch succeeds, or all do again.
void refuse_launches(bool refuse);

/// On a GPU: how a toolkit launches kernels is its own affair, so `launch`, which launches one, tells whether
/// launches come by here. It is not counted.
void learn_from(void (*launch)());

/// On a GPU: from now on copies to the host are counted, from 0, or no longer. That costs
/// a microsecond per copy.
void watch_host(bool watch);

}  // namespace rungs::protocol
