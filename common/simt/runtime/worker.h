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

#include "runtime/block.h"
#include "runtime/launch_state.h"
#include "simt/inspect/kinds.h"

namespace simt {

struct FailureReport;

/// A fault caught in a lane, as the signal handler recorded it.
struct Fault {
    int signal = 0;
    int code = 0;
    const void* address = nullptr;
    const void* pc = nullptr;
    bool stack_overflow = false;
    bool called = false;  ///< the lane called what is no function
    /// Of a launch that took too long, of a stack overflow, and of a call that led nowhere: return addresses
    /// of the calls that it was in, innermost first.
    const void* callers[16] = {};
};

class Worker {
  public:
    ~Worker();

    /// Takes blocks of `launch` until none is left or it is cancelled.
    void run(Launch& launch);

    /// go_on() when no lane is ready: starts one, or hands over to the root.
    Transfer go_on_alone(Block& block, Lane& me);
    /// Gives every lane of the current block a record, the current one having blocked first.
    void materialise();
    /// Gives the current fiber up: what goes on instead.
    const Context* leave_fiber();
    /// Ends the current lane where it is, as if it had returned; the others go on.
    [[noreturn]] void stop_lane();
    /// Leaves it for the root, which abandons the launch.
    [[noreturn]] void leave_to_root();
    /// Ends the launch with the report's error, unless it has one; then says what went wrong.
    void fail(const FailureReport& report);
    /// Ends the current lane; see simt::advance_lane().
    const Context* advance();

    /// In check mode, in an order of its own, a launch is not one block after the other: two of its blocks
    /// stop where they have changed global memory by an atomic operation. They go on when a block waits, when
    /// none is left to begin, or when another overstays: has made so many atomic operations that it may be
    /// waiting in a way of its own.
    bool turn_ends();
    Transfer set_aside(const void* site);
    bool overstays();
    /// Lets the lanes waiting at `barrier` run.
    void release(Block& block, Barrier& barrier);

    Launch* launch() const { return launch_; }
    Context& root() { return root_; }
    const FiberPool& fibers() const { return fibers_; }
    const Fiber* first() const { return first_; }
    Fault fault;
    unsigned asked = 0;  ///< how often the watchdog's signal has found it in this launch
    // The root's stack, for sanitizers.
    const void* root_bottom = nullptr;
    std::size_t root_size = 0;
    void* root_tsan = nullptr;

  private:
    Block* choose();
    Block* begin_new();
    void enter(Block& block);
    void activate(Block& block);
    void settle(Block& block);
    void remove(Block& block);
    bool take_block(std::uint64_t& number);
    void begin(Block& block, std::uint64_t number);
    void start_lane(Block& block, Fiber* fiber);
    bool retire_lane(Block& block);
    bool wait_for_grid();
    void watch_spin();
    void abandon();
    bool may_begin() const;

    Context root_;
    const std::uint16_t* order_ = nullptr;  ///< of the lanes; nullptr: ascending
    FiberPool fibers_;
    Fiber* first_ = nullptr;  ///< on which lanes run that have no record yet
    Launch* launch_ = nullptr;
    std::uint64_t next_ = 0, end_ = 0;  ///< blocks taken but not begun
    std::uint64_t begun_ = 0;
    std::uint64_t allowance_ = 0;  ///< blocks this worker may begin in a cooperative launch
    std::vector<Block*> residents_;
    std::vector<Block*> free_blocks_;
    std::size_t turn_ = 0;    ///< of residents_, whose turn it is to poll
    std::size_t polled_ = 0;  ///< blocks polled since the last new one
    std::size_t looks_ = 1;   ///< that each gets before a new one begins
    std::uint64_t spin_events_ = 0;
    std::int64_t spin_since_ = 0;  ///< ns; 0: not spinning
    unsigned rotations_ = 0;
    std::uint64_t changes_left_ = 0;  ///< to global memory until a block stops; 0: none does
    unsigned operations_ = 0;         ///< atomic ones of blocks beside others
};

/// This thread's worker, once it has run a launch.
extern SIMT_THREAD_LOCAL Worker* this_worker;
Worker& get_worker();

/// Makes records for the lanes of the current block; reports device code that the host calls.
void make_lane_records();

/// The current lane's record.
SIMT_DEVICE Lane& current_lane() {
    if (__builtin_expect(execution.lane == nullptr, 0)) make_lane_records();
    return *execution.lane;
}

[[gnu::noinline, gnu::cold]] Transfer go_on_alone(Block& block, Lane& me);

/// Makes the lane current that runs next, `me`, the current one, having blocked.
SIMT_DEVICE Transfer go_on(Block& block, Lane& me) {
    LaneQueue& ready = *block.ready;
    if (__builtin_expect(ready.empty(), 0)) return go_on_alone(block, me);
    Lane* lane = ready.lanes[ready.head++];
    // The one who leaves makes the next lane current: the one who comes back has nothing to do.
    execution.leaving = &me.context;
    execution.lane = lane;
    threadIdx = lane->thread;
    return &lane->context;
}

/// As fail_lane(), with what check mode says about it.
[[noreturn]] void fail_lane(check::Cause cause, const char* text, const void* site);

/// The current lane lets others run; `site` is the call that made it do so.
Transfer arrive_at_yield(const void* site);
void yield_lane_at(const void* site);

/// switch_context() to the current lane, or to the root when there is none.
void switch_stack(Context& from, const Context& to);
[[noreturn]] void jump_stack(const Context& to);

}  // namespace simt
