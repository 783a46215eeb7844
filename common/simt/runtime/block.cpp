#include "runtime/block.h"

#include <sys/mman.h>

#include <cstring>
#include <new>

namespace simt {
namespace {

constexpr std::size_t dynamic_bytes = 256 * 1024;
constexpr std::size_t marks_bytes = max_shared_keys * sizeof(SharedMark);
constexpr std::size_t mapping_bytes = marks_bytes + static_shared_bytes + dynamic_bytes;

}  // namespace

Block::Block() {
    void* memory = mmap(nullptr, mapping_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    marks = static_cast<SharedMark*>(memory);
    static_shared = static_cast<char*>(memory) + marks_bytes;
    dynamic_shared = static_shared + static_shared_bytes;
    ready = queues;
    for (int kind = 0; kind < static_cast<int>(Wait::block_barriers); ++kind)
        barriers[kind].waiting = queues + 1 + kind;
}

Block::~Block() { munmap(marks, mapping_bytes); }

void Block::reset() {
    position = live = soft_waits = tile_waits = 0;
    materialised = finished = at_grid_barrier = false;
    set_aside = nullptr;
    yielded.clear();
    at_phases.clear();
    for (Lane& lane : lanes) lane.awaited = nullptr;
    for (LaneQueue& queue : queues) queue.clear();
    for (Barrier& barrier : barriers) barrier.votes = 0;
    for (Warp& warp : warps) warp.live = warp.active = warp.at_tile = 0;
    for (auto& tile : tiles)
        for (TileMeeting& meeting : tile) meeting.arrived = 0;
}

void Block::renew_shared() {
    static_used = 0;
    static_arrays = 0;
    favours = 0;
    if (++serial == 0) {
        std::memset(marks, 0, marks_bytes);
        serial = 1;
        dynamic_serial = 0;
    }
}

}  // namespace simt
