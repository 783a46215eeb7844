// Loops over lanes: a kernel in which all lanes of a block come to each barrier together is run by one of
// them for all. include/simt/lanes.h says what becomes of it.
//
// What has to hold of such a kernel is read off its tokens, and whatever is not understood leaves the kernel
// as it is: each lane then has a stack of its own. Barriers, and shuffles and waits of warps, stand only
// where the way to them is the same for all lanes: under conditions made of what no lane changes (*uniform*
// names). All else lies between them, in *regions*, whose calls do not wait: neither for each other, nor in a
// loop for what another lane does.
#include <algorithm>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "cu2cpp/lane_words.h"
#include "cu2cpp/passes.h"
#include "cu2cpp/statements.h"

namespace cu2cpp {
namespace {

/// A variable of the kernel's.
struct Variable {
    std::string name;
    std::size_t token = npos;
    Range scope;           ///< where it can be named
    bool between = false;  ///< declared between regions, or in one but not inside a statement of it
    bool uniform = false;  ///< one for all lanes
    bool fixed = false;    ///< shared memory, or a constant
    bool group = false;    ///< the block's, of cooperative groups
    bool parameter = false;
    bool reference = false;
    bool array = false;
    bool known_type = true;
    Range initialiser;
    std::string type;                ///< of what it holds; of a reference, of what that names
    std::size_t declared_at = npos;  ///< first token of its statement
    bool changed = false;            ///< after its declaration
    bool shuffled = false;
    bool kept = false;  ///< lanes have a LaneVariable of it, or make it anew: from its region's end on
};

class Kernel {
  public:
    Kernel(Unit& unit, const Sequence& seq, const std::vector<Directive>& directives, Range head)
        : unit_(unit), seq_(seq), head_(head), body_{head.end, seq.skip_group(head.end)} {
        for (const Directive& d : directives)
            if (d.at > body_.begin && d.at < body_.end && d.name() != "pragma")
                flaw_ = "a directive in its body";
    }

    void translate() {
        bool waits = false;
        for (std::size_t k = body_.begin; k < body_.end; ++k)
            waits |= seq_.is_identifier(k) && is_wait(seq_[k].text);
        if (!waits) return;
        if (is_possible()) write();
        const std::size_t name = function_name(seq_, head_);
        const Token& at = seq_[name != npos ? name : head_.begin];
        unit_.out.loops.push_back(
            {unit_.path, unit_.lines.line(at.begin), unit_.lines.column(at.begin),
             std::string(at.text) + (flaw_.empty() ? " is run by loops over its threads"
                                                   : " is run by a stack per thread: " + flaw_)});
    }

  private:
    // ---- declarations ----

    void template_parameters() {
        const std::size_t end = past_template_headers(seq_, head_);
        for (std::size_t k = head_.begin; k + 1 < end; ++k) {
            if ((seq_.is(k, "typename") || seq_.is(k, "class")) && seq_.is_identifier(k + 1))
                types_.emplace_back(seq_[k + 1].text);
        }
    }

