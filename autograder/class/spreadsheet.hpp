#pragma once
// Tables as RFC 4180 has them: written so that no spreadsheet executes a cell, and read with the place of
// every cell, so that one cell can be changed and every other byte stays.

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace rungs::classroom {

/// Not a table: what() says the line and what is wrong with it.
class CsvError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// `text` cleaned, and with an apostrophe in front where a spreadsheet would take it for a formula.
std::string spreadsheet_safe(std::string_view text);

/// One line of a table with its CRLF: every cell spreadsheet_safe(), in quotes where it needs them. Cells
/// with numbers of our own may be passed as they are.
std::string csv_line(const std::vector<std::string>& cells);

struct CsvCell {
    std::string text;       ///< without the quotes around it
    std::size_t begin = 0;  ///< its bytes in the file, quotes included
    std::size_t end = 0;
    bool quoted = false;
};

struct CsvFile {
    std::string bytes;
    char separator = ',';
    std::vector<std::vector<CsvCell>> rows;  ///< without empty lines

    /// The bytes with other texts in place of some cells; a cell that was in quotes stays in quotes.
    struct Change {
        const CsvCell* cell;
        std::string text;
    };
    std::string with(std::vector<Change> changes) const;
};

/// Reads a table. The separator is the one of comma, semicolon and tab that splits the first line most often.
/// A byte order mark is kept out of the first cell. @throws CsvError for quotes that do not close or do not
/// enclose a cell, and for what is no text
CsvFile read_csv(std::string bytes);

}  // namespace rungs::classroom
