/// @file
/// What a program's line table says that addr2line does not: columns, and which lines there are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace simt::check {

/// A program's file in memory, without a copy; empty if it cannot be opened.
class ProgramFile {
  public:
    explicit ProgramFile(const std::string& path);
    explicit ProgramFile(int descriptor);
    ~ProgramFile();
    ProgramFile(const ProgramFile&) = delete;
    ProgramFile& operator=(const ProgramFile&) = delete;

    std::string_view bytes() const { return {data_, size_}; }

  private:
    void map(int descriptor);

    const char* data_ = nullptr;
    std::size_t size_ = 0;
};

/// `text` is what `addr2line -a -f -i -e program ADDRESS...` printed. The column of each of its lines, where
/// that is a "file:line" whose column the program has, or 0: for the innermost function from its line table
/// (.debug_line, DWARF 2 to 5), for those that it is inlined into that of its call (.debug_info, DWARF 2 to
/// 4). All are 0 where nothing can be read, or it is damaged. A place in a function that the compiler made,
/// such as the copy of a structure, has a number that with_columns() knows.
std::vector<std::uint32_t> columns_of(const ProgramFile& program, const std::string& text);

/// `text` with ":COLUMN" behind each "file:line" whose column is not 0, and without functions that the
/// compiler made where they are inlined: the place of such a function is its class, and what happened is
/// where it was called.
std::string with_columns(const std::string& text, const std::vector<std::uint32_t>& columns);

/// Both of these.
std::string with_columns(const ProgramFile& program, const std::string& text);

/// The lines of the source files called `name` that `program` has code for, and whether any of it has run.
/// @param ran  the blocks that have, as simt::check::take_blocks() returns them. Empty, damaged, or of a
///             program for another processor than x86-64: no lines
std::map<unsigned, bool> lines_run(const ProgramFile& program, const std::string& name,
                                   const std::set<std::uint64_t>& ran);

}  // namespace simt::check
