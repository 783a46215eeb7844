// Variables with static storage that no declaration at namespace scope defines: those of functions, and
// instances of variable templates.
#include <string>

#include "cu2cpp/passes.h"

namespace cu2cpp {
namespace {

/// In which memory a variable lies that one of CUDA's words may say something of.
std::string memory_kind(const Sequence& seq, Range whole) {
    return has_specifier(seq, whole, "__constant__")  ? "constant"
           : has_specifier(seq, whole, "__managed__") ? "managed"
                                                      : "device";
}

/// The tokens of a range, so that reading them again gives the same ones.
std::string tokens_of(const Sequence& seq, Range range) {
    std::string text;
    for (std::size_t k = range.begin; k < range.end; ++k) text += std::string(seq[k].text) + " ";
    return text;
}

/// The compiler knows its value, or it is another name of something else: no variable of its own.
bool is_fixed_or_alias(const Sequence& seq, const Declaration& declaration, const Declarator& d) {
    bool constant = false;
    for (std::size_t k = declaration.specifiers.begin; k < declaration.specifiers.end; ++k)
        constant = constant || seq.is(k, "const");
    for (std::size_t k = d.whole.begin; k < d.name.begin; ++k)
        if (seq.is(k, "&") || seq.is(k, "&&")) return true;
    return constant && !d.pointer;
}

/// A macro's body in which `i` can only be in a function: in braces behind `do` or behind parentheses, or in
/// those of an expression.
bool is_in_function_of_macro(const Sequence& seq, std::size_t i) {
    for (std::size_t k = i; k-- > 0;) {
        if (!seq.is(k, "{") || seq.skip_group(k) <= i) continue;
        if (k == 0 || seq.is(k - 1, "do") || seq.is(k - 1, "(") || seq.is(k - 1, ")")) return true;
    }
    return false;
}

/// One for each side, made by instances of one lambda.
void give_each_side_one(Unit& unit, const Context& context, const Declaration& declaration, Range range) {
    const Sequence& seq = *context.seq;
    std::string text;
    for (const Declarator& d : declaration.declarators) {
        if (is_fixed_or_alias(seq, declaration, d)) return;
        const std::string name = tokens_of(seq, d.name);
        text += "auto& " + name + "= " + runtime(context, "of_side") + "([&](auto) -> auto& { " +
                tokens_of(seq, declaration.specifiers) + tokens_of(seq, d.whole) + "; return " + name +
                "; }, " + quoted(context, d.name) + ")" + (&d == &declaration.declarators.back() ? "" : "; ");
    }
    unit.insert(seq[range.begin].begin, std::move(text));
    unit.blank(seq, range);
}

}  // namespace

void static_variable(Unit& unit, const Context& context, std::size_t i) {
    const Sequence& seq = *context.seq;
    if (context.macro ? !is_in_function_of_macro(seq, i) : !context.in_code()) return;
    if (!context.macro && !context.device && !context.surely_both) return;
    const Range range = declaration_around(seq, i);
    if (!seq.is(range.end, ";") || (range.begin > 0 && seq.is(range.begin - 1, "("))) return;
    const auto declaration = parse_declaration(seq, range);
    if (!declaration) return;
    for (const char* word : {"__shared__", "constexpr", "thread_local", "extern"})
        if (declaration->has(seq, word) || has_specifier(seq, range, word)) return;
    const bool says_device = has_specifier(seq, range, "__device__") ||
                             has_specifier(seq, range, "__constant__") ||
                             has_specifier(seq, range, "__managed__");
    if (!context.device && !says_device) return give_each_side_one(unit, context, *declaration, range);
    bool computed = false, constant = false;
    std::string text;
    for (const Declarator& d : declaration->declarators) {
        if (is_fixed_or_alias(seq, *declaration, d)) {
            constant = true;
            continue;
        }
        computed = computed || d.initialiser != npos || d.parameters;
        // (`int (*f)(int) = g`, of which g++ believes that it is a function's result.)
        for (std::size_t k = d.whole.begin; k < d.name.begin; ++k) constant = constant || seq.is(k, "(");
        const std::string key = prefixed("simt_static_", context, d.name);
        text += " static ::simt::StaticKey " + key + "; " + runtime(context, "device_static") + "(" + key +
                ", " + tokens_of(seq, d.name) + ", " + quoted(context, d.name) +
                ", ::simt::SymbolKind::" + memory_kind(seq, range) + ");";
    }
    // As on a device, nothing computes it when the program runs.
    if (computed && !constant && range.begin == i) unit.replace(seq[i], "SIMT_STATIC");
    if (!text.empty()) unit.insert(seq[range.end].end, std::move(text));
}

void note_variable_template(Unit& unit, const Sequence& seq, Range whole) {
    const std::size_t first = past_template_headers(seq, whole);
    if (seq.is(whole.begin + 2, ">") || function_name(seq, whole) != npos) return;
    const auto declaration = parse_declaration(seq, {first, whole.end});
    if (!declaration || declaration->has(seq, "constexpr")) return;
    for (const Declarator& d : declaration->declarators)
        if (!d.qualified && !is_fixed_or_alias(seq, *declaration, d))
            unit.out.exports.variable_templates[spelling(seq, d.name)] = memory_kind(seq, whole);
}

void use_of_variable_template(Unit& unit, const Context& context, std::size_t i) {
    const Sequence& seq = *context.seq;
    if (context.macro || !context.in_code()) return;
    const auto found = unit.out.exports.variable_templates.find(seq[i].text);
    if (found == unit.out.exports.variable_templates.end() || !seq.is(i + 1, "<")) return;
    const std::size_t stop = seq.skip_angles(i + 1);
    if (stop == npos || i == 0 || seq.is(i - 1, ".") || seq.is(i - 1, "->")) return;
    const std::size_t begin = qualified_begin(seq, i);
    // Its address is a template's argument itself.
    if (begin > 1 && seq.is(begin - 1, "&") && (seq.is(begin - 2, "<") || seq.is(begin - 2, ","))) return;
    unit.insert(seq[begin].begin, "::simt::device_variable<&");
    unit.insert(seq[stop - 1].end,
                ">(" + quoted(context, {i, stop}) + ", ::simt::SymbolKind::" + found->second + ")");
}

}  // namespace cu2cpp
