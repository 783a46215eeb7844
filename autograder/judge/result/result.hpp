#pragma once
// What the judge found out about a rung. One record: terminal, JSON and HTML all show this and nothing else.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "judge/clock/gpu_clock.hpp"
#include "judge/result/profile.hpp"
#include "rungs/exam.hpp"
#include "rungs/manifest.hpp"
#include "simt/inspect/check.h"
#include "simt/inspect/counters.h"
#include "simt/inspect/model.h"

namespace rungs::judge {

enum class Verdict {
    // the student's
    ok,
    wrong,           ///< an output differs from what was expected
    slow,            ///< correct, but no points for speed
    out_of_bounds,   ///< a bad access to memory: outside its array, misaligned, freed, into its input
    race,            ///< two threads meet at one place in no given order, and one of them writes
    uninit,          ///< reads what nothing has written
    barrier,         ///< a barrier or warp operation that not all threads come to that have to
    deadlock,        ///< all lanes that are left wait for each other
    timeout,         ///< a call did not come back in time
    oom,             ///< out of memory
    runtime_error,   ///< the launcher threw, or CUDA reported an error
    runtime_signal,  ///< crashed
    runtime_exit,    ///< left the process instead of returning
    protocol,        ///< the worker said something it must not say, or hung up
    compile_error,
    // a human has a look
    unstable,  ///< time varies too much to decide
    suspect,   ///< the outputs are right, but something else is odd
    // ours: neither a pass nor a zero
    infra,    ///< something of this machine or of this program failed
    not_run,  ///< not tried: no such backend here, or stopped
};

/// "OK", "WRONG", ...: the word in every report.
const char* name_of(Verdict verdict);

/// The verdict with that name. @throws std::invalid_argument
Verdict verdict_of(const std::string& name);

enum class Owner { student, review, ours };

/// Who has to act on a verdict.
Owner owner_of(Verdict verdict);

/// The part of the judge's work in which a cause showed.
enum class Source {
    setup,     ///< this machine and this build
    build,     ///< compiler, linker, and what reads their products
    call,      ///< a call of the rung: how it came back, or did not
    exam,      ///< the outputs of a call
    checks,    ///< check mode as a whole: it did not come to its end
    findings,  ///< the first of ChecksResult::findings
    counters,  ///< counted calls, and the time that is modelled from them
    speed,     ///< the clock
};

/// "setup", "build", ...: the word in the JSON.
const char* name_of(Source source);

/// Why a verdict is what it is. Nothing decides by `text`.
struct Cause {
    Verdict kind = Verdict::infra;  ///< the verdict that it makes
    std::string text;               ///< one line, without case and likely cause
    bool limited = false;  ///< a limit of time or memory was met, on a machine that may have other work to do
    Source source = Source::call;
    simt::check::Place place = {};  ///< in the rung's file; line 0: not known
    std::string which = {};         ///< the case in words, as Correctness::failing_case has it; empty: none
    std::string likely = {};        ///< what explains it, where the pattern of wrong values tells
};

/// How a worker was held: printed in every report.
struct SandboxLevel {
    std::string name;      ///< "S1"
    std::string describe;  ///< "limits on memory and time; a user of its own; no signals to others; ..."
};

struct Correctness {
    int cases = 0;              ///< calls that were checked or should have been
    int passed = 0;             ///< up to the first that failed
    std::string failing_case;   ///< in words: "sum of 257 floats, uniform, seed 0x2a"; empty: none failed
    std::string smallest_case;  ///< the smallest one that fails as well, where there is a smaller one
    double error = 0;           ///< of the failing case, else the largest relative to its tolerance
    double tolerance = 0;       ///< what `error` had to stay within
    std::string measure;        ///< what `error` is
    std::size_t wrong = 0;      ///< how many are wrong in the failing case
    std::size_t of = 0;
    std::string things = "elements";  ///< which these are
    std::vector<Mismatch> first;      ///< the first five of them
    std::string cause;                ///< likely cause, where the pattern tells
    bool unwritten = false;           ///< that cause: an output still is what it was before the call
    bool varies = false;              ///< the same call has given different results
    bool certain = false;             ///< the cause explains every element
};

/// Puts in what an exam says of outputs that are wrong, except for the cause.
void put_mismatches(Correctness& correctness, const Check& check);

/// One line: how far off the failing case is.
std::string wrong_in_words(const Correctness& correctness);

/// Outputs of the failing case are wrong, as `correctness` says.
Cause wrong_outputs(const Correctness& correctness);

/// What check mode or compute-sanitizer found, with the lines of the source that it names.
struct QuotedFinding : simt::check::Finding {
    std::string source;        ///< line side.place.line of the rung
    std::string other_source;  ///< line other.place.line
};

/// The checks of one rung.
struct ChecksResult {
    bool done = false;
    std::string why_not;  ///< where not done: "not done on the cuda backend"
    std::string tool;     ///< "check mode, GNU 12.2.0"
    int cases = 0;        ///< that were run to the end
    int of = 0;
    int orders = 0;  ///< in which each case ran
    std::vector<QuotedFinding>
        findings;          ///< of the first case that has an error, or of all; what explains most first
    std::string found_in;  ///< that case in words
    double seconds = 0;    ///< that the checks took, building included
    /// Lines of the rung with code that no case reached; none where not all cases were run.
    std::vector<unsigned> unchecked = {};
    /// Those that the manifest's own check cases did not reach. For how many of the further cases of
    /// check_the_rest() there is time depends on the machine.
    std::vector<unsigned> unchecked_by_cases = {};
    /// Why the program's debug information could not be read: then `unchecked`, or columns of the findings,
    /// are missing, and nothing else.
    std::string unread = {};
    /// What the checks have seen of the rung: launches by names (launch_kinds.hpp) and basic blocks of the
    /// worker. For the judge alone.
    std::set<std::string> launched = {};
    std::set<std::uint64_t> blocks = {};
};

/// One memory instruction of a warp.
struct TraceStep {
    simt::check::Place place;
    std::string array;
    simt::check::Space space = simt::check::Space::global;
    simt::check::Access access = simt::check::Access::read;
    unsigned width = 0;                   ///< bytes a lane
    unsigned phase = 0;                   ///< barriers of the block before it
    std::uint32_t lanes = 0;              ///< mask
    std::array<long long, 32> offsets{};  ///< bytes from the last multiple of 128 before the array's start
};

/// What one warp of the first launch did, step by step, and how many steps the warps of its block made
/// between the barriers.
struct WarpTrace {
    std::string kernel;
    unsigned long long block = 0;
    unsigned warp = 0;
    bool cut = false;  ///< there were more steps
    std::vector<TraceStep> steps;
    std::vector<std::vector<unsigned>> requests;  ///< of each warp, in each phase
};

/// What one rung's call asked of the hardware, as check mode counted it.
struct Tally {
    std::vector<simt::check::LaunchCounters> launches;
    simt::check::HostCounters host;
    simt::model::CallProfile profile;  ///< of the same call; no launches where it is not known
    WarpTrace trace;
    /// Of device memory, by the call; nullopt: an edition's record does not tell.
    std::optional<std::uint64_t> allocations;

