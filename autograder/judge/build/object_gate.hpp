#pragma once
// Looks at a submission's object file before it is linked: does it define its launchers, and nothing that
// belongs to the grader, the system or CUDA? Hygiene that gives plain messages; not a wall.

#include <set>
#include <string>
#include <vector>

namespace rungs::judge {

/// One symbol of an object file, as nm sees it.
struct Symbol {
    std::string name;
    /// nm's letter: T function, D B R data, W V weak, u unique, U w v undefined, other lower case local; '?':
    /// no line that nm would write
    char type = '?';
    unsigned long long size = 0;
};

/// Reads the output of `nm -P`.
std::vector<Symbol> parse_symbols(const std::string& text);

/// "reduction::sum(float const*)" for "_ZN9reduction3sumEPKf", at most 2000 bytes of it; the name itself
/// where it is not mangled, or so full of references that what it stands for might have no end.
std::string demangle(const std::string& name);

/// What the entry object calls: its undefined symbols that are functions `qualified`, as in
/// "reduction::shared_tree", of whatever parameters.
std::vector<std::string> launchers(const std::vector<Symbol>& entry, const std::string& qualified);

/// The symbol of a function of the same namespace and parameters, but another name: "_ZN9reduction5otherEPKf"
/// of "_ZN9reduction3sumEPKf", "sum" and "other". (Itanium C++ ABI, 5.1: nothing else in it depends on its
/// name.)
std::string renamed(const std::string& symbol, const std::string& name, const std::string& to);

/// The names that are defined for all, and not as an inline function would be.
std::set<std::string> strong_names(const std::vector<Symbol>& symbols);

/// Why an object must not be linked, in words for a student; empty when it may. `ours`: names that the worker
/// and the backend define. `reserved`: names that it must not ask for (public_names.hpp).
std::string objection(const std::vector<Symbol>& object, const std::vector<std::string>& launchers,
                      const std::set<std::string>& ours = {}, const std::set<std::string>& reserved = {});

/// The symbols that an object defines but those that are `wanted` of it: made local, they cannot stand in for
/// anything of ours or of the libraries. Weak ones, which are inline code, with `inline_code` alone.
std::vector<std::string> private_symbols(const std::vector<Symbol>& object,
                                         const std::vector<std::string>& wanted, bool inline_code);

}  // namespace rungs::judge
