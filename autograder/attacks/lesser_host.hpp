#pragma once
// What other hosts lack, this one can be made to lack: attacks have to be held there as well.

#include <string>

namespace rungs::attacks {

/// From here on the kernel refuses this process, and all that it starts, what takes a sandbox above `level`:
/// "S2" namespaces, "S1" Landlock as well, "S0" filters of system calls, too. A control group stays where
/// there is one. @throws std::runtime_error for another level
void become_lesser_host(const std::string& level);

}  // namespace rungs::attacks
