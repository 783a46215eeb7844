#include "judge/counts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <future>
#include <map>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <tuple>

#include <fmt/format.h>

#include "judge/build/build.hpp"
#include "judge/build/cache.hpp"
#include "judge/build/diagnostics.hpp"
#include "judge/build/edition.hpp"
#include "judge/build/hash.hpp"
#include "judge/checks.hpp"
#include "judge/predict.hpp"
#include "judge/result/defences.hpp"
#include "judge/result/findings.hpp"
#include "judge/result/report_json.hpp"
#include "rungs/atomic_file.hpp"

namespace rungs::judge {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using simt::check::Access;
using simt::check::ArrayCounters;
using simt::check::LaunchCounters;
using simt::check::MemoryCounters;
using simt::check::SiteCounters;
using simt::check::Space;

constexpr double most_work = 5e5;     ///< bytes or flops of a case that the manifest did not choose
constexpr double call_seconds = 30;   ///< for one counted call
constexpr int most_attempts = 4;      ///< until all lines are known
constexpr double agreement = 1.1;     ///< of modelled times on two inputs of one kind and size
constexpr double evenness = 1.25;     ///< of modelled times, compared with the reference's, in two cases
constexpr double enough_work = 0.25;  ///< of the modelled case's, for a case to tell anything of a speed
// What a modelled time must not fall below, as a share of what reading the input costs, and
// of the reference's.
constexpr double least_of_input = 0.9, least_of_reference = 0.2;
constexpr std::size_t most_launches = 10000;
constexpr std::size_t most_sites = 1000;  ///< of a launch
/// Of the bytes that have to be moved: what kernels move at least, and what the host gets to see at most.
constexpr double own_share = 0.1;
constexpr double few_bytes = 256;  ///< that the host may always see

/// What is counted of memory, by its name in a report.
struct MemoryField {
    const char* name;
    std::uint64_t MemoryCounters::*value;
};
constexpr std::array memory_fields{MemoryField{"requests", &MemoryCounters::requests},
                                   MemoryField{"lanes", &MemoryCounters::lanes},
                                   MemoryField{"sectors", &MemoryCounters::sectors},
                                   MemoryField{"ideal_sectors", &MemoryCounters::ideal_sectors},
                                   MemoryField{"wavefronts", &MemoryCounters::wavefronts},
                                   MemoryField{"ideal_wavefronts", &MemoryCounters::ideal_wavefronts},
                                   MemoryField{"requested_bytes", &MemoryCounters::requested_bytes},
                                   MemoryField{"useful_bytes", &MemoryCounters::useful_bytes},
                                   MemoryField{"addresses", &MemoryCounters::addresses},
                                   MemoryField{"serial_steps", &MemoryCounters::serial_steps}};

void add(MemoryCounters& sum, const MemoryCounters& more) {
    for (const MemoryField& field : memory_fields) sum.*field.value += more.*field.value;
}

dim3 extent_of(const json& object, const char* key) {
    const auto values = object.at(key).get<std::array<unsigned, 3>>();
    return dim3(values[0], values[1], values[2]);
}

SiteCounters site_of(const json& object) {
    SiteCounters site;
    site.place.file = one_line(object.at("file").get<std::string>(), 200);
    site.place.line = object.at("line").get<unsigned>();
    site.place.function = one_line(object.at("function").get<std::string>(), 200);
    site.array = one_line(object.at("array").get<std::string>(), 200);
    site.space = one_of<Space>(object, "space", {"global", "shared", "constant", "texture"});
    site.access = one_of<Access>(object, "access", {"read", "write", "atomic"});
    site.width = object.at("width").get<unsigned>();
    for (const MemoryField& field : memory_fields)
        site.*field.value = object.at(field.name).get<std::uint64_t>();
    if (site.ideal_wavefronts > site.wavefronts)
        throw std::runtime_error("counters that make no sense: wavefronts");
    return site;
}

ArrayCounters array_of(const json& object) {
    ArrayCounters array;
    array.on_host = object.at("on_host").get<bool>();
    array.read_sectors = object.at("read_sectors").get<std::uint64_t>();
    array.written_sectors = object.at("written_sectors").get<std::uint64_t>();
    return array;
}

LaunchCounters launch_of(const json& object) {
    LaunchCounters launch;
    launch.kernel = one_line(object.at("kernel").get<std::string>(), 200);
    launch.grid = extent_of(object, "grid");
    launch.block = extent_of(object, "block");
    launch.cooperative = object.at("cooperative").get<bool>();
    launch.exact = object.at("exact").get<bool>();
    const auto field = [&](const char* name, std::uint64_t& value) {
        value = object.at(name).get<std::uint64_t>();
    };
    field("blocks", launch.blocks);
    field("warps", launch.warps);
    field("threads", launch.threads);
    field("barriers", launch.barriers);
    field("max_barriers", launch.max_barriers);
    field("grid_barriers", launch.grid_barriers);
    field("warp_syncs", launch.warp_syncs);
    field("shuffles", launch.shuffles);
    field("votes", launch.votes);
    field("basic_blocks", launch.basic_blocks);
    field("active_lanes", launch.active_lanes);
    launch.static_shared = object.at("static_shared").get<std::size_t>();
    launch.dynamic_shared = object.at("dynamic_shared").get<std::size_t>();
    for (const json& site : object.at("sites")) {
        if (launch.sites.size() == most_sites) break;
        launch.sites.push_back(site_of(site));
    }
    for (const json& array : object.at("arrays")) {
        if (launch.arrays.size() == most_sites) break;
        launch.arrays.push_back(array_of(array));
    }
    return launch;
}

WarpTrace trace_of(const json& object) {
    constexpr std::size_t most_steps = 1000, most_warps = 32, most_phases = 10000;
    constexpr unsigned most_width = 4096;
    constexpr long long most_offset = 1LL << 40;
    WarpTrace trace;
    trace.kernel = one_line(object.at("kernel").get<std::string>(), 200);
    trace.block = object.at("block").get<unsigned long long>();
    trace.warp = object.at("warp").get<unsigned>();
    trace.cut = object.at("cut").get<bool>();
    for (const json& entry : object.at("steps")) {
        if (trace.steps.size() == most_steps) break;
        TraceStep step;
        step.place.file = one_line(entry.at("file").get<std::string>(), 200);
        step.place.line = entry.at("line").get<unsigned>();
        step.array = one_line(entry.at("array").get<std::string>(), 200);
        step.space = one_of<Space>(entry, "space", {"global", "shared", "constant", "texture"});
        step.access = one_of<Access>(entry, "access", {"read", "write", "atomic"});
        // Pictures draw every sector between an offset and what is `width` bytes behind it.
        step.width = std::min(entry.at("width").get<unsigned>(), most_width);
        step.phase = entry.at("phase").get<unsigned>();
        step.lanes = entry.at("lanes").get<std::uint32_t>();
        step.offsets = entry.at("offsets").get<std::array<long long, 32>>();
        const auto begin = entry.at("base").get<unsigned>() % 128;
        for (long long& offset : step.offsets)
            offset = std::clamp(offset, -most_offset, most_offset) + static_cast<long long>(begin);
        trace.steps.push_back(std::move(step));
    }
    for (const json& warp : object.at("requests")) {
        if (trace.requests.size() == most_warps) break;
        trace.requests.push_back(warp.get<std::vector<unsigned>>());
        if (trace.requests.back().size() > most_phases) trace.requests.back().resize(most_phases);
    }
    return trace;
}

/// Of the traces, that of the rung's own kernel: the one that is called as it is, or else the one that does
/// most in its file. Before it there are often kernels that clear something, or that a header brings.
WarpTrace own_trace(std::vector<WarpTrace> traces, const std::string& rung) {
    if (traces.empty()) return {};
    const std::string name = rung.substr(std::min(rung.find('_'), rung.size() - 1) + 1) + "_kernel";
    const auto weight = [&](const WarpTrace& trace) {
        const auto own = std::count_if(trace.steps.begin(), trace.steps.end(), [&](const TraceStep& step) {
            return step.place.file == rung + ".cu";
        });
        return std::pair(trace.kernel.substr(0, trace.kernel.find('<')) == name, own);
    };
    return *std::max_element(traces.begin(), traces.end(), [&](const WarpTrace& one, const WarpTrace& other) {
        return weight(one) < weight(other);
    });
}

/// Counts calls of one executable.
class Counter {
  public:
    Counter(const Trial& trial, const fs::path& executable, Watched watched)
        : trial_(trial), session_(executable, trial.options, watched) {}

