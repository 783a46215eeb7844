#include "runtime/report.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <set>

#include "runtime/crash.h"
#include "runtime/observe.h"
#include "simt/inspect/control.h"
#include "simt/inspect/names.h"
#include "simt/warp.h"

namespace simt {
namespace {

std::mutex report_mutex;
std::string& stored_report() {
    static auto* text = new std::string;  // failures come to the program's end, and after it
    return *text;
}
std::atomic<bool> quiet{[] {
    const char* text = std::getenv("RUNGS_SIMT_QUIET");
    return text && *text && std::strcmp(text, "0") != 0;
}()};

ReportListener listener = nullptr;

std::string format(const char* pattern, ...) __attribute__((format(printf, 1, 2)));
std::string format(const char* pattern, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, pattern);
    std::vsnprintf(text, sizeof text, pattern, arguments);
    va_end(arguments);
    return text;
}

std::string triple(const uint3& v) { return format("(%u,%u,%u)", v.x, v.y, v.z); }

std::string run(const std::string& command) {
    std::string output;
    if (FILE* pipe = popen(command.c_str(), "r")) {
        char buffer[4096];
        while (std::size_t n = std::fread(buffer, 1, sizeof buffer, pipe)) output.append(buffer, n);
        pclose(pipe);
    }
    return output;
}

std::string quoted(const std::string& path) {
    std::string result = "'";
    for (char c : path) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return result + "'";
}

/// Directories tell readers nothing and differ between machines.
std::string base_name(const std::string& place) {
    const std::size_t slash = place.rfind('/');
    return slash == std::string::npos ? place : place.substr(slash + 1);
}

struct Object {
    std::string path;
    std::uintptr_t base = 0;
};

Object object_of(const void* address) {
    struct Search {
        std::uintptr_t address;
        Object found;
    } search{reinterpret_cast<std::uintptr_t>(address), {}};
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* data) {
            auto& s = *static_cast<Search*>(data);
            for (int i = 0; i < info->dlpi_phnum; ++i) {
                const auto& header = info->dlpi_phdr[i];
                const std::uintptr_t start = info->dlpi_addr + header.p_vaddr;
                if (header.p_type == PT_LOAD && s.address >= start && s.address < start + header.p_memsz) {
                    s.found = {info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe", info->dlpi_addr};
                    return 1;
                }
            }
            return 0;
        },
        &search);
    if (search.found.path == "/proc/self/exe") {
        char path[4096];
        const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
        if (n > 0) search.found.path.assign(path, static_cast<std::size_t>(n));
    }
    return search.found;
}

}  // namespace

void publish(const FailureReport& report) {
    const std::string text = report.people + "\nsimt: " + report.tools + "\n";
    std::lock_guard lock(report_mutex);
    stored_report() = text;
    if (listener) {
        listener(text, report.deadlock);
        return;
    }
    if (quiet) return;
    std::fflush(stdout);
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
}

std::vector<std::string> locate(const std::vector<const void*>& return_addresses) {
    std::vector<std::string> places(return_addresses.size());
    // One run of addr2line an object, for all its addresses.
    std::map<std::string, std::vector<std::size_t>> objects;
    std::vector<std::uintptr_t> offsets(return_addresses.size());
    for (std::size_t i = 0; i < return_addresses.size(); ++i) {
        const void* address = return_addresses[i];
        if (!address) continue;
        const Object object = object_of(address);
        offsets[i] = reinterpret_cast<std::uintptr_t>(address) - 1 - object.base;
        if (!object.path.empty()) objects[object.path].push_back(i);
        places[i] = object.path.empty() ? format("%p", address)
                                        : base_name(object.path) + format("+0x%zx", offsets[i]);
    }
    for (const auto& [path, indices] : objects) {
        std::string command = "addr2line -a -i -e " + quoted(path);
        for (std::size_t i : indices) command += format(" 0x%zx", offsets[i]);
        const std::string output = run(command + " 2>/dev/null");
        // An address line "0x...", then a line a frame, innermost first.
        std::size_t entry = indices.size(), index = 0;
        std::string first;
        bool done = true;
        for (std::size_t begin = 0; begin < output.size();) {
            std::size_t end = output.find('\n', begin);
            if (end == std::string::npos) end = output.size();
            std::string line = output.substr(begin, end - begin);
            begin = end + 1;
            if (line.compare(0, 2, "0x") == 0) {
                entry = index++;
                done = entry >= indices.size();
                continue;
            }
            if (done || line.compare(0, 2, "??") == 0) continue;
            if (const std::size_t note = line.find(" (discriminator"); note != std::string::npos)
                line.resize(note);
            if (line.size() > 2 && line.compare(line.size() - 2, 2, ":?") == 0) continue;
            places[indices[entry]] = base_name(line);
            done = !is_own_source(line);
        }
    }
    return places;
}

