/// @file
/// What a program's line table says that addr2line does not: columns, and which lines there are.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace simt::check {

/// `text` is what `addr2line -a -f -i -e program ADDRESS...` printed. Puts ":COLUMN" behind each "file:line"
/// whose column the program has: for the innermost function in its line table (.debug_line, DWARF 2 to 5),
/// for those that it is inlined into beside its call (.debug_info, DWARF 2 to 4). Where nothing can be read,
/// or it is damaged, the text stays as it is.
std::string with_columns(const std::string& program, const std::string& text);

/// The lines of the source files called `name` that `program` has code for, and whether any of it has run.
/// @param ran  the blocks that have, as simt::check::take_blocks() returns them. Empty, damaged, or of a
///             program for another processor than x86-64: no lines
std::map<unsigned, bool> lines_run(const std::string& program, const std::string& name,
                                   const std::set<std::uint64_t>& ran);

}  // namespace simt::check