    void parameters() {
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

    void declare(const Statement& node, Range scope, bool between) {
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

    void inner(std::size_t token, Range scope) {
        Variable v;
        v.name = std::string(seq_[token].text);
        v.token = token;
        v.scope = scope;
        variables_.push_back(v);
    }

    void declare_names(std::size_t begin, std::size_t end, Range scope, bool between, bool fixed) {
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

    /// What the name at token `k` stands for; nullptr: none of the kernel's variables.
    [[nodiscard]] Variable* resolve(std::size_t k) {
        if (!seq_.is_identifier(k) || is_member(seq_, k) || (k > 0 && seq_.is(k - 1, "::"))) return nullptr;
        Variable* found = nullptr;
        for (Variable& v : variables_)
            if (v.token <= k && k < v.scope.end && (v.parameter || v.token >= v.scope.begin) &&
                seq_.is(k, v.name) && (v.parameter || k >= v.scope.begin))
                if (!found || v.scope.begin >= found->scope.begin) found = &v;
        return found;
    }

    // ---- what has to hold ----

    bool is_possible() {
        if (!flaw_.empty()) return false;
        for (std::size_t k = body_.begin; k < body_.end; ++k)
            if (seq_[k].conditional) return give_up("it stands under an `#if`");
        if (may_poll(seq_, body_)) return give_up("a loop that may wait for what another thread does");
        if (unit_.out.exports.hidden_waits)
            return give_up("a member function or an operator of the program waits");
        root_ = read_body(seq_, body_.begin, flaw_);
        if (!flaw_.empty()) return false;
        template_parameters();
        parameters();
        declare(root_, body_, true);
        if (!flaw_.empty() || !is_understood()) return false;
        find_uniform();
        return may_split(root_) && plan(root_);
    }

    bool give_up(const std::string& why) {
        if (flaw_.empty()) flaw_ = why;
        return false;
    }

    /// No macro of the kernel's hides a statement, a wait, or one of its variables.
    bool is_plain_macro(std::string_view name, std::size_t depth = 0) {
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

    /// What is said of the block as a group: behind the last token of that at `k`; `k`: nothing is.
    std::size_t past_words_of_groups(std::size_t k) {
        std::size_t end = k;
        while (end < body_.end && !seq_.is(end, ";") && !seq_.is(end, "{") && !seq_.is(end, "}")) ++end;
        const bool begins =
            seq_.is(k - 1, ";") || seq_.is(k - 1, "{") || seq_.is(k - 1, "}") || seq_.is(k - 1, ")");
        return begins && (names_the_block(seq_, {k, end}) || is_group_barrier({k, end + 1})) ? end : k;
    }

    bool is_understood() {
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
            if (is_beyond(token.text) && !is_member(seq_, k))
                return give_up("`" + std::string(token.text) + "`");
            if (!is_plain_macro(token.text)) return give_up("the macro `" + std::string(token.text) + "`");
            if ((token.is("blockIdx") || token.is("blockDim") || token.is("gridDim") ||
                 token.is("threadIdx")) &&
                !is_member(seq_, k) && resolve(k))
                return give_up("a variable with the name of a built-in one");
            if (!is_known_call(k)) return give_up("a call of `" + std::string(token.text) + "`");
        }
        return true;
    }

    /// What a call of a name that is no variable's may do.
    [[nodiscard]] Exports::Body call_of(std::string_view word) const {
        const Exports& exports = unit_.out.exports;
        if (is_cast(word) || std::find(types_.begin(), types_.end(), word) != types_.end())
            return {true, true};
        if (const auto body = exports.bodies.find(word); body != exports.bodies.end()) return body->second;
        if (exports.functions.count(word) != 0) return {false, false};
        if (exports.classes.count(word) != 0) return {true, false};     // no member waits: hidden_waits
        if (exports.macro_words.count(word) != 0) return {true, true};  // is_plain_macro()
        const bool plain = is_plain_function(word);
        return {plain || is_effective_function(word), plain};
    }

    bool is_known_call(std::size_t k) {
        if (call_at(seq_, k, body_.end) == npos) return true;
        const std::string_view word = seq_[k].text;
        if (is_control(word) || is_cast(word) || is_wait(word) || word == "constexpr" ||
            takes_attribute_arguments(word))
            return true;
        if (is_member(seq_, k)) return false;
        if (const Variable* v = resolve(k)) return v->token == k || seq_.is(k + 1, "<");  // `float x(0);`
        return call_of(word).is_calm;
    }

    // ---- uniform names ----

    /// True when the value of `range` is the same for all lanes.
    bool is_uniform(Range range) {
        for (std::size_t k = range.begin; k < range.end; ++k) {
            const Token& token = seq_[k];
            if (is_assignment(token.text)) return false;
            if (!token.is_identifier() || is_member(seq_, k)) continue;
            if (token.is("threadIdx")) return false;
            if (const Variable* v = resolve(k)) {
                if (!v->uniform && !v->fixed) return false;
                if (seq_.is(k + 1, "(")) return false;
                if (v->group && (seq_.is(k + 2, "thread_rank") || seq_.is(k + 2, "thread_index")))
                    return false;
                continue;
            }
            if (call_at(seq_, k, range.end) != npos && !call_of(token.text).is_pure) return false;
        }
        return true;
    }

    /// Behind the name at `k`, and the members and elements that follow it. @param element an element follows
    std::size_t past_operand(std::size_t k, bool& element) const {
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

    /// The name at `k` may be changed there, or its address taken.
    bool is_changed(std::size_t k) {
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
                     (is_plain_function(word) && word.substr(0, 6) != "sincos") ||
                     is_effective_function(word));
        }
        return false;
    }

    void find_uniform() {
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
                    if (other.declared_at == v.declared_at && !other.parameter && !v.parameter &&
                        !other.uniform)
                        stays = false;
                for (const auto& [changed, statement] : changes)
                    if (changed == &v && !is_uniform_change(statement)) stays = false;
                if (stays) continue;
                v.uniform = false;
                again = true;
            }
        }
    }

