/// @file
/// Loops over lanes, as the translator sees them: a kernel in which all lanes of a block reach each barrier
/// together is run by one of them for all. include/simt/lanes.h says what becomes of it, and README.md how
/// the translator decides.
#pragma once

#include "cu2cpp/unit.h"

namespace cu2cpp {

/// Remembers what a macro is made of, and whether lanes may wait in a function: see loop_over_lanes().
void note_macro(Unit& unit, const Directive& d);
void note_class(Unit& unit, const Sequence& seq, Range head);
/// @param member the function is a class's
void note_body(Unit& unit, const Sequence& seq, Range head, bool member);

/// A kernel in which all lanes of a block come to each barrier together becomes loops over lanes, one between
/// every two barriers; whatever is not understood leaves it as it is.
void loop_over_lanes(Unit& unit, const Sequence& seq, const std::vector<Directive>& directives, Range head);

/// The loop of the `while` at `k` does nothing but look, so that another lane has to end it: the `;` or the
/// `{` of its empty body, or npos.
[[nodiscard]] std::size_t body_that_waits(const Sequence& seq, std::size_t k);

}  // namespace cu2cpp
