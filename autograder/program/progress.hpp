#pragma once
// What a student has reached, remembered between runs: last verdict of each rung and how many
// hints were read.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "judge/result/result.hpp"
#include "program/workbook.hpp"

namespace rungs {

/// What is remembered about one rung.
struct RungProgress {
    std::string verdict;  ///< "OK", ...; empty: never judged
    std::string reason;
    double points = 0;
    double max_points = 0;
    std::string backend;
    std::string content;  ///< fingerprint of the file that was judged
    int hints = 0;        ///< hints read
    double revealed =
        -1;  ///< points of a predict rung when all its answers were first graded; -1: they were not

    /// Passed, and the file has not changed since.
    bool done(const std::string& now) const {
        return (verdict == "OK" || verdict == "SLOW") && content == now;
    }
};

/// Fingerprint of a file's content; "" when it cannot be read.
std::string fingerprint(const std::filesystem::path& file);

/// The file of a workbook's progress: below $XDG_STATE_HOME where that is set, else in the build folder.
std::filesystem::path progress_file(const Workbook& workbook);

/// By long name. A file that is missing or damaged reads as no progress: it must never keep
/// anybody from working.
std::map<std::string, RungProgress> read_progress(const Workbook& workbook);

/// Changes one rung's entry, atomically and safely against other rungs programs at work. Returns why it could
/// not be stored, or "".
template <class Change>
std::string change_progress(const Workbook& workbook, const std::string& rung, Change change);

namespace detail {
/// Holds a lock on the progress file while it lives.
class ProgressLock {
  public:
    explicit ProgressLock(const std::filesystem::path& file);
    ~ProgressLock();
    ProgressLock(const ProgressLock&) = delete;
    ProgressLock& operator=(const ProgressLock&) = delete;

  private:
    int descriptor_;
};
std::string write_progress(const Workbook& workbook, const std::map<std::string, RungProgress>& progress);
}  // namespace detail

template <class Change>
std::string change_progress(const Workbook& workbook, const std::string& rung, Change change) {
    const detail::ProgressLock lock(progress_file(workbook));
    std::map<std::string, RungProgress> progress = read_progress(workbook);
    change(progress[rung]);
    return detail::write_progress(workbook, progress);
}

/// A student's own answers are graded once, when all of them are there: what is right among a part of them is
/// taken out of the result, and so are points that answers gain after they were graded.
/// @returns why that could not be stored, or ""
std::string grade_answers_once(const Workbook& workbook, const Chosen& chosen, judge::RungResult& result);

/// Remembers a verdict on the student's own file. Verdicts of ours are not remembered.
std::string remember(const Workbook& workbook, const Chosen& chosen, const judge::RungResult& result,
                     Backend backend, const std::string& content);

}  // namespace rungs
