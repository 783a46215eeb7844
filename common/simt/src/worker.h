/// @file
/// What one OS thread needs to run blocks.
///
/// Control passes from lane to lane directly. A lane that blocks switches to the next one that can run in its
/// block; if none can but some have not started, a fresh fiber starts the next of these. Only when the block
/// can do nothing more by itself does control return to the thread's own stack, the *root*, which settles
/// what happened (a spin loop, a grid barrier, a deadlock) and chooses the next block.
#pragma once

#include <csignal>
#include <vector>

#include "block.h"
#include "launch_state.h"

namespace simt {

/// A fault caught in a lane, as the signal handler recorded it.
struct Fault {
    int signal = 0;
    int code = 0;
    const void* address = nullptr;
    const void* pc = nullptr;
    bool stack_overflow = false;
};

class Worker {
  public:
    ~Worker();

    /// Takes blocks of `launch` until none is left or it is cancelled.
    void run(Launch& launch);

    /// Goes on with the next lane of `block` that can run, `me` being suspended; returns when `me` runs
    /// again.
    void suspend(Block& block, Lane& me);
    /// Leaves the current fiber for good: its lanes have ended, or the launch is over.
    [[noreturn]] void leave_fiber();
    /// Leaves it for the root, which abandons the launch.
    [[noreturn]] void leave_to_root();
    /// Ends the current lane; see simt::advance_lane().
    bool advance();

    /// A block has its first blocked lane: fill in what the fast path did without.
    void materialise(Block& block);
    /// Lets the lanes waiting at `barrier` run.
    void release(Block& block, Barrier& barrier);

    Launch* launch() const { return launch_; }
    Context& root() { return root_; }
    const FiberPool& fibers() const { return fibers_; }
    Fault fault;

  private:
    friend void fiber_entry();

    Block* choose();
    Block* begin_new();
    void enter(Block& block);
    void activate(Block& block);
    void settle(Block& block);
    void remove(Block& block);
    bool take_block(std::uint64_t& number);
    void begin(Block& block, std::uint64_t number);
    void start_lane(Block& block);
    void retire_lane(Block& block);
    void suspend_slowly(Block& block, Lane& me);
    bool wait_for_grid();
    void watch_spin();
    void abandon();
    bool may_begin() const;

    Context root_;
    FiberPool fibers_;
    Fiber* fiber_ = nullptr;  ///< on which the current lane runs; nullptr: the root
    Launch* launch_ = nullptr;
    std::uint64_t next_ = 0, end_ = 0;  ///< blocks taken but not begun
    std::uint64_t begun_ = 0;
    std::uint64_t allowance_ = 0;  ///< blocks this worker may begin in a cooperative launch
    std::vector<Block*> residents_;
    std::vector<Block*> free_blocks_;
    std::size_t turn_ = 0;    ///< of residents_, whose turn it is to poll
    std::size_t polled_ = 0;  ///< blocks polled since the last new one
    std::uint64_t spin_events_ = 0;
    std::int64_t spin_since_ = 0;  ///< ns; 0: not spinning
    unsigned rotations_ = 0;
    const void* root_bottom_ = nullptr;
    std::size_t root_size_ = 0;
};

/// This thread's worker, once it has run a launch.
extern SIMT_THREAD_LOCAL Worker* this_worker;
Worker& get_worker();

/// Lets lanes waiting at __activemask() go, when nothing else in the block can run.
void resolve_active_masks(Block& block);
/// A lane of `warp` has exited: operations may now be complete.
void complete_after_exit(Block& block, Warp& warp);

/// The linear index of the current lane in its block.
inline unsigned current_index() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

}  // namespace simt
