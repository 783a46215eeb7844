#include "judge/judge.hpp"

#include <dlfcn.h>
#include <signal.h>
#include <sys/prctl.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "judge/build/build.hpp"
#include "judge/build/diagnostics.hpp"
#include "judge/build/edition.hpp"
#include "judge/checks.hpp"
#include "judge/clock/device.hpp"
#include "judge/clock/speed.hpp"
#include "judge/counts.hpp"
#include "judge/likely/likely.hpp"
#include "judge/predict.hpp"
#include "judge/result/defences.hpp"
#include "judge/result/points.hpp"
#include "judge/sanitizer.hpp"
#include "judge/session.hpp"
#include "rungs/compare.hpp"

namespace rungs::judge {
namespace {

namespace fs = std::filesystem;
using protocol::Region;

/// Do two answers to one question differ by more than the order of a sum can make of it? Atomics add in any
/// order, and that is no race.
template <class T>
bool differ(std::span<const T> a, std::span<const T> b) {
    double largest = 0;
    for (const T value : a) {
        if (std::isfinite(value)) largest = std::max(largest, std::abs(static_cast<double>(value)));
    }
    return !compare(a, b, {.absolute = (sizeof(T) == 4 ? 1e-5 : 1e-12) * largest}).passed();
}

/// The same for outputs, which were filled with other poison before each call: integers that still hold
/// it are no difference, as NaN is none among floats.
bool differ(const Array& a, const Array& b, std::uint32_t poison_a, std::uint32_t poison_b) {
    switch (a.element) {
        case Element::f32:
            return differ(a.as<float>(), b.as<float>());
        case Element::f64:
            return differ(a.as<double>(), b.as<double>());
        default:
            break;
    }
    if (a.bytes.size() != b.bytes.size()) return true;
    for (std::size_t at = 0; at < a.bytes.size(); at += sizeof poison_a) {
        std::uint32_t of_a = 0, of_b = 0;
        std::memcpy(&of_a, a.bytes.data() + at, sizeof of_a);
        std::memcpy(&of_b, b.bytes.data() + at, sizeof of_b);
        if (of_a != of_b && !(of_a == poison_a && of_b == poison_b)) return true;
    }
    return false;
}

/// Are two answers off by the same, but for what the exam allows for rounding?
bool same_but_for_rounding(const Check& a, const Check& b) {
    return a.tolerance > 0 && std::abs(a.error - b.error) <= a.tolerance;  // false for infinities
}

/// A sentence without its numbers: all that there is of an exam's cause to compare with another one.
std::string without_numbers(const std::string& text) {
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    std::string words;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (!is_digit(text[i])) {
            words += text[i];
            continue;
        }
        while (i + 1 < text.size() && (is_digit(text[i + 1]) || std::strchr(".e+-", text[i + 1]) != nullptr))
            ++i;
    }
    return words;
}

/// Does no number differ by more than rounding in float explains? Where one of the two is none, an iteration
/// may have ended earlier.
template <class T>
bool near(std::span<const T> a, std::span<const T> b) {
    double largest = 0;
    for (const T value : a) {
        if (std::isfinite(value)) largest = std::max(largest, std::abs(static_cast<double>(value)));
    }
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
        const double apart = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
        if (std::isfinite(apart) && apart > 1e-5 * largest) return false;
    }
    return true;
}

/// Are both answers to a task in float wrong in the same way? Sums by atomics round in any order, and then an
/// iteration that goes wrong ends now one step earlier and now one later.
bool same_fault(const Task& task, const Check& a, const std::vector<Array>& of_a, const Check& b,
                const std::vector<Array>& of_b) {
    const bool in_float = std::any_of(task.inputs.begin(), task.inputs.end(),
                                      [](const Array& input) { return input.element == Element::f32; });
    if (!in_float || a.tolerance <= 0 || b.passed || a.cause.empty() ||
        without_numbers(a.cause) != without_numbers(b.cause))
        return false;
    for (std::size_t i = 0; i < of_a.size(); ++i) {
        const bool single = of_a[i].element == Element::f32;
        if (!single && of_a[i].element != Element::f64) continue;
        if (!(single ? near(of_a[i].as<float>(), of_b[i].as<float>())
                     : near(of_a[i].as<double>(), of_b[i].as<double>())))
            return false;
    }
    return true;
}

/// Makes the inputs of cases, one after the other, ahead of their use.
class Tasks {
  public:
    Tasks(const Exam& exam, const std::vector<Case>& cases) : exam_(exam), cases_(cases) { begin(); }

