#pragma once
// A result on the terminal: rows while it comes in, a total, and what is to be said of what did not pass.

#include <filesystem>
#include <string>

#include "program/grading.hpp"

namespace rungs {

/// "reference solutions", "your rungs", "submission DIR"
std::string whose_text(const GradeOptions& options);

/// The line above a table: what is graded, where, with which seed.
void show_heading(const Workbook& workbook, const GradeOptions& options, Terminal& out);

/// One row of the table.
void show_row(const RungReport& rung, int name_width, Terminal& out);

/// Total, and what was not judged.
void show_total(const Report& report, Terminal& out);

/// Why a rung did not pass: file and line, what was tried, first mismatches, likely cause, next command.
void show_details(const Workbook& workbook, const RungReport& rung, const GradeOptions& options,
                  Terminal& out);

/// show_details() of every rung that did not pass, and why nothing could be checked where that is so.
void show_failures(const Workbook& workbook, const Report& report, const GradeOptions& options,
                   Terminal& out);

/// The line of the kernel in a rung's file, else of the launcher, else 1.
int line_of_kernel(const std::filesystem::path& file, const RungEntry& rung);

/// `text` as one word of a shell's command line, in quotes where it needs them. Bytes that could steer a
/// terminal are written as numbers ($'\\033'), as POSIX and bash have it.
std::string shell_word(const std::string& text);

}  // namespace rungs
