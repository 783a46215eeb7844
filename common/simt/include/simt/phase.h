/// @file
/// A barrier in two halves, at which threads arrive and for which they wait apart: what cuda::barrier,
/// cuda::pipeline and __mbarrier_t are made of.
///
/// It is one word, in shared or global memory. From the top: 4 bits that tell it from memory that was never
/// initialised, then 20 bits each for the number of the phase (modulo 2^20), the arrivals that a phase
/// expects, and those that this one still lacks.
#pragma once

#include <cstdint>

#include "simt/lane.h"

namespace simt {

using PhaseWord = std::uint64_t;

constexpr unsigned phase_field_bits = 20;
constexpr std::uint32_t phase_field = (1u << phase_field_bits) - 1;
constexpr PhaseWord phase_tag = PhaseWord{0xa} << 60;
/// What a wait compares: the number of the phase, or only whether it is odd.
constexpr std::uint32_t whole_phase = phase_field, phase_parity = 1;

constexpr PhaseWord make_phase(std::uint32_t number, std::uint32_t expected, std::uint32_t pending) {
    return phase_tag | PhaseWord{number & phase_field} << 2 * phase_field_bits |
           PhaseWord{expected} << phase_field_bits | pending;
}
/// The first phase of a barrier for `expected` arrivals.
constexpr PhaseWord first_phase(std::uint32_t expected) { return make_phase(0, expected, expected); }
constexpr std::uint32_t phase_number(PhaseWord word) {
    return static_cast<std::uint32_t>(word >> 2 * phase_field_bits) & phase_field;
}
constexpr std::uint32_t phase_expected(PhaseWord word) {
    return static_cast<std::uint32_t>(word >> phase_field_bits) & phase_field;
}
constexpr std::uint32_t phase_pending(PhaseWord word) {
    return static_cast<std::uint32_t>(word) & phase_field;
}

/// Counts `arrivals` arrivals, of which later phases expect `dropped` fewer; returns the word before. Whoever
/// brings the last one that is pending has to call end_phase().
SIMT_SITED PhaseWord arrive_at_phase(PhaseWord* word, std::uint32_t arrivals, std::uint32_t dropped);
/// All have arrived: what the caller does until end_phase() comes after what they did before.
void complete_phase(PhaseWord* word);
/// Begins the next phase, and lets those who wait for this one go on.
void end_phase(PhaseWord* word);
SIMT_SITED void await_phase(const PhaseWord* word, std::uint32_t number, std::uint32_t mask);
/// Waits until the phase is another than `number`, as far as `mask` tells.
SIMT_DEVICE void wait_for_phase(const PhaseWord* word, std::uint32_t number, std::uint32_t mask) {
    await_phase(word, number, mask);
    __asm__ __volatile__("");  // no tail call, which would leave no call site for reports
}
/// Whether it is; if not, other lanes run first.
SIMT_SITED bool poll_phase(const PhaseWord* word, std::uint32_t number, std::uint32_t mask);

}  // namespace simt