    /// How many are in the making: one for each core that the caller does not need.
    std::size_t at_once() const { return std::max(2U, std::thread::hardware_concurrency()) - 1; }

    /// The next case's.
    std::shared_ptr<const Task> next() {
        std::shared_ptr<const Task> task = making_.front().get();
        making_.pop_front();
        bytes_ -= exam_.work(cases_[begun_ - making_.size() - 1]).least;
        begin();
        return task;
    }

  private:
    void begin() {
        constexpr double most_bytes = 2e9;
        while (begun_ < cases_.size() && making_.size() < at_once()) {
            const Case& which = cases_[begun_];
            const double bytes = exam_.work(which).least;
            if (!making_.empty() && bytes_ + bytes > most_bytes) return;
            bytes_ += bytes;
            ++begun_;
            making_.push_back(std::async(std::launch::async,
                                         [&] { return std::make_shared<const Task>(exam_.make(which)); }));
        }
    }

    const Exam& exam_;
    const std::vector<Case>& cases_;
    std::size_t begun_ = 0;
    double bytes_ = 0;  ///< of those in the making
    std::deque<std::future<std::shared_ptr<const Task>>> making_;
};

/// A call that came back, and the exam at work on its outputs.
struct Answered {
    const Case* which;
    std::shared_ptr<const Task> task;
    std::future<Check> check;
};

/// Judges the correctness of one rung on one worker executable.
class Examiner {
  public:
    Examiner(const Trial& trial, const fs::path& executable)
        : trial_(trial),
          exam_(trial.exam),
          options_(trial.options),
          session_(executable, worker_options(), std::min(worker_start_seconds, 10 * time_limit())) {}

    /// The case that failed, once examine() has found one.
    const std::optional<Case>& failing() const { return failing_; }

    /// What its calls have launched.
    const LaunchKinds& launched() const { return launched_; }

    /// Calls whose outputs were wrong, the smallest first.
    const std::vector<WrongCall>& wrong_calls() const { return wrong_calls_; }

    Check examined(const Case& which, const Task& task, const std::vector<Array>& outputs) const {
        Check check = exam_.check(which, task, outputs);
        if (!is_on(Defence::outputs)) check.passed = true;
        return check;
    }

    /// Calls one case after the other. On the other cores inputs are made before their turn, and outputs are
    /// examined while the next ones are computed.
    void examine(RungResult& result) {
        const std::vector<Case> cases =
            trial_.manifest.cases_of(trial_.rung, options_.backend, options_.seed);
        Correctness& correctness = result.correctness;
        correctness.cases = static_cast<int>(cases.size());
        const auto end = in_seconds(options_.budget);
        Tasks tasks(exam_, cases);
        std::deque<Answered> answered;
        // Examines the first of the cases that wait; one that fails is called and examined again, alone.
        const auto settle = [&] {
            Answered first = std::move(answered.front());
            answered.pop_front();
            const Check check = [&] {
                const Lap lap(result.profile, Part::expected);
                return first.check.get();
            }();
            if (check.passed) {
                put_error(correctness, check);
                ++correctness.passed;
                return true;
            }
            fail_again(result, *first.which, *first.task, check, end);
            return false;
        };
        bool failed = false;
        for (const Case& which : cases) {
            if (options_.progress) {
                options_.progress({trial_.rung, Phase::correctness, correctness.passed, correctness.cases});
            }
            std::shared_ptr<const Task> task = [&] {
                const Lap lap(result.profile, Part::inputs);
                return tasks.next();
            }();
            std::optional<Cause> cause;
            std::vector<Array> outputs;
            const double left = seconds_until(end);
            if (left <= 0) {
                cause = Cause{Verdict::timeout,
                              fmt::format("needed more than {} s for all calls", options_.budget)};
            } else {
                cause =
                    call(result, which, *task, lay_out(*task), std::min(left, time_limit(which)), outputs);
            }
            // What came before it decides, if that is wrong.
            while (!failed && !answered.empty() && (cause || answered.size() >= tasks.at_once()))
                failed = !settle();
            if (failed) break;
            if (cause) {
                fail(result, which, *task, std::move(*cause));
                if (left > 0) failing_ = which;
                break;
            }
            std::future<Check> check =
                std::async(std::launch::async, [this, &which, task, outputs = std::move(outputs)] {
                    return examined(which, *task, outputs);
                });
            answered.push_back({&which, std::move(task), std::move(check)});
        }
        while (!failed && !answered.empty()) failed = !settle();
        look_again();
        if (failed) look_for_smaller(result, cases);
        result.diagnostics += session_.printed();
        session_.end();
        if (result.verdict == Verdict::not_run) decide(result);
    }

