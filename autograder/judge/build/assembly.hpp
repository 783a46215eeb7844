#pragma once
// Looks at what the compiler hands to the assembler: all of it must be the compiler's own work, and no text
// that a rung has smuggled through.

#include <string>
#include <string_view>
#include <vector>

namespace rungs::judge {

/// Why a compiler's output must not be assembled, in words for a student; empty when it may. Assembly of
/// headers may stand in it, marked as theirs. `own`: the names of the rung's files.
std::string objection_to_assembly(std::string_view text, const std::vector<std::string>& own);

}  // namespace rungs::judge
