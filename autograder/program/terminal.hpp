#pragma once
// Text for people: colours where the terminal takes them, ASCII where the locale wants it, and errors of the
// output itself (a closed pipe, a full disk) that are noticed.

#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>

namespace rungs {

enum class Style { plain, bold, dim, good, bad, warn, link };

/// Standard output cannot be written: what() says why and what to do. Exit status 3.
class OutputError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Nobody reads any more (`rungs list | head`): the program ends without a word.
class ReaderGone : public std::runtime_error {
  public:
    ReaderGone() : std::runtime_error("the reader of the output has gone") {}
};

class Terminal {
  public:
    /// Looks at what `stream` is: colours need a terminal and no NO_COLOR (CLICOLOR_FORCE overrides the
    /// first), signs beyond ASCII need a UTF-8 locale.
    explicit Terminal(std::FILE* stream);

    /// Appends to `text` what a file gets in a UTF-8 locale.
    explicit Terminal(std::string& text);

    bool is_terminal() const { return is_terminal_; }
    int width() const;  ///< columns; COLUMNS where that is set, 80 where nothing tells

    std::string paint(Style style, std::string_view text) const;

    const char* tick() const { return utf8_ ? "\u2713" : "+"; }
    const char* cross() const { return utf8_ ? "\u2717" : "x"; }
    const char* open() const { return utf8_ ? "\u00b7" : "-"; }

    /// Writes a line. @throws ReaderGone, OutputError
    void line(std::string_view text = {});

    /// Writes text as it is. @throws ReaderGone, OutputError
    void write(std::string_view text);

    /// A line that the next one replaces; only on terminals, and never throws.
    void status(std::string_view text) noexcept;

    /// The text cut to `columns`, and in ASCII where the locale wants it.
    std::string cut(std::string_view text, int columns) const;

    /// The text in lines of at most width() - `indent` columns, each indented.
    std::string wrapped(std::string_view text, int indent) const;

  private:
    void clear_status();

    std::FILE* stream_;
    std::string* text_ = nullptr;  ///< instead of the stream
    bool is_terminal_;
    bool colour_;
    bool utf8_;
    bool status_shown_ = false;
};

}  // namespace rungs
