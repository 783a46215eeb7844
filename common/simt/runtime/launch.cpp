// Checks of a launch's shape, and the threads that run it.
#include "simt/launch.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

#include "runtime/crash.h"
#include "runtime/nested_launch.h"
#include "runtime/observe.h"
#include "runtime/report.h"
#include "runtime/worker.h"
#include "simt/inspect/control.h"
#include "simt/virtual_device.h"

namespace simt {

std::int64_t processor_time(pthread_t thread) {
    clockid_t clock;
    timespec time{};
    if (pthread_getcpuclockid(thread, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
    return 1'000'000'000 * std::int64_t{time.tv_sec} + time.tv_nsec;
}

// ---- The watchdog -----------------------------------------------------------------------------------------

namespace {

/// A thread that ends launches whose busiest thread works for longer than time_limit_ns(). It exists once
/// there is a limit.
class Watchdog {
  public:
    static Watchdog& instance() {
        static Watchdog* dog = new Watchdog;  // never destroyed: its thread waits until the process ends
        return *dog;
    }
    void watch(Launch& launch, std::int64_t limit) {
        std::lock_guard lock(mutex_);
        if (!started_) std::thread([this] { serve(); }).detach();
        started_ = true;
        const auto now = Clock::now();
        watched_.push_back({&launch, now, now + std::chrono::nanoseconds(limit), limit});
        changed_.notify_all();
    }
    void release(Launch& launch) {
        std::lock_guard lock(mutex_);
        std::erase_if(watched_, [&](const Watched& w) { return w.launch == &launch; });
    }

  private:
    using Clock = std::chrono::steady_clock;
    struct Watched {
        Launch* launch;
        Clock::time_point begin, next;
        std::int64_t limit;  ///< ns
    };

    void serve() {
        std::unique_lock lock(mutex_);
        for (;;) {
            const auto first =
                std::min_element(watched_.begin(), watched_.end(),
                                 [](const Watched& a, const Watched& b) { return a.next < b.next; });
            if (first == watched_.end()) {
                changed_.wait(lock);
            } else if (const auto now = Clock::now(); now < first->next) {
                const auto until = first->next;
                changed_.wait_until(lock, until);
            } else {
                first->next = now + std::chrono::milliseconds(20);
                Launch& launch = *first->launch;
                std::lock_guard launch_lock(launch.mutex);
                const std::int64_t passed = std::chrono::nanoseconds(now - first->begin).count();
                // What counts is work, not what else this machine has to do meanwhile.
                std::int64_t busiest = 0;
                for (const auto& worker : launch.threads)
                    busiest = std::max(busiest, processor_time(worker.thread) - worker.since);
                constexpr int beside_others = 20;
                if (busiest < first->limit / 10 * 9 && passed / beside_others < first->limit) continue;
                launch.overdue = passed;
                for (const auto& worker : launch.threads) pthread_kill(worker.thread, overtime_signal);
            }
        }
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<Watched> watched_;
    bool started_ = false;
};

/// Watches a launch for as long as it lives.
struct Limited {
    explicit Limited(Launch& l) : launch(l), limit(time_limit_ns()) {
        if (limit > 0) Watchdog::instance().watch(launch, limit);
    }
    ~Limited() {
        if (limit > 0) Watchdog::instance().release(launch);
    }
    Launch& launch;
    const std::int64_t limit;
};

}  // namespace

// ---- The pool ---------------------------------------------------------------------------------------------

namespace {

/// Threads that help with launches. The launching thread works too, so a launch never depends on them; in a
/// forked child, which has none of them, launches just run on one thread.
class Pool {
  public:
    static Pool& instance() {
        static Pool* pool = new Pool;  // never destroyed: its threads wait on it until the process ends
        return *pool;
    }

    void run(Launch& launch) {
        const Limited limited(launch);
        const bool helped = launch.max_workers > 1;
        if (helped) {
            std::lock_guard lock(mutex_);
            launches_.push_back(&launch);
            launch.joined = 1;
            while (threads_ + 1 < launch.max_workers) {
                std::thread([this] { serve(); }).detach();
                ++threads_;
            }
            work_.notify_all();
        } else {
            launch.joined = 1;
        }
        work_on(launch);
        if (helped) {
            {
                std::lock_guard lock(mutex_);
                std::erase(launches_, &launch);
            }
            std::unique_lock lock(launch.mutex);
            leave(launch);
            launch.changed.wait(lock, [&] { return launch.joined == 0; });
        }
    }

  private:
    static void work_on(Launch& launch) {
        install_signal_stack();
        get_worker().run(launch);
    }

    static void leave(Launch& launch) {
        --launch.joined;
        launch.changed.notify_all();
    }

    void serve() {
        std::unique_lock lock(mutex_);
        for (;;) {
            Launch* launch = nullptr;
            work_.wait(lock, [&] { return (launch = find()) != nullptr; });
            lock.unlock();
            work_on(*launch);
            {
                std::lock_guard launch_lock(launch->mutex);
                leave(*launch);
            }
            lock.lock();
        }
    }

    /// A launch that has blocks left and room for one more worker; joins it.
    Launch* find() {
        for (Launch* launch : launches_) {
            std::lock_guard lock(launch->mutex);
            if (launch->joined < launch->max_workers && !launch->all_started() && !launch->cancelled) {
                ++launch->joined;
                return launch;
            }
        }
        return nullptr;
    }

    std::mutex mutex_;
    std::condition_variable work_;
    std::vector<Launch*> launches_;
    unsigned threads_ = 0;
};

}  // namespace

/// A launch that cannot be: says why, since CUDA's codes do not.
static cudaError_t refuse(const Grid& grid, cudaError_t error, const std::string& why,
                          check::Cause cause = check::Cause::unknown) {
    report_refusal(grid, error, cause, why);
    return error;
}

static std::string extent(dim3 d) {
    return std::to_string(d.x) + " x " + std::to_string(d.y) + " x " + std::to_string(d.z);
}

cudaError_t check_grid(const Grid& grid) {
    using Device = VirtualDevice;
    const dim3 g = grid.grid, b = grid.block;
    const unsigned long long lanes = 1ull * b.x * b.y * b.z;
    if (g.x == 0 || g.y == 0 || g.z == 0)
        return refuse(grid, cudaErrorInvalidConfiguration, "a grid of " + extent(g) + " blocks has none",
                      check::Cause::no_blocks);
    if (lanes == 0)
        return refuse(grid, cudaErrorInvalidConfiguration, "a block of " + extent(b) + " threads has none",
                      check::Cause::no_threads);
    if (g.x > Device::max_grid_x || g.y > Device::max_grid_y || g.z > Device::max_grid_z)
        return refuse(grid, cudaErrorInvalidConfiguration,
                      "a grid of " + extent(g) + " blocks; a device takes " +
                          extent(dim3(Device::max_grid_x, Device::max_grid_y, Device::max_grid_z)) +
                          " at most");
    if (b.x > Device::max_block_x || b.y > Device::max_block_y || b.z > Device::max_block_z ||
        lanes > Device::max_threads_per_block)
        return refuse(grid, cudaErrorInvalidConfiguration,
                      "a block of " + extent(b) + " threads; a device takes " +
                          std::to_string(Device::max_threads_per_block) + " in all and " +
                          extent(dim3(Device::max_block_x, Device::max_block_y, Device::max_block_z)) +
                          " at most: use more blocks instead");
    if (const std::size_t limit = dynamic_shared_limit(grid.function); grid.dynamic_shared > limit)
        return refuse(grid, cudaErrorInvalidValue,
                      std::to_string(grid.dynamic_shared) +
                          " bytes of dynamic shared memory; this kernel may have " + std::to_string(limit) +
                          ", and after cudaFuncSetAttribute(kernel, " +
                          "cudaFuncAttributeMaxDynamicSharedMemorySize, ...) at most " +
                          std::to_string(Device::shared_per_block_optin));
    if (grid.cooperative) {
        const auto resident = static_cast<unsigned long long>(
            resident_blocks(static_cast<unsigned>(lanes), grid.dynamic_shared) * multiprocessors());
        if (1ull * g.x * g.y * g.z > resident)
            return refuse(grid, cudaErrorCooperativeLaunchTooLarge,
                          std::to_string(1ull * g.x * g.y * g.z) +
                              " blocks in a cooperative launch, all of which have to be resident; " +
                              std::to_string(resident) + " can be");
    }
    return cudaSuccess;
}

cudaError_t run_grid(const Grid& grid) {
    const std::uint64_t blocks = std::uint64_t{grid.grid.x} * grid.grid.y * grid.grid.z;
    // Waking a thread costs as much as running a few hundred lanes.
    const bool small = blocks * grid.block.x * grid.block.y * grid.block.z < 512;
    const unsigned workers =
        small ? 1 : static_cast<unsigned>(std::min<std::uint64_t>(thread_count(), blocks));
    install_fault_handlers();
    Launch launch(grid, observe::on ? 1 : workers);
    if constexpr (observe::on) {
        // One thread, one launch at a time: what is found is the same in every run.
        static std::mutex mutex;
        std::lock_guard lock(mutex);
        observe::launch_begins(launch);
        Pool::instance().run(launch);
        observe::launch_ends(launch);
    } else {
        Pool::instance().run(launch);
    }
    return launch.error ? launch.error : run_nested(launch);
}

}  // namespace simt
