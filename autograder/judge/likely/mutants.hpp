#pragma once
// Mutants of a reference: the same program with one small mistake, of the kinds that people make. All of them
// are in one translation unit, each behind a condition: compiled once, and chosen when they run.

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace rungs::judge {

struct Mutant {
    std::string what;   ///< the mistake, as the end of "the values are those of a kernel in which ..."
    std::string where;  ///< the part of the task that it is in, "TODO 4.1"; empty: it has no number
    int line = 0;       ///< of the reference
    std::size_t begin = 0, end = 0;  ///< bytes of the reference that the mistake replaces
    int rank =
        0;  ///< 0 for the plainest mistakes: of several that give the same values, one of these is named
};

/// A reference with its mutants. Mutant 0 is the reference itself, mutant i is `mutants[i - 1]`.
struct Schemata {
    std::string text;  ///< of a rung. The first call of a launcher runs the mutant whose number the
                       ///< environment variable RUNGS_SIMT_SEED has, each further call the next one
    std::vector<Mutant> mutants;
    /// For each line of `text`: the numbers of the mutants that may be why it does not compile.
    std::vector<std::vector<std::size_t>> suspects;
};

/// The mutants of the part of a reference that a student has to write.
/// @param reference  text of a solution, with its BEGIN SOLUTION and END SOLUTION. Long expressions are
/// quoted without the
///                   names that occur only between these
/// @param launchers  names of the functions that the grader calls: "shared_tree"
/// @param left_out   numbers of mutants to leave out, counted from 1: those that do not compile
Schemata mutate(const std::string& reference, const std::set<std::string>& launchers,
                const std::set<std::size_t>& left_out = {});

}  // namespace rungs::judge
