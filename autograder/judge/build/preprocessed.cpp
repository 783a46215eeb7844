#include "judge/build/preprocessed.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "judge/build/hash.hpp"
#include "judge/result/defences.hpp"

namespace rungs::judge {
namespace {

constexpr std::string_view blanks = " \t\v\f\r";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
           static_cast<unsigned char>(c) >= 0x80;
}

template <std::size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

/// The text of a file as directives are looked for in it.
class SourceText {
  public:
    explicit SourceText(std::string_view text) {
        // Without line continuations. The newlines follow at the end of their line, so that what comes after
        // it keeps its number.
        std::size_t removed = 0;
        for (std::size_t i = 0; i < text.size(); ++i) {
            const std::size_t end = text[i] == '\\' ? text.find_first_not_of(blanks, i + 1) : i;
            if (end != i && end != std::string_view::npos && text[end] == '\n') {
                i = end;
                ++removed;
                continue;
            }
            text_ += text[i];
            if (text[i] == '\n') text_.append(std::exchange(removed, 0), '\n');
        }
        for (std::size_t at = text_.find("*/"); at != std::string::npos; at = text_.find("*/", at + 1))
            closes_.push_back(at);
    }

    char at(std::size_t place) const { return place < text_.size() ? text_[place] : '\n'; }
    bool has(const char* what, std::size_t place) const {
        return place < text_.size() && text_.compare(place, std::strlen(what), what) == 0;
    }

    /// The letters and digits from `place` on.
    std::string_view word(std::size_t place) const {
        std::size_t end = place;
        while (is_letter(at(end)) || is_digit(at(end))) ++end;
        return std::string_view(text_).substr(std::min(place, text_.size()), end - place);
    }

    /// Behind blanks and comments, or in front of a comment: one without an end, or one too many
    /// to be honest.
    std::size_t skip(std::size_t place) const {
        for (int comments = 0;; ++comments) {
            place = std::min(text_.find_first_not_of(blanks, place), text_.size());
            if (!has("/*", place) || comments == 64) return place;
            const auto close = std::lower_bound(closes_.begin(), closes_.end(), place + 2);
            if (close == closes_.end()) return place;
            place = *close + 2;
        }
    }

    /// Nothing but blanks and comments is left in this line.
    bool ends(std::size_t place) const { return at(place) == '\n' || has("//", place); }

    std::size_t line(std::size_t place) const {
        const auto end = text_.begin() + static_cast<std::ptrdiff_t>(place);
        return static_cast<std::size_t>(std::count(text_.begin(), end, '\n')) + 1;
    }

    /// The line of the first directive for which `is_it(name)` holds, 0 if it does for none; `name` is the
    /// place behind its '#'. What stands in a comment or a raw string counts as well, because text could
    /// pretend to be one.
    template <class Predicate>
    std::size_t find_directive(const Predicate& is_it) const {
        for (std::size_t place = text_.find_first_of("#%"); place != std::string::npos;
             place = text_.find_first_of("#%", place + 1)) {
            if (at(place) == '%' && !has("%:", place)) continue;
            const std::size_t before =
                place == 0 ? std::string::npos : text_.find_last_not_of(blanks, place - 1);
            const bool first = before == std::string::npos || at(before) == '\n' || at(before) == '\xBF' ||
                               (at(before) == '/' && before > 0 && at(before - 1) == '*');
            if (first && is_it(skip(place + (at(place) == '%' ? 2 : 1)))) return line(place);
        }
        return 0;
    }

  private:
    std::string text_;
    std::vector<std::size_t> closes_;  ///< of comments
};

struct Token {
    enum class Kind { end, identifier, number, literal, sign };
    Kind kind = Kind::end;
    std::string_view text;  ///< of a literal: what stands between its quotes
    unsigned long line = 0;
    bool own = false;  ///< stands in the rung's file

