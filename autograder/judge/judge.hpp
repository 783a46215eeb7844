#pragma once
// The judge: compiles a rung, has an untrusted worker run it, and decides. Nothing that a submission prints,
// returns or exits with is a verdict; every verdict comes from outputs that were copied out of its reach.

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "judge/build/toolchain.hpp"
#include "judge/result/result.hpp"
#include "rungs/exam.hpp"
#include "rungs/manifest.hpp"

namespace rungs::judge {

enum class Phase { build, start, correctness, checks, counters, speed };

/// "build", "start", "correctness", "checks", "counters", "speed".
const char* name_of(Phase phase);

struct PhaseProgress {
    const RungEntry& rung;
    Phase phase;
    int done;
    int of;  ///< 0: not known
};

struct JudgeOptions {
    Toolchain toolchain;
    Backend backend = Backend::cpu;
    std::uint64_t seed = 0;  ///< of all inputs; draw it with random_seed() unless a run is to be replayed
    double time_limit = 0;   ///< seconds a call; 0: the manifest's
    double budget = 300;     ///< seconds for all calls of one rung
    bool checks = true;      ///< look for findings in check mode, and count: on the CPU backend, always
    bool sanitize = false;   ///< on a GPU, look with compute-sanitizer instead, without the sandbox
    bool speed = true;       ///< judge speed where the backend can
    std::function<void(const PhaseProgress&)> progress;  ///< called often, by one thread at a time
    std::function<void()> before_timing;      ///< waits until nothing else runs that this program has begun,
                                              ///< and holds off what would, until judge_rung() returns
    std::function<void()> after_timing;       ///< or until then: what is left disturbs no clock
    const std::atomic<bool>* stop = nullptr;  ///< set it to end early: every process is gone on return
};

/// An unpredictable seed from the system. @throws std::system_error
std::uint64_t random_seed();

/// Judges one rung. Never throws for anything a submission does; a failure of the machine is a result with
/// verdict INFRA. A file of the student's that is missing or unreadable is COMPILE_ERROR. Speed, where
/// judged, is measured against its baseline and solutions/<chapter>/<rung>.cu of
/// `options.toolchain.root`, interleaved. Thread-safe.
RungResult judge_rung(const Manifest& manifest, const RungEntry& rung, const std::filesystem::path& source,
                      const Exam& exam, const JudgeOptions& options);

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

/// How workers of a backend are held on this machine.
SandboxLevel sandbox_level(Backend backend = Backend::cpu);

}  // namespace rungs::judge
