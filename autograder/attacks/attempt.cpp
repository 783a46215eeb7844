#include "attempt.hpp"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <set>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cases/case_file.hpp"
#include "judge/build/build.hpp"
#include "judge/build/source.hpp"
#include "judge/confine/process.hpp"
#include "judge/result/defences.hpp"
#include "report/report.hpp"
#include "room.hpp"
#ifdef RUNGS_UNDEFENDED
#include "undefended.hpp"
#endif

namespace rungs::attacks {
namespace {

namespace fs = std::filesystem;
using namespace rungs::judge;

constexpr std::array<std::string_view, 8> goal_names{"points",   "status", "secret", "seed",
                                                     "terminal", "litter", "time",   "verdict"};

#ifndef RUNGS_UNDEFENDED
/// Of the judge itself, whatever it reads of a submission. On a GPU cases are large, and memory that the
/// judge has given back stays where it is until the system wants it (judge/confine/large_blocks.cpp).
long most_memory_kib(Backend backend, bool clock) {
    constexpr long least = 1L << 20;
    const long machine = sysconf(_SC_PHYS_PAGES) / 1024 * sysconf(_SC_PAGESIZE);
    // For the clock it makes inputs ahead, in a quarter of what is free, and keeps answers in another.
    if (clock) return least + machine / 2;
    return backend == Backend::cuda ? least + machine / 8 : least;
}
#endif

/// What is done where no GPU decides: modelled time in place of the clock, and checks that have to
/// come to their end.
bool is_of_cpu(const std::string& defence) {
    static const std::set<std::string> all{"complete checks", "agreement", "floor", "copies"};
    return all.count(defence) > 0;
}

template <std::size_t N>
std::size_t index_in(const std::array<std::string_view, N>& names, const std::string& name,
                     const CaseKeys& keys) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) keys.fail(fmt::format("there is no '{}'", name));
    return static_cast<std::size_t>(found - names.begin());
}

using Texts = std::vector<std::string>;

/// Keys and values, and numbers as they are written.
void add_json(const nlohmann::ordered_json& json, Texts& texts) {
    if (json.is_string()) {
        texts.push_back(json.get<std::string>());
    } else if (!json.is_structured()) {
        texts.push_back(json.dump());
    }
    for (const auto& [key, value] : json.items()) {
        if (json.is_object()) texts.push_back(key);
        if (json.is_structured()) add_json(value, texts);
    }
}

void add_place(const simt::check::Place& place, Texts& texts) {
    texts.insert(texts.end(), {place.file, place.function});
}

void add_tally(const Tally& tally, Texts& texts) {
    for (const auto& launch : tally.launches) {
        texts.push_back(launch.kernel);
        for (const auto& site : launch.sites) {
            add_place(site.place, texts);
            texts.push_back(site.array);
        }
        for (const auto& array : launch.arrays) texts.push_back(array.array);
    }
    for (const auto& launch : tally.profile.launches) texts.push_back(launch.kernel);
    texts.push_back(tally.trace.kernel);
    for (const TraceStep& step : tally.trace.steps) {
        add_place(step.place, texts);
        texts.push_back(step.array);
    }
}

/// Every text of a result that may be shown: as the judge has it, from which a terminal shows it, in the
/// JSON, and in the page.
Texts texts_of(const RungResult& result) {
    const Correctness& correctness = result.correctness;
    Texts texts{result.diagnostics,        correctness.cause,        correctness.failing_case,
                correctness.smallest_case, correctness.measure,      result.checks.why_not,
                result.checks.found_in,    result.checks.unread,     result.counters.why_not,
                result.counters.which,     result.counters.beyond,   result.modelled.why_not,
                result.modelled.limit,     result.modelled.baseline, result.speed.why_not};
    for (const Mismatch& mismatch : correctness.first) texts.push_back(mismatch.where);
    for (const Cause& cause : result.causes) {
        texts.insert(texts.end(), {cause.text, cause.which, cause.likely});
        add_place(cause.place, texts);
    }
    for (const QuotedFinding& finding : result.checks.findings) {
        texts.insert(texts.end(), {finding.kind, finding.kernel, finding.array, finding.message,
                                   finding.advice, finding.source, finding.other_source});
        for (const auto& side : {finding.side, finding.other}) {
            add_place(side.place, texts);
            texts.insert(texts.end(), {side.access, side.kernel, side.operation});
        }
    }
    add_tally(result.counters.rung, texts);
    Report report;
    report.rungs.resize(1);
    report.rungs[0].result = result;
    auto json = to_json(report.rungs[0]);
    json.erase("seed");  // which is shown on purpose, to whoever may know it
    add_json(json, texts);
    texts.push_back(to_html(report));
    return texts;
}

