#include "runtime/worker.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <memory>
#include <utility>

#include "runtime/observe.h"
#include "runtime/rendezvous.h"
#include "runtime/report.h"
#include "simt/inspect/control.h"

namespace simt {

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

/// The linear index of the current lane in its block.
unsigned current_index() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }

}  // namespace

Worker::~Worker() {
    for (Block* block : residents_) delete block;
    for (Block* block : free_blocks_) delete block;
    this_worker = nullptr;
}

// ---- A fiber's life ---------------------------------------------------------------------------------------

void notice_new_stack() {
#if defined(__SANITIZE_ADDRESS__)
    const void* bottom = nullptr;
    std::size_t size = 0;
    __sanitizer_finish_switch_fiber(nullptr, &bottom, &size);
    Worker& worker = *this_worker;
    if (!worker.root_bottom) worker.root_bottom = bottom, worker.root_size = size;
#endif
}

namespace {

/// The fiber that the lane runs on which has just been made current; nullptr: the root.
const Fiber* current_fiber() {
    if (!execution.in_lane) return nullptr;
    return execution.lane ? execution.lane->fiber : this_worker->first();
}

void announce(void** fake, bool keep) {
    const Fiber* target = current_fiber();
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(keep ? fake : nullptr, target ? target->bottom : this_worker->root_bottom,
                                   target ? target->size : this_worker->root_size);
#elif defined(__SANITIZE_THREAD__)
    __tsan_switch_to_fiber(target ? target->tsan : this_worker->root_tsan, 0);
#endif
    (void)target, (void)fake, (void)keep;
}

}  // namespace

void switch_stack(Context& from, const Context& to) {
    void* fake = nullptr;
    announce(&fake, true);
    switch_context(from, to);
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#endif
}

void jump_stack(const Context& to) {
    announce(nullptr, false);
    jump_context(to);
}

#if defined(SIMT_CHECK)
Change change_of(Transfer to) SIMT_WAITS {
    static SIMT_THREAD_LOCAL Context here;
    return to ? Change{execution.leaving, to} : Change{&here, &here};
}
#endif
void transfer_with_notice(Transfer to) { switch_stack(*execution.leaving, *to); }
void leave_with_notice(const Context* next) { jump_stack(*next); }

namespace {
// The text of the exception that left a kernel, kept outside the stack that is given up.
SIMT_THREAD_LOCAL char exception_text[256];
}  // namespace

void note_exception() {
    try {
        throw;
    } catch (const std::exception& e) {
        std::snprintf(exception_text, sizeof exception_text, "an exception left the kernel: %s", e.what());
    } catch (...) {
        std::snprintf(exception_text, sizeof exception_text, "an exception left the kernel");
    }
}

void fail_with_exception() { fail_lane(exception_text, nullptr); }

const Context* Worker::leave_fiber() {
    Block& block = *execution.block;
    fibers_.give_back(execution.lane ? *execution.lane->fiber : *first_);
    if (Lane* next = block.ready->pop()) {
        execution.lane = next;
        threadIdx = next->thread;
        return &next->context;
    }
    execution.in_lane = false;
    execution.lane = nullptr;
    return &root_;
}

void Worker::leave_to_root() {
    execution.in_lane = false;
    execution.lane = nullptr;
    jump_stack(root_);
}

// ---- Lanes ------------------------------------------------------------------------------------------------

/// Makes the next lane current that has not started; it will run on `fiber`.
void Worker::start_lane(Block& block, Fiber* fiber) {
    const unsigned position = block.position++;
    const unsigned index = order_ ? order_[position] : position;
    unsigned x = index, y = 0, z = 0;
    if (blockDim.y != 1 || blockDim.z != 1) {
        const unsigned row = index / blockDim.x;
        x = index - row * blockDim.x;
        y = row % blockDim.y;
        z = row / blockDim.y;
    }
    threadIdx.x = x, threadIdx.y = y, threadIdx.z = z;
    execution.spins = 0;
    if (!block.materialised) return;
    // Stored again rather than copied: a wide load of what narrow stores have just written stalls.
    Lane& lane = block.lanes[index];
    lane.thread.x = x, lane.thread.y = y, lane.thread.z = z;
    lane.fiber = fiber;
    execution.lane = &lane;
}

