#include "judge/clock/speed.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <new>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "judge/build/build.hpp"
#include "judge/build/edition.hpp"
#include "judge/clock/gpu_clock.hpp"
#include "judge/clock/quiet.hpp"
#include "judge/clock/race.hpp"
#include "judge/result/defences.hpp"
#include "rungs/statistics.hpp"

namespace rungs::judge {
namespace {

namespace fs = std::filesystem;

constexpr int warm_up_pairs = 3;
/// Runs that take this long together have warmed up whatever there is.
constexpr double warm_seconds = 0.3;
/// A run that takes longer does not notice what came before it.
constexpr double long_seconds = 0.05;
constexpr std::size_t control_pairs = 10;
/// So much slower beside a rung's process than without it is no chance, where it is more of a run than this:
/// a worker wakes up some 20 us sooner when there is less on the machine.
constexpr double slowed = 1.15;
constexpr double wake_seconds = 30e-6;
/// Enough where no points depend on it: so many pairs, or fewer that have taken as long as that.
constexpr double glance_seconds = 1;
constexpr std::size_t glance_pairs = 5, least_glance_pairs = 3;
/// Measured once by a process: it is the machine's.
double fma_roof() {
    static const double roof = Device::fma_roof();
    return roof;
}

/// The worker of a reference or baseline.
fs::path built(const Trial& reference) {
    const fs::path& root = reference.options.toolchain.root;
    const RungEntry& rung = reference.rung;
    if (!rung.given() && is_edition(root)) return edition_worker(root, reference.manifest, rung);
    const Build build = build_worker(reference, reference.options.backend);
    if (build.executable.empty()) throw InfraError(fmt::format("{}: {}", rung.name, build.reason));
    return build.executable;
}

/// The rung that the speed of a rung refers to, if there is one that solves the timed problem.
const RungEntry* baseline_of(const Trial& trial, const TimedCase& timed) {
    const std::vector<RungEntry>& rungs = trial.manifest.rungs;
    const auto found = std::find_if(rungs.begin(), rungs.end(), [&](const RungEntry& other) {
        return trial.rung.speed ? other.name == trial.rung.speed->baseline
                                : other.given() && other.solves(timed.problem);
    });
    return found == rungs.end() ? nullptr : &*found;
}

/// How long to go on, for a rung of its kind.
SpeedTest::Options test_of(const RungEntry& rung) {
    SpeedTest::Options how;
    if (!rung.speed) {
        how.block = how.cap = glance_pairs;
        return how;
    }
    how.zero = rung.speed->zero;
    how.more = how.cap;
    if (!rung.speed->to_reference) return how;
    // A summit's points end at the reference, and whoever is ahead of it wants to know for certain. They
    // follow the ratio: an interval of a few percent moves them by as much, and makes nothing right or wrong.
    how.zero = how.slack = 0;
    how.level = true;
    how.narrow = 0.03;
    how.unstable_beyond = 0.1;
    return how;
}

/// Times one rung against its baseline and its reference.
class Timing {
  public:
    Timing(RungResult& result, const Trial& trial, const TimedCase& timed, const RungEntry& baseline,
           const fs::path& executable)
        : result_(result),
          speed_(result.speed),
          trial_(trial),
          rung_(trial.rung),
          timed_(timed),
          baseline_(baseline),
          executable_(executable),
          summit_(rung_.speed && rung_.speed->to_reference),
          limit_(trial.options.time_limit > 0 ? trial.options.time_limit : rung_.time_limit),
          how_(test_of(rung_)),
          test_(rung_.speed && !summit_ ? rung_.speed->full : 1.0, how_),
          random_(std::random_device{}()) {}

    /// Fills in what judge_speed() promises.
    void judge() {
        if (enter() && all_have_started() && race() && leave()) conclude();
    }

  private:
    enum Place : std::size_t { own, slower, fastest };  ///< of a contestant

    /// Makes `cause` the verdict. @returns false: there is nothing more to do
    bool decide(Cause cause) {
        result_.decide(std::move(cause));
        return false;
    }
    bool decide(Verdict verdict, std::string text) {
        return decide({.kind = verdict, .text = std::move(text), .source = Source::speed});
    }

    bool cannot(const std::string& why) {
        speed_.why_not = "speed: " + why;
        return false;
    }

