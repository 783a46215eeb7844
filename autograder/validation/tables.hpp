#pragma once
// Measured and modelled times of the ladders, side by side: what docs/model.md shows and the tests hold.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace rungs::validation {

/// One case of one chapter: what ladder.cu was given.
struct CaseKey {
    std::string chapter, problem, sizes, kind;
    auto operator<=>(const CaseKey&) const = default;
};

/// What ladder.cu prints: microseconds of each rung, by case, in the order of the file.
struct Times {
    std::string machine;  ///< the first comment
    std::vector<std::pair<CaseKey, std::vector<std::pair<std::string, double>>>> cases;

    /// Of a rung in a case; 0 if there is none.
    double of(const CaseKey& key, const std::string& rung) const;
};

/// @throws std::runtime_error with file and line for what is no such table
Times read_times(const std::filesystem::path& file);

/// A rung, measured and modelled, and its speedups over the rung that the manifest names as given.
struct Line {
    std::string rung, given;
    double measured = 0, modelled = 0;
    double speedup_measured = 0, speedup_modelled = 0;  ///< 0 for the given rung itself
};

/// All rungs of a case that have both times.
struct Comparison {
    CaseKey key;
    std::vector<Line> lines;
    double rank_correlation = 0;  ///< Spearman's, over the lines; 1 with one line
};

/// `given`: the rung that speedups are over, by chapter; where it does not solve the case's problem, the
/// first that does.
std::vector<Comparison> compare(const Times& measured, const Times& modelled,
                                const std::map<std::string, std::string>& given);

/// How many of the speedups are predicted within a factor of two, and how many there are.
struct Share {
    int within = 0, of = 0;
};
Share within_two(const std::vector<Comparison>& comparisons);

/// Spearman's rank correlation; equal values share their mean rank. 1 if fewer than two values or all equal.
double rank_correlation(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace rungs::validation
