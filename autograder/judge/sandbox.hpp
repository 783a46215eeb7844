#pragma once
// How a program that is not trusted is held. One implementation now, S1: limits on memory, time, processes
// and files, a user of its own where the judge is root, and no signals or debugging towards others. What it
// does not do: hide files, close the network, give it its own process numbers. A stronger level replaces
// `confine` and nothing else.

#include <cstddef>

#include "result.hpp"

namespace rungs::judge {

/// Bounds of one process; 0: none.
struct Limits {
    std::size_t address_space = 0;  ///< bytes
    std::size_t cpu_seconds = 0;
    std::size_t file_size = 0;  ///< bytes; see `no_files`
    std::size_t processes = 0;  ///< of its user; has no effect on root
    std::size_t open_files = 0;
    bool no_files = false;  ///< may not write to any file
};

/// How to hold one process.
struct Confinement {
    Limits limits;
    bool untrusted = false;  ///< own user, no new privileges, no signals to others
};

/// Confines the calling process, which is a fresh fork about to exec. Async-signal-safe.
/// @returns 0, or the errno of what failed.
int confine(const Confinement& how);

/// The level that `confine` gives here.
SandboxLevel sandbox_level();

}  // namespace rungs::judge
