#include "machine.hpp"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <stdexcept>

#include "judge/build/build.hpp"
#include "judge/build/source.hpp"
#include "judge/clock/device.hpp"
#include "judge/confine/worker_process.hpp"
#include "judge/trial.hpp"

namespace rungs::made {

namespace {

std::atomic<long long> nanoseconds{1};
std::atomic<std::size_t> taken_bytes{0}, shared_memories{0};
std::mutex mutex;  // of what follows
std::map<std::string, int> alive;

void count(const std::string& executable, int by) {
    const std::lock_guard lock(mutex);
    alive[executable] += by;
}

}  // namespace

Machine& machine() {
    static Machine machine;
    return machine;
}

void pass(double seconds) { nanoseconds += static_cast<long long>(1e9 * seconds); }

void new_machine() {
    const std::lock_guard lock(mutex);
    machine() = {};
    alive.clear();
}

bool is_alive(const std::string& executable) {
    const std::lock_guard lock(mutex);
    return alive[executable] > 0;
}

std::size_t device_bytes() { return taken_bytes; }
std::size_t memories() { return shared_memories; }

}  // namespace rungs::made

namespace rungs::judge {

namespace fs = std::filesystem;
using made::machine;
using made::pass;

constexpr double copy_seconds = 2e-6;  ///< of whatever the device is asked to do

Clock::time_point Clock::now() noexcept { return time_point(duration(made::nanoseconds)); }
Clock::time_point in_seconds(double seconds) {
    return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

std::uint64_t random_seed() {
    static std::atomic<std::uint64_t> seed{1};
    return seed++;
}

fs::path source_of(const Manifest&, const RungEntry& rung, const fs::path&, Whose, const fs::path&) {
    return rung.name;
}

Build build_worker(const Trial& trial, Backend, Mode) {
    Build build;
    build.executable = trial.source;
    return build;
}

// ---------------------------------------------------------------------------------------------------------------
// The GPU

std::string Device::missing() { return ""; }

Device::Device(std::size_t bytes) : bytes_(bytes) {
    if (made::taken_bytes + bytes > machine().most_bytes) throw std::bad_alloc();
    made::taken_bytes += bytes;
    memory_ = std::calloc(bytes, 1);
}
Device::~Device() {
    made::taken_bytes -= bytes_;
    std::free(memory_);
}
bool Device::share(unsigned char (&handle)[64]) const {
    std::memcpy(handle, &memory_, sizeof memory_);
    return true;
}
void Device::upload(const std::vector<Piece<const std::byte>>& pieces) {
    for (const auto& piece : pieces)
        std::memcpy(static_cast<std::byte*>(memory_) + piece.offset, piece.host, piece.bytes);
}
void Device::download(const std::vector<Piece<std::byte>>& pieces) const {
    for (const auto& piece : pieces)
        std::memcpy(piece.host, static_cast<const std::byte*>(memory_) + piece.offset, piece.bytes);
}
void Device::fill(std::size_t offset, std::uint32_t word, std::size_t bytes) {
    if (bytes > (1U << 20)) return;  // what only empties the cache
    for (std::size_t at = 0; at < bytes; at += sizeof word)
        std::memcpy(static_cast<std::byte*>(memory_) + offset + at, &word, sizeof word);
}
double Device::free_part() {
    return 1 - static_cast<double>(made::taken_bytes) / static_cast<double>(machine().most_bytes);
}
std::string Device::bus_id() { return "none"; }
void Device::reset_persisting_cache() {}
void Device::take(std::size_t to, const Device& from, std::size_t offset, std::size_t bytes) {
    std::memcpy(static_cast<std::byte*>(memory_) + to, static_cast<const std::byte*>(from.memory_) + offset,
                bytes);
    pass(copy_seconds);
}
void Device::wait() {}
double Device::copy_bandwidth() { return 1e12; }
double Device::fma_roof() { return 1e13; }

// ---------------------------------------------------------------------------------------------------------------
// A worker

std::size_t round_up(std::size_t value, std::size_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

SharedMemory::SharedMemory(std::size_t bytes)
    : data_(static_cast<std::byte*>(std::calloc(bytes, 1))), size_(bytes) {
    ++made::shared_memories;
}
SharedMemory::~SharedMemory() {
    --made::shared_memories;
    std::free(data_);
}

void Descriptor::close() {}
Pipe::Pipe() = default;
void Process::kill() {}

WorkerProcess::WorkerProcess(const fs::path& executable, const WorkerOptions& options)
    : executable_(executable),
      backend_(options.backend),
      report_bytes_(0),
      in_(protocol::request_bytes),
      out_(protocol::reply_bytes),
      stop_(options.stop) {
    made::count(executable_, 1);
}

std::optional<Cause> WorkerProcess::start(double) { return machine().runners.at(executable_).does_not_start; }

void WorkerProcess::kill() {
    if (sequence_ == ~std::uint64_t{0}) return;
    sequence_ = ~std::uint64_t{0};
    made::count(executable_, -1);
}

std::optional<Cause> WorkerProcess::command(std::uint32_t steps, double) {
    pass(copy_seconds);
    if (steps != protocol::run) return std::nullopt;
    const made::Runner& runner = machine().runners.at(executable_);
    const int run = static_cast<int>(sequence_++);
    if (runner.fails) {
        if (auto cause = runner.fails(run)) return cause;
    }
    machine().while_timed();
    const protocol::Request& asked = request();
    std::byte* arena = nullptr;
    std::memcpy(&arena, asked.arena_handle, sizeof arena);
    for (std::uint32_t call = 0; call < asked.calls; ++call) {
        const protocol::Region &in = asked.region[2 * call], &out = asked.region[2 * call + 1];
        long long value = 0;
        std::memcpy(&value, arena + in.arena_offset + in.lead, sizeof value);
        value *= 2;
        if (runner.is_wrong && runner.is_wrong(run)) ++value;
        std::memcpy(arena + out.arena_offset + out.lead, &value, sizeof value);
        pass(runner.seconds(run));
    }
    return std::nullopt;
}

std::optional<Cause> WorkerProcess::complaint() const { return std::nullopt; }

}  // namespace rungs::judge