  private:
    WorkerOptions worker_options() const {
        WorkerOptions how;
        how.backend = options_.backend;
        how.cpu_seconds = options_.budget + worker_start_seconds;
        how.stop = options_.stop;
        if (!is_on(Defence::own_seed)) how.order_seed = options_.seed;
        return how;
    }

    static double seconds_until(Clock::time_point end) {
        return std::chrono::duration<double>(end - Clock::now()).count();
    }

    /// On a GPU a call takes milliseconds.
    double time_limit() const {
        if (options_.time_limit > 0) return options_.time_limit;
        const double limit = trial_.rung.time_limit;
        return options_.backend == Backend::cuda ? std::min(4.0, limit) : limit;
    }

    /// Of a case, most of which are small. On two cores, beside another rung, no reference takes a third of
    /// it, but for chapter 5's longest solve.
    double time_limit(const Case& which) const {
        if (options_.time_limit > 0 || options_.backend == Backend::cuda) return time_limit();
        constexpr double least = 3, per_unit = 1e-6;
        return std::min(time_limit(), std::max(least, per_unit * exam_.work(which).size()));
    }

    /// All cases passed. What is left is whether everything was as it should be.
    void decide(RungResult& result) const {
        if (!late_change_.empty()) {
            result.decide({.kind = Verdict::suspect, .text = late_change_});
        } else if (counts_launches_ && launches_ == 0 && is_on(Defence::launches)) {
            result.decide(
                {.kind = Verdict::suspect, .text = "the results are right, but no kernel was launched"});
        } else if (const std::string why = by_the_host(); !why.empty()) {
            result.decide({.kind = Verdict::suspect, .text = why});
        } else if (first_left_ && is_on(Defence::scratch)) {
            result.correctness.failing_case = first_left_->which;
            result.decide(dirty_scratch(first_left_->what, first_left_->which));
        } else {
            result.verdict = Verdict::ok;
        }
    }

    /// The counts are those of a call on the CPU backend. On a GPU itself the case that moves most says
    /// whether the host could have done it.
    std::string by_the_host() const {
        if (options_.backend != Backend::cuda || trial_.rung.given() || !is_on(Defence::method)) return "";
        return seen_by_host(trial_, most_moved_, to_host_);
    }

    void fail(RungResult& result, const Case& which, const Task& task, Cause cause) {
        result.correctness.failing_case = cause.which = describe(exam_, which, task);
        result.decide(std::move(cause));
    }

    /// What a case that passed was off by, if that is the most so far.
    static void put_error(Correctness& correctness, const Check& check) {
        const auto relative = [](double error, double tolerance) {
            return tolerance > 0 ? error / tolerance : 0;
        };
        if (correctness.measure.empty() ||
            relative(check.error, check.tolerance) > relative(correctness.error, correctness.tolerance)) {
            correctness.error = check.error;
            correctness.tolerance = check.tolerance;
            correctness.measure = check.measure;
        }
    }

    /// Calls a case whose outputs were wrong again, to say why. `wrong`: what the exam said of them.
    void fail_again(RungResult& result, const Case& which, const Task& task, const Check& wrong,
                    Clock::time_point end) {
        failing_ = which;
        Correctness& correctness = result.correctness;
        put_mismatches(correctness, wrong);
        correctness.cause = wrong.cause;
        correctness.certain = wrong.certain;
        fail(result, which, task, wrong_outputs(correctness));  // whatever becomes of the closer look
        const double seconds = std::max(1.0, std::min(seconds_until(end), time_limit()));
        const Layout layout = lay_out(task);
        std::vector<Array> outputs;
        const std::string left = left_in_scratch_;  // by the calls before
        std::string cause = wrong.cause;
        if (!call(result, which, task, layout, seconds, outputs)) {
            const Check check = exam_.check(which, task, outputs);
            if (!check.passed) {
                note_wrong(which, task, outputs);
                cause = cause_of(result, which, task, layout, seconds, outputs, check, correctness);
                correctness.certain = check.certain && cause == check.cause;
            } else if (!same_but_for_rounding(wrong, check)) {
                correctness.varies = true;
            }
        }
        if (correctness.varies) {
            correctness.certain = false;
            cause = never_twice(left, cause);
        }
        correctness.cause = cause;
        result.say_why_outputs_are_wrong();
    }

