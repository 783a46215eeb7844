/// @file
/// Barriers in two halves as functions on a word of shared memory.
#pragma once

#include <cstdint>

#include "cuda_runtime.h"
#include "simt/phase.h"

typedef simt::PhaseWord __mbarrier_t;
typedef simt::PhaseWord __mbarrier_token_t;

/// The most arrivals that a phase may expect, as the toolkit has it for every device.
constexpr std::uint32_t __mbarrier_maximum_count() { return (1 << 14) - 1; }

SIMT_DEVICE void __mbarrier_init(__mbarrier_t* barrier, std::uint32_t expected) {
    *barrier = simt::first_phase(expected);
}
/// The memory may serve another purpose.
SIMT_DEVICE void __mbarrier_inval(__mbarrier_t* barrier) { *barrier = 0; }

namespace simt {
SIMT_DEVICE PhaseWord mbarrier_arrive(PhaseWord* barrier, std::uint32_t dropped) {
    const PhaseWord before = arrive_at_phase(barrier, 1, dropped);
    if (phase_pending(before) == 1) end_phase(barrier);
    return before;
}
}  // namespace simt
SIMT_DEVICE __mbarrier_token_t __mbarrier_arrive(__mbarrier_t* barrier) {
    return simt::mbarrier_arrive(barrier, 0);
}
SIMT_DEVICE __mbarrier_token_t __mbarrier_arrive_and_drop(__mbarrier_t* barrier) {
    return simt::mbarrier_arrive(barrier, 1);
}
/// Arrivals that the phase lacked before the one that gave the token.
SIMT_DEVICE std::uint32_t __mbarrier_token_pending_count(__mbarrier_token_t token) {
    return simt::phase_pending(token);
}

/// Whether the phase has ended. If it has not, other threads run before the answer.
SIMT_DEVICE bool __mbarrier_test_wait(__mbarrier_t* barrier, __mbarrier_token_t token) {
    return simt::poll_phase(barrier, simt::phase_number(token), simt::whole_phase);
}
SIMT_DEVICE bool __mbarrier_test_wait_parity(__mbarrier_t* barrier, bool parity) {
    return simt::poll_phase(barrier, parity, simt::phase_parity);
}
SIMT_DEVICE bool __mbarrier_try_wait(__mbarrier_t* barrier, __mbarrier_token_t token, std::uint32_t) {
    return __mbarrier_test_wait(barrier, token);
}
SIMT_DEVICE bool __mbarrier_try_wait_parity(__mbarrier_t* barrier, bool parity, std::uint32_t) {
    return __mbarrier_test_wait_parity(barrier, parity);
}
