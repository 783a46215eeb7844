// rungs watch: checks on every save. On a terminal single keys do the rest; elsewhere it only prints.
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "program/grading.hpp"
#include "program/interrupt.hpp"
#include "program/progress.hpp"
#include "program/show.hpp"
#include "program/verbs.hpp"
#include "program/watcher.hpp"
#include "rungs/atomic_file.hpp"

namespace rungs {
namespace {

namespace fs = std::filesystem;

/// A run of the judge in the background, so that a save or a key is never waited for.
class BackgroundCheck {
  public:
    BackgroundCheck() : event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
        if (event_ < 0) throw CannotCheck("cannot watch: the system is out of file descriptors");
    }
    ~BackgroundCheck() {
        cancel();
        close(event_);
    }
    BackgroundCheck(const BackgroundCheck&) = delete;
    BackgroundCheck& operator=(const BackgroundCheck&) = delete;

    template <class Work>
    void start(Work work) {
        cancel();
        stop_ = false;
        running_ = true;
        thread_ = std::thread([this, work] {
            try {
                work(stop_);
            } catch (...) {
                problem_ = std::current_exception();
            }
            const std::uint64_t one = 1;
            if (write(event_, &one, sizeof one) < 0)
                std::terminate();  // cannot fail: the counter is far from full
        });
    }

    /// Stops a run that is under way; its workers are gone on return.
    void cancel() {
        stop_ = true;
        if (thread_.joinable()) thread_.join();
        clear();
        problem_ = nullptr;
        running_ = false;
    }

    /// To be called when descriptor() is readable. @throws what the run has thrown
    void finish() {
        if (thread_.joinable()) thread_.join();
        clear();
        running_ = false;
        if (problem_) std::rethrow_exception(std::exchange(problem_, nullptr));
    }

    bool running() const { return running_; }
    int descriptor() const { return event_; }
    void ask_to_stop() { stop_ = true; }

  private:
    void clear() {
        std::uint64_t count;
        while (read(event_, &count, sizeof count) > 0) {
        }
    }

    int event_;
    std::thread thread_;
    std::atomic<bool> stop_{false};
    std::exception_ptr problem_;
    bool running_ = false;
};

class WatchLoop {
  public:
    WatchLoop(const WatchOptions& options, Terminal& out) : options_(options), out_(out) {
        reload();
        if (options.name.empty()) {
            if (const auto chosen = next_exercise(workbook_)) current_ = chosen->long_name();
        } else {
            const Chosen chosen = choose_first(options.name);
            current_ = chosen.long_name();
        }
        machine_ = this_machine(options.backend != "cpu");
    }

    int loop() {
        std::vector<fs::path> folders;
        for (const Manifest& chapter : workbook_.chapters) folders.push_back(chapter.folder);
        Watcher watcher(folders, options_.poll);
        const KeyMode keys;
        with_keys_ = keys.active();
        if (current_.empty()) {
            out_.line(out_.paint(Style::good, "Every rung passes.") + " A save checks again.");
            show_keys();
        } else {
            check({current_});
        }
        for (;;) {
            stop_here();
            pollfd waiting[3] = {{check_.descriptor(), POLLIN, 0},
                                 {watcher.descriptor(), POLLIN, 0},
                                 {with_keys_ ? STDIN_FILENO : -1, POLLIN, 0}};
            const int limit = watcher.polls() ? static_cast<int>(Watcher::poll_interval.count()) : -1;
            if (poll(waiting, 3, limit) < 0 && errno != EINTR) throw CannotCheck("cannot watch: poll failed");
            stop_here();
            if (waiting[0].revents) finished();
            if (waiting[1].revents || watcher.polls()) saved(watcher.changed());
            if (waiting[2].revents && !key()) return 0;
        }
    }

  private:
    Chosen choose_first(const std::string& name) {
        const std::vector<Chosen> chosen = choose(workbook_, {name});
        for (const Chosen& one : chosen) {
            if (!one.rung->given() || chosen.size() == 1) return one;
        }
        return chosen.front();
    }

    /// Whether a save of this rung is to be checked: any, or those that were named.
    bool watches(const std::string& long_name) const {
        if (options_.name.empty()) return true;
        const std::vector<Chosen> named = choose(workbook_, {options_.name});
        return std::any_of(named.begin(), named.end(),
                           [&](const Chosen& one) { return one.long_name() == long_name; });
    }

