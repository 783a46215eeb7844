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
template <class Group, class T>
SIMT_DEVICE std::decay_t<T> exclusive_scan(const Group& group, T&& value) {
    return exclusive_scan(group, value, plus<std::decay_t<T>>());
}

}  // namespace cooperative_groups
