/// @file
/// Columns of the source, which addr2line does not tell.
#pragma once

#include <string>

namespace simt::check {

/// `text` is what `addr2line -a -f -i -e program ADDRESS...` printed. Puts ":COLUMN" behind each "file:line"
/// whose column the program has: for the innermost function in its line table (.debug_line, DWARF 2 to 5),
/// for those that it is inlined into beside its call (.debug_info, DWARF 2 to 4). Where nothing can be read,
/// or it is damaged, the text stays as it is.
std::string with_columns(const std::string& program, const std::string& text);

}  // namespace simt::check
