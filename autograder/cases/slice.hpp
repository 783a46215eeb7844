#pragma once
/// @file
/// Which of the expensive cases (listed mistakes, missing barriers, attacks, solutions in check mode) a run
/// of the tests tries. All of them, unless the environment variable RUNGS_SLICE names a file that
/// asks for a slice.

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace rungs {

/// A slice: an eighth of the cases, which the key chooses, and those whose inputs have changed, up to another
/// eighth. The key is a commit's hash, so that each run on a commit tries the same cases, and a
/// dozen commits nearly all.
class Slice {
  public:
    /// All cases.
    Slice() = default;

    /// `changed` names files, folders or listed cases, relative to the workbook.
    Slice(std::string_view key, std::set<std::string> changed);

    /// The slice that RUNGS_SLICE asks for: a file with the key in its first line, and a changed file or case
    /// in each further line. Without that variable, all cases. @throws FileError when the file cannot be read
    static Slice of_environment();

    bool whole() const { return whole_; }

    /// A case: its name, which differs from those of other cases of its kind, and the files or folders that
    /// decide what comes of it.
    struct Case {
        std::string name;
        std::vector<std::string> inputs;
    };

    /// For each of the cases whether it is tried. At least one is, if there are any. `kind` is for the
    /// summary, which goes into a file beside RUNGS_SLICE: "mistakes of 01_reduction: 12 of 96".
    std::vector<bool> choose(std::string_view kind, const std::vector<Case>& cases) const;

  private:
    bool whole_ = true;
    unsigned long long key_ = 0;
    std::set<std::string> changed_;
    std::string report_;  ///< the summary's file, or empty
};

}  // namespace rungs
