#pragma once
// The judge's side of one worker: the process, the memory it shares and the protocol (protocol.hpp).

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "judge/confine/process.hpp"
#include "judge/result/result.hpp"
#include "protocol/protocol.hpp"
#include "rungs/exam.hpp"
#include "rungs/manifest.hpp"

namespace rungs::judge {

/// Memory of the system's that two processes can map. @throws std::system_error
class SharedMemory {
  public:
    explicit SharedMemory(std::size_t bytes);
    ~SharedMemory();
    SharedMemory(const SharedMemory&) = delete;
    SharedMemory& operator=(const SharedMemory&) = delete;

    /// From here on nobody can resize it; with `read_only`, nobody but this process can write to it.
    void seal(bool read_only);
    std::byte* data() const { return data_; }
    std::size_t size() const { return size_; }
    int descriptor() const { return descriptor_.get(); }

  private:
    Descriptor descriptor_;
    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
};

/// `value`, or the next larger multiple.
std::size_t round_up(std::size_t value, std::size_t multiple);

struct WorkerOptions {
    Backend backend = Backend::cpu;
    double cpu_seconds = 600;  ///< second net; the wall clock is the first
    std::size_t in_bytes = 0;  ///< least size of the two memories
    std::size_t out_bytes = 0;
    std::size_t report_bytes = 0;  ///< room for what check mode has to say, in each
    int multiprocessors = 16;      ///< of the CPU backend's device
    unsigned processors = 0;       ///< which it may keep busy; 0: all of this machine
    /// Of the order of blocks and warps. None: one from which nobody can tell that of the inputs.
    std::optional<std::uint64_t> order_seed;
    const std::atomic<bool>* stop = nullptr;
};

class WorkerProcess {
  public:
    /// Starts `executable`. @throws std::system_error, InfraError
    WorkerProcess(const std::filesystem::path& executable, const WorkerOptions& options);

    /// Waits for READY. @returns what went wrong instead. @throws Stopped, InfraError
    std::optional<Cause> start(double seconds);

    bool holds(std::size_t in_bytes, std::size_t out_bytes) const {
        return in_bytes + report_bytes_ <= in_.size() && out_bytes + report_bytes_ <= out_.size();
    }
    protocol::Request& request() { return *reinterpret_cast<protocol::Request*>(in_.data()); }
    std::byte* in() { return in_.data(); }
    std::byte* out() { return out_.data(); }

    /// Commands `steps` for the request that was written, and waits for the answer. On the CPU backend
    /// `seconds` are processor time of the worker's busiest thread: a verdict must not depend on what else
    /// runs here.
    /// @returns what went wrong instead. @throws Stopped, InfraError
    std::optional<Cause> command(std::uint32_t steps, double seconds);

    /// Processor time of its busiest thread; 0 once it has ended.
    double busy_seconds() { return process_->activity().busy_seconds; }

    /// A copy of what the worker says about its last command.
    protocol::Reply reply() const;

    /// What the worker says has failed in its last command; nothing when it claims to be done.
    std::optional<Cause> complaint() const;

    /// What check mode found in the last run, as JSON. For a worker that was built for it.
    /// @returns what went wrong instead. @throws Stopped, InfraError
    std::optional<Cause> report(double seconds, std::string& json);

    /// Whether the last report() had to look up lines.
    bool looked_up() const { return looked_up_; }

    /// Why the last report() lacks columns; empty: it has those that the program has.
    const std::string& unread() const { return unread_; }

    /// @throws InfraError when something of it could not be ended
    void kill();

    /// What it printed: trimmed and safe to show.
    std::string printed() const;

  private:
    /// What the worker has noted of a call that came to no good end.
    protocol::Claim claimed() const;
    Process::Event wait_for_answer(double seconds);
    Cause ended(bool before_ready);
    Cause timed_out(double seconds);
    /// What the CPU backend says in Reply::report, in one line: "deadlock: kernel k: ...".
    std::string backend_report() const;
    /// What addr2line says of addresses in the worker's code, in hexadecimal. @throws Rejected, InfraError
    std::string places_of(const std::vector<std::string>& addresses) const;
    /// Puts columns behind the places that addr2line has told. @throws Stopped
    std::string with_columns(const std::string& places);
    /// Puts files and lines for addresses in the worker's code: it may start no program that would know them.
    std::string with_lines(std::string report) const;

    std::filesystem::path executable_;
    Backend backend_;
    std::size_t report_bytes_;
    bool looked_up_ = false;
    std::string unread_;
    SharedMemory in_;
    SharedMemory out_;
    Pipe go_;
    Pipe done_;
    std::optional<Process> process_;
    const std::atomic<bool>* stop_;
    std::chrono::microseconds awake_{};  ///< how long command() waits without sleeping
    std::size_t memory_limit_ = 0;
    std::uint64_t sequence_ = 0;
};

}  // namespace rungs::judge
