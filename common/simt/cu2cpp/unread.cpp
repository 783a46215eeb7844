// Calls of the runtime whose error the program drops: check mode is told which these are, and asks at the end
// whether one of them failed.
#include <algorithm>

#include "cu2cpp/passes.h"
#include "cu2cpp/runtime_names.h"

namespace cu2cpp {
namespace {

/// The bracket that is open at token i, or npos.
std::size_t open_bracket(const Sequence& seq, std::size_t i) {
    while (i-- > 0) {
        const std::string_view word = seq[i].text;
        if (word == "(" || word == "[" || word == "{") return i;
        if (word != ")" && word != "]" && word != "}") continue;
        if (seq.match(i) == npos) return npos;
        i = seq.match(i);
    }
    return npos;
}

/// Is the `:` at token i that of a label, and not of `a ? b : c`?
bool ends_label(const Sequence& seq, std::size_t i) {
    std::size_t k = i;
    while (k > 0 && !seq.is(k - 1, ";") && !seq.is(k - 1, "{") && !seq.is(k - 1, "}")) --k;
    return seq.is(k, "case") || k + 1 == i;
}

/// Does a statement begin at token i? In an expression of GNU's, `({ ...; f(); })`, the last one has a value.
bool begins_statement(const Sequence& seq, std::size_t i) {
    const std::size_t block = open_bracket(seq, i);
    if (block == npos || !seq.is(block, "{") || (block > 0 && seq.is(block - 1, "("))) return false;
    const std::string_view before = seq[i - 1].text;
    if (before == ";" || before == "{" || before == "}" || before == "else" || before == "do") return true;
    if (before == ":") return ends_label(seq, i - 1);
    if (before != ")" || seq.match(i - 1) == npos || seq.match(i - 1) == 0) return false;
    const std::string_view head = seq[seq.match(i - 1) - 1].text;
    return head == "if" || head == "for" || head == "while" || head == "constexpr";
}

/// Where the statement of the expression at token i begins: there, or at a `(void)` in front of it.
std::size_t behind_cast(const Sequence& seq, std::size_t i) {
    const bool cast = i > 2 && seq.is(i - 1, ")") && seq.is(i - 2, "void") && seq.is(i - 3, "(");
    return cast ? i - 3 : i;
}

/// A variable of a function, and whether what is stored in it is ever read.
class Local {
  public:
    /// @param at a token that names it
    /// @param function first token of the function around it
    Local(const Sequence& seq, std::size_t at, std::size_t function) : seq_(seq), name_(seq[at].text) {
        std::size_t body = npos;
        for (std::size_t k = open_bracket(seq, at); k != npos && k > function; k = open_bracket(seq, k))
            if (seq.is(k, "{")) body = k;
        if (body == npos || seq.match(body) == npos) return;
        for (std::size_t k = body; k < seq.match(body); ++k) {
            if (!seq.is(k, name_) || seq.is(k - 1, ".") || seq.is(k - 1, "->")) continue;
            if (seq.is(k - 1, "cudaError_t") && !seq.is(k - 2, "static")) {
                declared_ = true;
            } else if (seq.is(k - 1, "&")) {
                return;
            } else if (!is_assigned(k) &&
                       !(seq.is(k + 1, ";") && begins_statement(seq, behind_cast(seq, k)))) {
                read_ = true;
            }
        }
        known_ = declared_;
    }

    /// Nobody ever reads it; or what is stored by the statement that ends at `semicolon` is replaced in the
    /// same block before anybody does.
    [[nodiscard]] bool loses_value(std::size_t semicolon) const {
        if (!known_) return false;
        if (!read_) return true;
        for (std::size_t k = semicolon + 1; k < seq_.size() && !seq_.is(k, "}"); ++k) {
            if (seq_.is(k, name_)) return is_assigned(k);
            if (!seq_.is(k, "{") && !seq_.is(k, "(") && !seq_.is(k, "[")) continue;
            const std::size_t end = seq_.skip_group(k);
            for (; k + 1 < end; ++k)
                if (seq_.is(k, name_)) return false;
        }
        return false;
    }

  private:
    /// Is token k the beginning of `x = ...;`, without an x in what is stored?
    [[nodiscard]] bool is_assigned(std::size_t k) const {
        if (!seq_.is(k + 1, "=") || !begins_statement(seq_, k)) return false;
        for (k += 2; k < seq_.size() && !seq_.is(k, ";"); ++k)
            if (seq_.is(k, name_)) return false;
        return true;
    }

    const Sequence& seq_;
    std::string_view name_;
    bool declared_ = false, read_ = false, known_ = false;
};

}  // namespace

void dropped_error(Unit& unit, const Context& context, std::size_t i) {
    if (!unit.options.dropped_errors || (context.device && !context.both)) return;
    if (!context.macro && !context.in_code()) return;
    const Sequence& seq = *context.seq;
    const std::string_view name = seq[i].text;
    if (!seq.is(i + 1, "(") || seq.match(i + 1) == npos || !contains(functions_with_errors, name)) return;
    // The program has a function or a macro of that name.
    if (unit.out.exports.functions.count(name) != 0 || unit.out.exports.macro_words.count(name) != 0) return;
    const std::size_t close = seq.match(i + 1);
    if (!seq.is(close + 1, ";")) return;
    std::size_t begin = i;
    if (begin > 0 && seq.is(begin - 1, "::")) --begin;
    const std::size_t statement = behind_cast(seq, begin);
    const std::string note = runtime(context, "dropped") + "(\"" + std::string(name) + "\")";
    // All of it stands behind the call, which keeps its column, and is no argument of another: g++ takes such
    // a call to be where the other one is.
    if (begins_statement(seq, statement)) {
        if (statement != begin) {  // `(void)f(x);`
            unit.blank(seq[statement]);
            unit.blank(seq[statement + 1]);
            unit.replace(seq[statement + 2], "(");
        }
        unit.insert(seq[close].end, " ? " + note + " : (void)0" + (statement != begin ? ")" : ""));
        return;
    }
    if (context.macro || context.function == npos || begin < 3 || !seq.is(begin - 1, "=") ||
        !seq.is_identifier(begin - 2))
        return;
    const bool declares = seq.is(begin - 3, "cudaError_t");
    std::size_t first = declares ? begin - 3 : begin - 2;
    if (declares && first > 0 && seq.is(first - 1, "const")) --first;
    if (!begins_statement(seq, first)) return;
    if (!Local(seq, begin - 2, context.function).loses_value(close + 1)) return;
    const std::string variable(seq[begin - 2].text);
    if (declares)
        unit.insert(seq[close + 1].end, " if (" + variable + ") " + note + ";");
    else
        unit.insert(seq[close].end, ", " + variable + " ? " + note + " : (void)0");
}

}  // namespace cu2cpp