    /// `d /= 2`, `++d`, `d += n`: apart from that change, uniform.
    bool is_uniform_change(Range statement) {
        std::size_t sign = npos;
        for (std::size_t k = statement.begin; k < statement.end; ++k)
            if (is_assignment(seq_[k].text)) {
                if (sign != npos) return false;
                sign = k;
            }
        return sign != npos && is_uniform({statement.begin, sign}) && is_uniform({sign + 1, statement.end});
    }

    /// The variable that `d /= 2` or `++d` changes; nullptr: an element of one, or none of the kernel's.
    Variable* changed_by(Range statement) {
        if (statement.empty()) return nullptr;
        const bool prefix = seq_.is(statement.begin, "++") || seq_.is(statement.begin, "--");
        const std::size_t name = statement.begin + (prefix ? 1 : 0);
        bool element = false;
        past_operand(name, element);
        return element ? nullptr : resolve(name);
    }

    /// The three parts of a loop's head; of a loop over a range one.
    [[nodiscard]] std::vector<Range> parts_of(Range head) const {
        std::vector<Range> parts{{head.begin, head.end}};
        for (std::size_t k = head.begin; k < head.end; k = seq_.skip_group(k))
            if (seq_.is(k, ";")) {
                parts.back().end = k;
                parts.push_back({k + 1, head.end});
            }
        return parts;
    }

