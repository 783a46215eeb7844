#pragma once
// The file that a rung is read from, and its text.

#include <filesystem>
#include <string>

#include "rungs/manifest.hpp"

namespace rungs::judge {

enum class Whose { student, solution };

/// The file of a rung below `root`: given rungs always come from chapters/, exercises from chapters/, from
/// solutions/, or from `submission` when that is not empty (there either as <chapter>/<rung>.cu or as
/// <rung>.cu). The solution of a predict rung is the manifest. The file need not exist: the judge says so
/// then.
std::filesystem::path source_of(const Manifest& manifest, const RungEntry& rung,
                                const std::filesystem::path& root, Whose whose,
                                const std::filesystem::path& submission = {});

/// The text of a rung. Whatever stands under that name, this neither hangs nor reads more than a
/// rung may have. @throws Rejected
std::string read_rung(const std::filesystem::path& file);

/// A rung must be the same program in both modes, and must not ask what else is on this machine. Refuses
/// words that are there for that; macros can put them together from pieces, so this is a hint, not a wall.
/// @throws Rejected, which begins with the file's `name`
void check_words(const std::string& name, const std::string& text);

}  // namespace rungs::judge
