/// @file
/// What the time model needs to know of a program, gathered while it runs in check mode. Part of
/// `simt_check`; see simt/inspect/model.h.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "simt/inspect/check.h"
#include "simt/inspect/counters.h"
#include "simt/inspect/model.h"

namespace simt::model {

/// Watches what launches read and write while it lives: which sectors a block asks for again, which are still
/// in L2, which word most atomics meet at, how many loads wait for each other. Let it live beside a Counting.
class Traffic {
  public:
    /// `l2_bytes`: as Machine has it.
    explicit Traffic(double l2_bytes = 40e6);
    ~Traffic();
    Traffic(const Traffic&) = delete;
    Traffic& operator=(const Traffic&) = delete;

    struct Launch {
        std::uint64_t block_sectors = 0, dram_read_sectors = 0, dram_write_sectors = 0;
        std::uint64_t atomics = 0, atomics_same = 0;
        double load_rounds = 0, shared_rounds = 0, sync_rounds = 0;  ///< means over blocks
        double l2_rounds = 0, dram_rounds = 0;  ///< of load_rounds: those that go to L2, and to memory
    };
    /// One entry a launch, in order.
    const std::vector<Launch>& launches() const;
    void clear();  ///< forgets launches, and what is in L2

  private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Brings together what `counting` and `traffic` saw of the same launches.
/// @throws std::logic_error where they saw different numbers of them
CallProfile profile(check::Counting& counting, const Traffic& traffic);

}  // namespace simt::model
