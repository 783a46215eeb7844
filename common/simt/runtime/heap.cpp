// The device heap: one reserved range of addresses in which every allocation stands alone
// between guard pages.
//
// An allocation ends where a guard page begins (but for at most 255 bytes of alignment), so a kernel that
// runs past its end faults at once, as it would under a memory checker; what lies between the last byte and
// the guard page is a red zone, filled with a known byte and checked when the memory is freed or the device
// synchronised. Addresses are handed out in rising order and come back only when the range is used up: a use
// after free faults too. Memory of a graph has a place of its own, in which it comes and goes.
#include "runtime/heap.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "runtime/observe.h"
#include "simt/virtual_device.h"

namespace simt {
namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::size_t alignment = VirtualDevice::allocation_alignment;
constexpr unsigned char poison_byte = 0xFF;    // every float and double made of it is a NaN
constexpr unsigned char red_zone_byte = 0xCB;  // neither poison nor a common value
// Above this, poison is mapped lazily from one shared pattern instead of being written.
constexpr std::size_t eager_poison = std::size_t{64} << 20;
// Linux allows 65530 mappings a process; each guarded allocation costs two.
constexpr std::size_t max_guarded = 16000;

constexpr std::size_t round_up(std::size_t n, std::size_t to) { return (n + to - 1) / to * to; }

// Number of bytes in `text` ("512M", "2G"), or 0 if it is not one.
std::size_t parse_bytes(const char* text) {
    char* end = nullptr;
    const unsigned long long number = std::strtoull(text, &end, 10);
    int shift = 0;
    switch (*end) {
        case 'K':
        case 'k':
            shift = 10;
            break;
        case 'M':
        case 'm':
            shift = 20;
            break;
        case 'G':
        case 'g':
            shift = 30;
            break;
        case '\0':
            return number;
        default:
            return 0;
    }
    return end[1] == '\0' && number < (1ull << 33) ? number << shift : 0;
}

// Memory this process may use: the machine's, or its control group's if that is less.
std::size_t host_memory() {
    std::size_t bytes =
        static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    for (const char* file : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
        if (std::FILE* f = std::fopen(file, "r")) {
            unsigned long long limit = 0;
            if (std::fscanf(f, "%llu", &limit) == 1 && limit > 0) bytes = std::min<std::size_t>(bytes, limit);
            std::fclose(f);
        }
    }
    return bytes;
}

// A file of poison, to be mapped copy-on-write; -1 if the system has none to give.
int pattern_file() {
    static const int file = [] {
        const int fd = memfd_create("simt-poison", MFD_CLOEXEC);
        if (fd < 0) return -1;
        if (ftruncate(fd, eager_poison) == 0) {
            void* view = mmap(nullptr, eager_poison, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
            if (view != MAP_FAILED) {
                std::memset(view, poison_byte, eager_poison);
                munmap(view, eager_poison);
                return fd;
            }
        }
        close(fd);
        return -1;
    }();
    return file;
}

void poison(unsigned char* begin, unsigned char* end) {
    const std::size_t size = static_cast<std::size_t>(end - begin);
    if (size > eager_poison && pattern_file() >= 0) {
        // [first, last): the whole pages, mapped; what is left of a page on either side is written.
        unsigned char* first =
            reinterpret_cast<unsigned char*>(round_up(reinterpret_cast<std::uintptr_t>(begin), page));
        unsigned char* last =
            reinterpret_cast<unsigned char*>(reinterpret_cast<std::uintptr_t>(end) / page * page);
        unsigned char* mapped = first;
        while (mapped < last) {
            const std::size_t length = std::min(eager_poison, static_cast<std::size_t>(last - mapped));
            if (mmap(mapped, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE,
                     pattern_file(), 0) == MAP_FAILED)
                break;
            mapped += length;
        }
        std::memset(begin, poison_byte, static_cast<std::size_t>(first - begin));
        std::memset(mapped, poison_byte, static_cast<std::size_t>(end - mapped));
    } else {
        std::memset(begin, poison_byte, size);
    }
}

}  // namespace

Heap::Heap() : capacity_(host_memory() / 100 * 64) {
    if (const char* text = std::getenv("RUNGS_SIMT_MEMORY")) {
        const std::size_t bytes = parse_bytes(text);
        if (bytes > 0) {
            capacity_ = bytes;
        } else {
            std::fprintf(stderr, "simt: RUNGS_SIMT_MEMORY=%s is not a size such as 512M or 4G; ignored\n",
                         text);
        }
    }
    // Addresses are plentiful: reserve many times the capacity, so that freed ones rest before they
    // are used again.
    std::size_t want = std::min<std::size_t>(std::max<std::size_t>(capacity_ * 16, std::size_t{64} << 30),
                                             std::size_t{1} << 40);
    // A check build keeps tables about every page of it.
    if constexpr (observe::on) want = std::min<std::size_t>(want, std::size_t{64} << 30);
    want = std::max(want, capacity_ + capacity_ / 2);
    rlimit limit{};
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        want = std::min<std::size_t>(want, limit.rlim_cur / 2);
    for (want = round_up(want, huge_page); want >= huge_page; want = round_up(want / 2, huge_page)) {
        void* range = mmap(nullptr, want, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (range != MAP_FAILED) {
            begin_ = reinterpret_cast<std::uintptr_t>(range);
            end_ = begin_ + want;
            break;
        }
        if (want == huge_page) break;
    }
    capacity_ = std::min(capacity_, static_cast<std::size_t>(end_ - begin_));
    cursor_ = begin_ + page;
}

std::uintptr_t Heap::find_gap(std::size_t length, std::size_t align) {
    for (int round = 0; round < 2; ++round) {
        std::uintptr_t candidate = round_up(cursor_, align);
        // Blocks are ordered by address; begin with the last one that starts below the candidate.
        auto block = blocks_.lower_bound(candidate);
        if (block != blocks_.begin()) --block;
        for (; block != blocks_.end(); ++block) {
            if (block->second.region_end + page <= candidate) continue;
            if (candidate + length + page <= block->second.region_begin) break;
            candidate = round_up(block->second.region_end + page, align);
        }
        if (candidate + length + page <= end_) return candidate;
        cursor_ = begin_ + page;  // wrap around once
    }
    return 0;
}

// Finds a place for an allocation; 0 if there is none. Called with the lock.
std::uintptr_t Heap::take_place(std::size_t size, Location::Kind kind, bool reserved) {
    if (begin_ == 0 || size == 0 || size > capacity_) return 0;
    const std::size_t padded = round_up(size, alignment), length = round_up(padded, page);
    const std::uintptr_t region = find_gap(length, length >= 2 * huge_page ? huge_page : page);
    if (region == 0) return 0;
    HeapBlock block;
    block.size = size;
    block.guarded = guarded_ < max_guarded;
    block.region_begin = region;
    // Without a guard page behind it, that page becomes part of the red zone.
    block.region_end = region + (block.guarded ? length : length + page);
    block.kind = kind;
    block.live = false;
    block.reserved = reserved;
    cursor_ = block.region_end + page;
    blocks_.emplace(region + length - padded, block);
    guarded_ += block.guarded;
    return region + length - padded;
}

bool Heap::open_place(std::uintptr_t pointer) {
    HeapBlock block;
    {
        std::lock_guard lock(mutex_);
        const auto found = blocks_.find(pointer);
        if (found == blocks_.end() || found->second.live) return false;
        HeapBlock& place = found->second;
        if (place.size > capacity_ - std::min(capacity_, used_)) return false;
        auto* region = reinterpret_cast<void*>(place.region_begin);
        const std::size_t length = place.region_end - place.region_begin;
        if (mprotect(region, length, PROT_READ | PROT_WRITE) != 0) return false;
        if (length >= 2 * huge_page) madvise(region, length, MADV_HUGEPAGE);
        // Not to be checked yet, by other threads' launches: its red zones are filled below,
        // without the lock.
        place.reported = true;
        place.live = true;
        block = place;
        const std::size_t padded = round_up(block.size, alignment);
        used_ += padded;
        high_ = std::max(high_, used_);
        if (block.reserved) reserved_used_ += padded;
        reserved_high_ = std::max(reserved_high_, reserved_used_);
    }
    auto* first = reinterpret_cast<unsigned char*>(block.region_begin);
    auto* user = reinterpret_cast<unsigned char*>(pointer);
    auto* last = reinterpret_cast<unsigned char*>(block.region_end);
    poison(user, user + block.size);
    std::memset(first, red_zone_byte, static_cast<std::size_t>(user - first));
    std::memset(user + block.size, red_zone_byte, static_cast<std::size_t>(last - (user + block.size)));
    {
        std::lock_guard lock(mutex_);
        if (const auto found = blocks_.find(pointer); found != blocks_.end()) found->second.reported = false;
    }
    observe::allocated(user, block.size, static_cast<unsigned char>(block.kind));
    if (block.name[0]) observe::named(user, block.name);
    return true;
}

void* Heap::allocate(std::size_t size, Location::Kind kind) {
    std::uintptr_t pointer = 0;
    {
        std::lock_guard lock(mutex_);
        if (size > capacity_ - std::min(capacity_, used_)) return nullptr;
        pointer = take_place(size, kind, false);
    }
    if (pointer == 0) return nullptr;
    if (open_place(pointer)) return reinterpret_cast<void*>(pointer);
    give_up(reinterpret_cast<void*>(pointer));
    return nullptr;
}

void* Heap::reserve(std::size_t size) {
    std::lock_guard lock(mutex_);
    auto* const place = reinterpret_cast<void*>(take_place(size, Location::Kind::device, true));
    if (observe::on && place) {  // known to the checks, and not there
        observe::allocated(place, size, static_cast<unsigned char>(Location::Kind::device));
        observe::released(place);
    }
    return place;
}

bool Heap::open(void* address) { return open_place(reinterpret_cast<std::uintptr_t>(address)); }

void Heap::give_up(void* address) {
    std::lock_guard lock(mutex_);
    const auto found = blocks_.find(reinterpret_cast<std::uintptr_t>(address));
    if (found == blocks_.end()) return;
    if (found->second.live) {
        if (found->second.reserved) reserved_used_ -= round_up(found->second.size, alignment);
        found->second.reserved = false;
    } else {
        guarded_ -= found->second.guarded;
        blocks_.erase(found);
    }
}

bool Heap::check(std::uintptr_t pointer, HeapBlock& block) {
    if (block.reported || !block.live) return true;
    const auto* first = reinterpret_cast<const unsigned char*>(block.region_begin);
    const auto* user = reinterpret_cast<const unsigned char*>(pointer);
    const auto* last = reinterpret_cast<const unsigned char*>(block.region_end);
    const auto damaged = [](unsigned char byte) { return byte != red_zone_byte; };
    long offset = 0;
    if (const auto* hit = std::find_if(user + block.size, last, damaged); hit != last) {
        offset = hit - user;
    } else if (const auto* low = std::find_if(first, user, damaged); low != user) {
        offset = low - user;
    } else {
        return true;
    }
    block.reported = true;
    const bool after = offset > 0;
    std::fprintf(stderr,
                 "simt: a kernel wrote out of bounds: %ld byte%s %s %s (%zu bytes of device memory at %p)\n",
                 after ? offset - static_cast<long>(block.size) + 1 : -offset,
                 (after ? offset - static_cast<long>(block.size) + 1 : -offset) == 1 ? "" : "s",
                 after ? "past the end of" : "before", block.name[0] ? block.name : "an allocation",
                 block.size, static_cast<const void*>(user));
    return false;
}

bool Heap::release(void* address) {
    const auto pointer = reinterpret_cast<std::uintptr_t>(address);
    std::lock_guard lock(mutex_);
    auto found = blocks_.find(pointer);
    if (found == blocks_.end() || !found->second.live) return false;
    drop(found);
    return true;
}

// Frees what is live there; the entry goes with it, but for a reserved place's.
std::map<std::uintptr_t, HeapBlock>::iterator Heap::drop(
    std::map<std::uintptr_t, HeapBlock>::iterator found) {
    HeapBlock& block = found->second;
    check(found->first, block);
    observe::released(reinterpret_cast<const void*>(found->first));
    // Mapping afresh gives the pages back to the host and makes the range inaccessible.
    mmap(reinterpret_cast<void*>(block.region_begin), block.region_end - block.region_begin, PROT_NONE,
         MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    used_ -= round_up(block.size, alignment);
    freed_[freed_count_++ % freed_.size()] = {found->first, block};
    if (block.reserved) {
        reserved_used_ -= round_up(block.size, alignment);
        block.live = false;
        return std::next(found);
    }
    guarded_ -= block.guarded;
    return blocks_.erase(found);
}

void Heap::reset() {
    std::lock_guard lock(mutex_);
    for (auto block = blocks_.begin(); block != blocks_.end();)
        block = block->second.live ? drop(block) : std::next(block);
}

int Heap::check_all() {
    std::lock_guard lock(mutex_);
    int bad = 0;
    for (auto& [pointer, block] : blocks_) bad += !check(pointer, block);
    return bad;
}

void Heap::name(const void* address, const char* text) {
    std::lock_guard lock(mutex_);
    auto found = blocks_.find(reinterpret_cast<std::uintptr_t>(address));
    if (found == blocks_.end()) return;
    std::snprintf(found->second.name, sizeof found->second.name, "%s", text);
    observe::named(address, text);
}

bool Heap::find(const void* address, Found* result) {
    const auto a = reinterpret_cast<std::uintptr_t>(address);
    std::lock_guard lock(mutex_);
    auto after = blocks_.upper_bound(a);
    if (after == blocks_.begin()) return false;
    --after;
    if (a > after->first + after->second.size) return false;
    *result = {after->first, after->second.size, after->second.kind, after->second.live};
    return true;
}

bool Heap::locate(const void* address, Location* location) {
    const auto a = reinterpret_cast<std::uintptr_t>(address);
    // A crash handler asks: never wait for a lock that the crashed thread may hold.
    std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) return false;
    const auto fill = [&](std::uintptr_t pointer, const HeapBlock& block, Location::Kind kind) {
        std::memcpy(location->name, block.name, sizeof location->name);
        location->begin = reinterpret_cast<const void*>(pointer);
        location->size = block.size;
        location->offset = static_cast<long>(a) - static_cast<long>(pointer);
        location->kind = kind;
        return true;
    };
    const auto kind_of = [](const HeapBlock& block) {
        return block.live ? block.kind : Location::Kind::freed;
    };
    const auto next = blocks_.upper_bound(a);
    if (next != blocks_.begin()) {
        const auto previous = std::prev(next);
        // Inside, or in the red zone or guard page behind.
        if (a < previous->second.region_end + page)
            return fill(previous->first, previous->second, kind_of(previous->second));
    }
    if (next != blocks_.end() && a + page >= next->second.region_begin)
        return fill(next->first, next->second, kind_of(next->second));
    for (std::size_t i = 0; i < std::min(freed_count_, freed_.size()); ++i) {
        const auto& [pointer, block] = freed_[(freed_count_ - 1 - i) % freed_.size()];
        if (a >= block.region_begin && a < block.region_end)
            return fill(pointer, block, Location::Kind::freed);
    }
    // Far outside: name the nearest allocation below, whose index most likely ran away.
    if (next != blocks_.begin()) {
        const auto previous = std::prev(next);
        return fill(previous->first, previous->second, previous->second.kind);
    }
    return false;
}

std::size_t Heap::used() {
    std::lock_guard lock(mutex_);
    return used_;
}

std::size_t Heap::high(bool reset_mark) {
    std::lock_guard lock(mutex_);
    const std::size_t mark = high_;
    if (reset_mark) high_ = used_;
    return mark;
}

std::size_t Heap::reserved_used() {
    std::lock_guard lock(mutex_);
    return reserved_used_;
}

std::size_t Heap::reserved_high(bool reset_mark) {
    std::lock_guard lock(mutex_);
    const std::size_t mark = reserved_high_;
    if (reset_mark) reserved_high_ = reserved_used_;
    return mark;
}

Heap& heap() {
    static Heap* instance = new Heap;  // never destroyed: static objects of a program may still free memory
    return *instance;
}

std::size_t device_memory_capacity() { return heap().capacity(); }

bool is_device_range(const void* address) { return heap().contains(address); }

}  // namespace simt