    /// The smallest of the failing problem's cases that fails as well: the one to do by hand. Those before it
    /// have passed.
    void look_for_smaller(RungResult& result, const std::vector<Case>& cases) {
        constexpr double most_seconds = 3;
        const auto bytes = [&](const Case& which) { return exam_.work(which).least; };
        std::vector<const Case*> smaller;
        for (std::size_t i = static_cast<std::size_t>(result.correctness.passed); i < cases.size(); ++i) {
            const Case& which = cases[i];
            if (which.problem == failing_->problem && bytes(which) < bytes(*failing_))
                smaller.push_back(&which);
        }
        std::stable_sort(smaller.begin(), smaller.end(),
                         [&](const Case* a, const Case* b) { return bytes(*a) < bytes(*b); });
        if (!smaller.empty()) {  // what failed may have left its worker unfit
            result.diagnostics += session_.printed();
            session_.drop();
            committed_.clear();
        }
        const auto end = in_seconds(most_seconds);
        for (const Case* which : smaller) {
            const double left = seconds_until(end);
            if (left <= 0) return;
            const Task task = exam_.make(*which);
            std::vector<Array> outputs;
            // A call that does not come back, or faults, is another story.
            if (call(result, *which, task, lay_out(task), left, outputs)) return;
            if (exam_.check(*which, task, outputs).passed) continue;
            result.correctness.smallest_case = describe(exam_, *which, task);
            note_wrong(*which, task, outputs);
            return;
        }
    }

    void note_wrong(const Case& which, const Task& task, const std::vector<Array>& outputs) {
        if (options_.name_mistakes)
            wrong_calls_.insert(wrong_calls_.begin(), {which, std::make_shared<const Task>(task), outputs});
    }

    /// `left`: what calls before are known to have left in scratch memory.
    static std::string never_twice(const std::string& left, const std::string& from_exam) {
        return "the same call gives different results: a race, something is read that nothing has written, "
               "or the call before has left scratch memory that is not as it found it" +
               (left.empty() ? "" : " (it " + left + ")") + (from_exam.empty() ? "" : "; " + from_exam);
    }

    /// What a judge does that has no secrets: the answer is in the worker's memory.
    void tell(const Case& which, const Task& task) {
        std::vector<Array> nothing = task.outputs;
        for (Array& output : nothing)
            output.bytes.assign(output.count * size_of(output.element), std::byte{0xff});
        const Check check = exam_.check(which, task, nothing);
        if (!check.first.empty())
            session_.request().number[protocol::max_numbers - 1].real = check.first.front().expected;
    }

    /// One call with fresh content and poisoned outputs. On success `outputs` holds what the rung left, in
    /// memory that the worker never saw.
    std::optional<Cause> call(RungResult& result, const Case& which, const Task& task, const Layout& layout,
                              double seconds, std::vector<Array>& outputs) {
        look_again();
        committed_.clear();
        if (!session_.has_room(layout)) {
            if (options_.progress) options_.progress({trial_.rung, Phase::start, 0, 0});
            const Lap lap(result.profile, Part::start);
            if (std::optional<Cause> cause = session_.provide(layout)) return cause;
        }
        const Lap lap(result.profile, Part::calls);
        if (std::optional<Cause> cause = session_.prepare(which.problem, task, layout)) return cause;
        if (!is_on(Defence::secrecy)) tell(which, task);
        WorkerProcess& worker = session_.worker();
        if (std::optional<Cause> cause = worker.command(protocol::all_steps, seconds)) return cause;
        if (!is_on(Defence::commit)) std::this_thread::sleep_for(std::chrono::milliseconds(100));
        // Commit: whatever the worker does from here on comes too late.
        committed_.assign(worker.out() + protocol::reply_bytes, worker.out() + layout.out_bytes);
        const protocol::Reply reply = worker.reply();
        launched_.note(reply, which);
        counts_launches_ = reply.counts_launches != 0;
        launches_ = reply.launches;
        if (options_.backend == Backend::cuda) {
            if (const double least = exam_.work(which).least; least > most_moved_) {
                most_moved_ = least;
                to_host_ = static_cast<double>(reply.to_host);
            }
        }
        if (std::string left = left_in_scratch(reply); !left.empty()) {
            left_in_scratch_ = std::move(left);
            if (!first_left_) first_left_ = FirstLeft{describe(exam_, which, task), left_in_scratch_};
        }
        if (std::optional<Cause> cause = worker.complaint()) return cause;
        if (std::optional<Cause> cause = outside(task, layout); cause && is_on(Defence::guards)) return cause;
        outputs = outputs_in(task, layout, committed_.data());
        return std::nullopt;
    }

