// From addresses in the machine code to lines of the source.
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "check/state.h"
#include "simt/inspect/columns.h"
#include "simt/inspect/names.h"

namespace simt::check {
namespace {

struct Object {
    std::string path;
    std::uintptr_t base = 0;
};

Object object_of(std::uintptr_t address) {
    struct Search {
        std::uintptr_t address;
        Object found;
        bool any;
    } search{address, {}, false};
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* data) {
            auto& s = *static_cast<Search*>(data);
            for (int i = 0; i < info->dlpi_phnum; ++i) {
                const auto& header = info->dlpi_phdr[i];
                if (header.p_type != PT_LOAD ||
                    s.address - (info->dlpi_addr + header.p_vaddr) >= header.p_memsz)
                    continue;
                s.found = {info->dlpi_name, info->dlpi_addr};
                s.any = true;
                return 1;
            }
            return 0;
        },
        &search);
    if (search.any && search.found.path.empty()) {
        char path[4096];
        const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
        if (n > 0) search.found.path.assign(path, static_cast<std::size_t>(n));
    }
    return search.found;
}

/// Source files that are not the program's: whoever called them is what a finding should name.
bool is_runtime(const std::string& path) {
    return is_own_source(path) || path.compare(0, 5, "/usr/") == 0 ||
           path.find("../sysdeps/") != std::string::npos || path.find("../csu/") != std::string::npos;
}

std::string base_name(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? path : path.substr(slash + 1);
}

struct Known {
    Place place;
    bool runtime = true;  ///< all its frames are the runtime's, or nothing is known
};

std::mutex places_mutex;
std::map<const void*, Known>& places() {
    static auto* map = new std::map<const void*, Known>;
    return *map;
}

Known known(const void* address) {
    const auto found = places().find(address);
    return found == places().end() ? Known{} : found->second;
}

/// A call in the same file tells nothing new.
void set_caller(Place& place, const Place& caller) {
    if (caller.file == place.file) return;
    place.caller_file = caller.file;
    place.caller_line = caller.line;
}

Symboliser symboliser = nullptr;

/// Runs addr2line once for all `offsets` of one object. Without that program there is no text.
std::string run_addr2line(const std::string& path, const std::vector<std::uintptr_t>& offsets) {
    std::string quoted = "'";
    for (char c : path) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    std::string command = "addr2line -a -C -f -i -e " + quoted + "'";
    for (std::uintptr_t offset : offsets) {
        char text[32];
        std::snprintf(text, sizeof text, " 0x%zx", static_cast<std::size_t>(offset));
        command += text;
    }
    FILE* pipe = popen((command + " 2>/dev/null").c_str(), "r");
    if (!pipe) return "";
    std::string text;
    char buffer[4096];
    for (std::size_t n; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) text.append(buffer, n);
    pclose(pipe);
    return text;
}

/// Reads the places of `addresses`, in their order, from addr2line's text.
/// @return the indices of those whose innermost code in the program has no line
std::vector<std::size_t> read_places(const std::string& text, const std::vector<const void*>& addresses) {
    std::vector<std::size_t> without_line;
    std::size_t index = 0;  // of the next address
    std::string function;
    bool named = false;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        std::string line = text.substr(begin, end - begin);
        begin = end + 1;
        if (line.compare(0, 2, "0x") == 0) {
            ++index;
            named = false;
            continue;
        }
        if (!named) {
            function = line;
            named = true;
            continue;
        }
        named = false;
        if (index == 0 || index > addresses.size()) continue;
        Known& known = places()[addresses[index - 1]];
        if (!known.place.caller_file.empty()) continue;
        if (const std::size_t note = line.find(" (discriminator"); note != std::string::npos)
            line.resize(note);
        if (line.compare(0, 2, "??") == 0) continue;
        // "file:line" or "file:line:column"
        const auto number_at_end = [&line] {
            const std::size_t colon = line.rfind(':');
            if (colon == std::string::npos || line.find_first_not_of("0123456789?", colon + 1) != line.npos)
                return 0u;
            const auto number = static_cast<unsigned>(std::strtoul(line.c_str() + colon + 1, nullptr, 10));
            line.resize(colon);
            return number;
        };
        Place place;
        place.line = number_at_end();
        if (const unsigned before = number_at_end(); before != 0) {
            place.column = place.line;
            place.line = before;
        }
        place.file = base_name(line);
        place.path = line;
        place.function = short_name(function);
        if (place.line == 0 && known.runtime && !is_runtime(line) &&
            (without_line.empty() || without_line.back() != index - 1))
            without_line.push_back(index - 1);
        const bool runtime = is_runtime(line) || place.line == 0;
        if (known.runtime) {
            known = {place, runtime};
        } else if (!runtime) {  // it was inlined there
            set_caller(known.place, place);
        }
    }
    return without_line;
}

}  // namespace

