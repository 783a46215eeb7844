#include "program/interrupt.hpp"

#include <termios.h>
#include <unistd.h>

#include <csignal>
#include <initializer_list>

namespace rungs {
namespace {

std::atomic<bool> asked_to_stop{false};
volatile std::sig_atomic_t signal_number = 0;
volatile std::sig_atomic_t key_mode = 0;
termios terminal_before;

void on_signal(int number) {
    if (asked_to_stop.exchange(true)) {
        // Asked twice: leave at once, but leave the terminal usable. Workers end with their parent.
        if (key_mode) tcsetattr(STDIN_FILENO, TCSANOW, &terminal_before);
        _exit(128 + number);
    }
    signal_number = number;
}

void set_all(void (*handler)(int)) {
    struct sigaction action {};
    action.sa_handler = handler;
    sigemptyset(&action.sa_mask);
    // No SA_RESTART: waiting calls must return, so that the loop around them sees the request.
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
        struct sigaction before {};
        // nohup and background jobs of a shell have them ignored: that is meant to last.
        if (sigaction(number, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) continue;
        sigaction(number, &action, nullptr);
    }
}

}  // namespace

void handle_signals() {
    set_all(on_signal);
    // A closed pipe and a file over the limit become write errors, which can be explained.
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
}

void default_signals() {
    set_all(SIG_DFL);
    std::signal(SIGPIPE, SIG_DFL);
    std::signal(SIGXFSZ, SIG_DFL);
}

const std::atomic<bool>& stop_requested() { return asked_to_stop; }

int stop_status() { return 128 + (signal_number ? static_cast<int>(signal_number) : SIGINT); }

void stop_here() {
    if (asked_to_stop) throw Stopped{};
}

KeyMode::KeyMode() {
    if (!isatty(STDIN_FILENO) || tcgetattr(STDIN_FILENO, &terminal_before) != 0) return;
    termios keys = terminal_before;
    keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);  // ISIG stays: Ctrl-C is still Ctrl-C
    keys.c_cc[VMIN] = 1;
    keys.c_cc[VTIME] = 0;
    key_mode = 1;
    active_ = tcsetattr(STDIN_FILENO, TCSANOW, &keys) == 0;
}

KeyMode::~KeyMode() {
    if (key_mode) tcsetattr(STDIN_FILENO, TCSANOW, &terminal_before);
    key_mode = 0;
}

}  // namespace rungs
