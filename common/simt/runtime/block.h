/// @file
/// A block that is running: its lanes, warps, barriers and shared memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/fiber.h"
#include "runtime/observe.h"
#include "simt/lane.h"
#include "simt/tile.h"

namespace simt {
namespace check {
struct BlockState;
}

constexpr unsigned max_block_lanes = 1024;
constexpr unsigned warp_lanes = 32;
constexpr unsigned max_block_warps = max_block_lanes / warp_lanes;
constexpr std::size_t static_shared_limit = 48 * 1024;
/// Keys are never removed: there is one a declaration of the program. The marks of all keys are reserved
/// address space; memory is taken by pages that are touched.
constexpr unsigned max_shared_keys = 1u << 16;
/// In check mode a red zone follows every array. Its size leaves arrays in their banks.
constexpr std::size_t shared_red_zone = observe::on ? 256 : 0;
constexpr std::size_t static_shared_bytes = static_shared_limit + 512 * shared_red_zone;
constexpr std::size_t shared_limit = 227 * 1024;  ///< dynamic and static together, after opt-in

/// What a lane waits for. The first ones are the barriers of a block; the warp operations follow.
enum class Wait : std::uint8_t {
    sync,
    count,
    all,
    any,
    grid,
    block_barriers,  // not a wait: the number of the above
    warp,
    tile,
    active_mask,
    yield,
    phase,
};

/// A lane: where it goes on, and what it waits for.
struct alignas(64) Lane {
    Context context;
    uint3 thread;            ///< its threadIdx
    std::uint8_t operation;  ///< the last WarpOperation or TileOperation
    const void* site;        ///< the waiting call's return address
    Fiber* fiber;
    const void* awaited;  ///< the barrier in two halves for whose phase it waits, or null
};

/// Lanes in the order in which they will run: a queue in an array, because the processor can run ahead of a
/// counter but not of a chain of pointers. One lane is in one queue at most, so the array cannot overflow.
struct LaneQueue {
    unsigned head = 0;
    unsigned tail = 0;
    Lane* lanes[max_block_lanes];

    bool empty() const { return head == tail; }
    unsigned size() const { return tail - head; }
    void clear() { head = tail = 0; }
    void push(Lane& lane) {
        if (tail == max_block_lanes) compact();
        lanes[tail++] = &lane;
    }
    Lane* pop() { return head == tail ? nullptr : lanes[head++]; }
    /// Appends all of `other`, which is then empty.
    void splice(LaneQueue& other) {
        for (unsigned i = other.head; i != other.tail; ++i) push(*other.lanes[i]);
        other.clear();
    }

  private:
    void compact() {
        for (unsigned i = head; i != tail; ++i) lanes[i - head] = lanes[i];
        tail -= head;
        head = 0;
    }
};

struct Barrier {
    LaneQueue* waiting = nullptr;
    unsigned votes = 0;   ///< lanes that arrived with a non-zero predicate
    unsigned result = 0;  ///< of the last completed use
};

/// Lanes of one warp that arrived at the same operation with the same mask.
struct Rendezvous {
    unsigned mask;
    unsigned arrived;
    unsigned operation;  ///< WarpOperation, or active_mask_operation
    const void* site;
};
constexpr unsigned active_mask_operation = 255;

struct Warp {
    unsigned live = 0;    ///< lanes that have not exited
    unsigned active = 0;  ///< which of `rendezvous` are in use
    Rendezvous rendezvous[warp_lanes];
    unsigned at_tile = 0;              ///< lanes that wait at an operation of a tile
    unsigned mask[warp_lanes];         ///< with which each lane waits; of a tile, its size
    std::uint64_t value[warp_lanes];   ///< what each lane brought
    std::uint64_t result[warp_lanes];  ///< what it takes away
    unsigned source[warp_lanes];       ///< the lane it reads, of a shuffle
};

/// Lanes of one tile that arrived at the same operation.
struct TileMeeting {
    unsigned arrived = 0;
    unsigned source = 0;  ///< of a broadcast: the lane that the first of them reads
};

struct Block {
    Block();
    ~Block();
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;

    unsigned total = 0;         ///< lanes
    unsigned position = 0;      ///< lanes started so far, unless Execution::fast
    unsigned live = 0;          ///< lanes that have not exited, once materialised
    bool materialised = false;  ///< a lane has blocked: the fields of lanes and warps hold
    bool finished = false;
    bool at_grid_barrier = false;
    std::uint64_t serial_of_grid = 0;  ///< the barrier's generation when the block arrived
    unsigned soft_waits = 0;           ///< lanes waiting at __activemask()
    unsigned favours = 0;              ///< how often lanes of a warp have gone before others: make_ready()
    unsigned tile_waits = 0;           ///< at an operation of a tile
    std::uint64_t events = 0;   ///< grows when a lane gets anywhere but to the next poll of a spin loop
    Lane* set_aside = nullptr;  ///< goes on after other blocks have run: Worker::set_aside()
    LaneQueue* ready = nullptr;
    LaneQueue yielded;
    LaneQueue at_phases;  ///< lanes that wait at barriers in two halves
    Barrier barriers[static_cast<int>(Wait::block_barriers)];
    uint3 index = {};

    // Shared memory: one mapping of marks, static arrays, dynamic array.
    unsigned serial = 0;
    unsigned dynamic_serial = 0;
    std::size_t static_used = 0;  ///< bytes
    std::size_t static_arrays = 0;
    SharedMark* marks = nullptr;
    char* static_shared = nullptr;
    char* dynamic_shared = nullptr;

    check::BlockState* checked = nullptr;  ///< owned by the checks
    // In check mode, of the barrier that lanes wait at: the last call site, and how many in a row came by it.
    const void* last_site = nullptr;
    int last_kind = 0;
    unsigned at_last_site = 0;

    Warp warps[max_block_warps];
    TileMeeting tiles[max_block_warps][static_cast<int>(TileOperation::any) + 1];  ///< see tile_number()
    Lane lanes[max_block_lanes];
    LaneQueue queues[1 + static_cast<int>(Wait::block_barriers)];

    /// Moves those of `at_phases` that `is_one` picks to `queue`.
    template <class F>
    void leave_phases(F is_one, LaneQueue& queue) {
        LaneQueue& from = at_phases;
        unsigned stay = 0;
        for (unsigned i = from.head; i != from.tail; ++i)
            if (is_one(*from.lanes[i]))
                queue.push(*from.lanes[i]);
            else
                from.lanes[stay++] = from.lanes[i];
        from.head = 0;
        from.tail = stay;
    }
    /// `address` lies in the block's shared memory.
    bool owns(const void* address) const {
        return address >= static_shared && address < dynamic_shared + shared_limit;
    }
    /// Forgets all lanes, after the launch was abandoned.
    void reset();
    /// Forgets shared memory's places, for every array is new to the next run of the block; and `favours`,
    /// for the same lanes go first in every run.
    void renew_shared();
};

}  // namespace simt
