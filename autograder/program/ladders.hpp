#pragma once
// What list, next and hint print, whatever is remembered of the student.

#include <map>
#include <string>

#include "program/progress.hpp"
#include "program/terminal.hpp"
#include "program/workbook.hpp"

namespace rungs {

/// The ladders, and how far up one is.
void show_list(const Workbook& workbook, const std::map<std::string, RungProgress>& progress, Terminal& out);

/// An exercise to do now. `line` of its file is where the work starts.
void show_exercise(const Workbook& workbook, const Chosen& chosen, int line, Terminal& out);

/// The line of the first TODO in a student's file, or of the first open answer; 0: there is none.
int line_of_todo(const std::string& text, const RungEntry& rung);

/// A rung's first `count` hints, and what comes after them.
void show_help(const Workbook& workbook, const Chosen& chosen, std::size_t count, Terminal& out);

}  // namespace rungs
