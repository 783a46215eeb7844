#pragma once
// Verdicts that are kept: whoever asks for the same again, with nothing changed, has the same answer at once.

#include <filesystem>
#include <optional>
#include <string>

#include "judge/options.hpp"
#include "judge/result/result.hpp"

namespace rungs::judge {

/// Names a verdict by all that it follows from: the rung, its chapter, the reference rungs that it is
/// compared with, the exam, the judge, the compilers, the sandbox. The seed is none of it: a kept verdict has
/// its own.
/// @returns nothing for what is not kept: rungs that cannot be read, predictions, what is timed
std::optional<std::string> verdict_key(const Manifest& manifest, const RungEntry& rung,
                                       const std::filesystem::path& source, const JudgeOptions& options);

/// The verdict that was kept under `key`, if there is one.
std::optional<RungResult> kept_verdict(const std::filesystem::path& cache, const std::string& key);

/// Keeps a verdict that is on the student and did not depend on a limit. That it cannot be written is no
/// fault: it is found again by judging.
void keep_verdict(const std::filesystem::path& cache, const std::string& key, const RungResult& result);

/// All of a verdict, for another process of this program; and back. @throws nlohmann::json::exception and
/// FieldError for what bytes_of() has not written
std::string bytes_of(const RungResult& result);
RungResult result_of(const std::string& bytes);

}  // namespace rungs::judge