/// A block has its first blocked lane: fills in what the fast path did without. The current lane is the only
/// one that has started and not exited.
void Worker::materialise() {
    Block& block = *execution.block;
    const unsigned index = current_index();
    if (execution.fast) {
        execution.fast = false;
        block.position = index + 1;
    }
    const unsigned exited = block.position - 1;
    block.materialised = true;
    block.live = block.total - exited;
    for (unsigned first = 0, w = 0; first < block.total; first += warp_lanes, ++w) {
        const unsigned lanes = std::min(block.total - first, warp_lanes);
        block.warps[w].live = lanes == warp_lanes ? ~0u : (1u << lanes) - 1;
    }
    for (unsigned i = 0; i < exited; ++i) {
        const unsigned lane = order_ ? order_[i] : i;
        block.warps[lane / warp_lanes].live &= ~(1u << lane % warp_lanes);
    }
    Lane& lane = block.lanes[index];
    lane.thread = threadIdx;
    lane.fiber = first_;
    execution.lane = &lane;
}

void make_lane_records() {
    if (!execution.in_lane) report_outside_lane("a barrier or warp operation");
    if (execution.whole) {
        // The translator has taken for granted that this cannot be.
        execution.whole = false;
        fail_lane(
            "a thread waits in a loop over threads, which the CPU backend did not expect here; please "
            "report it, and set RUNGS_SIMT_LOOPS=0",
            SIMT_SITE);
    }
    this_worker->materialise();
}

Transfer go_on_alone(Block& block, Lane& me) { return this_worker->go_on_alone(block, me); }

Transfer Worker::go_on_alone(Block& block, Lane& me) {
    execution.leaving = &me.context;
    if (block.position < block.total) {
        Fiber& fiber = fibers_.take();
        start_lane(block, &fiber);
        return &start_context(fiber, launch_->grid.loop);
    }
    execution.in_lane = false;
    execution.lane = nullptr;
    return &root_;
}

void Worker::release(Block& block, Barrier& barrier) {
    // All lanes that have not exited wait here (or run, one of them): none can be in the ready queue.
    observe::barrier_completes(block);
    barrier.result = barrier.votes;
    barrier.votes = 0;
    block.ready->clear();
    std::swap(block.ready, barrier.waiting);
    ++block.events;
    if (__builtin_expect(launch_->cancelled.load(std::memory_order_relaxed), 0)) leave_to_root();
}

/// The current lane has ended; false when it was the last of its block.
bool Worker::retire_lane(Block& block) {
    const unsigned lane = static_cast<unsigned>(execution.lane - block.lanes);
    Warp& warp = block.warps[lane / warp_lanes];
    warp.live &= ~(1u << lane % warp_lanes);
    ++block.events;
    if (--block.live == 0) return false;
    for (unsigned kind = 0; kind < static_cast<unsigned>(Wait::grid); ++kind)
        if (block.barriers[kind].waiting->tail == block.live) {
            release(block, block.barriers[kind]);
            break;
        }
    if (warp.active) complete_after_exit(block, warp);
    if (block.tile_waits != 0) complete_tiles_after_exit(block, lane / warp_lanes);
    return true;
}

const Context* Worker::advance() {
    Block& block = *execution.block;
    if (execution.fast) {
        // The inlined path ran past the end of a row.
        threadIdx.x = 0;
        if (++threadIdx.y < blockDim.y) return nullptr;
        threadIdx.y = 0;
        if (++threadIdx.z < blockDim.z) return nullptr;
        threadIdx.z = 0;
    } else {
        const bool more = !block.materialised || retire_lane(block);
        if (!block.ready->empty()) return leave_fiber();
        if (block.position < block.total) {
            start_lane(block, execution.lane ? execution.lane->fiber : first_);
            return nullptr;
        }
        if (block.materialised && more) return leave_fiber();
    }
    block.finished = true;
    ++block.events;
    // With other blocks resident, the root decides whose turn it is.
    std::uint64_t number;
    if (residents_.size() > 1 || launch_->grid.cooperative || !take_block(number)) return leave_fiber();
    if (execution.lane) first_ = execution.lane->fiber;
    begin(block, number);
    return nullptr;
}

const Context* advance_lane() { return this_worker->advance(); }

