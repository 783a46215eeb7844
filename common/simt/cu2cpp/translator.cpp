#include "cu2cpp/translator.h"

#include <algorithm>
#include <utility>

#include "cu2cpp/lanes/lanes.h"
#include "cu2cpp/passes.h"

namespace cu2cpp {
namespace {

/// One open brace.
struct Scope {
    ScopeKind kind = ScopeKind::namespace_;
    bool device = false;          ///< the code inside runs on the device only
    bool both = false;            ///< it may run on either side
    bool surely_both = false;     ///< and says so
    std::size_t brackets = 0;     ///< open `(` and `[` inside it
    std::size_t declaration = 0;  ///< first token of the declaration or statement being read
    std::size_t function = npos;  ///< first token of the function around it
    bool member = false;          ///< it is inside a class
    std::string_view space;       ///< the innermost namespace with a name
    Range head;                   ///< of a function
};

bool is_asm(std::string_view word) { return word == "asm" || word == "__asm__" || word == "__asm"; }

class Translator {
  public:
    Translator(std::string_view text, const std::string& path, const TranslateOptions& options)
        : unit_(text, path, options), lexed_(lex(text)), seq_(lexed_.tokens, &lexed_.directives) {
        context_.seq = &seq_;
        context_.end = text.size();
    }

    Translation run() {
        for (const LexError& error : lexed_.errors) {
            if (!error.conditional) unit_.refuse_at(error.offset, error.message);
        }
        if (const std::size_t at = seq_.too_deep_at(); at != npos) {
            unit_.give_up(at < seq_.size() ? seq_[at].begin : 0,
                          "brackets or `#if` nested more than 1000 deep");
        }
        scopes_.push_back({});
        std::size_t next = 0;
        for (std::size_t i = 0; i <= seq_.size() && !unit_.given_up; ++i) {
            while (next < lexed_.directives.size() && lexed_.directives[next].at <= i) {
                directive(next++, i);
            }
            if (i < seq_.size()) visit(i);
        }
        std::stable_sort(unit_.out.diagnostics.begin(), unit_.out.diagnostics.end(),
                         [](const auto& a, const auto& b) {
                             return std::pair(a.line, a.column) < std::pair(b.line, b.column);
                         });
        return std::move(unit_.out);
    }

  private:
    // ---- preprocessor ----

    void directive(std::size_t index, std::size_t at) {
        const Directive& d = lexed_.directives[index];
        const std::string_view name = d.name();
        if (name.substr(0, 2) == "if") {
            branches_.push_back({scopes_, {}, at, false, sides_of(index), 0});
        } else if (name.substr(0, 2) == "el" && !branches_.empty()) {
            Branch& branch = branches_.back();
            if (!branch.has_else) branch.after_first = scopes_;
            branch.has_else = true;
            ++branch.number;
            scopes_ = branch.before;
            if (scopes_.back().declaration == branch.at) scopes_.back().declaration = at;
        } else if (name == "endif" && !branches_.empty()) {
            Branch branch = std::move(branches_.back());
            branches_.pop_back();
            // Where the first branch ended between two declarations, so did the others.
            if (branch.has_else && branch.after_first.size() != scopes_.size())
                scopes_ = std::move(branch.after_first);
        } else if (name == "define") {
            define(d);
        } else if (name == "undef" && d.tokens.size() > 1) {
            unit_.out.exports.untranslatable_macros.erase(std::string(d.tokens[1].text));
            unit_.out.exports.macros.erase(std::string(d.tokens[1].text));
        } else if (name == "include") {
            include(unit_, d, scopes_.back().kind == ScopeKind::namespace_);
        } else if (name == "pragma") {
            pragma(unit_, d);
        }
    }