    /// Sums over all launches.
    simt::check::MemoryCounters total(simt::check::Space space) const;
    simt::check::MemoryCounters total(simt::check::Space space, simt::check::Access access) const;
    std::uint64_t barriers() const;
    std::uint64_t blocks() const;  ///< that ran
    /// Bytes that kernels have read and written, each sector of an array once a launch.
    double moved_by_kernels() const;
    /// Bytes that came to where the host can read them: by copies, or written there by kernels.
    double seen_by_host() const;
    double simt_efficiency() const;  ///< of all launches together
    /// Lines of all launches, merged, the hottest first: by sectors of global and wavefronts
    /// of shared memory.
    std::vector<simt::check::SiteCounters> lines() const;
};

/// Counters of a rung and of its reference on the same input.
struct Counters {
    bool done = false;
    std::string why_not;
    std::string which;       ///< the case in words
    double least_bytes = 0;  ///< that whoever computes it has to move
    Tally rung;
    std::optional<Tally> reference;  ///< none for given rungs, which are their own
    std::string beyond;  ///< what the manifest allows, where the rung needs more and so loses half its points
};

/// Modelled time: from the counters, for a GPU that is not here. Never a measured one.
struct Modelled {
    bool done = false;
    std::string why_not;
    std::string machine;      ///< "NVIDIA H200"
    std::string which;        ///< the case in words
    std::string baseline;     ///< the rung `speedup` refers to
    double speedup = 0;       ///< modelled time of the baseline / of this rung
    double of_reference = 0;  ///< modelled time of the reference / of this one
    double seconds = 0, baseline_seconds = 0, reference_seconds = 0;  ///< of one call
    std::string limit;                  ///< of the launch that takes longest: "memory", "latency", ...
    bool beats_reference = false;       ///< by more than the model tells two inputs apart
    double points = 0, max_points = 0;  ///< of the rung's points, those for this
    double zero = 0, full = 0;  ///< the speedups beyond which there are points, and from which on all of them
    /// Another case, in words, in which it needs so many times more, compared with the reference, than in
    /// `which`: then `speedup` and `of_reference` are so much less. Empty: there is none.
    std::string elsewhere;
    double worse = 1;
};

/// What bounds the speed of a problem.
enum class Limit {
    memory,    ///< its bytes, at the speed of a copy
    one_pass,  ///< the same of iterations: the bytes that move even where a chip holds everything between two
    arithmetic,  ///< its operations, at the speed of fused multiply-adds
};

/// "memory", "one_pass", "arithmetic": the word in the JSON.
const char* name_of(Limit limit);

/// Microseconds of one call, as they were timed: what a Speed is made of.
struct RawTimes {
    static constexpr std::size_t most = 200;  ///< of each are kept, the first ones