    /// The largest checked call of the problem of `which` that does little, and at most an eighth of its
    /// work: it sets up what all calls find there, and shows lines of the source that have to be known, which
    /// mostly saves a call. @returns whether there is one
    bool warm_up(const Case& which) {
        const double most = std::min(most_work, trial_.exam.work(which).size() / 8);
        const std::vector<Case> cases = trial_.manifest.check_cases_of(trial_.rung, 0);
        const Case* largest = nullptr;
        double work = 0;
        for (const Case& one : cases) {
            const double mine = trial_.exam.work(one).size();
            if (one.problem != which.problem || mine <= work || mine > most) continue;
            largest = &one;
            work = mine;
        }
        if (!largest) return false;
        CheckedCall ignored;
        session_.call(*largest, trial_.exam.make(*largest), 0, call_seconds, false, ignored);
        return true;
    }

    /// One call. @returns nothing where it could not be counted, and `why_not` says so
    std::optional<Tally> call(const Case& which, const Task& task, CheckedCall& checked,
                              std::string& why_not) {
        if (const auto cause = session_.call(which, task, 0, call_seconds, false, checked)) {
            why_not = trial_.rung.name + ": " + cause->text;
            return std::nullopt;
        }
        try {
            return tally_of(checked.report, trial_.rung.name);
        } catch (const std::runtime_error& error) {
            why_not = trial_.rung.name + ": " + error.what();
            return std::nullopt;
        }
    }

    /// Whether the last call's counters lack lines, which are known from now on.
    bool lacks_lines() const { return session_.looked_up(); }

