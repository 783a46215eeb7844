#pragma once
// A chapter's manifest, chapter.toml: what folder and file names cannot say. Read by the grader, the tests
// and the book, so that none of them can contradict another.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "rungs/exam.hpp"

namespace rungs {

enum class Backend { cpu, cuda };

/// "cpu" or "cuda".
const char* name_of(Backend backend);

/// What an input is drawn for.
enum class Purpose : std::uint64_t { cases, checks, counts };

/// The seed of input `number` for a purpose. One-way: the seeds that a report shows reveal neither the key
/// nor the seeds of other inputs.
std::uint64_t seed_of(std::uint64_t key, Purpose purpose, std::uint64_t number);

/// A broken manifest: what() names the place (FILE:LINE:COLUMN), what is wrong and what is expected.
class ManifestError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A group of exam cases: every problem x size x kind x seed.
struct CaseGroup {
    std::vector<std::string> problems;          ///< empty: all problems of the rung
    std::vector<std::vector<long long>> sizes;  ///< each entry is one case's `sizes`
    std::vector<std::string> kinds;
    int seeds = 1;                   ///< how many different inputs of each
    std::optional<Backend> backend;  ///< only there; none: on both
    /// All of them run in check mode whatever their size, or none of them; empty: the small ones.
    std::optional<bool> checked;
    std::vector<std::string> checked_rungs;  ///< all of them run in the check mode of these rungs

    /// `checked`, for one rung.
    std::optional<bool> checked_for(const std::string& rung) const;
};

/// Points for being faster, on a GPU: linear from `zero` to `full`, both as ratios of times in one session.
/// Of a summit: by the logarithm, from the baseline to the reference, which is timed beside it.
struct SpeedRule {
    double points = 0;
    /// The rung whose time is divided by this rung's: a given one, or an exercise,
    /// represented by its reference.
    std::string baseline;
    double zero = 1;  ///< speedup over the baseline that earns nothing
    double full = 1;  ///< speedup over the baseline that earns all points
    /// The same for the modelled speedup, where there is no GPU to time on; none: speed is not judged there.
    struct Thresholds {
        double zero = 1;
        double full = 1;
    };
    std::optional<Thresholds> modelled = {};
    bool to_reference =
        false;  ///< of a summit; both `full` are infinite: reachable() puts the reference's in
};

/// What is timed: one case for all rungs of a chapter that solve its problem.
struct TimedCase {
    std::string problem;
    std::vector<long long> sizes;
    std::string kind;
    int calls = 8;  ///< calls, each with its own input, between two looks at the clock
};

/// What check mode of the CPU backend looks at, and what its findings mean. Without a [check] table: every
/// problem and size of [[cases]] that is small, with the first kind of data that it has.
struct CheckRule {
    std::vector<std::vector<long long>> sizes;  ///< each entry is one case's `sizes`; empty: the small ones
    std::vector<std::string> kinds;             ///< empty: the first of [[cases]]
    double work = 2e5;     ///< bytes or flops up to which a case of [[cases]] counts as small
    int orders = 3;        ///< in how many orders of blocks, warps and lanes each case runs
    bool required = true;  ///< an error costs all points of the rung, even where its values were right
};

/// What a student gets and does.
enum class Kind {
    given,    ///< a working kernel, to be read and run
    fill,     ///< a short kernel with a hole that is the idea
    write,    ///< the contract and an empty launcher
    repair,   ///< a kernel with one planted fault
    predict,  ///< questions whose answers are numbers
    summit,   ///< as write; graded on a scale whose top is the reference
};

/// "given", "fill", ...
const char* name_of(Kind kind);

/// A question of a predict rung: what does one call ask of the hardware? The judge counts the answer.
struct Question {
    std::string name;  ///< key of the answer in the student's file
    std::string ask;   ///< a sentence
    std::string rung;  ///< whose call is counted: a given rung, or an exercise, represented by its reference
    std::string counter;           ///< one of counter_names()
    std::optional<double> answer;  ///< what no counter says; such a question has no rung, counter or call
    std::string over;              ///< the rung that "modelled_speedup" refers to
    double per = 1;                ///< the counter is divided by this: elements, blocks, warps
    TimedCase which;               ///< the call: the question's own, else the chapter's [[modelled]]
    double tolerance = 0;          ///< relative
    std::vector<double> choices;   ///< the only answers there are; empty: any number
};

/// What a question may be about, by its name in the manifest.
const std::vector<std::string>& counter_names();

/// How much of a counter a rung may need, as a multiple of what its reference needs.
struct CounterLimit {
    std::string counter;  ///< one of counter_names(), but no modelled time
    double times = 1;
};

/// One rung. It is an exercise when it has points, else it is given.
struct RungEntry {
    std::string name;                   ///< "03_shared_tree": the file's stem
    Kind kind = Kind::given;            ///< where the manifest is silent: given without points, else fill
    int minutes = 0;                    ///< that a student needs; 0: nobody has measured it
    int difficulty = 0;                 ///< from 1 to 5; 0: not said
    std::string idea;                   ///< one line for tables
    std::vector<std::string> problems;  ///< what it solves; all of the chapter's where the manifest is silent
    double points = 0;                  ///< for correctness
    std::optional<SpeedRule> speed;
    std::vector<std::string> hints;    ///< from nudge to method
    std::vector<Question> questions;   ///< of a predict rung, which has no kernel and so solves no problem
    double time_limit = 10;            ///< seconds for one call on the CPU backend
    bool repeatable = false;           ///< it promises the same bits in every run
    bool checks_launches = false;      ///< check mode refuses its launches once, which it has to report
    std::vector<CounterLimit> limits;  ///< of one counted call; beyond one of them the rung is SLOW

