// Shared memory of the current block.
#include "simt/shared.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "runtime/worker.h"
#include "simt/inspect/control.h"

namespace simt {
namespace {

std::mutex keys_mutex;
unsigned keys = 0;

unsigned register_key(SharedKey& key) {
    std::lock_guard lock(keys_mutex);
    if (key.index == 0) {
        if (keys + 1 == max_shared_keys) return 0;
        __atomic_store_n(&key.index, ++keys, __ATOMIC_RELEASE);
    }
    return key.index;
}

}  // namespace

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
        fail_lane(check::Cause::shared_memory, text, site);
    }
    block.static_used = offset + size;
    const std::size_t place = offset + block.static_arrays++ * shared_red_zone;
    if (place + size > static_shared_bytes) fail_lane("a block has more than 512 __shared__ arrays", site);
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
