/// @file
/// What a launch that went wrong says: for people, with file and line, and in one line for tools.
#pragma once

#include <string>
#include <vector>

#include "runtime/worker.h"

namespace simt {

/// `file.cu:31` for each code address (as return addresses, so the call before them), or the best that is
/// known. Runs addr2line where it is installed.
std::vector<std::string> locate(const std::vector<const void*>& return_addresses);
/// The kernel's name: as launched, or from the symbol table.
std::string kernel_name(const Grid& grid);

/// What there is to say of a launch that went wrong.
struct FailureReport {
    cudaError_t error;
    std::string people;
    std::string tools;  ///< the same in one line
    bool deadlock = false;
};
/// Keeps the report as the last one, and prints it or hands it to the listener.
void publish(const FailureReport& report);

/// The current lane gives up with `error`.
FailureReport lane_report(const Launch& launch, const Block& block, cudaError_t error,
                          const std::string& text, const void* site);
/// A lane caught a signal.
FailureReport fault_report(const Launch& launch, const Fault& fault, const Block& block);
/// No lane of `stuck` can ever run again.
FailureReport deadlock_report(const Launch& launch, const Block& stuck);
/// Lanes have only polled for longer than spin_limit_ns().
FailureReport livelock_report(const Launch& launch, const std::vector<Block*>& residents);
/// A launch is refused for its shape.
void report_refusal(const Grid& grid, cudaError_t error, check::Cause cause, const std::string& why);
/// A function of the API is refused with `cudaErrorNotSupported`, which records it.
cudaError_t report_unsupported(const char* function, const std::string& why);
/// A shuffle read a lane that took no part; `exited`: though its mask names it. Once a launch site.
void warn_stray_shuffle(const Launch& launch, bool exited, const void* site);
/// Device code was called by the host: says so and aborts.
[[noreturn]] void report_outside_lane(const char* what);

}  // namespace simt