    const std::byte* committed(const Region& region) const {
        return committed_.data() + (region.out_offset - protocol::reply_bytes);
    }

    /// Did the rung write anywhere but to its outputs? Inputs and guards must be as they were.
    std::optional<Cause> outside(const Task& task, const Layout& layout) {
        for (std::size_t i = 0; i < layout.regions.size(); ++i) {
            const Region& region = layout.regions[i];
            const bool input = i < task.inputs.size();
            const Array& array = input ? task.inputs[i] : task.outputs[i - task.inputs.size()];
            const std::size_t element = size_of(array.element);
            const std::byte* before = session_.before(region);
            const std::byte* after = committed(region);
            const std::size_t last = region.lead + array.count * element;
            const auto differs = [&](std::size_t from, std::size_t to) -> std::optional<std::size_t> {
                const auto at = std::mismatch(before + from, before + to, after + from).first;
                if (at == before + to) return std::nullopt;
                return static_cast<std::size_t>(at - before);
            };
            if (const auto at = differs(last, region.bytes)) {
                return Cause{
                    Verdict::out_of_bounds,
                    fmt::format("wrote past the end of '{}' ({} element{}), at index {}", array.name,
                                array.count, array.count == 1 ? "" : "s", (*at - region.lead) / element)};
            }
            if (const auto at = differs(0, region.lead)) {
                return Cause{Verdict::out_of_bounds,
                             fmt::format("wrote before the beginning of '{}', at index -{}", array.name,
                                         (region.lead - *at + element - 1) / element)};
            }
            if (const auto at = input ? differs(region.lead, last) : std::nullopt) {
                return Cause{Verdict::out_of_bounds, fmt::format("wrote into its input '{}', at index {}",
                                                                 array.name, (*at - region.lead) / element)};
            }
        }
        return std::nullopt;
    }

    /// The judge has its copy; if the worker's memory has changed since, something ran on behind its back.
    void look_again() {
        if (!late_change_.empty() || committed_.empty() || !is_on(Defence::late_look)) return;
        if (std::memcmp(committed_.data(), session_.worker().out() + protocol::reply_bytes,
                        committed_.size()) != 0) {
            late_change_ = "something still wrote to the outputs after the call had returned";
        }
    }

    /// The exam's explanation, unless a closer look gives a better one, and whether results vary.
    std::string cause_of(RungResult& result, const Case& which, const Task& task, const Layout& layout,
                         double seconds, const std::vector<Array>& outputs, const Check& check,
                         Correctness& correctness) {
        const std::string& from_exam = check.cause;
        const auto poisoned = [&](std::size_t i) {
            const Region& region = layout.regions[task.inputs.size() + i];
            const std::byte* initial = session_.before(region) + region.lead;
            // What has content beforehand may stay as it is, unless the exam says so of the answer.
            const bool may_stay = !task.outputs[i].bytes.empty() && (i > 0 || check.unwritten.empty());
            return task.outputs[i].count > 0 && !may_stay &&
                   std::memcmp(initial, outputs[i].bytes.data(), outputs[i].bytes.size()) == 0;
        };
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            if (poisoned(i)) {
                correctness.unwritten = true;
                return fmt::format("'{}' was never written{}{}", outputs[i].name,
                                   check.unwritten.empty() ? "" : ": ", check.unwritten);
            }
        }
        // A NaN keeps its payload through additions: this one is the grader's, from around the inputs.
        const std::uint32_t payload = session_.secrets().guard & 0x003FFFFFU;
        for (const Array& output : outputs) {
            if (output.element != Element::f32) continue;
            for (const float value : output.as<float>()) {
                std::uint32_t bits = 0;
                std::memcpy(&bits, &value, sizeof bits);
                if (std::isnan(value) && (bits & 0x003FFFFFU) == payload) {
                    return "it read outside its inputs: the NaN comes from there";
                }
            }
        }
        const std::uint32_t poison = session_.secrets().poison;
        std::vector<Array> second;
        if (call(result, which, task, layout, seconds, second)) return from_exam;
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            if (!differ(outputs[i], second[i], poison, session_.secrets().poison)) continue;
            const Check again = exam_.check(which, task, second);
            correctness.varies =
                !same_but_for_rounding(check, again) && !same_fault(task, check, outputs, again, second);
            break;
        }
        return from_exam;
    }

    const Trial& trial_;
    const Exam& exam_;             ///< of `trial_`
    const JudgeOptions& options_;  ///< of `trial_`
    Session session_;
    std::vector<std::byte> committed_;
    std::optional<Case> failing_;
    std::vector<WrongCall> wrong_calls_;
    std::string late_change_;
    std::string left_in_scratch_;  ///< by the last call that left anything, as the end of a sentence
    struct FirstLeft {
        std::string which, what;
    };
    std::optional<FirstLeft> first_left_;
    bool counts_launches_ = false;
    std::uint64_t launches_ = 0;
    LaunchKinds launched_;
    double most_moved_ = 0;  ///< bytes that the largest case so far has to move
    double to_host_ = 0;     ///< bytes of that call which the host may have seen
};

