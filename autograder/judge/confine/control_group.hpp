#pragma once
// Bounds on the memory and the processes of all that a program starts together: a control group (cgroup v2).

#include <string>

#include "judge/confine/process.hpp"

namespace rungs::judge {

/// Where this process may make groups that bound memory and processes.
struct GroupFolder {
    std::string path;     ///< empty: nowhere
    std::string why_not;  ///< "no control groups of version 2 are mounted"
    std::string advice;   ///< what to do about it
};

/// Found out once for each user that a process has been; groups that a judge which is gone has left there are
/// removed.
const GroupFolder& group_folder();

/// A group for one program. Whoever ends the program removes its folder.
struct ControlGroup {
    std::string folder;    ///< empty: none
    Descriptor processes;  ///< writing "0" to it moves the writer into the group

    ControlGroup() = default;
    /// @throws std::system_error
    explicit ControlGroup(const Limits& limits);
};

/// Ends all that is in a group, however fast it starts more. Async-signal-safe.
void kill_group(const char* folder);

}  // namespace rungs::judge
