#include "judge/confine/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <system_error>

#include "judge/confine/control_group.hpp"
#include "judge/confine/system_calls.hpp"
#include "judge/result/defences.hpp"

namespace rungs::judge {
namespace {

/// What the warden reports: once that the program runs, and how it ended. Written at once: smaller than
/// PIPE_BUF.
struct EndRecord {
    End::Kind kind;
    int code;  ///< while it runs: its number
    double cpu_seconds;
    std::size_t peak_bytes;
    const char* step;  ///< a constant of this program, of which the warden is a fork
};

/// Everything the two forks need, made before forking: after it only async-signal-safe calls are allowed,
/// because another thread may have held a lock.
struct Prepared {
    std::vector<char*> arguments;
    std::vector<char*> environment;
    std::vector<const char*> readable;
    const char* directory;
    int program;
    std::vector<std::pair<int, int>> descriptors;
    int control;
    int status;
    int output;
    int errors;
    int null;
    const std::function<int()>* inside;  ///< null: none
    Confinement confinement;
    Isolation isolation;
    CallFilter filter;
    const char* group;    ///< its folder; null: none
    int group_processes;  ///< moves who writes to it into the group; -1
    double end_seconds;
};

void close_from(unsigned first) { syscall(SYS_close_range, first, ~0U, 0); }

/// Moves `descriptors` to their places and closes all others.
void arrange(std::pair<int, int>* descriptors, std::size_t count) {
    int above = 3;
    for (std::size_t i = 0; i < count; ++i) above = std::max(above, descriptors[i].second + 1);
    // First out of the way, then into place: a source may stand where another one goes.
    for (std::size_t i = 0; i < count; ++i) {
        descriptors[i].first = fcntl(descriptors[i].first, F_DUPFD, above);
    }
    for (std::size_t i = 0; i < count; ++i) dup2(descriptors[i].first, descriptors[i].second);
}

constexpr std::size_t most_descriptors = 16;
constexpr int not_all_ended = 2;  ///< exit status of a warden that could not end everything

[[noreturn]] void become_program(Prepared& prepared, int error_pipe, pid_t warden) {
    setsid();
    signal(SIGPIPE, SIG_DFL);
    Failure failed;
    if (prepared.group && write(prepared.group_processes, "0", 1) != 1)
        failed = {"entering a control group", errno};
    std::array<std::pair<int, int>, most_descriptors> places;
    std::size_t count = 0;
    int top = 2;
    places[count++] = {prepared.null, 0};
    places[count++] = {prepared.output, 1};
    places[count++] = {prepared.errors, 2};
    for (const auto& descriptor : prepared.descriptors) {
        places[count++] = descriptor;
        top = std::max(top, descriptor.second);
    }
    const int report_to = top + 1;
    places[count++] = {error_pipe, report_to};
    const int program = top + 2;
    if (prepared.program >= 0) places[count++] = {prepared.program, program};
    arrange(places.data(), count);
    close_from(static_cast<unsigned>(prepared.program >= 0 ? program + 1 : report_to + 1));
    fcntl(report_to, F_SETFD, FD_CLOEXEC);
    if (prepared.program >= 0) fcntl(program, F_SETFD, FD_CLOEXEC);

    umask(022);  // a worker's own user has to find its way through folders that are made for it
    if (!failed) {
        failed = confine(prepared.confinement, prepared.isolation, prepared.filter,
                         prepared.program >= 0 ? program : -1, static_cast<unsigned>(warden));
    }
    umask(077);
    if (!failed && chdir(prepared.directory) != 0) failed = {"its folder", errno};
    // After the change of user, which clears it; and the warden may have died before.
    if (!failed && prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) failed = {"its end", errno};
    // Nobody outside has a number in a namespace of one's own, and there the first process sees to the end.
    if (getppid() != (prepared.isolation.namespaces ? 0 : warden)) _exit(1);
    if (!failed && prepared.inside) {
        close(report_to);
        _exit((*prepared.inside)());
    }
    if (!failed) {
        if (prepared.program >= 0) {
            fexecve(program, prepared.arguments.data(), prepared.environment.data());
        } else {
            execve(prepared.arguments[0], prepared.arguments.data(), prepared.environment.data());
        }
        failed = {nullptr, errno};
    }
    (void)!write(report_to, &failed, sizeof failed);
    _exit(127);
}

/// Puts `text` into a file of /proc. Here and below nothing that could allocate: see Prepared.
bool put(const char* file, const char* text, std::size_t size) {
    const int opened = open(file, O_WRONLY | O_CLOEXEC);
    const bool done = opened >= 0 && write(opened, text, size) == static_cast<ssize_t>(size);
    const int failed = errno;
    close(opened);
    errno = failed;
    return done;
}

/// Maps `number`, and no other, to itself.
bool put_map(const char* file, unsigned number) {
    char text[40];
    char* end = std::to_chars(text, text + 16, number).ptr;
    *end++ = ' ';
    end = std::to_chars(end, end + 16, number).ptr;
    std::memcpy(end, " 1", 2);
    return put(file, text, static_cast<std::size_t>(end + 2 - text));
}

/// The next child is the first process of a PID namespace. All but that of mounts are the warden's as well,
/// which has no use for them.
Failure enter_namespaces(bool network) {
    const int own = CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | (network ? 0 : CLONE_NEWNET);
    const unsigned user = geteuid(), group = getegid();
    // A submission has no business knowing this machine's name.
    const auto name = [] {
        constexpr char neutral[] = "rungs";
        if (!is_on(Defence::names)) return Failure{};
        return sethostname(neutral, sizeof neutral - 1) == 0 && setdomainname("", 0) == 0
                   ? Failure{}
                   : Failure{"a host name", errno};
    };
    if (user == 0) return unshare(own) == 0 ? name() : Failure{"namespaces", errno};
    // Whose memory nobody may look at has no maps of its own to write to.
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    if (unshare(CLONE_NEWUSER | own) != 0) return {"namespaces", errno};
    if (!put("/proc/self/setgroups", "deny", 4) || !put_map("/proc/self/uid_map", user) ||
        !put_map("/proc/self/gid_map", group)) {
        return {"a user namespace", errno};
    }
    return name();
}

/// The first process of a PID namespace. It takes in what others leave there, and when it ends, with the
/// warden at the latest, the kernel ends them all.
[[noreturn]] void be_first(int warden) {
    signal(SIGCHLD, SIG_IGN);
    prctl(PR_SET_NAME, "rungs-first", 0, 0, 0);
    dup2(warden, 0);
    close_from(1);
    char nothing = 0;
    while (read(0, &nothing, 1) < 0 && errno == EINTR) {
    }
    _exit(0);
}

/// Kills all in the warden's list of children, or as many as the buffer holds. Children of children come to
/// the warden once their parents are dead.
void kill_children(int list) {
    char text[4096];
    const ssize_t got = pread(list, text, sizeof text, 0);
    pid_t child = 0;
    for (ssize_t i = 0; i < got; ++i) {
        if (text[i] >= '0' && text[i] <= '9') {
            child = child * 10 + (text[i] - '0');
        } else {
            if (child > 0) ::kill(child, SIGKILL);
            child = 0;
        }
    }
}

/// Kills and reaps until there is no child left. @returns false when there still is one at `end`: programs
/// that may start others can do so faster than anybody kills them, where there is neither a namespace nor a
/// control group to end with all that is in it.
bool kill_all(int list, Clock::time_point end) {
    for (int round = 0; Clock::now() < end; ++round) {
        int status = 0;
        const pid_t gone = waitpid(-1, &status, WNOHANG);
        if (gone < 0 && errno == ECHILD) return true;
        if (gone > 0) continue;
        kill_children(list);
        // SIGKILL takes a moment where much memory has to be given back.
        if (round > 20) usleep(200);
    }
    return false;
}

/// /proc/PROCESS/statm, or -1.
int open_statm(pid_t process) {
    char path[40] = "/proc/";
    char* end = std::to_chars(path + 6, path + 26, process).ptr;
    std::memcpy(end, "/statm", sizeof "/statm");
    return open(path, O_RDONLY | O_CLOEXEC);
}

/// The bytes that a process has in memory; 0 once it is gone.
std::size_t resident_bytes(int statm) {
    char text[128];  // "total resident ...", in pages
    const ssize_t got = pread(statm, text, sizeof text, 0);
    const char* end = text + std::max<ssize_t>(got, 0);
    const char* blank = std::find<const char*>(text, end, ' ');
    std::size_t pages = 0;
    if (blank < end) std::from_chars(blank + 1, end, pages);
    return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

[[noreturn]] void be_warden(Prepared& prepared) {
    setsid();
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) signal(number, SIG_IGN);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    prctl(PR_SET_NAME, "rungs-warden", 0, 0, 0);
    const bool apart = prepared.isolation.namespaces;
    Failure failed = apart ? enter_namespaces(prepared.confinement.network) : Failure{};
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);  // our memory is a copy of the judge's
    const int list = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);