  private:
    const Trial& trial_;
    CheckedSession session_;
};

/// Modelled seconds, and what takes longest.
double predict(const simt::model::Machine& machine, const Tally& tally, std::string& limit) {
    const simt::model::Prediction prediction = simt::model::predict(machine, tally.profile);
    double longest = 0;
    for (const auto& launch : prediction.launches) {
        if (launch.seconds > longest) {
            longest = launch.seconds;
            limit = launch.limit;
        }
    }
    return prediction.seconds;
}

double predict(const simt::model::Machine& machine, const Tally& tally) {
    std::string ignored;
    return predict(machine, tally, ignored);
}

/// Do two tallies of one case, on different inputs, take the same time?
bool agree(const simt::model::Machine& machine, const Tally& one, const Tally& other) {
    const auto [less, more] = std::minmax({predict(machine, one), predict(machine, other)});
    return more <= agreement * less;
}

/// A worker in check mode; without an executable `why_not` says why.
Build checked_build(const Trial& trial, std::string& why_not) {
    if (!trial.options.toolchain.tools(Backend::cpu, Mode::check)) {
        why_not = "this build has no check mode: it uses a sanitizer of its own";
        return {};
    }
    Build build = build_worker(trial, Backend::cpu, Mode::check);
    if (build.executable.empty()) {
        why_not = trial.rung.name + " does not compile in check mode: " + build.reason;
    }
    return build;
}

/// Calls `which` until the counters have all lines. The first call of a size may set up what later ones find
/// there: it is not counted if it allocates, or if none came before it. `report`: what the last call's worker
/// said.
std::optional<Tally> count_calls(const Trial& trial, const fs::path& executable, const Case& which,
                                 Watched watched, std::string& why_not, json* report = nullptr,
                                 std::string* wrong = nullptr) {
    const Task task = trial.exam.make(which);
    Counter counter(trial, executable, watched);
    const bool warm = counter.warm_up(which);
    for (int attempt = 0; attempt <= most_attempts; ++attempt) {
        CheckedCall checked;
        std::optional<Tally> tally = counter.call(which, task, checked, why_not);
        const bool settled = attempt > 0 || (tally && warm && tally->allocations == 0);
        if (!tally || (settled && !counter.lacks_lines())) {
            if (tally && wrong) {
                const std::vector<QuotedFinding> found = findings_of(checked.report);
                const Check check = trial.exam.check(which, task, checked.outputs);
                if (has_error(found))
                    *wrong = in_one_line(found.front());
                else if (!check.passed)
                    *wrong = check.cause.empty() ? "what it leaves is wrong" : check.cause;
            }
            if (report) *report = std::move(checked.report);
            return tally;
        }
    }
    why_not = trial.rung.name + ": its lines could not be found";
    return std::nullopt;
}

/// What an earlier run has counted; nothing where it has not.
std::optional<Tally> kept_counts(const fs::path& file) {
    const std::optional<std::string> kept = from_cache(file);
    if (!kept) return std::nullopt;
    try {
        return tally_of(json::parse(*kept));
    } catch (const std::exception&) {
        return std::nullopt;  // another judge's: counting again is always possible
    }
}

void keep_counts(const Toolchain& toolchain, const fs::path& file, const json& report) {
    const WorkFolder work(toolchain.cache);
    write_working_file(work.path() / "counts", report.dump());
    into_cache(work.path() / "counts", file);
}

/// A call by the words of its case.
std::string call_name(const Case& which) {
    return fmt::format("{} {} {} {}", which.problem, fmt::join(which.sizes, "x"), which.kind, which.seed);
}

/// What a student edition has of an exercise's reference. @throws InfraError where it lacks the call
Tally recorded_counts(const Trial& reference, const Case& which) {
    const fs::path file =
        edition_counts(reference.options.toolchain.root, reference.manifest, reference.rung);
    try {
        return tally_of(json::parse(read_file(file)).at(call_name(which)));
    } catch (const std::exception& error) {
        throw InfraError(
            fmt::format("{} has no counters of {}; ask for this edition once more, and unpack it "
                        "with ./rungs update ({})",
                        file.string(), call_name(which), one_line(error.what(), 200)));
    }
}

/// A report without what it tells of the source: names, lines, and the steps of a warp. The counters of one
/// kind of access are one sum, and so are those of all arrays of one kind of memory.
json without_source(const json& report) {
    json kept;
    for (const char* const value :
         {"copies", "copied_bytes", "bytes_to_host", "fills", "filled_bytes", "profile"})
        kept[value] = report.at(value);
    kept["traces"] = json::array();
    kept["launches"] = json::array();
    for (json launch : report.at("launches")) {
        std::map<std::tuple<std::string, std::string, unsigned>, json> sums;
        for (json site : launch.at("sites")) {
            for (const char* const name : {"file", "function", "array"}) site[name] = "";
            site["line"] = 0;
            json& sum = sums[{site.at("space"), site.at("access"), site.at("width")}];
            if (sum.is_null()) {
                sum = std::move(site);
                continue;
            }
            for (const MemoryField& field : memory_fields)
                sum[field.name] =
                    sum[field.name].get<std::uint64_t>() + site[field.name].get<std::uint64_t>();
        }
        std::array<ArrayCounters, 2> arrays;  // on the device, and where the host can read them
        for (const json& one : launch.at("arrays")) {
            const ArrayCounters array = array_of(one);
            arrays[array.on_host].read_sectors += array.read_sectors;
            arrays[array.on_host].written_sectors += array.written_sectors;
        }
        launch["arrays"] = json::array();
        for (const bool on_host : {false, true})
            launch["arrays"].push_back({{"on_host", on_host},
                                        {"read_sectors", arrays[on_host].read_sectors},
                                        {"written_sectors", arrays[on_host].written_sectors}});
        launch["sites"] = json::array();
        for (auto& [kind, sum] : sums) launch["sites"].push_back(std::move(sum));
        kept["launches"].push_back(std::move(launch));
    }
    return kept;
}

/// The counters of a reference or baseline. They are the same for every submission, so a machine counts them
/// once; those of a submission that is the reference itself are there already.
std::optional<Tally> count_solution(const Trial& reference, const Case& which, std::string& why_not,
                                    const Build* own = nullptr, const Tally* counted = nullptr) {
    struct Known {
        std::mutex counting;
        std::optional<Tally> tally;
    };
    static std::mutex mutex;
    static std::map<std::string, Known> all;  // whose elements stay where they are
    const Toolchain& toolchain = reference.options.toolchain;
    if (!reference.rung.given() && is_edition(toolchain.root)) return recorded_counts(reference, which);
    const Build build = checked_build(reference, why_not);
    if (build.executable.empty()) return std::nullopt;
    if (own && own->executable == build.executable) return *counted;
    const simt::model::Machine& machine = modelled_machine(toolchain);
    const std::string name = fmt::format("{} {} {} {}", build.executable.filename().string(),
                                         call_name(which), machine.multiprocessors, machine.l2_bytes);
    const fs::path kept = toolchain.cache / "counts" / Sha256().add(name).hex();
    Known& known = [&]() -> Known& {
        const std::lock_guard lock(mutex);
        return all[name];
    }();
    const std::lock_guard lock(known.counting);
    if (!known.tally) known.tally = kept_counts(kept);
    if (!known.tally) {
        json report;
        known.tally = count_calls(reference, build.executable, which, {}, why_not, &report);
        if (known.tally) keep_counts(toolchain, kept, report);
    }
    return known.tally;
}

/// Whether the rung has points for a modelled speed: on a GPU there is a measured one.
bool is_modelled(const Trial& trial) {
    return trial.options.backend == Backend::cpu && trial.rung.speed && trial.rung.speed->modelled;
}

/// Where a rung is counted besides `which`, for its modelled speed: in a neighbour of that case and, for each
/// other problem that it solves, in one of the largest case that is no more work. A student edition has no
/// reference that could be counted there.
std::vector<Case> cases_elsewhere(const Trial& trial, const Case& which) {
    const JudgeOptions& options = trial.options;
    if (trial.rung.given() || !is_modelled(trial) || is_edition(options.toolchain.root) ||
        !is_on(Defence::other_sizes))
        return {};
    const auto work = [&](const Case& one) { return trial.exam.work(one).size(); };
    const std::vector<Case> all = trial.manifest.cases_of(trial.rung, Backend::cpu, options.seed);
    std::vector<Case> cases{which};
    for (const std::string& problem : trial.rung.problems) {
        const Case* largest = nullptr;
        for (const Case& one : all) {
            if (problem == which.problem || one.problem != problem || work(one) > work(which)) continue;
            if (!largest || work(one) > work(*largest)) largest = &one;
        }
        if (largest && work(*largest) >= enough_work * work(which)) cases.push_back(*largest);
    }
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const std::uint64_t seed = seed_of(options.seed, Purpose::counts, 2 + i);
        cases[i] = neighbour(trial.exam, cases[i], seed);
        cases[i].seed = seed;
    }
    return cases;
}

