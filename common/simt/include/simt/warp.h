/// @file
/// Operations of a warp: shuffles, votes, matches, reductions.
///
/// An operation waits for every lane that its mask names and that has not exited; lanes that arrive with the
/// same operation and the same mask meet, wherever their calls are. What CUDA leaves undefined is defined
/// here: a mask that does not name its caller ends the launch with a report; a shuffle that reads a lane
/// which takes no part (it has exited, or the mask does not name it) gives 0xFF bytes (NaN,
/// -1), with one warning.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "simt/switch.h"

namespace simt {

enum class WarpOperation : std::uint8_t {
    sync,
    shuffle,
    all,
    any,
    ballot,
    unanimous,
    match_any,
    match_all,
    add,
    min_signed,
    min_unsigned,
    max_signed,
    max_unsigned,
    bit_and,
    bit_or,
    bit_xor,
    fragment,  ///< a load or store of nvcuda::wmma; gives nothing
    product,   ///< one of its products; gives nothing
};

/// Half of a warp operation: the scheduler notes what this lane brings. `source` is the lane a shuffle reads.
Transfer arrive_at_warp(WarpOperation operation, unsigned mask, std::uint64_t value,
                        unsigned source) SIMT_WAITS;
/// What the operation gives this lane.
std::uint64_t warp_result();
Transfer arrive_at_active_mask() SIMT_WAITS;

/// Waits for the lanes of `mask`; then gives each what `operation` makes of their `value`s.
SIMT_DEVICE std::uint64_t warp_collective(WarpOperation operation, unsigned mask, std::uint64_t value,
                                          unsigned source = 0) {
    carry_out(arrive_at_warp(operation, mask, value, source));
    return warp_result();
}

/// The lane's number in its warp.
SIMT_DEVICE unsigned lane_id() {
    const unsigned flat = blockDim.y == 1 && blockDim.z == 1
                              ? threadIdx.x
                              : threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    return flat % 32;
}

/// Types besides the arithmetic ones that may be shuffled: at most 8 bytes, copied as bytes. Specialised for
/// the half-precision types where these are defined.
template <class T>
struct Shuffles : std::is_arithmetic<T> {};

template <class T>
SIMT_DEVICE std::uint64_t to_word(const T& value) {
    static_assert(sizeof(T) <= 8 && std::is_trivially_copyable<T>::value, "at most 8 bytes, copied as bytes");
    std::uint64_t word = 0;
    __builtin_memcpy(&word, &value, sizeof(T));
    return word;
}
template <class T>
SIMT_DEVICE T from_word(std::uint64_t word) {
    T value;
    __builtin_memcpy(static_cast<void*>(&value), &word, sizeof(T));
    return value;
}

/// Width of a shuffle's sections: a power of two up to 32.
SIMT_DEVICE unsigned section_start(unsigned lane, int width) {
    return lane & ~(static_cast<unsigned>(width) - 1);
}

template <class T>
SIMT_DEVICE T shuffle_from(unsigned mask, T value, unsigned source) {
    return from_word<T>(warp_collective(WarpOperation::shuffle, mask, to_word(value), source));
}

template <class T>
using IfShuffles = std::enable_if_t<Shuffles<T>::value, T>;

}  // namespace simt

/// Waits for the lanes of `mask`.
SIMT_DEVICE void __syncwarp(unsigned mask = 0xffffffffu) {
    simt::carry_out(simt::arrive_at_warp(simt::WarpOperation::sync, mask, 0, 0));
}

/// `value` of lane `source` of the caller's section of `width` lanes (modulo `width`).
template <class T>
SIMT_DEVICE simt::IfShuffles<T> __shfl_sync(unsigned mask, T value, int source, int width = warpSize) {
    const unsigned lane = simt::lane_id();
    return simt::shuffle_from(mask, value,
                              simt::section_start(lane, width) +
                                  (static_cast<unsigned>(source) & (static_cast<unsigned>(width) - 1)));
}

/// `value` of the lane `delta` below; lanes without one keep theirs.
template <class T>
SIMT_DEVICE simt::IfShuffles<T> __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = warpSize) {
    const unsigned lane = simt::lane_id();
    const bool inside = lane - simt::section_start(lane, width) >= delta;
    return simt::shuffle_from(mask, value, inside ? lane - delta : lane);
}

/// `value` of the lane `delta` above; lanes without one keep theirs.
template <class T>
SIMT_DEVICE simt::IfShuffles<T> __shfl_down_sync(unsigned mask, T value, unsigned delta,
                                                 int width = warpSize) {
    const unsigned lane = simt::lane_id();
    const unsigned rest = static_cast<unsigned>(width) - 1 - (lane - simt::section_start(lane, width));
    return simt::shuffle_from(mask, value, delta <= rest ? lane + delta : lane);
}

/// `value` of the lane whose number is the caller's XOR `lane_mask`; a lane of a later section keeps its own.
template <class T>
SIMT_DEVICE simt::IfShuffles<T> __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = warpSize) {
    const unsigned lane = simt::lane_id();
    const unsigned source = lane ^ static_cast<unsigned>(lane_mask);
    const bool inside = source < simt::section_start(lane, width) + static_cast<unsigned>(width);
    return simt::shuffle_from(mask, value, inside && source < 32 ? source : lane);
}

