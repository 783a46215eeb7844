#pragma once

#include <deque>
#include <string>

#include "cu2cpp/syntax.h"

// The statements of a function's body, as far as loop_over_lanes() needs them.
namespace cu2cpp::lanes {

enum class StatementKind {
    simple,
    declaration,
    fixed,
    compound,
    conditional,
    for_,
    while_,
    do_,
    other,
    leave,
    exit
};

/// A statement. `fixed`: the same for all lanes by its nature, as a type or a shared array.
struct Statement {
    StatementKind kind = StatementKind::simple;
    Range whole;                     ///< with its `;` or `}`
    Range head;                      ///< what stands in the parentheses
    std::deque<Statement> children;  ///< statements; branches; a body
    bool waits = false;
    bool leaves = false;   ///< has a `break` or `continue` of a loop around it
    bool returns = false;  ///< has a `return`

    /// Its parts are looked at one by one: it is no part of a region.
    [[nodiscard]] bool splits() const { return waits || leaves; }
};

/// Reads the body that opens at the `{` at `open`. @param flaw why that was not possible, else left as it is
[[nodiscard]] Statement read_body(const Sequence& seq, std::size_t open, std::string& flaw);

}  // namespace cu2cpp::lanes