    /// The `#if` at `index` with the rest of its group; nothing where its `#endif` is missing.
    [[nodiscard]] ConditionalGroup group_of(std::size_t index) const {
        ConditionalGroup group;
        std::size_t depth = 0;
        for (std::size_t k = index; k < lexed_.directives.size(); ++k) {
            const std::string_view name = lexed_.directives[k].name();
            if (name.substr(0, 2) == "if" && depth++ == 0) group.parts.push_back(&lexed_.directives[k]);
            if (name.substr(0, 2) == "el" && depth == 1) group.parts.push_back(&lexed_.directives[k]);
            if (name == "endif" && --depth == 0) {
                group.parts.push_back(&lexed_.directives[k]);
                return group;
            }
        }
        return {};
    }

    /// Who runs the code at the current place.
    [[nodiscard]] Side side() const {
        if (!branches_.empty() && branches_.back().number < branches_.back().sides.size()) {
            const Side known = branches_.back().sides[branches_.back().number];
            if (known == Side::host || known == Side::device) return known;
        }
        const Scope& scope = scopes_.back();
        if (scope.device) return Side::device;
        if (scope.both) return scope.brackets == 0 ? Side::both : Side::outside;
        if (scope.kind == ScopeKind::function || scope.kind == ScopeKind::block) return Side::host;
        return Side::outside;
    }

    [[nodiscard]] std::vector<Side> sides_of(std::size_t index) {
        const ConditionalGroup group = group_of(index);
        if (group.parts.empty()) return {};
        const std::size_t at = group.parts.front()->at;
        std::size_t scope_end = at;
        while (scope_end < seq_.size() && !seq_.is(scope_end, "}"))
            scope_end = seq_.is(scope_end, "{") ? seq_.skip_group(scope_end) : scope_end + 1;
        return architecture_group(unit_, seq_, group, side(), scope_end);
    }

    void define(const Directive& d) {
        note_macro(unit_, d);
        if (d.tokens.size() > 1) {
            auto& asking = unit_.out.exports.architecture_macros;
            const auto asks = [&](const Token& token) {
                return token.is("__CUDA_ARCH__") || asking.count(token.text) != 0;
            };
            if (std::any_of(d.tokens.begin() + 2, d.tokens.end(), asks)) asking.emplace(d.tokens[1].text);
            auto& execution = unit_.out.exports.execution_macros;
            const auto says = [&](const Token& token) {
                return token.is("__device__") || token.is("__global__") || execution.count(token.text) != 0;
            };
            if (std::any_of(d.tokens.begin() + 2, d.tokens.end(), says)) execution.emplace(d.tokens[1].text);
            unit_.out.exports.macros[std::string(d.tokens[1].text)];
        }
        if (d.tokens.size() < 3) {
            if (d.tokens.size() == 2)
                unit_.out.exports.untranslatable_macros.erase(std::string(d.tokens[1].text));
            return;
        }
        Context context;
        context.macro = true;
        std::size_t body = 2;
        if (d.tokens[2].is("(") && d.tokens[1].end == d.tokens[2].begin) {
            for (body = 3; body < d.tokens.size() && !d.tokens[body].is(")"); ++body) {
                if (d.tokens[body].is_identifier()) context.parameters.insert(d.tokens[body].text);
                if (d.tokens[body].is("...")) context.parameters.insert("__VA_ARGS__");
            }
            if (body < d.tokens.size()) ++body;
        }
        const std::vector<Token> tokens(d.tokens.begin() + static_cast<std::ptrdiff_t>(body), d.tokens.end());
        const Sequence seq(tokens);
        context.seq = &seq;
        context.end = tokens.empty() ? d.end : tokens.back().end;
        unit_.macro_flaw.clear();
        for (std::size_t i = 0; i < seq.size() && !unit_.given_up; ++i) rewrite(context, i);
        const std::string name(d.tokens[1].text);
        unit_.out.exports.macros[name] = library_function_in(unit_, context);
        if (unit_.macro_flaw.empty()) {
            unit_.out.exports.untranslatable_macros.erase(name);
        } else {
            unit_.out.exports.untranslatable_macros[name] = unit_.macro_flaw;
        }
    }

    // ---- scopes ----

