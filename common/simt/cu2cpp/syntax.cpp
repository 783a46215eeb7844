#include "cu2cpp/syntax.h"

#include <algorithm>
#include <array>

namespace cu2cpp {
namespace {

constexpr std::array<std::string_view, 9> cuda_specifiers = {"__device__",      "__global__",   "__host__",
                                                             "__constant__",    "__managed__",  "__shared__",
                                                             "__forceinline__", "__noinline__", "__inline__"};
constexpr std::array<std::string_view, 13> storage_specifiers = {
    "static",  "extern",   "inline",  "thread_local", "register",     "constexpr", "constinit",
    "mutable", "explicit", "virtual", "friend",       "__restrict__", "__restrict"};
constexpr std::array<std::string_view, 15> builtin_types = {
    "unsigned", "signed", "long", "short",    "int",      "char",    "float",  "double",
    "bool",     "void",   "auto", "char16_t", "char32_t", "char8_t", "wchar_t"};
constexpr std::array<std::string_view, 12> attribute_words = {
    "alignas",    "__align__",  "__attribute__",    "__builtin_align__", "__launch_bounds__", "decltype",
    "__declspec", "__typeof__", "__cluster_dims__", "noexcept",          "__maxnreg__",       "explicit"};
constexpr std::array<std::string_view, 33> keywords = {
    "return",   "else",     "do",        "case",     "throw",    "if",       "while",    "for",    "switch",
    "goto",     "default",  "co_return", "co_yield", "co_await", "new",      "delete",   "sizeof", "alignof",
    "typedef",  "using",    "namespace", "static",   "extern",   "const",    "volatile", "inline", "template",
    "typename", "operator", "and",       "or",       "not",      "constexpr"};

bool is_alignment(std::string_view word) {
    return word == "alignas" || word == "__align__" || word == "__attribute__" || word == "__builtin_align__";
}
bool is_class_key(std::string_view word) {
    return word == "struct" || word == "class" || word == "union" || word == "enum";
}

}  // namespace

bool is_cuda_specifier(std::string_view word) { return contains(cuda_specifiers, word); }
bool is_keyword(std::string_view word) { return contains(keywords, word); }
bool is_builtin_type(std::string_view word) { return contains(builtin_types, word); }
bool takes_attribute_arguments(std::string_view word) { return contains(attribute_words, word); }

Sequence::Sequence(const std::vector<Token>& tokens, const std::vector<Directive>* directives)
    : tokens_(&tokens), match_(tokens.size(), npos) {
    std::vector<std::size_t> open;
    struct Group {
        std::vector<std::size_t> before;  // what was open at `#if`: each branch starts from it
        std::vector<std::size_t>
            after_first;  // what the first branch left open: the code behind `#endif` goes on so
        bool has_else = false;
    };
    std::vector<Group> groups;
    std::size_t next_directive = 0;
    for (std::size_t i = 0; i <= tokens.size(); ++i) {
        while (directives != nullptr && next_directive < directives->size() &&
               (*directives)[next_directive].at <= i) {
            const std::string_view name = (*directives)[next_directive++].name();
            if (name.substr(0, 2) == "if") {
                groups.push_back({open, {}, false});
                if (groups.size() > max_nesting) {
                    too_deep_at_ = i;
                    return;
                }
            } else if (name.substr(0, 2) == "el" && !groups.empty()) {
                if (!groups.back().has_else) groups.back().after_first = open;
                groups.back().has_else = true;
                open = groups.back().before;
            } else if (name == "endif" && !groups.empty()) {
                if (groups.back().has_else) open = groups.back().after_first;
                groups.pop_back();
            }
        }
        if (i == tokens.size() || tokens[i].kind != TokenKind::punctuator || tokens[i].text.size() != 1)
            continue;
        const char c = tokens[i].text[0];
        if (c == '(' || c == '[' || c == '{') open.push_back(i);
        if (open.size() > max_nesting ||
            groups.size() > max_nesting) {  // copying such stacks would take for ever
            too_deep_at_ = i;
            return;
        }
        if (c != ')' && c != ']' && c != '}') continue;
        const char opener = c == ')' ? '(' : c == ']' ? '[' : '{';
        if (c == '}') {  // a brace outweighs parentheses left open in front of it
            auto brace =
                std::find_if(open.rbegin(), open.rend(), [&](std::size_t k) { return tokens[k].is("{"); });
            if (brace != open.rend()) open.erase(brace.base(), open.end());
        }
        if (open.empty() || tokens[open.back()].text[0] != opener) continue;
        match_[i] = open.back();
        match_[open.back()] = i;
        open.pop_back();
    }
}

std::size_t Sequence::skip_group(std::size_t i) const {
    const std::size_t close = match(i);
    return close == npos || close < i ? i + 1 : close + 1;
}

std::size_t Sequence::skip_angles(std::size_t i) const {
    std::size_t depth = 0;
    while (i < size()) {
        const std::string_view t = (*this)[i].text;
        if (t == "<")
            ++depth;
        else if (t == ">" && --depth == 0)
            return i + 1;
        else if (t == ";" || t == "<<<" || t == ")" || t == "]" || t == "}")
            return npos;
        i = t == "(" || t == "[" || t == "{" ? skip_group(i) : i + 1;
    }
    return npos;
}

std::size_t Sequence::open_angle(std::size_t i) const {
    std::size_t depth = 0;
    for (;; --i) {
        const std::string_view t = (*this)[i].text;
        if (t == ">")
            ++depth;
        else if (t == "<" && --depth == 0)
            return i;
        else if (t == ";" || t == "<<<" || t == "(" || t == "[" || t == "{")
            return npos;
        else if (t == ")" || t == "]" || t == "}") {
            if (match(i) == npos || match(i) > i) return npos;
            i = match(i);
        }
        if (i == 0) return npos;
    }
}

bool Declaration::has(const Sequence& seq, std::string_view specifier) const {
    return std::any_of(storage.begin(), storage.end(), [&](std::size_t i) { return seq[i].is(specifier); });
}

namespace {

/// Reads one declaration from left to right.
class DeclarationParser {
  public:
    DeclarationParser(const Sequence& seq, Range range) : seq_(seq), i_(range.begin), end_(range.end) {
        result_.specifiers.begin = range.begin;
    }

