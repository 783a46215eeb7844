// Single words, directives and inline assembly.
#include <algorithm>
#include <array>
#include <utility>

#include "cu2cpp/lanes/lanes.h"
#include "cu2cpp/passes.h"

namespace cu2cpp {
namespace {

/// Vendor headers that have no counterpart on the CPU; a name that ends in `/` means the folder.
struct MissingHeader {
    std::string_view name;
    std::string_view what;
};
constexpr std::string_view plain_loads = "write plain loads and stores with `__syncthreads()`";
constexpr std::string_view own_algorithm = "write the algorithm in CUDA C++, or build with the cuda backend";
constexpr std::array<MissingHeader, 17> missing_headers = {{
    {"crt/mma.h", "write the tile product with plain multiplications"},
    {"cuda/ptx", plain_loads},
    {"nvrtc.h", "compile kernels with the program"},
    {"cudaTypedefs.h", "use the runtime API of <cuda_runtime.h>"},
    {"cub/", own_algorithm},
    {"thrust/", own_algorithm},
    {"cutlass/", own_algorithm},
    {"cute/", own_algorithm},
    {"cublas_v2.h", own_algorithm},
    {"cublasLt.h", own_algorithm},
    {"cublas.h", own_algorithm},
    {"cusparse.h", own_algorithm},
    {"cusolverDn.h", own_algorithm},
    {"cufft.h", own_algorithm},
    {"curand.h", own_algorithm},
    {"curand_kernel.h", own_algorithm},
    {"cudnn.h", own_algorithm},
}};

/// What to write instead of a piece of PTX, by what its text contains. The first that fits counts.
constexpr std::array<std::pair<std::string_view, std::string_view>, 14> ptx_hints = {{
    {"cp.async", plain_loads},
    {"mma", "write the tile product with plain multiplications"},
    {"ldmatrix", "load the elements with plain code"},
    {"laneid", "write `threadIdx.x % warpSize`"},
    {"lanemask", "compute the mask from the lane's number"},
    {"clock", "call `clock64()`"},
    {"globaltimer", "call `clock64()`"},
    {"smid", "blocks have no place of their own here; number them by `blockIdx`"},
    {"shfl", "call `__shfl_sync` or one of its variants"},
    {"bar.", "call `__syncthreads()`"},
    {"red.", "call the atomic function of that name"},
    {"atom.", "call the atomic function of that name"},
    {"ld.", "write a plain load, or call `__ldg`"},
    {"st.", "write a plain store"},
}};

/// True for text such as `ld.global.f32`: letters, a dot, letters. x86 mnemonics have no dots inside.
bool looks_like_ptx(std::string_view text) {
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
    for (std::size_t i = 1; i + 1 < text.size(); ++i) {
        if (text[i] == '.' && letter(text[i - 1]) && letter(text[i + 1])) return true;
    }
    return false;
}

/// PTX without operands, and the CUDA C++ it stands for.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> ptx_statements = {{
    {"bar.sync0", "__syncthreads()"},
    {"membar.cta", "__threadfence_block()"},
    {"membar.gl", "__threadfence()"},
    {"membar.sys", "__threadfence_system()"},
    {"trap", "__trap()"},
}};

/// Special registers that may be read, and how: see simt/registers.h.
constexpr std::array<std::pair<std::string_view, std::string_view>, 12> ptx_registers = {{
    {"laneid", "::simt::registers::laneid()"},
    {"lanemask_eq", "::simt::registers::lanemask_eq()"},
    {"lanemask_lt", "::simt::registers::lanemask_lt()"},
    {"lanemask_le", "::simt::registers::lanemask_le()"},
    {"lanemask_gt", "::simt::registers::lanemask_gt()"},
    {"lanemask_ge", "::simt::registers::lanemask_ge()"},
    {"clock", "::simt::registers::clock()"},
    {"clock_hi", "::simt::registers::clock_hi()"},
    {"clock64", "::clock64()"},
    {"globaltimer", "::simt::registers::globaltimer()"},
    {"globaltimer_lo", "::simt::registers::globaltimer_lo()"},
    {"globaltimer_hi", "::simt::registers::globaltimer_hi()"},
}};

