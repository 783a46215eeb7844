#pragma once
// The verbs of the program, one file each. Every function returns an exit status: 0 all passed, 1
// something failed, 2 wrong use, 3 could not check; problems are thrown as UsageError, CannotCheck,
// FileError and the like.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "program/terminal.hpp"
#include "program/workbook.hpp"

namespace rungs {

struct CheckOptions {
    std::vector<std::string> names;
    std::string backend = "auto";
    std::string json;        ///< file, "-" for standard output, empty for none
    bool sanitize = false;   ///< on a GPU, with compute-sanitizer
    bool as_root = false;    ///< also where that is root
    bool solution = false;   ///< grade the reference solutions
    std::string submission;  ///< folder whose rung files stand in for the chapter's
    std::optional<std::uint64_t> seed;
    bool again = false;  ///< judge anew what has not changed
    unsigned jobs = 0;   ///< see GradeOptions
};
int check(const CheckOptions& options);

/// One rung, and whose.
struct RungChoice {
    std::string rung;
    bool solution = false;
    std::string submission;
};

struct ExplainOptions {
    RungChoice choice;
    std::string json;  ///< file, "-" for standard output, empty for none
};
int explain(const ExplainOptions& options);

struct ProfileOptions {
    RungChoice choice;
    bool as_root = false;  ///< run the rung under ncu also where that is root
};
int profile(const ProfileOptions& options, Terminal& out);

/// What explain shows of a given rung, or the totals of an exercise's reference.
void explain_reference(const Workbook& workbook, const Chosen& chosen, const Case& which, Terminal& out);

/// Asks the questions of a predict rung, keeps the answers in its file, then shows what is counted.
int predict(const std::string& name, Terminal& out);

struct SeeOptions {
    RungChoice choice;
    unsigned line = 0;  ///< 0: the one that costs most
    std::uint64_t block = 0;
    std::uint64_t warp = 0;
    std::string out;  ///< folder; default: report/see/ in the workbook
};
int see(const SeeOptions& options);

struct DemoOptions {
    std::string backend = "auto";
    std::string json;      ///< default: result.json beside the page
    std::string out = "";  ///< folder or .html file; default: report/ in the workbook
    std::optional<std::uint64_t> seed;
    unsigned jobs = 0;  ///< see GradeOptions
};
int demo(const DemoOptions& options);

int list(Terminal& out);
int next(Terminal& out);
int hint(const std::string& name, bool all, Terminal& out);
int reset(const std::string& name, Terminal& out);

struct WatchOptions {
    std::string name;  ///< empty: always the next exercise
    std::string backend = "auto";
    bool poll = false;  ///< look at the files from time to time instead of being told
};
int watch(const WatchOptions& options, Terminal& out);

struct RunOptions {
    std::string chapter;
    std::vector<std::string> arguments;
    std::string backend = "auto";
    bool solution = false;
};
int run(const RunOptions& options, Terminal& out);

struct BenchOptions {
    std::string chapter;  ///< empty: all
    std::vector<std::string> arguments;
};
int bench(const BenchOptions& options, Terminal& out);

struct ClassOptions {
    std::string place;       ///< a folder or an archive with all hand-ins
    std::string out;         ///< folder of the records
    std::string assignment;  ///< file; empty: assignment.toml in the class
    std::string regrade;     ///< "all", a student, a rung, STUDENT/RUNG; empty: nothing
    std::string backend = "cpu";
    std::string group;                ///< whose members may work in `out` as well; empty: as `out` is
    bool below = false;               ///< also where hand-ins are held less than the class asks for
    unsigned jobs = 0;                ///< see GradeOptions
    bool slurm = false;               ///< submit it as an array of jobs
    int tasks = 0;                    ///< of that array; 0: as the work asks for
    std::vector<std::string> sbatch;  ///< more options for sbatch
    std::string task;                 ///< in a job of such an array: "NAME/3"; task 0 is the report
};
int grade_class(const ClassOptions& options, Terminal& out);

struct ReviewOptions {
    std::string folder;  ///< that `grade` has written
    std::string student, rung;
    int attempt = 0;  ///< 0: the one that counts
    std::optional<double> points;
    std::string because;
    std::string withdraw;  ///< the number of an attempt that is no longer to count, or "all"
    std::string restore;   ///< of one that was withdrawn and is to count again, or "all"
    std::string take;      ///< the file that is the rung's, as it was handed in
    bool decided = false;  ///< list what has been decided, too
    bool changes = false;  ///< list whose points other judgings have changed, instead
    bool similar = false;  ///< compare hand-ins, instead
};
int review(const ReviewOptions& options, Terminal& out);

/// Judges a rung of a class again, with the same inputs and bytes, and shows both verdicts.
int replay(const ReviewOptions& options, Terminal& out);

struct ExportOptions {
    std::string folder;  ///< that `grade` has written
    std::string to;      ///< "table", "csv", "html", ...
    std::string from;    ///< what Canvas or Moodle has exported
    std::string
        out;  ///< file, or folder where there are several; "-" or empty: standard output, or exports/ there
    std::string column;  ///< that is filled; empty: the assignment's
    std::string match;   ///< the column that says who a row is; empty: by the headings
    bool scale = false;  ///< points to the column's maximum
    std::string detail = "reasons";
    std::string visibility = "after_published";
};
int export_class(const ExportOptions& options);

int doctor(Terminal& out);

/// The exercise to do now: the first whose file did not pass as it stands; none when all did.
/// @param after  a rung behind which the search begins, to come round to it in the end
std::optional<Chosen> next_exercise(const Workbook& workbook, const RungEntry* after = nullptr);

/// A rung's hints: the first `count` of them, or what stands in for them in a given rung.
void show_hints(const Chosen& chosen, std::size_t count, Terminal& out);

/// What a student gets of an exercise. @throws CannotCheck where what it is made of is not here, FileError
std::string starter_of(const Workbook& workbook, const Chosen& chosen);

/// Writes the starter of an exercise in place of the student's file and keeps a backup. Returns the backup's
/// path, empty when there was nothing to back up.
std::filesystem::path restore_starter(const Workbook& workbook, const Chosen& chosen);

/// Where the idea of a rung is explained.
std::string lesson_of(const Workbook& workbook, const Chosen& chosen);

/// The verbs for a class. They are a program of their own, rungs_class, so that a first verdict need not wait
/// until they are built.
struct ClassVerbs {
    int (*grade)(const ClassOptions& options, Terminal& out);
    int (*review)(const ReviewOptions& options, Terminal& out);
    int (*replay)(const ReviewOptions& options, Terminal& out);
    int (*export_class)(const ExportOptions& options);
};

/// The program with its arguments. Never throws. Without `class_verbs`, the rungs_class beside this program
/// takes its place where one of them is asked for.
int run_program(int argc, char** argv, const ClassVerbs* class_verbs = nullptr);

}  // namespace rungs