const Context* next_lane() {
    observe::lane_exits();
    execution.spins = 0;
    return execution.fast && ++threadIdx.x < blockDim.x ? nullptr : this_worker->advance();
}

void Worker::stop_lane() {
    const Context* next = next_lane();
    if (next) jump_stack(*next);
    // The next lane shall run on this fiber: from its beginning, for what stands on it is given up.
    Fiber& fiber = execution.lane ? *execution.lane->fiber : *first_;
    jump_stack(start_context(fiber, launch_->grid.loop));
}

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
    observe::block_begins(block, number);
    activate(block);
    execution.spins = 0;
    threadIdx = uint3{0, 0, 0};
    if (observe::on && order_) {
        // Behind one of its first 128 atomic operations, and more often behind one of the first few.
        const std::uint64_t drawn = launch_->draw(number);
        changes_left_ = 1 + (drawn >> 32) % (1u << drawn % 8);
    }
    if (!order_)
        execution.fast = true;
    else
        start_lane(block, nullptr);
}

void Worker::activate(Block& block) {
    blockIdx = block.index;
    execution.block = &block;
    execution.lane = nullptr;
    execution.fast = false;
    execution.whole = false;
    execution.serial = block.serial;
    execution.dynamic_serial = block.dynamic_serial;
    execution.marks = block.marks;
    execution.static_shared = block.static_shared;
    execution.dynamic_shared = block.dynamic_shared;
    observe::block_continues(block);
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
    looks_ = 1;
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
        Block* aside = nullptr;
        for (Block* block : residents_) {
            if (block->at_grid_barrier && block->serial_of_grid != generation) {
                block->at_grid_barrier = false;
                release(*block, block->barriers[static_cast<int>(Wait::grid)]);
            }
            if (block->set_aside) {
                if (!aside) aside = block;
                continue;
            }
            if (!block->ready->empty()) {
                activate(*block);
                return block;
            }
            spinners |= !block->yielded.empty();
        }
        // A new block, once every waiting one has had another look at what it waits for.
        if (!spinners || (!aside && polled_ >= looks_ * residents_.size()))
            if (Block* block = begin_new()) return block;
        if (aside) {
            activate(*aside);
            return aside;
        }
        if (spinners) {
            if (turn_ >= residents_.size()) {
                turn_ = 0;
                watch_spin();
                if (launch_->cancelled.load(std::memory_order_relaxed)) return nullptr;
            }
            Block& block = *residents_[turn_++];
            ++polled_;
            if (block.yielded.empty()) continue;
            block.ready->splice(block.yielded);
            activate(block);
            return &block;
        }
        if (residents_.empty()) {
            // The blocks of this worker ended without waiting for others: their share is free again, and the
            // helpers that were to take the rest may never come.
            if (!launch_->grid.cooperative || launch_->all_started()) return nullptr;
            ++allowance_;
        } else if (!wait_for_grid()) {
            return nullptr;
        }
    }
}

void Worker::enter(Block& block) {
    execution.in_lane = true;
    const Context* to;
    Lane* lane = block.set_aside ? std::exchange(block.set_aside, nullptr) : block.ready->pop();
    if (!lane) {
        first_ = &fibers_.take();
        to = &start_context(*first_, launch_->grid.loop);
    } else {
        execution.lane = lane;
        threadIdx = lane->thread;
        to = &lane->context;
    }
    switch_stack(root_, *to);
    execution.in_lane = false;
    execution.lane = nullptr;
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
    if (block.set_aside || !block.ready->empty()) return;
    if (block.soft_waits != 0) resolve_active_masks(block);
    // What lies in global memory may be another block's to bring about.
    block.leave_phases([&](const Lane& lane) { return !block.owns(lane.awaited); }, block.yielded);
    if (!block.ready->empty() || !block.yielded.empty()) return;
    Barrier& grid = block.barriers[static_cast<int>(Wait::grid)];
    if (!grid.waiting->empty() && grid.waiting->tail == block.live) {
        if (block.at_grid_barrier) return;
        std::lock_guard lock(launch_->mutex);
        block.at_grid_barrier = true;
        block.serial_of_grid = launch_->generation.load(std::memory_order_relaxed);
        if (++launch_->at_grid_barrier == launch_->blocks) {
            launch_->at_grid_barrier = 0;
            launch_->idle = 0;  // all of them have work again, whether they know it yet or not
            launch_->generation.fetch_add(1, std::memory_order_release);
            observe::grid_barrier_completes();
            launch_->changed.notify_all();
        }
        return;
    }
    fail(deadlock_report(*launch_, block));
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
    if (released()) return !launch.cancelled;
    ++launch.idle;
    launch.changed.notify_all();
    auto stuck = [&] { return launch.idle == launch.joined; };
    launch.changed.wait(lock, [&] { return released() || stuck(); });
    const bool dead = !released() && stuck();
    if (launch.generation.load(std::memory_order_relaxed) == generation) --launch.idle;
    lock.unlock();
    if (dead) fail(deadlock_report(launch, *residents_.front()));
    return !launch.cancelled;
}

