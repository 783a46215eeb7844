#include "rungs/progress.hpp"

#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>

namespace rungs {
namespace {

constexpr char erase_line[] = "\r\x1b[2K";

bool is_terminal(std::FILE* file) {
    const char* term = std::getenv("TERM");
    return ::isatty(::fileno(file)) == 1 && !(term && std::strcmp(term, "dumb") == 0);
}

std::size_t columns_of(std::FILE* file) {
    winsize size{};
    if (::ioctl(::fileno(file), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    return 80;
}

// A signal handler can reach only globals. The handler that was there before runs afterwards.
volatile sig_atomic_t bar_descriptor = -1;
struct sigaction previous_handler {};

extern "C" void erase_bar_and_go_on(int signal) {
    const int saved = errno;
    if (bar_descriptor >= 0) static_cast<void>(!::write(bar_descriptor, erase_line, sizeof erase_line - 1));
    ::sigaction(SIGINT, &previous_handler, nullptr);
    errno = saved;
    ::raise(signal);  // held back until this function returns
}

/// "850 ms", "12 s", "3 min 20 s", "2 h 5 min"
std::string duration(double seconds) {
    const auto whole = static_cast<long long>(std::llround(seconds));
    if (seconds < 1) return std::to_string(std::llround(seconds * 1000)) + " ms";
    if (whole < 60) return std::to_string(whole) + " s";
    if (whole < 3600) return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
    return std::to_string(whole / 3600) + " h " + std::to_string(whole / 60 % 60) + " min";
}

std::string rate_text(double per_second) {
    char text[40];
    if (per_second >= 100)
        std::snprintf(text, sizeof text, "%.0f/s", per_second);
    else if (per_second >= 0.95)
        std::snprintf(text, sizeof text, "%.1f/s", per_second);
    else
        std::snprintf(text, sizeof text, "%.1f/min", per_second * 60);
    return text;
}

/// At most `columns` characters, cut at a character and not inside one (UTF-8).
std::string clipped(const std::string& text, std::size_t columns) {
    std::size_t shown = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool starts = (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80;
        if (starts && shown++ == columns) return text.substr(0, i);
    }
    return text;
}

}  // namespace

bool colour_allowed(std::FILE* file) {
    if (const char* no = std::getenv("NO_COLOR"); no && *no) return false;
    if (const char* force = std::getenv("CLICOLOR_FORCE"); force && *force && std::strcmp(force, "0") != 0)
        return true;
    return is_terminal(file);
}

Progress::Progress(std::string label, std::size_t total, std::FILE* file)
    : label_(std::move(label)),
      total_(total),
      file_(file),
      terminal_(is_terminal(file)),
      colour_(colour_allowed(file)) {
    if (!terminal_) return;
    bar_descriptor = ::fileno(file_);
    struct sigaction action {};
    action.sa_handler = erase_bar_and_go_on;
    ::sigaction(SIGINT, &action, &previous_handler);
    if (previous_handler.sa_handler == SIG_IGN) ::sigaction(SIGINT, &previous_handler, nullptr);
    draw(start_);
}

Progress::~Progress() {
    if (!terminal_) {
        if (done_ != drawn_done_) draw(Clock::now());
        return;
    }
    std::fputs(erase_line, file_);
    std::fflush(file_);
    struct sigaction now {};
    ::sigaction(SIGINT, nullptr, &now);
    if (now.sa_handler == erase_bar_and_go_on) ::sigaction(SIGINT, &previous_handler, nullptr);
    bar_descriptor = -1;
}

void Progress::advance(std::size_t steps, const std::string& what) {
    done_ += steps;
    what_ = what;
    const Clock::time_point now = Clock::now();
    const bool last = total_ > 0 && done_ >= total_;
    if (terminal_) {
        if (last || now - drawn_ >= std::chrono::milliseconds(100)) draw(now);
        return;
    }
    const bool twentieth = total_ == 0 || 20 * (done_ - drawn_done_) >= total_;
    if (last || (twentieth && now - drawn_ >= std::chrono::seconds(1))) draw(now);
}

void Progress::note(const std::string& line) {
    if (terminal_) std::fputs(erase_line, file_);
    std::fprintf(file_, "%s\n", line.c_str());
    if (terminal_) draw(Clock::now());
    std::fflush(file_);
}

void Progress::draw(Clock::time_point now) {
    drawn_ = now;
    drawn_done_ = done_;
    if (terminal_)
        std::fprintf(file_, "%s%s", erase_line, line(now, columns_of(file_) - 1).c_str());
    else
        std::fprintf(file_, "%s\n", line(now, 0).c_str());
    std::fflush(file_);
}

/// `columns` of a terminal to fill, or 0 for a plain line.
std::string Progress::line(Clock::time_point now, std::size_t columns) const {
    const double seconds = std::chrono::duration<double>(now - start_).count();
    const double rate = seconds > 0 ? static_cast<double>(done_) / seconds : 0;
    std::string numbers = std::to_string(done_);
    if (total_ > 0) {
        const double part = std::min(1.0, static_cast<double>(done_) / static_cast<double>(total_));
        numbers +=
            "/" + std::to_string(total_) + " " + std::to_string(std::lround(std::floor(100 * part))) + " %";
    }
    if (done_ > 0 && seconds > 0.2) {
        numbers += ", " + rate_text(rate);
        if (done_ < total_) numbers += ", " + duration(static_cast<double>(total_ - done_) / rate) + " left";
    }
    if (total_ > 0 && done_ >= total_) numbers += ", " + duration(seconds);
    const std::string tail = what_.empty() ? "" : "  " + what_;
    if (columns == 0) return label_ + ": " + numbers + tail;

    constexpr std::size_t width = 24;
    std::string text = label_ + " ";
    if (total_ == 0 || columns < text.size() + width + numbers.size() + 2)
        return clipped(text + numbers + tail, columns);
    const std::size_t filled = std::min(width, width * done_ / total_);
    std::string bar;
    if (colour_) bar += "\x1b[32m";
    for (std::size_t i = 0; i < filled; ++i) bar += "━";
    if (colour_) bar += "\x1b[90m";
    for (std::size_t i = filled; i < width; ++i) bar += colour_ ? "━" : "·";
    if (colour_) bar += "\x1b[0m";
    return text + bar + clipped(" " + numbers + tail, columns - text.size() - width);
}

}  // namespace rungs
