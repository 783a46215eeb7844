// The variables of a kernel, and what a name stands for.
#include "cu2cpp/lanes/kernel.h"

#include "cu2cpp/lanes/words.h"

namespace cu2cpp::lanes {

void Kernel::template_parameters() {
    const std::size_t end = past_template_headers(seq_, head_);
    for (std::size_t k = head_.begin; k + 1 < end; ++k) {
        if ((seq_.is(k, "typename") || seq_.is(k, "class")) && seq_.is_identifier(k + 1))
            types_.emplace_back(seq_[k + 1].text);
    }
}

void Kernel::parameters() {
    const std::size_t name = function_name(seq_, head_);
    if (name == npos || !seq_.is(name + 1, "(") || seq_.match(name + 1) == npos) {
        flaw_ = "parameters that cannot be read";
        return;
    }
    for (const Range part : split(seq_, {name + 2, seq_.match(name + 1)})) {
        const auto declaration = parse_declaration(seq_, part);
        if (!declaration || declaration->declarators.size() != 1) {
            // One without a name is nobody's to change.
            if (part.end - part.begin <= 2) continue;
            flaw_ = "parameters that cannot be read";
            return;
        }
        const Declarator& d = declaration->declarators[0];
        Variable v;
        v.name = spelling(seq_, d.name);
        v.token = d.name.begin;
        v.scope = body_;
        v.between = v.uniform = v.parameter = true;
        v.type = "decltype(" + v.name + ")";
        v.declared_at = body_.begin;
        variables_.push_back(v);
    }
}

void Kernel::declare(const Statement& node, Range scope, bool between) {
    switch (node.kind) {
        case StatementKind::declaration:
        case StatementKind::fixed:
            declare_names(node.whole.begin, node.whole.end - 1, scope, between,
                          node.kind == StatementKind::fixed);
            return;
        case StatementKind::compound:
            for (const Statement& child : node.children)
                declare(child, node.whole, between && (node.splits() || &node == &root_));
            return;
        case StatementKind::for_: {
            const std::vector<Range> parts = parts_of(node.head);
            if (parts.size() == 1) {  // over a range
                if (node.splits()) flaw_ = "a loop over a range with a barrier in it";
                for (std::size_t t = node.head.begin; t < node.head.end && !seq_.is(t, ":"); ++t)
                    if (seq_.is(t + 1, ":")) inner(t, node.whole);
            } else if (parse_declaration(seq_, parts[0])) {
                declare_names(parts[0].begin, parts[0].end, node.whole, between && node.splits(), false);
            }
            break;
        }
        default:
            break;
    }
    for (const Statement& child : node.children)
        declare(child, child.kind == StatementKind::compound ? child.whole : node.whole,
                between && node.splits());
}

void Kernel::inner(std::size_t token, Range scope) {
    Variable v;
    v.name = std::string(seq_[token].text);
    v.token = token;
    v.scope = scope;
    variables_.push_back(v);
}

void Kernel::declare_names(std::size_t begin, std::size_t end, Range scope, bool between, bool fixed) {
    const auto declaration = parse_declaration(seq_, {begin, end});
    if (!declaration) {
        if (fixed && begin < end && (seq_.is(begin, "struct") || seq_.is(begin, "enum")))
            flaw_ = "a type of its own";
        return;
    }
    if (fixed && (seq_.is(begin, "typedef") || seq_.is(begin, "using"))) return;
    std::string type;
    bool known = true;
    for (std::size_t k = declaration->specifiers.begin; k < declaration->specifiers.end; ++k) {
        if (seq_.is(k, "auto") || seq_.is(k, "decltype") || seq_.is(k, "struct") || seq_.is(k, "union") ||
            seq_.is(k, "class") || seq_.is(k, "thread_local"))
            known = false;
        if (seq_.is(k, "static") || seq_.is(k, "register")) continue;
        type += std::string(seq_[k].text) + " ";
    }
    for (const Declarator& d : declaration->declarators) {
        Variable v;
        v.name = spelling(seq_, d.name);
        v.token = d.name.begin;
        v.scope = scope;
        v.between = between;
        v.fixed = fixed;
        v.group = names_the_block(seq_, {begin, end});
        v.known_type = known && declaration->alignment.empty() && d.name.end - d.name.begin == 1;
        v.declared_at = begin;
        v.array = d.first_extent != npos;
        std::string own = type;
        for (std::size_t k = d.whole.begin; k < d.name.begin; ++k) {
            if (seq_.is(k, "&")) {
                v.reference = true;
            } else if (seq_.is(k, "*") || seq_.is(k, "const")) {
                own += std::string(seq_[k].text) + " ";
            } else if (!seq_.is(k, "__restrict__") && !seq_.is(k, "__restrict")) {
                v.known_type = false;
            }
        }
        for (std::size_t k = d.first_extent; k != npos && seq_.is(k, "["); k = seq_.skip_group(k)) {
            for (std::size_t t = k; t < seq_.skip_group(k); ++t) own += std::string(seq_[t].text);
            if (seq_.is(k + 1, "]")) v.known_type = false;
        }
        if (v.array && (v.reference || d.parameters)) v.known_type = false;
        v.type = own;
        if (d.initialiser != npos) v.initialiser = {d.initialiser + 1, d.whole.end};
        if (d.parameters) v.initialiser = {d.name.end, d.whole.end};
        v.uniform = between && !v.array && !v.reference && (d.initialiser != npos || d.parameters);
        if (fixed) v.uniform = false;
        variables_.push_back(v);
    }
}

Variable* Kernel::resolve(std::size_t k) {
    if (!seq_.is_identifier(k) || is_member(seq_, k) || (k > 0 && seq_.is(k - 1, "::"))) return nullptr;
    Variable* found = nullptr;
    for (Variable& v : variables_)
        if (v.token <= k && k < v.scope.end && (v.parameter || v.token >= v.scope.begin) &&
            seq_.is(k, v.name) && (v.parameter || k >= v.scope.begin))
            if (!found || v.scope.begin >= found->scope.begin) found = &v;
    return found;
}

}  // namespace cu2cpp::lanes