/// The place of one address in a file of the program's; empty: it is in none.
static std::string locate_own(const void* return_address) {
    const Object object = object_of(return_address);
    const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(return_address) - object.base;
    // Clang gives some calls in a loop no line: then that of the code behind the call is the nearest, and
    // only then that of a function into which the loop was inlined.
    std::string caller;
    for (const std::uintptr_t at : {offset - 1, offset}) {
        const std::string output =
            run("addr2line -i -e " + quoted(object.path) + format(" 0x%zx", at) + " 2>/dev/null");
        bool has_line = true;
        for (std::size_t begin = 0; begin < output.size();) {
            std::size_t end = output.find('\n', begin);
            if (end == std::string::npos) end = output.size();
            const std::string line = output.substr(begin, end - begin);
            begin = end + 1;
            if (line.compare(0, 2, "??") == 0 || line.compare(0, 5, "/usr/") == 0 || is_own_source(line) ||
                line.find("../sysdeps") != std::string::npos)
                continue;
            if (line.size() > 1 && line.compare(line.size() - 2, 2, ":?") == 0) {
                has_line = false;
                continue;
            }
            const std::string place = base_name(line.substr(0, line.find(" (discriminator")));
            if (has_line) return place;
            if (caller.empty()) caller = place;
            break;
        }
        if (has_line) break;
    }
    return caller;
}

std::string kernel_name(const Grid& grid) {
    if (grid.name) return grid.name;
    if (!grid.function) return "?";
    // The symbol table is asked once for each kernel: that takes long.
    static std::mutex mutex;
    static auto* names = new std::map<const void*, std::string>;
    std::lock_guard lock(mutex);
    std::string& known = (*names)[grid.function];
    if (!known.empty()) return known;
    const Object object = object_of(grid.function);
    const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(grid.function) - object.base;
    std::string name =
        run("addr2line -C -f -e " + quoted(object.path) + format(" 0x%zx", offset) + " 2>/dev/null");
    name.resize(std::min(name.size(), name.find('\n')));
    name = short_name(name);
    return known = name.empty() || name == "??" ? base_name(object.path) + format("+0x%zx", offset) : name;
}