    int error_pipe[2], life_pipe[2];
    if (pipe2(error_pipe, O_CLOEXEC) != 0 || pipe2(life_pipe, O_CLOEXEC) != 0) _exit(1);
    const pid_t self = getpid();
    pid_t first = -1, program = -1;
    if (!failed && apart) {
        first = fork();
        if (first == 0) be_first(life_pipe[0]);
        if (first < 0) failed = {"the first process of a namespace", errno};
    }
    if (!failed) {
        program = fork();
        if (program == 0) {
            for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) signal(number, SIG_DFL);
            become_program(prepared, error_pipe[1], self);
        }
        if (program < 0) failed = {"a process", errno};
    }

    // Only our own ends stay open: a pipe that the warden holds would never report its end.
    std::array<std::pair<int, int>, 5> places{
        {{prepared.control, 3}, {prepared.status, 4}, {error_pipe[0], 5}, {list, 6}, {life_pipe[1], 7}}};
    arrange(places.data(), places.size());
    close_from(8);
    close(0);
    close(1);
    close(2);
    constexpr int control = 3, status = 4, errors = 5, children = 6;

    EndRecord report{End::Kind::lost, 0, 0, 0, nullptr};
    // The judge may lose patience before the program has started.
    pollfd starts[2] = {{control, 0, 0}, {errors, POLLIN, 0}};
    if (program > 0) {
        while (poll(starts, 2, -1) < 0 && errno == EINTR) {
        }
    }
    if (program < 0) {
        report = {End::Kind::not_started, failed.error, 0, 0, failed.step};
    } else if (starts[1].revents &&
               read(errors, &failed, sizeof failed) == static_cast<ssize_t>(sizeof failed)) {
        report = {End::Kind::not_started, failed.error, 0, 0, failed.step};
    }
    if (report.kind == End::Kind::lost) {
        const EndRecord runs{End::Kind::running, program, 0, 0, nullptr};
        (void)!write(status, &runs, sizeof runs);
        const int ends = static_cast<int>(syscall(SYS_pidfd_open, program, 0));
        if (ends < 0) report.code = errno;
        pollfd watched[2] = {{control, 0, 0}, {ends, POLLIN, 0}};
        const std::size_t most = prepared.confinement.limits.resident;
        const int statm = most ? open_statm(program) : -1;
        while (ends >= 0) {
            const int ready = poll(watched, 2, statm >= 0 ? 100 : -1);
            if (ready > 0 || (ready < 0 && errno != EINTR)) break;
            if (ready == 0 && resident_bytes(statm) > most) break;
        }
        // Before it is reaped, while nothing else can have its number.
        ::kill(-program, SIGKILL);
        ::kill(program, SIGKILL);
        if (first > 0) ::kill(first, SIGKILL);
        if (prepared.group) kill_group(prepared.group);
        const auto end = in_seconds(prepared.end_seconds);
        int code = 0;
        rusage used{};
        pid_t gone = 0;
        while (gone <= 0 && Clock::now() < end) {
            gone = wait4(program, &code, WNOHANG, &used);
            if (gone == 0) poll(watched + 1, ends >= 0 ? 1 : 0, 10);
        }
        const auto seconds = [](const timeval& time) {
            return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
        };
        if (gone > 0 && ends >= 0) {
            report.kind = WIFSIGNALED(code) ? End::Kind::signalled : End::Kind::exited;
            report.code = WIFSIGNALED(code) ? WTERMSIG(code) : WEXITSTATUS(code);
        }
        report.cpu_seconds = seconds(used.ru_utime) + seconds(used.ru_stime);
        report.peak_bytes = static_cast<std::size_t>(used.ru_maxrss) * 1024;
    }
    (void)!write(status, &report, sizeof report);
    const bool all_ended = (program < 0 && first < 0) || !is_on(Defence::warden) ||
                           kill_all(children, in_seconds(prepared.end_seconds));
    if (prepared.group) rmdir(prepared.group);
    _exit(all_ended ? 0 : not_all_ended);
}

}  // namespace

