#pragma once
// Starters are made from solutions. A solution is a complete, working rung in which
//
//     // TODO 3.1 (about 6 lines): what the student has to do; may run over several comment lines
//     // BEGIN SOLUTION
//     //~ the starter's stand-in for the region, where leaving it out would not compile
//     the answer
//     // END SOLUTION
//
// marks what the starter leaves out. A TODO in the comment at the top of the file speaks for all regions: a
// rung to be repaired must not say where its fault is, which its //~ lines hold. A comment of its own,
//
//     // unchecked: why no case of check mode can reach the next statement or definition, or miss its barrier
//
// is for the maintainer's gates, and the starter leaves it out as well. Everything else is the same text
// in both files.

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "rungs/manifest.hpp"

namespace rungs {

/// A solution with broken markers: what() is `file:line: what is wrong; what to do`.
class StarterError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The starter of one solution: regions dropped, their `//~ ` lines uncommented.
/// @param name  the file as error messages should call it
/// @throws StarterError for nested, stray, empty and unterminated regions, a region without a
///         TODO directly above it or at the top of the file, a stub line outside a region, a misspelt marker,
///         CR LF line ends, NUL bytes and a file without a region.
std::string make_starter(std::string_view solution, const std::string& name);

/// The same from a file. @throws StarterError, also when the file cannot be read.
std::string make_starter_from(const std::filesystem::path& solution);

/// The file of answers to a predict rung as a student gets it: every question in a comment, and "?".
std::string make_answers(const Manifest& manifest, const RungEntry& rung);

/// The call that a question is about, and how it is answered: "one call of 04_interleaved: sum, size 1024,
/// kind uniform; within 5 %".
std::string call_in_words(const Question& question);

/// Lines, counted from 1.
struct Lines {
    unsigned first = 0, last = 0;
    bool operator==(const Lines&) const = default;
};

/// The statements and definitions of a solution that have a comment `// unchecked:` directly above.
std::vector<Lines> unchecked_lines(std::string_view source);

/// The range that holds the line; null: none does.
const Lines* find(const std::vector<Lines>& ranges, unsigned line);

/// Those of `lines` of which the source does not say why: in none of unchecked_lines().
std::vector<unsigned> unexplained(const std::vector<unsigned>& lines, std::string_view source);

/// A solution and the place of its starter.
struct StarterPair {
    std::filesystem::path solution;  ///< solutions/01_reduction/03_shared_tree.cu
    std::filesystem::path starter;   ///< chapters/01_reduction/03_shared_tree.cu
    std::string chapter;
    std::string rung;
};

/// Every solution below `root`/solutions, in order. @throws StarterError for a file there that is no rung
/// file and for a chapter that does not exist in `root`/chapters.
std::vector<StarterPair> starter_pairs(const std::filesystem::path& root);

/// Where `text` first differs from `expected`: a 1-based line and both versions of it; line 0 when
/// they are equal.
struct Difference {
    int line = 0;
    std::string expected;
    std::string found;  ///< "(the file ends here)" where a line is missing
};
Difference first_difference(std::string_view expected, std::string_view text);

}  // namespace rungs