namespace {

std::string at(const std::string& place) { return place.empty() ? "" : " (" + place + ")"; }

FailureReport lane_report(const Launch& launch, const Block& block, cudaError_t error, const char* word,
                          const std::string& text, const std::string& place, const std::string& more) {
    const std::string name = kernel_name(launch.grid);
    return {error,
            "kernel " + name + ": thread " + triple(threadIdx) + " of block " + triple(block.index) + ": " +
                text + at(place),
            std::string("error=") + word + " kernel=\"" + name + "\" block=" + triple(block.index) +
                " thread=" + triple(threadIdx) + more + (place.empty() ? "" : " at=" + place)};
}

/// "0-15, 17, 32-63"
std::string ranges(std::vector<unsigned> lanes) {
    std::sort(lanes.begin(), lanes.end());
    std::string text;
    for (std::size_t i = 0; i < lanes.size();) {
        std::size_t j = i;
        while (j + 1 < lanes.size() && lanes[j + 1] == lanes[j] + 1) ++j;
        if (!text.empty()) text += ',';
        text += std::to_string(lanes[i]);
        if (j > i) text.append(1, '-').append(std::to_string(lanes[j]));
        i = j + 1;
    }
    return text;
}

const char* tile_wait_name(TileOperation operation) {
    switch (operation) {
        case TileOperation::sync:
            return "tile.sync";
        case TileOperation::broadcast:
            return "tile.shfl";
        case TileOperation::all:
            return "tile.all";
        case TileOperation::any:
            return "tile.any";
        default:
            return "the reduction or scan of a tile";
    }
}

const char* wait_name(Wait wait, std::uint8_t operation) {
    switch (wait) {
        case Wait::sync:
            return "__syncthreads";
        case Wait::count:
            return "__syncthreads_count";
        case Wait::all:
            return "__syncthreads_and";
        case Wait::any:
            return "__syncthreads_or";
        case Wait::grid:
            return "grid.sync";
        case Wait::active_mask:
            return "__activemask";
        case Wait::yield:
            return "a spin loop";
        case Wait::phase:
            return "cuda::barrier";
        case Wait::tile:
            return tile_wait_name(static_cast<TileOperation>(operation));
        default:
            break;
    }
    switch (static_cast<WarpOperation>(operation)) {
        case WarpOperation::sync:
            return "__syncwarp";
        case WarpOperation::shuffle:
            return "a warp shuffle";
        case WarpOperation::all:
            return "__all_sync";
        case WarpOperation::any:
            return "__any_sync";
        case WarpOperation::ballot:
            return "__ballot_sync";
        case WarpOperation::unanimous:
            return "__uni_sync";
        case WarpOperation::match_any:
            return "__match_any_sync";
        case WarpOperation::match_all:
            return "__match_all_sync";
        case WarpOperation::fragment:
            return "a load or store of nvcuda::wmma";
        case WarpOperation::product:
            return "nvcuda::wmma::mma_sync";
        default:
            return "a __reduce_*_sync";
    }
}

/// What the waiting lanes of `block` wait for: "threads 0-15 wait at __syncthreads (file.cu:31); ..."
/// `site`: of the first of them.
std::string describe_waits(const Block& block, std::string& tools, const void*& site) {
    struct Group {
        Wait wait;
        std::uint8_t operation;
        unsigned mask;  ///< of a tile, its size
        const void* site;
        std::vector<unsigned> lanes;
    };
    std::vector<Group> groups;
    auto add = [&](const Lane& lane, Wait wait) {
        const bool partial = wait == Wait::warp || wait == Wait::tile;
        const std::uint8_t operation = partial ? lane.operation : 0;
        const auto index = static_cast<unsigned>(&lane - block.lanes);
        const unsigned mask = partial ? block.warps[index / warp_lanes].mask[index % warp_lanes] : 0;
        auto same = [&](const Group& g) {
            return g.wait == wait && g.operation == operation && g.mask == mask && g.site == lane.site;
        };
        auto found = std::find_if(groups.begin(), groups.end(), same);
        if (found == groups.end()) {
            groups.push_back({wait, operation, mask, lane.site, {}});
            found = groups.end() - 1;
        }
        found->lanes.push_back(index);
    };
    auto add_all = [&](const LaneQueue& queue, Wait wait) {
        for (unsigned i = queue.head; i != queue.tail; ++i) add(*queue.lanes[i], wait);
    };
    for (int kind = 0; kind < static_cast<int>(Wait::block_barriers); ++kind)
        add_all(*block.barriers[kind].waiting, static_cast<Wait>(kind));
    add_all(block.at_phases, Wait::phase);
    for (unsigned i = block.yielded.head; i != block.yielded.tail; ++i) {
        const Lane& lane = *block.yielded.lanes[i];
        add(lane, lane.awaited ? Wait::phase : Wait::yield);
    }
    for (unsigned w = 0; w * warp_lanes < block.total; ++w) {
        for (unsigned rest = block.warps[w].at_tile; rest != 0; rest &= rest - 1)
            add(block.lanes[w * warp_lanes + static_cast<unsigned>(__builtin_ctz(rest))], Wait::tile);
        for (unsigned slots = block.warps[w].active; slots != 0; slots &= slots - 1) {
            const Rendezvous& meeting = block.warps[w].rendezvous[__builtin_ctz(slots)];
            for (unsigned rest = meeting.arrived; rest != 0; rest &= rest - 1)
                add(block.lanes[w * warp_lanes + static_cast<unsigned>(__builtin_ctz(rest))],
                    meeting.operation == active_mask_operation ? Wait::active_mask : Wait::warp);
        }
    }
    std::sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) {
        return *std::min_element(a.lanes.begin(), a.lanes.end()) <
               *std::min_element(b.lanes.begin(), b.lanes.end());
    });
    std::vector<const void*> sites;
    for (const Group& group : groups) sites.push_back(group.site);
    site = sites.empty() ? nullptr : sites[0];
    const std::vector<std::string> places = locate(sites);
    std::string text;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        const Group& group = groups[i];
        const std::string lanes = ranges(group.lanes);
        const char* name = wait_name(group.wait, group.operation);
        text += (i ? "; " : "") + std::string(group.lanes.size() == 1 ? "thread " : "threads ") + lanes +
                (group.lanes.size() == 1 ? " waits" : " wait") +
                (group.wait == Wait::yield ? " in " : " at ") + name;
        if (group.wait == Wait::warp) text += format(" with mask 0x%08x", group.mask);
        if (group.wait == Wait::tile) text += format(" of %u threads", group.mask);
        text += at(places[i]);
        tools += " wait=\"" + lanes + " " + name + " " + places[i] + "\"";
    }
    if (block.live < block.total)
        text += format("%s%u of %u threads have exited", groups.empty() ? "" : "; ", block.total - block.live,
                       block.total);
    return text;
}

}  // namespace