    /// One token of the file itself: keeps the stack of scopes and rewrites what starts here.
    void visit(std::size_t i) {
        context_.scope = scopes_.back().kind;
        context_.device = scopes_.back().device;
        context_.both = scopes_.back().both;
        context_.surely_both = scopes_.back().surely_both;
        context_.host = side() == Side::host;
        context_.function = scopes_.back().function;
        context_.member = scopes_.back().member;
        rewrite(context_, i);
        const Token& token = seq_[i];
        if (token.kind == TokenKind::identifier) {
            if (token.is("__device__") || token.is("__global__")) note_device_lambda(i);
            if (token.is("texture") || token.is("surface")) note_own_texture(i);
            return;
        }
        if (token.kind != TokenKind::punctuator || token.text.size() != 1) return;
        Scope& scope = scopes_.back();
        switch (token.text[0]) {
            case '(':
            case '[':
                ++scope.brackets;
                break;
            case ')':
            case ']':
                if (scope.brackets > 0) --scope.brackets;
                break;
            case '{':
                open_scope(i);
                break;
            case '}':
                close_scope(i);
                break;
            case ';':
                if (scope.brackets == 0) end_declaration(i);
                break;
            case ':':
                if (scope.kind == ScopeKind::class_ && i > 0 &&
                    (seq_.is(i - 1, "public") || seq_.is(i - 1, "private") || seq_.is(i - 1, "protected"))) {
                    scope.declaration = i + 1;
                }
                break;
            default:
                break;
        }
    }

    void open_scope(std::size_t i) {
        const Range head{scopes_.back().declaration, i};
        Scope inner;
        inner.kind = classify(head);
        inner.declaration = i + 1;
        inner.member = scopes_.back().member || inner.kind == ScopeKind::class_;
        inner.function = scopes_.back().function;
        inner.space = scopes_.back().space;
        if (inner.kind == ScopeKind::namespace_ && i > 0 && seq_.is_identifier(i - 1) &&
            !seq_.is(i - 1, "namespace"))
            inner.space = seq_[i - 1].text;
        if (inner.kind == ScopeKind::class_) note_class(unit_, seq_, head);
        if (inner.kind == ScopeKind::function) {
            inner.head = head;
            inner.function = head.begin;
            inner.device = runs_on_device(seq_, head);
            inner.both = !inner.device && may_run_on_device(seq_, head);
            inner.surely_both = inner.both && says_who_runs_it(head);
            if (scopes_.back().kind == ScopeKind::namespace_) {
                note_function(unit_, seq_, head, scopes_.back().space);
                device_function(unit_, seq_, head);
                if (inner.device) use_of_shared(unit_, seq_, head);
            }
        }
        if (inner.kind == ScopeKind::block || inner.kind == ScopeKind::initialiser) {
            inner.device = scopes_.back().device;
            inner.both = scopes_.back().both;
            inner.surely_both = scopes_.back().surely_both;
        }
        if (scopes_.back().device) inner.device = true;
        if (const auto lambda = device_braces_.find(i); lambda != device_braces_.end()) {
            inner.kind = ScopeKind::block;
            inner.both = inner.surely_both = lambda->second && !inner.device;
            inner.device = !inner.both;
        }
        scopes_.push_back(inner);
    }

    void close_scope(std::size_t i) {
        if (scopes_.size() == 1) return;  // one brace too many: the compiler's to report
        const ScopeKind kind = scopes_.back().kind;
        const Range head = scopes_.back().head;
        scopes_.pop_back();
        Scope& outer = scopes_.back();
        if (kind == ScopeKind::function && seq_.match(head.end) == i) {
            note_body(unit_, seq_, head, outer.kind != ScopeKind::namespace_);
            if (outer.kind == ScopeKind::namespace_) loop_over_lanes(unit_, seq_, lexed_.directives, head);
        }
        const bool ends =
            kind == ScopeKind::namespace_ || kind == ScopeKind::function || kind == ScopeKind::block;
        if (ends && outer.brackets == 0) outer.declaration = i + 1;
    }

