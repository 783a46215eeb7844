#pragma once
// At which clock rate a GPU runs while something is timed on it, and what holds that back.

#include <string>
#include <vector>

namespace rungs::judge {

/// What was seen while a rung was timed.
struct Conditions {
    int least_mhz = 0, most_mhz = 0;     ///< of the multiprocessors; 0: nobody tells
    std::vector<std::string> slowed_by;  ///< in NVML's order, each once: "temperature"
    double load = 0;                     ///< of the host, the average of the last minute
};

/// Looks at the first GPU, by NVIDIA's management library where the driver brings it (NVML API reference,
/// "Device Queries").
class GpuClock {
  public:
    /// @param bus_id  of the GPU, as cudaDeviceGetPCIBusId() says it
    explicit GpuClock(const std::string& bus_id);
    ~GpuClock();
    GpuClock(const GpuClock&) = delete;
    GpuClock& operator=(const GpuClock&) = delete;

    /// Notes what holds now. It takes some 0.1 ms, so nothing is timed meanwhile.
    void look(Conditions& seen) const;

  private:
    void* library_ = nullptr;  ///< null: there is none
    void* device_ = nullptr;   ///< null: nothing is noted of the GPU
    int (*rate_)(void* device, int clock, unsigned* mhz) = nullptr;
    int (*reasons_)(void* device, unsigned long long* bits) = nullptr;
};

}  // namespace rungs::judge