/// The counters of a submission.
struct OwnCounts {
    Tally shown;                   ///< on the case that everybody is shown, with lines
    Tally secret;                  ///< on an input of the same kind and size that only this run has
    std::vector<Tally> elsewhere;  ///< on each of cases_elsewhere()
};

/// Counts a submission, whose author knows which case it is: what the calls leave is examined as in any other
/// call. @returns nothing where it could not be counted, or was not right; Counters::why_not says so
std::optional<OwnCounts> count_own(RungResult& result, const Trial& trial, const fs::path& executable,
                                   const Case& which, const std::vector<Case>& others) {
    const RungEntry& rung = trial.rung;
    std::string& why_not = result.counters.why_not;
    Counter counter(trial, executable, {});
    const auto examined = [&](const Case& one) -> std::optional<Tally> {
        const Task task = trial.exam.make(one);
        const std::string where = describe(trial.exam, one, task);
        CheckedCall checked;
        std::optional<Tally> tally = counter.call(one, task, checked, why_not);
        std::vector<QuotedFinding> found;
        try {
            if (is_on(Defence::findings)) found = findings_of(checked.report);
        } catch (const std::runtime_error& error) {
            why_not = rung.name + ": " + error.what();
            return std::nullopt;
        }
        const auto may_end = [&](const QuotedFinding& finding) {  // a slow machine, or a GPU
            return finding.kind == "timeout" || (!needs_checks(trial) && has_no_end(finding));
        };
        if (has_error(found) && !may_end(found.front()) && !has_error(result.checks.findings)) {
            put_findings(result, trial, std::move(found), where);
        }
        if (tally && result.passed()) {
            const Check check = trial.exam.check(one, task, checked.outputs);
            if (!check.passed && is_on(Defence::counted_outputs)) put_wrong(result, where, check);
        }
        if (result.passed()) return tally;
        why_not = "not counted, because the rung is not right: " + result.reason();
        return std::nullopt;
    };
    const auto secret = [&](std::uint64_t index) {
        Case one = which;
        if (is_on(Defence::secret_count)) one.seed = seed_of(trial.options.seed, Purpose::counts, index);
        return examined(one);
    };
    counter.warm_up(which);
    // The first call of a size may set up what later ones find there. It has a secret input all the same, and
    // where it took another time than the input that is shown, it may have been that: a second one decides.
    std::optional<Tally> first = secret(0);
    if (!first) return std::nullopt;
    std::optional<Tally> second;
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
        second = examined(which);
        if (!second) return std::nullopt;
        if (!counter.lacks_lines()) break;
    }
    if (counter.lacks_lines()) {
        why_not = rung.name + ": its lines could not be found";
        return std::nullopt;
    }
    if (!agree(modelled_machine(trial.options.toolchain), *second, *first) && !(first = secret(1)))
        return std::nullopt;
    OwnCounts own{std::move(*second), std::move(*first), {}};
    for (const Case& one : others) {
        std::optional<Tally> tally = examined(one);
        if (tally && tally->allocations != 0) tally = examined(one);  // it has set up what the next one finds
        if (!tally) return std::nullopt;
        own.elsewhere.push_back(std::move(*tally));
    }
    return own;
}

