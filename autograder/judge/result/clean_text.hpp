#pragma once
// The one way in for text from outside: names of files and folders, what compilers and workers say. Terminal,
// JSON, HTML and tables show nothing that did not come through here.

#include <string>
#include <string_view>

namespace rungs {

/// Valid UTF-8 without anything that could steer a terminal or reorder a page: malformed bytes (one U+FFFD
/// for each maximal broken sequence), NUL, control characters other than newline and tab, noncharacters, and
/// what has no width of its own (joiners, marks of direction, tags) become U+FFFD.
std::string clean_utf8(std::string_view text);

/// The name of a file or folder, or a path, as a word in a line: clean_utf8() without newlines and tabs, with
/// one blank for many, so that it cannot look like a row of its own.
std::string clean_name(std::string_view name);

/// Without the blanks, tabs and carriage returns at either end.
std::string trimmed(const std::string& text);

/// With its ASCII letters in lower case.
std::string folded(std::string text);

/// As one word of a shell's command, in quotes.
std::string shell_quoted(const std::string& text);

/// Takes one code point from the front of `text`, which is not empty: clean_utf8() of it.
char32_t take_clean(std::string_view& text);

void append_utf8(std::string& out, char32_t c);

}  // namespace rungs
