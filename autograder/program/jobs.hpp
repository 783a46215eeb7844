#pragma once
// Several jobs side by side, each on a thread; the thread that started them shows what becomes of them.

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "report/machine.hpp"
#include "rungs/manifest.hpp"

namespace rungs {

/// How many rungs this machine can judge at once: one a core, as long as there is memory for each, of the GPU
/// too where that runs them.
unsigned jobs_at_once(const Machine& machine, Backend backend);

class Jobs {
  public:
    /// How a job's run ended. `alone_once_more`: its neighbours may have had a part in what happened.
    enum class End { finished, alone_once_more, stopped };
    /// Runs a job. `alone`: nothing else runs meanwhile. Once `stop` is set it ends as soon as it can.
    using Run = std::function<End(std::size_t job, bool alone, const std::atomic<bool>& stop)>;

    /// Begins jobs 0 to `count` - 1 in this order, on `threads` threads. Those that ask to be run once more
    /// are, when no other is left, one after the other.
    Jobs(std::size_t count, unsigned threads, Run run);
    /// Stops what runs and waits for it.
    ~Jobs();
    Jobs(const Jobs&) = delete;
    Jobs& operator=(const Jobs&) = delete;

    /// Begins no other job and asks those that run to end.
    void stop() { stop_ = true; }

    /// To be called by a job: waits until all others that run have ended, or wait here too. For the rest of
    /// its run this one is alone, or until it says otherwise, and no job begins before all that waited have
    /// had their turn.
    void wait_to_be_alone();

    /// To be called by a job that was alone, and disturbs nobody from here on: whoever waits is alone beside
    /// it.
    void no_longer_alone();

    /// Waits until `job` is finished, or until nothing runs and nothing will; calls `meanwhile` every 50 ms.
    /// @returns whether it is finished. @throws what a job has thrown
    bool wait(std::size_t job, const std::function<void()>& meanwhile);

  private:
    void serve();
    bool over() const { return running_ == 0 && (stop_ || (next_ == finished_.size() && again_.empty())); }

    const Run run_;
    const std::size_t useful_;  ///< threads
    std::atomic<bool> stop_{false};
    std::mutex mutex_;  ///< of all below
    std::condition_variable changed_;
    std::vector<bool> finished_;
    std::deque<std::size_t> again_;
    std::size_t next_ = 0;
    std::size_t running_ = 0;
    std::size_t quiet_ = 0;                   ///< of those that run: how many wait to be alone, or are
    std::thread::id alone_;                   ///< who is
    std::vector<std::thread::id> no_longer_;  ///< of those that run: who was, and disturbs nobody
    std::exception_ptr problem_;
    std::vector<std::thread> threads_;
};

}  // namespace rungs