/// Counts what the rung will be compared with, beside the rung itself, where count_solution() finds it.
/// `own`: the rung's worker.
std::vector<std::future<void>> count_rivals(const Trial& trial, const Case& which,
                                            const std::vector<Case>& others, const Build& own) {
    std::vector<std::future<void>> rivals;
    const auto count = [&](const RungEntry& rival, const std::vector<Case>& cases) {
        rivals.push_back(std::async(std::launch::async, [&, cases] {
            std::string ignored;
            const Tally known;
            for (const Case& one : cases) count_solution(trial.reference(rival), one, ignored, &own, &known);
        }));
    };
    if (!trial.rung.given()) count(trial.rung, {which});
    if (is_modelled(trial)) count(*trial.manifest.find(trial.rung.speed->baseline), {which});
    if (!others.empty()) count(trial.rung, others);
    return rivals;
}

/// Looks for the case in which the rung, compared with its reference, needs most.
void compare_elsewhere(RungResult& result, const Trial& trial, const Build& build,
                       const std::vector<Case>& others, const std::vector<Tally>& own) {
    if (others.empty()) return;  // a given rung has no reference, either
    const simt::model::Machine& machine = modelled_machine(trial.options.toolchain);
    const double here = predict(machine, result.counters.rung) / predict(machine, *result.counters.reference);
    for (std::size_t i = 0; i < others.size(); ++i) {
        std::string why_not;
        const std::optional<Tally> reference =
            count_solution(trial.reference(), others[i], why_not, &build, &own[i]);
        if (!reference) throw InfraError("its time could not be modelled: " + why_not);
        const double worse = predict(machine, own[i]) / predict(machine, *reference) / here;
        if (!(worse > std::max(evenness, result.modelled.worse)) || !std::isfinite(worse)) continue;
        result.modelled.worse = worse;
        result.modelled.elsewhere = without_seed(describe(trial.exam, others[i], trial.exam.make(others[i])));
    }
}

/// What speaks for a call that the host has computed, whose own work is not counted; empty: kernels have
/// moved what had to be moved, and the host has seen little of it.
std::string not_by_kernels(const Tally& tally, double least) {
    const double moved = tally.moved_by_kernels(), seen = tally.seen_by_host();
    if (moved < own_share * least) {
        return fmt::format("its kernels read and write {:.0f} bytes, of {:.0f} that have to be moved", moved,
                           least);
    }
    if (seen > few_bytes + own_share * std::max(least, moved)) {
        return fmt::format("it brings {:.0f} bytes to the host, and its kernels read and write {:.0f}", seen,
                           moved);
    }
    return "";
}

/// Holds a rung whose kernels do not do the work. A reference that is like that shows that the rung is about
/// copies.
void judge_method(RungResult& result, const RungEntry& rung, const Tally& secret) {
    const double least = result.counters.least_bytes;
    if (rung.given() || !is_on(Defence::method)) return;
    if (!not_by_kernels(*result.counters.reference, least).empty()) return;
    const std::string why = not_by_kernels(secret, least);
    if (why.empty()) return;
    result.decide({.kind = Verdict::suspect,
                   .text = "right, but perhaps computed by the host: " + why,
                   .source = Source::counters});
}