    /// Starts all processes, the rung's own last. @returns false where nothing can be timed
    bool enter() {
        const JudgeOptions& options = trial_.options;
        std::optional<Lap> lap(std::in_place, result_.profile, Part::clock_builds);
        slow_ = built(trial_.reference(baseline_));
        best_ = built(trial_.reference());
        lap.emplace(result_.profile, Part::turn);
        if (options.before_timing) options.before_timing();
        turn_.emplace();
        lap.emplace(result_.profile, Part::inputs);
        const auto starting = [&](const fs::path& contestant, const std::string& name) {
            return std::async(std::launch::async, start_runner, contestant, name, std::cref(options));
        };
        // Runs before every pair and is not counted. It is a process of its own, since running twice in a
        // row is an advantage.
        std::future<Contestant> pace = starting(best_, "the reference");
        std::future<Contestant> slower_one = starting(slow_, baseline_.name),
                                fastest_one = starting(best_, "the reference");
        std::array<std::shared_ptr<Arena>, 4> arenas;
        try {
            race_ = std::make_unique<Race>(timed_, trial_.exam);
            for (auto& arena : arenas) arena = race_->arena();
            if (!is_on(Defence::own_arena)) arenas.fill(arenas[0]);
        } catch (const std::bad_alloc&) {
            return cannot("the timed case does not fit into this GPU's free memory");
        }
        if (!arenas[0]->shared) return cannot("this system does not share GPU memory between processes");
        want(1 + how_.block);  // one for the pairs that warm up
        speed_.trust = "judge's clock and memory";
        speed_.baseline = baseline_.name;
        lap.emplace(result_.profile, Part::start);
        pacemaker_ = pace.get();
        contestants_[slower] = slower_one.get();
        contestants_[fastest] = fastest_one.get();
        if (pacemaker_.failure) throw InfraError("the reference: " + pacemaker_.failure->text);
        pacemaker_.arena = std::move(arenas[3]);
        // From here on nothing but the clock: whoever makes inputs is done.
        lap.emplace(result_.profile, Part::inputs);
        race_->wait_for_inputs();
        quiet_.emplace();
        lap.emplace(result_.profile, Part::clock);
        speed_.roof = race_->roof();
        speed_.fma_roof = fma_roof();
        null_ = race_->null_seconds(pacemaker_);
        lap.emplace(result_.profile, Part::start);
        contestants_[own] = start_runner(executable_, rung_.name, options);
        for (std::size_t i = 0; i < contestants_.size(); ++i) contestants_[i].arena = std::move(arenas[i]);
        if (!is_on(Defence::null_alone) && !contestants_[own].failure)
            null_ = race_->null_seconds(contestants_[own]);
        return true;
    }

    bool all_have_started() {
        for (const Place place : {slower, fastest}) {
            Contestant& other = contestants_[place];
            if (other.failure) return failed_beside(other, *other.failure);
        }
        return !contestants_[own].failure || decide(std::move(*contestants_[own].failure));
    }

    /// One of the workbook's own has failed. If it fails again beside the rung's process, and runs once that
    /// is gone, it was not the machine. @returns false @throws InfraError: it was
    bool failed_beside(Contestant& other, const Cause& failure) {
        const std::string text = fmt::format("{}: {}", other.name, failure.text);
        other.session->end();
        const auto fails_again = [&] {
            const fs::path& executable = &other == &contestants_[slower] ? slow_ : best_;
            Contestant again = start_runner(executable, other.name, trial_.options);
            again.arena = std::move(other.arena);
            double seconds = 0;
            const bool fails = again.failure || race_->run(again, limit_, null_, seconds);
            again.session->end();
            other.arena = std::move(again.arena);
            return fails;
        };
        if (!is_on(Defence::blame) || !fails_again()) throw InfraError(text);
        contestants_[own].session->end();
        if (fails_again()) throw InfraError(text);
        return decide(Verdict::suspect,
                      fmt::format("{}; twice while the rung's process was there, and not once it was gone: "
                                  "does it take the device's memory?",
                                  text));
    }

