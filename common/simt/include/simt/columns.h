/// @file
/// Columns of the source, which addr2line does not tell.
#pragma once

#include <string>

namespace simt::check {

/// `text` is what `addr2line -a -f -i -e program ADDRESS...` printed. Puts ":COLUMN" behind the first
/// "file:line" of each address whose column the program's line table (.debug_line, DWARF 2 to 5) has. Where
/// it cannot be read, or is damaged, the text stays as it is.
std::string with_columns(const std::string& program, const std::string& text);

}  // namespace simt::check
