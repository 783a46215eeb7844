#pragma once
// What `./rungs list`, `next` and `hint` print before the first build, when nothing has been checked yet:
// a text that the launcher prints sections of, and that --write makes with the program's own functions.
//
//     @ list                            a section: what this verb prints then
//     @ next
//     @ hint 01_reduction/02_global_tree  of a hint, all that there are

#include <filesystem>
#include <string>

namespace rungs {

/// The file of the text, below the workbook.
constexpr const char* before_build_file = "common/before_build.txt";

/// The text for the workbook at `root`. @throws ManifestError, StarterError
std::string before_build(const std::filesystem::path& root);

}  // namespace rungs
