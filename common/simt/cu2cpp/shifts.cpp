// `a << n` in device code: what a shift by too many bits gives is the hardware's, see simt/shift.h.
#include <algorithm>
#include <array>

#include "cu2cpp/passes.h"

namespace cu2cpp {
namespace {

/// Behind the amount, what would make more of it than a number.
bool binds_closer(const Sequence& seq, std::size_t i) {
    return i < seq.size() && (seq.is(i, "+") || seq.is(i, "-") || seq.is(i, "*") || seq.is(i, "/") ||
                              seq.is(i, "%") || seq.is(i, "."));
}

/// The amount at `i` is a number that every type has bits for.
bool surely_within(const Sequence& seq, std::size_t i) {
    if (i >= seq.size() || seq[i].kind != TokenKind::number || binds_closer(seq, i + 1)) return false;
    std::string_view digits = seq[i].text;
    while (!digits.empty() && (digits.back() == 'u' || digits.back() == 'U')) digits.remove_suffix(1);
    if (digits.empty() || digits.size() > 2 || digits.find_first_not_of("0123456789") != digits.npos)
        return false;
    return digits.size() == 1 || digits <= "31";
}

/// The statement around `i` writes text to a stream, which is the host's.
bool writes_text(const Sequence& seq, std::size_t i) {
    constexpr std::array<std::string_view, 5> words = {"std", "cout", "cerr", "clog", "endl"};
    const auto ends = [&](std::size_t k) { return seq.is(k, ";") || seq.is(k, "{") || seq.is(k, "}"); };
    std::size_t k = i;
    while (k > 0 && !ends(k - 1)) --k;
    for (; k < seq.size() && !ends(k); ++k) {
        if (seq[k].kind == TokenKind::string) return true;
        if (std::find(words.begin(), words.end(), seq[k].text) != words.end()) return true;
    }
    return false;
}

}  // namespace

void shift(Unit& unit, const Context& context, std::size_t i) {
    const Sequence& seq = *context.seq;
    const bool device =
        context.macro ? !context.parameters.empty() : (context.device || context.both) && context.in_code();
    if (!device || i == 0 || seq.is(i - 1, "operator")) return;
    const bool right = seq[i].text[0] == '>', assigns = seq[i].text.back() == '=';
    const std::size_t last = right && !assigns ? i + 1 : i;  // `>>` is two tokens
    if (last != i) {
        if (!seq.is(last, ">") || !seq.adjacent(i)) return;
        // Does it close template argument lists?
        if (seq.is(i - 1, ">") || seq.is(last + 1, ">") || seq.open_angle(last) != npos) return;
    }
    if (surely_within(seq, last + 1)) return;
    if ((context.macro || context.both) && writes_text(seq, i)) return;
    // As wide as the operator, so that columns stay right.
    std::string word = std::string(right ? "$R" : "$L") + (assigns ? "_" : "");
    if (seq.adjacent(i - 1)) word.insert(0, " ");
    if (seq.adjacent(last)) word += " ";
    unit.out.edits.push_back({seq[i].begin, seq[last].end, std::move(word)});
}

}  // namespace cu2cpp
