#pragma once
// Tables as RFC 4180 has them. Strict: what a spreadsheet would have to guess is an error with its line.

#include <string>
#include <vector>

namespace rungs::classroom {

/// A row of a table and the line of the file that it begins on.
struct CsvRow {
    std::size_t line;
    std::vector<std::string> cells;
};

/// All rows of `text`; empty lines are none. All rows have as many cells as the first one. `file` is what
/// errors name. @throws ClassError
std::vector<CsvRow> parse_csv(const std::string& text, const std::string& file);

}  // namespace rungs::classroom
