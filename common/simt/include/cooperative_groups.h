/// @file
/// Cooperative groups: the block, tiles of it, coalesced threads, the grid.
///
/// A group is a set of lanes; its operations are those of simt/device.h, simt/warp.h and simt/tile.h on that
/// set. Clusters are absent (the virtual device has none), and grid_group::sync() needs
/// cudaLaunchCooperativeKernel(), as on a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "simt/device.h"
#include "simt/grid_barrier.h"
#include "simt/tile.h"

namespace cooperative_groups {

namespace details {

SIMT_DEVICE unsigned flat_thread() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
SIMT_DEVICE unsigned block_threads() { return blockDim.x * blockDim.y * blockDim.z; }
/// Lanes that the current warp has: the last one of a block may be partial.
SIMT_DEVICE unsigned warp_size_here() {
    const unsigned first = flat_thread() / 32 * 32, rest = block_threads() - first;
    return rest < 32 ? rest : 32;
}
SIMT_DEVICE unsigned low_bits(unsigned n) { return n >= 32 ? 0xffffffffu : (1u << n) - 1; }

/// Shuffles any trivially copyable type, in words of 8 bytes.
template <class T>
SIMT_DEVICE T shuffle_any(unsigned mask, const T& value, unsigned source) {
    static_assert(simt::is_bytes<T>, "a shuffle copies bytes");
    constexpr std::size_t words = (sizeof(T) + 7) / 8;
    std::uint64_t buffer[words] = {};
    __builtin_memcpy(buffer, &value, sizeof(T));
    for (std::size_t i = 0; i < words; ++i)
        buffer[i] = simt::warp_collective(simt::WarpOperation::shuffle, mask, buffer[i], source);
    T result;
    __builtin_memcpy(static_cast<void*>(&result), buffer, sizeof(T));
    return result;
}

}  // namespace details

/// All threads of the grid.
class grid_group {
  public:
    /// True if the launch was cooperative.
    bool is_valid() const { return simt::grid_is_cooperative(); }
    /// Waits for every thread of the grid.
    SIMT_DEVICE void sync() const { simt::sync_grid(); }
    struct arrival_token {};
    /// The barrier in two halves; the wait is where threads meet here.
    arrival_token barrier_arrive() const { return {}; }
    SIMT_DEVICE void barrier_wait(arrival_token&&) const { simt::sync_grid(); }
    unsigned long long size() const { return num_threads(); }
    unsigned long long num_threads() const { return num_blocks() * details::block_threads(); }
    unsigned long long thread_rank() const {
        return block_rank() * details::block_threads() + details::flat_thread();
    }
    unsigned long long num_blocks() const { return 1ull * gridDim.x * gridDim.y * gridDim.z; }
    unsigned long long block_rank() const {
        return blockIdx.x + 1ull * gridDim.x * (blockIdx.y + 1ull * gridDim.y * blockIdx.z);
    }
    dim3 group_dim() const { return gridDim; }
    dim3 dim_blocks() const { return gridDim; }
    dim3 block_index() const { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
};

/// All threads of the block.
class thread_block {
  public:
    SIMT_DEVICE static void sync() { __syncthreads(); }
    struct arrival_token {};
    arrival_token barrier_arrive() const { return {}; }
    SIMT_DEVICE void barrier_wait(arrival_token&&) const { __syncthreads(); }
    static unsigned size() { return details::block_threads(); }
    static unsigned num_threads() { return details::block_threads(); }
    static unsigned thread_rank() { return details::flat_thread(); }
    static dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
    static dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
    static dim3 group_dim() { return blockDim; }
    static dim3 dim_threads() { return blockDim; }
};

inline grid_group this_grid() { return {}; }
inline thread_block this_thread_block() { return {}; }
/// Room that devices before compute capability 8.0 need for tiles of more than a warp; nothing here.
template <unsigned MaxBlockSize = 1024>
struct block_tile_memory {};
template <unsigned MaxBlockSize>
thread_block this_thread_block(block_tile_memory<MaxBlockSize>&) {
    return {};
}

/// Threads of one warp, by mask: what tiles and coalesced groups share.
class warp_group {
  public:
    SIMT_DEVICE void sync() const { __syncwarp(mask_); }
    unsigned size() const { return size_; }
    unsigned num_threads() const { return size_; }
    /// This thread's place among the threads of the group, by lane.
    unsigned thread_rank() const {
        return static_cast<unsigned>(__builtin_popcount(mask_ & details::low_bits(simt::lane_id())));
    }
    unsigned long long meta_group_rank() const { return meta_rank_; }
    unsigned long long meta_group_size() const { return meta_size_; }

