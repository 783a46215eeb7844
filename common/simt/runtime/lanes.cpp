// What loops over lanes need of the runtime.
#include "simt/lanes.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstring>

#include "runtime/report.h"
#include "runtime/worker.h"

namespace simt {
namespace {

/// This thread's; given back when it ends.
struct Room {
    char* begin = nullptr;
    std::size_t size = 0;
    ~Room() { give_back(); }
    void give_back() {
        if (begin) munmap(begin, size);
        begin = nullptr;
    }
};

/// The lanes of a warp that have called, of `exist` from `first` on.
unsigned callers(const unsigned char* gone, unsigned first, unsigned exist) {
    unsigned lanes = exist < warp_lanes ? (1u << exist) - 1 : ~0u;
    if (gone)
        for (unsigned i = 0; i < exist; ++i) lanes &= ~(static_cast<unsigned>(gone[first + i] != 0) << i);
    return lanes;
}

unsigned source_of(ShuffleKind kind, unsigned lane, unsigned operand, int width) {
    const unsigned start = section_start(lane, width), size = static_cast<unsigned>(width);
    switch (kind) {
        case ShuffleKind::index:
            return start + (operand & (size - 1));
        case ShuffleKind::up:
            return lane - start >= operand ? lane - operand : lane;
        case ShuffleKind::down:
            return operand <= size - 1 - (lane - start) ? lane + operand : lane;
        default: {
            const unsigned source = lane ^ operand;
            return source < start + size && source < warp_lanes ? source : lane;
        }
    }
}

/// Four words, which need not be aligned.
typedef std::int32_t Words __attribute__((vector_size(16), aligned(4), may_alias));

/// Shuffles down by `delta` < 32 of whole warps of words. Reads up to 31 words behind them.
class ShuffleDown {
  public:
    explicit ShuffleDown(unsigned delta) : delta_(delta) {
        const auto limit = static_cast<std::int32_t>(warp_lanes - delta);
        Words lane = {0, 1, 2, 3};
        for (Words& inside : inside_) {
            inside = lane < Words{limit, limit, limit, limit};
            lane += Words{4, 4, 4, 4};
        }
    }
    void operator()(std::uint32_t* result, const std::uint32_t* value) const {
        const std::uint32_t* source = value + delta_;
#if !defined(__clang__)
#pragma GCC unroll 8
#endif
        for (unsigned i = 0; i < warp_lanes / 4; ++i) {
            const Words there = *reinterpret_cast<const Words*>(source + 4 * i);
            const Words own = *reinterpret_cast<const Words*>(value + 4 * i);
            *reinterpret_cast<Words*>(result + 4 * i) = own ^ ((there ^ own) & inside_[i]);
        }
    }

  private:
    unsigned delta_;
    Words inside_[warp_lanes / 4];
};

template <class T>
void shuffle(ShuffleKind kind, T* result, const T* value, unsigned operand, int width) {
    if (kind == ShuffleKind::exclusive_or && operand < warp_lanes && width == warp_lanes) {
        for (unsigned i = 0; i < warp_lanes; ++i) result[i] = value[i ^ operand];
        return;
    }
    for (unsigned i = 0; i < warp_lanes; ++i) result[i] = value[source_of(kind, i, operand, width)];
}

void require_mask(unsigned lanes, unsigned mask, const void* site) {
    if ((lanes & ~mask) != 0) fail_lane("the mask of a warp operation does not name its caller", site);
}

}  // namespace

LaneRoom lane_room() {
    static thread_local Room room;
    const std::size_t size = max_block_lanes * lane_stack_size();
    if (__builtin_expect(room.size != size || !room.begin, 0)) {
        room.give_back();
        room.size = size;
        void* memory =
            mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) return {nullptr, nullptr};
        room.begin = static_cast<char*>(memory);
    }
    return {room.begin, room.begin + size};
}

void fail_lane_room() {
    fail_lane("the threads of a block have more local variables than there is room for", SIMT_SITE);
}

void go_on_as_whole() {
    if (__builtin_expect(this_worker->launch()->cancelled.load(std::memory_order_relaxed), 0))
        this_worker->leave_to_root();
}

void check_mask_of_lanes(unsigned lanes, const unsigned char* gone, unsigned mask) {
    for (unsigned first = 0; first < lanes; first += warp_lanes)
        require_mask(callers(gone, first, lanes - first), mask, SIMT_SITE);
}

void shuffle_lanes(ShuffleKind kind, void* result, const void* value, std::size_t size, unsigned lanes,
                   const unsigned char* gone, unsigned mask, unsigned operand, int width) {
    // What most programs do most, by whole warps of words.
    if (kind == ShuffleKind::down && size == 4 && width == warp_lanes && operand < warp_lanes && !gone &&
        lanes % warp_lanes == 0 && mask == ~0u) {
        const ShuffleDown shuffle_down(operand);
        for (unsigned first = 0; first < lanes; first += warp_lanes)
            shuffle_down(static_cast<std::uint32_t*>(result) + first,
                         static_cast<const std::uint32_t*>(value) + first);
        return;
    }
    for (unsigned first = 0; first < lanes; first += warp_lanes) {
        const unsigned exist = lanes - first < warp_lanes ? lanes - first : warp_lanes;
        const unsigned there = callers(gone, first, exist);
        if (there == 0) continue;
        require_mask(there, mask, SIMT_SITE);
        char* to = static_cast<char*>(result) + first * size;
        const char* from = static_cast<const char*>(value) + first * size;
        if (there == ~0u && size == 4) {
            shuffle(kind, reinterpret_cast<std::uint32_t*>(to), reinterpret_cast<const std::uint32_t*>(from),
                    operand, width);
            continue;
        }
        if (there == ~0u && size == 8) {
            shuffle(kind, reinterpret_cast<std::uint64_t*>(to), reinterpret_cast<const std::uint64_t*>(from),
                    operand, width);
            continue;
        }
        unsigned stray = 0;
        for (unsigned i = 0; i < exist; ++i) {
            if ((there >> i & 1) == 0) continue;
            const unsigned source = source_of(kind, i, operand, width);
            const bool comes = (there >> source & 1) != 0;
            stray |= static_cast<unsigned>(!comes) << source;
            if (comes)
                std::memcpy(to + i * size, from + source * size, size);
            else
                std::memset(to + i * size, 0xFF, size);
        }
        if (stray) {
            const unsigned all = exist < warp_lanes ? (1u << exist) - 1 : ~0u;
            warn_stray_shuffle(*this_worker->launch(), (stray & mask & all) != 0, SIMT_SITE);
        }
    }
}

}  // namespace simt
