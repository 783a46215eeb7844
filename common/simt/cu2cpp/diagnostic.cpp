#include "cu2cpp/diagnostic.h"

#include <algorithm>

namespace cu2cpp {

std::string Diagnostic::text(std::string_view kind) const {
    std::string where = path;
    if (line != 0) where += ":" + std::to_string(line) + ":" + std::to_string(column);
    return where + ": " + std::string(kind) + ": " + message;
}

LineTable::LineTable(std::string_view text) : starts_{0} {
    for (std::size_t i = 0; i < text.size(); ++i)
        if (text[i] == '\n') starts_.push_back(i + 1);
}

std::size_t LineTable::line(std::size_t offset) const {
    return static_cast<std::size_t>(std::upper_bound(starts_.begin(), starts_.end(), offset) -
                                    starts_.begin());
}

std::size_t LineTable::column(std::size_t offset) const { return offset - starts_[line(offset) - 1] + 1; }

}  // namespace cu2cpp