/// 1 if `predicate` is not zero in every lane of `mask` that has not exited.
SIMT_DEVICE int __all_sync(unsigned mask, int predicate) {
    return static_cast<int>(simt::warp_collective(simt::WarpOperation::all, mask, predicate != 0));
}
/// 1 if `predicate` is not zero in any of them.
SIMT_DEVICE int __any_sync(unsigned mask, int predicate) {
    return static_cast<int>(simt::warp_collective(simt::WarpOperation::any, mask, predicate != 0));
}
/// Bit i: lane i takes part and its `predicate` is not zero.
SIMT_DEVICE unsigned __ballot_sync(unsigned mask, int predicate) {
    return static_cast<unsigned>(simt::warp_collective(simt::WarpOperation::ballot, mask, predicate != 0));
}
/// 1 if all predicates are zero or none is.
SIMT_DEVICE int __uni_sync(unsigned mask, int predicate) {
    return static_cast<int>(simt::warp_collective(simt::WarpOperation::unanimous, mask, predicate != 0));
}

/// The lanes whose `value` has the caller's bits.
template <class T>
SIMT_DEVICE unsigned __match_any_sync(unsigned mask, T value) {
    static_assert(std::is_arithmetic<T>::value, "__match_any_sync takes integers and floating-point numbers");
    return static_cast<unsigned>(
        simt::warp_collective(simt::WarpOperation::match_any, mask, simt::to_word(value)));
}
/// The lanes that take part if all have the same value, else 0; `*predicate` says which.
template <class T>
SIMT_DEVICE unsigned __match_all_sync(unsigned mask, T value, int* predicate) {
    static_assert(std::is_arithmetic<T>::value, "__match_all_sync takes integers and floating-point numbers");
    const unsigned lanes = static_cast<unsigned>(
        simt::warp_collective(simt::WarpOperation::match_all, mask, simt::to_word(value)));
    *predicate = lanes != 0;
    return lanes;
}

namespace simt {
template <class T>
SIMT_DEVICE T reduce_word(WarpOperation operation, unsigned mask, T value) {
    return static_cast<T>(warp_collective(operation, mask, static_cast<std::uint32_t>(value)));
}
}  // namespace simt

SIMT_DEVICE unsigned __reduce_add_sync(unsigned mask, unsigned value) {
    return simt::reduce_word(simt::WarpOperation::add, mask, value);
}
SIMT_DEVICE int __reduce_add_sync(unsigned mask, int value) {
    return simt::reduce_word(simt::WarpOperation::add, mask, value);
}
SIMT_DEVICE unsigned __reduce_min_sync(unsigned mask, unsigned value) {
    return simt::reduce_word(simt::WarpOperation::min_unsigned, mask, value);
}
SIMT_DEVICE int __reduce_min_sync(unsigned mask, int value) {
    return simt::reduce_word(simt::WarpOperation::min_signed, mask, value);
}
SIMT_DEVICE unsigned __reduce_max_sync(unsigned mask, unsigned value) {
    return simt::reduce_word(simt::WarpOperation::max_unsigned, mask, value);
}
SIMT_DEVICE int __reduce_max_sync(unsigned mask, int value) {
    return simt::reduce_word(simt::WarpOperation::max_signed, mask, value);
}
SIMT_DEVICE unsigned __reduce_and_sync(unsigned mask, unsigned value) {
    return simt::reduce_word(simt::WarpOperation::bit_and, mask, value);
}
SIMT_DEVICE unsigned __reduce_or_sync(unsigned mask, unsigned value) {
    return simt::reduce_word(simt::WarpOperation::bit_or, mask, value);
}
SIMT_DEVICE unsigned __reduce_xor_sync(unsigned mask, unsigned value) {
    return simt::reduce_word(simt::WarpOperation::bit_xor, mask, value);
}

/// The lanes of the warp that execute this call together. Here: all that come to this very call before the
/// block can do nothing else, which is the reconvergence that programs hope for; a device promises less.
SIMT_DEVICE unsigned __activemask() {
    simt::carry_out(simt::arrive_at_active_mask());
    return static_cast<unsigned>(simt::warp_result());
}

// What CUDA removed with compute capability 7.0. A program's own function of the name goes first.
#define SIMT_MASKLESS(name)                                                                           \
    template <class T>                                                                                \
    SIMT_DEVICE T name(T value, ...) {                                                                \
        static_assert(sizeof(T) == 0, "CUDA removed " #name "(); write " #name                        \
                                      "_sync(mask, ...), where mask names the lanes that take part"); \
        return value;                                                                                 \
    }
SIMT_MASKLESS(__shfl)
SIMT_MASKLESS(__shfl_up)
SIMT_MASKLESS(__shfl_down)
SIMT_MASKLESS(__shfl_xor)
SIMT_MASKLESS(__any)
SIMT_MASKLESS(__all)
SIMT_MASKLESS(__ballot)
#undef SIMT_MASKLESS
