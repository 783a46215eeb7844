// The judge's large arrays: operator new and delete for whatever links the judge, exams included.
//
// An exam takes large arrays and gives them back again and again; anew from the system each time, they cost
// as much as the arithmetic. And the judge starts a dozen processes per rung, each by three forks: of memory
// that a fork inherits it copies every page table entry, twice that once somebody writes. Blocks of a size
// are kept for the next one who asks, in a region that no child inherits; so what is expected of a submission
// does not lie in a process that becomes that submission, either.

#include "judge/confine/large_blocks.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <unordered_map>
#include <vector>

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which bring their own

namespace {

constexpr std::size_t least_bytes = 256U << 10;   ///< of a large block
constexpr std::size_t most_kept = 512U << 20;     ///< of memory in blocks that nobody uses
constexpr std::size_t region_bytes = 1ULL << 40;  ///< of addresses, not of memory

/// Of memory in blocks that nobody uses, beyond `most_kept`, which the system takes back when it has need of
/// it: 64 MiB for each GiB of the machine's. Where a GPU is judged, arrays have 100 MB, and every core works
/// at some.
std::size_t most_lent() {
    static const auto machine =
        static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return machine / 16;
}

/// Where the region begins, once there is one; and whether this is a child, which does not have it.
std::atomic<std::uintptr_t> region = 0;
bool inherited = false;

class LargeBlocks {
  public:
    /// @param where  its address, if that is free; null: any
    explicit LargeBlocks(void* where = nullptr) {
        void* const addresses =
            mmap(where, region_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (addresses == MAP_FAILED) return;  // there is a limit: all blocks come from malloc
        if (madvise(addresses, region_bytes, MADV_DONTFORK) != 0 ||
            pthread_atfork(nullptr, nullptr, [] { inherited = true; }) != 0) {
            munmap(addresses, region_bytes);
            return;
        }
        madvise(addresses, region_bytes, MADV_HUGEPAGE);
        next_ = reinterpret_cast<std::uintptr_t>(addresses);
        region = next_;
    }

    /// @returns null where the region has no more.
    void* take(std::size_t size) {
        const std::uintptr_t begin = region;
        if (begin == 0 || inherited || size > region_bytes) return nullptr;
        // Four sizes between a power of two and the next: at most a fifth is left unused.
        std::size_t step = least_bytes;
        while (8 * step <= size) step *= 2;
        size = (size + step - 1) / step * step;
        const std::lock_guard lock(mutex_);
        std::vector<Free>& free = free_[size];
        if (!free.empty()) {
            const Free block = free.back();
            free.pop_back();
            if (block.has_memory) kept_ -= size;
            return block.address;
        }
        const std::uintptr_t at = (next_ + step - 1) / step * step;
        if (at + size > begin + region_bytes) return nullptr;
        void* const address = reinterpret_cast<void*>(at);
        if (mprotect(address, size, PROT_READ | PROT_WRITE) != 0) return nullptr;
        sizes_.emplace(address, size);
        next_ = at + size;
        return address;
    }

    void give_back(void* address) {
        if (inherited) return;
        const std::lock_guard lock(mutex_);
        const auto known = sizes_.find(address);
        if (known == sizes_.end()) return;  // its parent's, whose memory is not here
        const std::size_t size = known->second;
        const bool has_memory = kept_ + size <= most_kept + most_lent();
        if (kept_ + size > most_kept) madvise(address, size, has_memory ? MADV_FREE : MADV_DONTNEED);
        if (has_memory) kept_ += size;
        free_[size].push_back({address, has_memory});
    }

  private:
    struct Free {
        void* address;
        bool has_memory;
    };

    std::mutex mutex_;
    std::uintptr_t next_ = 0;
    std::unordered_map<void*, std::size_t> sizes_;
    std::map<std::size_t, std::vector<Free>> free_;
    std::size_t kept_ = 0;  ///< of memory, in blocks that nobody uses
};

/// Never destroyed: whatever ends last may still give something back.
LargeBlocks& large_blocks() {
    alignas(LargeBlocks) static std::byte place[sizeof(LargeBlocks)];
    static LargeBlocks& blocks = *new (place) LargeBlocks;
    return blocks;
}

}  // namespace

void rungs::judge::keep_own_large_blocks() {
    LargeBlocks& blocks = large_blocks();
    if (!inherited) return;
    // At the same address, which is free here, so that operator delete still recognises the parent's blocks.
    new (&blocks) LargeBlocks(reinterpret_cast<void*>(region.load()));
    inherited = false;
}

void* operator new(std::size_t size) {
    if (size >= least_bytes) {
        if (void* const block = large_blocks().take(size)) return block;
    }
    if (void* const block = std::malloc(size ? size : 1)) return block;
    throw std::bad_alloc();
}

void operator delete(void* block) noexcept {
    const std::uintptr_t begin = region.load(std::memory_order_relaxed);
    if (begin != 0 && reinterpret_cast<std::uintptr_t>(block) - begin < region_bytes) {
        large_blocks().give_back(block);
    } else {
        std::free(block);
    }
}

void operator delete(void* block, std::size_t) noexcept { operator delete(block); }

#else

void rungs::judge::keep_own_large_blocks() {}

#endif
