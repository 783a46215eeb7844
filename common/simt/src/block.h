/// @file
/// A block that is running: its lanes, warps, barriers and shared memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fiber.h"
#include "simt/lane.h"

namespace simt {

constexpr unsigned max_block_lanes = 1024;
constexpr unsigned warp_lanes = 32;
constexpr std::size_t static_shared_limit = 48 * 1024;
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
    active_mask,
    yield,
    running,
};

/// A lane that has blocked once: where it goes on, and what it waits for.
struct alignas(64) Lane {
    Context context;
    Lane* next;
    Fiber* fiber;
    const void* site;  ///< the waiting call's return address
    std::uint16_t x, y, z;
    Wait wait;
    std::uint8_t operation;  ///< WarpOperation, when `wait` is Wait::warp
    unsigned mask;
};

/// Lanes in the order in which they will run.
struct LaneList {
    Lane* head = nullptr;
    Lane* tail = nullptr;

    bool empty() const { return head == nullptr; }
    void push(Lane& lane) {
        lane.next = nullptr;
        if (head)
            tail->next = &lane;
        else
            head = &lane;
        tail = &lane;
    }
    Lane* pop() {
        Lane* lane = head;
        if (lane) head = lane->next;
        return lane;
    }
    /// Appends all of `other`, which is then empty.
    void splice(LaneList& other) {
        if (!other.head) return;
        if (head)
            tail->next = other.head;
        else
            head = other.head;
        tail = other.tail;
        other.head = nullptr;
    }
};

struct Barrier {
    unsigned arrived = 0;
    unsigned votes = 0;   ///< lanes that arrived with a non-zero predicate
    unsigned result = 0;  ///< of the last completed use
    LaneList waiting;
};

/// Lanes of one warp that arrived at the same operation with the same mask.
struct Rendezvous {
    unsigned mask;
    unsigned arrived;
    unsigned operation;
    const void* site;
};

struct Warp {
    unsigned live = 0;    ///< lanes that have not exited
    unsigned active = 0;  ///< which of `rendezvous` are in use
    Rendezvous rendezvous[warp_lanes];
    std::uint64_t value[warp_lanes];   ///< what each lane brought
    std::uint64_t result[warp_lanes];  ///< what it takes away
    unsigned source[warp_lanes];       ///< the lane it reads, of a shuffle
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
    std::uint64_t events = 0;  ///< grows when a lane gets anywhere but to the next poll of a spin loop
    LaneList ready;
    LaneList yielded;
    Barrier barriers[static_cast<int>(Wait::block_barriers)];
    uint3 index = {};

    // Shared memory: one mapping of marks, static arrays, dynamic array.
    unsigned serial = 0;
    unsigned dynamic_serial = 0;
    std::size_t static_used = 0;
    SharedMark* marks = nullptr;
    char* static_shared = nullptr;
    char* dynamic_shared = nullptr;

    Warp warps[max_block_lanes / warp_lanes];
    Lane lanes[max_block_lanes];

    /// Forgets all lanes, after the launch was abandoned.
    void reset();
    /// Forgets shared memory's places: every array is new to the next run of the block.
    void renew_shared();
};

}  // namespace simt