    bool is(std::string_view word) const { return kind != Kind::literal && text == word; }
};

/// Where the preprocessor found what it says.
struct TextPlace {
    unsigned long line = 1;
    bool own = false;  ///< in the rung's file
};

/// `# 12 "file" 3`: the next line is the file's twelfth. False: `line` says nothing of the kind.
bool read_marker(std::string_view line, const std::vector<std::string>& own, TextPlace& place) {
    if (line.size() < 3 || line[1] != ' ' || !is_digit(line[2])) return false;
    unsigned long number = 0;
    const char* stop = std::from_chars(line.data() + 2, line.data() + line.size(), number).ptr;
    const std::size_t open = static_cast<std::size_t>(stop - line.data()) + 1;
    const std::size_t close = line.rfind('"');
    if (open >= line.size() || line[open] != '"' || close == open) return false;
    std::string_view name = line.substr(open + 1, close - open - 1);
    name.remove_prefix(name.rfind('/') + 1);
    place = {number, std::find(own.begin(), own.end(), name) != own.end()};
    return true;
}

/// The tokens of preprocessed text, one after the other. Of pragmas the words are tokens, too.
class Tokens {
  public:
    Tokens(std::string_view text, const std::vector<std::string>& own) : text_(text), own_names_(own) {}

    Token next() {
        for (;;) {
            if (at_ == text_.size()) return {};
            const char c = text_[at_];
            if (c == '\n') {
                ++at_;
                ++place_.line;
            } else if (c == '#' && (at_ == 0 || text_[at_ - 1] == '\n') && marker()) {
                continue;
            } else if (blanks.find(c) != std::string_view::npos) {
                ++at_;
            } else {
                break;
            }
        }
        const std::size_t begin = at_;
        const char c = text_[begin];
        const auto token = [&](Token::Kind kind, unsigned long line) {
            return Token{kind, text_.substr(begin, at_ - begin), line, place_.own};
        };
        if (is_letter(c)) {
            while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
            const std::string_view word = text_.substr(begin, at_ - begin);
            static constexpr std::array<std::string_view, 5> raw{"R", "LR", "uR", "UR", "u8R"};
            if (is_one_of(word, raw) && at_ < text_.size() && text_[at_] == '"') return raw_string();
            return token(Token::Kind::identifier, place_.line);
        }
        if (is_digit(c) || (c == '.' && begin + 1 < text_.size() && is_digit(text_[begin + 1]))) {
            number();
            return token(Token::Kind::number, place_.line);
        }
        if (c == '"' || c == '\'') return literal(c);
        ++at_;
        return token(Token::Kind::sign, place_.line);
    }

  private:
    bool marker() {
        const std::size_t end = std::min(text_.find('\n', at_), text_.size());
        if (!read_marker(text_.substr(at_, end - at_), own_names_, place_)) return false;
        at_ = std::min(end + 1, text_.size());
        return true;
    }

    void number() {
        while (at_ < text_.size()) {
            const char c = text_[at_];
            const bool more = is_letter(c) || is_digit(c) || c == '.';
            const bool sign = (c == '+' || c == '-') &&
                              std::string_view("eEpP").find(text_[at_ - 1]) != std::string_view::npos;
            const bool separator = c == '\'' && at_ + 1 < text_.size() &&
                                   (is_letter(text_[at_ + 1]) || is_digit(text_[at_ + 1]));
            if (!more && !sign && !separator) return;
            ++at_;
        }
    }

    /// An unfinished one ends with its line, as for the compiler.
    Token literal(char quote) {
        const std::size_t begin = ++at_;
        while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') {
            at_ += text_[at_] == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] != '\n' ? 2 : 1;
        }
        const Token token{Token::Kind::literal, text_.substr(begin, at_ - begin), place_.line, place_.own};
        if (at_ < text_.size() && text_[at_] == quote) ++at_;
        return token;
    }

    Token raw_string() {
        const unsigned long line = place_.line;
        const std::size_t open = std::min(text_.find('(', at_), text_.size());
        const std::string end = fmt::format("){}\"", text_.substr(at_ + 1, open - at_ - (open > at_)));
        const std::size_t begin = std::min(open + 1, text_.size());
        const std::size_t close = std::min(text_.find(end, begin), text_.size());
        const std::string_view content = text_.substr(begin, close - begin);
        place_.line += static_cast<unsigned long>(std::count(content.begin(), content.end(), '\n'));
        at_ = std::min(close + end.size(), text_.size());
        return {Token::Kind::literal, content, line, place_.own};
    }

    std::string_view text_;
    const std::vector<std::string>& own_names_;
    std::size_t at_ = 0;
    TextPlace place_;
};

