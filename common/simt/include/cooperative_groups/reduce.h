/// @file
/// cooperative_groups::reduce() and the operators that reductions and scans take.
#pragma once

#include "cooperative_groups.h"

namespace cooperative_groups {

template <class T>
struct plus {
    T operator()(const T& a, const T& b) const { return a + b; }
};
template <class T>
struct less {
    T operator()(const T& a, const T& b) const { return b < a ? b : a; }
};
template <class T>
struct greater {
    T operator()(const T& a, const T& b) const { return a < b ? b : a; }
};
template <class T>
struct bit_and {
    T operator()(const T& a, const T& b) const { return a & b; }
};
template <class T>
struct bit_or {
    T operator()(const T& a, const T& b) const { return a | b; }
};
template <class T>
struct bit_xor {
    T operator()(const T& a, const T& b) const { return a ^ b; }
};

/// `operation` over the values of all threads of the group, in every thread. Halves the distance at each
/// step, as devices do: floating-point sums come out as there.
template <class Group, class T, class F>
SIMT_DEVICE std::decay_t<T> reduce(const Group& group, T&& value, F&& operation) {
    using V = std::decay_t<T>;
    V total = value;
    const auto size = static_cast<unsigned>(group.size());
    if ((size & (size - 1)) == 0) {
        const auto rank = static_cast<unsigned>(group.thread_rank());
        for (unsigned distance = size / 2; distance != 0; distance /= 2) {
            const V other = group.shfl(total, static_cast<int>(rank ^ distance));
            // One order of operands for both partners, so that all threads get the same bits.
            total = rank & distance ? operation(other, total) : operation(total, other);
        }
        return total;
    }
    total = group.shfl(value, 0);
    for (unsigned i = 1; i < size; ++i) total = operation(total, group.shfl(value, static_cast<int>(i)));
    return total;
}

/// As above in a tile of more than a warp: each warp by itself, then what these have.
template <unsigned Size, class Parent, class T, class F>
SIMT_DEVICE std::enable_if_t<(Size > 32), std::decay_t<T>> reduce(const thread_block_tile<Size, Parent>& tile,
                                                                  T&& value, F&& operation) {
    const auto warp = tiled_partition<32>(tile);
    const auto warps = tiled_partition<Size / 32>(warp);
    return reduce(warps, tile.take(reduce(warp, value, operation), 32 * warps.thread_rank()), operation);
}

/// Adds the group's sum to `*destination` with one atomic; no result.
template <class Group, class T>
SIMT_DEVICE void reduce_update_async(const Group& group, T* destination, T value) {
    const T total = reduce(group, value, plus<T>());
    if (group.thread_rank() == 0) atomicAdd(destination, total);
}

}  // namespace cooperative_groups