FailureReport lane_report(const Launch& launch, const Block& block, cudaError_t error,
                          const std::string& text, const void* site) {
    return lane_report(launch, block, error, error == cudaErrorAssert ? "assert" : "kernel", text,
                       locate({site})[0], "");
}

FailureReport fault_report(const Launch& launch, const Fault& fault, const Block& block) {
    // locate() takes return addresses.
    const void* site = static_cast<const char*>(fault.pc) + 1;
    std::string place = locate({site})[0];
    // Of the callers, where they are known, the first one in the program counts. (Two frames of what was
    // interrupted are the handler's.)
    for (std::size_t i = fault.called ? 0 : 2; i < std::size(fault.callers) && fault.callers[i]; ++i) {
        const std::string caller = locate_own(fault.callers[i]);
        if (caller.empty()) continue;
        place = caller;
        site = fault.callers[i];
        break;
    }
    // A recursion is to be seen where it calls itself.
    const void* const* innermost = fault.callers;
    const auto* const end = std::find(std::begin(fault.callers), std::end(fault.callers), nullptr);
    const auto* const again = std::find_if(std::begin(fault.callers), end, [&](const void* const& caller) {
        return std::find(&caller + 1, end, caller) != end;
    });
    const bool recursion = fault.stack_overflow && again != end;
    if (recursion) {
        innermost = again;
        site = *again;
        place = locate({site})[0];
    }
    const std::string address = format("%p", fault.address);
    static constexpr struct {
        int signal;
        cudaError_t error;
        const char* word;
        const char* text;
    } causes[] = {
        {SIGSEGV, cudaErrorIllegalAddress, "illegal-address", "segmentation fault at address "},
        {SIGBUS, cudaErrorMisalignedAddress, "misaligned-address", "bus error at address "},
        {SIGFPE, cudaErrorLaunchFailure, "arithmetic", "integer division by zero or overflow"},
        {SIGILL, cudaErrorIllegalInstruction, "illegal-instruction", "illegal instruction"},
        {overtime_signal, cudaErrorLaunchTimeout, "timeout",
         "the launch has run for more than its limit of "},
        {SIGABRT, cudaErrorLaunchFailure, "abort", "abort()"},
    };
    const auto* cause = causes;
    while (cause->signal != fault.signal && cause->signal != SIGABRT) ++cause;
    const char* word = cause->word;
    cudaError_t error = cause->error;
    std::string text = cause->text;
    check::Cause known = fault.signal == SIGFPE ? check::Cause::division : check::Cause::unknown;
    if (fault.signal == SIGSEGV || fault.signal == SIGBUS) text += address;
    if (fault.called) text = "call of a function at address " + address;
    if (const char* name = fault.called ? observe::function_of_host(fault.address) : nullptr) {
        text = std::string("it calls device function '") + name + "' by the address that the host has for it";
        known = check::Cause::host_function;
    }
    if (fault.signal == overtime_signal)
        text += format("%.3g s", 1e-9 * static_cast<double>(time_limit_ns()));
    if (fault.stack_overflow) {
        text = format(
            "stack overflow%s (a lane has %zu bytes; RUNGS_SIMT_STACK or cudaLimitStackSize raises that)",
            recursion ? " in a recursion" : "", lane_stack_size());
        word = "stack-overflow";
        known = check::Cause::stack_overflow;
        error = cudaErrorLaunchFailure;
    }
    if (fault.callers[0])
        observe::interrupted(fault.signal == overtime_signal ? check::Kind::timeout : check::Kind::crash,
                             known, text.c_str(), innermost);
    else
        observe::failed(check::Kind::crash, known, text.c_str(), site);
    return lane_report(launch, block, error, word, text, place,
                       format(" signal=%d address=", fault.signal) + address);
}

