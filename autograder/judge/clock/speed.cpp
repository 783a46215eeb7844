#include "judge/clock/speed.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <exception>
#include <future>
#include <memory>
#include <new>
#include <numeric>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "judge/build/build.hpp"
#include "judge/build/edition.hpp"
#include "judge/clock/device.hpp"
#include "judge/clock/gpu_clock.hpp"
#include "judge/clock/officials.hpp"
#include "judge/clock/quiet.hpp"
#include "judge/result/defences.hpp"
#include "judge/session.hpp"
#include "rungs/statistics.hpp"

namespace rungs::judge {
namespace {

namespace fs = std::filesystem;
using protocol::Region;

constexpr double timed_start_seconds = 60;
constexpr int warm_up_pairs = 3;
/// Runs that take this long together have warmed up whatever there is.
constexpr double warm_seconds = 0.3;
/// A run that takes longer does not notice what came before it.
constexpr double long_seconds = 0.05;
constexpr int null_calls = 50;
constexpr std::size_t control_pairs = 10;
/// So much slower beside a rung's process than without it is no chance, where it is more of a run than this:
/// a worker wakes up some 20 us sooner when there is less on the machine.
constexpr double slowed = 1.15;
constexpr double wake_seconds = 30e-6;
/// Enough where no points depend on it: so many pairs, or fewer that have taken as long as that.
constexpr double glance_seconds = 1;
constexpr std::size_t glance_pairs = 5, least_glance_pairs = 3;
constexpr std::uint32_t nan_words = 0xFFC00000U;
constexpr std::size_t flush_bytes = 256U << 20;  ///< more than any GPU's cache

/// For inputs made ahead and answers kept for a look: a quarter of the host's free memory.
std::size_t most_kept_bytes() {
    const auto free =
        static_cast<double>(sysconf(_SC_AVPHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
    return static_cast<std::size_t>(std::clamp(free / 4, 0x1p30, 0x1p35));
}

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
Contestant enter(const fs::path& executable, const std::string& name, const JudgeOptions& options) {
    WorkerOptions how;
    how.backend = Backend::cuda;
    how.cpu_seconds = options.budget + timed_start_seconds;
    how.stop = options.stop;
    auto session = std::make_unique<Session>(executable, how, timed_start_seconds);
    std::optional<Cause> failure = session->provide({});
    return {name, nullptr, std::move(session), {}, {}, std::move(failure)};
}

/// Runs `work(i)` for i in [0, count) on all cores; throws what one of them threw.
template <class Work>
void in_parallel(std::size_t count, Work work) {
    std::atomic<std::size_t> next{0};
    std::vector<std::future<void>> parts;
    for (std::size_t i = 0;
         i < std::min<std::size_t>(count, std::max(1U, std::thread::hardware_concurrency())); ++i) {
        parts.push_back(std::async(std::launch::async, [&] {
            for (std::size_t mine = next++; mine < count; mine = next++) work(mine);
        }));
    }
    for (auto& part : parts) part.wait();
    for (auto& part : parts) part.get();
}

/// Times contestants on the judge's own device memory. A run's clock starts before its inputs come to where
/// the contestant can see them, and stops when the judge has copied the outputs away: whatever a contestant
/// does ahead of "go", it does without the inputs. What coming and going cost is what a null call costs.
class Race {
  public:
    Race(const TimedCase& timed, const Exam& exam)
        : timed_(timed),
          calls_(std::min<std::size_t>(static_cast<std::size_t>(timed.calls), protocol::max_calls)),
          random_(std::random_device{}()) {
        const Case first{timed.problem, timed.sizes, timed.kind, random_seed()};
        const auto task = std::make_shared<const Task>(exam.make(first));
        heats_.assign(calls_, {first, task, {}});  // of the null call, in which nobody looks at them
        layout_ = lay_out(*task);
        const std::size_t arrays = layout_.regions.size();
        if (calls_ * arrays > protocol::max_regions) {
            throw InfraError("the manifest's [[timed]] asks for more calls than the protocol can carry");
        }
        // Every call has memory of its own: together more than any cache, unless the manifest says too few.
        slot_bytes_ = layout_.in_bytes - protocol::request_bytes;
        pristine_ = std::make_unique<Device>(calls_ * slot_bytes_);
        flush_ = std::make_unique<Device>(flush_bytes);
        taken_bytes_ = layout_.out_bytes - layout_.regions[inputs()].out_offset;
        taken_ = std::make_unique<Device>(calls_ * taken_bytes_);
        pristine_->fill(0, nan_words, calls_ * slot_bytes_);
        // Inputs ahead, and as much again for answers that wait to be looked at.
        officials_.emplace(exam, timed, calls_, most_kept_bytes() / (2 * calls_ * slot_bytes_));
        place();
    }

    double roof() { return pristine_->copy_bandwidth(); }

    std::shared_ptr<Arena> arena() const { return std::make_shared<Arena>(calls_ * slot_bytes_); }

    /// What a call costs at least: the inputs' way, the words, one tiny operation on the device, the judge's
    /// copies. The least of many, because it is subtracted from times: too much would be a gift. To be asked
    /// of a worker that has no interest in a large answer, while no other one lives that has.
    double null_seconds(Contestant& contestant) {
        const auto demand = [](const std::optional<Cause>& cause) {
            if (cause) throw InfraError("null call: " + cause->text);
        };
        std::vector<double> samples;
        for (int i = 0; i < null_calls; ++i) {
            clear(*contestant.arena);
            demand(prepare(contestant, 10));
            const auto start = Clock::now();
            hand_over(*contestant.arena);
            demand(contestant.session->worker().command(protocol::touch, 10));
            collect(*contestant.arena);
            samples.push_back(std::chrono::duration<double>(Clock::now() - start).count());
            demand(contestant.session->worker().complaint());
        }
        return *std::min_element(samples.begin(), samples.end());
    }

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
    std::optional<Cause> run(Contestant& contestant, double limit, double null, double& seconds) {
        clear(*contestant.arena);
        if (!is_on(Defence::late_inputs)) {
            hand_over(*contestant.arena);
            std::this_thread::sleep_for(std::chrono::milliseconds(30));
        }
        if (auto cause = prepare(contestant, limit)) return cause;
        WorkerProcess& worker = contestant.session->worker();
        const auto start = Clock::now();
        hand_over(*contestant.arena);
        const double run_limit = limit * static_cast<double>(calls_);
        if (auto cause = worker.command(protocol::run, run_limit)) return cause;
        collect(*contestant.arena);
        const std::chrono::duration<double> took = Clock::now() - start;
        if (auto cause = worker.complaint()) return cause;
        // A time below the null call's cost is noise: never a reward.
        seconds = std::max(took.count() - null, 0.05 * took.count()) / static_cast<double>(calls_);
        return std::nullopt;
    }

    /// Keeps the answers of the last run, which was a contestant's, for a look at them later: that can take
    /// longer than the run. Of all its calls, or of one, which nobody can foresee.
    void keep(std::size_t contestant, bool all) {
        const std::size_t first = all ? 0 : random_() % calls_;
        const auto from = heats_.begin() + static_cast<std::ptrdiff_t>(first);
        Heats heats(from, all ? heats_.end() : from + 1);
        in_parallel(heats.size(), [&](std::size_t i) {
            heats[i].outputs = heats[i].task->outputs;
            for (Array& output : heats[i].outputs)
                output.bytes.resize(output.count * size_of(output.element));
        });
        std::vector<Device::Piece<std::byte>> pieces;
        for_each_output([&](std::size_t call, std::size_t i, const Region& region) {
            if (call < first || call >= first + heats.size()) return;
            std::vector<std::byte>& bytes = heats[call - first].outputs[i].bytes;
            pieces.push_back({taken_offset(call, region) + region.lead, bytes.data(), bytes.size()});
        });
        taken_->download(pieces);
        officials_->keep(contestant, std::move(heats));
    }

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
    /// Gives each call a place of its own, and brings its inputs there.
    void place() {
        places_.resize(calls_);
        std::iota(places_.begin(), places_.end(), std::size_t{0});
        std::shuffle(places_.begin(), places_.end(), random_);
        upload();
    }

    std::size_t offset(std::size_t call, const Region& region) const {
        return places_[call] * slot_bytes_ + (region.in_offset - protocol::request_bytes);
    }

    /// In the judge's copy: the outputs of all calls, one call after the other.
    std::size_t taken_offset(std::size_t call, const Region& region) const {
        return call * taken_bytes_ + (region.out_offset - layout_.regions[inputs()].out_offset);
    }

    /// Outputs are what comes after the inputs in every layout.
    std::size_t inputs() const { return heats_[0].task->inputs.size(); }

    /// Calls `visit(call, i, region)` for output i of every call.
    template <class Visit>
    void for_each_output(Visit visit) const {
        for (std::size_t call = 0; call < calls_; ++call) {
            for (std::size_t i = inputs(); i < layout_.regions.size(); ++i) {
                visit(call, i - inputs(), layout_.regions[i]);
            }
        }
    }

    /// Puts the inputs into memory that no worker can reach. What lies between them stays NaN.
    void upload() {
        std::vector<Device::Piece<const std::byte>> pieces;
        for (std::size_t call = 0; call < calls_; ++call) {
            for (std::size_t i = 0; i < inputs(); ++i) {
                const std::vector<std::byte>& bytes = heats_[call].task->inputs[i].bytes;
                const Region& region = layout_.regions[i];
                pieces.push_back({offset(call, region) + region.lead, bytes.data(), bytes.size()});
            }
        }
        pristine_->upload(pieces);
    }

    /// Tells the worker where everything will be; its context becomes the GPU's current one.
    std::optional<Cause> prepare(Contestant& contestant, double limit) {
        protocol::Request& request = contestant.session->request();
        write_request(request, timed_.problem, *heats_[0].task, layout_, calls_);
        request.use_arena = 1;
        request.arena_bytes = calls_ * slot_bytes_;
        std::memcpy(request.arena_handle, contestant.arena->handle, sizeof contestant.arena->handle);
        const std::size_t arrays = layout_.regions.size();
        for (std::size_t i = 0; i < calls_ * arrays; ++i)
            request.region[i].arena_offset = offset(i / arrays, request.region[i]);
        return contestant.session->run(protocol::prepare, limit);
    }

    /// Before every run: nothing of an earlier one is left, in memory or in the cache, and outputs are
    /// poisoned.
    void clear(Arena& arena) {
        const auto word = nan_words | static_cast<std::uint32_t>(random_() & 0x003FFFFFU);
        arena.memory.fill(0, word, calls_ * slot_bytes_);
        Device::reset_persisting_cache();
        flush_->fill(0, 0, flush_bytes);
    }

    /// The inputs come to where the contestant can see them.
    void hand_over(Arena& arena) {
        if (inputs() == 0) return;
        const Region& last = layout_.regions[inputs() - 1];
        const std::size_t bytes = last.in_offset + last.bytes - layout_.regions[0].in_offset;
        for (std::size_t call = 0; call < calls_; ++call) {
            const std::size_t at = offset(call, layout_.regions[0]);
            arena.memory.take(at, *pristine_, at, bytes);
        }
        arena.memory.wait();
    }

    /// The judge's own copy of every output, where no worker can reach it. It is made on the device: the way
    /// through the host's memory takes longer than a fast kernel, and varies by more.
    void collect(const Arena& arena) {
        for_each_output([&](std::size_t call, std::size_t, const Region& region) {
            taken_->take(taken_offset(call, region), arena.memory, offset(call, region), region.bytes);
        });
        taken_->wait();
    }

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
    const Manifest& manifest = trial.manifest;
    const RungEntry& rung = trial.rung;
    const Exam& exam = trial.exam;
    const JudgeOptions& options = trial.options;
    Speed& speed = result.speed;
    const TimedCase* const timed = Manifest::case_for(rung, manifest.timed);
    if (!timed) {
        speed.why_not = "speed: the manifest has no [[timed]] case of a problem of this rung";
        return;
    }
    const RungEntry* const slower = baseline_of(trial, *timed);
    if (!slower) {
        speed.why_not = "speed: no given rung solves the timed problem";
        return;
    }
    const RungEntry& baseline = *slower;
    for (const RungEntry* const rival : {&baseline, &rung}) {
        const fs::path& root = options.toolchain.root;
        if (rival->given() || !is_edition(root) || fs::exists(edition_worker(root, manifest, *rival)))
            continue;
        speed.why_not = fmt::format(
            "speed: this student edition has no compiled reference of {}; your "
            "instructor's workbook judges it",
            rival->name);
        return;
    }

    std::optional<Lap> lap(std::in_place, result.profile, Part::clock_builds);
    const fs::path slow = built(trial.reference(baseline));
    const fs::path best = built(trial.reference());
    lap.emplace(result.profile, Part::turn);
    if (options.before_timing) options.before_timing();
    std::optional<Turn> turn(std::in_place);
    lap.emplace(result.profile, Part::inputs);
    const auto entering = [&](const fs::path& contestant, const std::string& name) {
        return std::async(std::launch::async, enter, contestant, name, std::cref(options));
    };
    // Runs before every pair and is not counted. A process of its own: to run twice in a row is an advantage.
    std::future<Contestant> pace = entering(best, "the reference");
    std::future<Contestant> slower_one = entering(slow, baseline.name),
                            fastest = entering(best, "the reference");
    std::unique_ptr<Race> race;
    std::array<std::shared_ptr<Arena>, 4> arenas;
    try {
        race = std::make_unique<Race>(*timed, exam);
        for (auto& arena : arenas) arena = race->arena();
        if (!is_on(Defence::own_arena)) arenas.fill(arenas[0]);
    } catch (const std::bad_alloc&) {
        speed.why_not = "speed: the timed case does not fit into this GPU's free memory";
        return;
    }
    if (!arenas[0]->shared) {
        speed.why_not = "speed: this system does not share GPU memory between processes";
        return;
    }
    SpeedTest::Options how;
    // A summit's points end at the reference, and whoever is ahead of it wants to know for certain.
    const bool summit = rung.speed && rung.speed->to_reference;
    if (rung.speed) how.zero = summit ? 0 : rung.speed->zero;
    // They follow the ratio: an interval of a few percent moves them by as much, and makes nothing right or
    // wrong.
    if (summit) how.slack = 0, how.level = true, how.narrow = 0.03, how.unstable_beyond = 0.1;
    if (rung.speed)
        how.more = how.cap;
    else
        how.block = how.cap = glance_pairs;
    std::size_t inputs = 0;  // of pairs, that nobody has taken
    const auto want = [&](std::size_t pairs) {
        race->want(pairs);
        inputs += pairs;
    };
    want(1 + how.block);  // one for the pairs that warm up
    speed.trust = "judge's clock and memory";
    speed.baseline = baseline.name;
    lap.emplace(result.profile, Part::start);
    Contestant pacemaker = pace.get();
    std::array<Contestant, 3> contestants{{{}, slower_one.get(), fastest.get()}};
    if (pacemaker.failure) throw InfraError("the reference: " + pacemaker.failure->text);
    pacemaker.arena = std::move(arenas[3]);
    // From here on nothing but the clock: whoever makes inputs is done.
    lap.emplace(result.profile, Part::inputs);
    race->wait_for_inputs();
    std::optional<Quiet> quiet(std::in_place);
    lap.emplace(result.profile, Part::clock);
    speed.roof = race->roof();
    speed.fma_roof = fma_roof();
    double null = race->null_seconds(pacemaker);
    lap.emplace(result.profile, Part::start);
    contestants[0] = enter(executable, rung.name, options);
    for (std::size_t i = 0; i < contestants.size(); ++i) contestants[i].arena = std::move(arenas[i]);
    if (!is_on(Defence::null_alone) && !contestants[0].failure) null = race->null_seconds(contestants[0]);
    lap.reset();

    const double limit = options.time_limit > 0 ? options.time_limit : rung.time_limit;
    // One of the workbook's own has failed. Where it fails again beside the rung's process, and runs once
    // that is gone, it was not the machine.
    const auto failed_beside = [&](Contestant& own, const Cause& failure) {
        const std::string text = fmt::format("{}: {}", own.name, failure.text);
        own.session->end();
        const auto fails_again = [&] {
            Contestant again = enter(&own == &contestants[1] ? slow : best, own.name, options);
            again.arena = std::move(own.arena);
            double seconds = 0;
            const bool fails = again.failure || race->run(again, limit, null, seconds);
            again.session->end();
            own.arena = std::move(again.arena);
            return fails;
        };
        if (!is_on(Defence::blame) || !fails_again()) throw InfraError(text);
        contestants[0].session->end();
        if (fails_again()) throw InfraError(text);
        result.decide({.kind = Verdict::suspect,
                       .text = fmt::format(
                           "{}; twice while the rung's process was there, and not once it was gone: does "
                           "it take the device's memory?",
                           text),
                       .source = Source::speed});
    };
    for (const std::size_t i : {1, 2}) {
        if (contestants[i].failure) return failed_beside(contestants[i], *contestants[i].failure);
    }
    if (contestants[0].failure) return result.decide(std::move(*contestants[0].failure));

    const auto end = in_seconds(options.budget);
    const auto glance = in_seconds(glance_seconds);
    SpeedTest test(rung.speed && !summit ? rung.speed->full : 1.0, how);
    std::mt19937_64 random(std::random_device{}());
    std::array<std::size_t, 3> order{0, 1, 2};
    // What is wrong with the rung's answers; with another's, it is the workbook's fault.
    const auto wrong = [&](std::optional<std::pair<std::size_t, Cause>> found) -> std::optional<Cause> {
        if (!found) return std::nullopt;
        auto& [whose, cause] = *found;
        if (whose != 0) throw InfraError(fmt::format("{}: {}", contestants[whose].name, cause.text));
        return std::move(cause);
    };
    const GpuClock clock(Device::bus_id());
    double warmed = 0, one_run = 0;  // seconds of the workbook's own runs: the rung has no say in it
    for (int pair = -warm_up_pairs; test.wants_more() && Clock::now() < end; ++pair) {
        if (!rung.speed && test.pairs() >= least_glance_pairs && Clock::now() > glance) break;
        if (options.progress) options.progress({rung, Phase::speed, std::max(pair, 0), 0});
        // Warming up, all pairs have the inputs of the first: no time of theirs counts.
        const bool first = pair == -warm_up_pairs, counts = pair >= 0;
        if (auto cause = wrong(race->found())) return result.decide(std::move(*cause));
        if (first || counts) {
            if (inputs == 0) want(how.block);
            --inputs;
            const Lap making(result.profile, Part::inputs);
            if (!race->has_inputs()) {
                quiet.reset();
                race->wait_for_inputs();
                quiet.emplace();
            }
            race->next_inputs();
        }
        std::shuffle(order.begin(), order.end(), random);
        if (one_run < long_seconds) {
            // The first run after an upload is now and then a quarter faster than all that follow (chapter
            // 1's last rung on an H200: 370 us instead of 500). Nobody's is counted.
            const Lap timing(result.profile, Part::clock);
            double uncounted = 0;
            if (const auto cause = race->run(pacemaker, limit, null, uncounted)) {
                return failed_beside(pacemaker, *cause);
            }
        }
        for (const std::size_t i : order) {
            double seconds = 0;
            std::optional<Lap> timing(std::in_place, result.profile, Part::clock);
            auto cause = race->run(contestants[i], limit, null, seconds);
            timing.reset();
            if (cause && i != 0) return failed_beside(contestants[i], *cause);
            if (cause) return result.decide(std::move(*cause));
            // Whoever leaves something out has to be faster for it. A time that is no faster than others
            // before it earns nothing; of those one in eight is looked at, which nobody can foresee. The
            // baseline and the reference are the workbook's own: one look tells that they run here. Where no
            // points depend on a time, one call in each run is enough.
            const bool looked_at =
                counts && i == 0 && (may_count(contestants[0].seconds, seconds) || random() % 8 == 0);
            if (counts) contestants[i].seconds.push_back(seconds);
            if (i != 0) warmed += seconds * timed->calls;
            if (i == 2) one_run = seconds * timed->calls;
            if (first || looked_at) {
                const Lap keeping(result.profile, Part::expected);
                race->keep(i, i == 0 && rung.speed);
            }
        }
        clock.look(speed.conditions);
        if (counts) test.add(contestants[summit ? 2 : 1].seconds.back(), contestants[0].seconds.back());
        if (!counts && warmed > warm_seconds) pair = -1;
    }
    if (test.pairs() == 0) throw InfraError("the time for one rung ran out before speed could be measured");

    // A process that keeps the GPU or the cores busy while others are timed would gain by it. So those run
    // once more when it is gone.
    const auto time_alone = [&] {
        const Lap timing(result.profile, Part::clock);
        const std::size_t pairs = std::min(control_pairs, test.pairs());
        for (std::size_t pair = 0; pair < pairs; ++pair) {
            for (Contestant* const other : {&pacemaker, &contestants[1], &contestants[2]}) {
                double seconds = 0;
                if (const auto cause = race->run(*other, limit, null, seconds))
                    throw InfraError(fmt::format("{}: {}", other->name, cause->text));
                other->alone.push_back(seconds);
            }
        }
    };
    std::exception_ptr failure;  // excuses no wrong answer
    try {
        contestants[0].session->end();
        if (rung.speed) time_alone();
    } catch (const std::exception&) {
        failure = std::current_exception();
    }
    quiet.reset();
    // The next rung can have the clock; where there is memory for two, while these processes end: it times
    // nothing before they are gone.
    const auto pass_on = [&] {
        if (!failure && options.after_timing) options.after_timing();
    };
    {
        const Piece leaving(std::stop_token{});
        bool early = false;
        try {
            early = Device::free_part() > 0.5;
            if (early) pass_on();
            in_parallel(3, [&](std::size_t i) { (i == 0 ? pacemaker : contestants[i]).session->end(); });
        } catch (const std::exception&) {
            if (!failure) failure = std::current_exception();
        }
        for (Contestant& one : contestants) one.arena.reset();
        pacemaker.arena.reset();
        race->leave_device();
        if (!early) pass_on();
    }
    turn.reset();
    {  // when it is nobody's turn
        const Lap judging(result.profile, Part::expected);
        if (auto cause = wrong(race->look_at_rest())) return result.decide(std::move(*cause));
    }
    if (failure) std::rethrow_exception(failure);

    const Ratio ratio = speed_ratio(contestants[1].seconds, contestants[0].seconds),
                of_reference = speed_ratio(contestants[2].seconds, contestants[0].seconds);
    speed.judged = true;
    speed.speedup = ratio.value;
    speed.low = ratio.low;
    speed.high = ratio.high;
    speed.pairs = static_cast<int>(test.pairs());
    speed.times = {RawTimes::of(contestants[0].seconds), RawTimes::of(contestants[1].seconds),
                   RawTimes::of(contestants[2].seconds), RawTimes::of(contestants[1].alone),
                   RawTimes::of(contestants[2].alone)};
    speed.decided =
        test.outcome() == SpeedTest::Outcome::above || test.outcome() == SpeedTest::Outcome::below;
    speed.seconds = quantile(contestants[0].seconds, 0.2);
    speed.baseline_seconds = quantile(contestants[1].seconds, 0.2);
    speed.reference_seconds = quantile(contestants[2].seconds, 0.2);
    speed.of_reference = of_reference.value;
    speed.of_reference_low = of_reference.low;
    speed.of_reference_high = of_reference.high;
    speed.beats_reference = !rung.given() && executable != best && of_reference.low > 1;
    const Work work = exam.work({timed->problem, timed->sizes, timed->kind, 1});
    speed.bandwidth = work.bytes / speed.seconds;
    speed.flops = work.flops / speed.seconds;
    if (speed.roof > 0) speed.floor = work.least / speed.roof;
    const auto decide = [&](Verdict verdict, std::string text) {
        result.decide({.kind = verdict, .text = std::move(text), .source = Source::speed});
    };
    if (const double least = work.least / speed.seconds; least > Speed::implausible * speed.roof) {
        return decide(Verdict::suspect,
                      fmt::format("faster than this GPU's memory: {:.0f} GB/s, and a copy reaches {:.0f}",
                                  1e-9 * least, 1e-9 * speed.roof));
    }
    if (!rung.speed) return;
    for (const std::size_t i : {1, 2}) {
        const Contestant& other = contestants[i];
        const double beside = quantile(other.seconds, 0.2), alone = quantile(other.alone, 0.2);
        const bool by_waking = (beside - alone) * static_cast<double>(timed->calls) <= wake_seconds;
        if (beside <= slowed * alone || by_waking || !is_on(Defence::alone_again)) continue;
        return decide(Verdict::suspect,
                      fmt::format("{} took {:.3g} us while the rung's process was there, and {:.3g} once it "
                                  "was gone: does it keep the GPU busy?",
                                  other.name, 1e6 * beside, 1e6 * alone));
    }
    if (test.outcome() == SpeedTest::Outcome::unstable) {
        return decide(Verdict::unstable, "time varies too much to decide: " + test.summary() +
                                             "; measure again on a quiet machine");
    }
    const double reference = speed.baseline_seconds / speed.reference_seconds;
    const auto rule = reachable(*rung.speed, reference);
    if (!rule) {
        return decide(Verdict::unstable, fmt::format("speed cannot be judged on this machine: the reference "
                                                     "itself is {:.2f} times as fast as {} here",
                                                     reference, baseline.name));
    }
    speed.max_points = rule->points;
    speed.zero = rule->zero;
    speed.full = rule->full;
    speed.points = points_for(*rule, speed.speedup);
    if (speed.points <= 0) {
        decide(Verdict::slow, fmt::format("right, but {:.2f} times as fast as {}; points begin beyond {:.2f}",
                                          speed.speedup, baseline.name, rule->zero));
    }
}

}  // namespace rungs::judge
