#pragma once
// What holds a submission, part by part, so that an attack can show what it would do without the part that
// holds it. The judge has all of them and no switch: here is_on() is a constant. A second build of it, which
// attacks alone are tried on, can go without one (RUNGS_UNDEFENDED; autograder/attacks/README.md says what
// each is).

#include <array>
#include <cstdint>
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
    method
};

/// Their names, in that order.
inline constexpr std::array<std::string_view, 37> defence_names{
    "words",           "includes",     "symbols",      "tool files",      "tool limits",
    "blame",           "user",         "system calls", "scopes",          "files",
    "limits",          "warden",       "clock",        "seals",           "protocol",
    "exit status",     "claims",       "clean text",   "own seed",        "inputs",
    "outputs",         "poison",       "guards",       "commit",          "late look",
    "launches",        "scratch",      "findings",     "checked outputs", "complete checks",
    "counted outputs", "secret count", "agreement",    "floor",           "copies",
    "secrecy",         "method"};

#ifdef RUNGS_UNDEFENDED
inline std::uint64_t defences_off = 0;  ///< a bit each

inline bool all_are_on() { return defences_off == 0; }
inline bool is_on(Defence defence) { return (defences_off >> static_cast<int>(defence) & 1U) == 0; }
#else
constexpr bool all_are_on() { return true; }
constexpr bool is_on(Defence) { return true; }
#endif

}  // namespace rungs::judge
