#pragma once
// A gradebook in the forms that others read. All of them follow from the records alone, none shows a byte
// that a student or a rung wrote without cleaning it, and none turns a rung that is not decided into points.

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "class/record.hpp"

namespace rungs::classroom {

/// How much of what was found is told.
enum class Detail {
    points,
    reasons,  ///< and the verdict with its reason
    all,      ///< and cases, findings and messages
};

enum class Outcome { passed, failed, open, missing };

/// What became of a rung. A decision stands in place of the judge's verdict: all points are a pass, and of a
/// rung that the judge has let pass a human takes points, not the pass. What was not handed in is no fault
/// that others share.
Outcome outcome_of(const GradedRung& rung);

/// "decided", "decided on an older verdict"; empty: the judge's points count.
std::string decided_text(const GradedRung& rung);

/// "points", "reasons", "all"
const char* name_of(Detail detail);

/// "passed", "failed", "not graded yet", "missing"
const char* name_of(Outcome outcome);

/// What readers see as the assignment's title, which may have none.
std::string title_of(const Gradebook& book);

/// The attempt that counts; null: nothing was handed in.
const Attempt* counted_attempt(const Student& student);

/// "graded", "not graded yet", "missing", "refused"
std::string state_of(const Student& student);

/// How many have no score yet.
std::size_t open_count(const Gradebook& book);

/// What points are multiplied by, with up to four decimals.
std::string factor_text(double factor);

/// A result as its student may see it: cleaned, without the seeds of cases, and without the folders of this
/// machine, of which only names of files are left.
std::string for_student(std::string_view text);

/// The same of all texts of a result.
judge::RungResult for_student(judge::RungResult result);

/// A reason or a message for `detail`: empty where only points are told.
std::string reason_for(const GradedRung& rung, Detail detail);

/// Findings, the failing case and the messages of compiler and worker, one paragraph each.
std::vector<std::string> details_for_student(const GradedRung& rung);

/// A line for each student; columns for each rung by `detail`.
std::string to_csv(const Gradebook& book, Detail detail);

/// A suite for each student, a case for each rung. What is not decided is an error, and never skipped.
std::string to_junit(const Gradebook& book, Detail detail);

/// Gradescope's results.json. `visibility` is one of its words.
nlohmann::ordered_json to_gradescope(const Gradebook& book, const Student& student, Detail detail,
                                     const std::string& visibility);

/// An autograder for Gradescope that hands out what is graded here: it finds a student by the address, and
/// runs nothing of a submission. A zip. @throws ClassError
std::string graded_zip(const Gradebook& book, Detail detail, const std::string& visibility);

/// An autograder for Gradescope that grades each submission there: the workbook at `root`, what sets it up,
/// and what calls `grade` and `export`. A zip. @throws ClassError, FileError
std::string autograder_zip(const Gradebook& book, const std::filesystem::path& root, Detail detail,
                           const std::string& visibility);

/// classroom50/result/v1, but for what its runner knows and this machine does not: classroom, commit,
/// release. Points are whole numbers there; whole_scale() says of what. Null as long as a rung is open.
nlohmann::ordered_json to_classroom50(const Gradebook& book, const Student& student);

/// The least of 1, 10 and 100 that makes all points of the class whole numbers.
int whole_scale(const Gradebook& book);

struct FillOptions {
    std::string file = {};    ///< what errors call the export
    std::string column = {};  ///< that is filled; empty: the assignment's, or Moodle's "Grade"
    std::string match =
        {};              ///< the column that names the student; empty: those that are known by their headings
    bool scale = false;  ///< points to the column's maximum
};

struct FilledIn {
    std::string bytes;                 ///< the export, filled in
    std::size_t filled = 0;            ///< students whose score is in it
    std::vector<std::string> kept;     ///< students whose cell stays as it was, and why
    std::vector<std::string> without;  ///< students with a score and without a row
};

/// Fills a gradebook that Canvas has exported. @throws ClassError with a list of all rows that are not one
/// student, or for a file that is none of Canvas's
FilledIn fill_canvas(const Gradebook& book, std::string bytes, const FillOptions& options);

/// The same of Moodle's: the offline grading worksheet of an assignment, or the gradebook's export as text.
FilledIn fill_moodle(const Gradebook& book, std::string bytes, const FillOptions& options);

/// A page for a student. It names nobody else. `version` is the program's.
std::string student_page(const Gradebook& book, const Student& student, Detail detail,
                         const std::string& version);

/// The instructor's page: everything of everybody, with links to students/ID.html.
/// @param similar  what find_similar() has found, as JSON; null: nobody has asked
/// @throws ClassError where that is none of ours
std::string class_page(const Gradebook& book, const std::string& version,
                       const nlohmann::ordered_json& similar);

}  // namespace rungs::classroom
