#include "judge/clock/gpu_clock.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace rungs::judge {
namespace {

// Declared as NVML documents them: a machine without a toolkit has no header. Each returns 0 for success.
using Start = int (*)();
using Find = int (*)(const char* bus_id, void** device);

constexpr int of_multiprocessors = 1;

/// Bits of the reasons. That it has nothing to do, or was told its rate, is none of being slowed.
constexpr std::pair<unsigned long long, const char*> reasons[] = {
    {0x4, "power"},        {0x8, "hardware"},          {0x20, "temperature"},
    {0x40, "temperature"}, {0x80, "the power supply"},
};

template <class Function>
Function find(void* library, const char* name) {
    return reinterpret_cast<Function>(dlsym(library, name));
}

}  // namespace

GpuClock::GpuClock(const std::string& bus_id) : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW)) {
    if (!library_) return;
    const auto start = find<Start>(library_, "nvmlInit_v2");
    const auto by_bus = find<Find>(library_, "nvmlDeviceGetHandleByPciBusId_v2");
    rate_ = find<decltype(rate_)>(library_, "nvmlDeviceGetClockInfo");
    // Its newer name has the same bits.
    reasons_ = find<decltype(reasons_)>(library_, "nvmlDeviceGetCurrentClocksThrottleReasons");
    if (start && by_bus && start() == 0 && by_bus(bus_id.c_str(), &device_) == 0) return;
    device_ = nullptr;
}

GpuClock::~GpuClock() {
    if (!library_) return;
    if (const auto end = find<Start>(library_, "nvmlShutdown")) end();
    dlclose(library_);
}

void GpuClock::look(Conditions& seen) const {
    double load = 0;
    if (getloadavg(&load, 1) == 1) seen.load = std::max(seen.load, load);
    if (!device_) return;
    if (unsigned mhz = 0; rate_ && rate_(device_, of_multiprocessors, &mhz) == 0) {
        const int now = static_cast<int>(mhz);
        seen.least_mhz = seen.least_mhz == 0 ? now : std::min(seen.least_mhz, now);
        seen.most_mhz = std::max(seen.most_mhz, now);
    }
    if (unsigned long long bits = 0; reasons_ && reasons_(device_, &bits) == 0) {
        for (const auto& [bit, name] : reasons) {
            if ((bits & bit) != 0 &&
                std::find(seen.slowed_by.begin(), seen.slowed_by.end(), name) == seen.slowed_by.end())
                seen.slowed_by.emplace_back(name);
        }
    }
}

}  // namespace rungs::judge
