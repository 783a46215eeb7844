#pragma once
// What holds a submission, part by part, so that an attack can show what it would do without the part that
// holds it (autograder/attacks/README.md says what each is). The judge has all of them and no switch: what it
// is linked with says so. A program that attacks alone are tried on has another answer
// (attacks/undefended.cpp).

#include <array>
#include <string_view>

namespace rungs::judge {

enum class Defence {
    words,
    includes,
    symbols,
    tool_files,
    tool_limits,
    blame,
    user,
    calls,
    scopes,
    files,
    limits,
    warden,
    clock,
    seals,
    protocol,
    exit_status,
    claims,
    clean_text,
    own_seed,
    addresses,
    inputs,
    outputs,
    poison,
    guards,
    commit,
    late_look,
    launches,
    scratch,
    findings,
    checked_outputs,
    complete_checks,
    counted_outputs,
    secret_count,
    agreement,
    floor,
    copies,
    secrecy,
    method,
    late_inputs,
    own_arena,
    null_alone,
    alone_again,
    both_modes,
    names,
    other_sizes,
    every_launch
};

/// Their names, in that order.
inline constexpr std::array<std::string_view, 46> defence_names{"words",
                                                                "includes",
                                                                "symbols",
                                                                "tool files",
                                                                "tool limits",
                                                                "blame",
                                                                "user",
                                                                "system calls",
                                                                "scopes",
                                                                "files",
                                                                "limits",
                                                                "warden",
                                                                "clock",
                                                                "seals",
                                                                "protocol",
                                                                "exit status",
                                                                "claims",
                                                                "clean text",
                                                                "own seed",
                                                                "addresses",
                                                                "inputs",
                                                                "outputs",
                                                                "poison",
                                                                "guards",
                                                                "commit",
                                                                "late look",
                                                                "launches",
                                                                "scratch",
                                                                "findings",
                                                                "checked outputs",
                                                                "complete checks",
                                                                "counted outputs",
                                                                "secret count",
                                                                "agreement",
                                                                "floor",
                                                                "copies",
                                                                "secrecy",
                                                                "method",
                                                                "late inputs",
                                                                "own arena",
                                                                "null alone",
                                                                "alone again",
                                                                "both modes",
                                                                "names",
                                                                "other sizes",
                                                                "every launch"};

bool is_on(Defence defence);
bool all_are_on();

}  // namespace rungs::judge
