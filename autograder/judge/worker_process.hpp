#pragma once
// The judge's side of one worker: the process, the memory it shares and the protocol (protocol.hpp).

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "judge/process.hpp"
#include "judge/result.hpp"
#include "protocol/protocol.hpp"
#include "rungs/exam.hpp"
#include "rungs/manifest.hpp"

namespace rungs::judge {

/// Why a worker gave no output: a verdict, and one line.
struct Failure {
    Verdict verdict;
    std::string reason;
    bool limited = false;  ///< by time or memory, of which a neighbour may have taken some
};

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

/// A task as it lies in memory: where each array goes, inputs first.
struct Layout {
    std::vector<protocol::Region> regions;
    std::size_t in_bytes = protocol::request_bytes;
    std::size_t out_bytes = protocol::reply_bytes;
};

/// Guards, misalignments and offsets for the arrays of `task`. Region::shift stays 0.
Layout lay_out(const Task& task);

/// Fills `region` with `poison` (a NaN as float and as double) and puts the elements of `array` in.
void fill_region(std::byte* region, const protocol::Region& where, const Array& array, std::uint32_t poison);

/// Numbers and counts of `task` for `calls` calls of `problem`. @throws std::length_error for too many
void fill_request(protocol::Request& request, const std::string& problem, const Task& task,
                  std::uint32_t calls);

/// The elements of the outputs, of what a worker hands back. `contents` begins at protocol::reply_bytes.
std::vector<Array> outputs_in(const Task& task, const Layout& layout, const std::byte* contents);

/// Words from the system for every call: nothing that a worker sees tells what the next call brings.
struct CallSecrets {
    std::uint32_t poison;  ///< in outputs
    std::uint32_t guard;   ///< around and in inputs; differs from `poison`, to tell what a NaN came from
    std::uint32_t shift;
};

/// @throws std::system_error
CallSecrets draw_secrets();

struct WorkerOptions {
    Backend backend = Backend::cpu;
    double cpu_seconds = 600;  ///< second net; the wall clock is the first
    std::size_t in_bytes = 0;  ///< least size of the two memories
    std::size_t out_bytes = 0;
    std::size_t report_bytes = 0;  ///< room for what check mode has to say, in each
    int multiprocessors = 16;      ///< of the CPU backend's device
    const std::atomic<bool>* stop = nullptr;
};

class Worker {
  public:
    /// Starts `executable`. @throws std::system_error, InfraError
    Worker(const std::filesystem::path& executable, const WorkerOptions& options);

    /// Waits for READY. @returns what went wrong instead. @throws Stopped, InfraError
    std::optional<Failure> start(double seconds);

    bool holds(const Layout& layout) const {
        return layout.in_bytes + report_bytes_ <= in_.size() &&
               layout.out_bytes + report_bytes_ <= out_.size();
    }
    protocol::Request& request() { return *reinterpret_cast<protocol::Request*>(in_.data()); }
    std::byte* in() { return in_.data(); }
    std::byte* out() { return out_.data(); }

    /// Orders `steps` for the request that was written, and waits for the answer.
    /// @returns what went wrong instead. @throws Stopped, InfraError
    std::optional<Failure> order(std::uint32_t steps, double seconds);

    /// A copy of what the worker says about its last order.
    protocol::Reply reply() const;

    /// What the worker reports as failed in `reply`; nothing when it claims to be done.
    std::optional<Failure> complaint(const protocol::Reply& reply) const;

    /// What check mode found in the last run, as JSON. For a worker that was built for it.
    /// @returns what went wrong instead. @throws Stopped, InfraError
    std::optional<Failure> report(double seconds, std::string& json);

    /// Whether the last report() had to look up lines.
    bool looked_up() const { return looked_up_; }

    /// @throws InfraError when something of it could not be ended
    void kill();

    /// What it printed: trimmed and safe to show.
    std::string printed() const;

  private:
    Failure ended(bool before_ready);
    Failure timed_out(double seconds);
    /// What the CPU backend says in Reply::report, in one line: "deadlock: kernel k: ...".
    std::string backend_report() const;
    /// What addr2line says of addresses in the worker's code, in hexadecimal. @throws Rejected, InfraError
    std::string places_of(const std::vector<std::string>& addresses) const;
    /// Puts files and lines for addresses in the worker's code: it may start no program that would know them.
    std::string with_lines(std::string report) const;

    std::filesystem::path executable_;
    std::size_t report_bytes_;
    bool looked_up_ = false;
    SharedMemory in_;
    SharedMemory out_;
    Pipe go_;
    Pipe done_;
    std::optional<Process> process_;
    const std::atomic<bool>* stop_;
    std::chrono::microseconds awake_{};  ///< how long order() waits without sleeping
    std::size_t memory_limit_ = 0;
    std::uint64_t sequence_ = 0;
};

}  // namespace rungs::judge