    void allowed_changes(const Statement& node, std::vector<std::pair<Variable*, Range>>& changes) {
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

    // ---- regions ----

    /// The way to each wait, and out of each loop around one, is the same for all lanes.
    bool may_split(const Statement& node) {
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

    /// A statement that changes a uniform variable: executed once.
    bool is_for_all(Range range) {
        const Variable* v = changed_by(range);
        return v && v->uniform && is_uniform_change(range);
    }

    /// `cg::sync(block);` or `block.sync();`, of the whole block.
    bool is_group_barrier(Range statement) {
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

    bool is_barrier_statement(const Statement& node) {
        if (is_group_barrier(node.whole)) return true;
        const std::size_t i = node.whole.begin;
        return seq_.is_identifier(i) && is_barrier(seq_[i].text) && !seq_.is(i, "sync") &&
               seq_.is(i + 1, "(") && seq_.skip_group(i + 1) == node.whole.end - 1 &&
               is_uniform({i + 2, seq_.match(i + 1)});
    }

    /// `x += __shfl_down_sync(mask, x, d);`: one call, of a variable, which the statement cannot come past.
    struct Shuffle {
        std::size_t name = npos, open = npos, close = npos;
    };
    Shuffle shuffle_of(const Statement& node) {
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
    bool is_shuffle(const Statement& node) {
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
            if (word == "<<" || word == ">>" || word == "<<=" || word == ">>=" || word == "?" ||
                word == "&&" || word == "||" || word == "std" || word == ">")
                return false;
            changes += static_cast<unsigned>(is_assignment(word));
        }
        if (node.kind == StatementKind::declaration) {
            const auto declaration = parse_declaration(seq_, {node.whole.begin, node.whole.end - 1});
            if (!declaration || declaration->declarators.size() != 1) return false;
        }
        return changes == 1 || (node.kind == StatementKind::declaration && changes == 0);
    }

    // ---- writing ----

    /// What is between two waits.
    struct Region {
        std::vector<const Statement*> nodes;
        std::vector<Range> text;   ///< with what stands around a shuffle
        std::size_t open = npos;   ///< offset where the loop begins
        std::string lead;          ///< what is to be done first
        std::size_t close = npos;  ///< offset of its end
        std::size_t end = npos;    ///< token behind it
    };

    bool is_between(const Statement& node) {
        if (node.splits() || node.kind == StatementKind::fixed) return true;
        if (node.kind == StatementKind::simple) return is_for_all({node.whole.begin, node.whole.end - 1});
        if (node.kind != StatementKind::declaration) return false;
        for (const Variable& v : variables_)
            if (v.declared_at == node.whole.begin && !v.uniform) return false;
        return true;
    }

    /// Finds the regions, and what lanes keep from one to another; false where that cannot be kept.
    bool plan(const Statement& node) {
        visit(node, false);
        return flaw_.empty();
    }

    void write() {
        const bool exits = root_.returns;
        std::string start = " SIMT_LANES";
        if (exits) start += " SIMT_LANES_MAY_LEAVE";
        // Parameters that a lane changes.
        std::string first;
        for (Variable& v : variables_) {
            if (!v.parameter || v.uniform) continue;
            start += " SIMT_LANE_VARIABLE(" + v.name + ", " + v.type + ")";
            first += " simt_own_" + v.name + ".copy(simt_lane, " + v.name + ");";
            v.kept = true;
        }
        if (!first.empty()) start += " SIMT_EACH_LANE_ALONE" + first + " }";
        unit_.insert(seq_[body_.begin].end, start);
        for (Variable& v : variables_)
            if (!v.parameter) v.kept = false;
        visit(root_, true);
        // Behind what the regions' beginnings have put in the same places.
        for (auto& [offset, text] : late_) unit_.insert(offset, text);
    }

    void visit(const Statement& node, bool writes) {
        Region region;
        const auto flush = [&] {
            if (region.open != npos) finish(region, writes);
            region = {};
        };
        for (const Statement& child : node.children) {
            if (!flaw_.empty()) return;
            if (!is_between(child)) {
                if (region.open == npos) {
                    region.open = seq_[child.whole.begin].begin;
                }
                region.nodes.push_back(&child);
                region.text.push_back(child.whole);
                region.close = seq_[child.whole.end - 1].end;
                region.end = child.whole.end;
                continue;
            }
            flush();
            if (child.kind == StatementKind::declaration || child.kind == StatementKind::simple) {
                if (is_barrier_statement(child) && writes) {
                    const std::size_t i = child.whole.begin;
                    if (is_group_barrier(child.whole)) {
                        unit_.blank(seq_, {i, child.whole.end - 1});
                        unit_.insert(seq_[i].begin, "simt_lanes.synchronise()");
                        continue;
                    }
                    unit_.replace(seq_[i], seq_.is(i, "__syncwarp") ? "simt_lanes.synchronise_warp"
                                                                    : "simt_lanes.synchronise");
                } else if (child.waits && !is_barrier_statement(child)) {
                    shuffle(child, region, writes);
                }
                continue;
            }
            if (child.kind == StatementKind::compound) {
                visit(child, writes);
            } else if (child.kind != StatementKind::fixed && child.kind != StatementKind::leave &&
                       child.kind != StatementKind::exit) {
                for (const Statement& part : child.children) {
                    if (part.kind == StatementKind::compound && part.splits()) {
                        visit(part, writes);
                        continue;
                    }
                    Statement braces;
                    braces.kind = StatementKind::compound;
                    braces.whole = part.whole;
                    braces.children.push_back(part);
                    if (writes) unit_.insert(seq_[part.whole.begin].begin, "{ ");
                    visit(braces, writes);
                    if (writes) unit_.insert(seq_[part.whole.end - 1].end, " }");
                }
            }
        }
        flush();
    }

    /// The declaration by which a loop names what its lane has kept, or makes it anew.
    std::string renewal(const Variable& v) {
        if (is_derived(v)) return " " + v.type + v.name + " = " + spelling(seq_, v.initialiser) + ";";
        const std::string own = "simt_own_" + v.name + "[simt_lane]";
        return std::string(v.parameter ? " SIMT_LANE_PARAMETER(" : " SIMT_LANE_NAME(") + v.name + ", " +
               (v.reference ? "*" : "") + own + ")";
    }

    /// The variables kept so far that `text` names, and what these are made of, in the order of their
    /// declarations.
    std::vector<Variable*> named_in(const std::vector<Range>& text) {
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

    void finish(const Region& region, bool writes) {
        std::string before, after;
        std::vector<Variable*> named = named_in(region.text);
        std::vector<Variable*> own;
        for (const Range range : region.text)
            for (Variable& v : variables_) {
                if (v.parameter || !v.between || v.fixed || v.declared_at != range.begin) continue;
                const bool derived = is_derived(v);
                if (!derived && address_escapes(v)) {
                    give_up("the address of `" + v.name + "`, which may outlive a barrier");
                    return;
                }
                if (!derived && !named_later(v, region.end)) continue;
                const auto hidden = [&](const Variable* other) { return other->name == v.name; };
                if (std::any_of(named.begin(), named.end(), hidden)) {
                    give_up("two variables of one name, `" + v.name + "`, between two barriers");
                    return;
                }
                own.push_back(&v);
                v.kept = true;
                if (derived) {  // maybe for later ones alone
                    after += " static_cast<void>(" + v.name + ");";
                    continue;
                }
                if (!v.known_type) {
                    give_up("a type that is not written out, of `" + v.name + "`, which outlives a barrier");
                    return;
                }
                before += "SIMT_LANE_VARIABLE(" + v.name + ", " + v.type + (v.reference ? "*" : "") + ") ";
                after += v.reference ? " { auto* simt_place = &" + v.name + "; simt_own_" + v.name +
                                           ".keep(simt_lane, simt_place); }"
                                     : " simt_own_" + v.name + ".keep(simt_lane, " + v.name + ");";
            }
        if (!writes) return;
        bool returns = false;
        for (const Statement* node : region.nodes) returns |= node->returns;
        before += loop_of(region);
        if (root_.returns) before += " if (simt_lanes.is_gone(simt_lane)) continue;";
        for (const Variable* v : named)
            if (std::find(own.begin(), own.end(), v) == own.end()) before += renewal(*v);
        before += " { " + region.lead;
        after += " }";
        if (returns) {
            const std::string label = "simt_next_" + std::to_string(++labels_);
            for (const Range range : region.text)
                for (std::size_t k = range.begin; k < range.end; ++k)
                    if (seq_.is(k, "return")) {
                        unit_.replace(seq_[k], "{ simt_lanes.leave(simt_lane); goto " + label + "; }");
                        unit_.blank(seq_[k + 1]);
                    }
            after += " " + label + ":;";
        }
        after += " }";
        if (returns) after += " if (simt_lanes.all_gone()) return;";
        unit_.insert(region.open, before);
        unit_.insert(region.close, after);
    }

    /// What begins the region's loop. In one whose statements can fail only behind an `if`, that says which
    /// lane runs.
    std::string loop_of(const Region& region) {
        if (std::all_of(region.text.begin(), region.text.end(), [&](Range text) { return is_alone(text); }))
            return "SIMT_EACH_LANE_ALONE";
        const auto may_fail_late = [&](const Statement* node) {
            return is_alone(node->whole) ||
                   (node->kind == StatementKind::conditional && node->children.size() == 1 &&
                    seq_.is(node->whole.begin + 1, "(") && is_alone(node->head));
        };
        if (!region.lead.empty() || !std::all_of(region.nodes.begin(), region.nodes.end(), may_fail_late))
            return "SIMT_EACH_LANE";
        for (const Statement* node : region.nodes) {
            if (is_alone(node->whole)) continue;
            late_.push_back({seq_[node->head.begin].begin, "("});
            late_.push_back({seq_[node->head.end - 1].end, ") && SIMT_THIS_LANE"});
        }
        return "SIMT_EACH_LANE_QUIET";
    }

    /// It cannot fail: it touches lanes' own variables, and calls nothing but mathematics.
    bool is_alone(Range range) {
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

    /// Made of the lane's place and of what never changes: a region that names it makes it anew.
    bool is_derived(const Variable& v, std::size_t depth = 0) {
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

    /// Another variable between regions has the name: where that is in force, text means another thing.
    [[nodiscard]] bool is_hidden(const Variable& v) const {
        return std::any_of(variables_.begin(), variables_.end(), [&](const Variable& other) {
            return &other != &v && other.between && other.name == v.name;
        });
    }

    bool named_later(const Variable& v, std::size_t from) {
        for (std::size_t k = from; k < v.scope.end; ++k)
            if (seq_.is_identifier(k) && seq_.is(k, v.name) && resolve(k) == &v) return true;
        return false;
    }

    /// Somebody may keep a pointer to the place that the variable has in the loop that declares it.
    bool address_escapes(const Variable& v) {
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

    void shuffle(const Statement& node, Region& region, bool writes) {
        const Shuffle s = shuffle_of(node);
        const auto arguments = split(seq_, {s.open + 1, s.close});
        const Range front{node.whole.begin, s.name}, back{s.close + 1, node.whole.end - 1};
        const std::size_t value = arguments[1].begin;
        const Variable* v = resolve(value);
        const std::string own = "simt_shuffle_" + std::to_string(s.name);
        region.open = region.close = seq_[node.whole.end - 1].end;
        region.end = node.whole.end;
        region.nodes.push_back(&node);
        region.text = {front, back};
        region.lead = spelling(seq_, front) + " " + own + "[simt_lane]" + spelling(seq_, back) + ";";
        if (!writes) return;
        const auto member = std::find(shuffles.begin(), shuffles.end(), seq_[s.name].text) - shuffles.begin();
        unit_.insert(seq_[node.whole.begin].begin,
                     "SIMT_LANE_SHUFFLE(" + own + ", " + v->name + ", " + v->type + ") " + own + "." +
                         std::string(shuffle_members[static_cast<std::size_t>(member)]));
        unit_.blank(seq_, front);
        unit_.blank(seq_[s.name]);
        unit_.blank(seq_, {value, value + 2});  // and its comma
        unit_.blank(seq_, back);
    }

    Unit& unit_;
    const Sequence& seq_;
    Range head_, body_;
    Statement root_;
    std::string flaw_;
    std::deque<Variable> variables_;
    std::vector<std::string_view> types_;
    std::size_t labels_ = 0;
    std::vector<std::pair<std::size_t, std::string>> late_;
};

}  // namespace

void note_macro(Unit& unit, const Directive& d) {
    if (d.tokens.size() < 2 || !(unit.options.loops_over_lanes || unit.options.dropped_errors)) return;
    std::size_t body = 2;
    if (body < d.tokens.size() && d.tokens[2].is("(") && d.tokens[1].end == d.tokens[2].begin)
        while (body < d.tokens.size() && !d.tokens[body].is(")")) ++body;
    auto& words = unit.out.exports.macro_words[std::string(d.tokens[1].text)];
    for (std::size_t k = body; k < d.tokens.size(); ++k) {
        const Token& token = d.tokens[k];
        if (token.is_identifier() || token.is("{") || token.is(";") || is_assignment(token.text))
            words.emplace_back(token.text);
    }
}

void note_class(Unit& unit, const Sequence& seq, Range head) {
    if (!unit.options.loops_over_lanes) return;
    for (std::size_t k = past_template_headers(seq, head); k + 1 < head.end; ++k)
        if ((seq.is(k, "struct") || seq.is(k, "class")) && seq.is_identifier(k + 1))
            unit.out.exports.classes.emplace(seq[k + 1].text);
}

void note_body(Unit& unit, const Sequence& seq, Range head, bool member) {
    if (!unit.options.loops_over_lanes || seq.match(head.end) == npos) return;
    if (!runs_on_device(seq, head) && !may_run_on_device(seq, head)) return;
    const Range body{head.end, seq.skip_group(head.end)};
    const std::size_t name = function_name(seq, head);
    Exports& exports = unit.out.exports;
    bool calm = !may_poll(seq, body), pure = true;
    for (std::size_t k = body.begin; k < body.end; ++k) {
        const Token& token = seq[k];
        if (token.is("threadIdx")) pure = false;
        if (!token.is_identifier()) continue;
        if (is_wait(token.text) || is_beyond(token.text)) {
            if (is_among("new delete throw try catch operator goto __trap __func__ __CUDA_ARCH__",
                         token.text))
                continue;  // in no kernel, for the sake of how that is written, but no wait
            calm = false;
            if (member || name == npos || seq.is(name, "operator")) exports.hidden_waits = true;
        }
        const std::size_t open = call_at(seq, k, body.end);
        if (open == npos || is_control(token.text) || is_cast(token.text)) continue;
        if (const auto known = exports.bodies.find(token.text); known != exports.bodies.end()) {
            calm = calm && known->second.is_calm;
            pure = pure && known->second.is_pure;
        } else if (is_effective_function(token.text)) {
            pure = false;
        } else if (!is_plain_function(token.text)) {
            calm = pure = false;
        }
    }
    for (std::size_t k = body.begin; k < body.end; ++k) {
        const auto macro = exports.macro_words.find(seq[k].text);
        if (!seq[k].is_identifier() || macro == exports.macro_words.end()) continue;
        for (const std::string& word : macro->second)
            if (is_wait(word) || is_beyond(word) || word == "threadIdx" ||
                exports.macro_words.count(word) != 0)
                calm = pure = false;
    }
    if (name == npos || !seq.is_identifier(name) || member) return;
    exports.note_body(seq[name].text, {calm, calm && pure});
}

void loop_over_lanes(Unit& unit, const Sequence& seq, const std::vector<Directive>& directives, Range head) {
    if (!unit.options.loops_over_lanes || seq.match(head.end) == npos) return;
    if (!has_specifier(seq, head, "__global__")) return;
    Kernel(unit, seq, directives, head).translate();
}

}  // namespace cu2cpp
