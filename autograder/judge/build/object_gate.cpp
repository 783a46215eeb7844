#include "judge/build/object_gate.hpp"

#include <cxxabi.h>
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <sstream>
#include <string_view>

#include <fmt/format.h>

#include "judge/build/diagnostics.hpp"

namespace rungs::judge {
namespace {

constexpr double most_demangled = 1 << 17;   ///< parts of a name that are spelled out
constexpr std::size_t longest_shown = 2000;  ///< bytes of that
/// Bytes of a symbol's name. Honest rungs stay below 1000; demanglers may recurse once for each letter.
constexpr std::size_t longest_name = 4096;
constexpr unsigned long long most_static_data = 256ULL << 20;

bool starts_with(const std::string& text, const char* start) { return text.rfind(start, 0) == 0; }

bool is_one_of(char type, const char* letters) { return type != 0 && std::strchr(letters, type); }

/// Defined for all, and in the way of another definition: functions, data, absolute values.
bool is_strong(char type) { return is_one_of(type, "TDBRCAGS"); }

/// Defined for all, and gives way to another definition or is merged with it. What g++ makes unique is a
/// variable of an inline function or a template.
bool is_weak(char type) { return is_one_of(type, "WVu"); }

bool is_undefined(char type) { return is_one_of(type, "Uwv"); }

/// Inline functions and templates from headers are weak and may well exist in libraries too; a replacement of
/// operator new or delete is something else.
bool is_inline(const Symbol& symbol) {
    static constexpr const char* operators[] = {"_Znw", "_Zna", "_Zdl", "_Zda"};
    return is_weak(symbol.type) && starts_with(symbol.name, "_Z") &&
           std::none_of(std::begin(operators), std::end(operators),
                        [&](const char* start) { return starts_with(symbol.name, start); });
}

/// What instrumented code calls. A rung that defines one of these, were it for its own file alone, would hide
/// its accesses from check mode.
bool observes_memory(const std::string& name) {
    static constexpr const char* families[] = {"__tsan_", "__ubsan_", "__sanitizer_", "__asan_"};
    return std::any_of(std::begin(families), std::end(families),
                       [&](const char* start) { return starts_with(name, start); });
}

/// Would have check mode look away. No compiler asks for these by itself.
bool stops_observing(const std::string& name) { return starts_with(name, "__tsan_ignore_"); }

/// Names by which the linker knows a function that calls are led away from, and where they are led to.
bool goes_round_the_worker(const std::string& name) {
    return starts_with(name, "__real_") || starts_with(name, "__wrap_");
}

/// Functions of the C library that write to memory by themselves: check mode sees memcpy, memmove and memset,
/// which it replaces, and none of these.
bool writes_unseen(const std::string& name) {
    static constexpr std::array<std::string_view, 24> names{
        "bcopy",  "bzero",   "explicit_bzero", "memccpy", "mempcpy", "__mempcpy", "memfrob", "swab",
        "strcpy", "strncpy", "strcat",         "strncat", "stpcpy",  "stpncpy",   "wcscpy",  "wcsncpy",
        "wcscat", "wcsncat", "wcpcpy",         "wcpncpy", "wmemcpy", "wmemmove",  "wmemset", "wmempcpy"};
    const auto is_one = [&](std::string_view what) {
        return std::find(names.begin(), names.end(), what) != names.end();
    };
    constexpr std::string_view before = "__", behind = "_chk";
    if (name.size() < before.size() + behind.size() || !name.starts_with(before) || !name.ends_with(behind))
        return is_one(name);
    // Checks the size that it is told, and writes like the function that it has its name from: __strcpy_chk.
    const std::string checked = name.substr(before.size(), name.size() - before.size() - behind.size());
    return is_one(checked) || checked == "memcpy" || checked == "memmove" || checked == "memset";
}

/// Functions of CUDA's that bring what lies on the device to the host, or lead to some that do, by other ways
/// than the usual ones, which a worker on a GPU notes (protocol/launches.hpp).
bool copies_unseen(const std::string& name) {
    static constexpr std::array<std::string_view, 10> families{
        "Memcpy3D",    "MemcpyPeer",         "MemcpyFromArray",    "Memcpy2DFromArray",
        "MemcpyBatch", "GraphMemcpyNode",    "GraphAddMemcpyNode", "GraphExecMemcpyNode",
        "Import",      "GetDriverEntryPoint"};
    static constexpr std::array<std::string_view, 5> names{
        "MemGetMemPool", "MemSetMemPool", "MemGetDefaultMemPool", "MemSetDefaultMemPool", "MemPoolCreate"};
    constexpr std::string_view cuda = "cuda";
    if (!name.starts_with(cuda)) return false;
    const std::string_view call = std::string_view(name).substr(cuda.size());
    if (call.empty() || !std::isupper(static_cast<unsigned char>(call[0]))) return false;
    return std::find(names.begin(), names.end(), call) != names.end() || call.ends_with("_ptds") ||
           call.ends_with("_ptsz") ||
           std::any_of(families.begin(), families.end(),
                       [&](std::string_view family) { return call.starts_with(family); });
}

/// The CPU backend's switches and its checks: for graders, not for kernels.
bool is_switch(const std::string& name) {
    std::string_view rest = name;
    const auto skip = [&](std::string_view start) {
        if (!rest.starts_with(start)) return false;
        rest.remove_prefix(start.size());
        return true;
    };
    const auto skip_all_of = [&](const char* letters) {
        const std::size_t count = std::min(rest.find_first_not_of(letters), rest.size());
        rest.remove_prefix(count);
        return count > 0;
    };
    if (!skip("_ZN")) return false;
    skip_all_of("KVRO");  // of const members
    return skip("4simt") && (rest.starts_with("5check") || (skip_all_of("0123456789") && skip("set_")));
}

/// Whose a name is that a rung must not define; null for the student's own.
const char* owner_of_name(const Symbol& symbol) {
    const std::string& name = symbol.name;
    if (starts_with(name, "_ZN5rungs")) return "the grader";
    if (starts_with(name, "_ZN4simt") || starts_with(name, "__simt")) return "the CPU backend";
    const std::string plain = demangle(name);
    if (starts_with(plain, "rungs_")) return "the grader";
    // Unmangled, but for the overloads and templates that C++ has besides.
    if (plain.size() > 4 && starts_with(plain, "cuda") &&
        std::isupper(static_cast<unsigned char>(plain[4]))) {
        return "CUDA";
    }
    // This process is linked to the same C and C++ libraries as the worker. Data of the rung's own is left
    // alone, because it is made local: an honest `__device__ int index` has an unmangled name as well.
    if (!is_one_of(symbol.type, "DBRCGS") && dlsym(RTLD_DEFAULT, name.c_str()))
        return "the system's libraries";
    return nullptr;
}

}  // namespace

std::vector<Symbol> parse_symbols(const std::string& text) {
    std::vector<Symbol> symbols;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream fields(line);
        Symbol symbol;
        std::string type, value, size, more;
        fields >> symbol.name >> type >> value >> size >> more;
        const auto is_number = [](const std::string& field) {
            return field.find_first_not_of("0123456789abcdef") == std::string::npos;
        };
        if (type.size() == 1 && is_number(value) && is_number(size) && more.empty()) {
            symbol.type = type[0];
            symbol.size = std::strtoull(size.c_str(), nullptr, 16);
        }
        symbols.push_back(std::move(symbol));
    }
    return symbols;
}

