#pragma once
// compute-sanitizer and ncu around a rung on a GPU, and their words as findings and numbers. Both
// attach to the process that runs the rung, so it runs without the sandbox: for a student's own rungs,
// not for strangers'.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "judge/result/result.hpp"
#include "judge/trial.hpp"

namespace rungs::judge {

/// The findings in what `compute-sanitizer --tool TOOL` printed. What it says of many threads at one place is
/// one finding with a count. Lines that are no report, such as the program's own, are passed over.
std::vector<QuotedFinding> read_sanitizer(simt::check::Tool tool, const std::string& text);

/// Tools to ask of a rung. What one of them is known to get wrong costs nobody points: it is not asked.
struct ToolChoice {
    std::vector<simt::check::Tool> asked;
    std::string left_out;  ///< which are not asked, and why; empty: all are
};

/// Those that follow what a rung with this text does.
ToolChoice tools_for(const std::string& text);

/// One launch in `ncu --csv`: metrics by name, in ncu's base units.
struct ProfiledLaunch {
    std::string kernel;
    std::map<std::string, double> metrics;
};

/// Reads what `ncu --csv --print-units base` printed; lines before the table are passed over.
/// @throws std::runtime_error with ncu's own message where there is no table
std::vector<ProfiledLaunch> read_ncu(const std::string& text);

/// How a rung is held under these tools.
SandboxLevel tool_level();

/// One call as the worker reads it from a file: `rungs-worker FILE`.
class TaskFile {
  public:
    /// @throws InfraError
    TaskFile(const std::string& problem, const Task& task);
    ~TaskFile();
    TaskFile(const TaskFile&) = delete;
    TaskFile& operator=(const TaskFile&) = delete;

    std::string path() const { return path_.string(); }

    /// Whether the worker says that the call came back. It says so in the file: a rung that ends its process
    /// has any exit status that it likes.
    bool came_back() const;

  private:
    std::filesystem::path path_;
};

/// Runs compute-sanitizer's tools, those of tools_for(), over small cases of the rung and puts the findings,
/// and the verdict that follows from an error or from a call that did not come back, into `result`. Where a
/// tool is left out and the others find nothing, the checks are not done. @throws Stopped, InfraError where
/// the tool is missing or fails
void judge_sanitized(RungResult& result, const Trial& trial);

/// Counts one call of the rung with ncu, on the case whose counters check mode shows.
/// @throws Stopped, InfraError with what is missing: the tool, a GPU, the permission to read counters
std::vector<ProfiledLaunch> profile_rung(const Trial& trial);

}  // namespace rungs::judge