    /// What is wrong with the rung's answers; with another's, it is the workbook's fault.
    std::optional<Cause> wrong(std::optional<std::pair<std::size_t, Cause>> found) const {
        if (!found) return std::nullopt;
        auto& [whose, cause] = *found;
        if (whose != own) throw InfraError(fmt::format("{}: {}", contestants_[whose].name, cause.text));
        return std::move(cause);
    }

    /// Times pairs until enough is known. @returns false where there is a verdict
    bool race() {
        const auto end = in_seconds(trial_.options.budget);
        const auto glance = in_seconds(glance_seconds);
        const GpuClock clock(Device::bus_id());
        for (int pair = -warm_up_pairs; test_.wants_more() && Clock::now() < end; ++pair) {
            if (!rung_.speed && test_.pairs() >= least_glance_pairs && Clock::now() > glance) break;
            if (trial_.options.progress) trial_.options.progress({rung_, Phase::speed, std::max(pair, 0), 0});
            if (!run_pair(pair)) return false;
            clock.look(speed_.conditions);
            if (pair >= 0) {
                test_.add(contestants_[summit_ ? fastest : slower].seconds.back(),
                          contestants_[own].seconds.back());
            } else if (warmed_ > warm_seconds) {
                pair = -1;
            }
        }
        if (test_.pairs() == 0)
            throw InfraError("the time for one rung ran out before speed could be measured");
        return true;
    }

    /// One run of each contestant on the same inputs. @returns false where there is a verdict
    bool run_pair(int pair) {
        // Warming up, all pairs have the inputs of the first: no time of theirs counts.
        const bool first = pair == -warm_up_pairs, counts = pair >= 0;
        if (auto cause = wrong(race_->found())) return decide(std::move(*cause));
        if (first || counts) take_inputs();
        std::shuffle(order_.begin(), order_.end(), random_);
        if (one_run_ < long_seconds && !run_pacemaker()) return false;
        return std::all_of(order_.begin(), order_.end(),
                           [&](Place place) { return run(place, first, counts); });
    }

    void want(std::size_t pairs) {
        race_->want(pairs);
        inputs_ += pairs;
    }

    void take_inputs() {
        if (inputs_ == 0) want(how_.block);
        --inputs_;
        const Lap making(result_.profile, Part::inputs);
        if (!race_->has_inputs()) {
            quiet_.reset();
            race_->wait_for_inputs();
            quiet_.emplace();
        }
        race_->next_inputs();
    }

    /// The first run after an upload is now and then a quarter faster than all that follow (chapter 1's last
    /// rung on an H200: 370 us instead of 500). Nobody's is counted.
    bool run_pacemaker() {
        const Lap timing(result_.profile, Part::clock);
        double uncounted = 0;
        const auto cause = race_->run(pacemaker_, limit_, null_, uncounted);
        return !cause || failed_beside(pacemaker_, *cause);
    }

    bool run(Place place, bool first, bool counts) {
        Contestant& contestant = contestants_[place];
        double seconds = 0;
        std::optional<Lap> timing(std::in_place, result_.profile, Part::clock);
        auto cause = race_->run(contestant, limit_, null_, seconds);
        timing.reset();
        if (cause && place != own) return failed_beside(contestant, *cause);
        if (cause) return decide(std::move(*cause));
        // Whoever leaves something out has to be faster for it. A time that is no faster than others before
        // it earns nothing; of those one in eight is looked at, which nobody can foresee. The baseline and
        // the reference are the workbook's own: one look tells that they run here. Where no points depend on
        // a time, one call in each run is enough.
        const bool looked_at =
            counts && place == own && (may_count(contestant.seconds, seconds) || random_() % 8 == 0);
        if (counts) contestant.seconds.push_back(seconds);
        if (place != own) warmed_ += seconds * timed_.calls;
        if (place == fastest) one_run_ = seconds * timed_.calls;
        if (first || looked_at) {
            const Lap keeping(result_.profile, Part::expected);
            race_->keep(place, place == own && rung_.speed);
        }
        return true;
    }

    /// A process that keeps the GPU or the cores busy while others are timed would gain by it. So those run
    /// once more when it is gone.
    void time_alone() {
        const Lap timing(result_.profile, Part::clock);
        const std::size_t pairs = std::min(control_pairs, test_.pairs());
        for (std::size_t pair = 0; pair < pairs; ++pair) {
            for (Contestant* const other : {&pacemaker_, &contestants_[slower], &contestants_[fastest]}) {
                double seconds = 0;
                if (const auto cause = race_->run(*other, limit_, null_, seconds))
                    throw InfraError(fmt::format("{}: {}", other->name, cause->text));
                other->alone.push_back(seconds);
            }
        }
    }