void judge_model(RungResult& result, const Trial& trial, const Case& which, const Tally& secret) {
    const RungEntry& rung = trial.rung;
    Modelled& modelled = result.modelled;
    if (!is_modelled(trial)) {
        modelled.why_not = trial.options.backend == Backend::cpu ? "the manifest asks for none"
                                                                 : "a GPU is there, and its clock tells";
        return;
    }
    const RungEntry& baseline = *trial.manifest.find(rung.speed->baseline);
    const std::optional<Tally> slow = count_solution(trial.reference(baseline), which, modelled.why_not);
    if (!slow) throw InfraError("its time could not be modelled: " + modelled.why_not);
    if (!is_on(Defence::copies)) {
        simt::model::CallProfile& call = result.counters.rung.profile;
        call.copies = call.copied_bytes = call.waits = 0;
    }
    const simt::model::Machine& machine = modelled_machine(trial.options.toolchain);
    modelled.machine = machine.name;
    modelled.which = result.counters.which;
    modelled.baseline = baseline.name;
    modelled.seconds = predict(machine, result.counters.rung, modelled.limit);
    modelled.baseline_seconds = predict(machine, *slow);
    modelled.reference_seconds = predict(machine, *result.counters.reference);
    const auto suspect = [&](std::string text) {
        result.decide({.kind = Verdict::suspect, .text = std::move(text), .source = Source::counters});
    };
    if (!(modelled.seconds > 0) || !std::isfinite(modelled.seconds) ||
        result.counters.rung.profile.launches.empty()) {
        modelled.why_not = "no launch was counted";
        if (is_on(Defence::launches))
            suspect("right, but its time could not be modelled: " + modelled.why_not);
        return;
    }
    modelled.done = true;
    modelled.speedup = modelled.baseline_seconds / modelled.seconds / modelled.worse;
    modelled.of_reference = modelled.reference_seconds / modelled.seconds / modelled.worse;
    modelled.max_points = rung.speed->points;
    if (!result.passed()) return;
    if (is_on(Defence::agreement) && !agree(machine, result.counters.rung, secret)) {
        return suspect(fmt::format(
            "right, but a modelled time of {:.2f} us, and {:.2f} us on a secret input of that size",
            1e6 * modelled.seconds, 1e6 * predict(machine, secret)));
    }
    // One launch that reads the input takes this long.
    const double least = machine.launch + trial.exam.work(which).least / machine.dram_read;
    const double floor = std::max(least_of_input * least, least_of_reference * modelled.reference_seconds);
    if (modelled.seconds < floor && is_on(Defence::floor)) {
        return suspect(
            fmt::format("right, but a modelled time of {:.2f} us: the reference takes {:.2f} us, and a "
                        "launch that reads the input at least {:.2f} us",
                        1e6 * modelled.seconds, 1e6 * modelled.reference_seconds, 1e6 * least));
    }
    SpeedRule rule = *rung.speed;
    rule.zero = rule.modelled->zero;
    rule.full = rule.modelled->full;
    if (rule.to_reference) {
        const double best = modelled.baseline_seconds / modelled.reference_seconds;
        const auto scale = reachable(rule, best);
        if (!scale) {
            throw InfraError(
                fmt::format("its speed has no scale: the reference is modelled {:.2f} times as "
                            "fast as {}",
                            best, baseline.name));
        }
        rule = *scale;
    }
    modelled.beats_reference = modelled.of_reference > agreement;
    modelled.zero = rule.zero;
    modelled.full = rule.full;
    modelled.points = points_for(rule, modelled.speedup);
    if (modelled.points <= 0) {
        result.decide({.kind = Verdict::slow,
                       .text = fmt::format(
                           "right, but modelled {:.2f} times as fast as {}; points begin beyond {:.2f}{}",
                           modelled.speedup, baseline.name, rule.zero, elsewhere_text(modelled)),
                       .source = Source::counters});
    }
}

}  // namespace

MemoryCounters Tally::total(Space space) const {
    MemoryCounters sum;
    for (const LaunchCounters& launch : launches) {
        for (const SiteCounters& site : launch.sites) {
            if (site.space == space) add(sum, site);
        }
    }
    return sum;
}

MemoryCounters Tally::total(Space space, Access access) const {
    MemoryCounters sum;
    for (const LaunchCounters& launch : launches) {
        for (const SiteCounters& site : launch.sites) {
            if (site.space == space && site.access == access) add(sum, site);
        }
    }
    return sum;
}

double Tally::moved_by_kernels() const {
    constexpr double sector = 32;
    double bytes = 0;
    for (const LaunchCounters& launch : launches) {
        for (const ArrayCounters& array : launch.arrays)
            bytes += sector *
                     (static_cast<double>(array.read_sectors) + static_cast<double>(array.written_sectors));
        for (const SiteCounters& site : launch.sites) {
            if (site.space == Space::texture || site.space == Space::constant)
                bytes += static_cast<double>(site.useful_bytes);
        }
    }
    return bytes;
}

double Tally::seen_by_host() const {
    constexpr double sector = 32;
    double bytes = static_cast<double>(host.bytes_to_host);
    for (const LaunchCounters& launch : launches) {
        for (const ArrayCounters& array : launch.arrays)
            if (array.on_host) bytes += sector * static_cast<double>(array.written_sectors);
    }
    return bytes;
}

std::uint64_t Tally::barriers() const {
    std::uint64_t sum = 0;
    for (const LaunchCounters& launch : launches) sum += launch.barriers;
    return sum;
}