    /// `value` of the thread of rank `source`.
    template <class T>
    SIMT_DEVICE T shfl(const T& value, int source) const {
        return details::shuffle_any(mask_, value, lane_of(static_cast<unsigned>(source)));
    }
    template <class T>
    SIMT_DEVICE T shfl_up(const T& value, unsigned delta) const {
        const unsigned rank = thread_rank();
        return details::shuffle_any(mask_, value, lane_of(rank >= delta ? rank - delta : rank));
    }
    template <class T>
    SIMT_DEVICE T shfl_down(const T& value, unsigned delta) const {
        const unsigned rank = thread_rank();
        return details::shuffle_any(mask_, value, lane_of(rank + delta < size_ ? rank + delta : rank));
    }
    SIMT_DEVICE int any(int predicate) const { return __any_sync(mask_, predicate); }
    SIMT_DEVICE int all(int predicate) const { return __all_sync(mask_, predicate); }
    /// Bit i: the predicate of the thread of rank i.
    SIMT_DEVICE unsigned ballot(int predicate) const { return to_ranks(__ballot_sync(mask_, predicate)); }
    template <class T>
    SIMT_DEVICE unsigned match_any(T value) const {
        return to_ranks(__match_any_sync(mask_, value));
    }
    template <class T>
    SIMT_DEVICE unsigned match_all(T value, int& predicate) const {
        return to_ranks(__match_all_sync(mask_, value, &predicate));
    }

    /// The lanes of the group, as a mask for the intrinsics. (Not part of CUDA's interface.)
    unsigned lanes() const { return mask_; }

  protected:
    warp_group(unsigned mask, unsigned size, unsigned meta_rank, unsigned meta_size)
        : mask_(mask), size_(size), meta_rank_(meta_rank), meta_size_(meta_size) {}

    /// The lane of the thread of rank `rank` modulo the size.
    unsigned lane_of(unsigned rank) const {
        unsigned rest = mask_;
        for (rank %= size_; rank != 0; --rank) rest &= rest - 1;
        return static_cast<unsigned>(__builtin_ctz(rest));
    }
    /// Gathers the bits of `lanes` that belong to the group.
    unsigned to_ranks(unsigned lanes) const {
        unsigned ranks = 0, bit = 1;
        for (unsigned rest = mask_; rest != 0; rest &= rest - 1, bit <<= 1)
            if (lanes & rest & -rest) ranks |= bit;
        return ranks;
    }

    unsigned mask_, size_, meta_rank_, meta_size_;
};

/// The threads of a warp that arrived together.
class coalesced_group : public warp_group {
  public:
    coalesced_group(unsigned mask, unsigned meta_rank = 0, unsigned meta_size = 1)
        : warp_group(mask, static_cast<unsigned>(__builtin_popcount(mask)), meta_rank, meta_size) {}
};

/// The threads that execute this call together; see __activemask().
SIMT_DEVICE coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

namespace details {

/// `Size` neighbouring threads of a warp.
template <unsigned Size>
class warp_tile : public warp_group {
  public:
    warp_tile(unsigned mask, unsigned meta_rank, unsigned meta_size)
        : warp_group(mask, Size, meta_rank, meta_size) {}
    static constexpr unsigned size() { return Size; }
    static constexpr unsigned num_threads() { return Size; }
    unsigned thread_rank() const { return simt::lane_id() % Size; }

