// `#if` on `__CUDA_ARCH__`: nvcc reads a file once for the host, where that is undefined, and once for the
// device. Here both are one compilation, so each group is decided by where it stands.
#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "cu2cpp/passes.h"

namespace cu2cpp {
namespace {

constexpr std::string_view architecture = "__CUDA_ARCH__";

/// What this backend defines for every file. Of all other names nothing is known, of `__cplusplus` neither:
/// the standard is chosen later.
constexpr std::array<std::pair<std::string_view, long long>, 8> known_names = {{
    {"__CUDACC__", 1},
    {"__NVCC__", 1},
    {"__SIMT__", 1},
    {"RUNGS_SIMT", 1},
    {"__CUDACC_VER_MAJOR__", 13},
    {"CUDART_VERSION", 13000},
    {"true", 1},
    {"false", 0},
}};

using Value = std::optional<long long>;  ///< of a condition; nothing: not known

/// Evaluates what stands behind `#if`, with what may be unknown: `0 && X` is 0.
class Evaluator {
  public:
    Evaluator(const std::vector<Token>& tokens, std::size_t begin, bool device)
        : tokens_(tokens), i_(begin), device_(device) {}

    Value run() {
        const Value value = binary(0);
        return i_ == tokens_.size() && !failed_ ? value : std::nullopt;
    }

  private:
    [[nodiscard]] bool at(std::string_view spelling) const {
        return i_ < tokens_.size() && tokens_[i_].is(spelling);
    }
    bool eat(std::string_view spelling) {
        if (!at(spelling)) return false;
        ++i_;
        return true;
    }
    static int precedence(std::string_view op) {
        if (op == "||") return 1;
        if (op == "&&") return 2;
        if (op == "==" || op == "!=") return 3;
        if (op == "<" || op == ">" || op == "<=" || op == ">=") return 4;
        if (op == "+" || op == "-") return 5;
        if (op == "*" || op == "/" || op == "%") return 6;
        return 0;
    }

    Value binary(int least) {
        Value left = unary();
        while (i_ < tokens_.size()) {
            const std::string_view op = tokens_[i_].text;
            const int level = precedence(op);
            if (level == 0 || level <= least) break;
            ++i_;
            left = combined(op, left, binary(level));
        }
        return left;
    }

    static Value combined(std::string_view op, const Value& a, const Value& b) {
        if (op == "||" || op == "&&") {
            const bool decides = op == "||";
            if ((a && (*a != 0) == decides) || (b && (*b != 0) == decides)) return decides ? 1 : 0;
            return a && b ? Value(decides ? 0 : 1) : std::nullopt;
        }
        if (!a || !b) return std::nullopt;
        if (op == "==") return *a == *b;
        if (op == "!=") return *a != *b;
        if (op == "<") return *a < *b;
        if (op == ">") return *a > *b;
        if (op == "<=") return *a <= *b;
        if (op == ">=") return *a >= *b;
        return arithmetic(op, *a, *b);
    }

    static Value arithmetic(std::string_view op, long long a, long long b) {
        constexpr long long most = 1000000000;  // products of such do not overflow
        if (a > most || a < -most || b > most || b < -most) return std::nullopt;
        if (op == "+") return a + b;
        if (op == "-") return a - b;
        if (op == "*") return a * b;
        if (b == 0) return std::nullopt;
        return op == "/" ? a / b : a % b;
    }

    Value unary() {
        if (eat("!")) {
            const Value value = unary();
            return value ? Value(*value == 0) : std::nullopt;
        }
        if (eat("-")) {
            const Value value = unary();
            return value ? Value(-*value) : std::nullopt;
        }
        if (eat("(")) {
            if (++depth_ > max_nesting) failed_ = true;
            const Value value = failed_ ? std::nullopt : binary(0);
            failed_ = !eat(")") || failed_;
            --depth_;
            return value;
        }
        if (i_ >= tokens_.size()) {
            failed_ = true;
            return std::nullopt;
        }
        const Token& token = tokens_[i_++];
        if (token.is("defined")) return defined_name();
        if (token.kind == TokenKind::number) return number(token.text);
        if (!token.is_identifier()) {
            failed_ = true;
            return std::nullopt;
        }
        return named(token.text);
    }

