#pragma once
// What the CPU backend makes of a rung that is judged on a GPU: that part needs none.

#include <filesystem>
#include <optional>
#include <string>

#include "judge/checks.hpp"
#include "judge/counts.hpp"
#include "judge_fixture.hpp"

namespace rungs::judge {

/// Checks and counts `text`, whose values are all right on a GPU.
inline RungResult look_beside_a_gpu(const Court& court, const std::string& text) {
    JudgeOptions on_a_gpu = court.options;
    on_a_gpu.backend = Backend::cuda;
    RungResult result;
    result.chapter = court.manifest.chapter;
    result.rung = court.name;
    result.verdict = Verdict::ok;
    const std::filesystem::path source = court.folder.write(court.name + ".cu", text);
    judge_checks(result, court.manifest, court.rung(), source, *court.exam, on_a_gpu, std::nullopt);
    judge_counts(result, court.manifest, court.rung(), source, *court.exam, on_a_gpu);
    doubt_checks(result, court.rung(), source, on_a_gpu);
    return result;
}

}  // namespace rungs::judge
