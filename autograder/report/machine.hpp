#pragma once
// What a number was measured on: named beside every result.

#include <string>

namespace rungs {

/// The GPU, as its driver describes it.
struct Gpu {
    bool present = false;
    std::string name;                         ///< "NVIDIA H200"
    std::string driver;                       ///< CUDA version that the driver supports: "13.0"
    std::string capability;                   ///< "9.0"
    std::string uuid;                         ///< 32 hexadecimal digits; of a MIG instance its own
    int clock_mhz = 0, memory_clock_mhz = 0;  ///< the highest
    bool ecc = false;                         ///< its memory corrects errors
    double memory = 0;                        ///< bytes
    int count = 0;
    std::string why_not;  ///< where not present: "no NVIDIA driver on this machine"
};

struct Machine {
    std::string system;     ///< "Debian GNU/Linux 12 (bookworm)"
    std::string kernel;     ///< "6.1.0-18-amd64"
    std::string processor;  ///< "AMD EPYC 9654"
    int cores = 0;          ///< that this process may use
    double memory = 0;      ///< bytes
    bool wsl = false;
    Gpu gpu;
};

/// Asks the driver in a child process, so that a driver that hangs or crashes takes at most `seconds`
/// and nothing else.
Gpu find_gpu(double seconds = 20);

/// This machine. @param with_gpu  also asks find_gpu()
Machine this_machine(bool with_gpu = true);

}  // namespace rungs