    Value defined_name() {
        const bool parenthesised = eat("(");
        if (i_ >= tokens_.size()) {
            failed_ = true;
            return std::nullopt;
        }
        const Value value = is_defined(tokens_[i_++].text, device_);
        if (parenthesised && !eat(")")) failed_ = true;
        return value;
    }

    [[nodiscard]] Value named(std::string_view name) const {
        if (name == architecture) return device_ ? number(device_architecture) : 0;
        for (const auto& [known, value] : known_names)
            if (name == known) return value;
        return std::nullopt;
    }

    static Value number(std::string_view text) {
        long long value = 0;
        for (std::size_t k = 0; k < text.size(); ++k) {
            const char c = text[k];
            if (c == '\'') continue;
            const bool suffix = k > 0 && (c == 'u' || c == 'U' || c == 'l' || c == 'L');
            if (suffix) continue;
            const bool octal = text[0] == '0' && text.size() > 1;
            if (c < '0' || c > '9' || octal || value > 1000000000) return std::nullopt;
            value = value * 10 + (c - '0');
        }
        return value;
    }

    const std::vector<Token>& tokens_;
    std::size_t i_;
    bool device_;
    std::size_t depth_ = 0;
    bool failed_ = false;

  public:
    static Value is_defined(std::string_view name, bool device) {
        if (name == architecture) return device ? 1 : 0;
        for (const auto& [known, value] : known_names)
            if (name == known) return 1;
        return std::nullopt;
    }
};

Value value_of(const Directive& d, bool device) {
    const std::string_view name = d.name();
    if (name == "else") return 1;
    if (name == "if" || name == "elif") return Evaluator(d.tokens, 1, device).run();
    if (d.tokens.size() < 2) return std::nullopt;
    const Value defined = Evaluator::is_defined(d.tokens[1].text, device);
    if (name == "ifdef" || name == "elifdef") return defined;
    return defined ? Value(*defined == 0) : std::nullopt;
}

/// Which branch is taken; as many as there are: none is. Nothing: it depends on what is not known.
std::optional<std::size_t> taken(const ConditionalGroup& group, bool device) {
    for (std::size_t k = 0; k + 1 < group.parts.size(); ++k) {
        const Value value = value_of(*group.parts[k], device);
        if (!value) return std::nullopt;
        if (*value != 0) return k;
    }
    return group.parts.size() - 1;
}

bool asks(const Directive& d, const Unit& unit) {
    return std::any_of(d.tokens.begin(), d.tokens.end(), [&](const Token& token) {
        return token.is(architecture) || unit.out.exports.architecture_macros.count(token.text) != 0;
    });
}

/// The device's value in place of the name.
void substitute(Unit& unit, const Directive& d) {
    const std::string_view name = d.name();
    const auto& t = d.tokens;
    if ((name == "ifdef" || name == "ifndef" || name == "elifdef" || name == "elifndef") && t.size() > 1) {
        if (!t[1].is(architecture)) return;
        const bool negated = name.find('n') != std::string_view::npos;
        unit.out.edits.push_back(
            {t[0].begin, t[1].end,
             std::string(name.substr(0, 2) == "el" ? "elif " : "if ") + (negated ? "0" : "1")});
        return;
    }
    for (std::size_t k = 1; k < t.size(); ++k) {
        if (!t[k].is(architecture)) continue;
        std::size_t first = k, last = k;
        if (t[k - 1].is("defined")) {
            first = k - 1;
        } else if (k > 1 && k + 1 < t.size() && t[k - 1].is("(") && t[k - 2].is("defined")) {
            first = k - 2;
            last = k + 1;
        }
        unit.out.edits.push_back(
            {t[first].begin, t[last].end, first == k ? std::string(device_architecture) : std::string("1")});
    }
}

/// What stands in a branch.
struct Content {
    bool empty = true;          ///< no code, nothing defined or included
    bool device_only = true;    ///< whole declarations, none of which the host can use
    bool host_only = true;      ///< nothing that the device can use
    bool preprocesses = false;  ///< it defines macros, or includes what may
    bool includes = false;      ///< a header of a library, which is harmless where nobody asked for it
};

Content content_of(const Sequence& seq, const ConditionalGroup& group, std::size_t branch) {
    Content content;
    for (const Directive* d = group.parts[branch] + 1; d != group.parts[branch + 1]; ++d) {
        const std::string_view name = d->name();
        const bool system = name == "include" && d->tokens.size() > 1 && d->tokens[1].text[0] == '<';
        if (name == "define" || name == "undef" || (name == "include" && !system))
            content.preprocesses = true;
        if (name == "include") content.empty = false, content.includes = true;
    }
    const std::size_t end = group.parts[branch + 1]->at;
    std::size_t begin = group.parts[branch]->at;
    if (begin < end) content.empty = false;
    if (content.preprocesses) content.empty = content.device_only = content.host_only = false;
    for (std::size_t k = begin; k < end; ++k) {
        for (const std::string_view word :
             {"__device__", "__global__", "__constant__", "__managed__", "__shared__"})
            if (seq.is(k, word)) content.host_only = false;
    }
    while (begin < end && content.device_only) {
        std::size_t k = begin;
        while (k < end && !seq.is(k, ";") && !seq.is(k, "{"))
            k = seq.is(k, "(") || seq.is(k, "[") ? seq.skip_group(k) : k + 1;
        const Range head{begin, std::min(k, end)};
        const bool function = function_name(seq, head) != npos && runs_on_device(seq, head);
        const bool variable =
            !has_specifier(seq, head, "__host__") && !has_specifier(seq, head, "__managed__") &&
            (has_specifier(seq, head, "__device__") || has_specifier(seq, head, "__constant__"));
        const std::size_t behind = seq.is(k, "{") ? seq.skip_group(k) : k + 1;
        content.device_only = k < end && behind <= end && (function || variable) &&
                              (seq.is(k, ";") || (function && seq.match(k) != npos));
        begin = behind;
    }
    return content;
}

/// Names that the statements in `range` declare for what follows them.
std::set<std::string_view> declared(const Sequence& seq, Range range) {
    std::set<std::string_view> names;
    for (std::size_t begin = range.begin; begin < range.end;) {
        std::size_t k = begin;
        while (k < range.end && !seq.is(k, ";") && !(seq.is(k, "{") && seq.is(k - 1, ")")))
            k = seq.is(k, "(") || seq.is(k, "[") || seq.is(k, "{") ? seq.skip_group(k) : k + 1;
        if (seq.is(begin, "using") || seq.is(begin, "struct") || seq.is(begin, "class") ||
            seq.is(begin, "enum"))
            names.insert(seq[begin + 1].text);
        if (seq.is(begin, "typedef") && k > begin) names.insert(seq[k - 1].text);
        if (!is_keyword(seq[begin].text) || seq.is(begin, "const") || seq.is(begin, "constexpr") ||
            seq.is(begin, "static") || seq.is(begin, "volatile")) {
            const auto declaration = parse_declaration(seq, {begin, std::min(k, range.end)});
            if (declaration && !seq.is(declaration->specifiers.end, "(")) {
                for (const Declarator& d : declaration->declarators) names.insert(seq[d.name.begin].text);
            }
        }
        begin = seq.is(k, "{") ? seq.skip_group(k) : k + 1;
    }
    return names;
}

/// The branches are whole statements, and what they declare is theirs alone: they may stand in braces.
bool are_statements(const Sequence& seq, const ConditionalGroup& group, std::size_t scope_end) {
    const std::size_t first = group.parts.front()->at, last = group.parts.back()->at;
    if (first == 0 || !(seq.is(first - 1, ";") || seq.is(first - 1, "{") || seq.is(first - 1, "}")))
        return false;
    for (std::size_t k = 0; k + 1 < group.parts.size(); ++k) {
        const Range range{group.parts[k]->at, group.parts[k + 1]->at};
        if (range.empty()) continue;
        if (seq.is(range.begin, "else") || seq.is(range.begin, "case") || seq.is(range.begin, "default"))
            return false;
        if (!(seq.is(range.end - 1, ";") || seq.is(range.end - 1, "}"))) return false;
        for (std::size_t i = range.begin; i < range.end; ++i) {
            const bool bracket = seq.is(i, "(") || seq.is(i, ")") || seq.is(i, "[") || seq.is(i, "]") ||
                                 seq.is(i, "{") || seq.is(i, "}");
            if (bracket && (seq.match(i) < range.begin || seq.match(i) >= range.end)) return false;
        }
        const std::set<std::string_view> names = declared(seq, range);
        for (std::size_t i = last; i < scope_end && !names.empty(); ++i)
            if (names.count(seq[i].text) != 0) return false;
    }
    return !seq.is(last, "else");
}

/// `#if` becomes `if`: which side runs the function is known when it runs.
void decide_at_run_time(Unit& unit, const ConditionalGroup& group, std::size_t device, std::size_t host) {
    const std::size_t branches = group.parts.size() - 1;
    for (std::size_t k = 0; k <= branches; ++k) {
        const Directive& d = *group.parts[k];
        const std::string condition = k == device ? "::simt::on_device()"
                                      : k == host ? "!::simt::on_device()"
                                                  : "false";
        const bool otherwise = k > 0 && k + 1 == branches && device < branches && host < branches;
        std::string text = k > 0 ? "} " : "";
        if (k < branches) text += (k > 0 ? "else " : "") + (otherwise ? "{" : "if (" + condition + ") {");
        unit.out.edits.push_back({d.begin, d.tokens.back().end, std::move(text)});
    }
}

/// The names in `A = 1, B = 2,`, of an enumeration's middle.
std::set<std::string_view> enumerators(const Sequence& seq, Range range) {
    std::set<std::string_view> names;
    for (std::size_t k = range.begin; k < range.end; ++k) {
        if (!seq.is_identifier(k) || !seq.is(k + 1, "=")) return {};
        names.insert(seq[k].text);
        while (k < range.end && !seq.is(k, ",")) k = seq.is(k, "(") ? seq.skip_group(k) : k + 1;
        if (k >= range.end) return {};
    }
    return names;
}

/// The names in `const int A = 1, B = 2;`.
std::set<std::string_view> constants(const Sequence& seq, Range range) {
    for (std::size_t begin = range.begin, end = begin; begin < range.end; begin = ++end) {
        bool constant = false, named = false;
        for (; end < range.end && !seq.is(end, ";"); ++end) {
            constant |= seq.is(end, "const") || seq.is(end, "constexpr");
            named |= seq.is(end, "=");
            if (seq.is(end, "{") || seq.is(end, "__device__") || (!named && seq.is(end, "*"))) return {};
        }
        if (!constant || !parse_declaration(seq, {begin, end})) return {};
    }
    return declared(seq, range);
}

/// What a group gives a value to and does nothing else, the same names in each of its branches: there is one
/// of each, whoever asks.
std::set<std::string_view> constants(const Sequence& seq, const ConditionalGroup& group) {
    std::set<std::string_view> names;
    for (std::size_t k = 0; k + 1 < group.parts.size(); ++k) {
        const Range range{group.parts[k]->at, group.parts[k + 1]->at};
        if (group.parts[k] + 1 != group.parts[k + 1] || range.empty()) return {};
        const bool listed = seq.is(group.parts.front()[1].at - 1, ",");
        auto of_branch = listed ? enumerators(seq, range) : constants(seq, range);
        if (of_branch.empty() || (k > 0 && of_branch != names)) return {};
        names = std::move(of_branch);
    }
    return names;
}

void refuse_group(Unit& unit, const ConditionalGroup& group, const std::string& where) {
    const std::string message =
        "`__CUDA_ARCH__` cannot be translated here; host and device are compiled at once, and " + where;
    const auto asking = std::find_if(group.parts.begin(), group.parts.end(),
                                     [&](const Directive* d) { return asks(*d, unit); });
    const Directive& d = **asking;
    if (!d.surroundings_conditional) return unit.refuse_at(d.begin, message);
    // The compiler stops where the group is not left out.
    const Directive& first = *group.parts.front();
    unit.out.edits.push_back({first.tokens.front().begin, first.tokens.back().end, "if \"" + message + "\""});
}

}  // namespace

std::vector<Side> architecture_group(Unit& unit, const Sequence& seq, const ConditionalGroup& group,
                                     Side side, std::size_t scope_end) {
    const std::size_t branches = group.parts.size() - 1;
    std::vector<Side> sides(branches, side);
    if (std::none_of(group.parts.begin(), group.parts.end(),
                     [&](const Directive* d) { return asks(*d, unit); }))
        return sides;
    if (side == Side::host) return sides;
    for (const Directive* d : group.parts) {
        for (const Token& token : d->tokens) {
            const auto macro = unit.out.exports.architecture_macros.find(token.text);
            if (macro == unit.out.exports.architecture_macros.end()) continue;
            refuse_group(unit, group, "macro `" + *macro + "` hides it; ask for `__CUDA_ARCH__` itself");
            return sides;
        }
    }
    const auto device = taken(group, true), host = taken(group, false);
    if (side != Side::device && device && device == host) return sides;
    const auto label = [&] {
        for (std::size_t k = 0; k < branches; ++k)
            sides[k] = device == k ? Side::device : host == k ? Side::host : side;
    };
    if (side == Side::both) {
        if (device && host && are_statements(seq, group, scope_end)) {
            decide_at_run_time(unit, group, *device, *host);
            label();
        } else {
            refuse_group(unit, group,
                         "this function is for both; let each branch be whole statements whose variables "
                         "are not used behind `#endif`, and ask for nothing else beside it");
        }
        return sides;
    }
    bool device_only = true, host_only = true;
    for (std::size_t k = 0; k < branches; ++k) {
        const Content content = content_of(seq, group, k);
        device_only =
            device_only && (content.empty || content.device_only) && !(content.includes && device != k);
        host_only = host_only && (content.empty || (content.host_only && device && device != k));
    }
    if (side == Side::device || device_only) {
        for (const Directive* d : group.parts) substitute(unit, *d);
        sides.assign(branches, Side::device);
    } else if (host_only && host) {
        sides.assign(branches, Side::host);
    } else if (const auto names = constants(seq, group);
               unit.options.lenient && device && host && !names.empty()) {
        for (const Directive* d : group.parts) substitute(unit, *d);
        for (std::size_t k = group.parts[*device]->at; k < group.parts[*device + 1]->at; ++k)
            if (seq.is(k, "__CUDA_ARCH__")) unit.replace(seq[k], std::string(device_architecture));
        const std::size_t at = group.parts.front()->begin;
        for (const std::string_view name : names) {
            unit.out.exports.device_constants.emplace(name);
            unit.out.notes.push_back(
                {unit.path, unit.lines.line(at), unit.lines.column(at),
                 "`" + std::string(name) +
                     "` has the value for devices here, in declarations of the host, too"});
        }
    } else {
        refuse_group(unit, group,
                     "this is for both; ask inside the functions, or ask for `__SIMT__` first, which only "
                     "the CPU backend defines");
    }
    return sides;
}

}  // namespace cu2cpp
