#include "program/terminal.hpp"

#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "report/text.hpp"
#include "rungs/progress.hpp"

namespace rungs {
namespace {

/// Columns of a text without escapes: code points that are not continuation bytes. Wide characters do not
/// occur in what this program lines up.
int columns_of(std::string_view text) {
    return static_cast<int>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

constexpr const char* codes[] = {"",         "\033[1m",  "\033[2m", "\033[32m",
                                 "\033[31m", "\033[33m", "\033[36m"};  // by Style
constexpr const char* plain = "\033[0m";

/// The code that paint() has put at the front of `text`; empty: there is none.
std::string_view code_at_front(std::string_view text) {
    for (const std::string_view code : codes) {
        if (!code.empty() && text.starts_with(code)) return code;
    }
    return text.starts_with(plain) ? plain : "";
}

bool is_set(const char* name) {
    const char* value = std::getenv(name);
    return value && *value;
}

}  // namespace

Terminal::Terminal(std::FILE* stream)
    : stream_(stream),
      is_terminal_(isatty(fileno(stream)) == 1),
      colour_(colour_allowed(stream)),
      utf8_(!std::strcmp(nl_langinfo(CODESET), "UTF-8")) {}

Terminal::Terminal(std::string& text)
    : stream_(nullptr), text_(&text), is_terminal_(false), colour_(false), utf8_(true) {}

int Terminal::width() const {
    constexpr int of_a_file = 120;
    if (text_) return of_a_file;
    if (is_set("COLUMNS")) {
        const int columns = std::atoi(std::getenv("COLUMNS"));
        if (columns > 0) return std::max(columns, 40);
    }
    winsize size{};
    if (is_terminal_ && ioctl(fileno(stream_), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
        return std::max<int>(size.ws_col, 40);
    }
    return is_terminal_ ? 80 : of_a_file;
}

std::string Terminal::paint(Style style, std::string_view text) const {
    if (!colour_ || style == Style::plain) return std::string(text);
    return codes[static_cast<int>(style)] + clean_utf8(text) + plain;
}

void Terminal::clear_status() {
    if (!status_shown_) return;
    status_shown_ = false;
    std::fputs("\r\033[K", stream_);
}

void Terminal::write(std::string_view text) {
    if (text_) {
        *text_ += text;
        return;
    }
    clear_status();
    errno = 0;
    const bool written =
        std::fwrite(text.data(), 1, text.size(), stream_) == text.size() && std::fflush(stream_) == 0;
    if (written) return;
    const int error = errno;
    std::clearerr(stream_);
    if (error == EPIPE) throw ReaderGone();
    throw OutputError(std::string("cannot write the output: ") + std::strerror(error) +
                      (error == ENOSPC ? "; free some space and try again" : ""));
}

void Terminal::line(std::string_view text) {
    // No escape gets through but those of paint(), whoever wrote the text.
    std::string out;
    while (!text.empty()) {
        if (const std::string_view code = code_at_front(text); colour_ && !code.empty()) {
            out += code;
            text.remove_prefix(code.size());
            continue;
        }
        const std::string_view piece = text.substr(0, text.find('\033', 1));
        out += utf8_ ? clean_utf8(piece) : to_ascii(piece);
        text.remove_prefix(piece.size());
    }
    write(out + '\n');
}

void Terminal::status(std::string_view text) noexcept {
    if (!is_terminal_) return;
    try {
        const std::string shown = paint(Style::dim, cut(text, width() - 1));
        std::fprintf(stream_, "\r\033[K%s", shown.c_str());
        std::fflush(stream_);
        status_shown_ = true;
    } catch (...) {
        // A progress line is not worth an error.
    }
}

std::string Terminal::cut(std::string_view text, int columns) const {
    return first_line(utf8_ ? std::string(text) : to_ascii(text),
                      static_cast<std::size_t>(std::max(columns, 4)));
}

std::string Terminal::wrapped(std::string_view text, int indent) const {
    const std::string margin(static_cast<std::size_t>(indent), ' ');
    const int room = std::max(20, std::min(width(), 100) - indent);
    std::string out, current;
    std::istringstream words{utf8_ ? clean_utf8(text) : to_ascii(text)};
    for (std::string word; words >> word;) {
        if (!current.empty() && columns_of(current) + 1 + columns_of(word) > room) {
            out += margin + current + '\n';
            current.clear();
        }
        current += (current.empty() ? "" : " ") + word;
    }
    return out + margin + current;
}

}  // namespace rungs
