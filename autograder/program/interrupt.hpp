#pragma once
// Ctrl-C, SIGTERM and SIGHUP end the program in order: the first asks, the second insists.

#include <atomic>

namespace rungs {

/// Installs the handlers; SIGPIPE and SIGXFSZ become write errors. Call once, first.
void handle_signals();

/// Set by the first signal; the judge watches it.
const std::atomic<bool>& stop_requested();

/// 128 + the signal that asked to stop; what a shell reports for it.
int stop_status();

/// Throws Stopped when a stop was requested.
void stop_here();

/// Thrown where work ends because of a signal.
struct Stopped {};

/// Puts all of them back to their defaults, for a program that replaces this one.
void default_signals();

/// While it lives, the terminal hands over keys one by one without showing them. Does nothing without a
/// terminal on standard input. A second Ctrl-C restores the terminal as well.
class KeyMode {
  public:
    KeyMode();
    ~KeyMode();
    KeyMode(const KeyMode&) = delete;
    KeyMode& operator=(const KeyMode&) = delete;

    bool active() const { return active_; }

  private:
    bool active_ = false;
};

}  // namespace rungs
