#pragma once
// The maintainer's gates: what has to hold before a change to chapters or solutions is published.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "cases/slice.hpp"
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

/// What a gate says while it is at work: a sentence for each file that was written or judged.
using Say = std::function<void(std::string)>;

/// Gate 1: every starter in chapters/ is what its solution makes. `write`: refresh them instead.
std::vector<GateFinding> check_starters(const std::filesystem::path& root, bool write, const Say& say = {});

/// And what the launcher prints before the first build is what the program prints then. `write`: refresh it.
std::vector<GateFinding> check_before_build(const std::filesystem::path& root, bool write,
                                            const Say& say = {});

/// Gate 5: every lesson's generated regions are current and its prose does not contradict the manifest.
/// `write`: refresh the regions first.
std::vector<GateFinding> check_lessons(const std::filesystem::path& root, bool write, const Say& say = {});

/// Nothing is left of what ./rungs new has marked as to be written.
std::vector<GateFinding> check_written(const std::filesystem::path& root);

/// Gate 4: solutions and manifest name the same exercises, and each has a TODO, points and a hint. In a
/// chapter whose rungs state their kinds, files are short, the student writes enough of them, and
/// every kind is there.
std::vector<GateFinding> check_exercises(const std::filesystem::path& root);

/// Gates 2 and 3: every solution and every given rung passes with all points that there are on the backend,
/// check mode's cases reach all of its lines, and every starter compiles and fails with an honest verdict,
/// one that is to be repaired after cases that it passes. Starters are made again in `scratch`: a
/// maintainer's edit in chapters/ changes nothing here. `compile` sees starters alone: the build has compiled
/// what is in the tree.
/// @param chapter  the only one to judge, 01_reduction; empty for all
/// @param slice  of which solutions are judged, and starters given to nvcc; starters all are judged
std::vector<GateFinding> check_verdicts(const std::filesystem::path& root, const std::string& chapter,
                                        const std::filesystem::path& scratch,
                                        const std::vector<Backend>& backends, const JudgeFunction& judge,
                                        const CompileFunction& compile, const Say& say,
                                        const Slice& slice = {});

/// A barrier or a fence that is a statement.
struct Barrier {
    unsigned line = 0;
    std::size_t at = 0;  ///< in the source
    std::string call;    ///< "__syncthreads()"
};

/// Those of `source`, in their order.
std::vector<Barrier> barriers_of(const std::string& source);

/// `source` with the same lines, in which the barrier with the number that the variable `barrier_left_out`
/// holds is left out. It holds no_barrier; who compiles this once changes that in the program for each.
/// @throws std::runtime_error if there is no line behind the includes that the variable could begin
std::string with_switched_barriers(const std::string& source);
constexpr std::uint64_t no_barrier = 0x9d3a77c15be2460f;

/// What shows that a source made like that, as a rung, is wrong without a barrier, or with all where there is
/// none of that number; empty: nothing does.
using FaultFunction = std::function<std::string(const Manifest&, const RungEntry&,
                                                const std::filesystem::path& source, std::size_t barrier)>;

/// Gate 6: every barrier of every solution is missed when it is not there. `slice` chooses
/// which solutions are tried.
std::vector<GateFinding> check_barriers(const std::filesystem::path& root, const std::string& chapter,
                                        const std::filesystem::path& scratch, const FaultFunction& fault,
                                        const Say& say, const Slice& slice = {});

}  // namespace rungs
