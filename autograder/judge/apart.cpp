#include "judge/apart.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "judge/build/cache.hpp"
#include "judge/confine/large_blocks.hpp"
#include "judge/confine/process.hpp"
#include "judge/result/kept.hpp"

namespace rungs::judge {
namespace {

/// Processor time of the judge's own process, which only makes inputs and examines answers.
constexpr rlim_t most_apart_seconds = 3600;
constexpr double most_ending_seconds = 60;  ///< that one may take to end in order
/// Exit status of one that was asked to end: what it returned is no result.
constexpr int stopped_status = 3;

/// Begins a result: a library that calls exit(0) leaves status 0 as well, but not this.
constexpr char returned = '+';

std::atomic<bool> stop_asked{false};

/// How a process ended that returned no result.
std::string death_of(int status) {
    if (WIFEXITED(status)) {
        return WEXITSTATUS(status) == stopped_status
                   ? "by SIGTERM"
                   : fmt::format("with exit status {}", WEXITSTATUS(status));
    }
    const int number = WTERMSIG(status);
    if (number == SIGKILL) return "by SIGKILL, as by the system where memory is short";
    if (number == SIGXCPU) return fmt::format("by SIGXCPU, after {} s of its own", most_apart_seconds);
    return fmt::format("by signal {} ({})", number, strsignal(number));
}

/// What the fork does: it works, hands over the result and exits.
[[noreturn]] void be_apart(const std::string& name, const std::function<std::string(const Caller&)>& work,
                           pid_t parent, const sigset_t& signals, int line, int result) {
    // It must not outlive its parent, however that ends.
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0 || getppid() != parent) _exit(1);
    prctl(PR_SET_NAME, name.c_str(), 0, 0, 0);
    keep_own_large_blocks();
    struct sigaction action {};
    sigemptyset(&action.sa_mask);
    action.sa_handler = [](int) { stop_asked = true; };
    sigaction(SIGTERM, &action, nullptr);
    pthread_sigmask(SIG_SETMASK, &signals, nullptr);
    // A terminal's Ctrl-C reaches the parent as well, and the parent decides.
    for (const int number : {SIGINT, SIGHUP, SIGQUIT}) signal(number, SIG_IGN);
    rlimit limit{};
    if (getrlimit(RLIMIT_CPU, &limit) == 0) {
        limit.rlim_cur = std::min(limit.rlim_max, most_apart_seconds);  // workers may have more
        setrlimit(RLIMIT_CPU, &limit);
    }
    int status = 1;
    try {
        const std::string text = returned + work(Caller(line));
        status = stop_asked ? stopped_status : write_all(result, text.data(), text.size()) ? 0 : 1;
    } catch (...) {
    }
    _exit(status);
}

}  // namespace

const std::atomic<bool>& Caller::stop() { return stop_asked; }

void Caller::wait_to_be_alone() const {
    const char ask = 0;
    if (!write_all(line_, &ask, sizeof ask)) return;
    while (!stop_asked) {
        pollfd answer{line_, POLLIN, 0};
        char yes = 0;
        if (poll(&answer, 1, 50) > 0 && read(line_, &yes, sizeof yes) != -1) return;
    }
}

Apart run_apart(const std::string& name, const std::function<std::string(const Caller&)>& work,
                const std::atomic<bool>* stop, const std::function<void()>& be_alone) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        fail_with_errno("a process of its own");
    Descriptor line(ends[0]);
    Descriptor its_line(ends[1]);
    const Descriptor result(memfd_create("rungs-result", MFD_CLOEXEC));
    if (!result) fail_with_errno("a process of its own");
    // SIGTERM waits until the fork has a handler for it.
    sigset_t order, signals;
    sigemptyset(&order);
    sigaddset(&order, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &order, &signals);
    const pid_t parent = getpid(), child = fork();
    if (child == 0) be_apart(name, work, parent, signals, its_line.get(), result.get());
    const int error = errno;
    pthread_sigmask(SIG_SETMASK, &signals, nullptr);
    errno = error;
    if (child < 0) fail_with_errno("a process of its own");
    its_line.close();
    const Descriptor ended(static_cast<int>(syscall(SYS_pidfd_open, child, 0)));
    std::optional<Clock::time_point> patience;
    int status = 0;
    for (pid_t gone = 0; gone == 0;) {
        if (stop && *stop && !patience) {
            kill(child, SIGTERM);
            patience = in_seconds(most_ending_seconds);
        }
        if (patience && Clock::now() > *patience) kill(child, SIGKILL);
        pollfd watched[2] = {{ended.get(), POLLIN, 0}, {line.get(), POLLIN, 0}};
        poll(watched, 2, ended ? 50 : 5);
        if (watched[1].revents) {
            char asked = 0;
            if (read(line.get(), &asked, sizeof asked) == ssize_t{sizeof asked}) {
                if (be_alone) be_alone();
                (void)!write_all(line.get(), &asked, sizeof asked);
            } else {
                line.close();  // the fork has closed its end, and is about to exit
            }
        }
        gone = waitpid(child, &status, WNOHANG);
    }
    Apart apart;
    if (stop && *stop) return apart;
    const std::optional<std::string> text = read_all(result.get());
    if (!text) fail_with_errno("what a process of its own has left");
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && !text->empty()) {
        apart.result = text->substr(1);
    } else {
        apart.died = death_of(status);
    }
    return apart;
}

void prepare_to_judge_apart(const Toolchain& toolchain, Backend backend) {
    prepare_process();
    keep_own_large_blocks();
    sandbox_level(backend);
    prune(toolchain.cache);
}

RungResult judge_apart(const std::string& name, const Trial& trial, std::string& died) {
    const JudgeOptions& options = trial.options;
    // Copies, because the fork does not inherit the caller's large arrays.
    const auto judge = [own = trial, given = options](const Caller& caller) {
        JudgeOptions how = given;
        how.stop = &Caller::stop();
        how.progress = nullptr;
        how.after_timing = nullptr;  // what is left of it would disturb the clock of another process
        if (given.before_timing) how.before_timing = [&] { caller.wait_to_be_alone(); };
        return bytes_of(judge_rung(own.with(how)));
    };
    const Apart apart = run_apart(name, judge, options.stop, options.before_timing);
    died = apart.died;
    if (!apart.result.empty()) return result_of(apart.result);
    RungResult result;
    result.chapter = trial.manifest.chapter;
    result.rung = trial.rung.name;
    result.given = trial.rung.given();
    result.seed = options.seed;
    result.max_points = max_points(trial.rung, options.backend);
    if (died.empty()) {
        result.decide({.kind = Verdict::not_run, .text = "stopped", .source = Source::setup});
    } else {
        result.decide({.kind = Verdict::infra,
                       .text = fmt::format("the process that judged it ended {}", died),
                       .source = Source::setup});
    }
    return result;
}

}  // namespace rungs::judge
