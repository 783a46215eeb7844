#include "worker/trace.hpp"

#ifdef SIMT_CHECK

#include <algorithm>

namespace rungs::protocol {
namespace {

constexpr std::size_t most_steps = 200, most_kernels = 8;
constexpr auto no_step = static_cast<std::size_t>(-1);  ///< of a request beyond most_steps

std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        if (static_cast<unsigned char>(c) >= 0x20) out += c;
    }
    return out + '"';
}

}  // namespace

TraceRecorder::TraceRecorder(std::uint64_t block, unsigned warp) : warp_(warp) {
    block_of_accesses = block;
    simt::check::add_observer(*this);
}

void TraceRecorder::stop() {
    if (watching_) simt::check::remove_observer(*this);
    watching_ = false;
}

void TraceRecorder::launch_begins(const char* kernel, dim3, dim3) {
    const auto same = [&](const Recording& one) { return one.kernel == kernel; };
    if (all_.size() == most_kernels || std::any_of(all_.begin(), all_.end(), same)) return;
    now_ = &all_.emplace_back();
    now_->kernel = kernel;
}

void TraceRecorder::access(const simt::check::Event& event) {
    if (!now_) return;
    Recording& now = *now_;
    const unsigned lane_of_block = event.warp * 32 + event.lane;
    const unsigned occurrence = now.occurrences[{lane_of_block, event.pc}]++;
    // A request is what the lanes of a warp do at one place for the same time between two barriers.
    auto& requests = now.requests[event.warp];
    if (requests.size() <= now.phase) requests.resize(now.phase + 1);
    const auto [seen, fresh_request] =
        now.known.try_emplace({event.pc, occurrence, now.phase * 64 + event.warp}, now.steps.size());
    if (fresh_request) ++requests[now.phase];
    if (event.warp != warp_) return;
    if (fresh_request) {
        if (now.steps.size() == most_steps) {
            now.cut = true;
            seen->second = no_step;  // counted once, whichever lanes come to it
            return;
        }
        Step step;
        step.first = event;
        step.array = event.array;
        step.phase = now.phase;
        // It comes after what this lane has done before.
        const std::size_t place = std::min(now.last[event.lane], now.order.size());
        for (std::size_t& after : now.last) after += after > place ? 1 : 0;
        now.order.insert(now.order.begin() + static_cast<std::ptrdiff_t>(place), now.steps.size());
        now.steps.push_back(std::move(step));
    }
    if (seen->second == no_step) return;
    const auto place = std::find(now.order.begin(), now.order.end(), seen->second);
    now.last[event.lane] = static_cast<std::size_t>(place - now.order.begin()) + 1;
    Step& step = now.steps[seen->second];
    step.lanes |= 1u << event.lane;
    step.offsets[event.lane] = static_cast<std::int64_t>(event.address - event.origin);
}

void TraceRecorder::block_synchronised(std::uint64_t block) {
    if (!now_ || block != block_of_accesses) return;
    ++now_->phase;
    now_->occurrences.clear();
    now_->last.fill(now_->order.size());
}

std::string TraceRecorder::json() const {
    std::string text = "[";
    for (const Recording& one : all_) text += (text.size() > 1 ? ",\n" : "") + json(one);
    return text + "]";
}

std::string TraceRecorder::json(const Recording& of) const {
    static constexpr const char* spaces[] = {"global", "shared", "constant", "texture"};
    static constexpr const char* accesses[] = {"read", "write", "atomic"};
    std::string text = "{\"kernel\": " + quoted(of.kernel) +
                       ", \"block\": " + std::to_string(*block_of_accesses) +
                       ", \"warp\": " + std::to_string(warp_) + ", \"cut\": " + (of.cut ? "true" : "false") +
                       ", \"steps\": [";
    bool first = true;
    for (const std::size_t index : of.order) {
        const Step& step = of.steps[index];
        const simt::check::Place place = simt::check::locate(step.first.pc);
        text += std::string(first ? "" : ",") + "\n {\"file\": " + quoted(place.file) +
                ", \"line\": " + std::to_string(place.line) + ", \"array\": " + quoted(step.array) +
                ", \"space\": \"" + spaces[static_cast<int>(step.first.space)] + "\", \"access\": \"" +
                accesses[static_cast<int>(step.first.access)] +
                "\", \"width\": " + std::to_string(step.first.size) +
                ", \"phase\": " + std::to_string(step.phase) +
                ", \"base\": " + std::to_string(step.first.origin % 128) +
                ", \"lanes\": " + std::to_string(step.lanes) + ", \"offsets\": [";
        for (std::size_t lane = 0; lane < 32; ++lane) {
            text += (lane ? ", " : "") + std::to_string(step.offsets[lane]);
        }
        text += "]}";
        first = false;
    }
    text += "], \"requests\": [";
    first = true;
    for (const auto& [warp, phases] : of.requests) {
        text += std::string(first ? "" : ", ") + "[";
        for (unsigned phase = 0; phase <= of.phase; ++phase) {
            text += (phase ? ", " : "") + std::to_string(phase < phases.size() ? phases[phase] : 0);
        }
        text += "]";
        first = false;
    }
    return text + "]}";
}

}  // namespace rungs::protocol

#endif