void fail_with_errno(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

std::string why_not_started(const End& end) {
    return (end.step ? std::string(end.step) + ": " : "") + std::strerror(end.code);
}

Clock::time_point in_seconds(double seconds) {
    // A limit nobody will live to see must not overflow the clock.
    return Clock::now() +
           std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(std::min(seconds, 1e8)));
}

void Descriptor::close() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
}

Pipe::Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) fail_with_errno("no pipe");
    read = Descriptor(ends[0]);
    write = Descriptor(ends[1]);
}

void Capture::add(const char* bytes, std::size_t count) {
    total_ += count;
    const std::size_t first = std::min(count, kept - std::min(kept, head_.size()));
    head_.append(bytes, first);
    tail_.append(bytes + first, count - first);
    if (tail_.size() > 4 * kept) tail_.erase(0, tail_.size() - kept);
}

std::string Capture::text() const {
    // The tail may have been cut to exactly what is kept, so its size alone does not tell.
    const std::size_t shown = std::min(kept, tail_.size());
    const std::size_t missing = total_ - head_.size() - shown;
    if (missing == 0) return head_ + tail_;
    return head_ + "\n[... " + std::to_string(missing) + " bytes left out ...]\n" +
           tail_.substr(tail_.size() - kept);
}

Process::Process(const Command& command) {
    Pipe control, status, output, errors;
    const Descriptor null(open("/dev/null", O_RDWR | O_CLOEXEC));
    if (!null) fail_with_errno("/dev/null");

    Prepared prepared;
    for (const std::string& argument : command.arguments) {
        prepared.arguments.push_back(const_cast<char*>(argument.c_str()));
    }
    prepared.arguments.push_back(nullptr);
    for (const std::string& variable : command.environment) {
        prepared.environment.push_back(const_cast<char*>(variable.c_str()));
    }
    prepared.environment.push_back(nullptr);
    prepared.directory = command.directory.c_str();
    prepared.program = command.program;
    prepared.descriptors = command.descriptors;
    if (prepared.descriptors.size() + 5 > most_descriptors) throw std::length_error("too many descriptors");
    prepared.control = control.read.get();
    prepared.status = status.write.get();
    prepared.output = command.output >= 0 ? command.output : output.write.get();
    prepared.errors = command.errors >= 0 ? command.errors : errors.write.get();
    prepared.null = null.get();
    prepared.confinement = command.confinement;
    for (const std::string& path : command.readable) prepared.readable.push_back(path.c_str());
    prepared.readable.push_back(nullptr);
    prepared.confinement.readable = prepared.readable.data();
    if (!command.writable.empty()) prepared.confinement.writable = command.writable.c_str();
    if (!command.hidden.empty()) prepared.confinement.hidden = command.hidden.c_str();
    prepared.inside = command.inside ? &command.inside : nullptr;
    ControlGroup group;
    if (prepared.confinement.is_confined()) {
        prepared.isolation = command.isolation ? *command.isolation : isolation_of_host();
        // They hold much of what other parts hold, too, and each part is to be shown by itself.
        if (!all_are_on()) prepared.isolation.namespaces = prepared.isolation.group = false;
        if (prepared.isolation.calls) prepared.filter = CallFilter(prepared.confinement);
        if (prepared.isolation.group) group = ControlGroup(prepared.confinement.limits);
    }
    if (!prepared.confinement.is_closed()) prepared.isolation.namespaces = false;
    prepared.group = group.folder.empty() ? nullptr : group.folder.c_str();
    prepared.group_processes = group.processes.get();
    prepared.end_seconds = end_seconds_ = command.end_seconds;

    warden_ = fork();
    if (warden_ < 0) {
        if (prepared.group) rmdir(prepared.group);
        fail_with_errno("no process");
    }
    if (warden_ == 0) be_warden(prepared);
    control_ = std::move(control.write);
    status_ = std::move(status.read);
    stdout_ = std::move(output.read);
    stderr_ = std::move(errors.read);
    for (const Descriptor* end : {&status_, &stdout_, &stderr_}) {
        fcntl(end->get(), F_SETFL, fcntl(end->get(), F_GETFL) | O_NONBLOCK);
    }
}