std::uint64_t Tally::blocks() const {
    std::uint64_t sum = 0;
    for (const LaunchCounters& launch : launches) sum += launch.blocks;
    return sum;
}

double Tally::simt_efficiency() const {
    double blocks = 0, lanes = 0;
    for (const LaunchCounters& launch : launches) {
        blocks += static_cast<double>(launch.basic_blocks);
        lanes += static_cast<double>(launch.active_lanes);
    }
    return blocks > 0 ? lanes / (32 * blocks) : 1;
}

std::vector<SiteCounters> Tally::lines() const {
    std::vector<SiteCounters> all;
    for (const LaunchCounters& launch : launches)
        all.insert(all.end(), launch.sites.begin(), launch.sites.end());
    const auto identity = [](const SiteCounters& s) {
        return std::tie(s.place.file, s.place.line, s.array, s.space, s.access, s.width);
    };
    std::stable_sort(all.begin(), all.end(),
                     [&](const SiteCounters& a, const SiteCounters& b) { return identity(a) < identity(b); });
    std::vector<SiteCounters> merged;
    for (SiteCounters& site : all) {
        if (!merged.empty() && identity(merged.back()) == identity(site)) {
            add(merged.back(), site);
        } else {
            merged.push_back(std::move(site));
        }
    }
    std::stable_sort(merged.begin(), merged.end(), [](const SiteCounters& a, const SiteCounters& b) {
        return a.sectors + a.wavefronts > b.sectors + b.wavefronts;
    });
    return merged;
}

Case neighbour(const Exam& exam, Case which, std::uint64_t random) {
    for (const std::size_t place : exam.extents(which)) {
        long long& size = which.sizes.at(place);
        const long long range = 3 * size / 8;
        if (range < 2) continue;
        size = (size / 2 + static_cast<long long>(random >> 8 & 0xffffffff) % range) | 1;
        random = random * 6364136223846793005u + 1442695040888963407u;
    }
    return which;
}

Case case_to_count(const Manifest& manifest, const RungEntry& rung, const Exam& exam) {
    constexpr std::uint64_t seed = 1;
    if (rung.speed && rung.speed->modelled) {
        const TimedCase& chosen = *Manifest::case_for(rung, manifest.modelled);
        return {chosen.problem, chosen.sizes, chosen.kind, seed};
    }
    std::vector<Case> cases = manifest.cases_of(rung, Backend::cpu, 0);
    const auto work = [&](const Case& which) { return exam.work(which).size(); };
    const Case* best = nullptr;
    for (const Case& which : cases) {
        if (which.problem != rung.problems.front() || work(which) > most_work) continue;
        if (!best || work(which) > work(*best)) best = &which;
    }
    if (!best)
        best = &*std::min_element(cases.begin(), cases.end(),
                                  [&](const Case& a, const Case& b) { return work(a) < work(b); });
    Case chosen = *best;
    chosen.seed = seed;
    return chosen;
}

Tally tally_of(const json& root, const std::string& rung) {
    Tally tally;
    try {
        for (const json& launch : root.at("launches")) {
            if (tally.launches.size() == most_launches) break;
            tally.launches.push_back(launch_of(launch));
        }
        const auto field = [&](const char* name, std::uint64_t& value) {
            value = root.at(name).get<std::uint64_t>();
        };
        field("copies", tally.host.copies);
        field("copied_bytes", tally.host.copied_bytes);
        field("bytes_to_host", tally.host.bytes_to_host);
        field("fills", tally.host.fills);
        field("filled_bytes", tally.host.filled_bytes);
        tally.host.launches = tally.launches.size();
        if (root.contains("allocations")) tally.allocations = root.at("allocations").get<std::uint64_t>();
        constexpr std::size_t most_traces = 16;
        std::vector<WarpTrace> traces;
        for (const json& trace : root.at("traces")) {
            if (traces.size() == most_traces) break;
            traces.push_back(trace_of(trace));
        }
        tally.trace = own_trace(std::move(traces), rung);
        const std::string profile = root.at("profile").get<std::string>();
        if (!profile.empty()) {
            std::istringstream in(profile);
            tally.profile = simt::model::read_profile(in);
            for (auto& launch : tally.profile.launches) launch.kernel = one_line(launch.kernel, 200);
        }
    } catch (const json::exception& error) {
        throw std::runtime_error("counters that make no sense: " + one_line(error.what()));
    }
    return tally;
}

std::optional<Tally> count(const Trial& trial, std::string& why_not, Watched watched, std::string* wrong) {
    const Build build = checked_build(trial, why_not);
    if (build.executable.empty()) return std::nullopt;
    const Case which = case_to_count(trial.manifest, trial.rung, trial.exam);
    return count_calls(trial, build.executable, which, watched, why_not, nullptr, wrong);
}

std::optional<Tally> count_reference(const Trial& trial, const Case& which, std::string& why_not) {
    return count_solution(trial.reference(), which, why_not);
}

