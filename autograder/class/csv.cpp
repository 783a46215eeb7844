#include "class/csv.hpp"

#include <fmt/format.h>

#include "class/assignment.hpp"

namespace rungs::classroom {

std::vector<CsvRow> parse_csv(const std::string& text, const std::string& file) {
    std::vector<CsvRow> rows;
    std::size_t at = text.compare(0, 3, "\xEF\xBB\xBF") == 0 ? 3 : 0, line = 1;
    const auto refuse = [&](const std::string& what) {
        throw ClassError(fmt::format("{}:{}: {}", file, line, what));
    };
    while (at < text.size()) {
        CsvRow row{line, {}};
        for (bool more = true; more;) {
            std::string cell;
            if (at < text.size() && text[at] == '"') {
                for (++at;; ++at) {
                    if (at >= text.size()) refuse("a quote is not closed");
                    if (text[at] == '"' && text.compare(at, 2, "\"\"") == 0) {
                        ++at;
                    } else if (text[at] == '"') {
                        break;
                    }
                    if (text[at] == '\n') ++line;
                    cell += text[at];
                }
                ++at;
            } else {
                while (at < text.size() && text[at] != ',' && text[at] != '\n' && text[at] != '\r') {
                    if (text[at] == '"')
                        refuse("a quote in the middle of a cell; put the whole cell in quotes");
                    cell += text[at++];
                }
            }
            row.cells.push_back(std::move(cell));
            more = at < text.size() && text[at] == ',';
            if (more) {
                ++at;
            } else if (text.compare(at, 2, "\r\n") == 0) {
                at += 2;
            } else if (at < text.size() && text[at] == '\n') {
                ++at;
            } else if (at < text.size()) {
                refuse("expected a comma or the end of the line");
            }
        }
        ++line;
        if (row.cells.size() == 1 && row.cells[0].empty()) continue;
        if (!rows.empty() && row.cells.size() != rows[0].cells.size()) {
            line = row.line;
            refuse(fmt::format("{} cells, but the heading has {}", row.cells.size(), rows[0].cells.size()));
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

}  // namespace rungs::classroom
