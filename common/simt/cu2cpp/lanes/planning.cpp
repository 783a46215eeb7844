// The regions of a kernel, which run as loops, and what lanes keep from one to another.
#include <algorithm>

#include "cu2cpp/lanes/kernel.h"
#include "cu2cpp/lanes/words.h"

namespace cu2cpp::lanes {

bool Kernel::is_between(const Statement& node) {
    if (node.splits() || node.kind == StatementKind::fixed) return true;
    if (node.kind == StatementKind::simple) return is_for_all({node.whole.begin, node.whole.end - 1});
    if (node.kind != StatementKind::declaration) return false;
    for (const Variable& v : variables_)
        if (v.declared_at == node.whole.begin && !v.uniform) return false;
    return true;
}

bool Kernel::plan(const Statement& node) {
    visit(node, false);
    return flaw_.empty();
}

std::vector<Variable*> Kernel::named_in(const std::vector<Range>& text) {
    std::vector<Variable*> named;
    const auto add = [&](const auto& self, Range range) -> void {
        for (std::size_t k = range.begin; k < range.end; ++k) {
            Variable* v = seq_.is_identifier(k) ? resolve(k) : nullptr;
            if (!v || !v->kept || std::find(named.begin(), named.end(), v) != named.end()) continue;
            named.push_back(v);
            if (is_derived(*v)) self(self, v->initialiser);
        }
    };
    for (const Range range : text) add(add, range);
    std::sort(named.begin(), named.end(), [](auto* a, auto* b) { return a->token < b->token; });
    return named;
}

bool Kernel::is_alone(Range range) {
    for (std::size_t k = range.begin; k < range.end; ++k) {
        const Token& token = seq_[k];
        if (token.is("[") || token.is("->") || token.is("return")) return false;
        if ((token.is("/") || token.is("%")) &&
            (seq_[k + 1].kind != TokenKind::number || seq_.is(k + 1, "0")))
            return false;
        if ((token.is("*") || token.is("&")) && !follows_operand(seq_, k)) return false;
        if (!token.is_identifier()) continue;
        const Variable* v = resolve(k);
        if (v && (v->fixed || v->reference || v->array)) return false;
        if (!v && unit_.out.exports.macro_words.count(token.text) != 0) return false;
        if (call_at(seq_, k, range.end) != npos && !is_plain_function(token.text) &&
            !is_control(token.text) && !is_cast(token.text) && !contains(shuffles, token.text))
            return false;
        if (token.text.substr(0, 3) == "tex" || token.text.substr(0, 5) == "__ldg") return false;
    }
    return true;
}

bool Kernel::is_derived(const Variable& v, std::size_t depth) {
    if (!v.between || v.fixed || v.parameter || v.reference || v.array || v.changed || v.shuffled ||
        !v.known_type || v.initialiser.empty() || !seq_.is(v.initialiser.begin - 1, "=") || depth > 20)
        return false;
    for (std::size_t k = v.initialiser.begin; k < v.initialiser.end; ++k) {
        const Token& token = seq_[k];
        if (token.is("[") || token.is("->") || token.is("<<") || token.is(">>") || token.is(">") ||
            token.is("{") || is_assignment(token.text))
            return false;
        if ((token.is("*") || token.is("&")) && !follows_operand(seq_, k)) return false;
        if (!token.is_identifier() || is_member(seq_, k)) continue;
        if (call_at(seq_, k, v.initialiser.end) != npos && !is_builtin_type(token.text)) return false;
        const Variable* named = resolve(k);
        if (named && !(named->uniform && !named->changed) && !is_derived(*named, depth + 1)) return false;
        if (named && is_hidden(*named)) return false;
        if (!named && unit_.out.exports.device_variables.count(token.text) != 0) return false;
        if (token.is("std") || token.is("auto")) return false;
    }
    return true;
}

bool Kernel::is_hidden(const Variable& v) const {
    return std::any_of(variables_.begin(), variables_.end(), [&](const Variable& other) {
        return &other != &v && other.between && other.name == v.name;
    });
}

bool Kernel::named_later(const Variable& v, std::size_t from) {
    for (std::size_t k = from; k < v.scope.end; ++k)
        if (seq_.is_identifier(k) && seq_.is(k, v.name) && resolve(k) == &v) return true;
    return false;
}

bool Kernel::address_escapes(const Variable& v) {
    if (v.reference) return false;
    for (std::size_t k = v.token + 1; k < v.scope.end; ++k) {
        if (!seq_.is_identifier(k) || !seq_.is(k, v.name) || resolve(k) != &v) continue;
        bool element = false;
        past_operand(k, element);
        if (takes_address(seq_, k - 1) && (!element || v.array)) return true;
        if (v.array && !element && !(seq_.is(k - 1, ",") || seq_.is(k - 1, "("))) return true;
    }
    for (const Variable& other : variables_)
        if (other.reference)
            for (std::size_t k = other.initialiser.begin; k < other.initialiser.end; ++k)
                if (resolve(k) == &v) return true;
    return false;
}

}  // namespace cu2cpp::lanes
