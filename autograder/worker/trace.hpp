#pragma once
// What one warp of each kernel's first launch accesses, step by step, and what the other warps of its block
// do between the barriers: for pictures.

#ifdef SIMT_CHECK

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "simt/inspect/check.h"

namespace rungs::protocol {

class TraceRecorder : public simt::check::Observer {
  public:
    TraceRecorder(std::uint64_t block, unsigned warp);
    ~TraceRecorder() override { stop(); }
    void stop();

    /// For each kernel {"kernel": "...", "block": 0, "warp": 0, "cut": false, "steps": [{"file", "line",
    /// "array", "space", "access", "width", "phase", "base", "lanes": mask, "offsets": [32 of bytes from the
    /// array's start]}], "requests": [[of each phase] of each warp]}
    std::string json() const;

    void launch_begins(const char* kernel, dim3 grid, dim3 block) override;
    void launch_ends() override { now_ = nullptr; }
    void access(const simt::check::Event& event) override;
    void block_synchronised(std::uint64_t block) override;

  private:
    struct Step {
        simt::check::Event first;
        std::string array;
        unsigned phase = 0;
        std::uint32_t lanes = 0;
        std::array<std::int64_t, 32> offsets{};
    };

    /// The first launch of a kernel.
    struct Recording {
        std::string kernel;
        bool cut = false;
        unsigned phase = 0;
        std::vector<Step> steps;         ///< in the order in which they happened
        std::vector<std::size_t> order;  ///< of steps
        std::map<std::tuple<const void*, unsigned, unsigned>, std::size_t>
            known;  ///< by place, occurrence and phase
        std::map<std::pair<unsigned, const void*>, unsigned>
            occurrences;                     ///< of lanes of all warps, in a phase
        std::array<std::size_t, 32> last{};  ///< of each lane, one more than its last step's place in order
        std::map<unsigned, std::vector<std::size_t>> requests;  ///< of each warp, in each phase
    };
    std::string json(const Recording& of) const;

    unsigned warp_;
    bool watching_ = true;       ///< this observes
    std::deque<Recording> all_;  ///< of different kernels
    Recording* now_ = nullptr;   ///< of the launch that runs
};

}  // namespace rungs::protocol

#endif