/// Called once a rotation of polls. Yields the processor, and ends a launch whose lanes have only polled for
/// too long, none of them has changed anything by an atomic operation: nothing but another host thread could
/// still release them.
void Worker::watch_spin() {
    std::uint64_t events = begun_ + execution.changes;
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
    if (all) fail(livelock_report(launch, residents_));
}

void Worker::fail(const FailureReport& report) {
    if (launch_->cancel(report.error)) publish(report);
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
    execution.closure = launch.grid.closure;
    blockDim = launch.grid.block;
    execution.loops = loops_over_lanes();
    order_ = launch.order.empty() ? nullptr : launch.order.data();
    next_ = end_ = begun_ = 0;
    allowance_ = (launch.blocks + launch.max_workers - 1) / launch.max_workers;
    turn_ = polled_ = 0;
    spin_events_ = 0;
    spin_since_ = 0;
    rotations_ = 0;
    asked = 0;
    fibers_.prepare();
#if defined(__SANITIZE_THREAD__)
    root_tsan = __tsan_get_current_fiber();
#endif
    struct Watched {
        explicit Watched(Launch& l) : launch(l) {
            std::lock_guard lock(launch.mutex);
            launch.threads.push_back({pthread_self(), processor_time(pthread_self())});
        }
        ~Watched() {
            std::lock_guard lock(launch.mutex);
            std::erase_if(launch.threads,
                          [](const Launch::Working& w) { return w.thread == pthread_self(); });
        }
        Launch& launch;
    } watched(launch);
    while (Block* block = choose()) {
        enter(*block);
        if (fault.signal != 0) {
            fail(fault_report(launch, fault, *execution.block));
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

bool Worker::turn_ends() {
    constexpr int most_aside = 2;
    if (!order_ || changes_left_ == 0 || --changes_left_ != 0 || !may_begin()) return false;
    const auto is_aside = [](const Block* block) { return block->set_aside != nullptr; };
    return std::count_if(residents_.begin(), residents_.end(), is_aside) < most_aside;
}

bool Worker::overstays() {
    constexpr unsigned patience = 4099;  // a prime: not always at the same operation of a loop
    if (!order_ || residents_.size() < 2 || ++operations_ % patience != 0) return false;
    looks_ = 16;  // more blocks could stand in each other's way for good, where they take and give back
    return true;
}

Transfer Worker::set_aside(const void* site) {
    Lane& me = current_lane();
    me.site = site;
    execution.block->set_aside = &me;
    execution.leaving = &me.context;
    execution.in_lane = false;
    execution.lane = nullptr;
    return &root_;
}

void yield_lane_at(const void* site) {
    carry_out(arrive_at_yield(site));
    execution.spins = 0;
}

void yield_lane() {
    if (execution.in_lane) yield_lane_at(SIMT_SITE);
}

Transfer arrive_at_yield(const void* site) {
    if (execution.whole) return nullptr;  // it does not wait for others: see cu2cpp/lanes/lanes.cpp
    Lane& me = current_lane();
    Block& block = *execution.block;
    me.site = site;
    block.yielded.push(me);
    return go_on(block, me);
}

void fail_lane(const char* text, const void* site) { fail_lane(check::Cause::unknown, text, site); }

void fail_lane(check::Cause cause, const char* text, const void* site) {
    Worker& worker = *this_worker;
    observe::failed(check::Kind::failure, cause, text, site);
    worker.fail(lane_report(*worker.launch(), *execution.block, cudaErrorLaunchFailure, text, site));
    worker.leave_to_root();
}

}  // namespace simt