    /// The function has `__device__` in front of it, or a macro for it.
    [[nodiscard]] bool says_who_runs_it(Range head) const {
        if (has_specifier(seq_, head, "__device__")) return true;
        const auto& macros = unit_.out.exports.execution_macros;
        for (std::size_t k = head.begin; k < head.end && !seq_.is(k, "("); ++k)
            if (macros.count(seq_[k].text) != 0) return true;
        return false;
    }

    /// What kind of scope the brace behind `head` opens.
    [[nodiscard]] ScopeKind classify(Range head) const {
        const ScopeKind outer = scopes_.back().kind;
        const bool in_code = outer == ScopeKind::function || outer == ScopeKind::block;
        if (scopes_.back().brackets > 0) return ScopeKind::block;  // a lambda's body, or a braced argument
        std::size_t p = past_template_headers(seq_, head);
        if (seq_.is(p, "inline") && seq_.is(p + 1, "namespace")) return ScopeKind::namespace_;
        if (p < head.end && seq_.is(p, "namespace")) return ScopeKind::namespace_;
        if (p < head.end && seq_.is(p, "extern") && p + 1 < head.end &&
            seq_[p + 1].kind == TokenKind::string) {
            p += 2;
            if (p == head.end) return ScopeKind::namespace_;
        }
        bool parameters = false;
        bool member_initialisers = false;
        for (std::size_t k = p; k < head.end;) {
            const std::string_view word = seq_[k].text;
            if (!parameters && (word == "struct" || word == "class" || word == "union") &&
                is_class_head(seq_, k, head.end)) {
                return ScopeKind::class_;
            }
            if (!parameters && word == "enum") return ScopeKind::initialiser;
            if (word == "=" && !seq_.is(k - 1, "operator"))
                return in_code ? ScopeKind::block : ScopeKind::initialiser;
            if (word == ":" && parameters) member_initialisers = true;
            if (word == "(") parameters = true;
            k = word == "(" || word == "[" || word == "{" ? seq_.skip_group(k) : k + 1;
        }
        if (in_code) return ScopeKind::block;
        if (outer == ScopeKind::initialiser) return ScopeKind::initialiser;
        if (parameters) {
            const bool body =
                !member_initialisers || seq_.is(head.end - 1, ")") || seq_.is(head.end - 1, "}");
            return body ? ScopeKind::function : ScopeKind::initialiser;
        }
        return head.empty() ? outer : ScopeKind::initialiser;
    }

    /// `[=] __device__ (int i) { ... }`: its body is device code inside a host function.
    void note_device_lambda(std::size_t i) {
        if (i == 0 || !(seq_.is(i - 1, "]") || seq_.is(i - 1, "__host__") || seq_.is(i - 1, ")"))) return;
        std::size_t intro = i - 1;
        while (intro > 0 && (seq_.is(intro, "__host__") || seq_.is(intro, ")"))) {
            if (seq_.is(intro, ")")) {
                if (seq_.match(intro) == npos || seq_.match(intro) == 0) return;
                intro = seq_.match(intro);
            }
            --intro;
        }
        if (!seq_.is(intro, "]")) return;
        const bool both = seq_.is(i - 1, "__host__") || seq_.is(i + 1, "__host__");
        const std::size_t limit = std::min(seq_.size(), i + 200);  // no lambda's head is longer
        for (std::size_t k = i + 1; k < limit;) {
            const std::string_view word = seq_[k].text;
            if (word == "{") {
                device_braces_.emplace(k, both);
                return;
            }
            if (word == ";" || word == ")" || word == "}" || word == "=") return;
            k = word == "(" || word == "[" ? seq_.skip_group(k) : k + 1;
        }
    }

    void note_own_texture(std::size_t i) {
        if (i > 0 && (seq_.is(i - 1, "struct") || seq_.is(i - 1, "class"))) own_texture_ = true;
    }

    // ---- declarations at namespace scope ----