    template <class T>
    SIMT_DEVICE T shfl(const T& value, int source) const {
        return details::shuffle_any(mask_, value, first() + static_cast<unsigned>(source) % Size);
    }
    template <class T>
    SIMT_DEVICE T shfl_up(const T& value, unsigned delta) const {
        const unsigned rank = thread_rank();
        return details::shuffle_any(mask_, value, first() + (rank >= delta ? rank - delta : rank));
    }
    template <class T>
    SIMT_DEVICE T shfl_down(const T& value, unsigned delta) const {
        const unsigned rank = thread_rank();
        return details::shuffle_any(mask_, value, first() + (rank + delta < Size ? rank + delta : rank));
    }
    template <class T>
    SIMT_DEVICE T shfl_xor(const T& value, unsigned lane_mask) const {
        const unsigned other = thread_rank() ^ lane_mask;
        return details::shuffle_any(mask_, value, first() + (other < Size ? other : thread_rank()));
    }
    SIMT_DEVICE unsigned ballot(int predicate) const { return __ballot_sync(mask_, predicate) >> first(); }
    template <class T>
    SIMT_DEVICE unsigned match_any(T value) const {
        return __match_any_sync(mask_, value) >> first();
    }
    template <class T>
    SIMT_DEVICE unsigned match_all(T value, int& predicate) const {
        return __match_all_sync(mask_, value, &predicate) >> first();
    }

  private:
    unsigned first() const { return simt::lane_id() & ~(Size - 1); }
};

/// `Size` neighbouring threads of a block, in several warps. Values that they exchange have at most 8 bytes,
/// as on a device.
template <unsigned Size>
class multi_warp_tile {
  public:
    multi_warp_tile(unsigned meta_rank, unsigned meta_size) : meta_rank_(meta_rank), meta_size_(meta_size) {}
    SIMT_DEVICE void sync() const { simt::tile_collective(simt::TileOperation::sync, Size); }
    static constexpr unsigned size() { return Size; }
    static constexpr unsigned num_threads() { return Size; }
    static unsigned thread_rank() { return flat_thread() % Size; }
    unsigned meta_group_rank() const { return meta_rank_; }
    unsigned meta_group_size() const { return meta_size_; }

    /// `value` of the thread of rank `source`, which is the same in all threads.
    template <class T>
    SIMT_DEVICE T shfl(T value, unsigned source) const {
        return simt::from_word<T>(simt::tile_collective(simt::TileOperation::broadcast, Size,
                                                        simt::to_word(value), first() + source % Size));
    }
    SIMT_DEVICE int any(int predicate) const {
        return static_cast<int>(simt::tile_collective(simt::TileOperation::any, Size, predicate != 0));
    }
    SIMT_DEVICE int all(int predicate) const {
        return static_cast<int>(simt::tile_collective(simt::TileOperation::all, Size, predicate != 0));
    }
    /// `value` of the thread of rank `source`, for reductions and scans. (Not part of CUDA's interface.)
    template <class T>
    SIMT_DEVICE T take(const T& value, unsigned source) const {
        return simt::from_word<T>(simt::tile_collective(simt::TileOperation::shuffle, Size,
                                                        simt::to_word(value), first() + source));
    }

  private:
    static unsigned first() { return flat_thread() & ~(Size - 1); }

    unsigned meta_rank_, meta_size_;
};

template <unsigned Size>
using tile_of = std::conditional_t<(Size > 32), multi_warp_tile<Size>, warp_tile<Size>>;

}  // namespace details

/// `Size` neighbouring threads of a block; `Size` is a power of two up to 512.
template <unsigned Size, class Parent = void>
class thread_block_tile : public details::tile_of<Size> {
    static_assert(Size >= 1 && Size <= 512 && (Size & (Size - 1)) == 0,
                  "the number of threads in a tile is a power of two up to 512");

  public:
    using details::tile_of<Size>::tile_of;
    /// A tile may forget what it was made from.
    template <class Other,
              class = std::enable_if_t<std::is_void<Parent>::value && !std::is_void<Other>::value>>
    thread_block_tile(const thread_block_tile<Size, Other>& tile) : details::tile_of<Size>(tile) {}
};

/// Any group, its kind forgotten.
class thread_group {
  public:
    thread_group(const grid_group&) : kind_(Kind::grid) {}
    thread_group(const thread_block&) : kind_(Kind::block) {}
    thread_group(const coalesced_group& group) : kind_(Kind::warp), warp_(group) {}
    template <unsigned Size, class Parent, class = std::enable_if_t<(Size <= 32)>>
    thread_group(const thread_block_tile<Size, Parent>& tile)
        : kind_(Kind::warp),
          warp_(tile.lanes(), static_cast<unsigned>(tile.meta_group_rank()),
                static_cast<unsigned>(tile.meta_group_size())) {}

