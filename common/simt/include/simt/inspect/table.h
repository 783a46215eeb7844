/// @file
/// Tables of counters, one row per kernel: as ncu prints them, and as they are in the repository.
#pragma once

#include <iosfwd>
#include <map>
#include <string>
#include <vector>

namespace golden {

struct Row {
    std::string name;                     ///< of the kernel in the golden set
    std::map<std::string, double> value;  ///< by the metric's name
};

struct Table {
    std::vector<std::string> comments;  ///< lines that began with '#', without it: machine and versions
    std::vector<std::string> metrics;   ///< the columns after the name
    std::vector<Row> rows;
};

/// Reads what `ncu --csv --page raw --print-units base --metrics ...` printed, with the profiled program's
/// own lines among it. The n-th launch gets the n-th of `names`. With `closing`, a row is the sum of all
/// launches up to one of the kernel of that name.
/// @throws std::runtime_error if a metric is missing or the launches are not as many as the names
Table read_ncu(std::istream& in, const std::vector<std::string>& names,
               const std::vector<std::string>& metrics, const std::string& closing = "");

/// Writes and reads comma-separated values. @throws std::runtime_error with the line that is broken
void write(std::ostream& out, const Table& table);
Table read(std::istream& in);

}  // namespace golden
