#pragma once
// How a program that is not trusted is held:
//   S0  limits on memory, time and files, a user of its own where the judge is root, or not even these
//   S1  and no other processes, no signals or debugging towards others, and nothing that outlives it
//       (seccomp)
//   S2  and no file but the system's can be read, none can be changed, and there is no network
//       (Landlock as well; Linux 5.13 or later; not for CUDA, whose driver needs more than that)
// Compilers, linkers and what else reads a submission are held as well, as tools: they keep their user, start
// processes, and see the files that they are given beside the system's.
// What they do not do: process numbers, memory and disk groups of its own. A stronger level replaces
// `confine` and nothing else.

#include <cstddef>

#include "judge/result.hpp"

namespace rungs::judge {

/// Bounds of one process; 0: none.
struct Limits {
    std::size_t address_space = 0;  ///< bytes
    /// Bytes in memory, for a program that has to reserve more addresses than it uses; looked at by the
    /// warden, a few times in a second.
    std::size_t resident = 0;
    std::size_t cpu_seconds = 0;
    std::size_t file_size = 0;  ///< bytes; see `no_files`
    std::size_t processes = 0;  ///< of its user; only where that user is its own, which needs root
    std::size_t open_files = 0;
    bool no_files = false;  ///< may not write to any file
};

/// How to hold one process.
struct Confinement {
    Limits limits;
    bool untrusted = false;  ///< own user, no new privileges, no signals to others
    // Both only together with `untrusted`:
    bool one_process = false;  ///< may start threads alone
    bool hide_files = false;   ///< S2, where the kernel can
    /// Instead of `untrusted`, for a program of the system's that reads what a student has written.
    bool tool = false;
    const char* const* readable = nullptr;  ///< what a tool may read and run: absolute paths, then null
    const char* writable = nullptr;         ///< the folder in which it may do anything
};

/// Confines the calling process, which is a fresh fork about to exec `program` (a descriptor, or -1).
/// Async-signal-safe. @returns 0, or the errno of what failed.
int confine(const Confinement& how, int program);

}  // namespace rungs::judge