    std::optional<Declaration> run() {
        specifiers();
        if (!type_seen_) return std::nullopt;
        result_.specifiers.end = i_;
        while (i_ < end_) {
            if (!declarator()) return std::nullopt;
            if (i_ < end_ && !at(",")) return std::nullopt;
            ++i_;
        }
        if (result_.declarators.empty()) return std::nullopt;
        return result_;
    }

  private:
    [[nodiscard]] bool at(std::string_view spelling) const { return i_ < end_ && seq_.is(i_, spelling); }
    [[nodiscard]] bool at_identifier() const { return i_ < end_ && seq_.is_identifier(i_); }

    /// Words that say nothing of the type: storage, alignment, `const`. True when one was read.
    bool decoration() {
        if (i_ >= end_) return false;
        const std::string_view word = seq_[i_].text;
        if (is_alignment(word)) {
            const std::size_t stop = std::min(seq_.is(i_ + 1, "(") ? seq_.skip_group(i_ + 1) : i_ + 1, end_);
            result_.alignment.push_back({i_, stop});
            i_ = stop;
            return true;
        }
        if (is_cuda_specifier(word) || contains(storage_specifiers, word)) {
            result_.storage.push_back(i_++);
            return true;
        }
        if (word == "const" || word == "volatile" || word == "__extension__") {
            ++i_;
            return true;
        }
        if (word == "[" && seq_.is(i_ + 1, "[")) {
            i_ = std::min(seq_.skip_group(i_), end_);
            return true;
        }
        return false;
    }

    void specifiers() {
        while (i_ < end_) {
            if (decoration()) continue;
            if (type_seen_ && !continues_type()) return;
            if (!type()) return;
            type_seen_ = true;
        }
    }

    /// After a type: more of it (`unsigned` `long`), or was the type only a macro such as `ALIGNED`?
    [[nodiscard]] bool continues_type() const {
        if (!at_identifier()) return false;
        if (is_builtin_type(seq_[i_].text)) return true;
        return !last_builtin_ && i_ + 1 < end_ && (seq_.is_identifier(i_ + 1) || seq_.is(i_ + 1, "::")) &&
               !takes_attribute_arguments(seq_[i_ + 1].text);
    }

