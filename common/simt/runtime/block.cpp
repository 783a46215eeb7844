#include "runtime/block.h"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

#include "runtime/observe.h"
#include "runtime/worker.h"
#include "simt/inspect/control.h"
#include "simt/shared.h"

namespace simt {
namespace {

// Keys are never removed: there is one a declaration of the program. The marks of all keys are reserved
// address space; memory is taken by pages that are touched.
constexpr unsigned max_keys = 1u << 16;
constexpr std::size_t marks_bytes = max_keys * sizeof(SharedMark);
constexpr std::size_t dynamic_bytes = 256 * 1024;
// In a check build a red zone follows every array. Its size leaves arrays in their banks.
constexpr std::size_t red_zone = observe::on ? 256 : 0;
constexpr std::size_t static_bytes = static_shared_limit + 512 * red_zone;
constexpr std::size_t mapping_bytes = marks_bytes + static_bytes + dynamic_bytes;

std::mutex keys_mutex;
unsigned keys = 0;

unsigned register_key(SharedKey& key) {
    std::lock_guard lock(keys_mutex);
    if (key.index == 0) {
        if (keys + 1 == max_keys) return 0;
        __atomic_store_n(&key.index, ++keys, __ATOMIC_RELEASE);
    }
    return key.index;
}

}  // namespace

Block::Block() {
    void* memory = mmap(nullptr, mapping_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    marks = static_cast<SharedMark*>(memory);
    static_shared = static_cast<char*>(memory) + marks_bytes;
    dynamic_shared = static_shared + static_bytes;
    ready = queues;
    for (int kind = 0; kind < static_cast<int>(Wait::block_barriers); ++kind)
        barriers[kind].waiting = queues + 1 + kind;
}

Block::~Block() { munmap(marks, mapping_bytes); }

void Block::reset() {
    position = live = soft_waits = 0;
    materialised = finished = at_grid_barrier = false;
    yielded.clear();
    for (LaneQueue& queue : queues) queue.clear();
    for (Barrier& barrier : barriers) barrier.votes = 0;
    for (Warp& warp : warps) warp.live = warp.active = 0;
}

void Block::renew_shared() {
    static_used = 0;
    static_arrays = 0;
    if (++serial == 0) {
        std::memset(marks, 0, marks_bytes);
        serial = 1;
        dynamic_serial = 0;
    }
}

void* allocate_shared(SharedKey& key, const char* name, std::size_t size, std::size_t alignment,
                      const void* site) {
    if (!site) site = SIMT_SITE;
    if (!execution.in_lane) {
        std::fprintf(stderr, "simt: shared array '%s' is used outside a kernel\n", name);
        std::abort();
    }
    unsigned index = __atomic_load_n(&key.index, __ATOMIC_ACQUIRE);
    if (index == 0) index = register_key(key);
    if (index == 0) fail_lane("the program has more than 65,535 __shared__ declarations", site);
    Block& block = *execution.block;
    // Device compilers align arrays so that vector loads work; so does this.
    if (size >= 16 && alignment < 16) alignment = 16;
    const std::size_t offset = (block.static_used + alignment - 1) / alignment * alignment;
    const std::size_t dynamic = this_worker->launch()->grid.dynamic_shared;
    if (offset + size > static_shared_limit || offset + size + dynamic > shared_limit) {
        char text[256];
        std::snprintf(
            text, sizeof text,
            "shared array '%s' of %zu bytes does not fit: %zu bytes of static and %zu of dynamic shared "
            "memory are in use; the limits are %zu static, %zu together",
            name, size, block.static_used, dynamic, static_shared_limit, shared_limit);
        fail_lane(text, site);
    }
    block.static_used = offset + size;
    const std::size_t place = offset + block.static_arrays++ * red_zone;
    if (place + size > static_bytes) fail_lane("a block has more than 512 __shared__ arrays", site);
    block.marks[index] = {block.serial, static_cast<unsigned>(place)};
    void* memory = block.static_shared + place;
    if (poisons_shared()) std::memset(memory, 0xFF, size);
    return memory;
}

void* prepare_dynamic_shared() {
    if (!execution.in_lane) return nullptr;
    Block& block = *execution.block;
    block.dynamic_serial = execution.dynamic_serial = block.serial;
    if (poisons_shared()) std::memset(block.dynamic_shared, 0xFF, this_worker->launch()->grid.dynamic_shared);
    return block.dynamic_shared;
}

}  // namespace simt