/// The instruction in string literals, if it is one, without what separates its words.
std::string instruction(std::string_view literals) {
    std::string text;
    for (std::size_t k = 0; k < literals.size(); ++k) {
        const bool escape = literals[k] == '\\' && k + 1 < literals.size();
        if (escape) ++k;
        if (!escape && literals[k] != '"' && literals[k] != ' ' && literals[k] != '\t') text += literals[k];
    }
    while (!text.empty() && text.back() == ';') text.pop_back();
    return text;
}

/// `mov.u32 %0, %%laneid`: the name of the register, or nothing.
std::string_view register_read(std::string_view text) {
    constexpr std::size_t head = 7;  // of `mov.u32`
    const std::string_view type = text.substr(0, 4) == "mov." ? text.substr(4, 3) : std::string_view{};
    if (type != "u32" && type != "s32" && type != "b32" && type != "u64" && type != "s64" && type != "b64")
        return {};
    for (const std::string_view operands : {"%0,%%", "%0,%"}) {
        if (text.substr(head, operands.size()) == operands) return text.substr(head + operands.size());
    }
    return {};
}

/// Translates what PTX has a counterpart: reading a special register, barriers and fences.
/// @param first the first token behind the instruction
/// @param stop the token behind the `)`
bool translate_ptx(Unit& unit, const Sequence& seq, std::size_t i, std::size_t first, std::size_t stop,
                   const std::string& text) {
    // Behind the output, and instead of one: colons and what is clobbered.
    const auto nothing_else = [&](std::size_t k) {
        while (k + 1 < stop &&
               (seq.is(k, ":") || seq.is(k, "::") || seq.is(k, ",") || seq[k].kind == TokenKind::string))
            ++k;
        return k + 1 == stop;
    };
    for (const auto& [ptx, statement] : ptx_statements) {
        if (text != ptx || !nothing_else(first)) continue;
        unit.blank(seq, {i, stop});
        unit.insert(seq[i].begin, std::string(statement));
        return true;
    }
    const std::string_view name = register_read(text);
    for (const auto& [known, value] : ptx_registers) {
        if (name != known || !seq.is(first, ":") || !seq.is(first + 2, "(")) continue;
        const std::size_t behind = seq.skip_group(first + 2);
        if (behind >= stop || !nothing_else(behind)) return false;
        unit.blank(seq, {i, first + 2});
        unit.blank(seq, {behind, stop});
        unit.insert(seq[behind - 1].end, " = " + std::string(value));
        return true;
    }
    return false;
}

/// The outputs of an `asm` without instructions are stores that no compiler instruments.
/// @param k the token behind the text
/// @param stop the token behind the `)`
void assembly_outputs(Unit& unit, const Context& context, std::size_t i, std::size_t k, std::size_t stop) {
    const Sequence& seq = *context.seq;
    const auto is_text = [&](std::size_t t) { return t < stop && seq[t].kind == TokenKind::string; };
    bool legible = k + 1 == stop || seq.is(k, ":") || seq.is(k, "::");
    for (bool more = seq.is(k, ":"); legible && more;) {
        ++k;
        if (k + 1 == stop || seq.is(k, ":") || seq.is(k, "::")) return;
        if (seq.is(k, "[")) k = seq.skip_group(k);
        const bool reads = is_text(k) && seq[k].text.find('+') != std::string_view::npos;
        legible = is_text(k);
        while (is_text(k)) ++k;
        legible = legible && seq.is(k, "(") && seq.skip_group(k) < stop;
        if (!legible) break;
        const std::size_t close = seq.match(k);
        unit.insert(seq[k].end, runtime(context, "asm_output") + "<" + (reads ? "true" : "false") + ">(");
        unit.insert(seq[close].begin, ").value()");
        k = close + 1;
        more = seq.is(k, ",");
        legible = more || k + 1 == stop || seq.is(k, ":") || seq.is(k, "::");
    }
    if (!legible)
        unit.complain(context, seq[i], "`asm` with outputs that a macro makes",
                      "what it stores cannot be told; write them where it stands");
}

