#pragma once
// Where everything is: the source tree, the build, the chapters; and which rung a name means.

#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "judge/build/source.hpp"
#include "judge/build/toolchain.hpp"
#include "rungs/exam.hpp"
#include "rungs/manifest.hpp"

namespace rungs {

/// The command line asks for something that does not exist. Exit status 2.
class UsageError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Something of this machine is missing or broken. Exit status 3.
class CannotCheck : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct Workbook {
    judge::Toolchain toolchain;
    std::vector<Manifest> chapters;

    const std::filesystem::path& root() const { return toolchain.root; }

    /// `file` as commands and messages show it: relative to the workbook where it lies inside.
    std::string shown(const std::filesystem::path& file) const;
};

/// The folder with toolchain.json: $RUNGS_BUILD, else the parent of the running program's folder, else the
/// folder given when the program was compiled.
std::filesystem::path build_folder();

/// Reads the toolchain of build_folder() and all chapters.
/// @throws judge::ToolchainError, ManifestError
Workbook open_workbook();

/// One rung that a name on the command line means.
struct Chosen {
    const Manifest* chapter;
    const RungEntry* rung;

    std::string short_name() const;  ///< "01/03": what commands take
    std::string long_name() const;   ///< "01_reduction/03_shared_tree": the key of progress
};

/// The file of a rung in the workbook, or in `submission` where that is not empty: judge::source_of().
std::filesystem::path source_of(const Workbook& workbook, const Chosen& chosen, judge::Whose whose,
                                const std::filesystem::path& submission = {});

/// @throws CannotCheck when the student's file of an exercise is not there, with what brings it back
void require_file(const Workbook& workbook, const Chosen& chosen);

/// @throws UsageError in a student edition, which has none; what is given is there
void require_solution(const Workbook& workbook, const Chosen& chosen);

/// @throws UsageError for a predict rung, which asks for numbers
void require_kernel(const Chosen& chosen);

/// The rungs that names mean, in the order of the ladders and without repetition; all of them for no names. A
/// name is a chapter ("01", "reduction", "01_reduction"), a rung of one ("01/03", "01/shared_tree",
/// "01/03_shared_tree") or the path of a rung file.
/// @throws UsageError, with the nearest names
std::vector<Chosen> choose(const Workbook& workbook, const std::vector<std::string>& names);

/// The one rung that `name` means. @throws UsageError also when it means a whole chapter.
Chosen choose_rung(const Workbook& workbook, const std::string& name);

/// The one chapter that `name` means. @throws UsageError
const Manifest& choose_chapter(const Workbook& workbook, const std::string& name);

/// Up to three candidates that `word` may have been meant to be, nearest first.
std::vector<std::string> nearest(const std::string& word, const std::vector<std::string>& candidates);

/// How many letters have to be inserted, removed, changed or swapped with their neighbour.
std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace rungs
