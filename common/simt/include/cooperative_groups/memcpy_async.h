/// @file
/// cooperative_groups::memcpy_async() and its waits: the copy is made at once, by the threads of the group.
#pragma once

#include "cooperative_groups.h"

namespace cooperative_groups {

/// Copies `bytes` bytes with all threads of the group. The copy may be used after wait().
template <class Group, class To, class From>
SIMT_DEVICE void memcpy_async(const Group& group, To* to, const From* from, std::size_t bytes) {
    auto* target = reinterpret_cast<unsigned char*>(to);
    const auto* source = reinterpret_cast<const unsigned char*>(from);
    const auto rank = static_cast<std::size_t>(group.thread_rank()),
               size = static_cast<std::size_t>(group.size());
    // Contiguous shares, so that a thread's copy is one memcpy.
    const std::size_t share = (bytes + size - 1) / size, begin = rank * share;
    if (begin < bytes)
        std::memcpy(target + begin, source + begin, bytes - begin < share ? bytes - begin : share);
}
/// Copies the smaller of two numbers of elements.
template <class Group, class T>
SIMT_DEVICE void memcpy_async(const Group& group, T* to, std::size_t room, const T* from, std::size_t count) {
    memcpy_async(group, to, from, (count < room ? count : room) * sizeof(T));
}

/// Waits until all copies of the group have been made.
template <class Group>
SIMT_DEVICE void wait(const Group& group) {
    group.sync();
}
/// Waits until all but the last `Stages` copies have been made; all of them, here.
template <unsigned Stages, class Group>
SIMT_DEVICE void wait_prior(const Group& group) {
    group.sync();
}

}  // namespace cooperative_groups
