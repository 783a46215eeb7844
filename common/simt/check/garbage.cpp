// Memory of the device that nothing has written, once it has come to the host: which copies brought it, and
// whether the host reads it.
//
// Programs that copy a whole array, and look at a part of it, are right. So what a copy brings is remembered
// until the host writes over it, and is an error when the host reads it. Not everything that the host does is
// seen, libraries above all: what is read has to have the value, too, that unwritten memory has here.
#include <malloc.h>

#include <algorithm>
#include <bit>
#include <deque>
#include <map>
#include <memory>
#include <mutex>

#include "check/host.h"
#include "runtime/launch_state.h"
#include "runtime/report.h"
#include "simt/device.h"

namespace simt::check {

GarbageBounds garbage;

namespace {

/// One place in the program that copies from one array.
struct UnwrittenCopy {
    Report report;
    Array array;  ///< as it was
    std::uint64_t operation = 0;
    bool matters = false;  ///< there is more than what may be padding
    bool read = false;     ///< by the host
};
struct GarbageRange {
    std::uintptr_t end;
    UnwrittenCopy* copy;
};
struct LaunchNote {
    std::uint32_t first_segment;
    const char* name;
    const void* function;
    std::uint64_t threads, blocks;
};
struct HostGarbage {
    std::recursive_mutex mutex;
    std::vector<std::unique_ptr<UnwrittenCopy>> copies;
    std::map<std::uintptr_t, GarbageRange> ranges;  ///< by their beginning; they do not overlap
    std::deque<LaunchNote> launches;
    bool misses_launch = false;  ///< one was refused
    std::uint64_t told_of = 0;   ///< serial of the managed array that was reported last, plus 1
};
HostGarbage& host_garbage() {
    static auto* instance = new HostGarbage;
    return *instance;
}

/// Of an array of structures with gaps there may be as many as it has elements.
constexpr std::size_t most_ranges = std::size_t{1} << 18;

/// Where the run of bytes ends that begins at `address` and is all written, or all unwritten; `end` at most.
std::uintptr_t end_of_run(const Array& array, std::uintptr_t address, std::uintptr_t end) {
    const bool written = array.is_written(address - array.begin);
    const std::uintptr_t width = std::uintptr_t{1} << array.shift;
    do address = array.begin + (((address - array.begin) & ~(width - 1)) + width);
    while (address < end && array.is_written(address - array.begin) == written);
    return std::min(address, end);
}

void set_bounds(const HostGarbage& all) {
    if (all.ranges.empty()) {
        garbage.size = 0;
        return;
    }
    garbage.begin = all.ranges.begin()->first;
    garbage.size = all.ranges.rbegin()->second.end - all.ranges.begin()->first;
}

void forget_range(HostGarbage& all, std::uintptr_t begin, std::uintptr_t end) {
    auto next = all.ranges.lower_bound(begin);
    if (next != all.ranges.begin()) --next;
    while (next != all.ranges.end() && next->first < end) {
        const auto [first, range] = *next;
        if (range.end <= begin) {
            ++next;
            continue;
        }
        next = all.ranges.erase(next);
        if (first < begin) all.ranges[first] = {begin, range.copy};
        if (range.end > end)
            next = all.ranges.insert_or_assign(end, GarbageRange{range.end, range.copy}).first;
    }
    set_bounds(all);
}

/// The last launch that wrote the byte; nullptr: none that is known.
const LaunchNote* writer_of(const HostGarbage& all, const Array& array, std::uintptr_t address) {
    const Cell& cell = array.cell_at(address - array.begin);
    if (cell.write() == 0 || cell.write_is_read()) return nullptr;
    const auto after =
        std::upper_bound(all.launches.begin(), all.launches.end(), cell.write(),
                         [](std::uint32_t s, const LaunchNote& note) { return s < note.first_segment; });
    return after == all.launches.begin() ? nullptr : &*std::prev(after);
}

std::string times_text(std::uint64_t n, const char* one, const char* many) {
    return std::to_string(n) + " " + (n == 1 ? one : many);
}

/// Puts into words which elements are unwritten from `first` on, and which kernel wrote those before them.
void describe_copy(const HostGarbage& all, UnwrittenCopy& copy, const Array& array, std::uintptr_t first,
                   std::uintptr_t end, std::size_t missing, std::size_t copied) {
    const std::size_t offset = first - array.begin;
    std::size_t element = ((offset | missing | copied | array.size) & 3) == 0 ? 4 : 1;
    const LaunchNote* const writer = offset == 0 ? nullptr : writer_of(all, array, first - 1);
    bool too_few = false;
    if (writer && offset % writer->threads == 0) {
        const std::size_t per_thread = offset / writer->threads;
        too_few = per_thread <= 32 && (std::has_single_bit(per_thread) || per_thread % 12 == 0) &&
                  missing % per_thread == 0 && copied % per_thread == 0;
        if (too_few) element = per_thread;
    }
    Report& report = copy.report;
    report.address = first;
    report.size = element;
    report.text =
        times_text(missing / element, "element", "elements") + " of " + std::to_string(copied / element);
    if (missing == end - first && missing > element)
        report.text +=
            ", up to " + array.name + "[" + std::to_string((end - array.begin) / element - 1) + "]";
    if (!writer) return;
    Grid grid;
    grid.name = writer->name;
    grid.function = writer->function;
    report.text += ". Kernel " + kernel_name(grid) + ", which wrote what comes before, ran as " +
                   times_text(writer->blocks, "block", "blocks") + " of " +
                   times_text(writer->threads / writer->blocks, "thread", "threads") +
                   (too_few ? ", a thread for each of those and none for the rest" : "");
}

/// The copy that the running operation makes from `array`; a new one where it has been made nowhere before.
UnwrittenCopy& copy_of(HostGarbage& all, const Task& task, std::uint64_t operation, const Array& array) {
    for (const auto& known : all.copies) {
        if (known->array.serial != array.serial || known->array.begin != array.begin ||
            known->report.stack != task.stack)
            continue;
        if (known->operation != operation) ++known->report.times;
        known->operation = operation;
        return *known;
    }
    auto fresh = std::make_unique<UnwrittenCopy>();
    fresh->operation = operation;
    fresh->array = array;
    fresh->array.cells = nullptr;
    Report& report = fresh->report;
    report = Report{};
    report.tool = Tool::initcheck;
    report.kind = Kind::unwritten_copy;
    report.severity = Severity::warning;
    report.on_host = true;
    report.act = Act::copy;
    report.stack = task.stack;
    all.copies.push_back(std::move(fresh));
    return *all.copies.back();
}

/// All bytes of [address, address + size) are garbage: the copy that brought the first of them; else nullptr.
UnwrittenCopy* source_of(const HostGarbage& all, std::uintptr_t address, std::size_t size) {
    auto next = all.ranges.upper_bound(address);
    if (next == all.ranges.begin()) return nullptr;
    --next;
    UnwrittenCopy* const copy = next->second.copy;
    for (std::uintptr_t at = address; at < address + size; at = next++->second.end)
        if (next == all.ranges.end() || next->first > at || next->second.end <= at) return nullptr;
    return copy;
}

}  // namespace

void copied_to_host(std::uintptr_t to, std::uintptr_t from, std::size_t size) {
    HostGarbage& all = host_garbage();
    std::lock_guard lock(all.mutex);
    if (garbage.size != 0) forget_range(all, to, to + size);
    if (state.stopped || all.misses_launch) return;  // it may follow from that
    const Array* const array = find_array(from);
    if (!array || !array->live || !array->tracks_values || !array->holds(from, size)) return;
    const std::uintptr_t end = from + size;
    UnwrittenCopy* copy = nullptr;
    std::size_t missing = 0;
    std::uintptr_t first = 0, last = 0;
    for (std::uintptr_t at = from, next; at != end; at = next) {
        next = end_of_run(*array, at, end);
        if (array->is_written(at - array->begin)) continue;
        if (!copy) {
            const OwnWork own;
            copy = &copy_of(all, running_task(), running_operation(), *array);
            first = at;
        }
        missing += next - at;
        last = next;
        // Padding stands behind a member and is short: what begins the array or the copy, or is longer, is
        // none.
        if (next - at >= 16 || at == from || at == array->begin) copy->matters = true;
        if (all.ranges.size() < most_ranges) all.ranges[to + (at - from)] = {to + (next - from), copy};
    }
    if (!copy) return;
    const OwnWork own;
    if (copy->report.text.empty()) describe_copy(all, *copy, *array, first, last, missing, size);
    set_bounds(all);
}

void host_touches(std::uintptr_t address, std::size_t size, bool writes, const void* pc) {
    HostGarbage& all = host_garbage();
    std::lock_guard lock(all.mutex);
    if (writes) return forget_range(all, address, address + size);
    // Of a structure that is copied as a whole some bytes may be padding.
    UnwrittenCopy* const copy = source_of(all, address, size);
    if (!copy || copy->read || !is_poison(address, size)) return;
    const OwnWork own;
    copy->read = true;
    copy->report.severity = Severity::error;
    copy->report.has_other = true;
    copy->report.other_act = Act::read;
    copy->report.other_task.stack = calls_up_to(pc);
}

void host_moves(std::uintptr_t to, std::uintptr_t from, std::size_t size) {
    HostGarbage& all = host_garbage();
    std::lock_guard lock(all.mutex);
    std::vector<std::pair<std::uintptr_t, GarbageRange>> moved;
    auto next = all.ranges.upper_bound(from);
    if (next != all.ranges.begin()) --next;
    for (; next != all.ranges.end() && next->first < from + size; ++next) {
        const std::uintptr_t begin = std::max(next->first, from),
                             end = std::min(next->second.end, from + size);
        if (begin < end && is_poison(begin, end - begin))
            moved.push_back({to + (begin - from), {to + (end - from), next->second.copy}});
    }
    forget_range(all, to, to + size);
    for (const auto& [begin, range] : moved) all.ranges[begin] = range;
    set_bounds(all);
}

void host_frees(const void* block) {
    const auto begin = reinterpret_cast<std::uintptr_t>(block);
    if (garbage.size == 0 || begin == 0) return;
    HostGarbage& all = host_garbage();
    std::lock_guard lock(all.mutex);
    forget_range(all, begin, begin + malloc_usable_size(const_cast<void*>(block)));
}

void host_reads_managed(const Array& array, std::uintptr_t address, std::size_t size, const void* pc) {
    if (!is_poison(address, size)) return;
    HostGarbage& all = host_garbage();
    std::lock_guard lock(all.mutex);
    if (all.told_of == array.serial + 1) return;
    for (std::uintptr_t at = address; at != address + size; ++at)
        if (array.is_written(at - array.begin)) return;
    // Code that is not instrumented may have written the array: then other bytes have values, too.
    const std::uintptr_t end = array.begin + array.size;
    for (std::uintptr_t at = array.begin, next; at != end; at = next) {
        next = end_of_run(array, at, end);
        if (!array.is_written(at - array.begin) && !is_poison(at, next - at)) return;
    }
    all.told_of = array.serial + 1;
    Report report{};
    report.tool = Tool::initcheck;
    report.kind = Kind::uninitialised;
    report.severity = Severity::warning;
    report.on_host = true;
    report.pc = pc;
    report.act = Act::read;
    report.size = size;
    report.array = &array;
    report.address = address;
    record(std::move(report));
}

void note_launch(const Launch& launch) {
    if (!state.watches_host) return;
    HostGarbage& all = host_garbage();
    std::lock_guard lock(all.mutex);
    constexpr std::size_t most = 256;
    if (all.launches.size() == most) all.launches.pop_front();
    all.launches.push_back({state.first_segment, launch.grid.name, launch.grid.function,
                            launch.blocks * launch.lanes, launch.blocks});
}

void note_refusal() {
    HostGarbage& all = host_garbage();
    std::lock_guard lock(all.mutex);
    all.misses_launch = true;
}

void forget_launches() {
    HostGarbage& all = host_garbage();
    std::lock_guard lock(all.mutex);
    all.launches.clear();
}

void record_unwritten_copies() {
    HostGarbage& all = host_garbage();
    std::lock_guard lock(all.mutex);
    for (const auto& copy : all.copies) {
        if (!copy->matters && !copy->read) continue;
        copy->report.array = &copy->array;
        record(std::move(copy->report));
    }
    forget_unwritten_copies();
}

void forget_unwritten_copies() {
    HostGarbage& all = host_garbage();
    std::lock_guard lock(all.mutex);
    all.misses_launch = false;
    all.ranges.clear();
    all.copies.clear();
    set_bounds(all);
}

}  // namespace simt::check