/// Names the mistake that, made in the reference, gives what the rung has left. Not if the exam is certain of
/// the cause. @throws Stopped
void name_mistake(RungResult& result, const Trial& trial, const std::vector<WrongCall>& calls) {
    Correctness& correctness = result.correctness;
    const bool headline =
        correctness.cause.empty() && correctness.first.empty() && !std::isfinite(correctness.error);
    if (!trial.options.name_mistakes || correctness.varies || correctness.unwritten || correctness.certain ||
        headline)
        return;
    std::string mistake;
    try {
        mistake = likely_mistake(trial, calls);
    } catch (const std::exception&) {  // the verdict does not need it
        return;
    }
    if (mistake.empty()) return;
    correctness.cause = correctness.cause.empty() ? mistake : mistake + "; " + correctness.cause;
    result.say_why_outputs_are_wrong();
}

/// Moves what SecondLook has put into one result into another; with `counts_alone` only what was counted. All
/// fields are named: one that is new does not compile before somebody has decided whose it is.
void move_looked_at(RungResult& from, RungResult& to, bool counts_alone) {
    auto& [chapter, rung, given, verdict, judged, points, max_points, causes, correctness, checks, counters,
           modelled, speed, predictions, diagnostics, profile, seconds, build_seconds, cached, sandbox,
           seed] = from;
    to.counters = std::move(counters);
    to.modelled = std::move(modelled);
    to.verdict = verdict;
    for (std::size_t i = 0; i < parts; ++i) {
        const auto part = static_cast<Part>(i);
        to.profile.add(part, profile.seconds(part));
    }
    to.causes.insert(to.causes.begin(), causes.begin(), causes.end());
    if (counts_alone) return;
    to.checks = std::move(checks);
    if (!correctness.failing_case.empty()) {
        correctness.cases = to.correctness.cases;
        correctness.passed = to.correctness.passed;
        to.correctness = std::move(correctness);
    }
}

/// Check mode and the counters, on a thread beside run mode, as if that had found the rung right:
///   run mode  examines --------> put() ---------------------> waits for look()
///   look()    builds and checks ---------------------> counts, or takes `counted_`
///   ahead_                       counts into `counted_` ->    begun by put() if look() still checks
class SecondLook {
  public:
    SecondLook(const RungResult& before, const Trial& trial)
        : stop_asked_(trial.options.stop),
          progress_(trial.options.progress),
          options_(trial.options),
          trial_(trial.with(options_)),
          result_(before) {
        options_.stop = &stop_;
        options_.progress = [this](const PhaseProgress& now) {
            const std::lock_guard lock(mutex_);
            now_.emplace(now);
        };
        result_.verdict = Verdict::ok;
        result_.profile = {};
        counted_ = result_;
        counted_.checks.done = true;
        ended_ = std::async(std::launch::async, [this] { look(); });
    }
    ~SecondLook() { stop_ = not_counted_ = true; }
    SecondLook(const SecondLook&) = delete;
    SecondLook& operator=(const SecondLook&) = delete;

    /// Puts what it found into the result of a rung in which run mode found no fault.
    /// @throws Stopped, InfraError
    void put(RungResult& result) {
        count_ahead();
        wait(result.profile);
        ended_.get();
        move_looked_at(result_, result, false);
    }

  private:
    void look() {
        {  // Not stopped with the rest: the search for the cause of a fault needs it, too.
            JudgeOptions how = options_;
            how.stop = stop_asked_;
            const Lap lap(result_.profile, Part::check_build);
            build_worker(trial_.with(how), Backend::cpu, Mode::check);
        }
        set_checking(true);
        judge_checks(result_, trial_, std::nullopt);
        set_checking(false);
        if (!put_counted()) judge_counts(result_, trial_);
        doubt_checks(result_, trial_);
    }

    void set_checking(bool checking) {
        const std::lock_guard lock(mutex_);
        checking_ = checking;
    }

