#include "judge/clock/race.hpp"

#include <unistd.h>

#include <cstring>
#include <numeric>

#include "judge/build/build.hpp"
#include "judge/result/defences.hpp"

namespace rungs::judge {
namespace {

namespace fs = std::filesystem;
using protocol::Region;

constexpr double timed_start_seconds = 60;
constexpr int null_calls = 50;
constexpr std::uint32_t nan_words = 0xFFC00000U;
constexpr std::size_t flush_bytes = 256U << 20;  ///< more than any GPU's cache

/// For inputs made ahead and answers kept for a look: a quarter of the host's free memory.
std::size_t most_kept_bytes() {
    const auto free =
        static_cast<double>(sysconf(_SC_AVPHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
    return static_cast<std::size_t>(std::clamp(free / 4, 0x1p30, 0x1p35));
}

}  // namespace

Contestant start_runner(const fs::path& executable, const std::string& name, const JudgeOptions& options) {
    WorkerOptions how;
    how.backend = Backend::cuda;
    how.cpu_seconds = options.budget + timed_start_seconds;
    how.stop = options.stop;
    auto session = std::make_unique<Session>(executable, how, timed_start_seconds);
    std::optional<Cause> failure = session->provide({});
    return {name, nullptr, std::move(session), {}, {}, std::move(failure)};
}

Race::Race(const TimedCase& timed, const Exam& exam)
    : timed_(timed),
      calls_(std::min<std::size_t>(static_cast<std::size_t>(timed.calls), protocol::max_calls)),
      random_(std::random_device{}()) {
    const Case first{timed.problem, timed.sizes, timed.kind, random_seed()};
    const auto task = std::make_shared<const Task>(exam.make(first));
    heats_.assign(calls_, {first, task, {}});  // of the null call, in which nobody looks at them
    layout_ = lay_out(*task);
    const std::size_t arrays = layout_.regions.size();
    if (calls_ * arrays > protocol::max_regions) {
        throw InfraError("the manifest's [[timed]] asks for more calls than the protocol can carry");
    }
    // Every call has memory of its own: together more than any cache, unless the manifest says too few.
    slot_bytes_ = layout_.in_bytes - protocol::request_bytes;
    pristine_ = std::make_unique<Device>(calls_ * slot_bytes_);
    flush_ = std::make_unique<Device>(flush_bytes);
    taken_bytes_ = layout_.out_bytes - layout_.regions[inputs()].out_offset;
    taken_ = std::make_unique<Device>(calls_ * taken_bytes_);
    pristine_->fill(0, nan_words, calls_ * slot_bytes_);
    // Inputs ahead, and as much again for answers that wait to be looked at.
    officials_.emplace(exam, timed, calls_, most_kept_bytes() / (2 * calls_ * slot_bytes_));
    place();
}

/// Calls `visit(call, i, region)` for output i of every call.
template <class Visit>
void Race::for_each_output(Visit visit) const {
    for (std::size_t call = 0; call < calls_; ++call) {
        for (std::size_t i = inputs(); i < layout_.regions.size(); ++i) {
            visit(call, i - inputs(), layout_.regions[i]);
        }
    }
}

double Race::null_seconds(Contestant& contestant) {
    const auto demand = [](const std::optional<Cause>& cause) {
        if (cause) throw InfraError("null call: " + cause->text);
    };
    std::vector<double> samples;
    for (int i = 0; i < null_calls; ++i) {
        clear(*contestant.arena);
        demand(prepare(contestant, 10));
        const auto start = Clock::now();
        hand_over(*contestant.arena);
        demand(contestant.session->worker().command(protocol::touch, 10));
        collect(*contestant.arena);
        samples.push_back(std::chrono::duration<double>(Clock::now() - start).count());
        demand(contestant.session->worker().complaint());
    }
    return *std::min_element(samples.begin(), samples.end());
}

std::optional<Cause> Race::run(Contestant& contestant, double limit, double null, double& seconds) {
    clear(*contestant.arena);
    if (!is_on(Defence::late_inputs)) {
        hand_over(*contestant.arena);
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
    }
    if (auto cause = prepare(contestant, limit)) return cause;
    WorkerProcess& worker = contestant.session->worker();
    const auto start = Clock::now();
    hand_over(*contestant.arena);
    const double run_limit = limit * static_cast<double>(calls_);
    if (auto cause = worker.command(protocol::run, run_limit)) return cause;
    collect(*contestant.arena);
    const std::chrono::duration<double> took = Clock::now() - start;
    if (auto cause = worker.complaint()) return cause;
    // A time below the null call's cost is noise: never a reward.
    seconds = std::max(took.count() - null, 0.05 * took.count()) / static_cast<double>(calls_);
    return std::nullopt;
}

void Race::keep(std::size_t contestant, bool all) {
    const std::size_t first = all ? 0 : random_() % calls_;
    const auto from = heats_.begin() + static_cast<std::ptrdiff_t>(first);
    Heats heats(from, all ? heats_.end() : from + 1);
    in_parallel(heats.size(), [&](std::size_t i) {
        heats[i].outputs = heats[i].task->outputs;
        for (Array& output : heats[i].outputs) output.bytes.resize(output.count * size_of(output.element));
    });
    std::vector<Device::Piece<std::byte>> pieces;
    for_each_output([&](std::size_t call, std::size_t i, const Region& region) {
        if (call < first || call >= first + heats.size()) return;
        std::vector<std::byte>& bytes = heats[call - first].outputs[i].bytes;
        pieces.push_back({taken_offset(call, region) + region.lead, bytes.data(), bytes.size()});
    });
    taken_->download(pieces);
    officials_->keep(contestant, std::move(heats));
}

/// Gives each call a place of its own, and brings its inputs there.
void Race::place() {
    places_.resize(calls_);
    std::iota(places_.begin(), places_.end(), std::size_t{0});
    std::shuffle(places_.begin(), places_.end(), random_);
    upload();
}

std::size_t Race::offset(std::size_t call, const Region& region) const {
    return places_[call] * slot_bytes_ + (region.in_offset - protocol::request_bytes);
}

/// In the judge's copy: the outputs of all calls, one call after the other.
std::size_t Race::taken_offset(std::size_t call, const Region& region) const {
    return call * taken_bytes_ + (region.out_offset - layout_.regions[inputs()].out_offset);
}

/// Puts the inputs into memory that no worker can reach. What lies between them stays NaN.
void Race::upload() {
    std::vector<Device::Piece<const std::byte>> pieces;
    for (std::size_t call = 0; call < calls_; ++call) {
        for (std::size_t i = 0; i < inputs(); ++i) {
            const std::vector<std::byte>& bytes = heats_[call].task->inputs[i].bytes;
            const Region& region = layout_.regions[i];
            pieces.push_back({offset(call, region) + region.lead, bytes.data(), bytes.size()});
        }
    }
    pristine_->upload(pieces);
}

/// Tells the worker where everything will be; its context becomes the GPU's current one.
std::optional<Cause> Race::prepare(Contestant& contestant, double limit) {
    protocol::Request& request = contestant.session->request();
    write_request(request, timed_.problem, *heats_[0].task, layout_, calls_);
    request.use_arena = 1;
    request.arena_bytes = calls_ * slot_bytes_;
    std::memcpy(request.arena_handle, contestant.arena->handle, sizeof contestant.arena->handle);
    const std::size_t arrays = layout_.regions.size();
    for (std::size_t i = 0; i < calls_ * arrays; ++i)
        request.region[i].arena_offset = offset(i / arrays, request.region[i]);
    return contestant.session->run(protocol::prepare, limit);
}

/// Before every run: clears what an earlier one left, in memory and in the cache, and poisons outputs.
void Race::clear(Arena& arena) {
    const auto word = nan_words | static_cast<std::uint32_t>(random_() & 0x003FFFFFU);
    arena.memory.fill(0, word, calls_ * slot_bytes_);
    Device::reset_persisting_cache();
    flush_->fill(0, 0, flush_bytes);
}

/// The inputs come to where the contestant can see them.
void Race::hand_over(Arena& arena) {
    if (inputs() == 0) return;
    const Region& last = layout_.regions[inputs() - 1];
    const std::size_t bytes = last.in_offset + last.bytes - layout_.regions[0].in_offset;
    for (std::size_t call = 0; call < calls_; ++call) {
        const std::size_t at = offset(call, layout_.regions[0]);
        arena.memory.take(at, *pristine_, at, bytes);
    }
    arena.memory.wait();
}

/// The judge's own copy of every output, where no worker can reach it. It is made on the device: the way
/// through the host's memory takes longer than a fast kernel, and varies by more.
void Race::collect(const Arena& arena) {
    for_each_output([&](std::size_t call, std::size_t, const Region& region) {
        taken_->take(taken_offset(call, region), arena.memory, offset(call, region), region.bytes);
    });
    taken_->wait();
}

}  // namespace rungs::judge
