#include "check/trace.h"

#include <algorithm>
#include <bit>

namespace simt::check {

SIMT_THREAD_LOCAL BlockTrace* tracing = nullptr;

namespace {
constexpr std::uint32_t max_steps = 4u << 20;  // 128 MiB a warp
}

void leave_path(BlockTrace& trace, unsigned flat, std::uint64_t key) {
    // A lane whose steps nobody can keep walks on the spot.
    static Step nowhere[2];
    Step*& cursor = trace.cursors[flat];
    WarpTrace& warp = trace.warps[flat / warp_lanes];
    if (cursor == nowhere + 1 || warp.size + 4 > max_steps) {
        warp.full = true;
        nowhere[0] = {key, 0, 0, 0, 0, 0};
        cursor = nowhere;
        return;
    }
    auto& steps = warp.steps;
    auto i = static_cast<std::uint32_t>(cursor - steps.data());
    while (steps[i].key != key) {
        if (steps[i].other != 0) {
            i = steps[i].other;
            continue;
        }
        if (i != warp.size) {
            // A branch of its own, after what stands here already and its end.
            warp.branched = true;
            steps[i].other = ++warp.size;
            i = warp.size;
        }
        ++warp.size;
        if (steps.size() < warp.size + 2) {
            const Step* const before = steps.data();
            steps.resize(2 * steps.size());
            const unsigned first = flat / warp_lanes * warp_lanes;
            for (unsigned lane = first; lane < first + warp_lanes; ++lane)
                if (trace.cursors[lane] != nowhere + 1)
                    trace.cursors[lane] = steps.data() + (trace.cursors[lane] - before);
        }
        steps[i] = {key, 0, 0, 0, 0, 0};
        steps[i + 1] = {};
    }
    cursor = steps.data() + i;
}

void trace_other_step(BlockTrace& trace, unsigned flat, std::uint64_t key) {
    leave_path(trace, flat, key);
    trace.cursors[flat]->lanes |= 1u << flat % warp_lanes;
    ++trace.cursors[flat];
}

void trace_other_access(BlockTrace& trace, unsigned flat, std::uint64_t key, std::uint64_t address,
                        std::uint32_t width) {
    const unsigned lane = flat % warp_lanes;
    Step*& cursor = trace.cursors[flat];
    if (cursor->key != key) {
        leave_path(trace, flat, key);
        if (cursor->lanes == 0) {
            // The best guess: neighbours access neighbours.
            cursor->stride = static_cast<std::int32_t>(width);
            cursor->base = address - std::uint64_t{lane} * width;
            cursor->information = width;
        }
    }
    Step& step = *cursor;
    if (step.base + static_cast<std::uint64_t>(std::int64_t{step.stride} * lane) != address)
        trace.warps[flat / warp_lanes].bend(step, lane, address);
    step.lanes |= 1u << lane;
    ++cursor;
}

void BlockTrace::restart(unsigned w) {
    warps[w].clear();
    std::fill_n(cursors + w * warp_lanes, warp_lanes, warps[w].steps.data());
}

void WarpTrace::bend(Step& step, unsigned lane, std::uint64_t address) {
    if (step.stride != Step::scattered) {
        if (std::has_single_bit(step.lanes)) {
            // Two points make a line.
            const int other = std::countr_zero(step.lanes);
            const std::uint64_t there =
                step.base + static_cast<std::uint64_t>(std::int64_t{step.stride} * other);
            const auto distance = static_cast<std::int64_t>(address - there);
            const auto lanes = static_cast<std::int64_t>(lane) - other;
            const std::int64_t stride = distance / lanes;
            if (stride * lanes == distance && stride > INT32_MIN && stride <= INT32_MAX) {
                step.stride = static_cast<std::int32_t>(stride);
                step.base = address - static_cast<std::uint64_t>(stride * lane);
                return;
            }
        }
        Addresses& list = scattered.emplace_back();
        for (unsigned i = 0; i < warp_lanes; ++i)
            list[i] = step.base + static_cast<std::uint64_t>(std::int64_t{step.stride} * i);
        step.stride = Step::scattered;
        step.base = (scattered.size() - 1) | Step::scattered_mark;
    }
    scattered[step.base & ~Step::scattered_mark][lane] = address;
}

void WarpTrace::clear() {
    if (steps.size() > 65536) steps = std::vector<Step>(16);
    steps[0] = {};
    size = 0;
    branched = false;
    full = false;
    scattered.clear();
}

}  // namespace simt::check