bool Process::drain(Descriptor& from, Capture& into) {
    std::array<char, 65536> buffer;
    // A bounded number of rounds: a program that writes without pause must not hold the judge here.
    for (int round = 0; from && round < 16; ++round) {
        const ssize_t got = read(from.get(), buffer.data(), buffer.size());
        if (got > 0) {
            into.add(buffer.data(), static_cast<std::size_t>(got));
        } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
            from.close();
        } else {
            return false;
        }
    }
    return static_cast<bool>(from);
}

void Process::collect_end() {
    if (end_.kind != End::Kind::running) return;
    EndRecord report{};
    ssize_t got = 0;
    while ((got = read(status_.get(), &report, sizeof report)) == static_cast<ssize_t>(sizeof report) &&
           report.kind == End::Kind::running) {
        program_ = report.code;
    }
    if (got == static_cast<ssize_t>(sizeof report)) {
        end_ = {report.kind, report.code, report.step, report.cpu_seconds, report.peak_bytes};
    } else if (got == 0) {
        end_.kind = End::Kind::lost;  // somebody killed the warden
    }
}

Process::Event Process::wait(int descriptor, Clock::time_point deadline, const std::atomic<bool>* stop,
                             std::chrono::microseconds awake) {
    using std::chrono::milliseconds;
    const auto awake_until = Clock::now() + awake;
    for (;;) {
        if (stop && stop->load()) return Event::stopped;
        const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
        if (left.count() <= 0) return Event::deadline;
        // `stop` may be set by a signal handler of any thread: look at it often enough.
        auto slice = stop ? std::min(left, milliseconds(50)) : left;
        if (awake.count() > 0 && Clock::now() < awake_until) slice = milliseconds(0);
        pollfd watched[4] = {{descriptor, POLLIN, 0},
                             {status_.get(), POLLIN, 0},
                             {stdout_.get(), POLLIN, 0},
                             {stderr_.get(), POLLIN, 0}};
        if (poll(watched, 4, static_cast<int>(std::min<long long>(slice.count(), 1 << 30))) < 0) {
            if (errno == EINTR) continue;
            fail_with_errno("poll");
        }
        if (watched[2].revents) drain(stdout_, output_);
        if (watched[3].revents) drain(stderr_, errors_);
        if (watched[0].revents & POLLIN) return Event::readable;
        if (watched[1].revents) {
            collect_end();
            if (end_.kind != End::Kind::running) {
                while (drain(stdout_, output_) && output_.total() < (64U << 20)) {
                }
                while (drain(stderr_, errors_) && errors_.total() < (64U << 20)) {
                }
                return Event::ended;
            }
        }
        // The program may have closed its end and gone on: do not spin until it ends.
        if (watched[0].revents) descriptor = -1;
    }
}