    std::vector<float> rung, baseline, reference;        ///< element i of these is one interleaved pair
    std::vector<float> baseline_alone, reference_alone;  ///< once the rung's process was gone

    /// What is kept of times in seconds.
    static std::vector<float> of(const std::vector<double>& seconds);
};

/// Times are seconds of one call, as the 20 % quantile over the pairs.
struct Speed {
    /// A pure read beats a copy by a little; anything beyond this share of a copy's rate was not read from
    /// memory.
    static constexpr double implausible = 1.25;

    bool judged = false;
    std::string why_not;     ///< where not judged: "speed: not judged on the cpu backend"
    bool needs_gpu = false;  ///< there are points for it on a GPU; the model does not rank this rung
    double speedup = 0;      ///< over the baseline
    double low = 0;          ///< 99 % interval of `speedup`
    double high = 0;
    double of_reference = 0;  ///< reference's time / this rung's: 1 is as fast as the solution
    double of_reference_low = 0, of_reference_high = 0;  ///< its 99 % interval
    bool beats_reference = false;                        ///< that lies above 1
    int pairs = 0;
    bool decided = false;  ///< false: the interval still spans a threshold at the last pair
    double seconds = 0;
    double baseline_seconds = 0;
    double reference_seconds = 0;
    double bandwidth = 0;  ///< useful bytes a second
    double roof = 0;       ///< bytes a second of a device copy, measured in the same session; 0: unknown
    double floor = 0;      ///< seconds of Work::least at `roof`; 0: unknown
    double flops = 0;      ///< useful floating-point operations a second
    double fma_roof = 0;   ///< those of fused multiply-adds of floats, in the same session; 0: unknown
    std::string baseline;  ///< the rung `speedup` refers to
    std::string trust;     ///< "judge's clock, judge's buffers", or what is weaker
    double points = 0, max_points = 0;  ///< of the rung's points, those for this
    double zero = 0, full = 0;          ///< as in Modelled
    RawTimes times;
    Conditions conditions;

