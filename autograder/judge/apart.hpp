#pragma once
// Work in a process of its own: a fork of the judge, with its memory and its rights. If it dies, only that
// work is lost. Each rung that a class handed in is judged in one.

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

/// The process that waits for the work, as the work sees it.
class Caller {
  public:
    explicit Caller(int line) : line_(line) {}

    /// True once the work has been asked to end.
    static const std::atomic<bool>& stop();
    /// Asks the waiting process to let nothing else run, and returns once nothing does.
    void wait_to_be_alone() const;

  private:
    int line_;
};

/// Runs `work` in a fork of this process, and waits for it. Only the calling thread is forked, so no other
/// thread of this process may ever hold a lock that `work` takes: a process that calls this must leave all
/// judging to forks. The fork does not inherit this process's large arrays (large_blocks.cpp), so `work` must
/// not use them. It ends with the calling thread at the latest. An exception that leaves `work` counts as a
/// death.
/// @param name  of the process, as `ps` shows the first 15 bytes of it
/// @param stop  ends it early; what it then returns is empty, and so is Apart::died
/// @param be_alone  called where the work waits to be alone
/// @throws std::system_error where the machine has no process left
Apart run_apart(const std::string& name, const std::function<std::string(const Caller&)>& work,
                const std::atomic<bool>* stop = nullptr, const std::function<void()>& be_alone = {});

/// Does in advance what forks would otherwise have to take a lock for. To be called before any thread judges.
/// @throws InfraError as prune()
void prepare_to_judge_apart(const Toolchain& toolchain, Backend backend);

/// judge_rung(), in a process of its own. Of its options, `progress` and `after_timing` are not called.
/// @param died  as Apart::died; the result is INFRA then
RungResult judge_apart(const std::string& name, const Trial& trial, std::string& died);

}  // namespace rungs::judge
