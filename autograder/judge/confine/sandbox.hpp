#pragma once
// How a program that is not trusted is held:
//   S0  limits on memory, time and files, a user of its own where the judge is root, or not even these
//   S1  and no other processes, no signals or debugging towards others, and nothing that outlives it
//       (seccomp)
//   S2  and no file but the system's can be read, none can be changed, and there is no network
//       (Landlock as well; Linux 5.13 or later)
//   S3  and nothing else is there to be seen: files, processes, network and objects between processes are its
//       own (namespaces as well; Linux 5.12 or later, and the right to make them)
//   S4  and the memory and processes of all that it starts are bounded together (a control group as well)
// Compilers, linkers and what else reads a submission are held as well, as tools: they keep their user, start
// processes, and see the files that they are given beside the system's.
// What this host has of all this is found out by holding a process of our own like that, once. What was found
// is then insisted on: a process that cannot be held so is not started.

#include <cstddef>
#include <string>
#include <vector>

#include "judge/result/result.hpp"
#include "rungs/manifest.hpp"

namespace rungs::judge {

/// Bounds of one process; 0: none.
struct Limits {
    std::size_t address_space = 0;  ///< bytes
    /// Bytes in memory, for a program that has to reserve more addresses than it uses: its control group's,
    /// and looked at by the warden, a few times in a second.
    std::size_t resident = 0;
    std::size_t cpu_seconds = 0;
    std::size_t file_size = 0;  ///< bytes; see `no_files`
    /// Of its user, only where that user is its own, which needs root; or of its control group.
    std::size_t processes = 0;
    std::size_t open_files = 0;
    bool no_files = false;  ///< may not write to any file
};

/// How to hold one process.
struct Confinement {
    Limits limits;
    bool untrusted = false;  ///< own user, no new privileges, no signals to others
    // Both only together with `untrusted`:
    bool one_process = false;  ///< may start threads alone
    bool hide_files = false;   ///< from S2 on, where the host can
    bool gpu = false;          ///< and beside the system's files shows what NVIDIA's driver needs
    /// Instead of `untrusted`, for a program of the system's that reads what a student has written.
    bool tool = false;
    bool network = false;  ///< a tool that fetches what a student has published: it keeps the host's network
    const char* const* readable = nullptr;  ///< what it may read and run as well: absolute paths, then null
    const char* writable = nullptr;         ///< the folder in which a tool may do anything
    const char* hidden = nullptr;           ///< a folder of which a tool sees what is `readable` alone

    bool is_confined() const { return untrusted || tool; }
    bool is_closed() const { return tool || hide_files; }  ///< gets a world of its own, where the host can
};

/// What there is beside limits and Landlock to hold a process with.
struct Isolation {
    bool calls = false;       ///< a filter on system calls
    bool namespaces = false;  ///< of processes, objects between them, the network and mounts
    bool group = false;       ///< a control group with bounds on memory and processes
};

/// The step that failed, and its errno.
struct Failure {
    const char* step = nullptr;  ///< of this program's constants
    int error = 0;
    explicit operator bool() const { return error != 0; }
};

class CallFilter;

/// Confines the calling process, which is a fresh fork about to exec `program` (a descriptor, or -1).
/// Async-signal-safe.
/// @param number  no other process that runs now is held under it
Failure confine(const Confinement& how, const Isolation& isolation, CallFilter& filter, int program,
                unsigned number);

/// What this host lets a process be held with, as trying has shown, once for each user that this process has
/// been.
const Isolation& isolation_of_host();

/// What keeps a host from a stronger level.
struct MissingPart {
    std::string level;   ///< that needs it: "S3"
    std::string what;    ///< "no namespaces (a mount namespace: Operation not permitted)"
    std::string advice;  ///< what to do about it
};

/// What this host can promise of a submission on the CPU backend; asked before a class is graded.
struct HostLevel {
    int level = 0;  ///< 0 to 4
    std::vector<MissingPart> missing;
};

/// Found out once for each user that this process has been.
const HostLevel& host_level();

/// How workers of a backend are held on this machine.
SandboxLevel sandbox_level(Backend backend = Backend::cpu);

}  // namespace rungs::judge