    /// Run mode needs its core no more: the calls are counted beside those that are checked, as if nothing
    /// were found in these.
    void count_ahead() {
        const std::lock_guard lock(mutex_);
        if (!checking_) return;
        ahead_ = std::async(std::launch::async, [this] {
            JudgeOptions how = options_;
            how.stop = &not_counted_;
            how.progress = nullptr;
            judge_counts(counted_, trial_.with(how));
        });
    }

    /// Puts in what was counted ahead. @returns false where it was not, or where something was found on the
    /// way that belongs to the checks
    bool put_counted() {
        if (!ahead_.valid()) return false;
        if (!result_.passed() || !result_.checks.done) not_counted_ = true;
        if (not_counted_) return false;
        ahead_.get();
        if (!counted_.checks.findings.empty() || !counted_.correctness.failing_case.empty()) return false;
        move_looked_at(counted_, result_, true);
        return true;
    }

    /// Waits until it has come to its end.
    void wait(Profile& profile) {
        const Lap lap(profile, Part::waiting);
        while (ended_.wait_for(std::chrono::milliseconds(20)) != std::future_status::ready) {
            if (stop_asked_ && *stop_asked_) stop_ = not_counted_ = true;
            const std::lock_guard lock(mutex_);
            if (progress_ && now_) progress_(*now_);
            now_.reset();
        }
    }

    const std::atomic<bool>* stop_asked_;
    std::function<void(const PhaseProgress&)> progress_;
    JudgeOptions options_;
    const Trial trial_;  ///< with these
    RungResult result_, counted_;
    std::mutex mutex_;  ///< of the following two, and of how ahead_ begins
    std::optional<PhaseProgress> now_;
    bool checking_ = false;
    std::atomic<bool> stop_{false}, not_counted_{false};
    std::future<void> ahead_, ended_;  // last: they wait for the threads, which use all others
};

void judge_into(RungResult& result, const Trial& trial) {
    const RungEntry& rung = trial.rung;
    const JudgeOptions& options = trial.options;
    if (rung.kind == Kind::predict) return judge_answers(result, trial);
    const BackendTools* tools = options.toolchain.tools(options.backend);
    if (!tools) {
        return result.decide(
            {.kind = Verdict::not_run,
             .text = fmt::format("the {} backend was not built here{}", name_of(options.backend),
                                 options.backend == Backend::cuda ? ": no nvcc was found" : ""),
             .source = Source::setup});
    }
    if (options.backend == Backend::cuda) {
        const Lap lap(result.profile, Part::start);
        if (const std::string missing = Device::missing(); !missing.empty()) {
            return result.decide(
                {.kind = Verdict::not_run, .text = "no GPU: " + missing, .source = Source::setup});
        }
    }
    if (options.progress) options.progress({rung, Phase::build, 0, 0});
    std::optional<SecondLook> second;
    // On a GPU, too: a fault that leaves every value right shows in check mode alone.
    if (options.checks && (!options.sanitize || rung.kind == Kind::repair)) second.emplace(result, trial);
    const bool timed = options.backend == Backend::cuda && options.speed;
    std::future<void> rivals;
    if (timed) rivals = build_rivals(trial);
    const Build build = [&] {
        const Lap lap(result.profile, Part::build);
        return build_worker(trial, options.backend);
    }();
    result.build_seconds = build.seconds;
    result.cached = build.cached;
    result.diagnostics = build.diagnostics;
    if (build.executable.empty()) {
        return result.decide({.kind = Verdict::compile_error,
                              .text = build.reason,
                              .limited = build.limited,
                              .source = Source::build});
    }
    Examiner examiner(trial, build.executable);
    examiner.examine(result);
    if (second && result.verdict == Verdict::ok) {
        second->put(result);
        if (options.backend == Backend::cpu)
            check_the_rest(result, trial, examiner.launched(), build.executable);
    } else if (second) {
        second.reset();
        judge_checks(result, trial, examiner.failing());
        // It spares one case and meets another, large or small.
        if (result.verdict == Verdict::race) result.correctness.smallest_case.clear();
        judge_counts(result, trial);
    }
    if (result.verdict == Verdict::wrong) name_mistake(result, trial, examiner.wrong_calls());
    if (options.backend == Backend::cuda && options.sanitize) {
        const Lap lap(result.profile, Part::tools);
        judge_sanitized(result, trial);
    }
    if (result.verdict == Verdict::ok && timed) {
        {
            const Lap lap(result.profile, Part::clock_builds);
            rivals.wait();
        }
        try {
            judge_speed(result, trial, build.executable);
        } catch (const InfraError& error) {
            // A reference that was compiled elsewhere may not run here.
            if (!is_edition(options.toolchain.root)) throw;
            result.speed.why_not =
                "speed: not judged in this student edition: " + one_line(error.what(), 200);
        }
    }
}

}  // namespace

