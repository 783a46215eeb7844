// A kernel that may become loops over lanes: the order of the work.
#include "cu2cpp/lanes/kernel.h"

#include "cu2cpp/lanes/words.h"

namespace cu2cpp::lanes {

Kernel::Kernel(Unit& unit, const Sequence& seq, const std::vector<Directive>& directives, Range head)
    : unit_(unit), seq_(seq), head_(head), body_{head.end, seq.skip_group(head.end)} {
    for (const Directive& d : directives)
        if (d.at > body_.begin && d.at < body_.end && d.name() != "pragma") flaw_ = "a directive in its body";
}

void Kernel::translate() {
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

bool Kernel::is_possible() {
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

bool Kernel::give_up(const std::string& why) {
    if (flaw_.empty()) flaw_ = why;
    return false;
}

}  // namespace cu2cpp::lanes
