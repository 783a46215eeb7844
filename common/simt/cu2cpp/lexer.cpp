#include "cu2cpp/lexer.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>

namespace cu2cpp {
namespace {

bool is_identifier_start(char c) {
    const auto u = static_cast<unsigned char>(c);
    return std::isalpha(u) != 0 || c == '_' || c == '$' || u >= 0x80;  // UTF-8 in identifiers passes through
}
bool is_identifier_part(char c) {
    return is_identifier_start(c) || std::isdigit(static_cast<unsigned char>(c)) != 0;
}
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

bool is_encoding_prefix(std::string_view word) {
    return word == "L" || word == "u" || word == "U" || word == "u8";
}
bool is_raw_prefix(std::string_view word) {
    return word == "R" || word == "LR" || word == "uR" || word == "UR" || word == "u8R";
}

/// Longest first. `>>` and `>>>` are missing on purpose (see Token).
constexpr std::array<std::string_view, 27> operators = {
    "<<<", "<<=", "<=>", ">>=", "->*", "...", "<<", "<=", ">=", "->", "::", "##", "&&", "||",
    "==",  "!=",  "+=",  "-=",  "*=",  "/=",  "%=", "&=", "|=", "^=", "++", "--", ".*"};

class Lexer {
  public:
    explicit Lexer(std::string_view text) : raw_(text) { remove_continuations(); }

    Lexed run() {
        while (i_ < s_.size()) step();
        end_directive();
        lexed_.spelling = std::move(spelling_);
        return std::move(lexed_);
    }

  private:
    /// A backslash at the end of a line joins it to the next. As the compilers do, blanks behind
    /// it are ignored.
    void remove_continuations() {
        spelling_ = std::make_unique<std::string>();
        spelling_->reserve(raw_.size());
        origin_.reserve(raw_.size() + 1);
        std::size_t i = raw_.substr(0, 3) == "\xEF\xBB\xBF" ? 3 : 0;  // byte order mark
        while (i < raw_.size()) {
            if (raw_[i] == '\\') {
                std::size_t k = i + 1;
                while (k < raw_.size() && (raw_[k] == ' ' || raw_[k] == '\t' || raw_[k] == '\r')) ++k;
                if (k < raw_.size() && raw_[k] == '\n') {
                    i = k + 1;
                    continue;
                }
            }
            spelling_->push_back(raw_[i]);
            origin_.push_back(static_cast<std::uint32_t>(i));
            ++i;
        }
        origin_.push_back(static_cast<std::uint32_t>(raw_.size()));
        s_ = *spelling_;
    }

    [[nodiscard]] char peek(std::size_t ahead) const {
        return i_ + ahead < s_.size() ? s_[i_ + ahead] : '\0';
    }

    void step() {
        const char c = s_[i_];
        if (c == '\n') {
            end_directive();
            line_start_ = true;
            ++i_;
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
            ++i_;
        } else if (c == '/' && peek(1) == '/') {
            i_ = std::min(s_.find('\n', i_), s_.size());
        } else if (c == '/' && peek(1) == '*') {
            const std::size_t close = s_.find("*/", i_ + 2);
            if (close == std::string_view::npos)
                fatal("unterminated comment; it starts here and swallows the rest; add `*/`");
            else
                i_ = close + 2;
        } else if (c == '#' && line_start_ && !in_directive_) {
            begin_directive();
        } else {
            line_start_ = false;
            token();
        }
    }

    void begin_directive() {
        Directive directive;
        directive.begin = origin_[i_];
        directive.at = lexed_.tokens.size();
        lexed_.directives.push_back(std::move(directive));
        in_directive_ = true;
        line_start_ = false;
        ++i_;
    }

    void end_directive() {
        if (!in_directive_) return;
        lexed_.directives.back().end = origin_[i_];
        in_directive_ = false;
    }

    void push(TokenKind kind, std::size_t length) {
        Token token;
        token.kind = kind;
        token.begin = origin_[i_];
        token.end = length == 0 ? token.begin : origin_[i_ + length - 1] + 1;
        token.text = s_.substr(i_, length);
        (in_directive_ ? lexed_.directives.back().tokens : lexed_.tokens).push_back(token);
        i_ += length;
    }

    void token() {
        const char c = s_[i_];
        if (in_directive_ && c == '<' && expects_header_name()) {
            const std::size_t stop = s_.find_first_of(">\n", i_);
            if (stop != std::string_view::npos && s_[stop] == '>')
                return push(TokenKind::string, stop + 1 - i_);
        }
        if (is_identifier_start(c)) return word();
        if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number();
        if (c == '"') return quoted(0, '"');
        if (c == '\'') return quoted(0, '\'');
        punctuator();
    }

