#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cu2cpp/lexer.h"

namespace cu2cpp {

inline constexpr std::size_t npos = static_cast<std::size_t>(-1);

/// Deepest nesting of brackets and of `#if` that is read. Compilers stop at 256 brackets (clang) or
/// a little above.
inline constexpr std::size_t max_nesting = 1000;

template <std::size_t size>
[[nodiscard]] bool contains(const std::array<std::string_view, size>& words, std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

/// `words` has `word` in it, between spaces.
[[nodiscard]] bool is_among(std::string_view words, std::string_view word);

/// Half-open range of token indices.
struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;
    [[nodiscard]] bool empty() const { return begin >= end; }
};

/// A run of tokens (a file's, or the body of one `#define`) with its brackets paired.
class Sequence {
  public:
    /// `directives` may be null; with them, the branches of an `#if` are paired each on its own.
    explicit Sequence(const std::vector<Token>& tokens, const std::vector<Directive>* directives = nullptr);

    [[nodiscard]] std::size_t size() const { return tokens_->size(); }
    [[nodiscard]] const Token& operator[](std::size_t i) const { return (*tokens_)[i]; }
    /// True when token `i` exists and is spelled so.
    [[nodiscard]] bool is(std::size_t i, std::string_view spelling) const {
        return i < size() && (*tokens_)[i].is(spelling);
    }
    [[nodiscard]] bool is_identifier(std::size_t i) const {
        return i < size() && (*tokens_)[i].is_identifier();
    }
    /// The bracket that pairs with `i`, or npos.
    [[nodiscard]] std::size_t match(std::size_t i) const { return i < size() ? match_[i] : npos; }
    /// Behind the bracket group that opens at `i`; `i + 1` where there is none.
    [[nodiscard]] std::size_t skip_group(std::size_t i) const;
    /// Behind the template argument list that opens at `i` (a `<`), or npos.
    [[nodiscard]] std::size_t skip_angles(std::size_t i) const;
    /// The `<` of the template argument list that closes at `i` (a `>`), or npos.
    [[nodiscard]] std::size_t open_angle(std::size_t i) const;
    /// Tokens `i` and `i + 1` touch each other in the source.
    [[nodiscard]] bool adjacent(std::size_t i) const {
        return i + 1 < size() && (*tokens_)[i].end == (*tokens_)[i + 1].begin;
    }

    /// The token where nesting became too deep to go on (it may be one past the last), or npos.
    [[nodiscard]] std::size_t too_deep_at() const { return too_deep_at_; }

  private:
    const std::vector<Token>* tokens_;
    std::vector<std::size_t> match_;
    std::size_t too_deep_at_ = npos;
};

/// One declarator of a simple declaration: `*name[4] = init`.
struct Declarator {
    Range whole;
    Range name;                       ///< one token, or several pasted with `##`
    bool pointer = false;             ///< `*` or `&` or parentheses around the name
    bool parameters = false;          ///< `name(` : a function, or a constructor call
    bool qualified = false;           ///< `A::name`
    std::size_t first_extent = npos;  ///< index of the first `[`
    std::size_t initialiser = npos;   ///< index of `=`, or of `{`
};

/// `specifiers declarator, declarator...`, the shape of all variable declarations.
struct Declaration {
    Range specifiers;                  ///< storage class, qualifiers, type
    std::vector<std::size_t> storage;  ///< `static extern inline thread_local __shared__ __device__ ...`
    std::vector<Range> alignment;      ///< `alignas(16)`, `__align__(8)`, `__attribute__((aligned(4)))`
    std::vector<Declarator> declarators;

    [[nodiscard]] bool has(const Sequence& seq, std::string_view specifier) const;
};

/// Reads the declaration in `range` (without its `;`). Nothing when it does not have that shape.
[[nodiscard]] std::optional<Declaration> parse_declaration(const Sequence& seq, Range range);

/// True for `__device__`, `__shared__` and the other words of CUDA that stand where `static` may stand.
[[nodiscard]] bool is_cuda_specifier(std::string_view word);

/// Words after which `(` or `*` cannot belong to an expression's front: `return`, `else`, `int`...
[[nodiscard]] bool is_keyword(std::string_view word);

/// True for `int`, `unsigned`... of which a type may need several.
[[nodiscard]] bool is_builtin_type(std::string_view word);

/// `if`, `for`, `return`...: words in front of a `(` that call nothing.
[[nodiscard]] bool is_control(std::string_view word);

/// `alignas`, `__align__`, `__attribute__`, `__launch_bounds__`...: words whose parentheses
/// declare no parameters.
[[nodiscard]] bool takes_attribute_arguments(std::string_view word);

// Heads: the tokens of a declaration in front of its `{` or `;`.

/// Behind `template <...>`, of which there may be several.
[[nodiscard]] std::size_t past_template_headers(const Sequence& seq, Range head);

/// `struct A`, `class alignas(8) ns::A<int> final : B`: no declarator, no return type.
[[nodiscard]] bool is_class_head(const Sequence& seq, std::size_t k, std::size_t end);

/// The specifier in front of a declaration, or npos. Parameters and template arguments are not looked at.
[[nodiscard]] std::size_t find_specifier(const Sequence& seq, Range head, std::string_view word);
[[nodiscard]] bool has_specifier(const Sequence& seq, Range head, std::string_view word);

/// True for a kernel and for a function that only the device can call.
[[nodiscard]] bool runs_on_device(const Sequence& seq, Range head);

/// True for a function that host and device may call: it says so, it is `constexpr`, or a word in front of it
/// may be a macro that says so.
[[nodiscard]] bool may_run_on_device(const Sequence& seq, Range head);

/// True for a function that says `__device__`, or has a word in front that may be a macro for it.
[[nodiscard]] bool may_be_declared_for_device(const Sequence& seq, Range head);

/// The name of the function that `head` declares, or npos when it declares none.
[[nodiscard]] std::size_t function_name(const Sequence& seq, Range head);
/// Where the name at `i` begins with what qualifies it: at `a` in `a::b::name`, at the first `::` in
/// `::name`.
[[nodiscard]] std::size_t qualified_begin(const Sequence& seq, std::size_t i);

/// A parameter without its name, as far as that can be told: at worst two declarations of one kernel look
/// different, and its launches are then checked later.
[[nodiscard]] std::string parameter_type(const Sequence& seq, Range parameter);

/// Splits at commas outside brackets, and steps over those that look like a template argument's.
[[nodiscard]] std::vector<Range> split(const Sequence& seq, Range range);

/// Token `k` names a member, and no variable.
[[nodiscard]] bool is_member(const Sequence& seq, std::size_t k);
/// Where the parentheses of a call of the name at `k` open, or npos.
[[nodiscard]] std::size_t call_at(const Sequence& seq, std::size_t k, std::size_t end);
/// The token at `k` stands behind an operand: an operator there has two.
[[nodiscard]] bool follows_operand(const Sequence& seq, std::size_t k);
/// The `&` at `k` takes an address; where that cannot be told, too.
[[nodiscard]] bool takes_address(const Sequence& seq, std::size_t k);

}  // namespace cu2cpp
