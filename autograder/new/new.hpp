#pragma once
// The skeletons of what a maintainer adds: a rung of a chapter, or a chapter. What is left to be written has
// a mark, "WRITE:", which the gates name with file and line. The skeletons are in templates/.

#include <filesystem>
#include <string>
#include <vector>

#include "new/contract.hpp"

namespace rungs {

/// A rung that is asked for.
struct NewRung {
    std::string name;                   ///< "01/12_two_level": a chapter, and the rung's file
    std::string kind;                   ///< "write"
    std::vector<std::string> problems;  ///< that it solves; empty: all of the chapter's
};

/// What was written, and what is to be done next.
struct Written {
    std::vector<std::string> files;  ///< below the workbook, in the order in which they are to be read
    std::vector<std::string> next;   ///< commands and sentences
};

/// Writes the skeleton of a rung. No other rung is renumbered, and no file is overwritten.
/// @throws NewError, ManifestError, FileError
Written write_new_rung(const std::filesystem::path& root, const NewRung& asked);

/// Writes the skeleton of a chapter, "08_scan": it builds, and its first rung is right.
/// @throws NewError, FileError
Written write_new_chapter(const std::filesystem::path& root, const std::string& name);

}  // namespace rungs
