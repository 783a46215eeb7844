#pragma once
// Does a tree hold what only solutions should?

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace rungs {

/// Two lines or more of a solution's regions that a file repeats.
struct Leak {
    std::string solution;  ///< "solutions/01_reduction/03_shared_tree.cu"
    unsigned line = 0;     ///< of the first of them there
    std::string file;      ///< below the tree
    unsigned at = 0;       ///< the line there
};

/// A solution by the name that messages have for it.
struct SolutionText {
    std::string name;
    std::string text;
};

/// What is shown of `solutions` in the files below `tree`. A line that a student is given anyway (in a rung,
/// a starter or a header in chapters/NN_topic/ of `tree`) is nobody's secret; nor is one that says next to
/// nothing, nor one line alone. Comments and blanks do not count. @throws FileError
std::vector<Leak> find_leaks(const std::vector<SolutionText>& solutions, const std::filesystem::path& tree);

}  // namespace rungs
