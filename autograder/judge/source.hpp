#pragma once
// Which file a rung is read from.

#include <filesystem>

#include "rungs/manifest.hpp"

namespace rungs::judge {

enum class Whose { student, solution };

/// The file of a rung below `root`: given rungs always come from chapters/, exercises from chapters/, from
/// solutions/, or from `submission` when that is not empty (there either as <chapter>/<rung>.cu or as
/// <rung>.cu). The file need not exist: the judge says so then.
std::filesystem::path source_of(const Manifest& manifest, const RungEntry& rung,
                                const std::filesystem::path& root, Whose whose,
                                const std::filesystem::path& submission = {});

}  // namespace rungs::judge
