#include "cu2cpp/lanes/statements.h"

#include <algorithm>

#include "cu2cpp/lanes/words.h"

namespace cu2cpp::lanes {
namespace {

class Reader {
  public:
    Reader(const Sequence& seq, std::string& flaw) : seq_(seq), flaw_(flaw) {}

    Statement compound(std::size_t open) {
        Statement node;
        node.kind = StatementKind::compound;
        node.whole = {open, seq_.skip_group(open)};
        const std::size_t end = node.whole.end - 1;
        for (std::size_t i = open + 1; i < end && flaw_.empty();) {
            node.children.push_back(statement(i, end));
            add(node, node.children.back());
            i = node.children.back().whole.end;
        }
        return node;
    }

  private:
    static void add(Statement& node, const Statement& child) {
        node.waits |= child.waits;
        node.leaves |= child.leaves;
        node.returns |= child.returns;
    }

    Statement fail(std::size_t i, std::size_t end, const std::string& why) {
        flaw_ = why;
        Statement node;
        node.whole = {i, end};
        return node;
    }

    /// Behind `(...)` at `i`, which becomes the node's head.
    std::size_t head(Statement& node, std::size_t i, std::size_t end) {
        if (!seq_.is(i, "(") || seq_.match(i) == npos || seq_.match(i) >= end) {
            flaw_ = "a statement that cannot be read";
            return end;
        }
        node.head = {i + 1, seq_.match(i)};
        return seq_.skip_group(i);
    }

    Statement statement(std::size_t i, std::size_t end) {
        if (++depth_ > 200) return fail(i, end, "statements nested too deep");
        Statement node = any_statement(i, end);
        --depth_;
        return node;
    }

    Statement any_statement(std::size_t i, std::size_t end) {
        const std::string_view word = seq_[i].text;
        Statement node;
        node.whole.begin = i;
        if (word == "{") return compound(i);
        if (word == "if") {
            node.kind = StatementKind::conditional;
            if (seq_.is(i + 1, "constexpr")) ++i;
            std::size_t k = head(node, i + 1, end);
            if (k >= end) return fail(i, end, "a statement that cannot be read");
            body(node, k, end);
            k = node.whole.end;
            if (seq_.is(k, "else") && k + 1 < end) body(node, k + 1, end);
            if (waits_in(node.head)) node.waits = true;
            return node;
        }
        if (word == "for" || word == "while" || word == "switch") {
            node.kind = word == "for"     ? StatementKind::for_
                        : word == "while" ? StatementKind::while_
                                          : StatementKind::other;
            const std::size_t k = head(node, i + 1, end);
            if (k >= end) return fail(i, end, "a statement that cannot be read");
            body(node, k, end);
            // A `continue` in a switch is the loop's around it.
            if (word == "switch" && node.leaves) {
                bool continues = false;
                for (std::size_t t = k; t < node.whole.end; ++t) continues |= seq_.is(t, "continue");
                if (!continues) node.leaves = false;
            } else {
                node.leaves = false;
            }
            if (waits_in(node.head)) node.waits = true;
            return node;
        }
        if (word == "do") {
            node.kind = StatementKind::do_;
            if (i + 1 >= end) return fail(i, end, "a statement that cannot be read");
            body(node, i + 1, end);
            std::size_t k = node.whole.end;
            if (!seq_.is(k, "while")) return fail(i, end, "a statement that cannot be read");
            k = head(node, k + 1, end);
            if (!seq_.is(k, ";")) return fail(i, end, "a statement that cannot be read");
            node.whole.end = k + 1;
            node.leaves = false;
            return node;
        }
        if (word == "case" || word == "default" || (seq_.is_identifier(i) && seq_.is(i + 1, ":"))) {
            // In a switch, of which no part is looked at; elsewhere a label.
            std::size_t k = i;
            while (k < end && !seq_.is(k, ":")) ++k;
            if (word != "case" && word != "default") return fail(i, end, "a label");
            node.kind = StatementKind::other;
            node.whole.end = std::min(k + 1, end);
            return node;
        }
        std::size_t k = i;
        while (k < end && !seq_.is(k, ";")) k = std::max(k + 1, std::min(seq_.skip_group(k), end));
        if (k >= end) return fail(i, end, "a statement that cannot be read");
        node.whole.end = k + 1;
        if (word == "break" || word == "continue") {
            node.kind = StatementKind::leave;
            node.leaves = true;
        } else if (word == "return") {
            if (k != i + 1) return fail(i, end, "a kernel that returns a value");
            node.kind = StatementKind::exit;
            node.returns = true;
        } else if (is_fixed(i, k)) {
            node.kind = StatementKind::fixed;
        } else if (!is_control(word) && !is_call(i, k) && parse_declaration(seq_, {i, k})) {
            node.kind = StatementKind::declaration;
        } else if (word == "auto" || word == "const" ||
                   (seq_.is_identifier(i) && seq_.is_identifier(i + 1))) {
            return fail(i, end, "a declaration that cannot be read");  // `auto [a, b] = f();`
        }
        node.waits = waits_in({i, k});
        return node;
    }

    void body(Statement& node, std::size_t k, std::size_t end) {
        node.children.push_back(statement(k, end));
        add(node, node.children.back());
        node.whole.end = node.children.back().whole.end;
    }

    [[nodiscard]] bool is_fixed(std::size_t i, std::size_t end) const {
        if (i == end) return true;
        for (const std::string_view word : {"typedef", "using", "static_assert", "struct", "enum"})
            if (seq_.is(i, word)) return true;
        for (std::size_t k = i; k < end && seq_.is_identifier(k); ++k)
            if (seq_.is(k, "__shared__") || seq_.is(k, "constexpr") || seq_.is(k, "static")) return true;
        for (std::size_t k = i; k < end; ++k)
            if (seq_.is(k, "__shared__")) return true;
        return names_the_block(seq_, {i, end});
    }

    /// `f(x);` and `n::f(x);`, which could declare an x in parentheses, and never do.
    [[nodiscard]] bool is_call(std::size_t i, std::size_t end) const {
        while (seq_.is_identifier(i) && seq_.is(i + 1, "::")) i += 2;
        const std::size_t open = call_at(seq_, i, end);
        return open != npos && seq_.skip_group(open) == end;
    }

    [[nodiscard]] bool waits_in(Range range) const {
        for (std::size_t k = range.begin; k < range.end; ++k)
            if (seq_[k].is_identifier() && is_wait(seq_[k].text)) return true;
        return false;
    }

    const Sequence& seq_;
    std::string& flaw_;
    std::size_t depth_ = 0;
};

}  // namespace

Statement read_body(const Sequence& seq, std::size_t open, std::string& flaw) {
    return Reader(seq, flaw).compound(open);
}

}  // namespace cu2cpp::lanes
