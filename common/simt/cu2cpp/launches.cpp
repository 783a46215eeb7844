// `kernel<<<grid, block>>>(arguments)` and kernels given to API functions.
#include <algorithm>
#include <array>
#include <utility>

#include "cu2cpp/passes.h"

namespace cu2cpp {
namespace {

/// API functions that take a kernel as `const void*`, and which argument it is. The runtime has typed
/// templates instead, which need the kernel as it is.
constexpr std::array<std::pair<std::string_view, std::size_t>, 16> kernel_arguments = {{
    {"cudaLaunchKernel", 0},
    {"cudaLaunchCooperativeKernel", 0},
    {"cudaLaunchKernelExC", 1},
    {"cudaFuncSetAttribute", 0},
    {"cudaFuncSetCacheConfig", 0},
    {"cudaFuncSetSharedMemConfig", 0},
    {"cudaFuncGetAttributes", 1},
    {"cudaFuncGetName", 1},
    {"cudaGetFuncBySymbol", 1},
    {"cudaOccupancyMaxActiveBlocksPerMultiprocessor", 1},
    {"cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", 1},
    {"cudaOccupancyAvailableDynamicSMemPerBlock", 1},
    {"cudaOccupancyMaxPotentialBlockSize", 2},
    {"cudaOccupancyMaxPotentialBlockSizeWithFlags", 2},
    {"cudaOccupancyMaxPotentialBlockSizeVariableSMem", 2},
    {"cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags", 2},
}};

/// True if the arguments behind `open` are those of the one function that `name` can mean.
bool is_plain_kernel(Unit& unit, const Context& context, Range name, std::size_t open) {
    if (context.macro || name.end != name.begin + 1) return false;
    const Sequence& seq = *context.seq;
    const auto& functions = unit.out.exports.functions;
    const auto found = functions.find(seq[name.begin].text);
    if (found == functions.end() || !found->second.kernel || found->second.host || found->second.device)
        return false;
    const std::string& parameters = found->second.parameters;
    if (parameters.empty() || open >= seq.size() || seq.match(open) == npos) return false;
    // Fewer arguments where there are defaults; of a pack, nobody knows.
    const std::vector<Range> arguments = split(seq, {open + 1, seq.match(open)});
    for (std::size_t k = open; k < seq.match(open); ++k) {
        if (seq.is(k, "...")) return false;
    }
    return std::count(parameters.begin(), parameters.end(), ',') ==
           static_cast<std::ptrdiff_t>(arguments.size());
}

/// Does the name, `f` or `f<T>`, mean a function that is no kernel, and nothing else?
bool is_no_kernel(const Unit& unit, const Context& context, Range name) {
    const Sequence& seq = *context.seq;
    const bool plain = name.end == name.begin + 1 ||
                       (seq.is(name.begin + 1, "<") && seq.skip_angles(name.begin + 1) == name.end);
    if (context.macro || !plain) return false;
    const auto& functions = unit.out.exports.functions;
    const auto found = functions.find(seq[name.begin].text);
    return found != functions.end() && !found->second.launchable;
}

/// The last `{` in front of token i that no `}` closes; npos: there is none.
std::size_t unclosed_brace(const Sequence& seq, std::size_t i) {
    while (i-- > 0) {
        if (seq.is(i, "{") && seq.match(i) == npos) return i;
    }
    return npos;
}

/// Reads a kernel's name backwards from `<<<`: `ns::k<T, 16>`, `(c ? f : g)`, `table[1]`, `object.member`.
std::size_t kernel_begin(const Sequence& seq, std::size_t i, bool& expression) {
    std::size_t k = i;
    while (k > 0) {
        const std::size_t last = k - 1;
        if (seq.is(last, ">")) {
            k = seq.open_angle(last);
            if (k == npos || k == 0 || !seq.is_identifier(k - 1)) return npos;
            continue;
        }
        if (seq.is(last, "]")) {
            expression = true;
            k = seq.match(last);
            if (k == npos) return npos;
            continue;
        }
        if (seq.is(last, ")")) {
            expression = true;
            k = seq.match(last);
            if (k == npos || k == 0) return k;
            const bool call = (seq.is_identifier(k - 1) && !is_keyword(seq[k - 1].text)) ||
                              (seq.is(k - 1, ">") && seq.open_angle(k - 1) != npos);
            if (!call) return k;
            continue;
        }
        if (!seq.is_identifier(last) || is_keyword(seq[last].text)) return npos;
        k = last;
        if (k == 0) return k;
        if (seq.is(k - 1, "template")) --k;
        if (k == 0) return k;
        if (seq.is(k - 1, "##")) {
            --k;
        } else if (seq.is(k - 1, ".") || seq.is(k - 1, "->") || seq.is(k - 1, ".*") || seq.is(k - 1, "->*")) {
            expression = true;
            --k;
        } else if (seq.is(k - 1, "::")) {
            --k;
            const bool more = k > 0 && ((seq.is_identifier(k - 1) && !is_keyword(seq[k - 1].text)) ||
                                        (seq.is(k - 1, ">") && seq.open_angle(k - 1) != npos));
            if (!more) return k;
        } else {
            return k;
        }
    }
    return npos;
}

/// The first `>` of the `>>>` that closes the launch whose `<<<` ends at `i`, or npos after a complaint.
std::size_t launch_close(Unit& unit, const Context& context, std::size_t i) {
    const Sequence& seq = *context.seq;
    const bool spaced = seq.is(i, "<");
    bool closed = false;
    for (std::size_t k = i + 1; k < seq.size();) {
        const std::string_view word = seq[k].text;
        if (word == ";" || word == "<<<" || word == ")" || word == "]" || word == "}") break;
        if (word == "(" || word == "[" || word == "{") {
            if (seq.match(k) == npos) break;
            k = seq.skip_group(k);
            continue;
        }
        std::size_t run = 0;
        while (seq.is(k + run, ">") && (run == 0 || spaced || seq.adjacent(k + run - 1))) ++run;
        if (run >= 3) {
            closed = true;
            const std::size_t behind = k + run;
            if (seq.is(behind, "(") || (context.macro && behind == seq.size())) return behind - 3;
        }
        k += std::max<std::size_t>(run, 1);
    }
    if (closed) {
        unit.complain(context, seq[i], "launch without an argument list",
                      "`>>>` must be followed by `(`; write `kernel<<<grid, block>>>(arguments)`, with `()` "
                      "for none");
    } else {
        unit.complain(
            context, seq[i], "`<<<` without `>>>`",
            "the launch never ends; write `kernel<<<grid, block>>>(arguments)` without hiding parts "
            "in macros");
    }
    return npos;
}

bool check_configuration(Unit& unit, const Context& context, std::size_t i, std::size_t close) {
    const Sequence& seq = *context.seq;
    const std::vector<Range> parts = split(seq, {i + 1, close});
    const std::string form =
        "write `<<<grid, block>>>`, `<<<grid, block, bytes>>>` or `<<<grid, block, bytes, stream>>>`";
    for (const Range& part : parts) {
        if (!part.empty()) continue;
        unit.complain(context, seq[i], "empty place in a launch configuration",
                      "every value between commas is needed; " + form);
        return false;
    }
    // A lone name or call may be a macro that makes several values: the compiler will tell.
    const bool one_macro = parts.size() == 1 && seq.is_identifier(parts[0].begin) &&
                           (parts[0].end == parts[0].begin + 1 || seq.is(parts[0].begin + 1, "("));
    if (parts.size() >= 2 || one_macro) return true;
    unit.complain(context, seq[i], "launch configuration without a block size",
                  "a launch needs a grid and a block; " + form);
    return false;
}

bool check_arguments(Unit& unit, const Context& context, std::size_t open, bool typed) {
    const Sequence& seq = *context.seq;
    if (open >= seq.size()) return true;
    const std::size_t close = seq.match(open);
    if (close == npos) {
        unit.complain(context, seq[open], "launch whose argument list is not closed",
                      "`(` has no `)`; add it");
        return false;
    }
    for (const Range& argument : split(seq, {open + 1, close})) {
        if (argument.empty()) continue;
        if (seq.is(argument.begin, "{") && !typed) {
            unit.complain(
                context, seq[argument.begin], "kernel argument in braces without a type",
                "arguments are copied before the kernel is known; name the type: `float3{x, y, z}`");
            return false;
        }
        // A copy of NULL is an integer, which no pointer accepts.
        const bool single = argument.end == argument.begin + 1;
        if (single && seq.is(argument.begin, "NULL")) {
            const Token& null = seq[argument.begin];
            unit.out.edits.push_back({null.begin, null.end, "nullptr"});
        }
    }
    return true;
}

/// The lambda's parameters and what it hands on. A `0` is a null pointer, too, where it is written, but not
/// once it has been passed: so it is written again.
std::pair<std::string, std::string> forwarded(const Context& context, std::size_t open, bool typed) {
    const Sequence& seq = *context.seq;
    const std::pair<std::string, std::string> all{"auto&&... simt_args", "simt_args..."};
    if (typed || open >= seq.size() || seq.match(open) == npos) return all;
    std::pair<std::string, std::string> result;
    bool zero = false;
    std::size_t number = 0;
    for (std::size_t k = open + 1; k < seq.match(open); ++k) {
        // So many arguments as only the compiler knows.
        if (seq.is(k, "...") || seq.is(k, "__VA_ARGS__") || seq.is(k, "##")) return all;
    }
    for (const Range& argument : split(seq, {open + 1, seq.match(open)})) {
        const bool null = argument.end == argument.begin + 1 && seq.is(argument.begin, "0");
        zero = zero || null;
        const std::string name = "simt_" + std::to_string(number);
        const std::string comma = number++ > 0 ? ", " : "";
        result.first += comma + "auto&&" + (null ? "" : " " + name);
        result.second += comma + (null ? "0" : name);
    }
    return zero ? result : all;
}

bool is_void_pointer(const Sequence& seq, Range range) {
    if (range.end == npos || range.empty()) return false;
    bool seen_void = false;
    bool pointer = false;
    for (std::size_t k = range.begin; k < range.end; ++k) {
        if (seq.is(k, "void"))
            seen_void = true;
        else if (seq.is(k, "*"))
            pointer = true;
        else if (!seq.is(k, "const"))
            return false;
    }
    return seen_void && pointer;
}

}  // namespace

void launch(Unit& unit, const Context& context, std::size_t i) {
    const Sequence& seq = *context.seq;
    bool expression = false;
    const std::size_t first = kernel_begin(seq, i, expression);
    const std::size_t inner = seq.is(i, "<<") ? i + 1 : i;  // the last token of `<<<`
    const std::size_t close = launch_close(unit, context, inner);
    if (first == npos) {
        return unit.complain(
            context, seq[i], "`<<<` without a kernel's name in front of it",
            "the launch is not translated; write `kernel<<<grid, block>>>(arguments)` in one place");
    }
    if (close == npos) return;
    const std::size_t open = close + 3;
    if (!check_configuration(unit, context, inner, close) ||
        !check_arguments(unit, context, open, is_plain_kernel(unit, context, {first, i}, open))) {
        return;
    }
    if (is_no_kernel(unit, context, {first, i})) {
        return unit.complain(context, seq[first],
                             "launch of `" + std::string(seq[first].text) + "`, which is not a kernel",
                             "write `__global__` in front of its definition");
    }
    if (context.device) {
        if (const std::size_t brace = unclosed_brace(seq, first); brace != npos) {
            return unit.complain(context, seq[brace], "`{` without `}`",
                                 "the code behind it, with a launch, would belong to this device function; "
                                 "close it");
        }
        if (!unit.options.relocatable) {
            return unit.complain(context, seq[first], "launch inside device code",
                                 "it takes nvcc's `-rdc=true`; launch from the host");
        }
    }
    const std::string name = quoted(context, {first, i});
    // A name that can only mean one function tells the parameters' types.
    const bool typed = is_plain_kernel(unit, context, {first, i}, open);
    const auto [parameters, passed] = forwarded(context, open, typed);
    // `case 0:k<<<...>>>` must not become `case 0:::simt`.
    if (first > 0 && seq.is(first - 1, ":") && seq.adjacent(first - 1)) unit.insert(seq[first].begin, " ");
    if (expression) {  // evaluated once, and only the function it names is kept
        unit.insert(seq[first].begin, runtime(context, "kernel") + "(" + name + ",[simt_k = ");
        unit.insert(seq[i - 1].end, "](auto&&... simt_args){ simt_k(simt_args...); })");
    } else {
        unit.insert(seq[first].begin, runtime(context, "kernel") + "(" + name + ",[=](" + parameters + "){ ");
        unit.insert(seq[i - 1].end,
                    "(" + passed + "); }" + (typed ? "," + std::string(seq[first].text) : "") + ")");
    }
    unit.replace(seq[i], "[" + runtime(context, "cfg") + "(");
    if (inner != i) unit.blank(seq[inner]);
    unit.out.edits.push_back({seq[close].begin, seq[close].end, typed ? ")].run" : ")]"});
    unit.out.edits.push_back({seq[close + 1].begin, seq[close + 2].end, ""});
}

void kernel_argument(Unit& unit, const Context& context, std::size_t i) {
    const Sequence& seq = *context.seq;
    const auto entry = std::find_if(kernel_arguments.begin(), kernel_arguments.end(),
                                    [&](const auto& candidate) { return seq[i].is(candidate.first); });
    if (entry == kernel_arguments.end() || !seq.is(i + 1, "(") || seq.match(i + 1) == npos) return;
    const std::vector<Range> arguments = split(seq, {i + 2, seq.match(i + 1)});
    if (arguments.size() <= entry->second) return;
    Range argument = arguments[entry->second];
    while (!argument.empty()) {
        if (seq.is(argument.begin, "(") &&
            is_void_pointer(seq, {argument.begin + 1, seq.match(argument.begin)})) {
            const std::size_t behind = seq.skip_group(argument.begin);
            unit.blank(seq, {argument.begin, behind});
            argument.begin = behind;
            continue;
        }
        const bool cast = seq.is(argument.begin, "reinterpret_cast") ||
                          seq.is(argument.begin, "static_cast") || seq.is(argument.begin, "const_cast");
        const std::size_t behind = cast ? seq.skip_angles(argument.begin + 1) : npos;
        if (behind == npos || !is_void_pointer(seq, {argument.begin + 2, behind - 1})) return;
        unit.blank(seq, {argument.begin, behind});
        argument = {behind + 1, seq.match(behind)};
        if (argument.end == npos) return;
    }
}

void kernel_member(Unit& unit, const Context& context, std::size_t i) {
    const Sequence& seq = *context.seq;
    if (i == 0 || !(seq.is(i - 1, ".") || seq.is(i - 1, "->")) || !seq.is(i + 1, "=") ||
        !seq.is(i + 2, "(") || !is_void_pointer(seq, {i + 3, seq.match(i + 2)})) {
        return;
    }
    const std::size_t close = seq.match(i + 2);
    unit.out.edits.push_back({seq[i + 2].begin, seq[close].end, "(::simt::KernelPointer)"});
}

}  // namespace cu2cpp