Activity Process::activity() {
    collect_end();
    Activity activity;
    if (program_ <= 0 || end_.kind != End::Kind::running) return activity;
    const std::string folder = "/proc/" + std::to_string(program_) + "/task/";
    std::error_code gone;  // a thread may end while its line is read
    namespace fs = std::filesystem;
    for (fs::directory_iterator thread(folder, gone), end; !gone && thread != end; thread.increment(gone)) {
        std::ifstream file(thread->path() / "stat");
        std::string line;
        std::getline(file, line);
        // "number (name) state ...", and the name may hold anything.
        std::istringstream fields(line.substr(std::min(line.size(), line.rfind(')') + 1)));
        char state = 0;
        std::string skipped;
        fields >> state;
        for (int field = 4; field < 14; ++field) fields >> skipped;
        double user = 0, system = 0;  // ticks
        if (!(fields >> user >> system)) continue;
        activity.busy_seconds =
            std::max(activity.busy_seconds, (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK)));
        activity.has_more = activity.has_more || state == 'R' || state == 'D';
    }
    return activity;
}

void Process::kill() {
    if (warden_ < 0) return;
    control_.close();
    // Longer than the warden takes: only one that somebody stopped does not come to its end.
    const auto end = in_seconds(2 * end_seconds_ + 1);
    const Descriptor ends(static_cast<int>(syscall(SYS_pidfd_open, warden_, 0)));
    pollfd watched{ends.get(), POLLIN, 0};
    int status = 0;
    pid_t gone = 0;
    while (gone <= 0 && Clock::now() < end) {
        gone = waitpid(warden_, &status, WNOHANG);
        if (gone == 0) poll(&watched, 1, 10);
    }
    if (gone <= 0) {
        ::kill(warden_, SIGKILL);
        while (waitpid(warden_, nullptr, 0) < 0 && errno == EINTR) {
        }
    }
    left_behind_ = gone <= 0 || (WIFEXITED(status) && WEXITSTATUS(status) == not_all_ended);
    warden_ = -1;
    if (end_.kind == End::Kind::running) collect_end();
    drain(stdout_, output_);
    drain(stderr_, errors_);
}

