#pragma once
/// @file
/// Listed mistakes: changes of a chapter's reference rungs that students make, each with the verdict and the
/// cause that it must get (chapters/*/exam/mistakes.toml).

#include <filesystem>
#include <string>
#include <vector>

#include "cases/slice.hpp"
#include "judge/judge.hpp"

namespace rungs {

struct Mistake {
    std::string chapter, rung, name;
    std::string source;   ///< the rung, as it is handed in
    std::string verdict;  ///< that it must get: "WRONG"
    /// What the report must say of its cause: all of these. Of several texts one is enough, because which of
    /// them is said may depend on the schedule.
    std::vector<std::vector<std::string>> told;
    std::string why;  ///< it is not found, if that is so

    std::string title() const;  ///< "01/02 an odd word is lost"
};

/// The mistakes of a chapter; none without a list.
/// @param root  the workbook
/// @throws std::runtime_error, with file and line, for a list that cannot be understood, and for a change of
///         a text that the reference does not have
std::vector<Mistake> read_mistakes(const std::filesystem::path& root, const std::string& chapter);

/// Those of a slice, which is chosen before anything is compiled.
std::vector<Mistake> in_slice(std::vector<Mistake> mistakes, const std::string& chapter, const Slice& slice);

/// What is wrong with a verdict on a mistake; empty: nothing.
std::string fault_of(const Mistake& mistake, const judge::RungResult& result);

}  // namespace rungs