json record_counts(const Trial& trial, const std::vector<Case>& calls) {
    const Trial reference = trial.reference();
    std::string why_not;
    json record = json::object();
    const Build build = checked_build(reference, why_not);
    for (const Case& which : calls) {
        json report;
        std::optional<Tally> tally;
        if (!build.executable.empty())
            tally = count_calls(reference, build.executable, which, {}, why_not, &report);
        if (!tally) throw InfraError(fmt::format("{} could not be counted: {}", trial.rung.name, why_not));
        record[call_name(which)] = without_source(report);
    }
    return record;
}

double modelled_seconds(const JudgeOptions& options, const Tally& tally) {
    const double seconds = predict(modelled_machine(options.toolchain), tally);
    if (tally.profile.launches.empty() || !(seconds > 0) || !std::isfinite(seconds))
        throw InfraError("a time could not be modelled: no launch was counted");
    return seconds;
}

/// Counts in full, ratios to three digits.
static std::string amount(double value) {
    return value < 100 ? fmt::format("{:.3g}", value) : fmt::format("{:.0f}", std::floor(value));
}

/// Whether the rung needs so much more than its reference that it has missed the idea, right as it is.
static void judge_limits(RungResult& result, const RungEntry& rung, const Tally& secret) {
    for (const CounterLimit& limit : rung.limits) {
        const double mine = counter_of(limit.counter, secret),
                     best = counter_of(limit.counter, *result.counters.reference);
        if (!result.passed() || mine <= limit.times * best) continue;
        std::string words = limit.counter;
        std::replace(words.begin(), words.end(), '_', ' ');
        result.counters.beyond =
            best == 0 ? fmt::format("the reference needs no {}", words)
                      : fmt::format("at most {} {} are allowed, {:.3g} times what the reference needs",
                                    amount(limit.times * best), words, limit.times);
        result.modelled.points = 0;
        result.modelled.beats_reference = false;
        result.decide(
            {.kind = Verdict::slow,
             .text = fmt::format(
                 "right, but {} {} where {}: ./rungs explain {}/{} {}", amount(mine), words,
                 best == 0 ? "none are needed" : amount(best) + " will do", result.chapter.substr(0, 2),
                 rung.name.substr(0, 2),
                 counter_is_of_lines(limit.counter) ? "shows at which line" : "shows what else is counted"),
             .source = Source::counters});
        return;
    }
}

std::string seen_by_host(const Trial& trial, double least, double seen) {
    if (seen <= few_bytes + own_share * least) return "";
    std::string why_not;
    const Case which = case_to_count(trial.manifest, trial.rung, trial.exam);
    const std::optional<Tally> reference = count_reference(trial, which, why_not);
    if (!reference || !not_by_kernels(*reference, trial.exam.work(which).least).empty()) return "";
    return fmt::format(
        "right, but perhaps computed by the host: it brings {:.0f} bytes there, of {:.0f} that "
        "have to be moved",
        seen, least);
}

void judge_counts(RungResult& result, const Trial& trial) {
    const RungEntry& rung = trial.rung;
    const Exam& exam = trial.exam;
    Counters& counters = result.counters;
    if (!result.checks.done) {
        counters.why_not = "not counted, because the checks were not done";
    } else if (!result.passed()) {
        counters.why_not =
            "not counted, because the rung is not right yet: ./rungs explain counts it all the same";
    }
    if (!counters.why_not.empty()) {
        result.modelled.why_not = counters.why_not;
        return;
    }
    if (trial.options.progress) trial.options.progress({rung, Phase::counters, 0, 0});
    const Case which = case_to_count(trial.manifest, rung, exam);
    counters.which = describe(exam, which, exam.make(which));
    counters.least_bytes = exam.work(which).least;
    const bool with_model = is_modelled(trial);
    const Build build = checked_build(trial, counters.why_not);
    const std::vector<Case> others = cases_elsewhere(trial, which);
    std::optional<OwnCounts> own;
    std::vector<std::future<void>> rivals;
    if (!build.executable.empty()) {
        const Lap lap(result.profile, Part::counts);
        rivals = count_rivals(trial, which, others, build);
        own = count_own(result, trial, build.executable, which, others);
    }
    if (!own) {
        result.modelled.why_not = counters.why_not;
        // Too slow to be counted, or this machine is.
        if (!rung.given() && result.passed() && needs_checks(trial)) {
            result.decide(
                {.kind = Verdict::suspect,
                 .text = fmt::format("right, but its {}: {}",
                                     with_model ? "time could not be modelled" : "calls could not be counted",
                                     counters.why_not),
                 .source = Source::counters});
        }
        return;
    }
    counters.rung = std::move(own->shown);
    counters.done = true;
    const Lap lap(result.profile, Part::solutions);
    for (std::future<void>& rival : rivals) rival.wait();
    if (!rung.given()) {
        std::string why_not;
        counters.reference = count_solution(trial.reference(), which, why_not, &build, &counters.rung);
        if (!counters.reference) {
            result.modelled.why_not = why_not;
            if (with_model) throw InfraError("its time could not be modelled: " + why_not);
            return;
        }
    }
    judge_method(result, rung, own->secret);
    compare_elsewhere(result, trial, build, others, own->elsewhere);
    judge_model(result, trial, which, own->secret);
    judge_limits(result, rung, own->secret);
}

}  // namespace rungs::judge
