#pragma once
// The exam's part in a race: to make inputs that nobody has seen, and to look at answers.

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "judge/result/result.hpp"
#include "rungs/exam.hpp"
#include "rungs/manifest.hpp"

namespace rungs::judge {

/// One timed call: an input, which several contestants may be timed on, and what came out.
struct Heat {
    Case which;
    std::shared_ptr<const Task> task;
    std::vector<Array> outputs;
};

/// The calls of one run.
using Heats = std::vector<Heat>;

/// Makes inputs ahead and looks at answers, on all cores, whenever nothing is timed (quiet.hpp). To look
/// takes longer than to make, and whoever times waits for what has been begun: so nobody looks before the
/// end, as long as there is room. To be used by one thread.
class Officials {
  public:
    /// For runs of `calls` calls each; there is memory for the inputs of `room` runs, and for as many with
    /// their answers.
    Officials(const Exam& exam, const TimedCase& timed, std::size_t calls, std::size_t room);
    /// Whatever is left to do is left.
    ~Officials();
    Officials(const Officials&) = delete;
    Officials& operator=(const Officials&) = delete;

    /// So many more runs' inputs will be taken.
    void want(std::size_t runs);

    /// Whether next() has something to return at once.
    bool has_inputs();

    /// Waits until all inputs are made that are wanted, or as many as there is room for: not while it is
    /// quiet.
    void wait_for_inputs();

    /// The next run's inputs, each from a seed of its own. @throws what the exam throws, InfraError where
    /// its numbers depend on the seed, std::logic_error where there are none
    Heats next();

    /// Answers to look at, `whose` they are, and on which inputs.
    void keep(std::size_t whose, Heats answers);

    /// Whose answer was found to be wrong, and what is wrong, as far as they have been looked at.
    /// @throws what the exam throws
    std::optional<std::pair<std::size_t, Cause>> found();

    /// The same, once all have been looked at: not while it is quiet, nor while it is anybody's turn. Nothing
    /// is timed on these inputs any more.
    std::optional<std::pair<std::size_t, Cause>> finish();

  private:
    /// A run whose inputs are being made, or whose answers are being looked at, call by call.
    struct Run {
        std::size_t whose = 0;
        Heats heats;
        std::size_t begun = 0, ended = 0;
    };

    void serve(const std::stop_token& stop);
    bool can_begin() const { return wanted_ > 0 && ready_.size() + making_.size() < room_; }
    /// A run to look at, if it is time.
    Run* to_look_at() const { return finishing_ || looking_.size() > room_ ? unbegun(looking_) : nullptr; }
    /// The first of these runs that has a call which nobody has begun; null: there is none.
    static Run* unbegun(const std::deque<std::unique_ptr<Run>>& runs);
    void make(Heat& heat) const;
    void look(std::size_t whose, const Heat& heat);

    const Exam& exam_;
    const TimedCase& timed_;
    const std::size_t calls_, room_;
    std::mutex mutex_;  ///< of all below
    std::condition_variable_any changed_;
    std::size_t wanted_ = 0;  ///< runs that are not begun
    std::deque<std::unique_ptr<Run>> making_, looking_;
    std::deque<Heats> ready_;
    std::optional<std::pair<std::size_t, Cause>> found_;
    std::exception_ptr problem_;
    bool finishing_ = false;
    std::vector<std::jthread> threads_;  // last: they use all others
};

}  // namespace rungs::judge
