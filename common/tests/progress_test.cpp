// Progress on a terminal, in a file, and when Ctrl-C is pressed.

#include "rungs/progress.hpp"

#include <fcntl.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>

#include "rungs/atomic_file.hpp"
#include "rungs/catch.hpp"
#include "rungs/temporary_folder.hpp"

using namespace rungs;
using Catch::Matchers::ContainsSubstring;

namespace {

/// What `work` writes to a plain file.
std::string in_file(const std::function<void(std::FILE*)>& work) {
    const rungs::TemporaryFolder folder;
    std::FILE* file = std::fopen((folder / "log").c_str(), "w");
    REQUIRE(file != nullptr);
    work(file);
    std::fclose(file);
    return read_file(folder / "log");
}

struct Terminal {
    std::string text;
    int status = 0;
};

/// What `work` writes to a terminal of 100 columns, in a process of its own, and how that ends.
Terminal on_terminal(const std::function<void(std::FILE*)>& work) {
    Terminal result;
    winsize size{};
    size.ws_col = 100;
    size.ws_row = 24;
    int master = -1;
    std::fflush(nullptr);
    const pid_t child = ::forkpty(&master, nullptr, nullptr, &size);
    REQUIRE(child >= 0);
    if (child == 0) {
        ::setenv("TERM", "xterm", 1);
        std::signal(SIGINT, SIG_DFL);
        work(stderr);
        ::_exit(0);
    }
    char chunk[4096];
    for (ssize_t n = 0; (n = ::read(master, chunk, sizeof chunk)) > 0;)
        result.text.append(chunk, static_cast<std::size_t>(n));
    ::waitpid(child, &result.status, 0);
    ::close(master);
    return result;
}

/// What a terminal shows after `text`, which uses only carriage returns, "erase line" and colours.
std::string screen(const std::string& text) {
    std::string shown, line;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\r') continue;
        if (text.compare(i, 4, "\x1b[2K") == 0) {
            line.clear();
            i += 3;
        } else if (text[i] == '\x1b') {
            i = text.find('m', i);
        } else if (text[i] == '\n') {
            shown += line + "\n";
            line.clear();
        } else {
            line += text[i];
        }
    }
    return shown + line;
}

class Environment {
  public:
    Environment(const char* name, const char* value) : name_(name) {
        if (const char* old = std::getenv(name)) old_ = old, had_ = true;
        value ? ::setenv(name, value, 1) : ::unsetenv(name);
    }
    ~Environment() { had_ ? ::setenv(name_, old_.c_str(), 1) : ::unsetenv(name_); }

  private:
    const char* name_;
    std::string old_;
    bool had_ = false;
};

}  // namespace

TEST_CASE("in a file there are few lines and no escapes", "[common][progress]") {
    const std::string text = in_file([](std::FILE* file) {
        Progress progress("grading", 1000, file);
        for (int i = 0; i < 1000; ++i) progress.advance();
    });
    CHECK(text.find('\x1b') == std::string::npos);
    CHECK(text.find('\r') == std::string::npos);
    CHECK(std::count(text.begin(), text.end(), '\n') <= 3);  // the work takes no second
    CHECK_THAT(text, ContainsSubstring("grading: 1000/1000 100 %"));
}

TEST_CASE("work that ends early says how far it came", "[common][progress]") {
    const std::string text = in_file([](std::FILE* file) {
        Progress progress("grading", 1000, file);
        progress.advance(10);
        progress.advance(7, "eve");
    });
    CHECK_THAT(text, ContainsSubstring("grading: 17/1000 1 %"));
    CHECK_THAT(text, ContainsSubstring("eve"));
}

TEST_CASE("totals of zero, too many steps and no steps do no harm", "[common][progress]") {
    CHECK_THAT(in_file([](std::FILE* file) {
                   Progress progress("reading", 0, file);
                   for (int i = 0; i < 5; ++i) progress.advance();
               }),
               ContainsSubstring("reading: 5"));
    CHECK_THAT(in_file([](std::FILE* file) { Progress("x", 3, file).advance(5); }),
               ContainsSubstring("5/3 100 %"));
    CHECK(in_file([](std::FILE* file) { Progress("x", 3, file); }).empty());
    CHECK(in_file([](std::FILE* file) { Progress("x", 3, file).note("hello"); }) == "hello\n");
}