void report_refusal(const Grid& grid, cudaError_t error, check::Cause cause, const std::string& why) {
    const std::string name = kernel_name(grid);
    const std::string text = "kernel " + name + " was not launched: " + why;
    observe::refused(cause, text.c_str());
    publish({error, text, "error=refused kernel=\"" + name + "\" code=" + cudaGetErrorName(error)});
}

cudaError_t report_unsupported(const char* function, const std::string& why) {
    publish({cudaErrorNotSupported, std::string(function) + "() is not supported: " + why,
             std::string("error=refused call=") + function + " code=cudaErrorNotSupported"});
    return fail(cudaErrorNotSupported);
}

FailureReport deadlock_report(const Launch& launch, const Block& stuck) {
    const std::string name = kernel_name(launch.grid);
    std::string tools;
    const void* site = nullptr;
    std::string waits = describe_waits(stuck, tools, site);
    if (launch.grid.cooperative && launch.finished != 0)
        waits += format("; %llu of %llu blocks have ended", static_cast<unsigned long long>(launch.finished),
                        static_cast<unsigned long long>(launch.blocks));
    observe::failed(check::Kind::deadlock, check::Cause::unknown, waits.c_str(), nullptr);
    return {cudaErrorLaunchFailure,
            "kernel " + name + ": deadlock in block " + triple(stuck.index) + ": " + waits,
            "error=deadlock kernel=\"" + name + "\" block=" + triple(stuck.index) + tools, true};
}

FailureReport livelock_report(const Launch& launch, const std::vector<Block*>& residents) {
    const std::string name = kernel_name(launch.grid);
    const auto spinning =
        std::find_if(residents.begin(), residents.end(), [](Block* b) { return !b->yielded.empty(); });
    const Block& block = spinning == residents.end() ? *residents.front() : **spinning;
    std::string tools;
    const void* site = nullptr;
    const std::string waits = describe_waits(block, tools, site);
    observe::failed(check::Kind::livelock, check::Cause::unknown, waits.c_str(), site);
    return {cudaErrorLaunchTimeout,
            "kernel " + name + ": " +
                format("for %.3g s every thread has only waited or polled; ",
                       1e-9 * static_cast<double>(spin_limit_ns())) +
                "in block " + triple(block.index) + ": " + waits,
            "error=livelock kernel=\"" + name + "\" block=" + triple(block.index) + tools};
}

void warn_stray_shuffle(const Launch& launch, bool exited, const void* site) {
    if constexpr (observe::on) {
        observe::stray_shuffle(exited, site);
        return;
    }
    static auto& warned = *new std::set<const void*>;
    {
        std::lock_guard lock(report_mutex);
        if (quiet || !warned.insert(site).second) return;
    }
    std::fprintf(
        stderr,
        "kernel %s: warning: a shuffle reads a lane that takes no part in it: the value is undefined%s\n",
        kernel_name(launch.grid).c_str(), at(locate({site})[0]).c_str());
}

void report_outside_lane(const char* what) {
    std::fprintf(stderr, "simt: %s is device code, but the host called it\n", what);
    std::abort();
}

void set_quiet(bool on) { quiet = on; }

std::string last_report() {
    std::lock_guard lock(report_mutex);
    return stored_report();
}

void clear_report() {
    std::lock_guard lock(report_mutex);
    stored_report().clear();
}

void set_report_listener(ReportListener other) {
    std::lock_guard lock(report_mutex);
    listener = other;
}

}  // namespace simt
