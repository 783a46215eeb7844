#pragma once
// One run of the judge over some rungs, shown while it goes: what check, demo and watch have in common.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "judge/build/source.hpp"
#include "judge/judge.hpp"
#include "program/terminal.hpp"
#include "program/workbook.hpp"
#include "report/report.hpp"

namespace rungs {

/// The backend of a run and why it is that one.
struct BackendChoice {
    Backend backend = Backend::cpu;
    std::string why;     ///< "asked for", "a GPU responds", "no NVIDIA driver on this machine"
    std::string cannot;  ///< why nothing can be checked there; empty: it can
};

/// `asked` is "cpu", "cuda" or "auto": auto is cuda where a GPU answers and nvcc was found, else cpu.
BackendChoice choose_backend(const Workbook& workbook, const std::string& asked, const Gpu& gpu);

struct GradeOptions {
    judge::Whose whose = judge::Whose::student;
    bool given = false;                ///< the given rungs alone
    std::filesystem::path submission;  ///< empty: none
    BackendChoice backend;
    std::uint64_t seed = 0;
    Machine machine;
    std::string command;                      ///< for the report
    const std::atomic<bool>* stop = nullptr;  ///< default: the program's own
    bool sanitize = false;                    ///< with compute-sanitizer
    bool remember = false;                    ///< store verdicts as the student's progress
    bool keep = false;                        ///< repeat the verdict on what has not changed since
    unsigned jobs = 0;  ///< rungs judged at once on the CPU backend; 0: as many as the machine can
};

/// Judges `chosen`, on the CPU backend several at once, and shows a table in their order while it goes. A
/// rung that met a limit beside others, or whose times varied too much, is judged once more, alone, and only
/// that counts. When asked to stop it returns the rungs that were judged until then: not finished, and not to
/// be written anywhere.
/// @throws CannotCheck, ReaderGone, OutputError
Report grade(const Workbook& workbook, const std::vector<Chosen>& chosen, const GradeOptions& options,
             Terminal& out);

/// What there is of a rung that was not judged. `why`: one line, the cause.
judge::RungResult not_run(const Chosen& chosen, Backend backend, std::uint64_t seed, const std::string& why,
                          judge::Verdict verdict = judge::Verdict::not_run);

/// Whether other rungs on the same machine may have had a part in this: a limit of time or memory was met, or
/// something failed that should not.
bool depends_on_load(const judge::RungResult& result, Backend backend);

/// Whether it is judged once more, alone, where it was not: that, or its times varied more than they may in
/// another minute.
bool deserves_another_try(const judge::RungResult& result, Backend backend);

/// What a result says until grade() has come to its end: no rung is judged, and there is no score.
Report not_finished(const Workbook& workbook, const std::vector<Chosen>& chosen, const GradeOptions& options);

/// For tools that attach to the rung's process and so run it unconfined. @throws UsageError as root, unless
/// `as_root` asks for that
void refuse_root(bool as_root, const std::string& tool);

/// Seconds since 1970 as "2026-01-31T12:00:00Z".
std::string utc_text(long long seconds);

}  // namespace rungs