    [[nodiscard]] bool expects_header_name() const {
        const auto& tokens = lexed_.directives.back().tokens;
        return tokens.size() == 1 && (tokens[0].is("include") || tokens[0].is("include_next"));
    }

    void word() {
        std::size_t length = 1;
        while (i_ + length < s_.size() && is_identifier_part(s_[i_ + length])) ++length;
        const std::string_view text = s_.substr(i_, length);
        const char next = peek(length);
        if (next == '"' && is_raw_prefix(text)) return raw_string(length);
        if ((next == '"' || next == '\'') && is_encoding_prefix(text)) return quoted(length, next);
        push(TokenKind::identifier, length);
    }

    void number() {
        std::size_t length = 1;
        while (i_ + length < s_.size()) {
            const char c = s_[i_ + length];
            const char before = s_[i_ + length - 1];
            const bool sign =
                (c == '+' || c == '-') && (before == 'e' || before == 'E' || before == 'p' || before == 'P');
            const bool separator = c == '\'' && is_identifier_part(peek(length + 1));
            if (!is_identifier_part(c) && c != '.' && !sign && !separator) break;
            ++length;
        }
        push(TokenKind::number, length);
    }

    /// A string or character literal that starts `prefix` bytes ahead. Without an end on its line it is one
    /// lone quote: prose under a false `#if` and `#error don't` contain such.
    void quoted(std::size_t prefix, char quote) {
        std::size_t length = prefix + 1;
        while (i_ + length < s_.size() && s_[i_ + length] != quote && s_[i_ + length] != '\n') {
            length +=
                s_[i_ + length] == '\\' && i_ + length + 1 < s_.size() && s_[i_ + length + 1] != '\n' ? 2 : 1;
        }
        if (i_ + length >= s_.size() || s_[i_ + length] != quote) {
            const bool message = in_directive_;
            if (!message) {
                error(quote == '"'
                          ? "unterminated string; no closing quote on this line; add `\"`"
                          : "unterminated character literal; no closing quote on this line; add `'`");
            }
            return push(TokenKind::punctuator, prefix + 1);
        }
        push(quote == '"' ? TokenKind::string : TokenKind::character, length + 1);
    }

    /// R"delimiter( ... )delimiter": continuations inside it are text again, so its end is sought in
    /// the source itself.
    void raw_string(std::size_t prefix) {
        const std::size_t begin = origin_[i_];
        const std::size_t quote = origin_[i_ + prefix];
        const std::size_t open = raw_.find('(', quote + 1);
        const std::size_t longest_delimiter = 16;
        std::size_t end = std::string_view::npos;
        if (open != std::string_view::npos && open - quote - 1 <= longest_delimiter) {
            const std::string close = ")" + std::string(raw_.substr(quote + 1, open - quote - 1)) + "\"";
            const std::size_t found = raw_.find(close, open + 1);
            if (found != std::string_view::npos) end = found + close.size();
        }
        if (end == std::string_view::npos) {
            return fatal(
                "unterminated raw string; it starts here and swallows the rest; close it with `)` delimiter "
                "`\"`");
        }
        Token token;
        token.kind = TokenKind::string;
        token.begin = begin;
        token.end = end;
        token.text = raw_.substr(begin, end - begin);
        (in_directive_ ? lexed_.directives.back().tokens : lexed_.tokens).push_back(token);
        i_ =
            static_cast<std::size_t>(std::lower_bound(origin_.begin(), origin_.end(), end) - origin_.begin());
    }

    void punctuator() {
        for (std::string_view candidate : operators) {
            if (s_.substr(i_, candidate.size()) != candidate) continue;
            if (candidate == "<<<" && after_operator_keyword()) continue;  // operator<< <T>
            return push(TokenKind::punctuator, candidate.size());
        }
        push(TokenKind::punctuator, 1);
    }

    [[nodiscard]] bool after_operator_keyword() const {
        const auto& tokens = in_directive_ ? lexed_.directives.back().tokens : lexed_.tokens;
        return !tokens.empty() && tokens.back().is("operator");
    }

    void error(std::string message) {
        lexed_.errors.push_back({origin_[i_], false, false, std::move(message)});
    }

    void fatal(std::string message) {
        lexed_.errors.push_back({origin_[i_], true, false, std::move(message)});
        i_ = s_.size();
    }

