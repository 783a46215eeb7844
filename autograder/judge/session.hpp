#pragma once
// Calls of a rung on a worker: where the arrays of a call lie in the memory that judge and worker share, what
// is there before it, and what it has left.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "judge/confine/worker_process.hpp"
#include "rungs/exam.hpp"

namespace rungs::judge {

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

/// Words from the system for every call: nothing that a worker sees tells what the next call brings.
struct CallSecrets {
    std::uint32_t poison;  ///< in outputs
    std::uint32_t guard;   ///< around and in inputs; differs from `poison`, to tell what a NaN came from
    std::uint32_t shift;
};

/// Writes numbers, counts and regions of `calls` calls of `problem`. @throws std::length_error for too many
void write_request(protocol::Request& request, const std::string& problem, const Task& task,
                   const Layout& layout, std::size_t calls);

/// Writes one call to `in`: its request, and what all arrays hold before it. Check mode and the tools that
/// attach to a rung take the elements of inputs alone. `in`: Layout::in_bytes bytes.
CallSecrets write_call(std::byte* in, const std::string& problem, const Task& task, const Layout& layout);

constexpr double worker_start_seconds = 20;  ///< that a worker may take to load, and to create a CUDA context

/// Calls on workers of one executable, one after the other.
class Session {
  public:
    /// The sizes of a worker's memories are the session's to choose, whatever `how` says.
    Session(std::filesystem::path executable, const WorkerOptions& how, double start_seconds)
        : executable_(std::move(executable)), how_(how), start_seconds_(start_seconds) {}

    /// Whether there is a worker that has room for such a call.
    bool has_room(const Layout& layout) const {
        return worker_ && worker_->holds(layout.in_bytes, layout.out_bytes);
    }

    /// Starts a worker with room for such a call, unless there is one. @returns what went wrong.
    /// @throws Stopped, InfraError
    std::optional<Cause> provide(const Layout& layout);

    /// Provides a worker and writes one call for it, with fresh content and poisoned outputs. More may be put
    /// into request(). @returns what went wrong. @throws Stopped, InfraError
    std::optional<Cause> prepare(const std::string& problem, const Task& task, const Layout& layout);

    /// The secrets of the call that was prepared last.
    const CallSecrets& secrets() const { return secrets_; }

    protocol::Request& request() { return worker_->request(); }
    WorkerProcess& worker() { return *worker_; }

    /// Commands `steps` and takes a worker's complaint for what went wrong, too. @throws Stopped, InfraError
    std::optional<Cause> run(std::uint32_t steps, double seconds);

    /// What the inputs and outputs held before the call that was prepared last.
    const std::byte* before(const protocol::Region& region) { return worker_->in() + region.in_offset; }

    /// What it printed: trimmed and safe to show.
    std::string printed() const { return worker_ ? worker_->printed() : ""; }

    /// Ends the worker. @throws InfraError when something of it could not be ended
    void end();

    /// Ends the worker and forgets it: the next call gets another one.
    void drop() { worker_.reset(); }

  private:
    std::filesystem::path executable_;
    WorkerOptions how_;
    double start_seconds_;
    std::unique_ptr<WorkerProcess> worker_;
    CallSecrets secrets_{};
};

/// The elements of the outputs, of what a worker hands back. `contents` begins at protocol::reply_bytes.
std::vector<Array> outputs_in(const Task& task, const Layout& layout, const std::byte* contents);

/// What a call has left in the memory of rungs::stream_scratch, as the end of a sentence; empty: nothing, or
/// the call was on a GPU, where nobody looks.
std::string left_in_scratch(const protocol::Reply& reply);

/// The verdict on a call that is right otherwise. `which`: its case in words.
Cause dirty_scratch(const std::string& left, const std::string& which);

}  // namespace rungs::judge
