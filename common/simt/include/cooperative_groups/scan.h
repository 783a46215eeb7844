/// @file
/// cooperative_groups::inclusive_scan() and exclusive_scan().
#pragma once

#include "cooperative_groups/reduce.h"

namespace cooperative_groups {

/// `operation` over the values of the threads up to this one, by rank.
template <class Group, class T, class F>
SIMT_DEVICE std::decay_t<T> inclusive_scan(const Group& group, T&& value, F&& operation) {
    using V = std::decay_t<T>;
    V total = value;
    const auto size = static_cast<unsigned>(group.size()), rank = static_cast<unsigned>(group.thread_rank());
    for (unsigned distance = 1; distance < size; distance *= 2) {
        const V other = group.shfl_up(total, distance);
        if (rank >= distance) total = operation(other, total);
    }
    return total;
}
/// As above in a tile of more than a warp: each warp by itself, then the sums of these.
template <unsigned Size, class Parent, class T, class F>
SIMT_DEVICE std::enable_if_t<(Size > 32), std::decay_t<T>> inclusive_scan(
    const thread_block_tile<Size, Parent>& tile, T&& value, F&& operation) {
    using V = std::decay_t<T>;
    const auto warp = tiled_partition<32>(tile);
    const auto warps = tiled_partition<Size / 32>(warp);
    const V total = inclusive_scan(warp, value, operation);
    const V sums = inclusive_scan(warps, tile.take(total, 32 * warps.thread_rank() + 31), operation);
    const unsigned mine = tile.thread_rank() / 32;
    const V before = warps.shfl(sums, static_cast<int>(mine == 0 ? 0 : mine - 1));
    return mine == 0 ? total : operation(before, total);
}
template <class Group, class T>
SIMT_DEVICE std::decay_t<T> inclusive_scan(const Group& group, T&& value) {
    return inclusive_scan(group, value, plus<std::decay_t<T>>());
}

/// `operation` over the values of the threads before this one; a value-initialised T in the first.
template <class Group, class T, class F>
SIMT_DEVICE std::decay_t<T> exclusive_scan(const Group& group, T&& value, F&& operation) {
    using V = std::decay_t<T>;
    const V before = group.shfl_up(inclusive_scan(group, value, operation), 1);
    return group.thread_rank() == 0 ? V() : before;
}
template <unsigned Size, class Parent, class T, class F>
SIMT_DEVICE std::enable_if_t<(Size > 32), std::decay_t<T>> exclusive_scan(
    const thread_block_tile<Size, Parent>& tile, T&& value, F&& operation) {
    using V = std::decay_t<T>;
    const unsigned rank = tile.thread_rank();
    const V before = tile.take(inclusive_scan(tile, value, operation), rank == 0 ? 0 : rank - 1);
    return rank == 0 ? V() : before;
}
template <class Group, class T>
SIMT_DEVICE std::decay_t<T> exclusive_scan(const Group& group, T&& value) {
    return exclusive_scan(group, value, plus<std::decay_t<T>>());
}

}  // namespace cooperative_groups