bool is_device_pragma(std::string_view word) {
    return word == "unroll" || word == "nounroll" || word.substr(0, 3) == "nv_" ||
           word == "hd_warning_disable";
}

}  // namespace

void use_of_macro(Unit& unit, const Context& context, std::size_t i) {
    const Token& token = (*context.seq)[i];
    const auto& macros = unit.out.exports.untranslatable_macros;
    const auto found = macros.find(token.text);
    if (found == macros.end()) return;
    if (context.macro) {
        unit.macro_flaw = found->second;
    } else {
        unit.refuse(token, "macro `" + found->first + "` cannot be translated; " + found->second);
    }
}

void architecture_number(Unit& unit, const Context& context, std::size_t i) {
    if (context.macro) {
        unit.complain(context, (*context.seq)[i], "`__CUDA_ARCH__`",
                      "host and device are compiled at once; ask for it in an `#if` inside the function");
    } else if (context.device || context.both) {
        unit.replace((*context.seq)[i], std::string(device_architecture));
    }
}

void noinline(Unit& unit, const Context& context, std::size_t i) {
    const Sequence& seq = *context.seq;
    if (i > 0 && (seq.is(i - 1, "(") || seq.is(i - 1, ",") || seq.is(i - 1, "define"))) return;
    unit.replace(seq[i], "__attribute__((__noinline__))");
}

void pragma_operator(Unit& unit, const Context& context, std::size_t i) {
    const Sequence& seq = *context.seq;
    if (!seq.is(i + 1, "(") || i + 3 >= seq.size() || seq[i + 2].kind != TokenKind::string ||
        !seq.is(i + 3, ")"))
        return;
    const std::string_view text = seq[i + 2].text;
    const std::size_t first = text.find_first_not_of(" \t", 1);
    if (first == std::string_view::npos) return;
    const std::size_t last = std::min(text.find_first_of(" \t(\"", first), text.size());
    if (is_device_pragma(text.substr(first, last - first))) unit.blank(seq, {i, i + 4});
}

void assembly(Unit& unit, const Context& context, std::size_t i) {
    const Sequence& seq = *context.seq;
    std::size_t open = i + 1;
    while (seq.is(open, "volatile") || seq.is(open, "__volatile__") || seq.is(open, "goto")) ++open;
    const bool device = context.device || context.surely_both || context.macro;
    if (!seq.is(open, "(") || seq.match(open) == npos) {
        if (device)
            unit.complain(context, seq[i], "`asm` without its text",
                          "what it does cannot be told; write it in one piece");
        return;
    }
    const std::size_t stop = std::min(seq.skip_group(open), seq.size());
    std::string code;
    std::size_t behind = open + 1;
    while (behind < stop && seq[behind].kind == TokenKind::string) code += seq[behind++].text;
    const bool empty = code.find_first_not_of("\" \t;") == std::string::npos;
    if (empty && device) return assembly_outputs(unit, context, i, behind, stop);
    if (empty || !(context.device || looks_like_ptx(code))) return;
    if (translate_ptx(unit, seq, i, behind, stop, instruction(code))) return;
    std::string_view remedy = "write the CUDA C++ it stands for";
    for (const auto& [part, hint] : ptx_hints) {
        if (code.find(part) == std::string::npos) continue;
        remedy = hint;
        break;
    }
    const std::string why = "a CPU has no such instructions; " + std::string(remedy);
    unit.complain(context, seq[i], "inline PTX", why);
    // Reached only by code that an `#if` or a macro may leave out: the compiler stops where it is
    // not left out.
    unit.blank(seq, {i, stop});
    unit.insert(seq[i].begin, "static_assert(false, \"inline PTX: " + why + "\")");
}

