#include "judge/clock/officials.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "judge/build/build.hpp"
#include "judge/clock/quiet.hpp"
#include "judge/options.hpp"

namespace rungs::judge {

Officials::Officials(const Exam& exam, const TimedCase& timed, std::size_t calls, std::size_t room)
    : exam_(exam), timed_(timed), calls_(calls), room_(std::max<std::size_t>(room, 1)) {
    while (threads_.size() < std::max(1U, std::thread::hardware_concurrency()))
        threads_.emplace_back([this](const std::stop_token& stop) { serve(stop); });
}

Officials::~Officials() {
    for (std::jthread& thread : threads_) thread.request_stop();
}

void Officials::want(std::size_t runs) {
    {
        const std::lock_guard lock(mutex_);
        wanted_ += runs;
    }
    changed_.notify_all();
}

bool Officials::has_inputs() {
    const std::lock_guard lock(mutex_);
    return !ready_.empty();
}

void Officials::wait_for_inputs() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return problem_ || (!can_begin() && making_.empty()); });
}

Heats Officials::next() {
    std::unique_lock lock(mutex_);
    if (problem_) std::rethrow_exception(problem_);
    if (ready_.empty()) throw std::logic_error("no inputs have been made");
    Heats heats = std::move(ready_.front());
    ready_.pop_front();
    changed_.notify_all();  // there is room for another
    lock.unlock();
    for (const Heat& heat : heats) {  // one request carries the numbers of all calls
        if (heat.task->numbers == heats[0].task->numbers) continue;
        throw InfraError(
            fmt::format("[[timed]] kind '{}': its numbers depend on the seed; only arrays may", timed_.kind));
    }
    return heats;
}

void Officials::keep(std::size_t whose, Heats answers) {
    if (answers.empty()) return;
    {
        const std::lock_guard lock(mutex_);
        looking_.push_back(std::make_unique<Run>(Run{whose, std::move(answers)}));
    }
    changed_.notify_all();
}

std::optional<std::pair<std::size_t, Cause>> Officials::found() {
    const std::lock_guard lock(mutex_);
    if (problem_) std::rethrow_exception(problem_);
    return found_;
}

std::optional<std::pair<std::size_t, Cause>> Officials::finish() {
    std::unique_lock lock(mutex_);
    finishing_ = true;
    wanted_ = 0;  // nobody will take them
    changed_.notify_all();
    changed_.wait(lock, [&] { return problem_ || found_ || looking_.empty(); });
    if (problem_) std::rethrow_exception(problem_);
    return found_;
}

Officials::Run* Officials::unbegun(const std::deque<std::unique_ptr<Run>>& runs) {
    const auto found = std::find_if(runs.begin(), runs.end(),
                                    [](const auto& run) { return run->begun < run->heats.size(); });
    return found == runs.end() ? nullptr : found->get();
}

void Officials::serve(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    for (;;) {
        const bool goes_on = changed_.wait(
            lock, stop, [&] { return !problem_ && (can_begin() || unbegun(making_) || to_look_at()); });
        if (!goes_on || stop.stop_requested()) return;
        // Whoever times waits for inputs.
        Run* run = unbegun(making_);
        if (!run && can_begin()) {
            --wanted_;
            run = making_.emplace_back(std::make_unique<Run>(Run{0, Heats(calls_)})).get();
        }
        const bool makes = run != nullptr;
        if (!makes) run = to_look_at();
        const bool can_wait = finishing_;
        Heat& heat = run->heats[run->begun++];
        lock.unlock();
        std::exception_ptr problem;
        {
            const Piece piece(stop, can_wait);
            if (!piece) return;
            try {
                makes ? make(heat) : look(run->whose, heat);
            } catch (...) {
                problem = std::current_exception();
            }
        }
        lock.lock();
        if (problem && !problem_) problem_ = problem;
        std::unique_ptr<Run> over;
        if (++run->ended == run->heats.size()) {
            auto& runs = makes ? making_ : looking_;
            const auto ended =
                std::find_if(runs.begin(), runs.end(), [&](const auto& other) { return other.get() == run; });
            over = std::move(*ended);
            runs.erase(ended);
            if (makes) ready_.push_back(std::move(over->heats));
        }
        changed_.notify_all();
        if (!over) continue;
        lock.unlock();
        over.reset();  // to give back a hundred megabytes takes its time
        lock.lock();
    }
}

void Officials::make(Heat& heat) const {
    heat.which = {timed_.problem, timed_.sizes, timed_.kind, random_seed()};
    heat.task = std::make_shared<const Task>(exam_.make(heat.which));
}

void Officials::look(std::size_t whose, const Heat& heat) {
    const Check check = exam_.check(heat.which, *heat.task, heat.outputs);
    if (check.passed) return;
    Cause cause{.kind = Verdict::wrong,
                .text = fmt::format("error {:.3g}, allowed {:.3g}{}", check.error, check.tolerance,
                                    check.cause.empty() ? "" : ": " + check.cause),
                .source = Source::exam,
                .which = describe(exam_, heat.which, *heat.task) + ", while timed"};
    const std::lock_guard lock(mutex_);
    if (!found_) found_.emplace(whose, std::move(cause));
}

}  // namespace rungs::judge