    bool given() const { return points == 0; }
    bool solves(const std::string& problem) const;
    std::string launcher() const { return name.substr(3); }  ///< "shared_tree"
    /// What a student edits: "03_shared_tree.cu", or the answers to a predict rung, "07_traffic.toml".
    std::string file() const { return name + (kind == Kind::predict ? ".toml" : ".cu"); }
};

/// One problem of a chapter: the function type in the contract that its rungs have.
struct ProblemEntry {
    std::string name;       ///< "sum"
    std::string signature;  ///< "Sum": a type of the chapter's namespace
};

struct Manifest {
    std::string chapter;  ///< "01_reduction": the folder's name
    std::filesystem::path folder;
    std::string title;
    std::string summary;
    std::string name_space;  ///< of the contract
    std::string contract;    ///< "reduction.cuh"
    std::vector<ProblemEntry> problems;
    std::vector<CaseGroup> cases;
    CheckRule check;
    std::vector<TimedCase> timed;     ///< [[timed]]: a problem each
    std::vector<TimedCase> modelled;  ///< [[modelled]]: on what counters are taken for the modelled time
    std::vector<RungEntry> rungs;     ///< in the order of their numbers
    bool kinds = false;               ///< every rung states its kind

    const RungEntry* find(const std::string& rung) const;  ///< by "03_shared_tree", "03" or "shared_tree"

    /// The first of `timed` or `modelled` whose problem the rung solves; null: there is none.
    static const TimedCase* case_for(const RungEntry& rung, const std::vector<TimedCase>& cases);

    /// Every case of a rung on a backend, in the manifest's order. `key` makes the inputs unpredictable: two
    /// keys give two different sets of seeds, the same key always the same set.
    std::vector<Case> cases_of(const RungEntry& rung, Backend backend, std::uint64_t key) const;

    /// The cases of [check], or, where it names no sizes, one of cases_of() on the cpu backend for each
    /// problem and size: the exam's Work tells which of those are small enough.
    std::vector<Case> check_cases_of(const RungEntry& rung, std::uint64_t key) const;

    /// Those of cases_of() on the cpu backend that check mode looks at as well, whatever their size.
    std::vector<Case> large_check_cases_of(const RungEntry& rung, std::uint64_t key) const;
};

/// Reads `folder`/chapter.toml and checks it against the rung files beside it.
/// @throws ManifestError for a missing or unreadable file, a syntax error, an unknown key, a wrong type or
///         value, a rung without a file and a rung file without a rung.
Manifest read_manifest(const std::filesystem::path& folder);

/// The manifests of all chapters below `chapters`, in order. @throws ManifestError as read_manifest does.
std::vector<Manifest> read_manifests(const std::filesystem::path& chapters);

}  // namespace rungs
