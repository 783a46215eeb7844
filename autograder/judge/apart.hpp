#pragma once
// Work in a process of its own: a fork of the judge, which has its memory and its rights, and whose death is
// the end of that work alone. What a class handed in is judged so, rung by rung.

#include <atomic>
#include <functional>
#include <string>

#include "judge/judge.hpp"

namespace rungs::judge {

/// What became of work in a process of its own.
struct Apart {
    std::string result;  ///< what it returned
    std::string died;    ///< how the process ended instead: "by SIGSEGV"; empty: the work has returned
};

/// Whoever waits for a process of its own, as seen from there.
class Caller {
  public:
    explicit Caller(int line) : line_(line) {}

    /// Set once it is to end.
    static const std::atomic<bool>& stop();
    /// Has whoever waits see to it that nothing else runs, and returns then.
    void wait_to_be_alone() const;

  private:
    int line_;
};

/// Runs `work` in a fork of this process, and waits for it. The fork has one thread, so that no other thread
/// of this process may ever hold a lock that the work takes: whoever calls this leaves judging to such forks.
/// It has none of this process's large arrays (large_blocks.cpp), so `work` uses none, and ends with the
/// calling thread at the latest. An exception that leaves `work` is a death, too.
/// @param name  of the process, as `ps` shows the first 15 bytes of it
/// @param stop  ends it early; what it then returns is empty, and so is Apart::died
/// @param be_alone  called where the work waits to be alone
/// @throws std::system_error where the machine has no process left
Apart run_apart(const std::string& name, const std::function<std::string(const Caller&)>& work,
                const std::atomic<bool>* stop = nullptr, const std::function<void()>& be_alone = {});

/// What forks find done, and need no lock for. To be called before the first thread that judges.
/// @throws InfraError as prune()
void prepare_to_judge_apart(const Toolchain& toolchain, Backend backend);

/// judge_rung(), in a process of its own. Of `options`, `progress` and `after_timing` are not called.
/// @param died  as Apart::died; the result is INFRA then
RungResult judge_apart(const std::string& name, const Manifest& manifest, const RungEntry& rung,
                       const std::filesystem::path& source, const Exam& exam, const JudgeOptions& options,
                       std::string& died);

}  // namespace rungs::judge
