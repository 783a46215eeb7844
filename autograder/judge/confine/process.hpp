#pragma once
// Runs compilers and workers: fixed arguments, no shell, closed descriptors, limits, capped output, and an
// end that leaves nothing behind.
//
// Between this process and the program stands a *warden*, a fork of ours that runs no foreign code. It is
// the program's parent and the reaper of whatever the program leaves behind: children that fled by setsid()
// or a double fork become the warden's children, and it kills them. Where the program has a PID namespace,
// the warden ends that instead, and the kernel all that is in it. It ends when the program has ended, when
// kill() asks, or when this process is gone, however that came about (even by kill -9).

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "judge/confine/sandbox.hpp"

namespace rungs::judge {

#ifdef RUNGS_MADE_CLOCK
/// Where time is made up, in tests.
struct Clock {
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<Clock>;
    static constexpr bool is_steady = true;
    static time_point now() noexcept;
};
#else
using Clock = std::chrono::steady_clock;
#endif

/// @throws std::system_error of errno, for what was tried
[[noreturn]] void fail_with_errno(const char* what);

/// `seconds` from now.
Clock::time_point in_seconds(double seconds);

/// A file descriptor with an owner.
class Descriptor {
  public:
    Descriptor() = default;
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    ~Descriptor() { close(); }

    void close();
    int get() const { return number_; }
    explicit operator bool() const { return number_ >= 0; }

  private:
    int number_ = -1;
};

/// A pipe, closed on exec. @throws std::system_error
struct Pipe {
    Pipe();
    Descriptor read;
    Descriptor write;
};

/// What a program wrote: the first and the last bytes, however much it was.
class Capture {
  public:
    static constexpr std::size_t kept = 8192;  ///< bytes at each end

    void add(const char* bytes, std::size_t count);
    std::size_t total() const { return total_; }
    /// Head, a line that says how much is missing, tail.
    std::string text() const;

  private:
    std::string head_;
    std::string tail_;
    std::size_t total_ = 0;
};

struct Command {
    std::vector<std::string> arguments;     ///< the first is an absolute path
    std::vector<std::string> environment;   ///< "NAME=value"; nothing is inherited
    std::filesystem::path directory = "/";  ///< to start in
    int program = -1;                       ///< a descriptor of the executable, instead of arguments[0]
    int output = -1;                        ///< a descriptor for what it prints, instead of Process::output()
    int errors = -1;                        ///< the same for its messages, instead of Process::errors()
    std::vector<std::pair<int, int>> descriptors;  ///< ours, and the number (3 or more) it gets there
    Confinement confinement;
    /// Of a tool: what it may read beside the system's files, and the folder that it may change.
    std::vector<std::string> readable;
    std::string writable;
    std::string hidden;  ///< a folder of which it sees what is `readable` alone
    /// Of the judge's own, to try what holds: what runs instead of a program, in a fork of this process, and
    /// returns the exit status. It may allocate, which fork() sees to, and take no lock that another thread
    /// may hold.
    std::function<int()> inside;
    std::optional<Isolation> isolation;  ///< not set: what the host has
    double end_seconds = 20;             ///< that its end may take once it has been killed
};

/// How a program ended.
struct End {
    enum class Kind { running, exited, signalled, not_started, lost };
    Kind kind = Kind::running;
    int code = 0;  ///< exit status, signal, or errno of what kept it from starting or being watched
    const char* step = nullptr;  ///< of its start, that failed; null: to run the program itself
    double cpu_seconds = 0;
    std::size_t peak_bytes = 0;
};

/// What kept a program from starting: "mounting /proc: Operation not permitted".
std::string why_not_started(const End& end);

/// What a program has done. Unlike the time that passes it does not grow with what else this machine does.
struct Activity {
    double busy_seconds = 0;  ///< the processor time of its busiest thread
    bool has_more = false;    ///< whether a thread runs, or would if there were a processor for it
};

/// So many times longer than it works a program may take, beside others that work.
constexpr double beside_others = 20;

class Process {
  public:
    /// Starts `command`. @throws std::system_error when this machine has no process or pipe left.
    explicit Process(const Command& command);
    ~Process() { kill(); }
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    enum class Event { readable, ended, deadline, stopped };

    /// Collects output until `descriptor` (or -1) is readable, the program has ended, `deadline` has passed
    /// or `stop` is set. For the first `awake` it does not sleep: to be woken takes longer, and varies more,
    /// than a fast kernel.
    Event wait(int descriptor, Clock::time_point deadline, const std::atomic<bool>* stop = nullptr,
               std::chrono::microseconds awake = {});

    /// What the program has done so far; nothing where that cannot be told.
    Activity activity();

    /// Ends the program and everything it started. On return all of it is gone, unless left_behind().
    void kill();

    /// Whether processes were still there when the time for ending them was over.
    bool left_behind() const { return left_behind_; }

    const End& end() const { return end_; }
    const Capture& output() const { return output_; }
    const Capture& errors() const { return errors_; }

  private:
    bool drain(Descriptor& from, Capture& into);
    void collect_end();

    pid_t warden_ = -1;
    pid_t program_ = -1;  ///< once the warden has told
    double end_seconds_;
    bool left_behind_ = false;
    Descriptor control_;  ///< closing it is the order to end
    Descriptor status_;   ///< the warden writes how the program ended
    Descriptor stdout_;
    Descriptor stderr_;
    Capture output_;
    Capture errors_;
    End end_;
};

/// All of an open file, from its start; nothing where it cannot be read to its end, and then errno says why.
std::optional<std::string> read_all(int descriptor);

/// Writes all of it to an open file. @returns false where that fails, and then errno says why
bool write_all(int descriptor, const void* bytes, std::size_t size);

/// The program of that name in the first folder of PATH that has one; empty: none has.
std::filesystem::path find_on_path(const std::string& name);

/// Names this run of the kernel.
std::string boot_id();

/// Names that in which processes have their numbers here.
std::string process_namespace();

/// Runs a command to its end. @returns false when `seconds` passed or `stop` was set; it is killed then.
bool run_to_end(Process& process, double seconds, const std::atomic<bool>* stop = nullptr);

}  // namespace rungs::judge
