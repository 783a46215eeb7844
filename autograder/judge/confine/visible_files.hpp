#pragma once
// What a confined process sees of the file system: by Landlock, and where it has a mount namespace, because
// nothing else is there. Both are async-signal-safe.

#include "judge/confine/sandbox.hpp"

namespace rungs::judge {

/// The version of the kernel's Landlock; 0: none.
long landlock_version();

/// Leaves the system's programs and libraries, this process's own entry in /proc, `program` (a descriptor, or
/// -1), and what a tool is given. Unless they are to be hidden, all files stay open. Where the kernel can, no
/// signal and no local connection by name leaves the process either way.
Failure restrict_access(const Confinement& how, int program);

/// Gives the calling process a root of its own with the same in it, read-only but for a tool's folder. It
/// has to be in a PID namespace of its own, with the right to mount.
Failure change_root(const Confinement& how);

/// Whether `path` is `folder` or lies in it; both are absolute and without links.
bool is_below(const char* path, const char* folder);

}  // namespace rungs::judge
