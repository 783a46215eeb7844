#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

#include "cu2cpp/lexer.h"
#include "cu2cpp/syntax.h"
#include "cu2cpp/translator.h"

namespace cu2cpp {

enum class ScopeKind : unsigned char { namespace_, class_, function, block, initialiser };

/// Where a run of tokens is: in the file itself or in a `#define`.
struct Context {
    const Sequence* seq = nullptr;
    bool macro = false;
    bool device = false;
    bool both = false;            ///< of a function that host and device may call
    bool surely_both = false;     ///< and that says so, by `__device__` or a macro for it
    bool host = false;            ///< an `#if` on `__CUDA_ARCH__` leaves it to the host
    bool member = false;          ///< inside a class
    std::size_t function = npos;  ///< first token of the function around it
    ScopeKind scope = ScopeKind::function;
    std::set<std::string_view> parameters;  ///< of a function-like macro
    std::size_t end = 0;                    ///< offset behind the last token

    /// It is code of a function, as far as can be told: a macro's text may be.
    [[nodiscard]] bool in_code() const { return scope == ScopeKind::function || scope == ScopeKind::block; }
};

/// The file being translated, as all passes share it: its edits and its refusals.
struct Unit {
    Unit(std::string_view text, const std::string& name, const TranslateOptions& how)
        : path(name), options(how), lines(text) {
        out.exports.external_names = how.external_names;
        out.exports.device_constants = how.device_constants;
    }

    /// Records a refusal. Under an `#if` the compiler decides, which refuses what was not translated, too.
    void refuse(const Token& where, std::string message);
    void refuse_at(std::size_t offset, std::string message);
    /// Refuses `what`; in a macro the complaint waits until the macro is used.
    void complain(const Context& context, const Token& where, std::string what,
                  const std::string& why_and_remedy);
    /// Refuses to read on.
    void give_up(std::size_t offset, const std::string& what);

    void insert(std::size_t offset, std::string text);
    /// Replaces a token; shorter text is padded, so that what comes behind keeps its column.
    void replace(const Token& token, std::string text);
    void blank(const Token& token) { replace(token, {}); }
    void blank(const Sequence& seq, Range range);

    const std::string& path;
    const TranslateOptions& options;
    LineTable lines;
    Translation out;
    std::string macro_flaw;  ///< why the macro being read cannot be used
    bool given_up = false;
    std::size_t shared_done = 0;          ///< where the last `__shared__` declaration ended
    std::set<std::string> dynamic_names;  ///< `extern __shared__` at namespace scope, already declared
};

/// Spelling of a range as compilers print it: `k<T, 16>` as `k<T,16>`.
[[nodiscard]] std::string spelling(const Sequence& seq, Range range);

/// A range as a string literal. In a macro its parameters become `#parameter`, so that the name printed
/// is the one the macro was called with.
[[nodiscard]] std::string quoted(const Context& context, Range range);

/// A new identifier made of a prefix and a name; in a macro by pasting.
[[nodiscard]] std::string prefixed(std::string_view prefix, const Context& context, Range name);

/// A function of the runtime. A macro's parameter of that name (`kernel` is common) must not replace it.
[[nodiscard]] std::string runtime(const Context& context, std::string_view function);

}  // namespace cu2cpp
