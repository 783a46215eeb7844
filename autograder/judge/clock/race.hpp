#pragma once
// What is timed, and how: calls of runners on the judge's own device memory, by the judge's clock.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "judge/clock/device.hpp"
#include "judge/clock/officials.hpp"
#include "judge/options.hpp"
#include "judge/session.hpp"

namespace rungs::judge {

/// Device memory that the judge shares with one worker: nobody else can look into it.
struct Arena {
    explicit Arena(std::size_t bytes) : memory(bytes), shared(memory.share(handle)) {}

    Device memory;
    unsigned char handle[64] = {};
    bool shared;
};

/// One runner in the race.
struct Contestant {
    std::string name;
    std::shared_ptr<Arena> arena;  ///< outlives the worker, which has it open
    std::unique_ptr<Session> session;
    std::vector<double> seconds;   ///< of one call, a pair each
    std::vector<double> alone;     ///< the same, once the rung's own process is gone
    std::optional<Cause> failure;  ///< to start
};

/// Starts a runner's process; its arena comes later.
Contestant start_runner(const std::filesystem::path& executable, const std::string& name,
                        const JudgeOptions& options);

/// Runs `work(i)` for i in [0, count) on all cores; throws what one of them threw.
template <class Work>
void in_parallel(std::size_t count, Work work) {
    std::atomic<std::size_t> next{0};
    std::vector<std::future<void>> threads;
    for (std::size_t i = 0;
         i < std::min<std::size_t>(count, std::max(1U, std::thread::hardware_concurrency())); ++i) {
        threads.push_back(std::async(std::launch::async, [&] {
            for (std::size_t mine = next++; mine < count; mine = next++) work(mine);
        }));
    }
    for (auto& thread : threads) thread.wait();
    for (auto& thread : threads) thread.get();
}

/// Times contestants on the judge's own device memory. A run's clock starts before its inputs come to where
/// the contestant can see them, and stops when the judge has copied the outputs away: whatever a contestant
/// does ahead of "go", it does without the inputs. What coming and going cost is what a null call costs.
class Race {
  public:
    /// @throws std::bad_alloc where the device's memory does not do, InfraError
    Race(const TimedCase& timed, const Exam& exam);

    double roof() { return pristine_->copy_bandwidth(); }

    std::shared_ptr<Arena> arena() const { return std::make_shared<Arena>(calls_ * slot_bytes_); }

    /// What a call costs at least: the inputs' way, the words, one tiny operation on the device, the judge's
    /// copies. The least of many, because it is subtracted from times: too much would be a gift. To be asked
    /// of a worker that has no interest in a large answer, while no other one lives that has.
    double null_seconds(Contestant& contestant);

    /// Inputs, which nobody has seen, for so many more pairs.
    void want(std::size_t pairs) { officials_->want(pairs); }

    bool has_inputs() { return officials_->has_inputs(); }
    void wait_for_inputs() { officials_->wait_for_inputs(); }

    /// Takes the next of them, in new places.
    void next_inputs() {
        heats_ = officials_->next();
        place();
    }

    /// One run of all calls. @returns seconds of one call, or what went wrong
    std::optional<Cause> run(Contestant& contestant, double limit, double null, double& seconds);

    /// Keeps the answers of the last run, which was a contestant's, for a look at them later: that can take
    /// longer than the run. Of all its calls, or of one, which nobody can foresee.
    void keep(std::size_t contestant, bool all);

    /// What is wrong with the answers that were kept, and whose they are: with those that somebody has
    /// looked at so far, and with all.
    std::optional<std::pair<std::size_t, Cause>> found() { return officials_->found(); }
    std::optional<std::pair<std::size_t, Cause>> look_at_rest() { return officials_->finish(); }

    /// No run is left, only answers: others can have the memory.
    void leave_device() {
        pristine_.reset();
        taken_.reset();
        flush_.reset();
    }

  private:
    void place();
    std::size_t offset(std::size_t call, const protocol::Region& region) const;
    std::size_t taken_offset(std::size_t call, const protocol::Region& region) const;
    template <class Visit>
    void for_each_output(Visit visit) const;
    void upload();
    std::optional<Cause> prepare(Contestant& contestant, double limit);
    void clear(Arena& arena);
    void hand_over(Arena& arena);
    void collect(const Arena& arena);

    /// Outputs are what comes after the inputs in every layout.
    std::size_t inputs() const { return heats_[0].task->inputs.size(); }

    const TimedCase& timed_;
    std::size_t calls_;       ///< of a run
    std::mt19937_64 random_;  ///< of orders and places; inputs that must be unpredictable are new every pair
    Heats heats_;             ///< of this run
    std::vector<std::size_t> places_;
    Layout layout_;
    std::size_t slot_bytes_ = 0;        ///< arrays of one call
    std::size_t taken_bytes_ = 0;       ///< outputs of one call
    std::unique_ptr<Device> pristine_;  ///< the inputs as the exam made them, where no worker can see them
    std::unique_ptr<Device> taken_;     ///< the outputs of a run
    std::unique_ptr<Device> flush_;     ///< written to empty the cache
    std::optional<Officials> officials_;
};

}  // namespace rungs::judge
