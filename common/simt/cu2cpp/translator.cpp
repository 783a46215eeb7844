#include "cu2cpp/translator.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "cu2cpp/lexer.h"
#include "cu2cpp/syntax.h"

namespace cu2cpp {
namespace {

/// After so many refusals nobody reads on.
constexpr std::size_t max_diagnostics = 100;
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

/// Vendor headers that have no counterpart on the CPU; a name that ends in `/` means the folder.
struct MissingHeader {
    std::string_view name;
    std::string_view what;
};
constexpr std::string_view plain_loads = "write plain loads and stores with `__syncthreads()`";
constexpr std::string_view own_algorithm = "write the algorithm in CUDA C++, or build with the cuda backend";
constexpr std::array<MissingHeader, 21> missing_headers = {{
    {"mma.h", "write the tile product with plain multiplications"},
    {"crt/mma.h", "write the tile product with plain multiplications"},
    {"cuda_pipeline.h", plain_loads},
    {"cuda/pipeline", plain_loads},
    {"cuda/barrier", plain_loads},
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

enum class ScopeKind : unsigned char { namespace_, class_, function, block, initialiser };

/// One open brace.
struct Scope {
    ScopeKind kind = ScopeKind::namespace_;
    bool device = false;          ///< the code inside runs on the device only
    std::size_t brackets = 0;     ///< open `(` and `[` inside it
    std::size_t declaration = 0;  ///< first token of the declaration or statement being read
};

/// Where a run of tokens stands: in the file itself or in a `#define`.
struct Context {
    const Sequence* seq = nullptr;
    bool macro = false;
    bool device = false;
    ScopeKind scope = ScopeKind::function;
    std::set<std::string_view> parameters;  ///< of a function-like macro
    std::size_t end = 0;                    ///< offset behind the last token
};

/// True for text such as `ld.global.f32`: letters, a dot, letters. x86 mnemonics have no dots inside.
bool looks_like_ptx(std::string_view text) {
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
    for (std::size_t i = 1; i + 1 < text.size(); ++i) {
        if (text[i] == '.' && letter(text[i - 1]) && letter(text[i + 1])) return true;
    }
    return false;
}

bool is_asm(std::string_view word) { return word == "asm" || word == "__asm__" || word == "__asm"; }

class Translator {
  public:
    Translator(std::string_view text, const std::string& path, const TranslateOptions& options)
        : text_(text),
          path_(path),
          options_(options),
          lines_(text),
          lexed_(lex(text)),
          seq_(lexed_.tokens, &lexed_.directives) {}

    Translation run() {
        report_lexical_errors();
        if (const std::size_t at = seq_.too_deep_at(); at != npos) {
            give_up(at < seq_.size() ? seq_[at].begin : 0, "brackets or `#if` nested more than 1000 deep");
        }
        context_.seq = &seq_;
        context_.end = text_.size();
        scopes_.push_back({});
        std::size_t next = 0;
        for (std::size_t i = 0; i <= seq_.size() && !given_up_; ++i) {
            while (next < lexed_.directives.size() && lexed_.directives[next].at <= i) {
                directive(lexed_.directives[next++], i);
            }
            if (i < seq_.size()) visit(i);
        }
        std::stable_sort(out_.diagnostics.begin(), out_.diagnostics.end(), [](const auto& a, const auto& b) {
            return std::pair(a.line, a.column) < std::pair(b.line, b.column);
        });
        return std::move(out_);
    }

  private:
    // ---- messages and edits ----

    /// Records a refusal. Under an `#if` the compiler decides: what was not translated does
    /// not compile either.
    void refuse(const Token& where, std::string message) {
        if (!where.conditional) refuse_at(where.begin, std::move(message));
    }

    void refuse_at(std::size_t offset, std::string message) {
        if (given_up_) return;
        out_.diagnostics.push_back({path_, lines_.line(offset), lines_.column(offset), std::move(message)});
        if (out_.diagnostics.size() < max_diagnostics) return;
        out_.diagnostics.back().message +=
            " (more than " + std::to_string(max_diagnostics) + " errors: stopped here)";
        given_up_ = true;
    }

    void insert(std::size_t offset, std::string text) {
        out_.edits.push_back({offset, offset, std::move(text)});
    }

    /// Replaces a token; shorter text is padded, so that what stands behind keeps its column.
    void replace(const Token& token, std::string text) {
        const std::size_t width = token.end - token.begin;
        if (text.size() < width) text.append(width - text.size(), ' ');
        out_.edits.push_back({token.begin, token.end, std::move(text)});
    }

    void blank(const Token& token) { replace(token, {}); }

    void blank(const Sequence& seq, Range range) {
        for (std::size_t i = range.begin; i < range.end; ++i) blank(seq[i]);
    }

    void report_lexical_errors() {
        for (const LexError& error : lexed_.errors) {
            if (!error.conditional) refuse_at(error.offset, error.message);
        }
    }

    // ---- names ----

    /// Spelling of a range as compilers print it: `k<T, 16>` as `k<T,16>`.
    static std::string spelling(const Sequence& seq, Range range) {
        std::string text;
        for (std::size_t i = range.begin; i < range.end; ++i) {
            const bool words = !text.empty() && seq[i].kind != TokenKind::punctuator &&
                               seq[i - 1].kind != TokenKind::punctuator;
            if (words) text += ' ';
            text += seq[i].text;
        }
        return text;
    }

    /// A range as a string literal. In a macro its parameters become `#parameter`, so that the name printed
    /// is the one the macro was called with.
    static std::string quoted(const Context& context, Range range) {
        const Sequence& seq = *context.seq;
        std::string out;
        std::string piece;
        const auto flush = [&] {
            if (piece.empty()) return;
            std::string literal = "\"";
            for (const char c : piece) {
                if (c == '"' || c == '\\') literal += '\\';
                literal += c == '\n' ? ' ' : c;
            }
            if (!out.empty()) out += ' ';
            out += literal + "\"";
            piece.clear();
        };
        for (std::size_t i = range.begin; i < range.end; ++i) {
            if (seq[i].is("##")) continue;
            if (context.macro && seq[i].is_identifier() && context.parameters.count(seq[i].text) != 0) {
                flush();
                out += (out.empty() ? "#" : " #") + std::string(seq[i].text);
                continue;
            }
            if (i > range.begin && seq[i].kind != TokenKind::punctuator &&
                seq[i - 1].kind != TokenKind::punctuator) {
                piece += ' ';
            }
            piece += seq[i].text;
        }
        flush();
        return out.empty() ? "\"\"" : out;
    }

    /// A new identifier made of a prefix and a name; in a macro by pasting.
    static std::string prefixed(std::string_view prefix, const Context& context, Range name) {
        const Sequence& seq = *context.seq;
        std::string out(prefix);
        const bool paste = context.macro && context.parameters.count(seq[name.begin].text) != 0;
        if (paste) out += "##";
        for (std::size_t i = name.begin; i < name.end; ++i) out += seq[i].is("::") ? "_" : seq[i].text;
        return out;
    }

    /// A function of the runtime. A macro's parameter of that name (`kernel` is common) must not replace it.
    static std::string runtime(const Context& context, std::string_view function) {
        const bool clash = context.parameters.count("simt") != 0 || context.parameters.count(function) != 0;
        return (clash ? "SIMT_" : "::simt::") + std::string(function);
    }

    // ---- preprocessor ----

    void directive(const Directive& d, std::size_t at) {
        const std::string_view name = d.name();
        if (name.substr(0, 2) == "if") {
            branches_.push_back({scopes_, {}, at, false});
        } else if (name.substr(0, 2) == "el" && !branches_.empty()) {
            Branch& branch = branches_.back();
            if (!branch.has_else) branch.after_first = scopes_;
            branch.has_else = true;
            scopes_ = branch.before;
            if (scopes_.back().declaration == branch.at) scopes_.back().declaration = at;
        } else if (name == "endif" && !branches_.empty()) {
            Branch branch = std::move(branches_.back());
            branches_.pop_back();
            // Where the first branch ended between two declarations, so did the others.
            if (branch.has_else && branch.after_first.size() != scopes_.size())
                scopes_ = std::move(branch.after_first);
        } else if (name == "define") {
            define(d);
        } else if (name == "undef" && d.tokens.size() > 1) {
            out_.exports.untranslatable_macros.erase(std::string(d.tokens[1].text));
        } else if (name == "include") {
            include(d);
        } else if (name == "pragma") {
            pragma(d);
        }
    }

    void give_up(std::size_t offset, const std::string& what) {
        if (given_up_) return;
        refuse_at(offset, what + "; no compiler reads that; is this really source code?");
        given_up_ = true;
    }

    void include(const Directive& d) {
        if (d.tokens.size() != 2 || d.tokens[1].kind != TokenKind::string || d.tokens[1].text.size() < 2)
            return;
        const Token& header = d.tokens[1];
        const std::string name(header.text.substr(1, header.text.size() - 2));
        if (header.text.front() == '"') {
            Include inc{name, d.begin, d.end, header.begin, header.end, d.conditional};
            const Exports* exports = options_.open_include ? options_.open_include(inc) : nullptr;
            out_.includes.push_back(std::move(inc));
            if (exports != nullptr) {
                out_.exports.merge(*exports);
                return;
            }
        }
        if (options_.has_header && options_.has_header(name)) return;
        for (const MissingHeader& missing : missing_headers) {
            const bool folder = missing.name.back() == '/';
            if (folder ? name.rfind(missing.name, 0) != 0 : name != missing.name) continue;
            refuse(header, "header `" + name +
                               "` does not exist on the CPU; it belongs to the GPU vendor's own libraries; " +
                               std::string(missing.what));
            return;
        }
    }

    /// `#pragma unroll` and nvcc's own pragmas say nothing to a C++ compiler, which would warn: they go.
    void pragma(const Directive& d) {
        if (d.tokens.size() < 2 || !is_device_pragma(d.tokens[1].text)) return;
        out_.edits.push_back({d.begin, d.begin + 1, " "});
        for (const Token& token : d.tokens) blank(token);
    }

    static bool is_device_pragma(std::string_view word) {
        return word == "unroll" || word == "nounroll" || word.substr(0, 3) == "nv_" ||
               word == "hd_warning_disable";
    }

    void define(const Directive& d) {
        if (d.tokens.size() < 3) {
            if (d.tokens.size() == 2) out_.exports.untranslatable_macros.erase(std::string(d.tokens[1].text));
            return;
        }
        Context context;
        context.macro = true;
        std::size_t body = 2;
        if (d.tokens[2].is("(") && d.tokens[1].end == d.tokens[2].begin) {
            for (body = 3; body < d.tokens.size() && !d.tokens[body].is(")"); ++body) {
                if (d.tokens[body].is_identifier()) context.parameters.insert(d.tokens[body].text);
                if (d.tokens[body].is("...")) context.parameters.insert("__VA_ARGS__");
            }
            if (body < d.tokens.size()) ++body;
        }
        const std::vector<Token> tokens(d.tokens.begin() + static_cast<std::ptrdiff_t>(body), d.tokens.end());
        const Sequence seq(tokens);
        context.seq = &seq;
        context.end = tokens.empty() ? d.end : tokens.back().end;
        macro_flaw_.clear();
        for (std::size_t i = 0; i < seq.size() && !given_up_; ++i) rewrite(context, i);
        const std::string name(d.tokens[1].text);
        if (macro_flaw_.empty()) {
            out_.exports.untranslatable_macros.erase(name);
        } else {
            out_.exports.untranslatable_macros[name] = macro_flaw_;
        }
    }

    // ---- scopes ----

    /// One token of the file itself: keeps the stack of scopes and rewrites what starts here.
    void visit(std::size_t i) {
        context_.scope = scopes_.back().kind;
        context_.device = scopes_.back().device;
        rewrite(context_, i);
        const Token& token = seq_[i];
        if (token.kind == TokenKind::identifier) {
            if (token.is("__device__") || token.is("__global__")) note_device_lambda(i);
            if (token.is("texture") || token.is("surface")) note_own_texture(i);
            return;
        }
        if (token.kind != TokenKind::punctuator || token.text.size() != 1) return;
        Scope& scope = scopes_.back();
        switch (token.text[0]) {
            case '(':
            case '[':
                ++scope.brackets;
                break;
            case ')':
            case ']':
                if (scope.brackets > 0) --scope.brackets;
                break;
            case '{':
                open_scope(i);
                break;
            case '}':
                close_scope(i);
                break;
            case ';':
                if (scope.brackets == 0) end_declaration(i);
                break;
            case ':':
                if (scope.kind == ScopeKind::class_ && i > 0 &&
                    (seq_.is(i - 1, "public") || seq_.is(i - 1, "private") || seq_.is(i - 1, "protected"))) {
                    scope.declaration = i + 1;
                }
                break;
            default:
                break;
        }
    }

    void open_scope(std::size_t i) {
        const Range head{scopes_.back().declaration, i};
        Scope inner;
        inner.kind = classify(head);
        inner.declaration = i + 1;
        if (inner.kind == ScopeKind::function) {
            inner.device = runs_on_device(head);
            if (scopes_.back().kind == ScopeKind::namespace_) {
                note_function(head);
                device_function(head);
            }
        }
        if (inner.kind == ScopeKind::block || inner.kind == ScopeKind::initialiser)
            inner.device = scopes_.back().device;
        if (scopes_.back().device) inner.device = true;
        if (device_braces_.count(i) != 0) {
            inner.kind = ScopeKind::block;
            inner.device = true;
        }
        scopes_.push_back(inner);
    }

    void close_scope(std::size_t i) {
        if (scopes_.size() == 1) return;  // one brace too many: the compiler's to report
        const ScopeKind kind = scopes_.back().kind;
        scopes_.pop_back();
        Scope& outer = scopes_.back();
        const bool ends =
            kind == ScopeKind::namespace_ || kind == ScopeKind::function || kind == ScopeKind::block;
        if (ends && outer.brackets == 0) outer.declaration = i + 1;
    }

    /// What kind of scope the brace behind `head` opens.
    [[nodiscard]] ScopeKind classify(Range head) const {
        const ScopeKind outer = scopes_.back().kind;
        const bool in_code = outer == ScopeKind::function || outer == ScopeKind::block;
        if (scopes_.back().brackets > 0) return ScopeKind::block;  // a lambda's body, or a braced argument
        std::size_t p = past_template_headers(head);
        if (seq_.is(p, "inline") && seq_.is(p + 1, "namespace")) return ScopeKind::namespace_;
        if (p < head.end && seq_.is(p, "namespace")) return ScopeKind::namespace_;
        if (p < head.end && seq_.is(p, "extern") && p + 1 < head.end &&
            seq_[p + 1].kind == TokenKind::string) {
            p += 2;
            if (p == head.end) return ScopeKind::namespace_;
        }
        bool parameters = false;
        bool member_initialisers = false;
        for (std::size_t k = p; k < head.end;) {
            const std::string_view word = seq_[k].text;
            if (!parameters && (word == "struct" || word == "class" || word == "union") &&
                is_class_head(k, head.end)) {
                return ScopeKind::class_;
            }
            if (!parameters && word == "enum") return ScopeKind::initialiser;
            if (word == "=" && !seq_.is(k - 1, "operator"))
                return in_code ? ScopeKind::block : ScopeKind::initialiser;
            if (word == ":" && parameters) member_initialisers = true;
            if (word == "(") parameters = true;
            k = word == "(" || word == "[" || word == "{" ? seq_.skip_group(k) : k + 1;
        }
        if (in_code) return ScopeKind::block;
        if (outer == ScopeKind::initialiser) return ScopeKind::initialiser;
        if (parameters) {
            const bool body =
                !member_initialisers || seq_.is(head.end - 1, ")") || seq_.is(head.end - 1, "}");
            return body ? ScopeKind::function : ScopeKind::initialiser;
        }
        return head.empty() ? outer : ScopeKind::initialiser;
    }

    [[nodiscard]] std::size_t past_template_headers(Range head) const {
        std::size_t p = head.begin;
        while (p < head.end && seq_.is(p, "template") && seq_.is(p + 1, "<")) {
            const std::size_t stop = seq_.skip_angles(p + 1);
            if (stop == npos || stop > head.end) break;
            p = stop;
        }
        return p;
    }

    /// `struct A`, `class alignas(8) ns::A<int> final : B`: no declarator, no return type.
    [[nodiscard]] bool is_class_head(std::size_t k, std::size_t end) const {
        for (++k; k < end;) {
            const std::string_view word = seq_[k].text;
            if (word == ":") return true;
            if (seq_.is_identifier(k) && seq_.is(k + 1, "(") && !takes_attribute_arguments(word) &&
                (seq_.is_identifier(k - 1) || seq_.is(k - 1, ">")) && !seq_.is(k - 1, "struct") &&
                !seq_.is(k - 1, "class") && !seq_.is(k - 1, "union")) {
                return false;  // `struct A f(int)`: a function that returns one
            }
            if (seq_.is_identifier(k) && seq_.is(k + 1, "("))
                k = seq_.skip_group(k + 1);
            else if (word == "<")
                k = seq_.skip_angles(k) == npos ? end : seq_.skip_angles(k);
            else if (word == "[")
                k = seq_.skip_group(k);
            else if (seq_.is_identifier(k) || word == "::")
                ++k;
            else
                return false;
        }
        return true;
    }

    /// The specifier in front of a declaration, or npos. Parameters and template arguments are not looked at.
    [[nodiscard]] std::size_t find_specifier(Range head, std::string_view word) const {
        for (std::size_t k = past_template_headers(head); k < head.end;) {
            const std::string_view text = seq_[k].text;
            if (text == word) return k;
            if (text == "=") return npos;
            k = text == "(" || text == "[" || text == "{" ? seq_.skip_group(k) : k + 1;
        }
        return npos;
    }

    [[nodiscard]] bool has_specifier(Range head, std::string_view word) const {
        return find_specifier(head, word) != npos;
    }

    [[nodiscard]] bool runs_on_device(Range head) const {
        return has_specifier(head, "__global__") ||
               (has_specifier(head, "__device__") && !has_specifier(head, "__host__"));
    }

    /// `[=] __device__ (int i) { ... }`: its body is device code inside a host function.
    void note_device_lambda(std::size_t i) {
        if (i == 0 || !(seq_.is(i - 1, "]") || seq_.is(i - 1, "__host__") || seq_.is(i - 1, ")"))) return;
        std::size_t intro = i - 1;
        while (intro > 0 && (seq_.is(intro, "__host__") || seq_.is(intro, ")"))) {
            if (seq_.is(intro, ")")) {
                if (seq_.match(intro) == npos || seq_.match(intro) == 0) return;
                intro = seq_.match(intro);
            }
            --intro;
        }
        if (!seq_.is(intro, "]") || seq_.is(i - 1, "__host__") || seq_.is(i + 1, "__host__")) return;
        const std::size_t limit = std::min(seq_.size(), i + 200);  // no lambda's head is longer
        for (std::size_t k = i + 1; k < limit;) {
            const std::string_view word = seq_[k].text;
            if (word == "{") {
                device_braces_.insert(k);
                return;
            }
            if (word == ";" || word == ")" || word == "}" || word == "=") return;
            k = word == "(" || word == "[" ? seq_.skip_group(k) : k + 1;
        }
    }

    void note_own_texture(std::size_t i) {
        if (i > 0 && (seq_.is(i - 1, "struct") || seq_.is(i - 1, "class"))) own_texture_ = true;
    }

    // ---- declarations at namespace scope ----

    void end_declaration(std::size_t semicolon) {
        Scope& scope = scopes_.back();
        const Range whole{scope.declaration, semicolon};
        scope.declaration = semicolon + 1;
        if (whole.empty()) return;
        if (scope.kind == ScopeKind::class_) return note_friend(whole);
        if (scope.kind != ScopeKind::namespace_) return;
        if (texture_reference(whole)) return;
        const bool variable = has_specifier(whole, "__device__") || has_specifier(whole, "__constant__") ||
                              has_specifier(whole, "__managed__");
        if (!seq_.is(whole.begin, "typedef") && !seq_.is(whole.begin, "using")) note_function(whole);
        if (!variable && !has_specifier(whole, "__global__")) return note_extern(whole);
        if (has_specifier(whole, "__shared__")) return;
        if (function_name(whole) != npos) return device_function(whole);
        if (variable) device_variables(whole, semicolon);
    }

    bool texture_reference(Range whole) {
        std::size_t p = whole.begin;
        while (p < whole.end && (seq_.is(p, "static") || seq_.is(p, "extern"))) ++p;
        if (own_texture_ || !(seq_.is(p, "texture") || seq_.is(p, "surface")) || !seq_.is(p + 1, "<"))
            return false;
        refuse(seq_[p],
               std::string(seq_[p].text) +
                   " references cannot be translated; CUDA 12 removed them; use objects: "
                   "`cudaTextureObject_t`, `cudaCreateTextureObject`, `tex1Dfetch<float>(object, i)`");
        return true;
    }

    /// The name of the function that `head` declares, or npos when it declares none.
    [[nodiscard]] std::size_t function_name(Range head) const {
        for (std::size_t k = past_template_headers(head); k < head.end;) {
            const std::string_view word = seq_[k].text;
            if (word == "=" || word == "{") return npos;
            if (word == "operator") return k;
            if (word == "<" && k > head.begin && seq_.is_identifier(k - 1)) {
                const std::size_t stop = seq_.skip_angles(k);
                k = stop == npos ? k + 1 : stop;
                continue;
            }
            if (word == "[") {
                k = seq_.skip_group(k);
                continue;
            }
            if (word != "(") {
                ++k;
                continue;
            }
            const std::size_t behind = seq_.skip_group(k);
            const bool named = k > head.begin && (seq_.is_identifier(k - 1) || seq_.is(k - 1, ">")) &&
                               !takes_attribute_arguments(seq_[k - 1].text) &&
                               !is_builtin_type(seq_[k - 1].text);
            if (named && ends_parameters(behind, head.end)) return k - 1;
            k = behind;
        }
        return npos;
    }

    /// What may follow a function's parameters; a word of another kind means that the parentheses
    /// were a macro's.
    [[nodiscard]] bool ends_parameters(std::size_t k, std::size_t end) const {
        static constexpr std::array<std::string_view, 14> followers = {
            "const",         "noexcept", "override", "final", "volatile", "try", "requires",
            "__attribute__", "->",       "{",        "=",     ":",        "&",   "["};
        if (k >= end) return true;
        return std::find(followers.begin(), followers.end(), seq_[k].text) != followers.end();
    }

    /// Makes a device function, or a kernel template, private to its file. nvcc compiles device code file by
    /// file, so two files may have different functions of one name; in C++ the linker would silently keep
    /// one of them.
    void device_function(Range head) {
        const std::size_t kernel = find_specifier(head, "__global__");
        if (options_.relocatable) return;
        const std::size_t specifier = kernel != npos ? kernel : find_specifier(head, "__device__");
        if (specifier == npos || has_specifier(head, "__host__")) return;
        const bool is_template = seq_.is(head.begin, "template");
        if (kernel != npos && !is_template) return;
        if (is_template && (!seq_.is(head.begin + 1, "<") || seq_.is(head.begin + 2, ">"))) return;
        for (const std::string_view word : {"static", "extern", "friend", "typedef", "using"}) {
            if (has_specifier(head, word)) return;
        }
        const std::size_t name = function_name(head);
        if (name == npos || seq_.is(name, ">") || (name > 0 && seq_.is(name - 1, "::"))) return;
        if (out_.exports.external_names.count(seq_[name].text) != 0) return;
        replace(seq_[specifier], "SIMT_LOCAL");
    }

    /// Remembers what the name of a function stands for: see launch() and call().
    void note_function(Range head) {
        const std::size_t name = function_name(head);
        if (name == npos || !seq_.is_identifier(name) || (name > 0 && seq_.is(name - 1, "::"))) return;
        if (!seq_.is(name + 1, "(") || seq_.match(name + 1) == npos) return;
        Exports::Function function;
        const bool is_template = seq_.is(head.begin, "template");
        function.kernel = has_specifier(head, "__global__");
        if (function.kernel && !is_template) {
            function.parameters = "(";
            for (Range parameter : split(seq_, {name + 2, seq_.match(name + 1)})) {
                for (std::size_t k = parameter.begin; k < parameter.end; ++k) {
                    if (seq_.is(k, "=")) parameter.end = k;
                }
                function.parameters += parameter_type(parameter) + ",";
            }
        }
        // Any word in front that is not C++'s own may be a macro for `__device__`.
        function.host = !is_template && !function.kernel;
        for (std::size_t k = head.begin; k < name; ++k) {
            const bool known = is_builtin_type(seq_[k].text) || seq_.is(k, "static") ||
                               seq_.is(k, "inline") || seq_.is(k, "const") || seq_.is(k, "*");
            function.host = function.host && known;
        }
        function.device = !function.kernel && !function.host;
        out_.exports.note_function(seq_[name].text, function);
    }

    /// A kernel called without a launch, or a host function called by device code: C++ that runs, and that no
    /// CUDA compiler takes.
    void call(const Context& context, std::size_t i) {
        const Sequence& seq = *context.seq;
        if (context.macro || !seq.is(i + 1, "(") || seq.match(i + 1) == npos || scopes_.size() < 2) return;
        if (scopes_.back().kind != ScopeKind::function && scopes_.back().kind != ScopeKind::block) return;
        const auto found = out_.exports.functions.find(seq[i].text);
        if (found == out_.exports.functions.end()) return;
        const std::string_view before = i > 0 ? seq[i - 1].text : std::string_view{};
        const bool other = before == "." || before == "->" || before == "::" || before == "*" ||
                           before == "&" || before == ">" ||
                           (seq.is_identifier(i - 1) && before != "return" && before != "else");
        if (other) return;
        const Exports::Function& function = found->second;
        const std::string name = "`" + found->first + "`";
        if (function.kernel && !function.parameters.empty() && !function.host && !function.device) {
            const auto wanted = std::count(function.parameters.begin(), function.parameters.end(), ',');
            if (static_cast<std::ptrdiff_t>(split(seq, {i + 2, seq.match(i + 1)}).size()) != wanted) return;
            refuse(seq[i], "kernel " + name +
                               " called like a function; a kernel has to be launched: write `" +
                               found->first + "<<<grid, block>>>(...)`");
        } else if (function.host && !function.kernel && !function.device && context.device) {
            refuse(seq[i],
                   "host function " + name +
                       " called from device code; a device cannot run it; write `__device__` or `__host__ "
                       "__device__` in front of it");
        }
    }

    /// A parameter without its name, as far as that can be told: at worst two declarations of one kernel look
    /// different, and its launches are then checked later.
    [[nodiscard]] std::string parameter_type(Range parameter) const {
        std::size_t name = npos;
        for (std::size_t k = parameter.begin + 1; k < parameter.end; ++k) {
            const bool candidate = seq_.is_identifier(k) && !is_builtin_type(seq_[k].text) &&
                                   !is_keyword(seq_[k].text) && !seq_.is(k - 1, "::") &&
                                   !seq_.is(k, "__restrict__");
            if (candidate) name = k;
        }
        std::string type;
        for (std::size_t k = parameter.begin; k < parameter.end; ++k) {
            const bool noise = seq_.is(k, "__restrict__") || seq_.is(k, "__restrict") || k == name;
            if (!noise) type += std::string(seq_[k].text) + " ";
        }
        return type;
    }

    void note_friend(Range whole) {
        if (!has_specifier(whole, "friend")) return;
        const std::size_t name = function_name(whole);
        if (name != npos) out_.exports.external_names.emplace(seq_[name].text);
    }

    /// `extern int v;` without a CUDA word; a later `__device__ int v;` defines it.
    void note_extern(Range whole) {
        if (!seq_.is(whole.begin, "extern")) return;
        const std::size_t function = function_name(whole);
        if (function != npos) {
            out_.exports.external_names.emplace(seq_[function].text);
        } else if (const auto declaration = parse_declaration(seq_, whole)) {
            for (const Declarator& d : declaration->declarators) {
                out_.exports.external_names.emplace(spelling(seq_, d.name));
            }
        }
    }

    void device_variables(Range whole, std::size_t semicolon) {
        for (const std::string_view word : {"template", "typedef", "using", "friend"}) {
            if (seq_.is(whole.begin, word)) return;
        }
        Range body = whole;
        bool external = false;
        if (seq_.is(body.begin, "extern") && body.begin + 1 < body.end &&
            seq_[body.begin + 1].kind == TokenKind::string) {
            external = true;
            body.begin += 2;
        }
        const auto declaration = parse_declaration(seq_, body);
        if (!declaration) return;
        external = external || declaration->has(seq_, "extern");
        if (external) {
            bool initialised = false;
            for (const Declarator& d : declaration->declarators) {
                out_.exports.external_names.emplace(spelling(seq_, d.name));
                initialised = initialised || d.initialiser != npos;
            }
            if (!initialised) return;
        }
        const bool constant = declaration->has(seq_, "__constant__");
        const bool managed = declaration->has(seq_, "__managed__");
        const std::string kind = constant ? "constant" : managed ? "managed" : "device";
        std::string symbols;
        bool local = !options_.relocatable && !external;
        for (const std::string_view word : {"static", "inline", "thread_local"}) {
            local = local && !declaration->has(seq_, word);
        }
        for (const Declarator& d : declaration->declarators) {
            if (d.parameters) return;
            // Qualified: a static member, defined here.
            std::size_t first = d.name.begin;
            while (d.qualified && first > d.whole.begin && !seq_.is(first - 1, "*")) --first;
            const Range name{first, d.name.end};
            const std::string spelled = spelling(seq_, name);
            local = local && !d.qualified && out_.exports.external_names.count(spelled) == 0;
            symbols += " static const ::simt::Symbol " + prefixed("simt_symbol_", context_, name) + "(&" +
                       spelled + ", sizeof " + spelled + ", \"" + spelled +
                       "\", ::simt::SymbolKind::" + kind + "); SIMT_RED_ZONE(" +
                       prefixed("simt_symbol_", context_, name) + ")";
        }
        if (local) {
            for (const std::size_t k : declaration->storage) {
                if (!seq_.is(k, "__device__") && !seq_.is(k, "__constant__") && !seq_.is(k, "__managed__"))
                    continue;
                replace(seq_[k], "SIMT_LOCAL");
                break;
            }
        }
        insert(seq_[semicolon].end, std::move(symbols));
    }

    // ---- rewrites that a file and a macro's body share ----

    void rewrite(const Context& context, std::size_t i) {
        const Sequence& seq = *context.seq;
        const Token& token = seq[i];
        if (token.kind == TokenKind::punctuator) {
            // Formatters that do not know CUDA write `<< <grid, block >> >`, which compilers take.
            const bool torn = token.is("<<") && seq.is(i + 1, "<") && i > 0 && !seq.is(i - 1, "operator");
            if (token.is("<<<") || torn) launch(context, i);
            return;
        }
        if (token.kind != TokenKind::identifier) return;
        const std::string_view word = token.text;
        if (word[0] == '_' || word[0] == 'a') {
            if (word == "__shared__") return shared(context, i);
            if (word == "__noinline__") return noinline(context, i);
            if (word == "_Pragma") return pragma_operator(context, i);
            if (is_asm(word)) return assembly(context, i);
            if (word == "__cluster_dims__" || word == "__block_size__") {
                return refuse(token, "`" + std::string(word) +
                                         "` cannot be translated; the CPU backend has no thread block "
                                         "clusters; exchange data between blocks through global memory");
            }
        }
        if (word.substr(0, 4) == "cuda") kernel_argument(context, i);
        if (word == "clock") return clock_call(context, i);
        if (word == "func") return kernel_member(context, i);
        call(context, i);
        use_of_macro(context, i);
    }

    void use_of_macro(const Context& context, std::size_t i) {
        const Token& token = (*context.seq)[i];
        const auto& macros = out_.exports.untranslatable_macros;
        const auto found = macros.find(token.text);
        if (found == macros.end()) return;
        if (context.macro) {
            macro_flaw_ = found->second;
        } else {
            refuse(token, "macro `" + found->first + "` cannot be translated; " + found->second);
        }
    }

    /// In a macro the complaint waits until the macro is used.
    void complain(const Context& context, const Token& where, std::string what,
                  const std::string& why_and_remedy) {
        if (!context.macro) return refuse(where, std::move(what) + "; " + why_and_remedy);
        const std::string line = std::to_string(lines_.line(where.begin));
        macro_flaw_ = "its definition at " + path_ + ":" + line + " hides " + what + "; " + why_and_remedy;
    }

    /// `__noinline__` cannot be a macro: the standard library has it inside `__attribute__`.
    void noinline(const Context& context, std::size_t i) {
        const Sequence& seq = *context.seq;
        if (i > 0 && (seq.is(i - 1, "(") || seq.is(i - 1, ",") || seq.is(i - 1, "define"))) return;
        replace(seq[i], "__attribute__((__noinline__))");
    }

    void pragma_operator(const Context& context, std::size_t i) {
        const Sequence& seq = *context.seq;
        if (!seq.is(i + 1, "(") || i + 3 >= seq.size() || seq[i + 2].kind != TokenKind::string ||
            !seq.is(i + 3, ")"))
            return;
        const std::string_view text = seq[i + 2].text;
        const std::size_t first = text.find_first_not_of(" \t", 1);
        if (first == std::string_view::npos) return;
        const std::size_t last = std::min(text.find_first_of(" \t(\"", first), text.size());
        if (is_device_pragma(text.substr(first, last - first))) blank(seq, {i, i + 4});
    }

    /// Inline assembly in device code is PTX, an instruction set no CPU has.
    void assembly(const Context& context, std::size_t i) {
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
        complain(context, seq[i], "inline PTX", why);
        // Reached only by code that an `#if` or a macro may leave out: the compiler stops where it is
        // not left out.
        blank(seq, {i, stop});
        insert(seq[i].begin, "static_assert(false, \"inline PTX: " + why + "\")");
    }

    // ---- launches ----

    void launch(const Context& context, std::size_t i) {
        const Sequence& seq = *context.seq;
        bool expression = false;
        const std::size_t first = kernel_begin(seq, i, expression);
        const std::size_t inner = seq.is(i, "<<") ? i + 1 : i;  // the last token of `<<<`
        const std::size_t close = launch_close(context, inner);
        if (first == npos) {
            return complain(
                context, seq[i], "`<<<` without a kernel's name in front of it",
                "the launch is not translated; write `kernel<<<grid, block>>>(arguments)` in one place");
        }
        if (close == npos) return;
        const std::size_t open = close + 3;
        if (!check_configuration(context, inner, close) ||
            !check_arguments(context, open, is_plain_kernel(context, {first, i}, open))) {
            return;
        }
        if (context.device) {
            return complain(context, seq[first], "launch inside device code",
                            "the CPU backend has no dynamic parallelism; launch from the host");
        }
        const std::string name = quoted(context, {first, i});
        // A name that can only mean one function tells the parameters' types.
        const bool typed = is_plain_kernel(context, {first, i}, open);
        if (expression) {  // evaluated once, and only the function it names is kept
            insert(seq[first].begin, runtime(context, "kernel") + "(" + name + ",[simt_k = ");
            insert(seq[i - 1].end, "](auto... simt_args){ simt_k(simt_args...); })");
        } else {
            insert(seq[first].begin, runtime(context, "kernel") + "(" + name + ",[=](auto... simt_args){ ");
            insert(seq[i - 1].end,
                   "(simt_args...); }" + (typed ? "," + std::string(seq[first].text) : "") + ")");
        }
        replace(seq[i], "[" + runtime(context, "cfg") + "(");
        if (inner != i) blank(seq[inner]);
        out_.edits.push_back({seq[close].begin, seq[close].end, typed ? ")].run" : ")]"});
        out_.edits.push_back({seq[close + 1].begin, seq[close + 2].end, ""});
    }

    /// True if the arguments behind `open` are those of the one function that `name` can mean.
    [[nodiscard]] bool is_plain_kernel(const Context& context, Range name, std::size_t open) const {
        if (context.macro || name.end != name.begin + 1) return false;
        const Sequence& seq = *context.seq;
        const auto& functions = out_.exports.functions;
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

    /// Reads a kernel's name backwards from `<<<`: `ns::k<T, 16>`, `(c ? f : g)`,
    /// `table[1]`, `object.member`.
    static std::size_t kernel_begin(const Sequence& seq, std::size_t i, bool& expression) {
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
            } else if (seq.is(k - 1, ".") || seq.is(k - 1, "->") || seq.is(k - 1, ".*") ||
                       seq.is(k - 1, "->*")) {
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
    std::size_t launch_close(const Context& context, std::size_t i) {
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
            complain(context, seq[i], "launch without an argument list",
                     "`>>>` must be followed by `(`; write `kernel<<<grid, block>>>(arguments)`, with `()` "
                     "for none");
        } else {
            complain(context, seq[i], "`<<<` without `>>>`",
                     "the launch never ends; write `kernel<<<grid, block>>>(arguments)` without hiding parts "
                     "in macros");
        }
        return npos;
    }

    /// Splits at commas outside brackets; commas of template arguments are stepped over where they
    /// look like such.
    static std::vector<Range> split(const Sequence& seq, Range range) {
        std::vector<Range> parts;
        std::size_t begin = range.begin;
        for (std::size_t k = range.begin; k < range.end;) {
            if (seq.is(k, ",")) {
                parts.push_back({begin, k});
                begin = ++k;
                continue;
            }
            if (seq.is(k, "<") && k > range.begin && seq.is_identifier(k - 1)) {
                const std::size_t stop = seq.skip_angles(k);
                if (stop != npos && stop <= range.end) {
                    k = stop;
                    continue;
                }
            }
            const bool group = seq.is(k, "(") || seq.is(k, "[") || seq.is(k, "{");
            k = group ? seq.skip_group(k) : k + 1;
        }
        if (begin < range.end || !parts.empty()) parts.push_back({begin, range.end});
        return parts;
    }

    bool check_configuration(const Context& context, std::size_t i, std::size_t close) {
        const Sequence& seq = *context.seq;
        const std::vector<Range> parts = split(seq, {i + 1, close});
        const std::string form =
            "write `<<<grid, block>>>`, `<<<grid, block, bytes>>>` or `<<<grid, block, bytes, stream>>>`";
        for (const Range& part : parts) {
            if (!part.empty()) continue;
            complain(context, seq[i], "empty place in a launch configuration",
                     "every value between commas is needed; " + form);
            return false;
        }
        // A lone name or call may be a macro that makes several values: the compiler will tell.
        const bool one_macro = parts.size() == 1 && seq.is_identifier(parts[0].begin) &&
                               (parts[0].end == parts[0].begin + 1 || seq.is(parts[0].begin + 1, "("));
        if (parts.size() >= 2 || one_macro) return true;
        complain(context, seq[i], "launch configuration without a block size",
                 "a launch needs a grid and a block; " + form);
        return false;
    }

    bool check_arguments(const Context& context, std::size_t open, bool typed) {
        const Sequence& seq = *context.seq;
        if (open >= seq.size()) return true;
        const std::size_t close = seq.match(open);
        if (close == npos) {
            complain(context, seq[open], "launch whose argument list is not closed",
                     "`(` has no `)`; add it");
            return false;
        }
        for (const Range& argument : split(seq, {open + 1, close})) {
            if (argument.empty()) continue;
            if (seq.is(argument.begin, "{") && !typed) {
                complain(context, seq[argument.begin], "kernel argument in braces without a type",
                         "arguments are copied before the kernel is known; name the type: `float3{x, y, z}`");
                return false;
            }
            // A copy of NULL is an integer, which no pointer accepts.
            const bool single = argument.end == argument.begin + 1;
            if (single && seq.is(argument.begin, "NULL")) {
                const Token& null = seq[argument.begin];
                out_.edits.push_back({null.begin, null.end, "nullptr"});
            }
        }
        return true;
    }

    /// `cudaLaunchKernel((void*)k<16>, ...)`: the cast goes, the runtime's templates need the kernel's type.
    void kernel_argument(const Context& context, std::size_t i) {
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
                blank(seq, {argument.begin, behind});
                argument.begin = behind;
                continue;
            }
            const bool cast = seq.is(argument.begin, "reinterpret_cast") ||
                              seq.is(argument.begin, "static_cast") || seq.is(argument.begin, "const_cast");
            const std::size_t behind = cast ? seq.skip_angles(argument.begin + 1) : npos;
            if (behind == npos || !is_void_pointer(seq, {argument.begin + 2, behind - 1})) return;
            blank(seq, {argument.begin, behind});
            argument = {behind + 1, seq.match(behind)};
            if (argument.end == npos) return;
        }
    }

    /// `parameters.func = (void*)k;`: the runtime needs the kernel's type. The member of another structure
    /// gets its `void*` all the same.
    void kernel_member(const Context& context, std::size_t i) {
        const Sequence& seq = *context.seq;
        if (i == 0 || !(seq.is(i - 1, ".") || seq.is(i - 1, "->")) || !seq.is(i + 1, "=") ||
            !seq.is(i + 2, "(") || !is_void_pointer(seq, {i + 3, seq.match(i + 2)})) {
            return;
        }
        const std::size_t close = seq.match(i + 2);
        out_.edits.push_back({seq[i + 2].begin, seq[close].end, "(::simt::KernelPointer)"});
    }

    /// A device's `clock()` counts cycles; the C library's, which has its name, counts microseconds.
    void clock_call(const Context& context, std::size_t i) {
        const Sequence& seq = *context.seq;
        const bool member = i > 0 && (seq.is(i - 1, ".") || seq.is(i - 1, "->") || seq.is(i - 1, "::") ||
                                      seq.is_identifier(i - 1));
        const bool after_return = i > 0 && seq.is(i - 1, "return");
        if (!context.device || (member && !after_return) || !seq.is(i + 1, "(") || !seq.is(i + 2, ")"))
            return;
        out_.edits.push_back({seq[i].begin, seq[i].end, "clock64"});
    }

    static bool is_void_pointer(const Sequence& seq, Range range) {
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

    // ---- shared memory ----

    /// `__shared__ T a[16], b;` becomes `typedef T simt_type_a[16], simt_type_b;` and, behind the `;`, one
    /// reference for each name into the block's own memory. So types of every shape work, and every token
    /// keeps its line.
    void shared(const Context& context, std::size_t i) {
        const Sequence& seq = *context.seq;
        if (!context.macro && i < shared_done_) return;  // a second `__shared__` in one declaration
        const Range range{shared_begin(seq, i), shared_end(seq, i)};
        const bool ended = seq.is(range.end, ";");
        if (!context.macro) shared_done_ = range.end;
        const auto declaration = ended || (context.macro && range.end == seq.size())
                                     ? parse_declaration(seq, range)
                                     : std::nullopt;
        if (!declaration) {
            return complain(context, seq[i], "`__shared__` without a complete declaration behind it",
                            "the translator must see type, name, size and the `;` behind them; "
                            "write `__shared__ float tile[256];` where it is used");
        }
        for (const Declarator& d : declaration->declarators) {
            if (d.initialiser == npos && !d.parameters) continue;
            const std::size_t at = d.initialiser != npos ? d.initialiser : d.name.end;
            return complain(
                context, seq[at], "initialiser of a `__shared__` variable",
                "shared memory starts undefined, as in CUDA; assign in one thread, then `__syncthreads()`");
        }
        const bool dynamic = declaration->has(seq, "extern");
        const bool at_namespace =
            !context.macro && context.scope != ScopeKind::function && context.scope != ScopeKind::block;
        if (at_namespace && !dynamic) {
            return refuse(
                seq[i],
                "`__shared__` variable outside a function; it has no block to belong to; declare it "
                "inside the kernel, or `extern __shared__ T name[];` for dynamic shared memory");
        }
        rewrite_shared(context, *declaration, range.end, dynamic, at_namespace);
    }

    void rewrite_shared(const Context& context, const Declaration& declaration, std::size_t end, bool dynamic,
                        bool at_namespace) {
        const Sequence& seq = *context.seq;
        bool written = false;
        for (const std::size_t k : declaration.storage) {
            if (seq.is(k, "__shared__") && !std::exchange(written, true))
                replace(seq[k], "typedef");
            else
                blank(seq[k]);
        }
        std::string alignment;
        for (const Range& range : declaration.alignment) {
            for (std::size_t k = range.begin; k < range.end; ++k) alignment += std::string(seq[k].text) + " ";
            blank(seq, range);
        }
        std::vector<std::string> statements;
        for (const Declarator& d : declaration.declarators) {
            const std::string name = spelling(seq, d.name);
            const std::string type = prefixed("simt_type_", context, d.name);
            const std::string key = prefixed("simt_key_", context, d.name);
            const std::string box = prefixed("simt_aligned_", context, d.name);
            const std::string literal = quoted(context, d.name);
            blank(seq, {d.name.begin + 1, d.name.end});
            out_.edits.push_back({seq[d.name.begin].begin, seq[d.name.begin].end, type});
            if (dynamic) {
                if (d.first_extent != npos) blank(seq, {d.first_extent, seq.skip_group(d.first_extent)});
                if (at_namespace) {
                    if (!dynamic_names_.insert(name).second) continue;
                    statements.push_back("[[maybe_unused]] static ::simt::DynamicShared<" + type + "> " +
                                         name);
                } else if (d.first_extent != npos) {
                    statements.push_back(type + "* const " + name + " = ::simt::dynamic_shared<" + type +
                                         ">()");
                } else {
                    statements.push_back(type + "& " + name + " = *::simt::dynamic_shared<" + type + ">()");
                }
                continue;
            }
            if (!alignment.empty()) {
                statements.push_back("struct " + alignment + box + " { " + type + " value; }");
            }
            statements.push_back("static ::simt::SharedKey " + key);
            const std::string place = runtime(context, "shared") + "<" + (alignment.empty() ? type : box) +
                                      ">(" + key + ", " + literal + ")" + (alignment.empty() ? "" : ".value");
            statements.push_back(type + "& " + name + " = " + place);
        }
        std::string text;
        if (seq.is(end, ";")) {
            for (const std::string& statement : statements) text += " " + statement + ";";
            insert(seq[end].end, std::move(text));
        } else {  // the last words of a macro: whoever uses it writes the `;`
            for (const std::string& statement : statements) text += "; " + statement;
            insert(context.end, std::move(text));
        }
    }

    /// Specifiers, and even the type, may stand in front of `__shared__`.
    static std::size_t shared_begin(const Sequence& seq, std::size_t i) {
        std::size_t k = i;
        while (k > 0) {
            const std::string_view word = seq[k - 1].text;
            const bool specifier = word == "static" || word == "extern" || word == "volatile" ||
                                   word == "const" || is_cuda_specifier(word) || is_builtin_type(word);
            if (specifier) {
                --k;
            } else if (word == ")" && seq.match(k - 1) != npos && seq.match(k - 1) > 0 &&
                       takes_attribute_arguments(seq[seq.match(k - 1) - 1].text)) {
                k = seq.match(k - 1) - 1;
            } else {
                break;
            }
        }
        // `T __shared__ a[4];`
        const bool type_in_front = k == i && k > 0 && seq.is_identifier(i + 1) &&
                                   !is_builtin_type(seq[i + 1].text) &&
                                   (seq.is(i + 2, "[") || seq.is(i + 2, ";")) && seq.is_identifier(k - 1) &&
                                   !is_keyword(seq[k - 1].text);
        return type_in_front ? k - 1 : k;
    }

    static std::size_t shared_end(const Sequence& seq, std::size_t i) {
        std::size_t k = i;
        while (k < seq.size() && !seq.is(k, ";") && !seq.is(k, ")") && !seq.is(k, "}")) {
            const bool group = seq.is(k, "(") || seq.is(k, "[") || seq.is(k, "{");
            k = group ? seq.skip_group(k) : k + 1;
        }
        return k;
    }

    struct Branch {
        std::vector<Scope> before;       ///< at `#if`
        std::vector<Scope> after_first;  ///< at the end of its first branch
        std::size_t at = 0;              ///< token index of `#if`
        bool has_else = false;
    };

    std::string_view text_;
    const std::string& path_;
    const TranslateOptions& options_;
    LineTable lines_;
    Lexed lexed_;
    Sequence seq_;
    Context context_;
    std::vector<Scope> scopes_;
    std::vector<Branch> branches_;
    std::set<std::size_t> device_braces_;  ///< bodies of device lambdas
    std::set<std::string> dynamic_names_;  ///< `extern __shared__` at namespace scope, already declared
    std::string macro_flaw_;               ///< why the macro being read cannot be used
    std::size_t shared_done_ = 0;
    bool own_texture_ = false;
    bool given_up_ = false;
    Translation out_;
};

}  // namespace

void Exports::merge(const Exports& other) {
    for (const auto& [name, reason] : other.untranslatable_macros) untranslatable_macros[name] = reason;
    external_names.insert(other.external_names.begin(), other.external_names.end());
    for (const auto& [name, function] : other.functions) note_function(name, function);
}

void Exports::note_function(std::string_view name, const Function& function) {
    const auto [entry, is_new] = functions.try_emplace(std::string(name), function);
    if (is_new) return;
    Function& known = entry->second;
    if (known.parameters != function.parameters) known.parameters.clear();
    known.kernel = known.kernel || function.kernel;
    known.device = known.device || function.device;
    known.host = known.host || function.host;
}

Translation translate(std::string_view text, const std::string& path, const TranslateOptions& options) {
    return Translator(text, path, options).run();
}

std::string apply(std::string_view text, std::vector<Edit> edits) {
    std::stable_sort(edits.begin(), edits.end(), [](const Edit& a, const Edit& b) {
        return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    std::string out;
    out.reserve(text.size() + 64 * edits.size());
    std::size_t done = 0;
    for (const Edit& edit : edits) {
        if (edit.begin < done) continue;  // inside an earlier one
        out += text.substr(done, edit.begin - done);
        out += edit.text;
        // Line ends inside a token are continuations (or a raw string's own): each is kept.
        for (std::size_t i = edit.begin; i < edit.end; ++i) {
            if (text[i] == '\n') out += "\\\n";
        }
        done = edit.end;
    }
    out += text.substr(done);
    return out;
}

}  // namespace cu2cpp