    SIMT_DEVICE void sync() const {
        if (kind_ == Kind::warp)
            warp_.sync();
        else if (kind_ == Kind::block)
            __syncthreads();
        else
            simt::sync_grid();
    }
    unsigned long long size() const {
        return kind_ == Kind::warp    ? warp_.size()
               : kind_ == Kind::block ? thread_block::size()
                                      : grid_group().size();
    }
    unsigned long long num_threads() const { return size(); }
    unsigned long long thread_rank() const {
        return kind_ == Kind::warp    ? warp_.thread_rank()
               : kind_ == Kind::block ? thread_block::thread_rank()
                                      : grid_group().thread_rank();
    }
    /// The group's lanes when it lies in one warp, else 0.
    unsigned lanes() const { return kind_ == Kind::warp ? warp_.lanes() : 0; }

  private:
    enum class Kind { grid, block, warp } kind_;
    coalesced_group warp_{1};
};

/// Divides a block, or a larger tile, into tiles of `Size` threads. Threads of a partial warp belong to tiles
/// whose missing threads count as exited.
template <unsigned Size, class Parent>
SIMT_DEVICE std::enable_if_t<(Size <= 32), thread_block_tile<Size, Parent>> tiled_partition(
    const Parent& parent) {
    const unsigned lane = simt::lane_id(), first = lane & ~(Size - 1);
    const auto parent_size = static_cast<unsigned>(parent.size());
    const auto rank = static_cast<unsigned>(parent.thread_rank());
    return {details::low_bits(Size) << first, rank / Size, (parent_size + Size - 1) / Size};
}

/// As above. The size of the block has to be a multiple of `Size`.
template <unsigned Size, class Parent>
SIMT_DEVICE std::enable_if_t<(Size > 32), thread_block_tile<Size, Parent>> tiled_partition(
    const Parent& parent) {
    simt::divide_into_tiles(Size);
    return {static_cast<unsigned>(parent.thread_rank()) / Size, static_cast<unsigned>(parent.size()) / Size};
}

/// As above with a size chosen at run time, up to 32.
SIMT_DEVICE coalesced_group tiled_partition(const thread_block& parent, unsigned size) {
    const unsigned lane = simt::lane_id(), first = lane / size * size;
    return coalesced_group((details::low_bits(size) << first) & details::low_bits(details::warp_size_here()),
                           parent.thread_rank() / size, (parent.size() + size - 1) / size);
}
SIMT_DEVICE coalesced_group tiled_partition(const coalesced_group& parent, unsigned size) {
    const unsigned mine = parent.thread_rank() / size;
    unsigned mask = 0, rank = 0;
    for (unsigned rest = parent.lanes(); rest != 0; rest &= rest - 1, ++rank)
        if (rank / size == mine) mask |= rest & -rest;
    return coalesced_group(mask, mine, (parent.size() + size - 1) / size);
}
SIMT_DEVICE coalesced_group tiled_partition(const thread_group& parent, unsigned size) {
    return parent.lanes() ? tiled_partition(coalesced_group(parent.lanes()), size)
                          : tiled_partition(this_thread_block(), size);
}

/// Divides a group of one warp by a predicate.
template <class Group>
SIMT_DEVICE coalesced_group binary_partition(const Group& group, bool predicate) {
    const unsigned yes = __ballot_sync(group.lanes(), predicate);
    return coalesced_group(predicate ? yes : group.lanes() & ~yes, predicate, 2);
}
/// Divides a group of one warp by a label.
template <class Group, class Label>
SIMT_DEVICE coalesced_group labeled_partition(const Group& group, Label label) {
    return coalesced_group(__match_any_sync(group.lanes(), label));
}

template <class Group>
SIMT_DEVICE void sync(const Group& group) {
    group.sync();
}
template <class Group>
SIMT_DEVICE unsigned long long thread_rank(const Group& group) {
    return group.thread_rank();
}
template <class Group>
SIMT_DEVICE unsigned long long group_size(const Group& group) {
    return group.size();
}

/// Calls `f(arguments...)` in one thread of the group.
template <class Group, class F, class... A>
SIMT_DEVICE void invoke_one(const Group& group, F&& f, A&&... arguments) {
    if (group.thread_rank() == 0) f(static_cast<A&&>(arguments)...);
}

}  // namespace cooperative_groups
