/// @file
/// The device heap; see heap.cpp for its layout.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include "simt/api.h"

namespace simt {

/// One device allocation.
struct HeapBlock {
    std::size_t size = 0;
    // The pages of this allocation; the pointer lies at their end, so that a guard page follows.
    std::uintptr_t region_begin = 0, region_end = 0;
    Location::Kind kind = Location::Kind::device;
    bool guarded = true;
    bool reported = false;
    bool live = true;       // false: only its place is taken
    bool reserved = false;  // the place stays taken when the memory is freed: a graph's
    char name[64] = {};
};

class Heap {
  public:
    Heap();

    /// `size` bytes, 512-byte aligned and poisoned; null if `size` is 0 or more than the device has left.
    void* allocate(std::size_t size, Location::Kind kind);
    /// False if `address` is not the start of a live allocation.
    bool release(void* address);
    /// A place for `size` bytes of device memory that come and go with open() and release(), always at this
    /// address; null as with allocate().
    void* reserve(std::size_t size);
    /// Puts memory, poisoned, into a reserved place. False if it is there already, or is more than is left.
    bool open(void* address);
    /// Gives the place up. What is live in it is an allocation like any other from now on.
    void give_up(void* address);
    /// Frees everything.
    void reset();
    /// Reports each damaged red zone once; how many were new.
    int check_all();
    /// Names the allocation that starts at `address`.
    void name(const void* address, const char* text);

    struct Found {
        std::uintptr_t begin;
        std::size_t size;
        Location::Kind kind;
        bool live;
    };
    /// The allocation or reserved place that holds `address` or ends there.
    bool find(const void* address, Found* result);
    /// As simt::locate(), for heap addresses.
    bool locate(const void* address, Location* location);

    bool contains(const void* address) const {
        const auto a = reinterpret_cast<std::uintptr_t>(address);
        return a >= begin_ && a < end_;
    }
    std::uintptr_t begin() const { return begin_; }
    std::uintptr_t end() const { return end_; }
    std::size_t capacity() const { return capacity_; }
    std::size_t used();
    std::size_t high(bool reset_mark);
    /// The same of memory in reserved places.
    std::size_t reserved_used();
    std::size_t reserved_high(bool reset_mark);

  private:
    std::uintptr_t find_gap(std::size_t length, std::size_t align);
    std::uintptr_t take_place(std::size_t size, Location::Kind kind, bool reserved);
    bool open_place(std::uintptr_t pointer);
    bool check(std::uintptr_t pointer, HeapBlock& block);
    std::map<std::uintptr_t, HeapBlock>::iterator drop(std::map<std::uintptr_t, HeapBlock>::iterator found);

    std::mutex mutex_;
    std::uintptr_t begin_ = 0, end_ = 0, cursor_ = 0;
    std::size_t capacity_ = 0, used_ = 0, high_ = 0, guarded_ = 0;
    std::size_t reserved_used_ = 0, reserved_high_ = 0;
    std::map<std::uintptr_t, HeapBlock> blocks_;
    // The last allocations that were freed, to name a use after free.
    std::array<std::pair<std::uintptr_t, HeapBlock>, 64> freed_;
    std::size_t freed_count_ = 0;
};

/// The one device's heap.
Heap& heap();

}  // namespace simt
