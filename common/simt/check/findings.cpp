// From reports to findings: merged, put into words, written out.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string_view>
#include <tuple>

#include "check/host.h"
#include "check/state.h"
#include "runtime/launch_state.h"
#include "runtime/report.h"

namespace simt::check {
namespace {

/// One cause, as far as addresses in the code tell. The rest is an example.
struct Entry {
    Report report;
    std::string kernel;
    dim3 grid, block;
    std::string array;
    Memory memory = Memory::device;
    std::uintptr_t begin = 0;
    std::size_t array_size = 0;
    SharedShape shape = {};
    CallStack made_at = {}, freed_at = {};
    CallStack calls = {};  ///< that led to the report's pc, the first time
    std::uint64_t count = 0;
    std::uint32_t launch = 0;       ///< State::first_segment then
    bool between_warps = false;     ///< of a block: in the example or in any other case
    bool cooperative = false;       ///< the launch, so that there is a barrier of the grid
    bool adds_up = false;           ///< a race of one line that both reads and writes the element
    std::size_t written_bytes = 0;  ///< of the array, from its begin on, and nothing behind; 0: another part
    bool has_lambda = false;        ///< the code is a lambda's, or has one for a template's argument
    std::string extern_names;  ///< of the arrays that all of dynamic shared memory is, if there are several
};

using Key = std::tuple<Kind, const void*, const void*, std::string, std::string, int, const void*>;

struct Records {
    std::mutex mutex;
    std::map<Key, Entry> entries;
};
Records& records() {
    static auto* instance = new Records;
    return *instance;
}

bool earlier(const Report& a, const Report& b) {
    return std::tie(a.block, a.flat, a.other_block, a.other_flat, a.address) <
           std::tie(b.block, b.flat, b.other_block, b.other_flat, b.address);
}

uint3 split_index(std::uint64_t index, dim3 extent) {
    const std::uint64_t row = index / extent.x;
    return uint3{static_cast<unsigned>(index % extent.x), static_cast<unsigned>(row % extent.y),
                 static_cast<unsigned>(row / extent.y)};
}

std::string triple(uint3 v) {
    return "(" + std::to_string(v.x) + "," + std::to_string(v.y) + "," + std::to_string(v.z) + ")";
}

const char* name_of(Act act) {
    static const char* const names[] = {"",       "read", "write",      "atomic", "fetch",
                                        "access", "free", "allocation", "copy",   "barrier"};
    return names[static_cast<int>(act)];
}

std::string access_text(Act act, std::size_t size) {
    std::string text = name_of(act);
    if (size != 0) text += " of " + std::to_string(size) + (size == 1 ? " byte" : " bytes");
    return text;
}

/// "tile[3][5]", "v[17]"
std::string element_text(const Finding& f, const SharedShape& shape) {
    const std::string name = f.array.empty() ? "an array without a name" : f.array;
    if (f.element == 0) return name;
    if (f.array.empty()) return "element " + std::to_string(f.index) + " of " + name;
    if (shape.columns > 0 && f.index >= 0) {
        const auto columns = static_cast<std::ptrdiff_t>(shape.columns);
        return name + "[" + std::to_string(f.index / columns) + "][" + std::to_string(f.index % columns) +
               "]";
    }
    return name + "[" + std::to_string(f.index) + "]";
}

std::string place_text(const Place& place) {
    if (place.file.empty()) return "";
    return place.file + ":" + std::to_string(place.line) +
           (place.column ? ":" + std::to_string(place.column) : "");
}

/// What was allocated or freed where, as the end of a sentence.
std::string since(const char* what, const CallStack& stack) {
    const std::string place = place_text(locate(stack));
    return place.empty() ? "" : std::string(", ") + what + " at " + place;
}

/// "a write of 4 bytes by kernel scale in stream 2"
std::string by(const Side& side) {
    const bool vowel = !side.access.empty() && std::strchr("aeiou", side.access[0]) != nullptr;
    std::string text = (vowel ? "an " : "a ") + side.access + " by " +
                       (side.kernel.empty() ? side.operation : "kernel " + side.kernel);
    if (!side.stream.empty()) text += " in " + side.stream;
    return text;
}

std::string capitalised(std::string text) {
    if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
    return text;
}

/// "a read", "an atomic"
std::string with_article(const std::string& access) {
    return (access.compare(0, 1, "a") == 0 ? "an " : "a ") + access;
}

/// The first byte of the access, from the start of the array.
std::ptrdiff_t offset_of(const Entry& e) { return static_cast<std::ptrdiff_t>(e.report.address - e.begin); }

bool in_shared(const Entry& e) { return e.memory == Memory::shared || e.memory == Memory::dynamic_shared; }

/// An unsigned index of 32 bits went below 0.
bool wraps_below_zero(const Finding& f) {
    return f.index < std::int64_t{1} << 32 && f.index >= (std::int64_t{1} << 32) - (1 << 20);
}
/// A signed one went beyond its largest number, as far as can be told.
bool wraps_far(std::ptrdiff_t index) { return index < -(std::int64_t{1} << 29); }

std::string out_of_bounds_message(const Finding& f, const Entry& e) {
    const Report& r = e.report;
    if (!r.text.empty()) return r.text;
    const std::string access = capitalised(with_article(f.side.access));
    if (f.array.empty() && e.array_size == 0)
        return access + " goes to an address that belongs to no allocation.";
    const std::string extent = " of an array of " + std::to_string(f.extent) +
                               (f.extent == 1 ? " element" : " elements") + since("allocated", e.made_at) +
                               ".";
    if (r.meant != 0)
        return access + " goes to " + element_text(f, e.shape) + ": the index has wrapped, for " +
               std::to_string(r.meant) + " is more than an int holds. That is out of bounds" + extent;
    if (wraps_below_zero(f))
        return access + " goes to " + element_text(f, e.shape) +
               ": the index has wrapped below 0, where an unsigned one goes on at 4294967295. That is out of "
               "bounds" +
               extent;
    if (wraps_far(f.index))
        return access + " goes to " + element_text(f, e.shape) +
               ": the index has wrapped, for an int does not hold its value. That is out of bounds" + extent;
    const std::ptrdiff_t begin = offset_of(e);
    const std::ptrdiff_t past = begin + static_cast<std::ptrdiff_t>(r.size - e.array_size);
    return access + " goes to " + element_text(f, e.shape) + ", " +
           (begin < 0 ? std::to_string(-begin) + " bytes before the start"
                      : std::to_string(past) + " bytes past the end") +
           extent;
}

std::string race_message(const Finding& f, const Entry& e) {
    const Report& r = e.report;
    const std::string sides =
        r.other_task.name.empty()
            ? capitalised(with_article(f.side.access)) + " and " + with_article(f.other.access) + " of " +
                  (r.block != r.other_block ? "threads of different blocks" : "two threads of a block")
            : capitalised(by(f.side)) + " and " + by(f.other);
    return sides + " meet at " + element_text(f, e.shape) + " in no given order" +
           (f.severity == Severity::note ? "; both store the same value." : ".") +
           (e.extern_names.empty() ? "" : " The arrays " + e.extern_names + " begin at the same address.");
}

std::string message_of(const Finding& f, const Entry& e) {
    const Report& r = e.report;
    const std::string element = element_text(f, e.shape);
    const std::string access = capitalised(with_article(f.side.access));
    const std::string array = f.array.empty() ? "An array" : f.array;
    switch (r.kind) {
        case Kind::out_of_bounds:
            return out_of_bounds_message(f, e);
        case Kind::misaligned:
            return access + " goes to an address in " + (f.array.empty() ? "an array" : f.array) +
                   " that is " + std::to_string(r.address % r.size) + " bytes off a multiple of " +
                   std::to_string(r.size) + ".";
        case Kind::null_pointer:
            return access + " goes through a null pointer.";
        case Kind::host_memory:
            return access + " of a kernel goes to memory of the host.";
        case Kind::device_memory_on_host:
            return "The host makes " + with_article(f.side.access) + " in device memory (" + element + ").";
        case Kind::use_after_free:
            return access + " goes to " + element + ", which has been freed" + since("freed", e.freed_at) +
                   ".";
        case Kind::local_memory:
            return access + " goes to a local variable of another thread.";
        case Kind::constant_write:
            return "A kernel writes to " + element + ", which is constant memory.";
        case Kind::double_free:
            return (f.kernel.empty() ? array + " is freed twice" : "A kernel frees memory twice") +
                   since("first", e.freed_at) + ".";
        case Kind::invalid_free:
            if (!r.text.empty()) return r.text + since("allocated", e.made_at) + ".";
            if (!f.kernel.empty())
                return "A kernel frees " + (f.array.empty() ? "an address" : f.array) +
                       ", which no malloc or new of a kernel returned.";
            return "The host gives device memory to free or delete.";
        case Kind::leak:
            return array + " of " + std::to_string(e.array_size) + " bytes is never freed" +
                   since("allocated", e.made_at) + ".";
        case Kind::copy_direction:
            return "The copy is called " + r.text + ", but " + (f.array.empty() ? "an array" : f.array) +
                   " is device memory; what CUDA does then is undefined.";
        case Kind::write_write:
        case Kind::read_write:
        case Kind::atomic_read:
        case Kind::atomic_write:
            return race_message(f, e);
        case Kind::uninitialised:
            return access + " gets " + element + ", which nothing has written" +
                   (in_shared(e) ? "" : since("allocated", e.made_at)) + "." +
                   (e.written_bytes == 0 ? ""
                                         : " Only the first " + std::to_string(e.written_bytes) + " of its " +
                                               std::to_string(e.array_size) + " bytes have been written.");
        case Kind::unwritten_copy:
            return "A copy brings " + element + " to the host, which nothing has written" +
                   since("allocated", e.made_at) + ": " + r.text + ". " +
                   (f.has_other ? "The host reads what it brought."
                                : "The host has not been seen to read what it brought.");
        case Kind::divergent_barrier:
            return "Threads of a block wait at different barriers: " + r.text + ".";
        case Kind::exited_threads:
            return "Threads ended without coming to a barrier of their block: " + r.text +
                   ". GPUs since compute capability 7.0 do not wait for them; older ones may hang.";
        case Kind::wrong_mask:
        case Kind::inactive_lane:
            return r.text + ".";
        case Kind::deadlock:
            return "No thread can go on: " + r.text + ".";
        case Kind::livelock:
            return "Threads only poll: " + r.text + ".";
        case Kind::crash:
            return "The kernel crashed: " + r.text + ".";
        case Kind::timeout:
            return capitalised(r.text) + "." +
                   (f.side.place.file.empty() ? " Which line it was at is not known." : "");
        case Kind::failed_call:
            return r.text + ".";
        case Kind::assertion:
        case Kind::refused_launch:
        case Kind::wide_shift:
        case Kind::failure:
            break;
    }
    return capitalised(r.text) + ".";
}

bool same_line(const Place& a, const Place& b) {
    return a.line == b.line && a.file == b.file && a.path == b.path;
}

bool in_one_line(const Finding& f) {
    return f.side.place.line != 0 && same_line(f.side.place, f.other.place);
}

/// Does the line that reads stand below the one that writes?
bool read_is_below(const Finding& f, const Report& r) {
    const bool reads = r.act == Act::read;
    const Side &read = reads ? f.side : f.other, &write = reads ? f.other : f.side;
    return read.place.file == write.place.file && read.place.line > write.place.line;
}

const char* race_advice(const Finding& f, const Entry& e) {
    if (e.report.nested)
        return "A kernel does not wait for one that it has launched: leave what reads the result to another "
               "kernel, which the same thread launches after it, or to the host.";
    if (!e.report.other_task.name.empty()) {
        const Report& r = e.report;
        if (r.task.is_host || r.other_task.is_host)
            return "Wait before the host looks: cudaStreamSynchronize, cudaEventSynchronize or "
                   "cudaDeviceSynchronize.";
        if (r.act == Act::free || r.other_act == Act::free)
            return "Free it in the stream that used it last, or let the freeing stream wait for an event of "
                   "the other.";
        if (r.task.on_default_stream || r.other_task.on_default_stream)
            return "Was a stream forgotten? The default stream does not wait for one that was made with "
                   "cudaStreamNonBlocking: use one stream, or an event (cudaEventRecord, "
                   "cudaStreamWaitEvent).";
        return "Streams run side by side: record an event after the first (cudaEventRecord) and let the "
               "second's stream wait for it (cudaStreamWaitEvent), or use one stream.";
    }
    if (e.adds_up)
        return e.report.block == e.report.other_block
                   ? "The line reads the element and writes it back: what others write in between is lost. "
                     "Put __syncthreads() between the two if they are of different rounds of a loop. Else "
                     "use an atomic, such as atomicAdd, or give each thread its own element and add those "
                     "up; or, if they are not meant to meet, correct the index."
                   : "The line reads the element and writes it back: what others write in between is lost. "
                     "Use an atomic, such as atomicAdd, or give each thread its own element and add those "
                     "up. Or, if they are not meant to meet, correct the index.";
    if (f.severity == Severity::note)
        return "They store the same value, so no result depends on who is last; but the language promises "
               "nothing. Are they meant to meet? Else look at the index; or let one thread store it.";
    const bool grid_barrier = e.cooperative && !in_shared(e);
    if (e.report.block != e.report.other_block && grid_barrier)
        return "Blocks run in any order: put a barrier of the grid, cooperative_groups::this_grid().sync(), "
               "between the two, give each block its own elements, or use an atomic. Or, if they are not "
               "meant to meet, correct the index.";
    if (e.report.block != e.report.other_block && in_one_line(f) && e.report.kind == Kind::read_write)
        return "Blocks run in any order, and another thread reads on the same line: write into another "
               "array, or in a second kernel. Or, if they are not meant to meet, correct the index.";
    if (e.report.block != e.report.other_block)
        return "Blocks run in any order: give each its own elements, use an atomic, or start a second "
               "kernel; to hand data on, write, __threadfence(), then an atomic. Or, if they are not meant "
               "to meet, correct the index.";
    if (in_shared(e) && !e.between_warps && in_one_line(f) && e.report.kind == Kind::read_write)
        return "Threads of a warp do not run in step, and another reads on the same line. In a loop, put "
               "__syncwarp() or __syncthreads() before the next round; in one round, read into a variable, "
               "__syncwarp(), then write.";
    if (in_shared(e) && !e.between_warps)
        return "Threads of a warp do not run in step: put __syncwarp() or __syncthreads() between the two. "
               "Is there one already? Then the end of one round of a loop meets the beginning of the next: "
               "put another there.";
    if (in_one_line(f) && e.report.kind == Kind::read_write)
        return "Another thread reads on the same line. In a loop, put __syncthreads() before the next round; "
               "in one round, read into a variable, __syncthreads(), then write. Or, if they are not meant "
               "to meet, correct the index, or let one thread do both.";
    // The two meet in the order of the source, or where a loop begins its next round.
    if (in_shared(e) && e.report.kind == Kind::read_write)
        return read_is_below(f, e.report)
                   ? "Put __syncthreads() between the two; in a loop, also behind the read, before the next "
                     "round writes. Or, if they are not meant to meet, correct the index, or let one thread "
                     "do both."
                   : "Put __syncthreads() between the two; in a loop, also behind the write, before the next "
                     "round reads. Or, if they are not meant to meet, correct the index, or let one thread "
                     "do both.";
    if (grid_barrier && e.report.kind != Kind::write_write)
        return "Put __syncthreads() between the two; or, where threads of other blocks meet there as well, a "
               "barrier of the grid, cooperative_groups::this_grid().sync(). Or, if they are not meant to "
               "meet, correct the index, or let one thread do both.";
    return advice_for(e.report.kind);
}

/// As the report says, or as the index shows.
Cause cause_of(const Finding& f, const Report& r) {
    if (r.kind != Kind::out_of_bounds || r.cause != Cause::unknown) return r.cause;
    if (r.meant != 0 || wraps_far(f.index)) return Cause::wrapped_index;
    return wraps_below_zero(f) ? Cause::index_below_zero : Cause::unknown;
}

const char* advice_of(const Finding& f, const Entry& e) {
    const Report& r = e.report;
    if (const Cause cause = cause_of(f, r); cause != Cause::unknown) return advice_for(cause);
    switch (r.kind) {
        case Kind::out_of_bounds:
            if (r.act == Act::fetch)
                return "Guard the fetch, or clamp the index: only linear memory gives 0 outside, and a "
                       "plain load would fault.";
            if (r.act == Act::access)
                return "Guard the access, or correct the index or the extent of the array.";
            return e.memory == Memory::dynamic_shared
                       ? "Is it the size that the launch gives, its third argument, in bytes? Else guard "
                         "the access."
                   : offset_of(e) < 0
                       ? "Guard the first elements, or correct the index: a sign, a stride, x and y "
                         "exchanged?"
                       : "Guard the last elements: compare the index with the size before the access. Or "
                         "correct the index: a stride, x and y exchanged?";
        case Kind::double_free:
            if (!f.kernel.empty()) return "Let one thread free it, once.";
            break;
        case Kind::invalid_free:
            if (!f.kernel.empty()) return "Free what cudaMalloc returned with cudaFree, on the host.";
            if (r.act == Act::free)
                return "Free it with cudaFree; what a kernel allocated, a kernel has to free.";
            return "Each allocation has a function that frees it: cudaFree, cudaFreeHost, cudaFreeArray, "
                   "free() in a kernel. Give it the pointer that the allocation returned.";
        case Kind::host_memory:
            if (e.has_lambda)
                return "A lambda that names a member of its class captures `this`, and with it the host's "
                       "object: copy the member into a local variable first, or capture `*this`. Pointers "
                       "that it captures have to be to device memory.";
            break;
        case Kind::leak:
            if (r.severity == Severity::note)
                return "A later kernel may still free it; until then it takes up memory.";
            break;
        case Kind::write_write:
        case Kind::read_write:
        case Kind::atomic_read:
        case Kind::atomic_write:
            return race_advice(f, e);
        case Kind::uninitialised:
            return in_shared(e)
                       ? "Shared memory starts with garbage: store every element that is read, and 0 where "
                         "there is no data."
                   : e.written_bytes != 0
                       ? "Has all of it been copied or cleared? cudaMemcpy and cudaMemset count bytes, not "
                         "elements. Or write the rest in an earlier kernel. If nothing belongs there, "
                         "correct the index."
                       : "cudaMalloc does not clear: copy or cudaMemset the array, or write it in an "
                         "earlier kernel. If nothing belongs there, correct the index.";
        default:
            break;
    }
    return advice_for(r.kind);
}

/// Of a function's name; the lambda that cu2cpp makes of a launch does not count.
bool names_lambda(const std::string& function) {
    constexpr std::string_view lambda = "{lambda(", launch = "auto:1&&...";
    for (std::size_t at = 0; (at = function.find(lambda, at)) != std::string::npos;) {
        at += lambda.size();
        if (function.compare(at, launch.size(), launch) != 0) return true;
    }
    return false;
}

Finding make(Entry& e) {
    const Report& r = e.report;
    Finding f;
    f.tool = r.tool;
    f.severity = r.severity;
    f.kind = name_of(r.kind);
    f.kernel = r.on_host ? "" : e.kernel;
    f.count = e.count;
    f.array = e.array;
    f.side.place = r.pc ? locate(r.pc, e.calls) : locate(r.task.name.empty() ? r.stack : r.task.stack);
    if (!r.place.file.empty()) {
        Place place = r.place;
        const bool same = f.side.place.file == place.file;
        place.caller_file = same ? f.side.place.caller_file : f.side.place.file;
        place.caller_line = same ? f.side.place.caller_line : f.side.place.line;
        f.side.place = place;
    }
    if (f.side.place.file.empty() && r.kind == Kind::leak) f.side.place = locate(e.made_at);
    if (r.kind == Kind::refused_launch) f.side.place.column = 0;  // of what the launch was translated to
    // What a copy does at once is not the element that the example is about.
    const bool by_stream = r.on_host && !r.task.stream.empty();
    f.side.access = access_text(r.act, by_stream ? 0 : r.size);
    if (!r.on_host) {
        f.side.thread = split_index(r.flat, e.block);
        f.side.block = split_index(r.block, e.grid);
        f.side.kernel = e.kernel;
    }
    f.has_other = r.has_other;
    if (r.has_other) {
        f.other.place = r.other_pc ? locate(r.other_pc) : locate(r.other_task.stack);
        f.other.access = name_of(r.other_act);
        f.other.kernel = f.kernel;
        f.other.thread = split_index(r.other_flat, e.block);
        f.other.block = split_index(r.other_block, e.grid);
    }
    if (!r.other_task.name.empty()) {
        const auto fill = [](Side& side, const Task& task) {
            side.stream = task.stream;
            (task.is_kernel ? side.kernel : side.operation) = task.name;
        };
        fill(f.side, r.task);
        if (!r.on_host) f.side.kernel = e.kernel, f.side.operation.clear();
        f.other.kernel.clear();
        fill(f.other, r.other_task);
        if (r.other_task.is_kernel) {
            f.other.thread = split_index(r.other_flat, r.other_task.block);
            f.other.block = split_index(r.other_block, r.other_task.grid);
        }
        if (f.kernel.empty()) f.kernel = f.other.kernel;
    }
    if (e.array_size != 0) {
        // The members of one object are told apart by the size of the access, as in memory without a shape.
        const bool shaped = e.shape.element != 0 && e.memory != Memory::dynamic_shared &&
                            (e.shape.element < e.array_size || r.size == 0 || r.size >= e.shape.element);
        f.element = shaped ? e.shape.element : std::max<std::size_t>(r.size, 1);
        f.extent = e.array_size / f.element;
        const auto offset = static_cast<std::ptrdiff_t>(r.address - e.begin);
        const auto element = static_cast<std::ptrdiff_t>(f.element);
        f.index = offset < 0 ? -((-offset + element - 1) / element) : offset / element;
    }
    e.has_lambda = names_lambda(f.side.place.function);
    // A kernel that was inlined into its caller.
    for (Side* side : {&f.side, &f.other})
        if (side->place.function.find("run_lane<") != std::string::npos)
            side->place.function = side->kernel.empty() ? f.kernel : side->kernel;
    f.message = message_of(f, e);
    f.advice = advice_of(f, e);
    if (!e.extern_names.empty() && f.tool == Tool::racecheck)
        f.advice =
            "All extern __shared__ arrays of a kernel are one memory: declare one, and let the others begin "
            "behind it. If they are meant to share it: " +
            f.advice;
    // A race looks the same whichever side came second: the write first, then by line.
    const auto rank = [](const Side& side, Act act) {
        return std::make_tuple(act == Act::write    ? 0
                               : act == Act::atomic ? 1
                                                    : 2,
                               side.place.file, side.place.line);
    };
    if (f.has_other && r.kind != Kind::unwritten_copy &&
        (f.tool == Tool::racecheck ? rank(f.other, r.other_act) < rank(f.side, r.act)
                                   : std::tie(f.other.place.file, f.other.place.line) <
                                         std::tie(f.side.place.file, f.side.place.line)))
        std::swap(f.side, f.other);
    return f;
}

auto order(const Finding& f) {
    return std::tie(f.severity, f.tool, f.side.place.file, f.side.place.line, f.kind, f.array, f.kernel,
                    f.other.place.file, f.other.place.line, f.side.place.path, f.other.place.path);
}

bool example_before(const Finding& a, const Finding& b) {
    const auto key = [](const Finding& f) {
        return std::make_tuple(f.side.block.z, f.side.block.y, f.side.block.x, f.side.thread.z,
                               f.side.thread.y, f.side.thread.x, f.index);
    };
    return key(a) < key(b);
}

std::string json_triple(uint3 v) {
    return "[" + std::to_string(v.x) + ", " + std::to_string(v.y) + ", " + std::to_string(v.z) + "]";
}

std::string json_side(const Side& side) {
    std::string text = "{\"file\": " + json_text(side.place.file) +
                       (side.place.path.empty() ? "" : ", \"path\": " + json_text(side.place.path)) +
                       ", \"line\": " + std::to_string(side.place.line) +
                       ", \"column\": " + std::to_string(side.place.column) +
                       ", \"function\": " + json_text(side.place.function) +
                       ", \"access\": " + json_text(side.access);
    if (!side.place.caller_file.empty())
        text += ", \"caller_file\": " + json_text(side.place.caller_file) +
                ", \"caller_line\": " + std::to_string(side.place.caller_line);
    if (!side.stream.empty()) text += ", \"stream\": " + json_text(side.stream);
    if (!side.operation.empty()) text += ", \"operation\": " + json_text(side.operation);
    if (!side.stream.empty() && !side.kernel.empty()) text += ", \"kernel\": " + json_text(side.kernel);
    if (!side.kernel.empty())
        text += ", \"thread\": " + json_triple(side.thread) + ", \"block\": " + json_triple(side.block);
    return text + "}";
}

/// Bytes of the character that begins at text[i], which is none of ASCII; 0 where there is no such one in
/// UTF-8.
std::size_t character_length(const std::string& text, std::size_t i) {
    const auto at = [&](std::size_t k) {
        return k < text.size() ? static_cast<unsigned char>(text[k]) : std::uint8_t{0};
    };
    const unsigned first = at(i), second = at(i + 1);
    const std::size_t length = first >= 0xC2 && first <= 0xDF   ? 2
                               : first >= 0xE0 && first <= 0xEF ? 3
                               : first >= 0xF0 && first <= 0xF4 ? 4
                                                                : 0;
    for (std::size_t k = 1; k < length; ++k)
        if ((at(i + k) & 0xC0) != 0x80) return 0;
    // Written with more bytes than it needs; half of a pair of UTF-16; behind the last character.
    const bool wrong = (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
                       (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F);
    return wrong ? 0 : length;
}

}  // namespace

std::string json_text(const std::string& text) {
    std::string result = "\"";
    for (std::size_t i = 0; i < text.size();) {
        const auto byte = static_cast<unsigned char>(text[i]);
        const std::size_t length = byte < 128 ? 1 : character_length(text, i);
        if (byte == '"' || byte == '\\') {
            result += '\\';
            result += text[i];
        } else if (byte < 32) {
            char escape[8];
            std::snprintf(escape, sizeof escape, "\\u%04x", byte);
            result += escape;
        } else if (length == 0) {  // of Latin-1, as far as anybody can tell
            result += static_cast<char>(0xC0 | byte >> 6);
            result += static_cast<char>(0x80 | (byte & 0x3F));
        } else {
            result.append(text, i, length);
        }
        i += std::max<std::size_t>(length, 1);
    }
    return result + "\"";
}

/// A number that stands for a stack of calls.
static const void* one_for(const CallStack& stack) {
    std::uintptr_t all = 0;
    for (const void* frame : stack) all = all * 31 + reinterpret_cast<std::uintptr_t>(frame);
    return reinterpret_cast<const void*>(all);
}

static void describe(Entry& entry, const Array& array) {
    entry.array = array.name;
    entry.memory = array.memory;
    entry.begin = array.begin;
    entry.array_size = array.size;
    entry.shape = array.shape;
    entry.made_at = array.made_at;
    entry.freed_at = array.freed_at;
}

void record(Report report) {
    const OwnWork own;
    Records& all = records();
    std::lock_guard lock(all.mutex);
    std::string kernel = report.on_host || !state.launch ? "" : kernel_name(state.launch->grid);
    const void* pc = report.pc                  ? report.pc
                     : report.task.name.empty() ? one_for(report.stack)
                                                : one_for(report.task.stack);
    const void* other_pc = report.other_pc ? report.other_pc : one_for(report.other_task.stack);
    Key key{report.kind,
            pc,
            other_pc,
            report.array ? report.array->name : "",
            kernel,
            static_cast<int>(report.severity),
            report.place.line ? reinterpret_cast<const void*>(std::uintptr_t{report.place.line}) : nullptr};
    auto [found, fresh] = all.entries.try_emplace(std::move(key));
    Entry& entry = found->second;
    if (fresh && report.pc) entry.calls = calls_up_to(report.pc);
    entry.count += report.times;
    entry.between_warps = entry.between_warps || (report.has_other && report.block == report.other_block &&
                                                  report.flat / warp_lanes != report.other_flat / warp_lanes);
    if (!fresh && !earlier(report, entry.report)) return;
    entry.kernel = std::move(kernel);
    if (state.launch && !report.on_host) {
        entry.cooperative = state.launch->grid.cooperative;
        entry.grid = state.launch->grid.grid;
        entry.block = state.launch->grid.block;
    }
    entry.launch = state.first_segment;
    if (report.array) describe(entry, *report.array);
    constexpr std::size_t soon_read = 1 << 24;
    if (fresh && report.kind == Kind::uninitialised && entry.memory == Memory::device &&
        entry.array_size <= soon_read)
        entry.written_bytes = written_prefix(*report.array);
    entry.extern_names.clear();
    if (entry.memory == Memory::dynamic_shared && state.dynamic_names.size() > 1)
        for (const char* name : state.dynamic_names)
            entry.extern_names += (entry.extern_names.empty()           ? ""
                                   : name == state.dynamic_names.back() ? " and "
                                                                        : ", ") +
                                  std::string(name);
    entry.report = std::move(report);
    entry.report.array = nullptr;
}

void correct_guesses(const void* pc, Act act, const Array& array) {
    const OwnWork own;
    Records& all = records();
    std::lock_guard lock(all.mutex);
    for (auto next = all.entries.begin(); next != all.entries.end();) {
        const auto here = next++;
        const Report& report = here->second.report;
        if (!report.guessed || report.pc != pc || report.act != act ||
            here->second.launch != state.first_segment)
            continue;
        auto entry = all.entries.extract(here);
        describe(entry.mapped(), array);
        entry.mapped().report.guessed = false;
        std::get<3>(entry.key()) = array.name;
        const std::uint64_t count = entry.mapped().count;
        if (const auto result = all.entries.insert(std::move(entry)); !result.inserted)
            result.position->second.count += count;
    }
}

/// Where both sides of a race of threads are on one line of the source: that line, and the array.
using Line = std::tuple<std::string, unsigned, std::string>;
static Line line_of_race(const Entry& e) {
    const Report& r = e.report;
    if ((r.kind != Kind::read_write && r.kind != Kind::write_write) || !r.other_task.name.empty()) return {};
    const Place a = locate(r.pc), b = locate(r.other_pc);
    if (a.line == 0 || !same_line(a, b)) return {};
    return {a.file, a.line, e.array};
}

std::vector<Finding> findings() {
    settle_pending();
    settle_host();
    record_unread_calls();
    record_unwritten_copies();
    Records& all = records();
    std::lock_guard lock(all.mutex);
    // One run of addr2line for everything.
    std::vector<const void*> addresses;
    for (const auto& [key, e] : all.entries) {
        addresses.insert(addresses.end(), {e.report.pc, e.report.other_pc});
        for (const CallStack* stack : {&e.report.stack, &e.report.task.stack, &e.report.other_task.stack,
                                       &e.made_at, &e.freed_at, &e.calls})
            addresses.insert(addresses.end(), stack->begin(), stack->end());
    }
    locate_all(addresses);
    // A race is met from either side: what holds for one holds for both.
    std::set<std::pair<const void*, const void*>> between_warps;
    const auto places_of = [](const Entry& e) { return std::minmax(e.report.pc, e.report.other_pc); };
    for (const auto& [key, entry] : all.entries)
        if (entry.between_warps) between_warps.insert(places_of(entry));
    // `sum += x` of several threads: on one line, of one array, some read what others write, and all write.
    std::map<Line, std::set<Kind>> races;
    for (const auto& [key, entry] : all.entries)
        if (const Line line = line_of_race(entry); line != Line()) races[line].insert(entry.report.kind);
    std::vector<Finding> list;
    for (auto& [key, entry] : all.entries) {
        const auto race = races.find(line_of_race(entry));
        entry.adds_up = race != races.end() && race->second.size() == 2;
        // That they write the same value is no comfort where they read it first.
        if (entry.adds_up && entry.report.severity == Severity::note) continue;
        entry.between_warps = between_warps.count(places_of(entry)) != 0;
        Finding finding = make(entry);
        // Copies of one barrier in the machine code are one barrier.
        if (entry.report.kind == Kind::divergent_barrier &&
            same_line(finding.side.place, finding.other.place))
            continue;
        list.push_back(std::move(finding));
    }
    std::sort(list.begin(), list.end(), [](const Finding& a, const Finding& b) {
        return order(a) != order(b) ? order(a) < order(b) : example_before(a, b);
    });
    std::vector<Finding> merged;
    for (Finding& finding : list) {
        if (!merged.empty() && order(merged.back()) == order(finding)) {
            merged.back().count += finding.count;
            continue;
        }
        // What is an error somewhere needs no note that it is harmless elsewhere.
        const auto same = [&](const Finding& f) {
            return f.kind == finding.kind && f.side.place.line == finding.side.place.line &&
                   f.other.place.line == finding.other.place.line && f.array == finding.array &&
                   f.kernel == finding.kernel;
        };
        if (finding.severity == Severity::note && std::any_of(merged.begin(), merged.end(), same)) continue;
        merged.push_back(std::move(finding));
    }
    return merged;
}

void clear() {
    settle_pending();
    settle_host();
    forget_unread_calls();
    forget_unwritten_copies();
    Records& all = records();
    std::lock_guard lock(all.mutex);
    all.entries.clear();
    state.stopped = false;
}

void watch_host(bool on) { state.watches_host = on; }

std::uint64_t allocations() { return state.allocations; }

void find_leaks(std::uint64_t since) {
    for (const auto& [address, array] : state.live) {
        if (array->serial < since) continue;
        Report report{};
        // CUDA keeps what kernels allocated until the context ends, and later kernels may use it.
        report.severity = array->from_kernel ? Severity::note : Severity::warning;
        report.tool = Tool::memcheck;
        report.kind = Kind::leak;
        report.on_host = true;
        report.array = array;
        report.address = address;
        report.stack = array->made_at;
        record(std::move(report));
    }
}

const char* to_string(Tool tool) {
    static const char* const names[] = {"memcheck", "racecheck", "initcheck", "synccheck"};
    return names[static_cast<int>(tool)];
}
const char* to_string(Severity severity) {
    static const char* const names[] = {"error", "warning", "note"};
    return names[static_cast<int>(severity)];
}

std::string to_text(const Finding& f) {
    const auto side = [&](const Side& s) {
        std::string text = s.access.empty() ? "" : s.access + " ";
        const std::string place = place_text(s.place);
        if (!place.empty()) text += "at " + place;
        if (!s.place.function.empty()) text += " in " + s.place.function;
        if (!s.place.caller_file.empty())
            text += ", called at " + s.place.caller_file + ":" + std::to_string(s.place.caller_line);
        if (!s.kernel.empty())
            text += std::string(text.empty() ? "" : ", ") + "thread " + triple(s.thread) + " of block " +
                    triple(s.block);
        if (!s.stream.empty()) {
            if (!s.kernel.empty()) text += " of kernel " + s.kernel;
            if (!s.operation.empty()) text += " by " + s.operation;
            text += " in " + s.stream;
        }
        return text;
    };
    std::string text = std::string(to_string(f.tool)) + " " + to_string(f.severity) + ": " + f.kind +
                       (f.kernel.empty() ? "" : " in kernel " + f.kernel) + "\n  " + f.message + "\n  " +
                       side(f.side) + "\n";
    if (f.has_other) text += "  " + side(f.other) + "\n";
    text += "  " + f.advice + "\n";
    if (f.count > 1) text += "  " + std::to_string(f.count) + " times\n";
    return text;
}

std::string to_json(const std::vector<Finding>& list) {
    std::string text = "[";
    for (std::size_t i = 0; i < list.size(); ++i) {
        const Finding& f = list[i];
        text += i ? ",\n " : "\n ";
        text += "{\"tool\": " + json_text(to_string(f.tool)) +
                ", \"severity\": " + json_text(to_string(f.severity)) + ", \"kind\": " + json_text(f.kind) +
                ", \"kernel\": " + json_text(f.kernel) + ",\n  \"side\": " + json_side(f.side);
        if (f.has_other) text += ",\n  \"other\": " + json_side(f.other);
        if (f.element != 0 || !f.array.empty())
            text += ",\n  \"array\": {\"name\": " + json_text(f.array) +
                    ", \"index\": " + std::to_string(f.index) +
                    ", \"element\": " + std::to_string(f.element) +
                    ", \"extent\": " + std::to_string(f.extent) + "}";
        text += ",\n  \"message\": " + json_text(f.message) + ",\n  \"advice\": " + json_text(f.advice) +
                ",\n  \"count\": " + std::to_string(f.count) + "}";
    }
    return text + (list.empty() ? "]\n" : "\n]\n");
}

}  // namespace simt::check
