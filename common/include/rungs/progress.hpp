#pragma once
// Progress of long work: a bar that redraws itself on a terminal, a plain line now and then anywhere else.

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>

namespace rungs {

/// May escape sequences for colour be written to `file`? True on a terminal, unless NO_COLOR is set or TERM
/// is "dumb"; CLICOLOR_FORCE (other than 0) makes it true anywhere but under NO_COLOR.
bool colour_allowed(std::FILE* file);

/// Counts to `total`:
///
///     Progress progress("grading", submissions.size());
///     for (...) { ...; progress.advance(); }
///
/// On a terminal one line is redrawn at most ten times a second; Ctrl-C removes it before the program's own
/// handling goes on. Elsewhere a line is printed for each twentieth of the work, but none within a second of
/// the last. With a total of 0 it only counts. For one thread; one bar at a time.
class Progress {
  public:
    /// `file` must stay open for the life of this object.
    Progress(std::string label, std::size_t total, std::FILE* file = stderr);
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    /// Removes the bar from a terminal; prints the last line elsewhere.
    ~Progress();

    /// `steps` more are done. `what` is shown beside the bar, for example the present file.
    void advance(std::size_t steps = 1, const std::string& what = "");

    /// Prints a line of text above the bar.
    void note(const std::string& line);

    std::size_t done() const { return done_; }

  private:
    using Clock = std::chrono::steady_clock;
    void draw(Clock::time_point now);
    std::string line(Clock::time_point now, std::size_t columns) const;

    std::string label_;
    std::string what_;
    std::size_t total_;
    std::size_t done_ = 0;
    std::FILE* file_;
    bool terminal_;
    bool colour_;
    Clock::time_point start_ = Clock::now();
    Clock::time_point drawn_ = {};
    std::size_t drawn_done_ = 0;
};

}  // namespace rungs