bool write_all(int descriptor, const void* bytes, std::size_t size) {
    for (std::size_t done = 0; done < size;) {
        const ssize_t wrote = write(descriptor, static_cast<const char*>(bytes) + done, size - done);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) return false;
        done += static_cast<std::size_t>(wrote);
    }
    return true;
}

std::optional<std::string> read_all(int descriptor) {
    const off_t size = lseek(descriptor, 0, SEEK_END);
    if (size < 0) return std::nullopt;
    std::string text(static_cast<std::size_t>(size), '\0');
    for (std::size_t at = 0; at < text.size();) {
        const ssize_t got = pread(descriptor, text.data() + at, text.size() - at, static_cast<off_t>(at));
        if (got <= 0) return std::nullopt;
        at += static_cast<std::size_t>(got);
    }
    return text;
}

std::filesystem::path find_on_path(const std::string& name) {
    const char* const path = std::getenv("PATH");
    std::istringstream folders(path ? path : "");
    for (std::string folder; std::getline(folders, folder, ':');) {
        const std::filesystem::path file = std::filesystem::path(folder) / name;
        std::error_code unknown;
        if (file.is_absolute() && std::filesystem::is_regular_file(file, unknown) &&
            access(file.c_str(), X_OK) == 0)
            return file;
    }
    return {};
}

std::string boot_id() {
    std::string id;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
    return id;
}

std::string process_namespace() {
    std::error_code unknown;
    return std::filesystem::read_symlink("/proc/self/ns/pid", unknown).string();
}

bool run_to_end(Process& process, double seconds, const std::atomic<bool>* stop) {
    const bool ended = process.wait(-1, in_seconds(seconds), stop) == Process::Event::ended;
    process.kill();
    return ended;
}

}  // namespace rungs::judge
