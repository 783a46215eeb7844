#include "program/jobs.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>

namespace rungs {
namespace {

constexpr double gib = 1ULL << 30;
/// Of one rung, in bytes: twice what any reference takes, its compiler or its worker with the judge's part.
constexpr double memory_of_job = 1 * gib;
/// The same on a GPU, where cases are larger, and of the GPU.
constexpr double memory_of_gpu_job = 4 * gib, gpu_memory_of_job = 3 * gib;

/// Bytes that can be had without swapping, as far as the system tells, in this container.
double free_memory(const Machine& machine) {
    double free = machine.memory;
    std::ifstream meminfo("/proc/meminfo");
    for (std::string key, unit; meminfo >> key;) {
        double value = 0;
        if (!(meminfo >> value)) break;
        if (key == "MemAvailable:") free = std::min(free, value * 1024);
        std::getline(meminfo, unit);
    }
    double most = 0;  // "max" where there is no limit
    if (std::ifstream("/sys/fs/cgroup/memory.max") >> most) free = std::min(free, most);
    return free;
}

}  // namespace

unsigned jobs_at_once(const Machine& machine, Backend backend) {
    const bool on_gpu = backend == Backend::cuda;
    double most =
        std::min<double>(machine.cores, free_memory(machine) / (on_gpu ? memory_of_gpu_job : memory_of_job));
    if (on_gpu) most = std::min(most, machine.gpu.memory / gpu_memory_of_job);
    return static_cast<unsigned>(std::max(most, 1.0));
}

Jobs::Jobs(std::size_t count, unsigned threads, Run run)
    : run_(std::move(run)),
      useful_(std::clamp<std::size_t>(count, 1, std::max(threads, 1U))),
      finished_(count, false) {
    try {
        while (threads_.size() < useful_) threads_.emplace_back([this] { serve(); });
    } catch (const std::system_error&) {
        if (threads_.empty()) throw;  // as many as the system gives will do
    }
}

Jobs::~Jobs() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

void Jobs::serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
        // A job that runs once more has the machine to itself: all others have been begun, and have ended.
        changed_.wait(lock,
                      [&] { return stop_ || (next_ < finished_.size() && quiet_ == 0) || running_ == 0; });
        const bool first = next_ < finished_.size();
        if (stop_ || (!first && again_.empty())) return;
        std::size_t job = next_;
        if (first) {
            ++next_;
        } else {
            job = again_.front();
            again_.pop_front();
        }
        ++running_;
        lock.unlock();
        End end = End::stopped;
        std::exception_ptr problem;
        try {
            end = run_(job, useful_ == 1 || !first, stop_);
        } catch (...) {
            problem = std::current_exception();
        }
        lock.lock();
        --running_;
        if (alone_ == std::this_thread::get_id()) {
            alone_ = {};
            --quiet_;
        }
        std::erase(no_longer_, std::this_thread::get_id());
        if (end == End::finished) finished_[job] = true;
        if (end == End::alone_once_more) again_.push_back(job);
        if (end == End::stopped) stop_ = true;
        if (problem && !problem_) problem_ = problem;
        changed_.notify_all();
    }
}

void Jobs::wait_to_be_alone() {
    std::unique_lock lock(mutex_);
    if (alone_ == std::this_thread::get_id()) return;
    std::erase(no_longer_, std::this_thread::get_id());
    ++quiet_;
    changed_.notify_all();
    const auto is_quiet = [&] {
        return running_ == quiet_ + no_longer_.size() && alone_ == std::thread::id();
    };
    // Those that run are told to stop by a variable, which wakes nobody.
    while (!stop_ && !is_quiet()) changed_.wait_for(lock, std::chrono::milliseconds(50));
    if (stop_) {
        --quiet_;
        return;
    }
    alone_ = std::this_thread::get_id();
}

void Jobs::no_longer_alone() {
    {
        const std::lock_guard lock(mutex_);
        if (alone_ != std::this_thread::get_id()) return;
        alone_ = {};
        --quiet_;
        no_longer_.push_back(std::this_thread::get_id());
    }
    changed_.notify_all();
}

bool Jobs::wait(std::size_t job, const std::function<void()>& meanwhile) {
    std::unique_lock lock(mutex_);
    while (!finished_[job] && !over()) {
        changed_.wait_for(lock, std::chrono::milliseconds(50));
        lock.unlock();
        meanwhile();
        lock.lock();
    }
    if (problem_) std::rethrow_exception(std::exchange(problem_, nullptr));
    return finished_[job];
}

}  // namespace rungs