    void end_declaration(std::size_t semicolon) {
        Scope& scope = scopes_.back();
        const Range whole{scope.declaration, semicolon};
        scope.declaration = semicolon + 1;
        if (whole.empty()) return;
        if (scope.kind == ScopeKind::class_) return note_friend(unit_, seq_, whole);
        if (scope.kind != ScopeKind::namespace_) return;
        if (!own_texture_ && texture_reference(unit_, seq_, whole)) return;
        const bool variable = has_specifier(seq_, whole, "__device__") ||
                              has_specifier(seq_, whole, "__constant__") ||
                              has_specifier(seq_, whole, "__managed__");
        if (!seq_.is(whole.begin, "typedef") && !seq_.is(whole.begin, "using"))
            note_function(unit_, seq_, whole, scope.space);
        note_variables(unit_, seq_, whole, scope.space);
        if (!variable && !has_specifier(seq_, whole, "__global__")) return note_extern(unit_, seq_, whole);
        if (has_specifier(seq_, whole, "__shared__")) return;
        if (function_name(seq_, whole) != npos) return device_function(unit_, seq_, whole);
        if (variable && seq_.is(whole.begin, "template")) return note_variable_template(unit_, seq_, whole);
        if (variable) device_variables(unit_, seq_, whole, semicolon);
    }

    // ---- rewrites that a file and a macro's body share ----

    void rewrite(const Context& context, std::size_t i) {
        const Sequence& seq = *context.seq;
        const Token& token = seq[i];
        if (token.kind == TokenKind::punctuator) {
            // Formatters that do not know CUDA write `<< <grid, block >> >`, which compilers take.
            const bool torn = token.is("<<") && seq.is(i + 1, "<") && i > 0 && !seq.is(i - 1, "operator");
            if (token.is("<<<") || torn) return launch(unit_, context, i);
            if (token.is("<<") || token.is("<<=") || token.is(">>=") || token.is(">"))
                shift(unit_, context, i);
            return;
        }
        if (token.kind != TokenKind::identifier) return;
        const std::string_view word = token.text;
        if (word[0] == '_' || word[0] == 'a') {
            if (word == "__shared__") return shared(unit_, context, i);
            if (word == "__noinline__") return noinline(unit_, context, i);
            if (word.substr(0, 10) == "__builtin_") return builtin_function(unit_, context, i);
            if (word == "__CUDA_ARCH__") return architecture_number(unit_, context, i);
            if (word == "_Pragma") return pragma_operator(unit_, context, i);
            if (is_asm(word)) return assembly(unit_, context, i);
            if (word == "__cluster_dims__" || word == "__block_size__") {
                return unit_.refuse(token,
                                    "`" + std::string(word) +
                                        "` cannot be translated; the CPU backend has no thread block "
                                        "clusters; exchange data between blocks through global memory");
            }
        }
        if (word.substr(0, 4) == "cuda") {
            kernel_argument(unit_, context, i);
            runtime_function(unit_, context, i);
            dropped_error(unit_, context, i);
        }
        if (word == "static") return static_variable(unit_, context, i);
        if (word == "while") return waiting_loop(unit_, context, i);
        if (word == "new") return new_expression(unit_, context, i);
        if (word == "clock") return clock_call(unit_, context, i);
        if (word == "func") return kernel_member(unit_, context, i);
        if (word == "std") return library_of_host(unit_, context, i);
        call(unit_, context, i);
        library_function(unit_, context, i);
        variable_of_host(unit_, context, i);
        constant_of_device(unit_, context, i);
        use_of_variable_template(unit_, context, i);
        function_of_device(unit_, context, i);
        use_of_macro(unit_, context, i);
    }

    struct Branch {
        std::vector<Scope> before;       ///< at `#if`
        std::vector<Scope> after_first;  ///< at the end of its first branch
        std::size_t at = 0;              ///< token index of `#if`
        bool has_else = false;
        std::vector<Side> sides;  ///< of its branches
        std::size_t number = 0;   ///< of the branch that is being read
    };

