#include "judge/session.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include <fmt/format.h>

#include "judge/options.hpp"
#include "judge/result/defences.hpp"

namespace rungs::judge {

using protocol::Region;

namespace {

/// As large as the arrays of any chapter's case on a GPU.
constexpr std::size_t gpu_case_bytes = 384U << 20;

CallSecrets draw_secrets() {
    const std::uint64_t words = random_seed(), more = random_seed();
    // A quiet NaN as a float, and twice over as a double.
    constexpr std::uint32_t nan = 0xFFC00000U, payload = 0x003FFFFFU;
    CallSecrets secrets{};
    secrets.poison = nan | (static_cast<std::uint32_t>(words) & payload);
    secrets.guard = nan | (static_cast<std::uint32_t>(words >> 32) & payload);
    secrets.shift = static_cast<std::uint32_t>(more);
    if (secrets.guard == secrets.poison) secrets.guard ^= 1U;
    if (!is_on(Defence::poison)) secrets.poison = 0;
    return secrets;
}

}  // namespace

Layout lay_out(const Task& task) {
    Layout layout;
    const auto place = [&](const Array& array) {
        const std::size_t element = size_of(array.element);
        Region region;
        region.skip = array.misalignment * element;
        region.lead = protocol::guard_bytes + region.skip;
        region.elements = array.count * element;
        region.bytes = round_up(region.lead + region.elements + protocol::guard_bytes, protocol::alignment);
        array.name.copy(region.name, sizeof region.name - 1);
        region.in_offset = layout.in_bytes;
        region.out_offset = layout.out_bytes;
        layout.in_bytes += region.bytes;
        layout.out_bytes += region.bytes;
        layout.regions.push_back(region);
    };
    for (const Array& array : task.inputs) place(array);
    for (const Array& array : task.outputs) place(array);
    return layout;
}

void fill_region(std::byte* region, const Region& where, const Array& array, std::uint32_t poison) {
    auto* words = reinterpret_cast<std::uint32_t*>(region);
    std::fill(words, words + where.bytes / sizeof poison, poison);
    if (!array.bytes.empty()) std::memcpy(region + where.lead, array.bytes.data(), array.bytes.size());
}

void write_request(protocol::Request& request, const std::string& problem, const Task& task,
                   const Layout& layout, std::size_t calls) {
    const std::size_t regions = calls * layout.regions.size();
    if (problem.size() >= sizeof request.problem || task.numbers.size() > protocol::max_numbers ||
        regions > protocol::max_regions || calls > protocol::max_calls) {
        throw std::length_error("the exam's task is too large for the protocol");
    }
    request = protocol::Request{};
    std::memcpy(request.problem, problem.c_str(), problem.size() + 1);
    request.calls = static_cast<std::uint32_t>(calls);
    request.inputs = static_cast<std::uint32_t>(task.inputs.size());
    request.outputs = static_cast<std::uint32_t>(task.outputs.size());
    request.numbers = static_cast<std::uint32_t>(task.numbers.size());
    for (std::size_t i = 0; i < task.numbers.size(); ++i) {
        const Number& number = task.numbers[i];
        request.number[i] = {number.is_integer ? 1U : 0U, 0, number.integer, number.real};
    }
    for (std::size_t i = 0; i < regions; ++i) request.region[i] = layout.regions[i % layout.regions.size()];
}

CallSecrets write_call(std::byte* in, const std::string& problem, const Task& task, const Layout& layout) {
    const CallSecrets secrets = draw_secrets();
    protocol::Request& request = *reinterpret_cast<protocol::Request*>(in);
    write_request(request, problem, task, layout, 1);
    for (std::size_t i = 0; i < layout.regions.size(); ++i) {
        Region& region = request.region[i];
        region.shift = (secrets.shift >> (4 * (i % 8)) & 15U) * protocol::alignment;
        const bool input = i < task.inputs.size();
        const Array& array = input ? task.inputs[i] : task.outputs[i - task.inputs.size()];
        fill_region(in + region.in_offset, region, array, input ? secrets.guard : secrets.poison);
    }
    return secrets;
}

std::vector<Array> outputs_in(const Task& task, const Layout& layout, const std::byte* contents) {
    std::vector<Array> outputs;
    for (std::size_t i = 0; i < task.outputs.size(); ++i) {
        const Region& region = layout.regions[task.inputs.size() + i];
        Array output = task.outputs[i];
        const std::byte* first = contents + (region.out_offset - protocol::reply_bytes) + region.lead;
        output.bytes.assign(first, first + output.count * size_of(output.element));
        outputs.push_back(std::move(output));
    }
    return outputs;
}

std::string left_in_scratch(const protocol::Reply& reply) {
    if (reply.scratch_left == 0) return "";
    return "left scratch memory that is not all 0, " +
           (reply.scratch_left == 1
                ? fmt::format("at byte {}", reply.scratch_first)
                : fmt::format("in {} bytes from byte {} on", reply.scratch_left, reply.scratch_first));
}

Cause dirty_scratch(const std::string& left, const std::string& which) {
    return {.kind = Verdict::wrong,
            .text = "right, but the call " + left +
                    ": what rungs::stream_scratch gives has to be all 0 again when the kernel ends, for "
                    "whatever the stream runs next",
            .which = which};
}

std::optional<Cause> Session::provide(const Layout& layout) {
    if (has_room(layout)) return std::nullopt;
    end();
    // Pages that nobody touches cost nothing; a process that creates its CUDA context anew costs 0.1 s, and
    // ten times that while other rungs' do the same.
    const std::size_t least = how_.backend == Backend::cuda ? gpu_case_bytes : 0;
    how_.in_bytes = std::max(2 * layout.in_bytes, least);
    how_.out_bytes = std::max(2 * layout.out_bytes, least);
    worker_ = std::make_unique<WorkerProcess>(executable_, how_);
    return worker_->start(start_seconds_);
}

std::optional<Cause> Session::prepare(const std::string& problem, const Task& task, const Layout& layout) {
    if (std::optional<Cause> cause = provide(layout)) return cause;
    secrets_ = write_call(worker_->in(), problem, task, layout);
    // What the worker does not hand back must not look like an answer.
    for (const Region& region : layout.regions)
        fill_region(worker_->out() + region.out_offset, region, {}, secrets_.poison);
    return std::nullopt;
}

std::optional<Cause> Session::run(std::uint32_t steps, double seconds) {
    if (std::optional<Cause> cause = worker_->command(steps, seconds)) return cause;
    return worker_->complaint();
}

void Session::end() {
    if (worker_) worker_->kill();
}

}  // namespace rungs::judge
