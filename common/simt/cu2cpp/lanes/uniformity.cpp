// Which names have one value for all lanes: *uniform* ones. Whatever may change one in another way than by a
// statement of its own, which all lanes come to, takes that from it.
#include <algorithm>

#include "cu2cpp/lanes/kernel.h"
#include "cu2cpp/lanes/words.h"

namespace cu2cpp::lanes {

bool Kernel::is_uniform(Range range) {
    for (std::size_t k = range.begin; k < range.end; ++k) {
        const Token& token = seq_[k];
        if (is_assignment(token.text)) return false;
        if (!token.is_identifier() || is_member(seq_, k)) continue;
        if (token.is("threadIdx")) return false;
        if (const Variable* v = resolve(k)) {
            if (!v->uniform && !v->fixed) return false;
            if (seq_.is(k + 1, "(")) return false;
            if (v->group && (seq_.is(k + 2, "thread_rank") || seq_.is(k + 2, "thread_index"))) return false;
            continue;
        }
        if (call_at(seq_, k, range.end) != npos && !call_of(token.text).is_pure) return false;
    }
    return true;
}

std::size_t Kernel::past_operand(std::size_t k, bool& element) const {
    ++k;
    element = false;
    for (;;) {
        if (seq_.is(k, "[")) {
            element = true;
            k = seq_.skip_group(k);
        } else if ((seq_.is(k, ".") || seq_.is(k, "->")) && seq_.is_identifier(k + 1)) {
            element |= seq_.is(k, "->");
            k += 2;
        } else {
            return k;
        }
    }
}

bool Kernel::is_changed(std::size_t k) {
    bool element = false;
    const std::size_t behind = past_operand(k, element);
    const bool at_address = takes_address(seq_, k - 1);
    if (element) return false;
    if (at_address) return true;
    if (behind < body_.end && is_assignment(seq_[behind].text)) return true;
    if (seq_.is(k - 1, "++") || seq_.is(k - 1, "--")) return true;
    // An argument that may be taken by reference.
    if ((seq_.is(behind, ",") || seq_.is(behind, ")")) && (seq_.is(k - 1, ",") || seq_.is(k - 1, "("))) {
        std::size_t open = k - 1;
        while (open > body_.begin && !seq_.is(open, "(")) {
            if (seq_.is(open, ";") || seq_.is(open, "{")) return true;
            open = (seq_.is(open, ")") || seq_.is(open, "]")) && seq_.match(open) != npos
                       ? seq_.match(open) - 1
                       : open - 1;
        }
        std::size_t callee = open > 0 ? open - 1 : open;
        if (seq_.is(callee, ">") && seq_.open_angle(callee) != npos) callee = seq_.open_angle(callee) - 1;
        if (!seq_.is_identifier(callee)) return false;
        const std::string_view word = seq_[callee].text;
        return !(is_control(word) || is_cast(word) || is_wait(word) ||
                 (is_plain_function(word) && word.substr(0, 6) != "sincos") || is_effective_function(word));
    }
    return false;
}

void Kernel::find_uniform() {
    // What changes a variable: only a statement of its own, between regions, may.
    std::vector<std::pair<Variable*, Range>> changes;
    allowed_changes(root_, changes);
    for (std::size_t k = body_.begin + 1; k + 1 < body_.end; ++k) {
        Variable* v = seq_.is_identifier(k) ? resolve(k) : nullptr;
        if (!v || k == v->token || !is_changed(k)) continue;
        v->changed = true;
        if (!v->uniform) continue;
        const bool allowed = std::any_of(changes.begin(), changes.end(), [&](const auto& change) {
            return change.first == v && change.second.begin <= k && k < change.second.end;
        });
        if (!allowed) v->uniform = false;
    }
    for (const Variable& v : variables_)
        if (v.reference)
            for (std::size_t k = v.initialiser.begin; k < v.initialiser.end; ++k)
                if (Variable* named = seq_.is_identifier(k) ? resolve(k) : nullptr) {
                    bool element = false;
                    past_operand(k, element);
                    if (!element) named->changed = true, named->uniform = false;
                }
    for (bool again = true; again;) {
        again = false;
        for (Variable& v : variables_) {
            if (!v.uniform) continue;
            bool stays = v.initialiser.empty() || is_uniform(v.initialiser);
            // Those of one statement share its fate.
            for (const Variable& other : variables_)
                if (other.declared_at == v.declared_at && !other.parameter && !v.parameter && !other.uniform)
                    stays = false;
            for (const auto& [changed, statement] : changes)
                if (changed == &v && !is_uniform_change(statement)) stays = false;
            if (stays) continue;
            v.uniform = false;
            again = true;
        }
    }
}

bool Kernel::is_uniform_change(Range statement) {
    std::size_t sign = npos;
    for (std::size_t k = statement.begin; k < statement.end; ++k)
        if (is_assignment(seq_[k].text)) {
            if (sign != npos) return false;
            sign = k;
        }
    return sign != npos && is_uniform({statement.begin, sign}) && is_uniform({sign + 1, statement.end});
}

Variable* Kernel::changed_by(Range statement) {
    if (statement.empty()) return nullptr;
    const bool prefix = seq_.is(statement.begin, "++") || seq_.is(statement.begin, "--");
    const std::size_t name = statement.begin + (prefix ? 1 : 0);
    bool element = false;
    past_operand(name, element);
    return element ? nullptr : resolve(name);
}

std::vector<Range> Kernel::parts_of(Range head) const {
    std::vector<Range> parts{{head.begin, head.end}};
    for (std::size_t k = head.begin; k < head.end; k = seq_.skip_group(k))
        if (seq_.is(k, ";")) {
            parts.back().end = k;
            parts.push_back({k + 1, head.end});
        }
    return parts;
}

void Kernel::allowed_changes(const Statement& node, std::vector<std::pair<Variable*, Range>>& changes) {
    const auto add = [&](Range range) {
        if (Variable* v = changed_by(range)) changes.push_back({v, range});
    };
    if (node.kind == StatementKind::for_ && node.splits()) {
        const std::vector<Range> parts = parts_of(node.head);
        if (parts.size() > 1)
            for (const Range part : split(seq_, parts.back())) add(part);
    }
    for (const Statement& child : node.children) {
        if (!(node.splits() || &node == &root_)) continue;
        if (child.kind == StatementKind::simple && !child.waits)
            add({child.whole.begin, child.whole.end - 1});
        allowed_changes(child, changes);
    }
}

bool Kernel::is_for_all(Range range) {
    const Variable* v = changed_by(range);
    return v && v->uniform && is_uniform_change(range);
}

}  // namespace cu2cpp::lanes