bool tells(const Texts& texts, const std::string& secret) {
    return std::any_of(texts.begin(), texts.end(),
                       [&](const std::string& text) { return text.find(secret) != std::string::npos; });
}

bool tells_seed(const Texts& texts, std::uint64_t seed) {
    return tells(texts, fmt::format("{}", seed)) || tells(texts, fmt::format("{:x}", seed));
}

/// Is there a byte that a terminal obeys, or a mark that turns the direction of writing round?
bool has_control_bytes(const Texts& texts) {
    const auto is_control = [](unsigned char byte) {
        return (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f;
    };
    return std::any_of(texts.begin(), texts.end(), [&](const std::string& text) {
        return std::any_of(text.begin(), text.end(), is_control) ||
               text.find("\xe2\x80\xae") != std::string::npos;
    });
}

/// The processor time of all that this process has started and waited for.
double seconds_of_children() {
    rusage used{};
    getrusage(RUSAGE_CHILDREN, &used);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

/// A judge's result, and what it was kept for without what compilers took.
struct Kept {
    RungResult result;
    double seconds = 0;  ///< of time that passed
    double busy = 0;     ///< of what the attack's limit counts: of one that spins the processor's time
};

/// This process adopts whatever a judge fails to clean up, and so can count it, and end it.
bool processes_left() {
    const bool left = waitpid(-1, nullptr, WNOHANG) >= 0 || errno != ECHILD;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while ((waitpid(-1, nullptr, WNOHANG) >= 0 || errno != ECHILD) &&
           std::chrono::steady_clock::now() < end) {
        std::ifstream list("/proc/thread-self/children");
        for (pid_t child = 0; list >> child;) kill(child, SIGKILL);
    }
    return left;
}

/// What was left behind or touched; empty: nothing.
std::string trace_of(const Room& room) {
    std::string trace;
    if (processes_left()) trace = "it left a process behind";
    if (const std::string file = room.changed(); !file.empty()) trace = "it changed a file: " + file;
    if (room.left_objects()) trace = "it left shared memory, messages or semaphores";
    if (room.called()) trace = "it opened a connection";
    return trace;
}

#ifdef RUNGS_UNDEFENDED
/// Did the attack get what it was after?
bool succeeded(const Attack& attack, const Kept& kept, const std::string& trace) {
    const RungResult& result = kept.result;
    switch (attack.goal) {
        case Goal::points:
            return result.verdict == Verdict::ok && result.points >= attack.success * result.max_points;
        case Goal::status:
            return result.verdict == Verdict::runtime_exit &&
                   result.reason().find("exit status 1,") != std::string::npos;
        case Goal::secret:
            return tells(texts_of(result), planted);
        case Goal::seed:
            return tells_seed(texts_of(result), result.seed);
        case Goal::terminal:
            return has_control_bytes(texts_of(result));
        case Goal::litter:
            return !trace.empty();
        case Goal::time:
            return kept.busy > attack.success;
        default:
            return attack.wanted == name_of(result.verdict);
    }
}

void go_without(const Attack& attack) {
    for (const std::string& name : attack.defences)
        defences_off |=
            1ULL << (std::find(defence_names.begin(), defence_names.end(), name) - defence_names.begin());
}
#else
std::string broken(const Attack& attack, const Kept& kept) {
    const RungResult& result = kept.result;
    const std::string verdict = name_of(result.verdict);
    if (std::find(attack.verdicts.begin(), attack.verdicts.end(), verdict) == attack.verdicts.end()) {
        return fmt::format("the verdict is {}, expected {}", verdict, fmt::join(attack.verdicts, " or "));
    }
    if (result.points > attack.max_share * result.max_points ||
        result.points < attack.min_share * result.max_points) {
        return fmt::format("it earned {} of {} points", result.points, result.max_points);
    }
    if (result.verdict != Verdict::ok && result.causes.empty()) return "there is no reason";
    const Texts texts = texts_of(result);
    if (tells(texts, planted)) return "the result tells a planted secret";
    if (has_control_bytes(texts)) return "the result holds what a terminal obeys";
    if (tells_seed(texts, result.seed)) return "the result tells the seed";
    if (attack.goal == Goal::time && kept.busy > attack.success)
        return fmt::format("it kept the judge for {:.1f} s", kept.busy);
    // Whatever else this machine does.
    if (attack.spins && kept.seconds > beside_others * attack.time_limit + attack.success)
        return fmt::format("it kept the judge for {:.1f} s that passed", kept.seconds);
    return "";
}
#endif

RungResult judge_one(const Manifest& manifest, const fs::path& source, const std::string& name,
                     const Exam& exam, JudgeOptions options) {
    options.seed = random_seed();
    return judge_rung({manifest, *manifest.find(name), source, exam, options});
}

}  // namespace

Attack read_attack(const fs::path& file) {
    CaseFile read = read_case_file(file);
    CaseKeys& keys = read.keys;
    Attack attack;
    attack.name = file.stem().string();
    attack.what = std::move(read.what);
    attack.rung = keys.value("rung", attack.rung);
    attack.file = attack.rung + file.extension().string();
    attack.text = std::move(read.text);
    attack.verdicts = keys.value("verdicts", attack.verdicts);
    if (attack.verdicts.empty()) keys.fail("'verdicts' names none");
    for (const std::string& name : attack.verdicts) verdict_of(name);  // throws for a misspelt one
    attack.max_share = keys.value("max_share", attack.max_share);
    attack.min_share = keys.value("min_share", attack.min_share);
    attack.time_limit = keys.value("time_limit", attack.time_limit);
    attack.budget = keys.value("budget", attack.budget);
    attack.kind = keys.value("kind", attack.kind);
    if (attack.kind != "attack" && attack.kind != "accident" && attack.kind != "control")
        keys.fail(fmt::format("there is no kind '{}'", attack.kind));
    attack.needs = keys.value("needs", attack.needs);
    attack.needs_root = keys.value("needs_root", false);
    attack.checks = keys.value("checks", true);
    attack.spins = keys.value("spins", false);
    attack.clock = keys.value("clock", false);
    attack.cpu_alone = keys.value("cpu_alone", false);
    attack.control_on_cpu_alone = keys.value("control_on_cpu_alone", false);
    attack.control_needs_namespace = keys.value("control_needs_namespace", false);
    attack.control_needs_clone3 = keys.value("control_needs_clone3", false);
    attack.control_needs_open_build = keys.value("control_needs_open_build", false);
    attack.defences = keys.value("defences", attack.defences);
    for (const std::string& name : attack.defences) index_in(defence_names, name, keys);
    if (attack.kind == "attack" && attack.defences.empty())
        keys.fail("an attack names what holds it, or is an accident");
    const char* const goal = attack.min_share > 0 ? "status" : "points";
    attack.goal = static_cast<Goal>(index_in(goal_names, keys.value("goal", std::string(goal)), keys));
    attack.success = keys.value("success", attack.success);
    attack.wanted = keys.value("wanted", attack.wanted);
    keys.expect_no_more();
    return attack;
}

std::string why_not_tried(const Attack& attack, const JudgeOptions& options) {
    if (attack.needs > sandbox_level(options.backend).name) return "needs sandbox level " + attack.needs;
    if (attack.needs_root && geteuid() != 0) return "needs a judge that is root";
    if (options.backend == Backend::cpu && attack.clock) return "is about the clock of a GPU";
    if (options.backend == Backend::cuda &&
        (attack.cpu_alone || (!attack.defences.empty() &&
                              std::all_of(attack.defences.begin(), attack.defences.end(), is_of_cpu))))
        return "is about what only the CPU backend does";
    return "";
}

Tried attempt(const Attack& attack, const Manifest& manifest, const Exam& exam, const JudgeOptions& options,
              bool checked_canary) {
    JudgeOptions own = options;
    own.speed = attack.clock;
    own.checks = attack.checks;
    own.time_limit = attack.time_limit;
    own.budget = attack.budget;
    const Room room(attack.file, attack.text, options.toolchain.cache);
#ifdef RUNGS_UNDEFENDED
    go_without(attack);
    Manifest known = manifest;
    if (!is_on(Defence::inputs)) {
        for (CaseGroup& group : known.cases) {
            group.kinds = {"ones"};
            group.seeds = 1;
        }
    }
#else
    const Manifest& known = manifest;
#endif
    const fs::path source = room.folder() / attack.file;
    const bool counted = attack.spins && own.backend == Backend::cpu;  // as the judge counts
    if (counted) {  // the compilers' processor time is recorded nowhere
        build_worker({known, *known.find(attack.rung), source, exam, own}, own.backend);
    }
    const auto judged = [&] {
        const double before = seconds_of_children();
        Kept kept;
        kept.result = judge_one(known, source, attack.rung, exam, own);
        kept.seconds = kept.result.seconds - kept.result.build_seconds;
        kept.busy = counted ? seconds_of_children() - before : kept.seconds;
        return kept;
    };
    Kept kept = judged();
#ifdef RUNGS_UNDEFENDED
    // What happens to the others' times, or who comes first, is chance in part, and whoever
    // cheats hands in again.
    const int most_again = attack.clock ? 2 : is_on(Defence::commit) ? 0 : 1;
    for (int again = 0; again < most_again && !succeeded(attack, kept, ""); ++again) kept = judged();
#endif
    const RungResult& result = kept.result;
    const std::string trace = trace_of(room);
    Tried tried;
#ifdef RUNGS_UNDEFENDED
    (void)checked_canary;
    if (!succeeded(attack, kept, trace)) {
        tried.fault = fmt::format("it does not succeed without {}: {:.3g} of {:.3g} points, {}",
                                  fmt::join(attack.defences, " and "), result.points, result.max_points,
                                  result.reason());
    }
    const std::string how = fmt::format("succeeds without {}", fmt::join(attack.defences, " and "));
#else
    tried.fault = broken(attack, kept);
    if (tried.fault.empty()) tried.fault = trace;
    if (tried.fault.empty()) {
        JudgeOptions canary = options;
        canary.checks = checked_canary;
        Manifest few = manifest;
        few.cases.resize(1);  // small ones of every size
        const fs::path reference =
            source_of(few, *few.find(attack.rung), options.toolchain.root, Whose::solution);
        const RungResult honest = judge_one(few, reference, attack.rung, exam, canary);
        if (honest.verdict != Verdict::ok) {
            tried.fault = fmt::format("an honest submission got {} after it: {}", name_of(honest.verdict),
                                      honest.reason());
        }
    }
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    if (tried.fault.empty() && used.ru_maxrss > most_memory_kib(options.backend, attack.clock))
        tried.fault = fmt::format("the judge needed {} MiB for it", used.ru_maxrss >> 10);
    const std::string how = result.reason();
#endif
    tried.line =
        fmt::format("{:<4} {:<34} {:<15} {:5.1f} s  {}\n", tried.fault.empty() ? "ok" : "FAIL", attack.name,
                    name_of(result.verdict), result.seconds, tried.fault.empty() ? how : tried.fault);
    if (!tried.fault.empty())
        tried.details =
            fmt::format("FAIL {}: {}. {}\n{}", attack.name, tried.fault, result.reason(), result.diagnostics);
    return tried;
}

}  // namespace rungs::attacks