/// Why a single word must not stand in a rung; null if it may.
const char* fault_of(std::string_view word) {
    static constexpr std::array<std::string_view, 6> hiding{
        "no_sanitize", "disable_sanitizer", "__tsan", "__sanitizer", "pch_preprocess", "_unobserved"};
    static constexpr std::array<std::string_view, 2> native{"__builtin_ia32_", "__builtin_aarch64_"};
    // What it knows depends on what it has inlined, and that on the mode.
    static constexpr std::array<std::string_view, 3> guesses{"__builtin_constant_p", "__builtin_object_size",
                                                             "__builtin_dynamic_object_size"};
    const auto within = [&](std::string_view part) { return word.find(part) != std::string_view::npos; };
    if (std::any_of(hiding.begin(), hiding.end(), within)) return "would hide code from the checks";
    if (std::any_of(native.begin(), native.end(), within)) return "is an instruction that no GPU has";
    if (is_on(Defence::both_modes) && is_one_of(word, guesses))
        return "asks what the optimiser knows, which is something else in check mode";
    return nullptr;
}

/// Attributes whose text goes to the assembler as it stands.
bool is_raw_attribute(std::string_view word) {
    static constexpr std::array<std::string_view, 6> names{"section",    "__section__", "symver",
                                                           "__symver__", "weakref",     "__weakref__"};
    return is_one_of(word, names);
}

bool is_asm(std::string_view word) {
    static constexpr std::array<std::string_view, 3> names{"asm", "__asm", "__asm__"};
    return is_one_of(word, names);
}

bool qualifies_asm(std::string_view word) {
    static constexpr std::array<std::string_view, 7> names{"volatile", "__volatile__", "__volatile", "goto",
                                                           "inline",   "__inline__",   "__inline"};
    return is_one_of(word, names);
}

}  // namespace

std::size_t line_directive(std::string_view text) {
    const SourceText source(text);
    return source.find_directive([&](std::size_t name) {
        return source.word(name) == "line" || is_digit(source.at(name)) || source.has("/*", name);
    });
}

namespace {

constexpr std::array<std::string_view, 6> conditions{"if", "ifdef", "ifndef", "elif", "elifdef", "elifndef"};

/// A macro of compilers and their libraries that CUDA programs ask for. It is the same in check mode, and may
/// be another for a GPU.
bool is_of_compilers(std::string_view macro) {
    static constexpr std::array<std::string_view, 9> known{
        "__CUDA", "__NV", "__cplusplus", "__cpp_", "__GNUC", "__clang", "__linux__", "__x86_64__", "CUDA"};
    return std::any_of(known.begin(), known.end(),
                       [&](std::string_view start) { return macro.starts_with(start); });
}

/// A macro of the compiler's, its library's, ours: some of them are others in check mode.
bool is_foreign(std::string_view macro) {
    return !is_of_compilers(macro) &&
           (macro.starts_with("_") || macro.starts_with("SIMT") || macro.starts_with("RUNGS"));
}

}  // namespace

std::size_t hidden_condition(std::string_view text) {
    constexpr int most_tokens = 500;  // of a condition
    const SourceText source(text);
    std::set<std::string_view> hiding;  // macros that are no numbers
    const std::size_t crowded = source.find_directive([&](std::size_t name) {
        if (source.word(name) != "define") return false;
        const std::size_t begin = source.skip(name + std::strlen("define"));
        const std::string_view macro = source.word(begin);
        const std::size_t body = source.skip(begin + macro.size());
        const std::size_t behind =
            is_digit(source.at(body)) ? source.skip(body + source.word(body).size()) : body;
        if (!source.ends(behind)) hiding.insert(macro);
        return source.has("/*", begin) || source.has("/*", body);
    });
    if (crowded != 0) return crowded;
    return source.find_directive([&](std::size_t name) {
        const std::string_view directive = source.word(name);
        if (!is_one_of(directive, conditions)) return false;
        const bool expands = directive == "if" || directive == "elif";
        std::size_t next = source.skip(name + directive.size());
        for (int tokens = 0; !source.ends(next); ++tokens) {
            if (source.has("/*", next) || tokens == most_tokens) return true;
            const std::string_view word = source.word(next);
            next = source.skip(next + std::max<std::size_t>(word.size(), 1));
            if (is_foreign(word)) return true;
            if (expands &&
                (hiding.count(word) > 0 || (!word.empty() && word != "defined" && source.at(next) == '(')))
                return true;
        }
        return false;
    });
}

