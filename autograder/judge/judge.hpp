#pragma once
// The judge: compiles a rung, has an untrusted worker run it, and decides. Nothing that a submission prints,
// returns or exits with is a verdict; every verdict comes from outputs that were copied out of its reach.

#include <filesystem>
#include <memory>
#include <string>

#include "judge/options.hpp"
#include "judge/result/result.hpp"
#include "judge/trial.hpp"
#include "rungs/exam.hpp"
#include "rungs/manifest.hpp"

namespace rungs::judge {

/// Judges a file as a rung. Never throws for anything a submission does; a failure of the machine is a result
/// with verdict INFRA. A file of the student's that is missing or unreadable is COMPILE_ERROR. Speed, where
/// judged, is measured against its baseline and solutions/<chapter>/<rung>.cu of
/// `options.toolchain.root`, interleaved. Thread-safe.
RungResult judge_rung(const Trial& trial);

/// Once a process, before its first worker. One that hangs up must not end the judge; and none of the same
/// user may read the judge's memory, where the expected values are.
void prepare_process();

/// The most points that `rung` can earn on `backend`: those for speed where speed is judged
/// there, or modelled.
double max_points(const RungEntry& rung, Backend backend);

/// The exam of a chapter. @throws InfraError when this build has none
std::unique_ptr<Exam> exam_of(const Manifest& manifest);

/// The file that exam_of() loads it from.
std::filesystem::path exam_module(const Manifest& manifest);

}  // namespace rungs::judge
