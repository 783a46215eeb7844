// Which basic blocks have run.
#include <link.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "check/state.h"
#include "simt/inspect/check.h"

namespace simt::check {
namespace {

constexpr std::size_t most_blocks = 1u << 20;

std::atomic<std::uint32_t> fresh_blocks[most_blocks];
std::atomic<std::size_t> fresh_count;

}  // namespace

// Host threads run blocks as well, and the first of them before any constructor.
std::atomic<bool> has_run[most_code_bytes];

void note_new_block(std::size_t offset) {
    if (has_run[offset].exchange(true)) return;
    const std::size_t place = fresh_count.fetch_add(1);
    if (place < most_blocks) fresh_blocks[place] = static_cast<std::uint32_t>(offset);
}

std::vector<std::uintptr_t> take_blocks() {
    std::uintptr_t base = 0;
    dl_iterate_phdr(
        [](dl_phdr_info* program, std::size_t, void* data) {
            *static_cast<std::uintptr_t*>(data) = program->dlpi_addr;
            return 1;  // the first is the program
        },
        &base);
    const std::uintptr_t start = reinterpret_cast<std::uintptr_t>(&__executable_start) - base;
    std::vector<std::uintptr_t> blocks;
    const std::size_t count = std::min(fresh_count.load(), most_blocks);
    for (std::size_t i = 0; i < count; ++i) blocks.push_back(start + fresh_blocks[i]);
    fresh_count = 0;
    return blocks;
}

}  // namespace simt::check