    bool type() {
        const std::string_view word = seq_[i_].text;
        last_builtin_ = is_builtin_type(word);
        if (last_builtin_) {
            ++i_;
            return true;
        }
        if (is_class_key(word)) return class_type();
        if (word == "decltype" || word == "__typeof__" || word == "typeof") {
            i_ = std::min(seq_.skip_group(i_ + 1), end_);
            return true;
        }
        if (word == "typename") ++i_;
        if (!at_identifier() && !at("::")) return false;
        return qualified_name();
    }

    bool class_type() {
        ++i_;
        while (i_ < end_ && (at("class") || decoration())) {
            if (at("class")) ++i_;
        }
        if (at_identifier() || at("::")) qualified_name();
        while (i_ < end_ && at("final")) ++i_;
        if (at(":")) {
            while (i_ < end_ && !at("{"))
                i_ = at("<") && seq_.skip_angles(i_) != npos ? seq_.skip_angles(i_) : i_ + 1;
        }
        if (at("{")) i_ = std::min(seq_.skip_group(i_), end_);
        return true;
    }

    /// `::a::b<int>::template c<3>`, also a macro call that makes a type.
    bool qualified_name() {
        if (at("::")) ++i_;
        while (at_identifier()) {
            ++i_;
            while (at("##") && i_ + 1 < end_) i_ += 2;
            if (at("<")) {
                const std::size_t stop = seq_.skip_angles(i_);
                if (stop == npos || stop > end_) return false;
                i_ = stop;
            } else if (at("(") && seq_.skip_group(i_) < end_ && seq_.is_identifier(seq_.skip_group(i_)) &&
                       !type_seen_) {
                i_ = seq_.skip_group(i_);
            }
            if (!at("::")) return true;
            ++i_;
            if (at("template")) ++i_;
        }
        return false;
    }

    bool declarator() {
        Declarator d;
        d.whole.begin = i_;
        std::size_t parentheses = 0;
        while (i_ < end_) {
            if (at("*") || at("&") || at("&&"))
                d.pointer = true;
            else if (at("("))
                ++parentheses;
            else if (!at("const") && !at("volatile") && !at("__restrict__") && !at("__restrict")) {
                if (decoration()) continue;
                break;
            }
            ++i_;
        }
        if (parentheses > 0) d.pointer = true;
        if (!at_identifier() && !at("::")) return false;
        if (is_keyword(seq_[i_].text)) return false;
        if (at("::")) {
            d.qualified = true;
            ++i_;
        }
        while (at_identifier()) {
            d.name.begin = i_++;
            while (at("##") && i_ + 1 < end_) i_ += 2;
            d.name.end = i_;
            std::size_t behind = i_;
            if (at("<")) behind = seq_.skip_angles(i_);
            if (behind == npos || behind >= end_ || !seq_.is(behind, "::")) break;
            d.qualified = true;
            i_ = behind + 1;
        }
        if (d.name.empty()) return false;
        if (at("(")) d.parameters = true;
        while (i_ < end_ && !at(",") && !at("=") && !at("{")) {
            if (at("[") && seq_.is(i_ + 1, "[")) {
                i_ = std::min(seq_.skip_group(i_), end_);
            } else if (at("[")) {
                if (d.first_extent == npos) d.first_extent = i_;
                if (seq_.match(i_) == npos) return false;
                i_ = std::min(seq_.skip_group(i_), end_);
            } else if (at("(")) {
                i_ = std::min(seq_.skip_group(i_), end_);
            } else if (at(")")) {
                if (parentheses-- == 0) return false;
                ++i_;
            } else if (!decoration()) {
                return false;
            }
        }
        if (at("=") || at("{")) {
            d.initialiser = i_;
            while (i_ < end_ && !at(",")) i_ = past_part_of_initialiser();
        }
        d.whole.end = i_;
        result_.declarators.push_back(d);
        return true;
    }

