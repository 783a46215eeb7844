#pragma once
// A student edition of the workbook, as `./rungs package` makes it: without solutions, and in edition/ what
// the judge needs of them.
//
//     edition/about.txt                         the version and the commit that it was made from
//     edition/files.sha256                      every other file, for ./rungs update
//     edition/starters/01_reduction/03_x.cu     the rungs as they were handed out
//     edition/counts/01_reduction/03_x.json     what one call of the reference asks of the hardware
//     edition/workers/01_reduction/03_x         the reference for a GPU, compiled

#include <filesystem>

#include "rungs/manifest.hpp"

namespace rungs::judge {

/// Whether the workbook below `root` is a student edition.
bool is_edition(const std::filesystem::path& root);

/// The starter of an exercise in an edition.
std::filesystem::path edition_starter(const std::filesystem::path& root, const Manifest& manifest,
                                      const RungEntry& rung);

/// The counters of an exercise's reference in an edition.
std::filesystem::path edition_counts(const std::filesystem::path& root, const Manifest& manifest,
                                     const RungEntry& rung);

/// The worker of an exercise's reference on the cuda backend in an edition; the file need not exist.
std::filesystem::path edition_worker(const std::filesystem::path& root, const Manifest& manifest,
                                     const RungEntry& rung);

}  // namespace rungs::judge