void locate_all(const std::vector<const void*>& return_addresses) {
    std::lock_guard lock(places_mutex);
    std::map<std::string, std::pair<std::vector<const void*>, std::vector<std::uintptr_t>>> objects;
    for (const void* address : return_addresses) {
        if (!address || !places().try_emplace(address).second) continue;
        // The call, not what follows it.
        const std::uintptr_t call = reinterpret_cast<std::uintptr_t>(address) - 1;
        const Object object = object_of(call);
        if (object.path.empty()) continue;
        auto& [addresses, offsets] = objects[object.path];
        addresses.push_back(address);
        offsets.push_back(call - object.base);
    }
    const auto ask = [](const std::string& path, const std::vector<std::uintptr_t>& offsets) {
        return symboliser ? symboliser(path, offsets)
                          : with_columns(ProgramFile(path), run_addr2line(path, offsets));
    };
    for (const auto& [path, list] : objects) {
        const std::string text = ask(path, list.second);
        // Clang gives some calls in a loop no line: then that of the code behind the call is the nearest.
        std::vector<const void*> again;
        std::vector<std::uintptr_t> behind;
        std::vector<Known> callers;
        for (const std::size_t i : read_places(text, list.first)) {
            again.push_back(list.first[i]);
            behind.push_back(list.second[i] + 1);
            callers.push_back(std::exchange(places()[again.back()], {}));
        }
        if (!again.empty()) read_places(ask(path, behind), again);
        for (std::size_t i = 0; i < again.size(); ++i)
            if (places()[again[i]].runtime) places()[again[i]] = callers[i];
        // Without an answer they are still to be asked for.
        for (const void* address : list.first)
            if (symboliser && text.empty()) places().erase(address);
    }
}

void set_symboliser(Symboliser other) {
    std::lock_guard lock(places_mutex);
    symboliser = other;
}

Place locate(const void* return_address) {
    if (!return_address) return {};
    locate_all({return_address});
    std::lock_guard lock(places_mutex);
    return known(return_address).place;
}

Place locate(const CallStack& stack) {
    // (In braces they would be two addresses themselves.)
    locate_all(std::vector<const void*>(stack.begin(), stack.end()));
    std::lock_guard lock(places_mutex);
    for (const void* address : stack) {
        if (!address) continue;
        const Known entry = known(address);
        if (!entry.runtime) return entry.place;
    }
    return {};
}

Place locate(const void* return_address, const CallStack& callers) {
    Known at{locate(return_address), true};
    if (at.place.file.empty()) return {};
    locate_all(std::vector<const void*>(callers.begin(), callers.end()));
    std::lock_guard lock(places_mutex);
    at.runtime = known(return_address).runtime;
    for (const void* address : callers) {
        const Known caller = known(address);
        if (caller.runtime || !at.place.caller_file.empty()) continue;
        if (at.runtime) {
            at = caller;
        } else {
            set_caller(at.place, caller.place);
        }
    }
    return at.place;
}

bool in_read_only_segment(std::uintptr_t address) {
    struct Search {
        std::uintptr_t address;
        bool constant;
    } search{address, false};
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* data) {
            auto& s = *static_cast<Search*>(data);
            for (int i = 0; i < info->dlpi_phnum; ++i) {
                const auto& header = info->dlpi_phdr[i];
                if (s.address - (info->dlpi_addr + header.p_vaddr) >= header.p_memsz) continue;
                // Constant data, or tables that only the loader writes.
                if (header.p_type == PT_GNU_RELRO || (header.p_type == PT_LOAD && !(header.p_flags & PF_W))) {
                    s.constant = true;
                    return 1;
                }
            }
            return 0;
        },
        &search);
    return search.constant;
}

}  // namespace simt::check
