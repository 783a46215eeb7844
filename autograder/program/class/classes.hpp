#pragma once
// A graded class on the terminal: what grade, review and replay have in common.

#include "class/record.hpp"
#include "program/terminal.hpp"

namespace rungs {

/// A row for each student, and what is open.
/// `out_folder` as it was given.
void show_class(const classroom::Gradebook& book, const std::string& out_folder, Terminal& out);

}  // namespace rungs