    Unit unit_;
    Lexed lexed_;
    Sequence seq_;
    Context context_;
    std::vector<Scope> scopes_;
    std::vector<Branch> branches_;
    std::map<std::size_t, bool> device_braces_;  ///< bodies of device lambdas; true: of the host's, too
    bool own_texture_ = false;
};

}  // namespace

namespace {
/// No namespace has this name.
constexpr const char* several_spaces = "::";
}  // namespace

void Exports::merge(const Exports& other, bool at_namespace) {
    for (const auto& [name, reason] : other.untranslatable_macros) untranslatable_macros[name] = reason;
    for (const auto& [name, function] : other.macros) macros[name] = function;
    architecture_macros.insert(other.architecture_macros.begin(), other.architecture_macros.end());
    external_names.insert(other.external_names.begin(), other.external_names.end());
    device_constants.insert(other.device_constants.begin(), other.device_constants.end());
    execution_macros.insert(other.execution_macros.begin(), other.execution_macros.end());
    for (const auto& [name, function] : other.functions) note_function(name, function);
    for (auto [name, variable] : other.variables) {
        variable.host = variable.host && at_namespace;
        note_variable(name, variable);
    }
    for (const auto& [name, body] : other.bodies) note_body(name, body);
    hidden_waits = hidden_waits || other.hidden_waits;
    classes.insert(other.classes.begin(), other.classes.end());
    device_variables.insert(other.device_variables.begin(), other.device_variables.end());
    variable_templates.insert(other.variable_templates.begin(), other.variable_templates.end());
    for (const auto& [name, words] : other.macro_words) {
        auto& known = macro_words[name];
        known.insert(known.end(), words.begin(), words.end());
    }
    shared_variables.insert(other.shared_variables.begin(), other.shared_variables.end());
}

void Exports::note_function(std::string_view name, const Function& function) {
    const auto [entry, is_new] = functions.try_emplace(std::string(name), function);
    if (is_new) return;
    Function& known = entry->second;
    if (known.parameters != function.parameters) known.parameters.clear();
    if (known.device_only != function.device_only) known.device_only.clear();
    known.kernel = known.kernel || function.kernel;
    known.device = known.device || function.device;
    known.host = known.host || function.host;
    known.relaxed = known.relaxed || function.relaxed;
    known.launchable = known.launchable || function.launchable;
    if (known.space != function.space) known.space = several_spaces;
}

void Exports::note_body(std::string_view name, Body body) {
    const auto [entry, is_new] = bodies.try_emplace(std::string(name), body);
    if (is_new) return;
    entry->second.is_calm = entry->second.is_calm && body.is_calm;
    entry->second.is_pure = entry->second.is_pure && body.is_pure;
}

void Exports::note_variable(std::string_view name, const Variable& variable) {
    const auto [entry, is_new] = variables.try_emplace(std::string(name), variable);
    if (is_new) return;
    entry->second.host = entry->second.host && variable.host;
    if (entry->second.space != variable.space) entry->second.space = several_spaces;
}

Translation translate(std::string_view text, const std::string& path, const TranslateOptions& options) {
    return Translator(text, path, options).run();
}

std::string apply(std::string_view text, std::vector<Edit> edits) {
    std::stable_sort(edits.begin(), edits.end(), [](const Edit& a, const Edit& b) {
        return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    std::string out;
    out.reserve(text.size() + 64 * edits.size());
    std::size_t done = 0;
    for (const Edit& edit : edits) {
        if (edit.begin < done) continue;  // inside an earlier one
        out += text.substr(done, edit.begin - done);
        out += edit.text;
        // Line ends inside a token are continuations (or a raw string's own): each is kept.
        for (std::size_t i = edit.begin; i < edit.end; ++i) {
            if (text[i] == '\n') out += "\\\n";
        }
        done = edit.end;
    }
    out += text.substr(done);
    return out;
}

}  // namespace cu2cpp
