#pragma once
// How a process that uses the GPU is held. NVIDIA's driver needs its device files, a name to listen under,
// and to write to /proc; which of that it insists on is nowhere promised, so it is tried.

#include <string>

namespace rungs::judge {

struct Command;

/// Why a process that sees no files but the system's and the driver's cannot use the GPU here, as trying has
/// shown, once for each process; empty where it can, and where there is no GPU.
const std::string& why_gpu_stays_open();

/// Gives `command`, of a worker, what CUDA needs, and no more than that.
void let_use_gpu(Command& command);

}  // namespace rungs::judge
