#include "trace.h"

#include <bit>

namespace simt::check {

SIMT_THREAD_LOCAL BlockTrace* tracing = nullptr;

namespace {
constexpr std::uint32_t max_steps = 4u << 20;  // 128 MiB a warp
}

Step& WarpTrace::find(std::uint32_t& cursor, std::uint64_t key) {
    std::uint32_t i = cursor;
    while (steps[i].key != key) {
        if (steps[i].other == 0) {
            if (size + 4 > max_steps) {
                // Let the lane walk on the spot.
                static Step nowhere;
                full = true;
                cursor = size - 1;
                return nowhere = Step{key, 0, 0, 0, 0, 0};
            }
            if (i != size) {
                // A branch of its own, after what stands here already and its end.
                branched = true;
                steps[i].other = ++size;
                i = size;
            }
            ++size;
            if (steps.size() < size + 2) steps.resize(2 * steps.size());
            steps[i] = {key, 0, 0, 0, 0, 0};
            steps[i + 1] = {};
            break;
        }
        i = steps[i].other;
    }
    cursor = i;
    return steps[i];
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