std::string demangle(const std::string& name) {
    // A reference to what stands before can double what a name stands for, and a pack of n types repeat it n
    // times: a hundred letters are enough for gigabytes.
    double most = static_cast<double>(name.size());
    for (std::size_t i = 0; i + 1 < name.size(); ++i) {
        const auto next = static_cast<unsigned char>(name[i + 1]);
        if (is_one_of(name[i], "ST") && (next == '_' || std::isdigit(next) || std::isupper(next))) most *= 2;
        if (is_one_of(name[i], "Ds") && next == 'p') most *= static_cast<double>(name.size());
    }
    if (name.size() > longest_name || most > most_demangled) return name;
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(
        abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
    if (status != 0 || !text) return name;
    std::string plain(text.get());
    return plain.size() > longest_shown ? plain.substr(0, longest_shown) + "..." : plain;
}

std::vector<std::string> launchers(const std::vector<Symbol>& entry, const std::string& qualified) {
    std::string start = "_ZN";
    for (std::size_t begin = 0, end; begin < qualified.size(); begin = end + 2) {
        end = std::min(qualified.find("::", begin), qualified.size());
        start += fmt::format("{}{}", end - begin, qualified.substr(begin, end - begin));
    }
    start += 'E';
    std::vector<std::string> names;
    for (const Symbol& symbol : entry) {
        if (symbol.type == 'U' && starts_with(symbol.name, start.c_str())) names.push_back(symbol.name);
    }
    return names;
}

std::string renamed(const std::string& symbol, const std::string& name, const std::string& to) {
    const auto mangled = [](const std::string& part) { return fmt::format("{}{}E", part.size(), part); };
    const std::string from = mangled(name);
    std::string result = symbol;
    const std::size_t at = result.find(from);
    if (at != std::string::npos) result.replace(at, from.size(), mangled(to));
    return result;
}

std::set<std::string> strong_names(const std::vector<Symbol>& symbols) {
    std::set<std::string> names;
    for (const Symbol& symbol : symbols)
        if (is_strong(symbol.type)) names.insert(symbol.name);
    return names;
}

std::string objection(const std::vector<Symbol>& object, const std::vector<std::string>& launchers,
                      const std::set<std::string>& ours, const std::set<std::string>& reserved) {
    unsigned long long data = 0;
    for (const Symbol& symbol : object) {
        if (symbol.name.size() > longest_name) {
            return fmt::format("has a name of {} bytes, {}: at most {} are allowed", symbol.name.size(),
                               one_line(symbol.name, 60), longest_name);
        }
        if (is_one_of(symbol.type, "BbDdRrCcGgSsVu")) data += std::min(symbol.size, most_static_data);
        if (symbol.type == '?') return "has a symbol that cannot be read: " + one_line(symbol.name, 60);
        if (symbol.type == 'i') {
            return "defines '" + demangle(symbol.name) + "' as an indirect function (IFUNC): remove it";
        }
        const bool defined = !is_undefined(symbol.type);
        if (observes_memory(symbol.name) && symbol.type != 'U') {
            return fmt::format("{} '{}', which belongs to check mode: remove it",
                               defined ? "defines" : "asks for", symbol.name);
        }
        if (goes_round_the_worker(symbol.name)) {
            return fmt::format("{} '{}', which belongs to the grader: remove it",
                               defined ? "defines" : "asks for", symbol.name);
        }
        // Some of our functions are there in one mode alone. (What our own headers ask for is in both.)
        if (is_one_of(symbol.type, "wv") && ours.count(symbol.name) > 0 &&
            !starts_with(symbol.name, "rungs_")) {
            return fmt::format("asks whether there is '{}', which belongs to the grader: remove it",
                               demangle(symbol.name));
        }
        const bool is_reserved = stops_observing(symbol.name) ||
                                 (reserved.count(symbol.name) > 0 && !observes_memory(symbol.name));
        if (!defined && (is_switch(symbol.name) || is_reserved)) {
            return fmt::format("uses '{}', which belongs to the grader: remove it", demangle(symbol.name));
        }
        if (!defined && writes_unseen(symbol.name)) {
            return fmt::format("uses '{}', which check mode cannot follow: use a loop, or memcpy",
                               symbol.name);
        }
        if (!defined && copies_unseen(symbol.name)) {
            return fmt::format(
                "uses '{}', which the grader cannot follow: copy by cudaMemcpy, cudaMemcpyAsync "
                "or their 2D forms",
                symbol.name);
        }
        if (defined && symbol.name == "main") {
            return "defines main: a rung is called by the grader and by the chapter's own program; remove "
                   "main";
        }
        // Even for its own file alone: the compiler calls some of them.
        if (defined && ours.count(symbol.name) > 0) {
            const char* owner = owner_of_name(symbol);
            return fmt::format("defines '{}', which belongs to {}: rename or remove it",
                               demangle(symbol.name), owner ? owner : "the grader");
        }
        const bool is_public = is_strong(symbol.type) || is_weak(symbol.type);
        if (!is_public || is_inline(symbol)) continue;
        if (const char* owner = owner_of_name(symbol)) {
            return fmt::format("defines '{}', which belongs to {}: rename or remove it",
                               demangle(symbol.name), owner);
        }
    }
    if (data >= most_static_data) {
        return fmt::format("has {} MiB or more of static data; at most {} MiB are allowed: allocate it",
                           data >> 20, most_static_data >> 20);
    }
    for (const std::string& launcher : launchers) {
        const auto same = [&](const Symbol& symbol) {
            return symbol.name == launcher && (symbol.type == 'T' || symbol.type == 'W');
        };
        if (std::none_of(object.begin(), object.end(), same)) {
            return "does not define " + demangle(launcher) +
                   ": the launcher is missing, or its parameters differ from the contract's";
        }
    }
    return "";
}

std::vector<std::string> private_symbols(const std::vector<Symbol>& object,
                                         const std::vector<std::string>& wanted, bool inline_code) {
    std::vector<std::string> names;
    for (const Symbol& symbol : object) {
        const bool weak = symbol.type == 'W' || symbol.type == 'V';
        if ((is_strong(symbol.type) || (inline_code && weak)) &&
            std::find(wanted.begin(), wanted.end(), symbol.name) == wanted.end()) {
            names.push_back(symbol.name);
        }
    }
    return names;
}

}  // namespace rungs::judge