    /// Ends all processes, the rung's own first, and looks at the answers that are left. @returns false where
    /// one is wrong
    bool leave() {
        std::exception_ptr failure;  // excuses no wrong answer
        try {
            contestants_[own].session->end();
            if (rung_.speed) time_alone();
        } catch (const std::exception&) {
            failure = std::current_exception();
        }
        quiet_.reset();
        end_processes(failure);
        turn_.reset();
        {  // when it is nobody's turn
            const Lap judging(result_.profile, Part::expected);
            if (auto cause = wrong(race_->look_at_rest())) return decide(std::move(*cause));
        }
        if (failure) std::rethrow_exception(failure);
        return true;
    }

    /// The next rung can have the clock; where there is memory for two, while these processes end: it times
    /// nothing before they are gone. Not after a failure.
    void end_processes(std::exception_ptr& failure) {
        const auto pass_on = [&] {
            if (!failure && trial_.options.after_timing) trial_.options.after_timing();
        };
        const Piece leaving(std::stop_token{});
        bool early = false;
        try {
            early = Device::free_part() > 0.5;
            if (early) pass_on();
            in_parallel(contestants_.size(),
                        [&](std::size_t i) { (i == own ? pacemaker_ : contestants_[i]).session->end(); });
        } catch (const std::exception&) {
            if (!failure) failure = std::current_exception();
        }
        for (Contestant& one : contestants_) one.arena.reset();
        pacemaker_.arena.reset();
        race_->leave_device();
        if (!early) pass_on();
    }

    /// What follows from the times.
    void conclude() {
        put_times();
        if (const double least = least_bytes_ / speed_.seconds; least > Speed::implausible * speed_.roof) {
            decide(Verdict::suspect,
                   fmt::format("faster than this GPU's memory: {:.0f} GB/s, and a copy reaches {:.0f}",
                               1e-9 * least, 1e-9 * speed_.roof));
            return;
        }
        if (!rung_.speed || keeps_busy(contestants_[slower]) || keeps_busy(contestants_[fastest])) return;
        if (test_.outcome() == SpeedTest::Outcome::unstable) {
            decide(Verdict::unstable, "time varies too much to decide: " + test_.summary() +
                                          "; measure again on a quiet machine");
            return;
        }
        put_points();
    }

    void put_times() {
        const Contestant &mine = contestants_[own], &slow = contestants_[slower],
                         &best = contestants_[fastest];
        const Ratio ratio = speed_ratio(slow.seconds, mine.seconds),
                    of_reference = speed_ratio(best.seconds, mine.seconds);
        speed_.judged = true;
        speed_.speedup = ratio.value;
        speed_.low = ratio.low;
        speed_.high = ratio.high;
        speed_.pairs = static_cast<int>(test_.pairs());
        speed_.times = {RawTimes::of(mine.seconds), RawTimes::of(slow.seconds), RawTimes::of(best.seconds),
                        RawTimes::of(slow.alone), RawTimes::of(best.alone)};
        speed_.decided =
            test_.outcome() == SpeedTest::Outcome::above || test_.outcome() == SpeedTest::Outcome::below;
        speed_.seconds = quantile(mine.seconds, 0.2);
        speed_.baseline_seconds = quantile(slow.seconds, 0.2);
        speed_.reference_seconds = quantile(best.seconds, 0.2);
        speed_.of_reference = of_reference.value;
        speed_.of_reference_low = of_reference.low;
        speed_.of_reference_high = of_reference.high;
        speed_.beats_reference = !rung_.given() && executable_ != best_ && of_reference.low > 1;
        const Work work = trial_.exam.work({timed_.problem, timed_.sizes, timed_.kind, 1});
        least_bytes_ = work.least;
        speed_.bandwidth = work.bytes / speed_.seconds;
        speed_.flops = work.flops / speed_.seconds;
        if (speed_.roof > 0) speed_.floor = work.least / speed_.roof;
    }

