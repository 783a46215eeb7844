// Whether a kernel may become loops over lanes: every name in it is understood, and the way to each wait is
// the same for all lanes.
#include <algorithm>

#include "cu2cpp/lanes/kernel.h"
#include "cu2cpp/lanes/words.h"

namespace cu2cpp::lanes {

bool Kernel::is_plain_macro(std::string_view name, std::size_t depth) {
    const auto& macros = unit_.out.exports.macro_words;
    const auto macro = macros.find(name);
    if (macro == macros.end()) return true;
    if (depth > 20) return false;
    for (const std::string& word : macro->second) {
        if (word == name) continue;
        if (is_wait(word) || is_beyond(word) || is_control(word) || word == "{" || word == ";" ||
            word == "threadIdx" || word == "break" || word == "continue" || is_assignment(word))
            return false;
        for (const Variable& v : variables_)
            if (v.name == word) return false;
        const Exports& exports = unit_.out.exports;
        if (const auto body = exports.bodies.find(word); body != exports.bodies.end()) {
            if (!body->second.is_calm || !body->second.is_pure) return false;
        } else if (exports.functions.count(word) != 0) {
            return false;
        }
        if (!is_plain_macro(word, depth + 1)) return false;
    }
    return true;
}

std::size_t Kernel::past_words_of_groups(std::size_t k) {
    std::size_t end = k;
    while (end < body_.end && !seq_.is(end, ";") && !seq_.is(end, "{") && !seq_.is(end, "}")) ++end;
    const bool begins =
        seq_.is(k - 1, ";") || seq_.is(k - 1, "{") || seq_.is(k - 1, "}") || seq_.is(k - 1, ")");
    return begins && (names_the_block(seq_, {k, end}) || is_group_barrier({k, end + 1})) ? end : k;
}

bool Kernel::is_understood() {
    static constexpr std::string_view members =
        "size num_threads thread_rank thread_index group_index group_dim";
    for (std::size_t k = body_.begin + 1; k + 1 < body_.end; ++k) {
        if (const std::size_t end = past_words_of_groups(k); end > k) {
            k = end;
            continue;
        }
        const Token& token = seq_[k];
        if (const Variable* v = token.is_identifier() ? resolve(k) : nullptr; v && v->group) {
            if (!seq_.is(k + 1, ".") || !is_among(members, seq_[k + 2].text) || !seq_.is(k + 3, "("))
                return give_up("a use of the group `" + v->name + "`");
            k += 3;
            continue;
        }
        if (token.is("<<<") || token.is("#")) return give_up("a launch");
        if (token.is("[") && !follows_operand(seq_, k) && !seq_.is(k - 1, "[") && !seq_.is(k + 1, "["))
            return give_up("a lambda");
        if (!token.is_identifier()) continue;
        if (is_beyond(token.text) && !is_member(seq_, k)) return give_up("`" + std::string(token.text) + "`");
        if (!is_plain_macro(token.text)) return give_up("the macro `" + std::string(token.text) + "`");
        if ((token.is("blockIdx") || token.is("blockDim") || token.is("gridDim") || token.is("threadIdx")) &&
            !is_member(seq_, k) && resolve(k))
            return give_up("a variable with the name of a built-in one");
        if (!is_known_call(k)) return give_up("a call of `" + std::string(token.text) + "`");
    }
    return true;
}

Exports::Body Kernel::call_of(std::string_view word) const {
    const Exports& exports = unit_.out.exports;
    if (is_cast(word) || std::find(types_.begin(), types_.end(), word) != types_.end()) return {true, true};
    if (const auto body = exports.bodies.find(word); body != exports.bodies.end()) return body->second;
    if (exports.functions.count(word) != 0) return {false, false};
    if (exports.classes.count(word) != 0) return {true, false};     // no member waits: hidden_waits
    if (exports.macro_words.count(word) != 0) return {true, true};  // is_plain_macro()
    const bool plain = is_plain_function(word);
    return {plain || is_effective_function(word), plain};
}

bool Kernel::is_known_call(std::size_t k) {
    if (call_at(seq_, k, body_.end) == npos) return true;
    const std::string_view word = seq_[k].text;
    if (is_control(word) || is_cast(word) || is_wait(word) || word == "constexpr" ||
        takes_attribute_arguments(word))
        return true;
    if (is_member(seq_, k)) return false;
    if (const Variable* v = resolve(k)) return v->token == k || seq_.is(k + 1, "<");  // `float x(0);`
    return call_of(word).is_calm;
}

bool Kernel::may_split(const Statement& node) {
    if (&node != &root_ && !node.splits()) return true;
    switch (node.kind) {
        case StatementKind::conditional:
        case StatementKind::while_:
        case StatementKind::do_:
            if (!is_uniform(node.head)) return give_up("a barrier where not all threads may come");
            break;
        case StatementKind::for_: {
            const std::vector<Range> parts = parts_of(node.head);
            if (parts.size() != 3 || !is_uniform(parts[1]))
                return give_up("a barrier in a loop that threads may leave one by one");
            if (!parts[0].empty()) {
                bool uniform = false;
                for (const Variable& v : variables_)
                    if (v.declared_at == parts[0].begin) uniform = v.uniform;
                if (!parse_declaration(seq_, parts[0]))
                    uniform = is_uniform_change(parts[0]) && is_for_all(parts[0]);
                if (!uniform) return give_up("a barrier in a loop that threads may leave one by one");
            }
            if (!parts[2].empty())
                for (const Range part : split(seq_, parts[2]))
                    if (!is_for_all(part))
                        return give_up("a barrier in a loop that threads may leave one by one");
            break;
        }
        case StatementKind::other:
            return give_up("a barrier in a switch");
        case StatementKind::declaration:
            if (node.waits && !is_shuffle(node)) return give_up("a wait inside an expression");
            break;
        case StatementKind::simple:
            if (node.waits && !is_barrier_statement(node) && !is_shuffle(node))
                return give_up("a wait inside an expression");
            break;
        case StatementKind::fixed:
        case StatementKind::exit:
            if (node.waits) return give_up("a wait inside an expression");
            break;
        default:
            break;
    }
    for (const Statement& child : node.children)
        if (!may_split(child)) return false;
    return true;
}

bool Kernel::is_group_barrier(Range statement) {
    std::size_t k = statement.begin;
    const auto is_block = [&](std::size_t at) {
        const Variable* v = seq_.is_identifier(at) ? resolve(at) : nullptr;
        return v && v->group;
    };
    if (is_block(k) && seq_.is(k + 1, ".") && seq_.is(k + 2, "sync") && seq_.is(k + 3, "(") &&
        seq_.is(k + 4, ")"))
        return k + 6 == statement.end;
    while (seq_.is_identifier(k) && seq_.is(k + 1, "::")) k += 2;
    return seq_.is(k, "sync") && seq_.is(k + 1, "(") && is_block(k + 2) && seq_.is(k + 3, ")") &&
           k + 5 == statement.end;
}

bool Kernel::is_barrier_statement(const Statement& node) {
    if (is_group_barrier(node.whole)) return true;
    const std::size_t i = node.whole.begin;
    return seq_.is_identifier(i) && is_barrier(seq_[i].text) && !seq_.is(i, "sync") && seq_.is(i + 1, "(") &&
           seq_.skip_group(i + 1) == node.whole.end - 1 && is_uniform({i + 2, seq_.match(i + 1)});
}

Kernel::Shuffle Kernel::shuffle_of(const Statement& node) {
    Shuffle s;
    for (std::size_t k = node.whole.begin; k < node.whole.end; ++k) {
        if (!seq_.is_identifier(k)) continue;
        if (is_barrier(seq_[k].text)) return {};
        if (!contains(shuffles, seq_[k].text)) continue;
        if (s.name != npos || !seq_.is(k + 1, "(") || seq_.match(k + 1) == npos) return {};
        s.name = k;
        s.open = k + 1;
        s.close = seq_.match(k + 1);
    }
    return s;
}

bool Kernel::is_shuffle(const Statement& node) {
    const Shuffle s = shuffle_of(node);
    if (s.name == npos) return false;
    const auto arguments = split(seq_, {s.open + 1, s.close});
    if (arguments.size() != 3 && arguments.size() != 4) return false;
    const std::size_t value = arguments[1].begin;
    Variable* v = arguments[1].end - value == 1 && seq_.is_identifier(value) ? resolve(value) : nullptr;
    if (!v || !v->between || v->uniform || v->fixed || v->array || v->reference || !v->known_type)
        return false;
    v->shuffled = true;
    for (std::size_t a = 0; a < arguments.size(); ++a)
        if (a != 1 && !is_uniform(arguments[a])) return false;
    // What stands around the call is written again: nothing in it may be translated, or be left out.
    unsigned changes = 0;
    for (std::size_t k = node.whole.begin; k < node.whole.end; ++k) {
        if (k >= s.name && k <= s.close) continue;
        const std::string_view word = seq_[k].text;
        if (word == "<<" || word == ">>" || word == "<<=" || word == ">>=" || word == "?" || word == "&&" ||
            word == "||" || word == "std" || word == ">")
            return false;
        changes += static_cast<unsigned>(is_assignment(word));
    }
    if (node.kind == StatementKind::declaration) {
        const auto declaration = parse_declaration(seq_, {node.whole.begin, node.whole.end - 1});
        if (!declaration || declaration->declarators.size() != 1) return false;
    }
    return changes == 1 || (node.kind == StatementKind::declaration && changes == 0);
}

}  // namespace cu2cpp::lanes