    /// By the problem's operations a byte, against the ratio of the two roofs.
    Limit limit() const;
};

/// A question of a predict rung and its answer. What was counted is not here: a wrong answer must not tell
/// it.
struct Prediction {
    std::string name, ask;
    std::optional<double> answer;  ///< none: not answered
    bool right = false;
};

struct RungResult {
    std::string chapter;
    std::string rung;
    bool given = false;  ///< no exercise: judged, but without points
    Verdict verdict = Verdict::not_run;
    bool judged = false;    ///< false: points say nothing (verdicts of ours, and those a human must see)
    double points = 0;      ///< in [0, max_points]
    double max_points = 0;  ///< that could be earned on this backend: without speed where it is not judged
    std::vector<Cause> causes;  ///< the first one decides; none where there is nothing to add to OK
    Correctness correctness;
    ChecksResult checks;
    Counters counters;
    Modelled modelled;
    Speed speed;
    std::vector<Prediction> predictions;  ///< of a predict rung, whose points they share equally
    std::string diagnostics;              ///< compiler's or worker's messages, trimmed, safe to print
    Profile profile;                      ///< where the seconds went
    double seconds = 0;                   ///< that judging took
    double build_seconds = 0;
    bool cached = false;     ///< the worker was built before
    std::string sandbox;     ///< SandboxLevel::name
    std::uint64_t seed = 0;  ///< replays the same inputs

    bool passed() const { return verdict == Verdict::ok || verdict == Verdict::slow; }

    /// Makes `cause` the one that decides.
    void decide(Cause cause);

    /// Puts the words for wrong outputs into the cause that decides, after `correctness` has changed.
    void say_why_outputs_are_wrong();

    /// The deciding cause in one line, with its case and what explains it; empty: there is none.
    std::string reason() const;
    /// The same without what reports show beside it: the failing case and the likely cause.
    std::string brief_reason() const;
};

/// "memcheck", "error": as compute-sanitizer has them.
const char* name_of(simt::check::Tool tool);
const char* name_of(simt::check::Severity severity);

/// That columns or unreached lines are missing, and why; empty: they are not.
std::string unread_text(const ChecksResult& checks);

/// "lines 41-44, 50 were not reached by any check case", and why that is not known; empty where all were.
std::string unchecked_text(const ChecksResult& checks);

/// "; in CASE it takes 3.1 times as long, compared with the reference, as in CASE", as the end of a sentence;
/// empty: it does not.
std::string elsewhere_text(const Modelled& modelled);

/// What an error of that kind is called.
Verdict verdict_of(const simt::check::Finding& finding);

/// A case in words: "sum of 257 floats, kind uniform, seed 0x2a", or, where the exam has names for its sizes,
/// "red_black of floats, n = 6, iterations = 1, kind random, seed 0x2a".
std::string describe(const Exam& exam, const Case& which, const Task& task);

/// Such words without the seed, from which an input follows.
std::string without_seed(const std::string& which);

/// `rule.points`, scaled between its two thresholds: linearly, or by the logarithm on a summit's
/// scale; always in [0, rule.points].
double points_for(const SpeedRule& rule, double speedup);

/// The rule on a GPU where the reference is `reference` times as fast as the baseline. GPUs differ in how
/// much an idea gains, and nobody has to beat the reference: where it stays below `full`, that comes down to
/// it, and the gain over the baseline at which points begin in proportion. 5 % are granted for noise.
/// @returns nothing where the reference is not distinctly faster than the baseline: then nobody can tell
std::optional<SpeedRule> reachable(const SpeedRule& rule, double reference);

}  // namespace rungs::judge
