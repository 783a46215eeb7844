#include "simt/inspect/table.h"

#include <algorithm>
#include <istream>
#include <ostream>
#include <sstream>
#include <stdexcept>

namespace golden {

/// The cells of a line; quotes may hold commas.
static std::vector<std::string> split(const std::string& line) {
    std::vector<std::string> cells(1);
    bool quoted = false;
    for (const char c : line) {
        if (c == '"') {
            quoted = !quoted;
        } else if (c == ',' && !quoted) {
            cells.emplace_back();
        } else if (c != '\r') {
            cells.back() += c;
        }
    }
    return cells;
}

/// "1,980,000" and "13.5"
static double number(std::string text) {
    text.erase(std::remove(text.begin(), text.end(), ','), text.end());
    std::istringstream in(text);
    in.imbue(std::locale::classic());
    double value = 0;
    if (!(in >> value) || !in.eof()) throw std::runtime_error("'" + text + "' is not a number");
    return value;
}

Table read_ncu(std::istream& in, const std::vector<std::string>& names,
               const std::vector<std::string>& metrics, const std::string& closing) {
    Table table;
    table.metrics = metrics;
    std::vector<std::size_t> column;
    std::size_t lines = 0, kernel = 0;
    Row row;
    for (const std::string& metric : metrics) row.value[metric] = 0;
    const Row nothing = row;
    for (std::string line; std::getline(in, line);) {
        if (line.empty() || line[0] != '"') continue;  // the program's, or ncu's own
        const std::vector<std::string> cells = split(line);
        if (++lines == 1) {
            for (const std::string& metric : metrics) {
                const auto found = std::find(cells.begin(), cells.end(), metric);
                if (found == cells.end()) throw std::runtime_error("ncu has no column " + metric);
                column.push_back(static_cast<std::size_t>(found - cells.begin()));
            }
            const auto name = std::find(cells.begin(), cells.end(), "Kernel Name");
            if (!closing.empty() && name == cells.end()) throw std::runtime_error("ncu has no kernel names");
            kernel = static_cast<std::size_t>(name - cells.begin());
        } else if (lines > 2) {  // the second line has the units
            const bool closes = !closing.empty() && cells.at(kernel).find(closing) != std::string::npos;
            for (std::size_t i = 0; i < metrics.size() && !closes; ++i) {
                row.value[metrics[i]] += number(cells.at(column[i]));
            }
            if (!closing.empty() && !closes) continue;
            if (table.rows.size() == names.size()) throw std::runtime_error("more launches than names");
            row.name = names[table.rows.size()];
            table.rows.push_back(row);
            row = nothing;
        }
    }
    if (table.rows.size() != names.size()) {
        throw std::runtime_error(std::to_string(table.rows.size()) + " launches, but " +
                                 std::to_string(names.size()) + " names");
    }
    return table;
}

void write(std::ostream& out, const Table& table) {
    out.imbue(std::locale::classic());
    for (const std::string& comment : table.comments) out << "# " << comment << '\n';
    out << "kernel";
    for (const std::string& metric : table.metrics) out << ',' << metric;
    out << '\n';
    for (const Row& row : table.rows) {
        out << row.name;
        for (const std::string& metric : table.metrics) {
            std::ostringstream cell;
            cell.imbue(std::locale::classic());
            cell.precision(12);
            cell << row.value.at(metric);
            out << ',' << cell.str();
        }
        out << '\n';
    }
}

Table read(std::istream& in) {
    Table table;
    std::size_t number_of_line = 0;
    bool header = true;
    for (std::string line; std::getline(in, line);) {
        ++number_of_line;
        if (line.empty()) continue;
        if (line[0] == '#') {
            table.comments.push_back(line.substr(line.size() > 1 && line[1] == ' ' ? 2 : 1));
            continue;
        }
        const std::vector<std::string> cells = split(line);
        if (header) {
            table.metrics.assign(cells.begin() + 1, cells.end());
            header = false;
            continue;
        }
        if (cells.size() != table.metrics.size() + 1) {
            throw std::runtime_error("line " + std::to_string(number_of_line) + " has " +
                                     std::to_string(cells.size()) + " cells");
        }
        table.rows.push_back({cells[0], {}});
        for (std::size_t i = 0; i < table.metrics.size(); ++i) {
            table.rows.back().value[table.metrics[i]] = number(cells[i + 1]);
        }
    }
    return table;
}

}  // namespace golden