    /// Holds a rung beside whose process another one takes longer than without it.
    bool keeps_busy(const Contestant& other) {
        const double beside = quantile(other.seconds, 0.2), alone = quantile(other.alone, 0.2);
        const bool by_waking = (beside - alone) * static_cast<double>(timed_.calls) <= wake_seconds;
        if (beside <= slowed * alone || by_waking || !is_on(Defence::alone_again)) return false;
        decide(Verdict::suspect,
               fmt::format("{} took {:.3g} us while the rung's process was there, and {:.3g} once it "
                           "was gone: does it keep the GPU busy?",
                           other.name, 1e6 * beside, 1e6 * alone));
        return true;
    }

    void put_points() {
        const double reference = speed_.baseline_seconds / speed_.reference_seconds;
        const auto rule = reachable(*rung_.speed, reference);
        if (!rule) {
            decide(Verdict::unstable, fmt::format("speed cannot be judged on this machine: the reference "
                                                  "itself is {:.2f} times as fast as {} here",
                                                  reference, baseline_.name));
            return;
        }
        speed_.max_points = rule->points;
        speed_.zero = rule->zero;
        speed_.full = rule->full;
        speed_.points = points_for(*rule, speed_.speedup);
        if (speed_.points > 0) return;
        decide(Verdict::slow, fmt::format("right, but {:.2f} times as fast as {}; points begin beyond {:.2f}",
                                          speed_.speedup, baseline_.name, rule->zero));
    }

    RungResult& result_;
    Speed& speed_;  ///< of `result_`
    const Trial& trial_;
    const RungEntry& rung_;  ///< of `trial_`
    const TimedCase& timed_;
    const RungEntry& baseline_;
    const fs::path executable_;
    const bool summit_;
    const double limit_;  ///< seconds of a call
    const SpeedTest::Options how_;
    SpeedTest test_;
    std::mt19937_64 random_;
    std::array<Place, 3> order_{own, slower, fastest};
    fs::path slow_, best_;      ///< executables of baseline and reference
    std::size_t inputs_ = 0;    ///< of pairs, that nobody has taken
    double null_ = 0;           ///< Race::null_seconds()
    double warmed_ = 0;         ///< seconds of the workbook's own runs so far: the rung has no say in it
    double one_run_ = 0;        ///< of the reference's last run
    double least_bytes_ = 0;    ///< that a call has to move
    std::optional<Turn> turn_;  // from here on in the order in which they begin
    std::unique_ptr<Race> race_;
    Contestant pacemaker_;
    std::array<Contestant, 3> contestants_;
    std::optional<Quiet> quiet_;
};

}  // namespace

std::future<void> build_rivals(const Trial& trial) {
    return std::async(std::launch::async, [trial] {
        const TimedCase* const timed = Manifest::case_for(trial.rung, trial.manifest.timed);
        const RungEntry* const baseline = timed ? baseline_of(trial, *timed) : nullptr;
        if (!baseline) return;
        std::vector<std::future<fs::path>> rivals;
        for (const RungEntry* rival : {baseline, &trial.rung}) {
            const Trial reference = trial.reference(*rival);
            if (reference.source != trial.source)
                rivals.push_back(std::async(std::launch::async, built, reference));
        }
        for (auto& rival : rivals) rival.wait();
    });
}

void judge_speed(RungResult& result, const Trial& trial, const fs::path& executable) {
    std::string& why_not = result.speed.why_not;
    const TimedCase* const timed = Manifest::case_for(trial.rung, trial.manifest.timed);
    if (!timed) {
        why_not = "speed: the manifest has no [[timed]] case of a problem of this rung";
        return;
    }
    const RungEntry* const baseline = baseline_of(trial, *timed);
    if (!baseline) {
        why_not = "speed: no given rung solves the timed problem";
        return;
    }
    const fs::path& root = trial.options.toolchain.root;
    for (const RungEntry* const rival : {baseline, &trial.rung}) {
        if (rival->given() || !is_edition(root) || fs::exists(edition_worker(root, trial.manifest, *rival)))
            continue;
        why_not = fmt::format(
            "speed: this student edition has no compiled reference of {}; your "
            "instructor's workbook judges it",
            rival->name);
        return;
    }
    Timing(result, trial, *timed, *baseline, executable).judge();
}

}  // namespace rungs::judge
