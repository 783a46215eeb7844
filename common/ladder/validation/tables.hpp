#pragma once
// Measured and modelled times of the ladders, side by side: what docs/model.md shows and the tests hold.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "simt/inspect/table.h"

namespace rungs::validation {

/// One case of one chapter: what times.cu was given.
struct CaseKey {
    std::string chapter, problem, sizes, kind;
    auto operator<=>(const CaseKey&) const = default;
};

/// What times.cu prints: microseconds of each rung, by case, in the order of the file.
struct Times {
    std::string machine;  ///< the first comment
    std::vector<std::pair<CaseKey, std::vector<std::pair<std::string, double>>>> cases;

    /// Of a rung in a case; 0 if there is none.
    double of(const CaseKey& key, const std::string& rung) const;
};

/// @throws std::runtime_error with file and line for what is no such table
Times read_times(const std::filesystem::path& file);

/// A rung, measured and modelled, and its speedups over the rung that the manifest names as baseline.
struct Line {
    std::string rung, baseline;
    double measured = 0, modelled = 0;
    double speedup_measured = 0, speedup_modelled = 0;  ///< 0 for the baseline itself
};

/// All rungs of a case that have both times.
struct Comparison {
    CaseKey key;
    std::vector<Line> lines;
    double rank_correlation = 0;  ///< Spearman's, over the lines; 1 with one line
};

/// What a chapter's speedups may be over, in the order of preference, by chapter.
using Baselines = std::map<std::string, std::vector<std::string>>;

/// Speedups are over the first of the chapter's `baselines` that solves the case's problem; where none does,
/// over the first rung that does.
std::vector<Comparison> compare(const Times& measured, const Times& modelled, const Baselines& baselines);

/// How many of the speedups are predicted within a factor of two, and how many there are.
struct Share {
    int within = 0, of = 0;
};
Share within_two(const std::vector<Comparison>& comparisons);

/// Spearman's rank correlation; equal values share their mean rank. 1 if fewer than two values or all equal.
double rank_correlation(const std::vector<double>& a, const std::vector<double>& b);

/// Words for people, and ncu's name: requests and sectors of loads, of stores, of atomics; wavefronts of
/// these in shared memory; requests and sectors of textures.
const std::vector<std::pair<std::string, std::string>>& counted_metrics();

struct CountComparison {
    std::string machine;
    std::size_t equal = 0, of = 0;  ///< of the counts that are not zero; wavefronts may differ by 2 %
};

/// Reads a table of counts: all of it, or the rows of one chapter. @throws std::runtime_error
golden::Table read_counts(const std::filesystem::path& file, const std::string& chapter = "");

/// Compares ncu's rows with check mode's, which may be more. `exceptions`: a file with a line for each rung
/// with the words of its counts that differ, joined by " + ", and the reason; of all chapters, or of one.
/// @throws std::runtime_error for a row that check mode lacks, for a difference without a reason, and for a
/// reason without a difference
CountComparison compare_counts(const golden::Table& counted, const golden::Table& predicted,
                               const std::filesystem::path& exceptions, const std::string& chapter = "");

}  // namespace rungs::validation
