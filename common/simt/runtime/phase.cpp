// Barriers in two halves; see simt/phase.h.
#include "simt/phase.h"

#include "runtime/observe.h"
#include "runtime/report.h"
#include "runtime/worker.h"

namespace simt {
namespace {

void require_lane_at_phase() {
    if (!execution.in_lane) report_outside_lane("a barrier's arrival or wait");
}

PhaseWord load_phase(const PhaseWord* word, const void* site) {
    const PhaseWord value = __atomic_load_n(word, __ATOMIC_SEQ_CST);
    if (value >> 60 != phase_tag >> 60) fail_lane("a barrier is used that nobody has initialised", site);
    return value;
}

bool phase_is_over(const PhaseWord* word, std::uint32_t number, std::uint32_t mask, const void* site) {
    return ((phase_number(load_phase(word, site)) ^ number) & mask) != 0;
}

}  // namespace

PhaseWord arrive_at_phase(PhaseWord* word, std::uint32_t arrivals, std::uint32_t dropped) {
    require_lane_at_phase();
    observe::phase_reached(word, SIMT_SITE);
    PhaseWord before = load_phase(word, SIMT_SITE);
    PhaseWord after;
    do {
        if (arrivals > phase_pending(before))
            fail_lane("more arrivals at a barrier than its phase expects", SIMT_SITE);
        after = make_phase(phase_number(before), phase_expected(before) - dropped,
                           phase_pending(before) - arrivals);
    } while (!__atomic_compare_exchange_n(word, &before, after, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
    ++execution.block->events;
    return before;
}

void complete_phase(PhaseWord* word) { observe::phase_completes(word); }

void end_phase(PhaseWord* word) {
    observe::phase_ends(word);
    const PhaseWord old = __atomic_load_n(word, __ATOMIC_RELAXED);
    const std::uint32_t expected = phase_expected(old);
    __atomic_store_n(word, make_phase(phase_number(old) + 1, expected, expected), __ATOMIC_SEQ_CST);
    // Lanes of other blocks find out when their block polls for them.
    Block& block = *execution.block;
    block.leave_phases([&](const Lane& lane) { return lane.awaited == word; }, *block.ready);
    ++block.events;
}

void await_phase(const PhaseWord* word, std::uint32_t number, std::uint32_t mask) {
    require_lane_at_phase();
    const void* site = SIMT_SITE;
    if (!phase_is_over(word, number, mask, site)) {
        Lane& me = current_lane();
        Block& block = *execution.block;
        me.site = site;
        me.awaited = word;
        do {
            block.at_phases.push(me);
            carry_out(go_on(block, me));
        } while (!phase_is_over(word, number, mask, site));
        me.awaited = nullptr;
    }
    observe::phase_awaited(word, site);
}

bool poll_phase(const PhaseWord* word, std::uint32_t number, std::uint32_t mask) {
    require_lane_at_phase();
    const void* site = SIMT_SITE;
    if (!phase_is_over(word, number, mask, site)) {
        carry_out(arrive_at_yield(site));
        if (!phase_is_over(word, number, mask, site)) return false;
    }
    observe::phase_awaited(word, site);
    return true;
}

}  // namespace simt
