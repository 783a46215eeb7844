#include "worker/trace.hpp"

#ifdef SIMT_CHECK

#include <algorithm>

namespace rungs::protocol {
namespace {

constexpr std::size_t most_steps = 200;

std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        if (static_cast<unsigned char>(c) >= 0x20) out += c;
    }
    return out + '"';
}

}  // namespace

TraceRecorder::TraceRecorder(std::uint64_t block, unsigned warp) : block_(block), warp_(warp) {
    simt::check::add_observer(*this);
}

void TraceRecorder::stop() {
    if (watching_) simt::check::remove_observer(*this);
    watching_ = false;
}

void TraceRecorder::launch_begins(const char* kernel, dim3, dim3) {
    if (over_) return;
    over_ = running_ = true;
    kernel_ = kernel;
}

void TraceRecorder::access(const simt::check::Event& event) {
    if (!running_ || event.block != block_) return;
    const unsigned lane_of_block = event.warp * 32 + event.lane;
    const unsigned occurrence = occurrences_[{lane_of_block, event.pc}]++;
    // A request is what the lanes of a warp do at one place for the same time between two barriers.
    auto& requests = requests_[event.warp];
    if (requests.size() <= phase_) requests.resize(phase_ + 1);
    const auto [seen, fresh_request] =
        known_.try_emplace({event.pc, occurrence, phase_ * 64 + event.warp}, steps_.size());
    if (fresh_request) ++requests[phase_];
    if (event.warp != warp_) return;
    if (fresh_request) {
        if (steps_.size() == most_steps) {
            cut_ = true;
            known_.erase(seen);
            return;
        }
        Step step;
        step.first = event;
        step.array = event.array;
        step.phase = phase_;
        // It comes after what this lane has done before.
        const std::size_t place = std::min(last_[event.lane], order_.size());
        for (std::size_t& after : last_) after += after > place ? 1 : 0;
        order_.insert(order_.begin() + static_cast<std::ptrdiff_t>(place), steps_.size());
        steps_.push_back(std::move(step));
    }
    const auto place = std::find(order_.begin(), order_.end(), seen->second);
    last_[event.lane] = static_cast<std::size_t>(place - order_.begin()) + 1;
    Step& step = steps_[seen->second];
    step.lanes |= 1u << event.lane;
    step.offsets[event.lane] = static_cast<std::int64_t>(event.address - event.origin);
}

void TraceRecorder::block_synchronised(std::uint64_t block) {
    if (!running_ || block != block_) return;
    ++phase_;
    occurrences_.clear();
    last_.fill(order_.size());
}

std::string TraceRecorder::json() const {
    static constexpr const char* spaces[] = {"global", "shared", "constant", "texture"};
    static constexpr const char* accesses[] = {"read", "write", "atomic"};
    std::string text = "{\"kernel\": " + quoted(kernel_) + ", \"block\": " + std::to_string(block_) +
                       ", \"warp\": " + std::to_string(warp_) + ", \"cut\": " + (cut_ ? "true" : "false") +
                       ", \"steps\": [";
    bool first = true;
    for (const std::size_t index : order_) {
        const Step& step = steps_[index];
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
    for (const auto& [warp, phases] : requests_) {
        text += std::string(first ? "" : ", ") + "[";
        for (unsigned phase = 0; phase <= phase_; ++phase) {
            text += (phase ? ", " : "") + std::to_string(phase < phases.size() ? phases[phase] : 0);
        }
        text += "]";
        first = false;
    }
    return text + "]}";
}

}  // namespace rungs::protocol

#endif
