#include "worker.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <memory>

#include "crash.h"
#include "report.h"
#include "simt/control.h"

#if defined(__SANITIZE_ADDRESS__)
#define SIMT_ASAN 1
#endif

SIMT_THREAD_LOCAL uint3 threadIdx = {};
SIMT_THREAD_LOCAL uint3 blockIdx = {};
SIMT_THREAD_LOCAL dim3 blockDim = {};
SIMT_THREAD_LOCAL dim3 gridDim = {};

namespace simt {

SIMT_THREAD_LOCAL Execution execution = {};
SIMT_THREAD_LOCAL Worker* this_worker = nullptr;

Worker& get_worker() {
    if (!this_worker) {
        // Owned by the thread: freed when it ends.
        static thread_local std::unique_ptr<Worker> owner;
        owner = std::make_unique<Worker>();
        this_worker = owner.get();
    }
    return *this_worker;
}

namespace {

std::int64_t now_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

uint3 unflatten(unsigned index) {
    if (blockDim.y == 1 && blockDim.z == 1) return uint3{index, 0, 0};
    const unsigned row = index / blockDim.x;
    return uint3{index - row * blockDim.x, row % blockDim.y, row / blockDim.y};
}

// Every change of stacks goes through these two: sanitizers have to be told.
inline __attribute__((always_inline)) void switch_stack(Context& from, const Context& to, const Fiber* target,
                                                        const void* root_bottom, std::size_t root_size) {
#if defined(SIMT_ASAN)
    void* fake = nullptr;
    __sanitizer_start_switch_fiber(&fake, target ? target->bottom : root_bottom,
                                   target ? target->size : root_size);
#else
    (void)target, (void)root_bottom, (void)root_size;
#endif
#if defined(__SANITIZE_THREAD__)
    __tsan_switch_to_fiber(target ? target->tsan : root_bottom, 0);
#endif
    switch_context(from, to);
#if defined(SIMT_ASAN)
    __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#endif
}

[[noreturn]] inline __attribute__((always_inline)) void jump_stack(const Context& to, const Fiber* target,
                                                                   const void* root_bottom,
                                                                   std::size_t root_size) {
#if defined(SIMT_ASAN)
    __sanitizer_start_switch_fiber(nullptr, target ? target->bottom : root_bottom,
                                   target ? target->size : root_size);
#else
    (void)target, (void)root_bottom, (void)root_size;
#endif
#if defined(__SANITIZE_THREAD__)
    __tsan_switch_to_fiber(target ? target->tsan : root_bottom, 0);
#endif
    jump_context(to);
}

}  // namespace

Worker::~Worker() {
    for (Block* block : residents_) delete block;
    for (Block* block : free_blocks_) delete block;
    this_worker = nullptr;
}

// ---- A fiber's life ---------------------------------------------------------------------------------------

void fiber_entry() {
    Worker& worker = *this_worker;
#if defined(SIMT_ASAN)
    const void* bottom = nullptr;
    std::size_t size = 0;
    __sanitizer_finish_switch_fiber(nullptr, &bottom, &size);
    if (!worker.root_bottom_) worker.root_bottom_ = bottom, worker.root_size_ = size;
#endif
    char text[256];
    bool thrown = false;
    try {
        const Grid& grid = worker.launch_->grid;
        grid.loop(grid.closure);
    } catch (const std::exception& e) {
        std::snprintf(text, sizeof text, "an exception left the kernel: %s", e.what());
        thrown = true;
    } catch (...) {
        std::snprintf(text, sizeof text, "an exception left the kernel");
        thrown = true;
    }
    // Outside the handlers, so that the exception has been released before this stack is given up.
    if (thrown) fail_lane(text, nullptr);
    worker.leave_fiber();
}

void Worker::leave_fiber() {
    Block& block = *execution.block;
    fibers_.give_back(*fiber_);
    if (Lane* next = block.ready.pop()) {
        fiber_ = next->fiber;
        jump_stack(next->context, fiber_, nullptr, 0);
    }
    leave_to_root();
}

void Worker::leave_to_root() {
    fiber_ = nullptr;
    execution.in_lane = false;
    jump_stack(root_, nullptr, root_bottom_, root_size_);
}

// ---- Lanes ------------------------------------------------------------------------------------------------

void Worker::start_lane(Block& block) {
    const unsigned position = block.position++;
    threadIdx = unflatten(launch_->order.empty() ? position : launch_->order[position]);
    execution.spins = 0;
}

void Worker::materialise(Block& block) {
    // The current lane is the only one that has started and not exited.
    if (execution.fast) {
        execution.fast = false;
        block.position = current_index() + 1;
    }
    const unsigned exited = block.position - 1;
    block.materialised = true;
    block.live = block.total - exited;
    for (unsigned first = 0, w = 0; first < block.total; first += warp_lanes, ++w) {
        const unsigned lanes = std::min(block.total - first, warp_lanes);
        block.warps[w].live = lanes == warp_lanes ? ~0u : (1u << lanes) - 1;
    }
    for (unsigned i = 0; i < exited; ++i) {
        const unsigned lane = launch_->order.empty() ? i : launch_->order[i];
        block.warps[lane / warp_lanes].live &= ~(1u << lane % warp_lanes);
    }
}

void Worker::suspend(Block& block, Lane& me) {
    me.x = static_cast<std::uint16_t>(threadIdx.x);
    me.y = static_cast<std::uint16_t>(threadIdx.y);
    me.z = static_cast<std::uint16_t>(threadIdx.z);
    me.fiber = fiber_;
    if (Lane* next = block.ready.pop()) {
        if (next != &me) {
            fiber_ = next->fiber;
            switch_stack(me.context, next->context, fiber_, nullptr, 0);
        }
    } else if (block.position < block.total) {
        Fiber& fiber = fibers_.take();
        start_lane(block);
        fiber_ = &fiber;
        switch_stack(me.context, start_context(fiber, fiber_entry), &fiber, nullptr, 0);
    } else {
        fiber_ = nullptr;
        execution.in_lane = false;
        switch_stack(me.context, root_, nullptr, root_bottom_, root_size_);
    }
    threadIdx = uint3{me.x, me.y, me.z};
    me.wait = Wait::running;
    execution.spins = 0;
}

void Worker::release(Block& block, Barrier& barrier) {
    barrier.result = barrier.votes;
    barrier.arrived = 0;
    barrier.votes = 0;
    block.ready.splice(barrier.waiting);
    ++block.events;
    if (__builtin_expect(launch_->cancelled.load(std::memory_order_relaxed), 0)) leave_to_root();
}

void Worker::retire_lane(Block& block) {
    const unsigned lane = current_index();
    Warp& warp = block.warps[lane / warp_lanes];
    --block.live;
    ++block.events;
    warp.live &= ~(1u << lane % warp_lanes);
    if (block.live == 0) return;
    for (unsigned kind = 0; kind < static_cast<unsigned>(Wait::grid); ++kind) {
        Barrier& barrier = block.barriers[kind];
        if (barrier.arrived != 0 && barrier.arrived == block.live) release(block, barrier);
    }
    if (warp.active) complete_after_exit(block, warp);
}

bool Worker::advance() {
    Block& block = *execution.block;
    if (execution.fast) {
        // The inlined path ran past the end of a row.
        threadIdx.x = 0;
        if (++threadIdx.y < blockDim.y) return true;
        threadIdx.y = 0;
        if (++threadIdx.z < blockDim.z) return true;
        threadIdx.z = 0;
    } else {
        if (block.materialised) retire_lane(block);
        if (!block.ready.empty()) return false;
        if (block.position < block.total) {
            start_lane(block);
            return true;
        }
        if (block.materialised && block.live != 0) return false;
    }
    block.finished = true;
    ++block.events;
    // With other blocks resident, the root decides whose turn it is.
    std::uint64_t number;
    if (residents_.size() > 1 || launch_->grid.cooperative || !take_block(number)) return false;
    begin(block, number);
    return true;
}

bool advance_lane() { return this_worker->advance(); }

// ---- Blocks -----------------------------------------------------------------------------------------------

bool Worker::take_block(std::uint64_t& number) {
    Launch& launch = *launch_;
    if (launch.cancelled.load(std::memory_order_relaxed)) return false;
    if (next_ == end_) {
        if (launch.all_started()) return false;
        next_ = launch.next.fetch_add(launch.chunk, std::memory_order_relaxed);
        if (next_ >= launch.blocks) {
            next_ = end_ = 0;
            return false;
        }
        end_ = std::min(next_ + launch.chunk, launch.blocks);
    }
    number = launch.block_order(next_++);
    ++begun_;
    return true;
}

void Worker::begin(Block& block, std::uint64_t number) {
    const dim3& grid = launch_->grid.grid;
    if (grid.y == 1 && grid.z == 1) {
        block.index = uint3{static_cast<unsigned>(number), 0, 0};
    } else {
        const std::uint64_t row = number / grid.x;
        block.index = uint3{static_cast<unsigned>(number - row * grid.x), static_cast<unsigned>(row % grid.y),
                            static_cast<unsigned>(row / grid.y)};
    }
    block.total = launch_->lanes;
    block.finished = false;
    block.materialised = false;
    block.position = 0;
    block.renew_shared();
    activate(block);
    execution.spins = 0;
    threadIdx = uint3{0, 0, 0};
    if (launch_->order.empty())
        execution.fast = true;
    else
        start_lane(block);
}

void Worker::activate(Block& block) {
    blockIdx = block.index;
    execution.block = &block;
    execution.fast = false;
    execution.serial = block.serial;
    execution.dynamic_serial = block.dynamic_serial;
    execution.marks = block.marks;
    execution.static_shared = block.static_shared;
    execution.dynamic_shared = block.dynamic_shared;
}

bool Worker::may_begin() const {
    if (launch_->cancelled.load(std::memory_order_relaxed)) return false;
    if (next_ == end_ && launch_->all_started()) return false;
    return !launch_->grid.cooperative || begun_ < allowance_;
}

Block* Worker::begin_new() {
    std::uint64_t number;
    if (!may_begin() || !take_block(number)) return nullptr;
    if (free_blocks_.empty()) free_blocks_.push_back(new Block);
    Block* block = free_blocks_.back();
    free_blocks_.pop_back();
    residents_.push_back(block);
    polled_ = 0;
    begin(*block, number);
    return block;
}

void Worker::remove(Block& block) {
    residents_.erase(std::find(residents_.begin(), residents_.end(), &block));
    free_blocks_.push_back(&block);
    turn_ = 0;
}

/// The block that runs next; nullptr when this worker has nothing left to do.
Block* Worker::choose() {
    for (;;) {
        if (launch_->cancelled.load(std::memory_order_relaxed)) return nullptr;
        // Blocks that were released, by the grid barrier above all.
        const std::uint64_t generation = launch_->generation.load(std::memory_order_acquire);
        bool spinners = false;
        for (Block* block : residents_) {
            if (block->at_grid_barrier && block->serial_of_grid != generation) {
                block->at_grid_barrier = false;
                release(*block, block->barriers[static_cast<int>(Wait::grid)]);
            }
            if (!block->ready.empty()) {
                activate(*block);
                return block;
            }
            spinners |= !block->yielded.empty();
        }
        // A new block, once every waiting one has had another look at what it waits for.
        if (!spinners || polled_ >= residents_.size())
            if (Block* block = begin_new()) return block;
        if (spinners) {
            if (turn_ >= residents_.size()) {
                turn_ = 0;
                watch_spin();
                if (launch_->cancelled.load(std::memory_order_relaxed)) return nullptr;
            }
            Block& block = *residents_[turn_++];
            ++polled_;
            if (block.yielded.empty()) continue;
            block.ready.splice(block.yielded);
            activate(block);
            return &block;
        }
        if (residents_.empty() || !wait_for_grid()) return nullptr;
    }
}

void Worker::enter(Block& block) {
    execution.in_lane = true;
    Context start;
    const Context* to;
    if (Lane* lane = block.ready.pop()) {
        fiber_ = lane->fiber;
        to = &lane->context;
    } else {
        fiber_ = &fibers_.take();
        start = start_context(*fiber_, fiber_entry);
        to = &start;
    }
    switch_stack(root_, *to, fiber_, nullptr, 0);
    execution.in_lane = false;
}

/// What became of the block that has just returned control.
void Worker::settle(Block& block) {
    if (block.finished) {
        if (launch_->grid.cooperative) {
            std::lock_guard lock(launch_->mutex);
            ++launch_->finished;
        }
        remove(block);
        return;
    }
    if (!block.ready.empty()) return;
    if (block.soft_waits != 0) resolve_active_masks(block);
    if (!block.ready.empty() || !block.yielded.empty()) return;
    Barrier& grid = block.barriers[static_cast<int>(Wait::grid)];
    if (grid.arrived != 0 && grid.arrived == block.live) {
        if (block.at_grid_barrier) return;
        std::lock_guard lock(launch_->mutex);
        block.at_grid_barrier = true;
        block.serial_of_grid = launch_->generation.load(std::memory_order_relaxed);
        if (++launch_->at_grid_barrier == launch_->blocks) {
            launch_->at_grid_barrier = 0;
            launch_->generation.fetch_add(1, std::memory_order_release);
            launch_->changed.notify_all();
        }
        return;
    }
    report_deadlock(*launch_, residents_, block);
}

/// All blocks of this worker wait at the grid barrier. Returns when that has changed or more blocks may be
/// begun; false when the launch is over.
bool Worker::wait_for_grid() {
    Launch& launch = *launch_;
    std::unique_lock lock(launch.mutex);
    const std::uint64_t generation = residents_.front()->serial_of_grid;
    auto released = [&] {
        return launch.generation.load(std::memory_order_relaxed) != generation ||
               launch.cancelled.load(std::memory_order_relaxed);
    };
    if (!launch.all_started()) {
        // Helpers that wake up late get their share; then this worker takes it.
        launch.changed.wait_for(lock, std::chrono::microseconds(200), released);
        ++allowance_;
        return !launch.cancelled;
    }
    ++launch.idle;
    launch.changed.notify_all();
    auto stuck = [&] { return launch.idle == launch.joined; };
    launch.changed.wait(lock, [&] { return released() || stuck(); });
    const bool dead = !released() && stuck();
    --launch.idle;
    lock.unlock();
    if (dead) report_deadlock(launch, residents_, *residents_.front());
    return !launch.cancelled;
}

/// Called once a rotation of polls. Yields the processor, and ends a launch whose lanes have only polled for
/// too long: nothing but another host thread could still release them.
void Worker::watch_spin() {
    std::uint64_t events = begun_;
    for (const Block* block : residents_) events += block->events;
    Launch& launch = *launch_;
    if (events != spin_events_) {
        spin_events_ = events;
        rotations_ = 0;
        if (spin_since_ != 0) {
            spin_since_ = 0;
            launch.spinning.fetch_sub(1, std::memory_order_relaxed);
            launch.last_progress.store(now_ns(), std::memory_order_relaxed);
        }
        return;
    }
    if (++rotations_ < 64) return;
    sched_yield();
    if (rotations_ % 64 != 0 || may_begin()) return;
    const std::int64_t now = now_ns();
    if (spin_since_ == 0) {
        spin_since_ = now;
        launch.spinning.fetch_add(1, std::memory_order_relaxed);
        return;
    }
    const std::int64_t since = std::max(spin_since_, launch.last_progress.load(std::memory_order_relaxed));
    if (now - since < spin_limit_ns()) return;
    bool all;
    {
        std::lock_guard lock(launch.mutex);
        all = launch.all_started() &&
              launch.spinning.load(std::memory_order_relaxed) + launch.idle == launch.joined;
    }
    if (all) report_livelock(launch, residents_);
}

void Worker::abandon() {
    for (Block* block : residents_) {
        block->reset();
        free_blocks_.push_back(block);
    }
    residents_.clear();
    fibers_.reset();
}

void Worker::run(Launch& launch) {
    launch_ = &launch;
    gridDim = launch.grid.grid;
    blockDim = launch.grid.block;
    next_ = end_ = begun_ = 0;
    allowance_ = (launch.blocks + launch.max_workers - 1) / launch.max_workers;
    turn_ = polled_ = 0;
    spin_events_ = 0;
    spin_since_ = 0;
    rotations_ = 0;
    fibers_.prepare();
    install_signal_stack();
#if defined(__SANITIZE_THREAD__)
    root_bottom_ = __tsan_get_current_fiber();
#endif
    while (Block* block = choose()) {
        enter(*block);
        if (fault.signal != 0) {
            report_fault(launch, fault, *execution.block);
            fault = {};
        }
        if (launch.cancelled.load(std::memory_order_relaxed)) break;
        settle(*execution.block);
    }
    if (spin_since_ != 0) launch.spinning.fetch_sub(1, std::memory_order_relaxed);
    if (!residents_.empty()) abandon();
    execution.block = nullptr;
    launch_ = nullptr;
}

void yield_lane() { yield_lane_at(SIMT_SITE); }

void yield_lane_at(const void* site) {
    if (!execution.in_lane) return;
    Worker& worker = *this_worker;
    Block& block = *execution.block;
    if (!block.materialised) worker.materialise(block);
    Lane& me = block.lanes[current_index()];
    me.wait = Wait::yield;
    me.site = site;
    block.yielded.push(me);
    worker.suspend(block, me);
}

void fail_lane(const char* text, const void* site) {
    Worker& worker = *this_worker;
    report_lane(*worker.launch(), *execution.block, cudaErrorLaunchFailure, text, site);
    worker.leave_to_root();
}

}  // namespace simt