TEST_CASE("on a terminal one line is redrawn, fits, and is gone at the end", "[common][progress]") {
    const auto start = std::chrono::steady_clock::now();
    const Terminal terminal = on_terminal([](std::FILE* file) {
        Progress progress("grading", 50, file);
        for (int i = 0; i < 50; ++i) {
            progress.advance(
                1, "a name that is much longer than what can stand beside a bar on this terminal, żółć żółć");
            ::usleep(10'000);
        }
    });
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    CHECK(terminal.status == 0);
    CHECK_THAT(terminal.text, ContainsSubstring("\x1b[2K"));
    CHECK_THAT(terminal.text, ContainsSubstring("50/50 100 %"));
    CHECK_THAT(terminal.text, ContainsSubstring(" left"));
    CHECK(terminal.text.find('\n') == std::string::npos);
    CHECK(screen(terminal.text).empty());
    std::size_t drawn = 0;
    for (std::size_t at = 0; (at = terminal.text.find("\x1b[2K", at)) != std::string::npos; at += 4) {
        ++drawn;
        const std::string line = screen(terminal.text.substr(at, terminal.text.find("\x1b[2K", at + 4) - at));
        const auto columns =
            std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; });
        CHECK(columns < 100);
    }
    CHECK(drawn >= 4);
    CHECK(static_cast<double>(drawn) <= 10 * passed.count() + 4);  // ten a second
}

TEST_CASE("notes are above the bar", "[common][progress]") {
    const Terminal terminal = on_terminal([](std::FILE* file) {
        Progress progress("grading", 2, file);
        progress.note("first");
        progress.advance();
        progress.note("second");
    });
    CHECK(screen(terminal.text) == "first\nsecond\n");
}

TEST_CASE("colour is used on terminals, and NO_COLOR and CLICOLOR_FORCE are honoured", "[common][progress]") {
    const auto bar = [](std::FILE* file) { Progress("x", 2, file).advance(); };
    const Environment no("NO_COLOR", nullptr), force("CLICOLOR_FORCE", nullptr);
    CHECK_THAT(on_terminal(bar).text, ContainsSubstring("\x1b[32m"));
    {
        const Environment set("NO_COLOR", "1");
        const Terminal terminal = on_terminal(bar);
        CHECK(terminal.text.find("\x1b[32m") == std::string::npos);
        CHECK_THAT(terminal.text, ContainsSubstring("·"));  // done and to do differ without colour
    }
    const rungs::TemporaryFolder folder;
    std::FILE* file = std::fopen((folder / "log").c_str(), "w");
    CHECK_FALSE(colour_allowed(file));
    {
        const Environment set("CLICOLOR_FORCE", "1");
        CHECK(colour_allowed(file));
        const Environment both("NO_COLOR", "1");
        CHECK_FALSE(colour_allowed(file));
    }
    {
        const Environment zero("CLICOLOR_FORCE", "0");
        CHECK_FALSE(colour_allowed(file));
        const Environment empty("NO_COLOR", "");
        CHECK_FALSE(colour_allowed(file));
    }
    std::fclose(file);
}

TEST_CASE("a dumb terminal gets plain lines", "[common][progress]") {
    const Terminal terminal = on_terminal([](std::FILE* file) {
        ::setenv("TERM", "dumb", 1);
        Progress("grading", 1, file).advance();
    });
    CHECK(terminal.text.find('\x1b') == std::string::npos);
    CHECK_THAT(terminal.text, ContainsSubstring("grading: 1/1 100 %"));
}

TEST_CASE("Ctrl-C removes the bar and still ends the program", "[common][progress]") {
    const Terminal terminal = on_terminal([](std::FILE* file) {
        Progress progress("grading", 10, file);
        progress.advance();
        ::raise(SIGINT);
        ::_exit(3);
    });
    CHECK(WIFSIGNALED(terminal.status));
    CHECK(WTERMSIG(terminal.status) == SIGINT);
    CHECK(screen(terminal.text).empty());
}

TEST_CASE("the program's own handler runs, and is back afterwards", "[common][progress]") {
    static volatile sig_atomic_t interrupts = 0;
    const Terminal terminal = on_terminal([](std::FILE* file) {
        std::signal(SIGINT, [](int) { interrupts = interrupts + 1; });
        {
            Progress progress("grading", 10, file);
            ::raise(SIGINT);
            progress.advance();
        }
        ::raise(SIGINT);
        ::_exit(interrupts == 2 ? 42 : interrupts);
    });
    CHECK(WIFEXITED(terminal.status));
    CHECK(WEXITSTATUS(terminal.status) == 42);
    CHECK(screen(terminal.text).empty());
}

TEST_CASE("an ignored Ctrl-C stays ignored", "[common][progress]") {
    const Terminal terminal = on_terminal([](std::FILE* file) {
        std::signal(SIGINT, SIG_IGN);
        Progress progress("grading", 10, file);
        ::raise(SIGINT);
        ::_exit(7);
    });
    CHECK(WIFEXITED(terminal.status));
    CHECK(WEXITSTATUS(terminal.status) == 7);
}
