#pragma once
// Who works in a folder, said by a file in it: of all processes on all machines that share the folder, one
// holds a lease. Locks of the kernel end at the machine on some file systems; the name of a file does not.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "judge/confine/process.hpp"

namespace rungs::classroom {

/// How often a holder touches its file, and after how long without that it is taken to be gone. Each process
/// measures with its own clock and compares no times of two machines, so clocks may be wrong.
struct Pace {
    std::chrono::milliseconds touch{5'000};
    std::chrono::milliseconds patience{60'000};
};

/// The process that a lease names.
struct Holder {
    std::string process, host, started;
    std::string job;  ///< of Slurm; empty: it is in none

    /// "process 17 on node3 since 2026-01-31T12:00:00Z"
    std::string text() const;
};

/// Called every second or so while it is not yet known whether a holder is still there; it may throw.
using Meanwhile = std::function<void(const Holder&)>;

/// Who holds a lease now; nothing where nobody does or whoever did is gone. What a process on this machine
/// does is known at once; one on another machine is watched until it shows a sign of life, or for
/// Pace::patience. @throws ClassError where the file is none of ours; FileError
std::optional<Holder> holder_of(const std::filesystem::path& file, const Meanwhile& meanwhile = {},
                                const Pace& pace = {});

class Lease {
  public:
    /// @throws ClassError where somebody holds it, with who; FileError
    explicit Lease(const std::filesystem::path& file, const Meanwhile& meanwhile = {}, const Pace& pace = {});
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

    /// What became of a holder that did not end in order; empty: there was none.
    const std::string& taken_over() const { return taken_over_; }

    /// Set once the file is no longer ours: this process had stopped for so long that another took over.
    const std::atomic<bool>& lost() const { return lost_; }

  private:
    bool is_ours() const;

    std::filesystem::path file_;
    judge::Descriptor held_;  ///< of the file, so that no other can have its number
    std::string taken_over_;
    std::atomic<bool> lost_{false};
    std::mutex mutex_;
    std::condition_variable ends_;
    bool ending_ = false;
    std::thread toucher_;
};

}  // namespace rungs::classroom