void new_expression(Unit& unit, const Context& context, std::size_t i) {
    const Sequence& seq = *context.seq;
    if (!(context.device || context.both || context.macro)) return;
    if (i > 0 && (seq.is(i - 1, "operator") || seq.is(i - 1, "define"))) return;
    std::size_t k = i + 1;
    bool placement = false;
    if (seq.is(k, "(") && seq.match(k) != npos) {
        k = seq.skip_group(k);
        placement = !seq.is(k, "(") && !seq.is(k, "{");  // else it is a type
        if (k >= seq.size()) placement = false;
    }
    const std::size_t type = k;
    while (k < seq.size()) {
        if (seq.is_identifier(k) || seq.is(k, "::") || seq.is(k, "*"))
            ++k;
        else if (seq.is(k, "[") || (seq.is(k, "(") && seq.is(k - 1, "decltype")))
            k = seq.skip_group(k);
        else if (seq.is(k, "<") && seq.skip_angles(k) != npos)
            k = seq.skip_angles(k);
        else
            break;
    }
    if (context.macro && (k >= seq.size() || (k == type && k == i + 1)))
        return unit.complain(context, seq[i], "`new` without its type",
                             "what it makes cannot be told; write it in one piece");
    const std::size_t first = i > 0 && seq.is(i - 1, "::") ? i - 1 : i;
    if (!seq.is(k, "(") && !seq.is(k, "{")) {
        if (seq.is(k - 1, "]") || k == type) return;  // an array, or no type at all
        unit.insert(seq[first].begin, runtime(context, "made") + "(");
        return unit.insert(seq[k - 1].end, ")");
    }
    if (!seq.is(k - 1, "]") && seq.match(k) != npos) {
        unit.insert(seq[first].begin, runtime(context, "filled") + "(");
        unit.insert(seq[seq.match(k)].end, ")");
    }
    const std::string placed = runtime(context, "placed");
    if (placement)
        unit.insert(seq[i + 1].end, placed + ", ");
    else
        unit.insert(seq[i].end, " (" + placed + ")");
}

void clock_call(Unit& unit, const Context& context, std::size_t i) {
    const Sequence& seq = *context.seq;
    const bool member = i > 0 && (seq.is(i - 1, ".") || seq.is(i - 1, "->") || seq.is(i - 1, "::") ||
                                  seq.is_identifier(i - 1));
    const bool after_return = i > 0 && seq.is(i - 1, "return");
    if (!context.device || (member && !after_return) || !seq.is(i + 1, "(") || !seq.is(i + 2, ")")) return;
    unit.out.edits.push_back({seq[i].begin, seq[i].end, "clock64"});
}

void waiting_loop(Unit& unit, const Context& context, std::size_t i) {
    const Sequence& seq = *context.seq;
    if (context.macro || !(context.device || context.both) || !context.in_code()) return;
    const std::size_t body = body_that_waits(seq, i);
    if (body == npos) return;
    if (seq.is(body, "{"))
        unit.insert(seq[body].end, "::simt::let_others_run();");
    else
        unit.insert(seq[body].begin, " ::simt::let_others_run()");
}

void include(Unit& unit, const Directive& d, bool at_namespace) {
    if (d.tokens.size() != 2 || d.tokens[1].kind != TokenKind::string || d.tokens[1].text.size() < 2) return;
    const Token& header = d.tokens[1];
    const std::string name(header.text.substr(1, header.text.size() - 2));
    Include inc{name, d.begin, d.end, header.begin, header.end, d.conditional, header.text.front() == '<'};
    const Exports* exports =
        unit.options.open_include ? unit.options.open_include(inc, unit.out.exports) : nullptr;
    unit.out.includes.push_back(std::move(inc));
    if (exports != nullptr) {
        unit.out.exports.merge(*exports, at_namespace);
        return;
    }
    if (unit.options.has_header && unit.options.has_header(name)) return;
    for (const MissingHeader& missing : missing_headers) {
        const bool folder = missing.name.back() == '/';
        if (folder ? name.rfind(missing.name, 0) != 0 : name != missing.name) continue;
        unit.refuse(header,
                    "header `" + name +
                        "` does not exist on the CPU; it belongs to the GPU vendor's own libraries; " +
                        std::string(missing.what));
        return;
    }
}

void pragma(Unit& unit, const Directive& d) {
    if (d.tokens.size() < 2 || !is_device_pragma(d.tokens[1].text)) return;
    unit.out.edits.push_back({d.begin, d.begin + 1, " "});
    for (const Token& token : d.tokens) unit.blank(token);
}

}  // namespace cu2cpp