    /// A comma in `f<1, 2>()` separates no declarators: a template argument list is stepped over where it
    /// looks like one.
    [[nodiscard]] std::size_t past_part_of_initialiser() const {
        if (at("<") && seq_.is_identifier(i_ - 1)) {
            const std::size_t stop = seq_.skip_angles(i_);
            if (stop != npos && stop < end_ &&
                (seq_.is(stop, "(") || seq_.is(stop, "{") || seq_.is(stop, "::"))) {
                return stop;
            }
        }
        return std::min(seq_.skip_group(i_), end_);
    }

    const Sequence& seq_;
    std::size_t i_;
    std::size_t end_;
    bool type_seen_ = false;
    bool last_builtin_ = false;
    Declaration result_;
};

/// What may follow a function's parameters; a word of another kind means that the parentheses were a macro's.
bool ends_parameters(const Sequence& seq, std::size_t k, std::size_t end) {
    static constexpr std::array<std::string_view, 14> followers = {
        "const",         "noexcept", "override", "final", "volatile", "try", "requires",
        "__attribute__", "->",       "{",        "=",     ":",        "&",   "["};
    if (k >= end) return true;
    return std::find(followers.begin(), followers.end(), seq[k].text) != followers.end();
}

}  // namespace

std::optional<Declaration> parse_declaration(const Sequence& seq, Range range) {
    if (range.empty()) return std::nullopt;
    return DeclarationParser(seq, range).run();
}

std::size_t past_template_headers(const Sequence& seq, Range head) {
    std::size_t p = head.begin;
    while (p < head.end && seq.is(p, "template") && seq.is(p + 1, "<")) {
        const std::size_t stop = seq.skip_angles(p + 1);
        if (stop == npos || stop > head.end) break;
        p = stop;
    }
    return p;
}

bool is_class_head(const Sequence& seq, std::size_t k, std::size_t end) {
    for (++k; k < end;) {
        const std::string_view word = seq[k].text;
        if (word == ":") return true;
        if (seq.is_identifier(k) && seq.is(k + 1, "(") && !takes_attribute_arguments(word) &&
            (seq.is_identifier(k - 1) || seq.is(k - 1, ">")) && !seq.is(k - 1, "struct") &&
            !seq.is(k - 1, "class") && !seq.is(k - 1, "union")) {
            return false;  // `struct A f(int)`: a function that returns one
        }
        if (seq.is_identifier(k) && seq.is(k + 1, "("))
            k = seq.skip_group(k + 1);
        else if (word == "<")
            k = seq.skip_angles(k) == npos ? end : seq.skip_angles(k);
        else if (word == "[")
            k = seq.skip_group(k);
        else if (seq.is_identifier(k) || word == "::")
            ++k;
        else
            return false;
    }
    return true;
}

std::size_t find_specifier(const Sequence& seq, Range head, std::string_view word) {
    for (std::size_t k = past_template_headers(seq, head); k < head.end;) {
        const std::string_view text = seq[k].text;
        if (text == word) return k;
        if (text == "=") return npos;
        k = text == "(" || text == "[" || text == "{" ? seq.skip_group(k) : k + 1;
    }
    return npos;
}

std::size_t qualified_begin(const Sequence& seq, std::size_t i) {
    while (i > 0 && seq.is(i - 1, "::"))
        i -= i > 1 && seq.is_identifier(i - 2) && !is_keyword(seq[i - 2].text) ? 2 : 1;
    return i;
}

bool has_specifier(const Sequence& seq, Range head, std::string_view word) {
    return find_specifier(seq, head, word) != npos;
}

bool runs_on_device(const Sequence& seq, Range head) {
    return has_specifier(seq, head, "__global__") ||
           (has_specifier(seq, head, "__device__") && !has_specifier(seq, head, "__host__"));
}

bool may_run_on_device(const Sequence& seq, Range head) {
    return has_specifier(seq, head, "constexpr") || may_be_declared_for_device(seq, head);
}

bool may_be_declared_for_device(const Sequence& seq, Range head) {
    if (has_specifier(seq, head, "__device__")) return true;
    std::size_t name = function_name(seq, head);
    if (name == npos) return false;
    while (name > head.begin && (seq.is(name - 1, "::") || seq.is(name - 1, "operator"))) {
        --name;
        if (name > head.begin && seq.is(name - 1, ">") && seq.open_angle(name - 1) != npos)
            name = seq.open_angle(name - 1);
        if (name > head.begin && seq.is_identifier(name - 1)) --name;
    }
    // Types have one name, or words of the language's own.
    std::size_t unknown = 0;
    bool builtin = false;
    for (std::size_t k = past_template_headers(seq, head); k < name;) {
        const std::string_view word = seq[k].text;
        if (is_builtin_type(word)) builtin = true;
        const bool plain = is_builtin_type(word) || is_keyword(word) || is_cuda_specifier(word) ||
                           contains(storage_specifiers, word) || is_class_key(word) || word == "typename" ||
                           word == "volatile";
        if (seq.is_identifier(k) && !plain && !(k > head.begin && seq.is(k - 1, "::"))) ++unknown;
        const std::size_t angles = word == "<" ? seq.skip_angles(k) : npos;
        k = angles != npos ? angles : word == "(" || word == "[" ? seq.skip_group(k) : k + 1;
    }
    return unknown > (builtin ? 0u : 1u);
}

std::size_t function_name(const Sequence& seq, Range head) {
    for (std::size_t k = past_template_headers(seq, head); k < head.end;) {
        const std::string_view word = seq[k].text;
        if (word == "=" || word == "{") return npos;
        if (word == "operator") return k;
        if (word == "<" && k > head.begin && seq.is_identifier(k - 1)) {
            const std::size_t stop = seq.skip_angles(k);
            k = stop == npos ? k + 1 : stop;
            continue;
        }
        if (word == "[") {
            k = seq.skip_group(k);
            continue;
        }
        if (word != "(") {
            ++k;
            continue;
        }
        const std::size_t behind = seq.skip_group(k);
        const bool named = k > head.begin && (seq.is_identifier(k - 1) || seq.is(k - 1, ">")) &&
                           !takes_attribute_arguments(seq[k - 1].text) && !is_builtin_type(seq[k - 1].text);
        if (named && ends_parameters(seq, behind, head.end)) return k - 1;
        k = behind;
    }
    return npos;
}

std::string parameter_type(const Sequence& seq, Range parameter) {
    std::size_t name = npos;
    for (std::size_t k = parameter.begin + 1; k < parameter.end; ++k) {
        const bool candidate = seq.is_identifier(k) && !is_builtin_type(seq[k].text) &&
                               !is_keyword(seq[k].text) && !seq.is(k - 1, "::") && !seq.is(k, "__restrict__");
        if (candidate) name = k;
    }
    std::string type;
    for (std::size_t k = parameter.begin; k < parameter.end; ++k) {
        const bool noise = seq.is(k, "__restrict__") || seq.is(k, "__restrict") || k == name;
        if (!noise) type += std::string(seq[k].text) + " ";
    }
    return type;
}

std::vector<Range> split(const Sequence& seq, Range range) {
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

bool is_among(std::string_view words, std::string_view word) {
    for (std::size_t at = words.find(word); at != std::string_view::npos; at = words.find(word, at + 1)) {
        const std::size_t end = at + word.size();
        if ((at == 0 || words[at - 1] == ' ') && (end == words.size() || words[end] == ' ')) return true;
    }
    return false;
}

bool is_control(std::string_view word) {
    return word == "if" || word == "for" || word == "while" || word == "switch" || word == "return" ||
           word == "do" || word == "else" || word == "case";
}

bool is_member(const Sequence& seq, std::size_t k) {
    return k > 0 && (seq.is(k - 1, ".") || seq.is(k - 1, "->"));
}

std::size_t call_at(const Sequence& seq, std::size_t k, std::size_t end) {
    if (!seq.is_identifier(k)) return npos;
    std::size_t open = k + 1;
    if (seq.is(open, "<")) {
        open = seq.skip_angles(open);
        if (open == npos) return npos;
    }
    return open < end && seq.is(open, "(") ? open : npos;
}

bool follows_operand(const Sequence& seq, std::size_t k) {
    if (k == 0) return false;
    const Token& before = seq[k - 1];
    if (before.kind == TokenKind::number || before.is(")") || before.is("]")) return true;
    return before.is_identifier() && !is_control(before.text);
}

bool takes_address(const Sequence& seq, std::size_t k) {
    return seq.is(k, "&") && (!follows_operand(seq, k) || seq.is(k - 1, ")"));
}

}  // namespace cu2cpp
