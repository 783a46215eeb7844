#pragma once
// How a rung is to be judged, and how far judging it has come.

#include <atomic>
#include <cstdint>
#include <functional>

#include "judge/build/toolchain.hpp"
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
    std::uint64_t seed = 0;      ///< of all inputs; draw it with random_seed() unless a run is to be replayed
    double time_limit = 0;       ///< seconds a call; 0: the manifest's
    double budget = 300;         ///< seconds for all calls of one rung
    bool checks = true;          ///< look for findings in check mode, and count: on the CPU backend, always
    bool sanitize = false;       ///< on a GPU, look with compute-sanitizer instead, without the sandbox
    bool speed = true;           ///< judge speed where the backend can
    bool name_mistakes = false;  ///< find the mistake in the reference that gives the same wrong values
    std::function<void(const PhaseProgress&)> progress;  ///< called often, by one thread at a time
    std::function<void()> before_timing;      ///< waits until nothing else runs that this program has begun,
                                              ///< and holds off what would, until judge_rung() returns
    std::function<void()> after_timing;       ///< or until then: what is left disturbs no clock
    const std::atomic<bool>* stop = nullptr;  ///< set it to end early: every process is gone on return
};

/// An unpredictable seed from the system. @throws std::system_error
std::uint64_t random_seed();

}  // namespace rungs::judge
