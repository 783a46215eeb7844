#pragma once
// What is known of a class, in files that are whole or not there:
//   OUT/assignment.json                                    what was asked, and of whom
//   OUT/hand-ins/STUDENT/ATTEMPT/hand-in.json              what came, when, and the bytes beside it
//   OUT/records/STUDENT/ATTEMPT/CHAPTER/RUNG.JUDGING.json  what the judge found; never written twice
//   OUT/decisions/STUDENT/ATTEMPT/CHAPTER/RUNG.NUMBER.json what a human decided about it
//   OUT/decisions/STUDENT/ATTEMPT/hand-in.NUMBER.json      whether a human has withdrawn the hand-in
//   OUT/takes/STUDENT/ATTEMPT/CHAPTER/RUNG.NUMBER.json     which file a human took for it
//   OUT/changes/run.NUMBER.json                            whose points another judging has changed
// Grades follow from these alone: whoever reads them twice gets the same.

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "class/assignment.hpp"
#include "judge/result/result.hpp"

namespace rungs::classroom {

/// What a human has decided about a rung: it stands in place of the judge's points.
struct Decision {
    int number = 0;     ///< the latest counts
    double points = 0;  ///< before the chapter's weight
    std::string because;
    std::string by;                     ///< who: the user's name on the machine
    std::string when;                   ///< UTC
    std::string verdict = {};           ///< that it was made on; empty: an earlier version did not keep it
    std::optional<double> judged = {};  ///< the judge's points then
    double max_points = 0;              ///< that could be earned then
    int take = 0;                       ///< Take::number then: a later one says more
};

/// A file that is perhaps meant as a rung, as it was handed in.
struct AlikeFile {
    std::string name;            ///< "03_shared_tree (1).cu"
    std::filesystem::path file;  ///< what was kept of it; empty: it was not read
    std::string bytes;           ///< SHA-256
};

/// Which of them a human has taken for the rung.
struct Take {
    int number = 0;  ///< the latest counts
    std::string name;
    std::string because, by, when;  ///< as of a decision
};

/// What a human has decided about a whole hand-in: whether it is withdrawn. The latest counts.
struct Withdrawal {
    bool withdrawn = false;  ///< false: it was taken back
    std::string because;
    std::string by;    ///< who: the user's name on the machine
    std::string when;  ///< UTC
};

/// One rung of one attempt.
struct GradedRung {
    AskedRung asked;
    int judging = 0;                     ///< which judging of these bytes; 0: there is none yet
    std::string verdict = "NOT_RUN";     ///< "OK", "WRONG", ...: docs/results.md
    std::string status = "not_checked";  ///< "passed", "failed", "review", "not_checked"
    std::optional<double> judged;        ///< the judge's points, before the chapter's weight
    std::optional<double> points;        ///< what counts: a decision's points, else the judge's
    double max_points = 0;               ///< that could be earned, before the chapter's weight
    std::string cause;       ///< source and kind of the cause that decided: "exam:WRONG"; empty: none
    bool missing = false;    ///< it was not handed in, and was judged for that
    bool unchecked = false;  ///< it passed, but check mode did not come to its end
    std::vector<unsigned> unreached;  ///< lines of it, passed as it has, that no check has run
    std::string reason;               ///< one line; may be empty
    std::string sandbox;              ///< "S2: ..."
    std::optional<Decision> decision;
    bool stale = false;            ///< the decision was made on another verdict, or on another maximum
    std::vector<AlikeFile> alike;  ///< for a human, unless the rung has passed
    std::optional<Take> take;
    std::filesystem::path source;  ///< the student's file, a taken one included; empty: there is none
    std::string bytes;             ///< its SHA-256; empty: there is none
    std::filesystem::path file;    ///< of the record; empty: there is none

    /// The whole record, docs/record.schema.json, read anew: a class has gigabytes of them. Null: there is
    /// none.
    nlohmann::ordered_json record() const;
    /// What the judge found, without the seed and what only kept verdicts hold; none: there is none.
    /// @throws ClassError for a record with a field of another type
    std::optional<judge::RungResult> result() const;
    /// The verdict as others are told it: "MISSING" where there was no file to find fault with.
    std::string told_verdict() const { return missing ? "MISSING" : verdict; }
    /// Whether a human has to look, and has not decided yet.
    bool open() const { return !points; }
    /// Whether one of the files in `alike` is perhaps this rung's, and nobody has decided yet.
    bool is_unclear() const { return open() && !alike.empty() && !take && status != "passed"; }
};

struct Attempt {
    int number = 0;                 ///< from 1 on, in the order of handing in
    std::string from;               ///< as HandIn::from
    std::string origin;             ///< name of the folder, archive or commit
    std::optional<Time> handed_in;  ///< none: nobody knows
    bool marked_late = false;       ///< the platform says so without telling by how much
    std::string refused;            ///< why nothing of it could be taken; empty: it was taken
    std::optional<Withdrawal> withdrawal;
    std::optional<double> minutes_late;  ///< none: nobody knows, and there is a time that it is due
    double late_factor = 1;              ///< share of the points that it keeps
    std::vector<GradedRung> rungs;       ///< in the order of the assignment
    std::optional<double> score;         ///< weights, lateness and rounding applied; none: a rung is open
    double at_most = 0;                  ///< the score if every open rung got all its points

    /// Whether it does not count, since a human has withdrawn it.
    bool withdrawn() const { return withdrawal && withdrawal->withdrawn; }
};

struct Student {
    Person person;
    std::vector<Attempt> attempts;
    std::optional<std::size_t> counted;  ///< index of the attempt that counts; none: there is none
    /// None as long as an attempt that could count has an open rung. Zero where nothing was handed in.
    std::optional<double> score;

    /// Whether there is no hand-in that could count.
    bool missing() const {
        return std::all_of(attempts.begin(), attempts.end(),
                           [](const Attempt& attempt) { return attempt.withdrawn(); });
    }
};

struct Gradebook {
    Assignment assignment;
    std::vector<Student> students;  ///< the roster's in its order, then those that are not on it, by id
    double max_score = 0;           ///< weights applied
};

/// The highest N of the files RUNG.N.json in a folder of records or decisions; 0: there is none.
int last_judging(const std::filesystem::path& folder, const std::string& rung);

/// Which of a student's attempts may come to count: those that have to be judged.
std::vector<std::size_t> that_may_count(const Assignment& assignment, const Student& student);

/// A file that rungs has written below OUT: no link or device that somebody has put in its place.
/// @throws FileError
std::string read_own_file(const std::filesystem::path& file);

/// Reads all that is in `out`. @throws ClassError, FileError
Gradebook read_gradebook(const std::filesystem::path& out);

/// Who, which rung, which verdict, which cause, how many points: a line for each rung of each attempt,
/// sorted. The same whatever the number of jobs, interruptions and machines.
std::string projection(const Gradebook& book);

}  // namespace rungs::classroom