    void reload() { workbook_ = open_workbook(); }

    /// Starts to judge, in place of whatever is under way.
    void check(const std::vector<std::string>& names) {
        check_.cancel();
        checking_ = names;
        // Workbook and terminal belong to the run until it has ended: everything here waits for it first.
        check_.start([this, names](const std::atomic<bool>& stop) {
            GradeOptions grading;
            grading.machine = machine_;
            grading.backend = choose_backend(workbook_, options_.backend, machine_.gpu);
            grading.seed = judge::random_seed();
            grading.stop = &stop;
            grading.remember = true;
            grading.keep = true;
            const std::vector<Chosen> chosen = choose(workbook_, names);
            report_ = grade(workbook_, chosen, grading, out_);
            if (!grading.backend.cannot.empty()) throw CannotCheck(grading.backend.cannot);
            if (!stop) show_failures(workbook_, report_, grading, out_);
        });
    }

    void finished() {
        check_.finish();
        if (checking_.size() == 1 && report_.all_passed()) {
            out_.line(out_.paint(Style::good, "This rung passes.") +
                      (with_keys_ ? " n: the next one" : " The next one: ./rungs next"));
        }
        show_keys();
    }

    void saved(const std::set<fs::path>& files) {
        if (files.empty()) return;
        check_.cancel();
        try {
            reload();
        } catch (const ManifestError& error) {
            out_.line();
            out_.line(out_.paint(Style::bad, error.what()));
            return;
        }
        std::vector<std::string> names;
        for (const fs::path& file : files) {
            if (file.extension() == ".cuh" || file.filename() == "chapter.toml") {
                // A contract or a manifest concerns every rung; the one at hand is what is being worked on.
                if (!current_.empty()) names.push_back(current_);
                continue;
            }
            try {
                const Chosen chosen = choose_rung(workbook_, file.string());
                if (!watches(chosen.long_name())) continue;
                if (!chosen.rung->given()) current_ = chosen.long_name();
                names.push_back(chosen.long_name());
            } catch (const UsageError&) {
                // A header beside the rungs.
            }
        }
        if (!names.empty()) check(names);
    }

    /// One key. False to quit.
    bool key() {
        char letter = 0;
        const ssize_t got = read(STDIN_FILENO, &letter, 1);
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) return true;
        if (got <= 0) return false;  // the terminal has gone
        if (letter == 'q' || letter == 4) return false;
        if (letter == 'x' && !current_.empty()) return confirm_reset();
        confirming_ = false;
        if (std::string_view("nhlc").find(letter) == std::string_view::npos) return true;
        check_.cancel();
        out_.line();
        if (letter == 'n') {
            const auto chosen = next_exercise(workbook_);
            next(out_);
            if (chosen && chosen->long_name() != current_) {
                current_ = chosen->long_name();
                if (!watches(current_)) options_.name = current_;
                check({current_});
                return true;
            }
        } else if (letter == 'h') {
            if (!current_.empty()) hint(current_, false, out_);
        } else if (letter == 'l') {
            list(out_);
        } else {
            std::vector<std::string> all;
            for (const Chosen& chosen : choose(workbook_, {})) {
                if (!chosen.rung->given()) all.push_back(chosen.long_name());
            }
            check(all);
            return true;
        }
        show_keys();
        return true;
    }

    bool confirm_reset() {
        if (!confirming_) {
            confirming_ = true;
            check_.cancel();
            out_.line("press x again to restore the starter of " + current_ +
                      " (your version is kept as a backup)");
            return true;
        }
        confirming_ = false;
        reset(current_, out_);
        return true;  // the save starts the check
    }

    void show_keys() {
        if (!with_keys_) return;
        out_.line(out_.paint(Style::dim, "n next  h hint  l list  c check all  x reset  q quit   ") +
                  out_.paint(Style::bold, current_));
    }

    WatchOptions options_;
    Terminal& out_;
    Workbook workbook_;
    Machine machine_;
    Report report_;
    std::string current_;  ///< long name of the rung at hand; empty: all are done
    std::vector<std::string> checking_;
    bool with_keys_ = false;
    bool confirming_ = false;
    BackgroundCheck check_;  ///< last: it must end before what it uses
};

}  // namespace

int watch(const WatchOptions& options, Terminal& out) { return WatchLoop(options, out).loop(); }

}  // namespace rungs
