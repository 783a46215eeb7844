#pragma once
// What one warp of the first launch accesses, step by step, and what the other warps of its block do between
// the barriers: for pictures.

#ifdef SIMT_CHECK

#include <array>
#include <cstdint>
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

    /// {"kernel": "...", "block": 0, "warp": 0, "cut": false, "steps": [{"file", "line", "array", "space",
    /// "access", "width", "phase", "base", "lanes": mask, "offsets": [32 of bytes from the array's start]}],
    /// "requests": [[of each phase] of each warp]}
    std::string json() const;

    void launch_begins(const char* kernel, dim3 grid, dim3 block) override;
    void launch_ends() override { running_ = false; }
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

    std::uint64_t block_;
    unsigned warp_;
    bool watching_ = true;  ///< this observes
    bool running_ = false;  ///< the first launch
    bool over_ = false;     ///< it has ended
    bool cut_ = false;
    std::string kernel_;
    unsigned phase_ = 0;
    std::vector<Step> steps_;         ///< in the order in which they happened
    std::vector<std::size_t> order_;  ///< of steps_
    std::map<std::tuple<const void*, unsigned, unsigned>, std::size_t>
        known_;                                                         ///< by place, occurrence and phase
    std::map<std::pair<unsigned, const void*>, unsigned> occurrences_;  ///< of lanes of all warps, in a phase
    std::array<std::size_t, 32> last_{};  ///< of each lane, one more than its last step's place in order_
    std::map<unsigned, std::vector<std::size_t>> requests_;  ///< of each warp, in each phase
};

}  // namespace rungs::protocol

#endif
