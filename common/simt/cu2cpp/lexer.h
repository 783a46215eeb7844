#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cu2cpp {

enum class TokenKind : unsigned char { identifier, number, string, character, punctuator };

/// A preprocessing token. `<<<` is one token; every `>` stands alone, because only the parser knows whether
/// `>>>` ends a launch or three template argument lists.
struct Token {
    TokenKind kind = TokenKind::punctuator;
    bool conditional = false;  ///< stands inside an `#if` that this program does not evaluate
    std::size_t begin = 0;     ///< first byte in the source
    std::size_t end = 0;       ///< one past the last byte
    std::string_view text;     ///< spelling with line continuations removed

    [[nodiscard]] bool is(std::string_view spelling) const { return text == spelling; }
    [[nodiscard]] bool is_identifier() const { return kind == TokenKind::identifier; }
};

/// A preprocessing directive: `#`, its tokens, and its place among the ordinary tokens.
struct Directive {
    std::size_t begin = 0;                  ///< offset of `#`
    std::size_t end = 0;                    ///< offset of the newline that ends it
    std::size_t at = 0;                     ///< index of the first ordinary token behind it
    bool conditional = false;               ///< stands inside an `#if` that this program does not evaluate
    bool surroundings_conditional = false;  ///< of an `#if` or its kin: what stands around its group does
    std::vector<Token> tokens;              ///< without `#`: the directive's name comes first

    [[nodiscard]] std::string_view name() const {
        return tokens.empty() ? std::string_view{} : tokens[0].text;
    }
};

/// Something no compiler could read either. `fatal`: nothing behind it was read.
struct LexError {
    std::size_t offset = 0;
    bool fatal = false;
    bool conditional = false;  ///< may stand in text the preprocessor skips: leave it to the compiler
    std::string message;
};

/// What the lexer makes of one file. Tokens point into `spelling` and into the text given to `lex`.
struct Lexed {
    std::vector<Token> tokens;  ///< all tokens outside directives
    std::vector<Directive> directives;
    std::vector<LexError> errors;
    std::unique_ptr<std::string> spelling;  ///< the text with line continuations removed
};

/// Splits C++ text into tokens and directives; comments and white space are dropped. Never fails: what cannot
/// be read is listed in `errors`. Text under `#if 0` is dropped too. `text` must outlive the result.
[[nodiscard]] Lexed lex(std::string_view text);

}  // namespace cu2cpp
