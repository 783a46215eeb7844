// `__shared__` declarations.
#include <string>
#include <utility>
#include <vector>

#include "cu2cpp/passes.h"

namespace cu2cpp {
namespace {

void rewrite_shared(Unit& unit, const Context& context, const Declaration& declaration, std::size_t end,
                    bool dynamic, bool at_namespace) {
    const Sequence& seq = *context.seq;
    bool written = false;
    for (const std::size_t k : declaration.storage) {
        if (seq.is(k, "__shared__") && !std::exchange(written, true))
            unit.replace(seq[k], "typedef");
        else
            unit.blank(seq[k]);
    }
    std::string alignment;
    for (const Range& range : declaration.alignment) {
        for (std::size_t k = range.begin; k < range.end; ++k) alignment += std::string(seq[k].text) + " ";
        unit.blank(seq, range);
    }
    std::vector<std::string> statements;
    for (const Declarator& d : declaration.declarators) {
        const std::string name = spelling(seq, d.name);
        const std::string type = prefixed("simt_type_", context, d.name);
        const std::string key = prefixed("simt_key_", context, d.name);
        const std::string box = prefixed("simt_aligned_", context, d.name);
        const std::string literal = quoted(context, d.name);
        unit.blank(seq, {d.name.begin + 1, d.name.end});
        unit.out.edits.push_back({seq[d.name.begin].begin, seq[d.name.begin].end, type});
        if (dynamic) {
            if (d.first_extent != npos) unit.blank(seq, {d.first_extent, seq.skip_group(d.first_extent)});
            if (at_namespace) {
                if (!unit.dynamic_names.insert(name).second) continue;
                statements.push_back("[[maybe_unused]] static constexpr ::simt::DynamicShared<" + type +
                                     "> " + name + "{" + literal + "}");
            } else {
                const bool array = d.first_extent != npos;
                statements.push_back(type + (array ? "* const " : "& ") + name + (array ? " = " : " = *") +
                                     "::simt::dynamic_shared<" + type + ">(" + literal + ")");
            }
            continue;
        }
        if (!alignment.empty()) {
            statements.push_back("struct " + alignment + box + " { " + type + " value; }");
        }
        const std::string place = runtime(context, "shared") + "<" + (alignment.empty() ? type : box) + ">(" +
                                  key + ", " + literal + ")" + (alignment.empty() ? "" : ".value");
        const std::string reference = type + "& " + name + " = " + place;
        if (at_namespace) {
            statements.push_back("[[maybe_unused]] static ::simt::SharedKey " + key);
            unit.out.exports.shared_variables[name] = reference;
            continue;
        }
        statements.push_back("static ::simt::SharedKey " + key);
        statements.push_back(reference);
    }
    std::string text;
    if (seq.is(end, ";")) {
        for (const std::string& statement : statements) text += " " + statement + ";";
        unit.insert(seq[end].end, std::move(text));
    } else {  // the last words of a macro: whoever uses it writes the `;`
        for (const std::string& statement : statements) text += "; " + statement;
        unit.insert(context.end, std::move(text));
    }
}

/// Specifiers, and even the type, may stand in front of the word.
std::size_t declaration_begin(const Sequence& seq, std::size_t i) {
    std::size_t k = i;
    while (k > 0) {
        const std::string_view word = seq[k - 1].text;
        const bool specifier = word == "static" || word == "extern" || word == "volatile" ||
                               word == "const" || is_cuda_specifier(word) || is_builtin_type(word);
        if (specifier) {
            --k;
        } else if (word == ")" && seq.match(k - 1) != npos && seq.match(k - 1) > 0 &&
                   takes_attribute_arguments(seq[seq.match(k - 1) - 1].text)) {
            k = seq.match(k - 1) - 1;
        } else {
            break;
        }
    }
    // `T __shared__ a[4];`
    const bool type_in_front = k == i && k > 0 && seq.is_identifier(i + 1) &&
                               !is_builtin_type(seq[i + 1].text) &&
                               (seq.is(i + 2, "[") || seq.is(i + 2, ";")) && seq.is_identifier(k - 1) &&
                               !is_keyword(seq[k - 1].text);
    return type_in_front ? k - 1 : k;
}

std::size_t declaration_end(const Sequence& seq, std::size_t i) {
    std::size_t k = i;
    while (k < seq.size() && !seq.is(k, ";") && !seq.is(k, ")") && !seq.is(k, "}")) {
        const bool group = seq.is(k, "(") || seq.is(k, "[") || seq.is(k, "{");
        k = group ? seq.skip_group(k) : k + 1;
    }
    return k;
}

/// The first word in the sizes of an array that has another value in each launch; npos: none.
std::size_t varies(const Sequence& seq, const Declarator& d) {
    for (std::size_t k = d.first_extent; k != npos && seq.is(k, "["); k = seq.skip_group(k)) {
        for (std::size_t word = k; word < seq.skip_group(k); ++word)
            for (const char* name : {"blockDim", "gridDim", "threadIdx", "blockIdx"})
                if (seq.is(word, name)) return word;
    }
    return npos;
}

}  // namespace

Range declaration_around(const Sequence& seq, std::size_t i) {
    return {declaration_begin(seq, i), declaration_end(seq, i)};
}

void shared(Unit& unit, const Context& context, std::size_t i) {
    const Sequence& seq = *context.seq;
    if (!context.macro && i < unit.shared_done) return;  // a second `__shared__` in one declaration
    const Range range = declaration_around(seq, i);
    const bool ended = seq.is(range.end, ";");
    if (!context.macro) unit.shared_done = range.end;
    const auto declaration =
        ended || (context.macro && range.end == seq.size()) ? parse_declaration(seq, range) : std::nullopt;
    if (!declaration) {
        return unit.complain(context, seq[i], "`__shared__` without a complete declaration behind it",
                             "the translator must see type, name, size and the `;` behind them; "
                             "write `__shared__ float tile[256];` where it is used");
    }
    for (const Declarator& d : declaration->declarators) {
        if (const std::size_t at = varies(seq, d); at != npos) {
            return unit.complain(
                context, seq[at], "size of a `__shared__` array that is known only at run time",
                "write a constant; or declare `extern __shared__ float name[];` and give the size in bytes "
                "as the launch's third argument");
        }
        if (d.initialiser == npos && !d.parameters) continue;
        const std::size_t at = d.initialiser != npos ? d.initialiser : d.name.end;
        return unit.complain(
            context, seq[at], "initialiser of a `__shared__` variable",
            "shared memory starts undefined, as in CUDA; assign in one thread, then `__syncthreads()`");
    }
    const bool dynamic = declaration->has(seq, "extern");
    if (!context.macro && context.scope == ScopeKind::class_ && !dynamic) {
        return unit.refuse(
            seq[i],
            "`__shared__` member of a class; it has no block to belong to; declare it inside the "
            "kernel, or `extern __shared__ T name[];` for dynamic shared memory");
    }
    rewrite_shared(unit, context, *declaration, range.end, dynamic, !context.macro && !context.in_code());
}

void use_of_shared(Unit& unit, const Sequence& seq, Range head) {
    const auto& variables = unit.out.exports.shared_variables;
    if (variables.empty() || seq.match(head.end) == npos) return;
    const Range body{head.end, seq.skip_group(head.end)};
    for (std::size_t k = head.begin; k < head.end; ++k)
        if (seq.is(k, "::") && seq.is(k + 2, "("))
            return;  // a member function, whose class may have the name
    const auto names = [&](Range range, const std::string& name) {
        for (std::size_t k = range.begin; k < range.end; ++k)
            if (seq.is(k, name) && !seq.is(k - 1, ".") && !seq.is(k - 1, "->") && !seq.is(k - 1, "::"))
                return true;
        return false;
    };
    std::string references;
    for (const auto& [name, reference] : variables)
        if (names(body, name) && !names(head, name)) references += reference + "; ";
    if (references.empty()) return;
    unit.insert(seq[body.begin].begin, "{ " + references);
    unit.insert(seq[body.end - 1].end, " }");
}

}  // namespace cu2cpp
