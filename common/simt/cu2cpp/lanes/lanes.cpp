// Loops over lanes: a kernel in which all lanes of a block come to each barrier together is run by one of
// them for all. include/simt/lanes.h says what becomes of it.
//
// What has to hold of such a kernel is read off its tokens, and whatever is not understood leaves the kernel
// as it is: each lane then has a stack of its own. Barriers, and shuffles and waits of warps, stand only
// where the way to them is the same for all lanes: under conditions made of what no lane changes (*uniform*
// names). All else lies between them, in *regions*, whose calls do not wait: neither for each other, nor in a
// loop for what another lane does.
#include "cu2cpp/lanes/lanes.h"

#include <string>
#include <vector>

#include "cu2cpp/lanes/kernel.h"
#include "cu2cpp/lanes/words.h"

namespace cu2cpp {

void note_macro(Unit& unit, const Directive& d) {
    if (d.tokens.size() < 2 || !(unit.options.loops_over_lanes || unit.options.dropped_errors)) return;
    std::size_t body = 2;
    if (body < d.tokens.size() && d.tokens[2].is("(") && d.tokens[1].end == d.tokens[2].begin)
        while (body < d.tokens.size() && !d.tokens[body].is(")")) ++body;
    auto& words = unit.out.exports.macro_words[std::string(d.tokens[1].text)];
    for (std::size_t k = body; k < d.tokens.size(); ++k) {
        const Token& token = d.tokens[k];
        if (token.is_identifier() || token.is("{") || token.is(";") || lanes::is_assignment(token.text))
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
    bool calm = !lanes::may_poll(seq, body), pure = true;
    for (std::size_t k = body.begin; k < body.end; ++k) {
        const Token& token = seq[k];
        if (token.is("threadIdx")) pure = false;
        if (!token.is_identifier()) continue;
        if (lanes::is_wait(token.text) || lanes::is_beyond(token.text)) {
            if (is_among("new delete throw try catch operator goto __trap __func__ __CUDA_ARCH__",
                         token.text))
                continue;  // in no kernel, for the sake of how that is written, but no wait
            calm = false;
            if (member || name == npos || seq.is(name, "operator")) exports.hidden_waits = true;
        }
        const std::size_t open = call_at(seq, k, body.end);
        if (open == npos || is_control(token.text) || lanes::is_cast(token.text)) continue;
        if (const auto known = exports.bodies.find(token.text); known != exports.bodies.end()) {
            calm = calm && known->second.is_calm;
            pure = pure && known->second.is_pure;
        } else if (lanes::is_effective_function(token.text)) {
            pure = false;
        } else if (!lanes::is_plain_function(token.text)) {
            calm = pure = false;
        }
    }
    for (std::size_t k = body.begin; k < body.end; ++k) {
        const auto macro = exports.macro_words.find(seq[k].text);
        if (!seq[k].is_identifier() || macro == exports.macro_words.end()) continue;
        for (const std::string& word : macro->second)
            if (lanes::is_wait(word) || lanes::is_beyond(word) || word == "threadIdx" ||
                exports.macro_words.count(word) != 0)
                calm = pure = false;
    }
    if (name == npos || !seq.is_identifier(name) || member) return;
    exports.note_body(seq[name].text, {calm, calm && pure});
}

void loop_over_lanes(Unit& unit, const Sequence& seq, const std::vector<Directive>& directives, Range head) {
    if (!unit.options.loops_over_lanes || seq.match(head.end) == npos) return;
    if (!has_specifier(seq, head, "__global__")) return;
    lanes::Kernel(unit, seq, directives, head).translate();
}

}  // namespace cu2cpp
