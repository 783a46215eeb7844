// Single words, directives and inline assembly.
#include <algorithm>
#include <array>
#include <utility>

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
constexpr std::array<MissingHeader, 18> missing_headers = {{
    {"crt/mma.h", "write the tile product with plain multiplications"},
    {"cuda_pipeline.h", plain_loads},
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
constexpr std::array<std::pair<std::string_view, std::string_view>, 13> ptx_hints = {{
    {"cp.async", plain_loads},
    {"mma", "write the tile product with plain multiplications"},
    {"ldmatrix", "load the elements with plain code"},
    {"laneid", "write `threadIdx.x % warpSize`"},
    {"lanemask", "compute the mask from the lane's number"},
    {"clock", "call `clock64()`"},
    {"globaltimer", "call `clock64()`"},
    {"shfl", "call `__shfl_sync` or its sisters"},
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
    if (!seq.is(open, "(")) return;
    const std::size_t stop = std::min(seq.skip_group(open), seq.size());
    std::string code;
    for (std::size_t k = open + 1; k < stop && seq[k].kind == TokenKind::string; ++k) code += seq[k].text;
    const bool empty = code.find_first_not_of("\" \t;") == std::string::npos;
    if (empty || !(context.device || looks_like_ptx(code))) return;
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

void clock_call(Unit& unit, const Context& context, std::size_t i) {
    const Sequence& seq = *context.seq;
    const bool member = i > 0 && (seq.is(i - 1, ".") || seq.is(i - 1, "->") || seq.is(i - 1, "::") ||
                                  seq.is_identifier(i - 1));
    const bool after_return = i > 0 && seq.is(i - 1, "return");
    if (!context.device || (member && !after_return) || !seq.is(i + 1, "(") || !seq.is(i + 2, ")")) return;
    unit.out.edits.push_back({seq[i].begin, seq[i].end, "clock64"});
}

void include(Unit& unit, const Directive& d) {
    if (d.tokens.size() != 2 || d.tokens[1].kind != TokenKind::string || d.tokens[1].text.size() < 2) return;
    const Token& header = d.tokens[1];
    const std::string name(header.text.substr(1, header.text.size() - 2));
    if (header.text.front() == '"') {
        Include inc{name, d.begin, d.end, header.begin, header.end, d.conditional};
        const Exports* exports = unit.options.open_include ? unit.options.open_include(inc) : nullptr;
        unit.out.includes.push_back(std::move(inc));
        if (exports != nullptr) {
            unit.out.exports.merge(*exports);
            return;
        }
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
