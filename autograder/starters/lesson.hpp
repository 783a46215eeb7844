#pragma once
// What a lesson shows is generated from what runs. A chapter's README.md holds regions between HTML comments,
// which neither GitHub nor the book shows:
//
//     <!-- ladder -->                          the table of the chapter's rungs, from chapter.toml
//     <!-- end -->
//     <!-- snippet: 01_atomic.cu kernel -->    the lines between two `// [kernel]` marks of that file
//     <!-- end -->
//     <!-- hints: 03 -->                       the hints of a rung from chapter.toml, folded
//     <!-- end -->
//     <!-- measured: bench/h200.csv -->        a table of measured numbers, and where they come from
//     <!-- end -->
//
// A file of measured numbers begins with what has to be known of any number, then names its columns:
//
//     # machine: NVIDIA H200, driver 580.65
//     # date: 2026-01-31
//     # command: ./rungs bench 01
//     rung,microseconds,GB/s
//     04_interleaved,131,512
//
// Where not all of them are measured, a line `# how: Two numbers are computed.` opens the caption.
//
// Prose around them is checked against the manifest: headings, rung names, points, TODO numbers, commands. It
// has at most 3000 words; folds do not count.

#include <cstddef>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "rungs/manifest.hpp"

namespace rungs {

/// A lesson with a broken region: what() is `file:line: what is wrong; what to do`.
class LessonError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The table of a chapter's rungs as a lesson shows it.
std::string ladder_table(const Manifest& manifest);

/// The lines between the two `// [mark]` lines of a source, without their common indentation; marks of other
/// snippets inside are left out.
/// @throws LessonError for a missing or lone mark.
std::string snippet(std::string_view source, const std::string& mark, const std::string& name);

/// A rung's hints, each in a fold of its own whose summary says which step of help it is.
std::string folded_hints(const RungEntry& rung);

/// The table of a file of measured numbers, and a caption that names machine, date and command; where not all
/// of them are measured, it begins with what the file says of that.
/// @throws LessonError with file and line for a file that lacks one of these or is no table
std::string measured_table(std::string_view csv, const std::string& name);

/// The lesson with every region filled again.
/// @param root  the workbook; a snippet of a file that has a solution below it would show the
/// answer and is refused
/// @throws LessonError for unknown, stray, nested and unterminated regions and for snippets
/// that cannot be found.
std::string fill_lesson(std::string_view lesson, const Manifest& manifest, const std::filesystem::path& root,
                        const std::string& name);

/// The words that every reader of the lesson sees: those outside of folds, code and generated regions. A word
/// has a letter or a digit.
std::size_t words_of(std::string_view lesson);

/// Sentences `file:line: ...` that name what the lesson says against the manifest, and one if it is too long;
/// empty if all is well.
std::vector<std::string> contradictions(std::string_view lesson, const Manifest& manifest,
                                        const std::filesystem::path& root, const std::string& name);

}  // namespace rungs
