#pragma once
// Tables as comma-separated values (RFC 4180), numbers in full precision and with a point
// whatever the locale.

#include <charconv>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "rungs/atomic_file.hpp"

namespace rungs {

/// Collects rows, then writes them at once:
///
///     Csv table({"n", "milliseconds"});
///     table.row(1024, 0.012);
///     table.write("times.csv");
class Csv {
  public:
    explicit Csv(const std::vector<std::string>& header) : columns_(header.size()) {
        for (const std::string& name : header) add(name);
        end_row();
    }

    /// One row of numbers and texts. @throws std::invalid_argument unless there is one cell for each column.
    template <class... Cells>
    void row(const Cells&... cells) {
        if (sizeof...(cells) != columns_) {
            throw std::invalid_argument("Csv: a row of " + std::to_string(sizeof...(cells)) +
                                        " cells in a table of " + std::to_string(columns_) + " columns");
        }
        (add(cells), ...);
        end_row();
    }

    const std::string& text() const { return text_; }

    /// @throws FileError
    void write(const std::filesystem::path& path) const { write_file(path, text_); }

  private:
    template <class T>
    void add(const T& cell) {
        if constexpr (std::is_same_v<T, bool>) {
            text_ += cell ? "true" : "false";
        } else if constexpr (std::is_arithmetic_v<T>) {
            char digits[32];  // the shortest form that reads back as the same number
            text_.append(digits, std::to_chars(digits, digits + sizeof digits, cell).ptr);
        } else {
            const std::string_view value(cell);
            const bool quote = value.find_first_of(",\"\r\n") != std::string_view::npos;
            if (quote) text_ += '"';
            for (const char c : value) text_.append(c == '"' ? 2 : 1, c);
            if (quote) text_ += '"';
        }
        text_ += ',';
    }
    void end_row() {
        if (columns_ > 0) text_.pop_back();
        text_ += "\r\n";
    }

    std::size_t columns_;
    std::string text_;
};

}  // namespace rungs
