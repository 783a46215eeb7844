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
    const Trial trial = court.trial(court.folder.write(court.name + ".cu", text)).with(on_a_gpu);
    judge_checks(result, trial, std::nullopt);
    judge_counts(result, trial);
    doubt_checks(result, trial);
    return result;
}

}  // namespace rungs::judge
