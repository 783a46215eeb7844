#include "class/spreadsheet.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "judge/result/clean_text.hpp"

namespace rungs::classroom {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

std::string in_quotes(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
    return out + '"';
}

bool needs_quotes(std::string_view text, char separator) {
    return text.find_first_of(std::string("\"\r\n") + separator) != std::string_view::npos ||
           (!text.empty() && (text.front() == ' ' || text.back() == ' '));
}

/// Whether a spreadsheet, or one that reads full-width forms as their narrow ones, begins to calculate here.
bool begins_formula(char32_t c) {
    constexpr std::u32string_view starts = U"=+-@\t\r\n|%\uFF1D\uFF0B\uFF0D\uFF20\u2212";
    return starts.find(c) != std::u32string_view::npos;
}

/// Reads one table; `at` says where.
class CsvReader {
  public:
    explicit CsvReader(CsvFile& file) : file_(file), bytes_(file.bytes) {}

    void read() {
        if (bytes_.starts_with(byte_order_mark)) at_ = byte_order_mark.size();
        while (at_ < bytes_.size()) {
            std::vector<CsvCell> row = read_row();
            if (row.size() > 1 || row.front().quoted || !row.front().text.empty())
                file_.rows.push_back(std::move(row));
        }
    }

  private:
    std::vector<CsvCell> read_row() {
        std::vector<CsvCell> row;
        do row.push_back(read_cell());
        while (take(file_.separator));
        if (!take_line_end() && at_ < bytes_.size()) {
            throw CsvError(fmt::format(
                "line {}: text after a closing quote; a quote inside a cell is written twice", line_));
        }
        ++line_;
        return row;
    }

    CsvCell read_cell() {
        CsvCell cell;
        cell.begin = at_;
        if (take('"')) {
            cell.quoted = true;
            const int opened = line_;
            for (;;) {
                if (at_ == bytes_.size())
                    throw CsvError(fmt::format("line {}: a quote is opened here and never closed", opened));
                const char c = bytes_[at_++];
                if (c == '"' && !take('"')) break;
                line_ += c == '\n';
                cell.text += c;
            }
        } else {
            while (at_ < bytes_.size() && bytes_[at_] != file_.separator && bytes_[at_] != '\n' &&
                   bytes_[at_] != '\r') {
                if (bytes_[at_] == '"')
                    throw CsvError(fmt::format("line {}: a quote in a cell that has none around it", line_));
                cell.text += bytes_[at_++];
            }
        }
        cell.end = at_;
        return cell;
    }

    bool take(char c) {
        if (at_ == bytes_.size() || bytes_[at_] != c) return false;
        ++at_;
        return true;
    }

    /// LF, CRLF, or a CR alone.
    bool take_line_end() {
        const bool cr = take('\r'), lf = take('\n');
        return cr || lf;
    }

    CsvFile& file_;
    const std::string& bytes_;
    std::size_t at_ = 0;
    int line_ = 1;
};

/// The separator that the first line has most of, outside of quotes.
char separator_of(std::string_view bytes) {
    constexpr std::string_view candidates = ",;\t";
    std::size_t counts[candidates.size()] = {};
    bool quoted = false;
    for (const char c : bytes) {
        if (c == '"') quoted = !quoted;
        if (quoted) continue;
        if (c == '\n' || c == '\r') break;
        if (const std::size_t which = candidates.find(c); which != std::string_view::npos) ++counts[which];
    }
    return candidates[static_cast<std::size_t>(std::max_element(std::begin(counts), std::end(counts)) -
                                               std::begin(counts))];
}

}  // namespace

std::string spreadsheet_safe(std::string_view text) {
    std::string clean = clean_utf8(text);
    // Spreadsheets drop blanks in front before they look.
    std::string_view rest = clean;
    while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
    if (rest.empty() || !begins_formula(take_clean(rest))) return clean;
    return '\'' + clean;
}

std::string csv_line(const std::vector<std::string>& cells) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const std::string cell = spreadsheet_safe(cells[i]);
        // A line of one empty cell is an empty line, which readers drop.
        const bool quotes = needs_quotes(cell, ',') || (cells.size() == 1 && cell.empty());
        line += (i == 0 ? "" : ",") + (quotes ? in_quotes(cell) : cell);
    }
    return line + "\r\n";
}

CsvFile read_csv(std::string bytes) {
    if (bytes.find('\0') != std::string::npos) {
        throw CsvError(
            "it has NUL bytes, so it is not CSV in UTF-8: a spreadsheet's own format, or UTF-16? "
            "Export it as CSV");
    }
    CsvFile file;
    file.bytes = std::move(bytes);
    file.separator = separator_of(file.bytes);
    CsvReader(file).read();
    return file;
}

std::string CsvFile::with(std::vector<Change> changes) const {
    std::sort(changes.begin(), changes.end(),
              [](const Change& a, const Change& b) { return a.cell->begin < b.cell->begin; });
    std::string out;
    std::size_t at = 0;
    for (const Change& change : changes) {
        out.append(bytes, at, change.cell->begin - at);
        out += change.cell->quoted || needs_quotes(change.text, separator) ? in_quotes(change.text)
                                                                           : change.text;
        at = change.cell->end;
    }
    return out.append(bytes, at, std::string::npos);
}

}  // namespace rungs::classroom