    std::string_view raw_;
    std::unique_ptr<std::string> spelling_;
    std::string_view s_;                 ///< raw_ without continuations
    std::vector<std::uint32_t> origin_;  ///< index in s_ -> offset in raw_
    std::size_t i_ = 0;
    bool line_start_ = true;
    bool in_directive_ = false;
    Lexed lexed_;
};

/// `#ifndef NAME` / `#define NAME` at the top of a file guards the whole file: it makes nothing conditional.
bool is_include_guard(const Lexed& lexed, std::size_t index) {
    const auto& d = lexed.directives;
    if (d[index].at != 0 || index + 1 >= d.size() || d[index + 1].at != 0) return false;
    const auto& test = d[index].tokens;
    const auto& define = d[index + 1].tokens;
    const bool ifndef = test.size() == 2 && test[0].is("ifndef");
    const bool not_defined = test.size() >= 4 && test[0].is("if") && test[1].is("!") && test[2].is("defined");
    if (!ifndef && !not_defined) return false;
    const std::string_view name =
        ifndef ? test[1].text : test[test[3].is("(") && test.size() > 4 ? 4 : 3].text;
    return define.size() >= 2 && define[0].is("define") && define[1].is(name);
}

/// What is known of an open `#if` without evaluating macros.
struct Group {
    enum class Known : unsigned char { unknown, guard, taken, skipped } known = Known::unknown;
    bool was_live = true;  ///< the text around the group is compiled
    bool was_conditional = false;
};

/// Drops text under a literal `#if 0` (it need not even be C++) and marks what stands under
/// any other condition.
void resolve_conditions(Lexed& lexed) {
    std::vector<Group> groups;
    bool live = true;
    bool conditional = false;
    std::vector<Token> tokens;
    std::vector<Directive> directives;
    std::size_t next = 0;
    std::size_t next_error = 0;
    const auto take_until = [&](std::size_t index) {
        for (; next < index; ++next) {
            if (!live) continue;
            tokens.push_back(lexed.tokens[next]);
            tokens.back().conditional = conditional;
        }
    };
    const auto errors_until = [&](std::size_t offset) {
        for (; next_error < lexed.errors.size() && lexed.errors[next_error].offset < offset; ++next_error) {
            lexed.errors[next_error].conditional = (conditional || !live) && !lexed.errors[next_error].fatal;
        }
    };
    for (std::size_t i = 0; i < lexed.directives.size(); ++i) {
        Directive& directive = lexed.directives[i];
        take_until(directive.at);
        errors_until(directive.begin);
        const std::string_view name = directive.name();
        const std::size_t at = tokens.size();
        bool keep = live;
        if (name == "if" || name == "ifdef" || name == "ifndef") {
            Group group;
            group.was_live = live;
            group.was_conditional = conditional;
            if (name == "if" && directive.tokens.size() == 2) {
                if (directive.tokens[1].is("0")) group.known = Group::Known::skipped;
                if (directive.tokens[1].is("1")) group.known = Group::Known::taken;
            }
            if (group.known == Group::Known::unknown && is_include_guard(lexed, i))
                group.known = Group::Known::guard;
            groups.push_back(group);
            if (group.known == Group::Known::skipped) live = false;
            if (group.known == Group::Known::unknown) conditional = true;
        } else if ((name == "elif" || name == "else" || name == "elifdef" || name == "elifndef") &&
                   !groups.empty()) {
            Group& group = groups.back();
            keep = group.was_live;
            if (group.known == Group::Known::taken) {
                live = false;
            } else if (group.known == Group::Known::skipped) {
                live = group.was_live;
                if (name != "else") {
                    conditional = true;
                    group.known = Group::Known::unknown;
                }
            } else {
                conditional = true;
            }
        } else if (name == "endif" && !groups.empty()) {
            live = groups.back().was_live;
            conditional = groups.back().was_conditional;
            groups.pop_back();
            keep = live;
        }
        if (keep) {
            directive.at = at;
            directive.conditional = conditional;
            directive.surroundings_conditional = groups.empty() ? conditional : groups.back().was_conditional;
            for (Token& token : directive.tokens) token.conditional = conditional;
            directives.push_back(std::move(directive));
        }
    }
    take_until(lexed.tokens.size());
    errors_until(std::string_view::npos);
    lexed.tokens = std::move(tokens);
    lexed.directives = std::move(directives);
}

}  // namespace

Lexed lex(std::string_view text) {
    Lexed lexed = Lexer(text).run();
    resolve_conditions(lexed);
    return lexed;
}

}  // namespace cu2cpp
