// Functions and variables at namespace scope, and what their names stand for.
#include <algorithm>

#include "cu2cpp/passes.h"

namespace cu2cpp {
namespace {

/// The types in the parentheses behind a function's name.
std::string parameter_types(const Sequence& seq, std::size_t name) {
    std::string types = "(";
    for (Range parameter : split(seq, {name + 2, seq.match(name + 1)})) {
        for (std::size_t k = parameter.begin; k < parameter.end; ++k) {
            if (seq.is(k, "=")) parameter.end = k;
        }
        types += parameter_type(seq, parameter) + ",";
    }
    return types;
}

bool has_parameters(const Sequence& seq, std::size_t name) {
    return seq.is(name + 1, "(") && seq.match(name + 1) != npos;
}

}  // namespace

bool texture_reference(Unit& unit, const Sequence& seq, Range whole) {
    std::size_t p = whole.begin;
    while (p < whole.end && (seq.is(p, "static") || seq.is(p, "extern"))) ++p;
    if (!(seq.is(p, "texture") || seq.is(p, "surface")) || !seq.is(p + 1, "<")) return false;
    if (unit.options.lenient && seq.is(p, "texture")) {
        unit.replace(seq[p],
                     p == whole.begin ? "static ::simt::TextureReference" : "::simt::TextureReference");
        return true;
    }
    unit.refuse(seq[p],
                std::string(seq[p].text) +
                    " references cannot be translated; CUDA 12 removed them; use objects: "
                    "`cudaTextureObject_t`, `cudaCreateTextureObject`, `tex1Dfetch<float>(object, i)`");
    return true;
}

void device_function(Unit& unit, const Sequence& seq, Range head) {
    const std::size_t kernel = find_specifier(seq, head, "__global__");
    if (unit.options.relocatable) return;
    const std::size_t specifier = kernel != npos ? kernel : find_specifier(seq, head, "__device__");
    if (specifier == npos || has_specifier(seq, head, "__host__")) return;
    const bool is_template = seq.is(head.begin, "template");
    if (kernel != npos && !is_template) return;
    if (is_template && (!seq.is(head.begin + 1, "<") || seq.is(head.begin + 2, ">"))) return;
    for (const std::string_view word : {"static", "extern", "friend", "typedef", "using"}) {
        if (has_specifier(seq, head, word)) return;
    }
    const std::size_t name = function_name(seq, head);
    if (name == npos || seq.is(name, ">") || (name > 0 && seq.is(name - 1, "::"))) return;
    const std::string called(seq[name].text);
    const auto& external = unit.out.exports.external_names;
    if (external.count(called) != 0) return;
    if (has_parameters(seq, name) && external.count(called + parameter_types(seq, name)) != 0) return;
    unit.replace(seq[specifier], "SIMT_LOCAL");
}

void note_function(Unit& unit, const Sequence& seq, Range head, std::string_view space) {
    const std::size_t name = function_name(seq, head);
    if (name == npos || !seq.is_identifier(name) || (name > 0 && seq.is(name - 1, "::"))) return;
    if (!has_parameters(seq, name)) return;
    Exports::Function function;
    const bool is_template = seq.is(head.begin, "template");
    function.kernel = has_specifier(seq, head, "__global__");
    if (function.kernel && !is_template) function.parameters = parameter_types(seq, name);
    // Any word in front that is not C++'s own may be a macro for `__device__`.
    const std::size_t first = is_template ? seq.skip_angles(head.begin + 1) : head.begin;
    for (std::size_t k = first; function.kernel && k < name; ++k) {  // npos: there is nothing to see
        if (seq.is(k, "<") || seq.is(k, "(")) {
            k = seq.is(k, "<") ? seq.skip_angles(k) : seq.skip_group(k);
            if (k-- == npos) break;
        } else if (seq.is(k, "*") || (is_builtin_type(seq[k].text) && !seq.is(k, "void"))) {
            unit.refuse(seq[k], "a kernel returns nothing: write `__global__ void`");
            break;
        }
    }
    bool known = !function.kernel && first != npos;
    for (std::size_t k = first; k < name; ++k)
        known = known && (is_builtin_type(seq[k].text) || seq.is(k, "static") || seq.is(k, "inline") ||
                          seq.is(k, "const") || seq.is(k, "*"));
    function.launchable = !known;
    function.space = space;
    function.relaxed = has_specifier(seq, head, "constexpr");
    function.host = !function.kernel && is_host_function(unit, seq, head);
    function.device = !function.kernel && !function.host;
    if (!function.kernel && runs_on_device(seq, head))
        function.device_only = (is_template ? "<>" : "") + parameter_types(seq, name);
    unit.out.exports.note_function(seq[name].text, function);
}

void note_friend(Unit& unit, const Sequence& seq, Range whole) {
    if (!has_specifier(seq, whole, "friend")) return;
    const std::size_t name = function_name(seq, whole);
    if (name != npos) unit.out.exports.external_names.emplace(seq[name].text);
}

void note_extern(Unit& unit, const Sequence& seq, Range whole) {
    const std::size_t function = function_name(seq, whole);
    if (!seq.is(whole.begin, "extern")) {
        // `int f(int);` makes `__device__ int f(int) { ... }` the host's, too, and of all files.
        for (const std::string_view word :
             {"static", "template", "typedef", "using", "inline", "__device__"}) {
            if (has_specifier(seq, whole, word)) return;
        }
        if (function != npos && seq.is_identifier(function) && has_parameters(seq, function))
            unit.out.exports.external_names.insert(std::string(seq[function].text) +
                                                   parameter_types(seq, function));
        return;
    }
    if (function != npos) {
        unit.out.exports.external_names.emplace(seq[function].text);
    } else if (const auto declaration = parse_declaration(seq, whole)) {
        for (const Declarator& d : declaration->declarators) {
            unit.out.exports.external_names.emplace(spelling(seq, d.name));
        }
    }
}

void device_variables(Unit& unit, const Sequence& seq, Range whole, std::size_t semicolon) {
    for (const std::string_view word : {"template", "typedef", "using", "friend"}) {
        if (seq.is(whole.begin, word)) return;
    }
    Range body = whole;
    bool external = false;
    if (seq.is(body.begin, "extern") && body.begin + 1 < body.end &&
        seq[body.begin + 1].kind == TokenKind::string) {
        external = true;
        body.begin += 2;
    }
    const auto declaration = parse_declaration(seq, body);
    if (!declaration) return;
    if (!declaration->has(seq, "__constant__"))
        for (const Declarator& d : declaration->declarators)
            unit.out.exports.device_variables.emplace(spelling(seq, d.name));
    external = external || declaration->has(seq, "extern");
    if (external) {
        bool initialised = false;
        for (const Declarator& d : declaration->declarators) {
            unit.out.exports.external_names.emplace(spelling(seq, d.name));
            initialised = initialised || d.initialiser != npos;
        }
        if (!initialised) return;
    }
    const bool constant = declaration->has(seq, "__constant__");
    const bool managed = declaration->has(seq, "__managed__");
    const std::string kind = constant ? "constant" : managed ? "managed" : "device";
    std::string symbols;
    Context context;
    context.seq = &seq;
    bool local = !unit.options.relocatable && !external;
    for (const std::string_view word : {"static", "inline", "thread_local"}) {
        local = local && !declaration->has(seq, word);
    }
    for (const Declarator& d : declaration->declarators) {
        if (d.parameters) return;
        // Qualified: a static member, defined here.
        std::size_t first = d.name.begin;
        while (d.qualified && first > d.whole.begin && !seq.is(first - 1, "*")) --first;
        const Range name{first, d.name.end};
        const std::string spelled = spelling(seq, name);
        local = local && !d.qualified && unit.out.exports.external_names.count(spelled) == 0;
        symbols += " static const ::simt::Symbol " + prefixed("simt_symbol_", context, name) + "(&" +
                   spelled + ", sizeof " + spelled + ", \"" + spelled + "\", ::simt::SymbolKind::" + kind +
                   "); SIMT_RED_ZONE(" + prefixed("simt_symbol_", context, name) + ")";
    }
    if (local) {
        for (const std::size_t k : declaration->storage) {
            if (!seq.is(k, "__device__") && !seq.is(k, "__constant__") && !seq.is(k, "__managed__")) continue;
            unit.replace(seq[k], "SIMT_LOCAL");
            break;
        }
    }
    unit.insert(seq[semicolon].end, std::move(symbols));
}

}  // namespace cu2cpp
