#pragma once
// The maintainer's gates: what has to hold before a change to chapters or solutions is published.

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "judge/judge.hpp"
#include "rungs/manifest.hpp"

namespace rungs {

/// One sentence that says what is wrong and where; `ours` where something could not be checked.
struct GateFinding {
    std::string text;
    bool ours = false;
};

/// Judges a source as a rung: judge::judge_rung in the program, something quick in tests.
using JudgeFunction = std::function<judge::RungResult(const Manifest&, const RungEntry&,
                                                      const std::filesystem::path& source, Backend)>;

/// Whether a source compiles on the cuda backend, where no GPU can run it: empty, or the compiler's message.
using CompileFunction = std::function<std::string(const Manifest&, const std::filesystem::path& source)>;

/// What is told while a gate is at work: a sentence for each file that was written or judged.
using Say = std::function<void(std::string)>;

/// Gate 1: every starter in chapters/ is what its solution makes. `write`: refresh them instead.
std::vector<GateFinding> check_starters(const std::filesystem::path& root, bool write, const Say& say = {});

/// Gate 5: every lesson's generated regions are current and its prose does not contradict the manifest.
/// `write`: refresh the regions first.
std::vector<GateFinding> check_lessons(const std::filesystem::path& root, bool write, const Say& say = {});

/// Gate 4: solutions and manifest name the same exercises, and each has a TODO, points and a hint. In a
/// chapter whose rungs state their kinds, files are short, the student writes enough of them, and every kind
/// is there.
std::vector<GateFinding> check_exercises(const std::filesystem::path& root);

/// Gates 2 and 3: every solution and every given rung passes, check mode's cases reach all of its lines, and
/// every starter compiles and fails with an honest verdict, one that is to be repaired after cases that it
/// passes. Starters are made afresh in `scratch`: a
/// maintainer's edit in chapters/ changes nothing here. `compile` sees starters alone: the build has compiled
/// what stands in the tree.
/// @param chapter  the only one to judge, 01_reduction; empty for all
std::vector<GateFinding> check_verdicts(const std::filesystem::path& root, const std::string& chapter,
                                        const std::filesystem::path& scratch,
                                        const std::vector<Backend>& backends, const JudgeFunction& judge,
                                        const CompileFunction& compile, const Say& say);

/// What shows that a source, as a rung, is wrong; empty: nothing does. judge::first_fault in the program.
using FaultFunction =
    std::function<std::string(const Manifest&, const RungEntry&, const std::filesystem::path& source)>;

/// A source without one of its barriers.
struct WithoutBarrier {
    unsigned line = 0;    ///< of the barrier
    std::string barrier;  ///< "__syncthreads()"
    std::string source;
};

/// `source` without each of its barriers and fences in turn, as far as they are statements.
std::vector<WithoutBarrier> without_barriers(const std::string& source);

/// Gate 6: every barrier of every solution is missed when it is not there.
std::vector<GateFinding> check_barriers(const std::filesystem::path& root, const std::string& chapter,
                                        const std::filesystem::path& scratch, const FaultFunction& fault,
                                        const Say& say);

}  // namespace rungs