std::size_t compiler_condition(std::string_view text) {
    const SourceText source(text);
    return source.find_directive([&](std::size_t name) {
        const std::string_view directive = source.word(name);
        if (!is_one_of(directive, conditions)) return false;
        for (std::size_t next = source.skip(name + directive.size()); !source.ends(next);) {
            const std::string_view word = source.word(next);
            if (is_of_compilers(word)) return true;
            next = source.skip(next + std::max<std::size_t>(word.size(), 1));
        }
        return false;
    });
}

bool could_name(std::string_view text, const std::set<std::string, std::less<>>& macros) {
    const SourceText source(text);
    bool inside = false;  // a word or a number
    for (std::size_t at = 0; source.has("", at); ++at) {
        if (source.has("##", at) || source.has("%:%:", at)) return true;
        if (!inside && macros.contains(source.word(at))) return true;
        inside = is_letter(source.at(at)) || is_digit(source.at(at));
    }
    return false;
}

std::string objection_to_words(std::string_view text, const std::vector<std::string>& own) {
    Tokens tokens(text, own);
    for (Token token = tokens.next(); token.kind != Token::Kind::end;) {
        if (!token.own || token.kind != Token::Kind::identifier) {
            token = tokens.next();
            continue;
        }
        const Token word = token;
        token = tokens.next();
        const auto refuse = [&](const char* why) {
            return fmt::format("{}:{}: '{}' {}: remove it", own.front(), word.line, word.text, why);
        };
        if (const char* fault = fault_of(word.text)) return refuse(fault);
        if (is_raw_attribute(word.text)) {
            while (token.is("(")) {
                token = tokens.next();
                if (token.kind == Token::Kind::literal) return refuse("names a part of the object file");
            }
        }
        if (is_asm(word.text)) {
            while (qualifies_asm(token.text)) token = tokens.next();
            // An empty one keeps the compiler from moving code, and that is all it does.
            bool empty = token.is("(");
            token = tokens.next();
            empty = empty && token.kind == Token::Kind::literal;
            for (; token.kind == Token::Kind::literal; token = tokens.next()) {
                empty = empty && token.text.find_first_not_of(blanks) == std::string_view::npos;
            }
            if (!empty || !(token.is(":") || token.is(")")))
                return refuse("is assembly, and a rung is CUDA C++");
        }
    }
    return "";
}

std::string summary(std::string_view text, const std::vector<std::string>& own, bool whole) {
    Sha256 all;
    std::string lines;
    if (whole) {
        all.add(text);
        TextPlace place;
        for (std::size_t begin = 0, end; begin < text.size(); begin = end + 1) {
            end = std::min(text.find('\n', begin), text.size());
            const std::string_view line = text.substr(begin, end - begin);
            if (line.starts_with('#') && read_marker(line, own, place)) continue;
            if (place.own && line.find_first_not_of(blanks) != std::string_view::npos)
                lines += fmt::format("{} {}\n", place.line, Sha256::of(line));
            ++place.line;
        }
        return all.hex() + '\n' + lines;
    }
    Sha256 of_line;
    unsigned long line = 0;
    const auto end_of_line = [&] {
        if (line != 0) lines += fmt::format("{} {}\n", line, of_line.hex());
        of_line = {};
    };
    Tokens tokens(text, own);
    for (Token token = tokens.next(); token.kind != Token::Kind::end; token = tokens.next()) {
        if (!token.own) continue;
        if (token.line != line) {
            end_of_line();
            line = token.line;
        }
        for (Sha256* hash : {&all, &of_line})
            hash->add(token.kind == Token::Kind::literal ? "literal" : "").add(token.text);
    }
    end_of_line();
    return all.hex() + '\n' + lines;
}

Difference difference(const std::string& one, const std::string& other) {
    constexpr std::size_t digest = 64;
    if (one.compare(0, digest, other, 0, digest) == 0) return {};
    Difference found{true, 0};
    const std::size_t at = static_cast<std::size_t>(
        std::mismatch(one.begin() + digest, one.end(), other.begin() + digest, other.end()).first -
        one.begin());
    if (at == one.size() && at == other.size()) return found;
    // Of the longer one, whose line there is missing in the other.
    const std::string& more = at < one.size() ? one : other;
    const std::size_t begin = more.rfind('\n', at - 1) + 1;
    std::from_chars(more.data() + begin, more.data() + more.size(), found.line);
    return found;
}

}  // namespace rungs::judge
