#pragma once
// Whose points another judging has changed: compares what `grade` found when it last came to its end with
// what it finds now.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "class/record.hpp"

namespace rungs::classroom {

/// What the judge gave a rung at one time.
struct JudgedPoints {
    std::string verdict;
    std::optional<double> points;  ///< none: it was open
    double max_points = 0;
};

/// A rung of an attempt that was judged otherwise than before.
struct Change {
    std::string student;
    int attempt = 0;
    std::string chapter, rung;
    JudgedPoints before, now;
    std::optional<double> decided;  ///< points of a decision, which counts all the same

    std::string short_name() const;
    /// How many points more there are; none where one of both had no points.
    std::optional<double> gain() const;
};

/// The changes that one run of `grade` has found.
struct ChangedRun {
    std::string when;
    std::vector<Change> changes;
};

/// Compares the gradebook with OUT/judged.json, which it then replaces. What has changed is kept in
/// OUT/changes as well. @throws ClassError, FileError
std::vector<Change> note_changes(const std::filesystem::path& out, const Gradebook& book,
                                 const std::string& when);

/// All that was ever noted, the earliest first. @throws ClassError, FileError
std::vector<ChangedRun> read_changes(const std::filesystem::path& out);

}  // namespace rungs::classroom