fs::path exam_module(const Manifest& manifest) { return fs::path(RUNGS_EXAMS) / (manifest.chapter + ".so"); }

std::unique_ptr<Exam> exam_of(const Manifest& manifest) {
    // A module is never unloaded: what an exam has made may outlive it.
    void* const loaded = dlopen(exam_module(manifest).c_str(), RTLD_NOW | RTLD_LOCAL);
    void* const entry = loaded ? dlsym(loaded, "rungs_new_exam") : nullptr;
    if (!entry) {
        throw InfraError(
            fmt::format("the exam of chapter {} cannot be loaded ({}); build again: ./rungs check {}",
                        manifest.chapter, dlerror(), manifest.chapter.substr(0, 2)));
    }
    return std::unique_ptr<Exam>(reinterpret_cast<decltype(&rungs_new_exam)>(entry)());
}

void prepare_process() {
    static std::once_flag once;
    std::call_once(once, [] {
        signal(SIGPIPE, SIG_IGN);
        prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    });
}

double max_points(const RungEntry& rung, Backend backend) {
    const bool with_speed = rung.speed && (backend == Backend::cuda || rung.speed->modelled);
    return hundredths(rung.points + (with_speed ? rung.speed->points : 0));
}

RungResult judge_rung(const Trial& trial) {
    const RungEntry& rung = trial.rung;
    const JudgeOptions& options = trial.options;
    prepare_process();
    const auto start = Clock::now();
    RungResult result;
    result.chapter = trial.manifest.chapter;
    result.rung = rung.name;
    result.given = rung.given();
    result.seed = options.seed;
    const bool with_tool = options.backend == Backend::cuda && options.sanitize;
    result.sandbox = with_tool ? tool_level().name : sandbox_level(options.backend).name;
    const bool with_speed = options.backend == Backend::cuda && options.speed;
    const bool with_model = options.backend == Backend::cpu && options.checks;
    result.max_points = with_speed || with_model ? max_points(rung, options.backend) : rung.points;
    for (std::string* why_not :
         {&result.checks.why_not, &result.counters.why_not, &result.modelled.why_not}) {
        if (!options.checks) *why_not = "not asked for";
        if (options.sanitize) *why_not = "not done: compute-sanitizer looks at the rung instead";
    }
    if (rung.kind == Kind::predict) {
        for (std::string* why_not : {&result.checks.why_not, &result.counters.why_not,
                                     &result.modelled.why_not, &result.speed.why_not})
            *why_not = "the rung asks for numbers and has no kernel";
    } else if (!with_speed) {
        result.speed.needs_gpu = options.backend == Backend::cpu && rung.speed && !rung.speed->modelled;
        result.speed.why_not = result.speed.needs_gpu            ? "speed: only a GPU can tell"
                               : options.backend == Backend::cpu ? "speed: not judged on this backend"
                                                                 : "speed: not asked for";
    }
    try {
        judge_into(result, trial);
    } catch (const Stopped&) {
        result.decide({.kind = Verdict::not_run, .text = "stopped", .source = Source::setup});
    } catch (const std::exception& error) {
        // Ours, whatever it is: a submission that made the judge throw has no points, and somebody
        // looks at it.
        result.decide({.kind = Verdict::infra, .text = one_line(error.what(), 500), .source = Source::setup});
    }
    result.judged = owner_of(result.verdict) == Owner::student;
    if (result.judged && result.passed()) {
        // What nobody looked at could not be earned, unless there was no need to look.
        if (rung.speed && !result.speed.judged && !result.modelled.done && result.counters.beyond.empty())
            result.max_points = rung.points;
        result.points = (result.counters.beyond.empty() ? 1 : 0.5) * rung.points + result.modelled.points +
                        result.speed.points;
    }
    if (result.judged && !result.predictions.empty()) {
        const auto right = std::count_if(result.predictions.begin(), result.predictions.end(),
                                         [](const Prediction& one) { return one.right; });
        result.points =
            rung.points * static_cast<double>(right) / static_cast<double>(result.predictions.size());
    }
    result.points =
        std::isfinite(result.points) ? std::clamp(hundredths(result.points), 0.0, result.max_points) : 0;
    result.seconds =
        std::chrono::duration<double>(Clock::now() - start).count() - result.profile.seconds(Part::turn);
    return result;
}

}  // namespace rungs::judge
