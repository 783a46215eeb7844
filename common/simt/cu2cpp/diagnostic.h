#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace cu2cpp {

/// One refusal: where, and a sentence of three parts: what; why; what to do instead.
struct Diagnostic {
    std::string path;
    std::size_t line = 0;    ///< 1-based; 0 when the whole file is meant
    std::size_t column = 0;  ///< 1-based, in bytes, as compilers count
    std::string message;

    /// `path:line:column: error: message`, the form every editor can jump from.
    [[nodiscard]] std::string text(std::string_view kind = "error") const;
};

/// Offsets to lines and columns; built once per file.
class LineTable {
  public:
    explicit LineTable(std::string_view text);
    [[nodiscard]] std::size_t line(std::size_t offset) const;    ///< 1-based
    [[nodiscard]] std::size_t column(std::size_t offset) const;  ///< 1-based

  private:
    std::vector<std::size_t> starts_;
};

/// A file cannot be read or written; the message names it and says what to do.
class FileError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

}  // namespace cu2cpp
