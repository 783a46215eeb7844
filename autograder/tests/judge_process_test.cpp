// Processes: ends, limits, output, and that nothing is left behind, whatever happens.

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "judge/confine/control_group.hpp"
#include "judge/confine/process.hpp"
#include "judge/confine/sandbox.hpp"
#include "judge/judge.hpp"
#include "rungs/catch.hpp"
#include "rungs/temporary_folder.hpp"

using namespace rungs::judge;

namespace {

Command shell(const std::string& script) {
    Command command;
    command.arguments = {"/bin/sh", "-c", script};
    command.environment = {"PATH=/usr/bin:/bin"};
    return command;
}

bool alive(pid_t process) {
    // A zombie whose parent has not looked yet is as good as gone.
    std::ifstream status("/proc/" + std::to_string(process) + "/stat");
    std::string text;
    std::getline(status, text);
    const std::size_t name = text.rfind(')');
    return name != std::string::npos && text.at(name + 2) != 'Z';
}

bool gone_within(pid_t process, double seconds) {
    for (const auto end = in_seconds(seconds); Clock::now() < end;) {
        if (!alive(process)) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
}

}  // namespace

TEST_CASE("a program's end is reported as it was", "[judge][process]") {
    Process exits(shell("echo out; echo err >&2; exit 7"));
    REQUIRE(run_to_end(exits, 10));
    CHECK(exits.end().kind == End::Kind::exited);
    CHECK(exits.end().code == 7);
    CHECK(exits.output().text() == "out\n");
    CHECK(exits.errors().text() == "err\n");

    Process crashes(shell("kill -SEGV $$"));
    REQUIRE(run_to_end(crashes, 10));
    CHECK(crashes.end().kind == End::Kind::signalled);
    CHECK(crashes.end().code == SIGSEGV);

    Command missing;
    missing.arguments = {"/nowhere/at/all"};
    Process never(missing);
    REQUIRE(run_to_end(never, 10));
    CHECK(never.end().kind == End::Kind::not_started);
    CHECK(never.end().code == ENOENT);
}

TEST_CASE("exit status 139 is not a crash", "[judge][process]") {
    Process exits(shell("exit 139"));
    REQUIRE(run_to_end(exits, 10));
    CHECK(exits.end().kind == End::Kind::exited);
    CHECK(exits.end().code == 139);
}

TEST_CASE("a program has no descriptors and no environment of ours", "[judge][process]") {
    const Descriptor ours(open("/dev/null", O_RDONLY));  // without close-on-exec, as a library might
    setenv("RUNGS_SECRET", "key", 1);
    Process lists(shell("ls /proc/self/fd; echo \"[$RUNGS_SECRET]\""));
    unsetenv("RUNGS_SECRET");
    REQUIRE(run_to_end(lists, 10));
    CHECK(lists.output().text() == "0\n1\n2\n3\n[]\n");  // 3 is ls reading the folder
}

TEST_CASE("output is cut in the middle, however much it is", "[judge][process]") {
    Process floods(shell("echo first; head -c 50000000 /dev/zero | tr '\\0' x; echo; echo last"));
    REQUIRE(run_to_end(floods, 60));
    const std::string text = floods.output().text();
    CHECK(floods.output().total() == 50000000 + 6 + 1 + 5);
    CHECK(text.size() < 2 * Capture::kept + 100);
    CHECK(text.substr(0, 6) == "first\n");
    CHECK(text.substr(text.size() - 5) == "last\n");
    CHECK(text.find("bytes left out") != std::string::npos);
}

TEST_CASE("a program that takes too long is killed with all it started", "[judge][process]") {
    Process process(shell("(setsid sleep 1000 & echo $!; trap '' TERM HUP INT); sleep 1000"));
    while (process.output().total() == 0) process.wait(-1, in_seconds(0.05));
    const pid_t daemon = std::stoi(process.output().text());
    REQUIRE(alive(daemon));
    const auto start = Clock::now();
    CHECK_FALSE(run_to_end(process, 0.1));
    CHECK(Clock::now() - start < std::chrono::seconds(5));
    CHECK_FALSE(alive(daemon));
}

TEST_CASE("a program that fills the memory is killed, however much it may reserve", "[judge][process]") {
    const auto run = [](const char* what) {
        Command command = shell(what);
        command.confinement.limits.resident = 64U << 20;
        Process process(command);
        CHECK(run_to_end(process, 20));
        return process.end();
    };
    const End hog = run("x=0123456789abcdef; while :; do x=$x$x; done");
    CHECK(hog.kind == End::Kind::signalled);
    CHECK(hog.code == SIGKILL);
    CHECK(hog.peak_bytes > (64U << 20));
    CHECK(run("sleep 0.3").kind == End::Kind::exited);
}

TEST_CASE("a daemon does not outlive the program that left it", "[judge][process]") {
    // Double fork, session of its own, pipes closed. What is said is waited for.
    Process process(shell("echo $(setsid sh -c 'sleep 1000 >/dev/null 2>&1 & echo $!')"));
    REQUIRE(run_to_end(process, 10));
    const pid_t daemon = std::stoi(process.output().text());
    CHECK_FALSE(alive(daemon));
}

TEST_CASE("a set stop flag ends waiting", "[judge][process]") {
    std::atomic<bool> stop{false};
    Process process(shell("sleep 1000"));
    std::thread later([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        stop = true;
    });
    CHECK(process.wait(-1, in_seconds(20), &stop) == Process::Event::stopped);
    later.join();
    process.kill();
    CHECK(waitpid(-1, nullptr, WNOHANG) == -1);
    CHECK(errno == ECHILD);
}

TEST_CASE("kill -9 of the judge takes its workers along", "[judge][process]") {
    Pipe told;
    const pid_t judge = fork();
    if (judge == 0) {
        Process process(shell("(setsid sleep 1000 & echo $!); echo $$; exec sleep 1000"));
        while (process.output().text().find('\n') == process.output().text().rfind('\n')) {
            process.wait(-1, in_seconds(0.05));
        }
        const std::string text = process.output().text() + "\n";
        (void)!write(told.write.get(), text.data(), text.size());
        for (;;) pause();
    }
    told.write.close();
    std::string text;
    char c = 0;
    while (text.find("\n\n") == std::string::npos && read(told.read.get(), &c, 1) == 1) text += c;
    const pid_t daemon = std::stoi(text), program = std::stoi(text.substr(text.find('\n') + 1));
    REQUIRE(alive(daemon));
    REQUIRE(alive(program));
    REQUIRE(kill(judge, SIGKILL) == 0);
    REQUIRE(waitpid(judge, nullptr, 0) == judge);
    CHECK(gone_within(program, 5));
    CHECK(gone_within(daemon, 5));
}

TEST_CASE("limits hold: file size, memory, processor time", "[judge][process]") {
    Command writes = shell("head -c 1000000 /dev/zero > \"$F\"");
    const rungs::TemporaryFolder folder;
    writes.environment.push_back("F=" + (folder / "file").string());
    writes.confinement.limits.file_size = 1000;
    Process full(writes);
    REQUIRE(run_to_end(full, 10));
    CHECK_FALSE((full.end().kind == End::Kind::exited && full.end().code == 0));

    Command spins = shell("while :; do :; done");
    spins.confinement.limits.cpu_seconds = 1;
    Process spinning(spins);
    REQUIRE(run_to_end(spinning, 30));
    CHECK(spinning.end().kind == End::Kind::signalled);
}

TEST_CASE("an untrusted program cannot signal others, write files or reach the network", "[judge][sandbox]") {
    Command command = shell(
        "kill -0 $PPID 2>/dev/null && echo signal;"
        "kill -0 1 2>/dev/null && echo init;"
        "echo x 2>/dev/null > /tmp/rungs_untrusted_$$ && echo wrote;"
        "cat /etc/passwd 2>/dev/null | head -1;"
        "id -u");
    command.confinement.untrusted = true;
    command.confinement.hide_files = true;
    Process process(command);
    REQUIRE(run_to_end(process, 10));
    const std::string text = process.output().text();
    CHECK(text.find("signal") == std::string::npos);
    CHECK(text.find("init") == std::string::npos);
    if (sandbox_level(rungs::Backend::cpu).name >= "S2") {
        CHECK(text.find("wrote") == std::string::npos);
        CHECK(text.find("root") == std::string::npos);
    }
    if (geteuid() == 0) CHECK(std::stoul(text.substr(text.rfind('\n', text.size() - 2) + 1)) >= 20000);
}

TEST_CASE("a tool sees the files that it is given, and changes those of its folder alone",
          "[judge][sandbox]") {
    const rungs::TemporaryFolder ours, its;
    ours.write("given", "given text\n");
    ours.write("other", "other text\n");
    const std::string folder = ours.path().string() + "/";
    Command command = shell("cat '" + folder + "given'; cat '" + folder + "other'; echo x > '" + folder +
                            "given' && echo changed; echo x > made && chmod 700 made && (cat made);"
                            "cat /etc/passwd; kill -0 $PPID && echo signal; id -u");
    command.directory = its.path();
    command.confinement.tool = true;
    command.readable = {folder + "given", folder + "none"};
    command.writable = its.path().string();
    Process process(command);
    REQUIRE(run_to_end(process, 10));
    const std::string text = process.output().text();
    INFO(text << process.errors().text());
    CHECK(text.find("given text") == 0);
    CHECK(text.find("x\n") != std::string::npos);
    CHECK(text.find("signal") == std::string::npos);
    CHECK(std::stoul(text.substr(text.rfind('\n', text.size() - 2) + 1)) == geteuid());
    if (sandbox_level(rungs::Backend::cpu).name >= "S2") {
        CHECK(text.find("other") == std::string::npos);
        CHECK(text.find("changed") == std::string::npos);
        CHECK(text.find("root:") == std::string::npos);
    }
}

TEST_CASE("a worker on a GPU names its threads, and talks to nobody", "[judge][sandbox]") {
    if (sandbox_level(rungs::Backend::cpu).name < "S2") RUNGS_SKIP("this host hides no files");
    Command command;
    command.inside = [] {
        int step = 1;
        const auto is = [&](bool holds) {
            if (!holds) _exit(step);
            ++step;
        };
        const std::string name = "/proc/self/task/" + std::to_string(gettid()) + "/comm";
        const Descriptor comm(open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666));
        is(write(comm.get(), "named", 5) == 5);
        is(open("/proc/self/oom_score_adj", O_WRONLY) < 0);
        is(open("/proc/sys/kernel/core_pattern", O_WRONLY) < 0);
        is(open("/etc/passwd", O_RDONLY) < 0);
        for (const int kind : {SOCK_STREAM, SOCK_DGRAM, SOCK_RAW}) is(socket(AF_UNIX, kind, 0) < 0);
        is(socket(AF_INET, SOCK_SEQPACKET, 0) < 0);
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        const std::string own = "rungs-gpu-" + std::to_string(getpid());  // behind a 0: of no file
        own.copy(address.sun_path + 1, own.size());
        const Descriptor service(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
        is(bind(service.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
        is(listen(service.get(), 8) == 0);
        const Descriptor caller(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
        is(connect(caller.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0);
        is(accept4(service.get(), nullptr, nullptr, SOCK_NONBLOCK) < 0 && errno == EPERM);
        return 0;
    };
    Confinement& how = command.confinement;
    how.untrusted = how.one_process = how.hide_files = how.gpu = true;
    Process process(command);
    REQUIRE(run_to_end(process, 10));
    INFO(why_not_started(process.end()));
    CHECK(process.end().kind == End::Kind::exited);
    CHECK(process.end().code == 0);
}

TEST_CASE("a worker starts no other process, and threads alone", "[judge][sandbox]") {
    const auto run = [](const std::string& script) {
        Command command = shell(script);
        command.confinement.untrusted = true;
        command.confinement.one_process = true;
        Process process(command);
        REQUIRE(run_to_end(process, 10));
        return process.output().text();
    };
    REQUIRE(sandbox_level(rungs::Backend::cpu).name >= "S1");
    CHECK(run("echo alone").find("alone") == 0);
    CHECK(run("(echo another)") == "");
    CHECK(run("exec echo itself") == "itself\n");
}

TEST_CASE("what a level says of the sandbox has been tried", "[judge][sandbox]") {
    const SandboxLevel level = sandbox_level(rungs::Backend::cpu);
    INFO(level.name << ": " << level.describe);
    const auto says = [&](const char* words) { return level.describe.find(words) != std::string::npos; };
    CHECK(says("no signals to others") != says("signals to others stay open"));
    CHECK(says("no other processes") != says("other processes can be started"));
    CHECK(says("no network") != says("the network stays open"));
    CHECK(says("no files but the system's") != says("files stay open"));
    CHECK(says("; namespaces of its own") != says("no namespaces of its own"));
    CHECK(says("; a control group") != says("no control group"));
    const bool closed = says("no network") && says("no files but the system's") &&
                        says("no signals to others") && says("no other processes");
    CHECK((level.name >= "S2") == closed);
    CHECK((level.name >= "S3") == (closed && says("; namespaces of its own")));
    CHECK((level.name == "S4") == (level.name >= "S3" && says("; a control group")));
    const HostLevel& host = host_level();
    CHECK(level.name == "S" + std::to_string(host.level));
    CHECK((host.level == 4 || !host.missing.empty()));
    for (const MissingPart& part : host.missing) {
        INFO(part.level << ": " << part.what);
        CHECK(part.level.size() == 2);
        CHECK_FALSE(part.what.empty());
        CHECK_FALSE(part.advice.empty());
    }
}

namespace {

/// What `tried` returns in a fork of this process, which it may change: 0 or 1, or -1 if it does not
/// run to its end.
int told_apart(bool (*tried)()) {
    const pid_t child = fork();
    if (child == 0) _exit(tried() ? 1 : 0);
    int status = -1;
    const bool ended = child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status);
    return ended ? WEXITSTATUS(status) : -1;
}

bool is_true_apart(bool (*tried)()) {
    const int told = told_apart(tried);
    REQUIRE(told >= 0);
    return told == 1;
}

bool becomes_another_user() {
    constexpr unsigned user = 20'000;
    return geteuid() != 0 || (setgroups(0, nullptr) == 0 && setresgid(user, user, user) == 0 &&
                              setresuid(user, user, user) == 0);
}

bool filters_calls() {
    sock_filter allows[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const sock_fprog program{std::size(allows), allows};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

bool hides_files() {
    return syscall(444 /* landlock_create_ruleset */, nullptr, 0, 1U /* ask for the version */) > 0;
}

bool gives_namespaces() {
    const std::string user = std::to_string(geteuid()), group = std::to_string(getegid());
    const bool ordinary = geteuid() != 0;
    constexpr int own = CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNET;
    if (unshare(own | (ordinary ? CLONE_NEWUSER : 0)) != 0) return false;
    if (ordinary) {
        prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);  // else these files are root's
        std::ofstream("/proc/self/setgroups") << "deny";
        std::ofstream("/proc/self/uid_map") << user << ' ' << user << " 1";
        std::ofstream("/proc/self/gid_map") << group << ' ' << group << " 1";
    }
    // A process namespace holds those that come after.
    return told_apart([] {
               const struct { std::uint64_t set, clear, propagation, users; } read_only{1, 0, 0, 0};
               return unshare(CLONE_NEWNS) == 0 &&
                      mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                      mount("tmpfs", "/tmp", "tmpfs", 0, "size=1m") == 0 && mkdir("/tmp/proc", 0755) == 0 &&
                      mount("proc", "/tmp/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY,
                            "hidepid=4") == 0 &&
                      mkdir("/tmp/usr", 0755) == 0 &&
                      mount("/usr", "/tmp/usr", nullptr, MS_BIND | MS_REC, nullptr) == 0 &&
                      chdir("/tmp") == 0 && syscall(SYS_pivot_root, ".", ".") == 0 &&
                      umount2(".", MNT_DETACH) == 0 && chdir("/") == 0 &&
                      syscall(442 /* mount_setattr */, AT_FDCWD, "/", 0, &read_only, sizeof read_only) == 0;
           }) == 1;
}

}  // namespace

// All that tries levels needs a level, and what holds processes finds out itself which there is: were it
// broken, that much less would be tried, and all would be well.
TEST_CASE("a level is no lower than what the kernel gives", "[judge][sandbox]") {
    if (!is_true_apart(becomes_another_user)) RUNGS_SKIP("here root is no other user, and so cannot be held");
    const bool calls = is_true_apart(filters_calls), files = is_true_apart(hides_files),
               namespaces = is_true_apart(gives_namespaces);
    CAPTURE(calls, files, namespaces);
    const SandboxLevel level = sandbox_level(rungs::Backend::cpu);
    INFO(level.name << ": " << level.describe);
    CHECK((isolation_of_host().calls || !calls));
    CHECK((isolation_of_host().namespaces || !namespaces));
    CHECK(level.name >= std::string(!calls ? "S0" : !files ? "S1" : !namespaces ? "S2" : "S3"));
    // Namespaces hide files and the network as well: so once without them.
    Command command;
    command.inside = [] {
        return (open("/etc/passwd", O_RDONLY) >= 0 ? 1 : 0) + (socket(AF_INET, SOCK_STREAM, 0) >= 0 ? 2 : 0);
    };
    command.isolation = Isolation{calls, false, false};
    command.confinement.untrusted = command.confinement.one_process = command.confinement.hide_files = true;
    Process process(command);
    REQUIRE(run_to_end(process, 10));
    REQUIRE(process.end().kind == End::Kind::exited);
    CHECK(process.end().code == (files ? 0 : 1) + (calls ? 0 : 2));
}

namespace {

/// Why this host has no namespaces; empty where it has.
std::string no_namespaces() {
    for (const MissingPart& part : host_level().missing) {
        if (part.level == "S3") return part.what;
    }
    return "";
}

/// Whether `holds` returns true in a fork of this process, and in one that is an ordinary user's.
void holds_for_each_user(bool (*holds)()) {
    for (const bool ordinary : {false, true}) {
        if (ordinary && geteuid() != 0) break;  // so it was the first time
        INFO((ordinary ? "as an ordinary user" : "as who runs the tests"));
        const pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            constexpr unsigned user = 30000;
            if (ordinary && (setgroups(0, nullptr) != 0 || setresgid(user, user, user) != 0 ||
                             setresuid(user, user, user) != 0)) {
                _exit(2);
            }
            _exit(holds() ? 0 : 1);
        }
        int status = -1;
        REQUIRE(waitpid(child, &status, 0) == child);
        CHECK(WIFEXITED(status));
        CHECK(WEXITSTATUS(status) == 0);
    }
}

/// How `inside` ends in namespaces of its own, without a filter: what holds there is the namespaces' doing.
End end_apart(int (*inside)(), const Descriptor* given = nullptr) {
    Command command;
    command.inside = inside;
    command.confinement.tool = true;
    command.isolation = Isolation{false, true, false};
    if (given) command.descriptors = {{given->get(), 3}};
    Process process(command);
    run_to_end(process, 20);
    return process.left_behind() ? End{} : process.end();
}

bool ended_with_0(const End& end) {
    const bool ended = end.kind == End::Kind::exited && end.code == 0;
    if (!ended) std::fprintf(stderr, "ended otherwise: %d, %s\n", end.code, why_not_started(end).c_str());
    return ended;
}

/// Of services that listen outside.
sockaddr_in by_number{};
sockaddr_un by_name{};
socklen_t name_size = 0;
pid_t tester = 0;
constexpr key_t left_key = 0x52554e47;

bool reaches(int family, const void* address, socklen_t size) {
    const Descriptor end(socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    return end && connect(end.get(), static_cast<const sockaddr*>(address), size) == 0;
}

}  // namespace

TEST_CASE("a program apart is not the parent's neighbour", "[judge][sandbox]") {
    if (const std::string why = no_namespaces(); !why.empty()) RUNGS_SKIP(why);
    const Descriptor numbered(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    by_number.sin_family = AF_INET;
    by_number.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof by_number;
    REQUIRE(bind(numbered.get(), reinterpret_cast<sockaddr*>(&by_number), size) == 0);
    REQUIRE(listen(numbered.get(), 8) == 0);
    REQUIRE(getsockname(numbered.get(), reinterpret_cast<sockaddr*>(&by_number), &size) == 0);
    const Descriptor named(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    by_name.sun_family = AF_UNIX;
    const std::string name = "rungs-test-" + std::to_string(getpid());  // behind a 0: of no file
    name.copy(by_name.sun_path + 1, sizeof by_name.sun_path - 1);
    name_size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    REQUIRE(bind(named.get(), reinterpret_cast<sockaddr*>(&by_name), name_size) == 0);
    REQUIRE(listen(named.get(), 8) == 0);
    REQUIRE(reaches(AF_INET, &by_number, sizeof by_number));
    REQUIRE(reaches(AF_UNIX, &by_name, name_size));
    tester = getpid();
    holds_for_each_user([] {
        return ended_with_0(end_apart([] {
            if (reaches(AF_INET, &by_number, sizeof by_number)) return 1;
            if (reaches(AF_UNIX, &by_name, name_size)) return 2;
            if (getpid() != 2 || getppid() != 0) return 3;
            if (kill(tester, 0) == 0 && tester > 2) return 4;
            // What it leaves between processes goes with it.
            if (shmget(left_key, 4096, IPC_CREAT | 0600) < 0) return 5;
            if (access("/proc/1", F_OK) == 0) return 6;
            return 0;
        }));
    });
    CHECK(shmget(left_key, 0, 0) < 0);
    CHECK(errno == ENOENT);
}

TEST_CASE("a tool may be left the network, and nothing else", "[judge][sandbox]") {
    const Descriptor listening(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    by_number.sin_family = AF_INET;
    by_number.sin_port = 0;
    by_number.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof by_number;
    REQUIRE(bind(listening.get(), reinterpret_cast<sockaddr*>(&by_number), size) == 0);
    REQUIRE(listen(listening.get(), 8) == 0);
    REQUIRE(getsockname(listening.get(), reinterpret_cast<sockaddr*>(&by_number), &size) == 0);
    static const bool hides_files = sandbox_level(rungs::Backend::cpu).name >= "S2";
    holds_for_each_user([] {
        Command command;
        command.confinement.tool = command.confinement.network = true;
        command.inside = [] {
            if (!reaches(AF_INET, &by_number, sizeof by_number)) return 1;
            return open("/etc/passwd", O_RDONLY) < 0 ? 0 : 2;
        };
        Process process(command);
        if (!run_to_end(process, 20)) return false;
        return process.end().kind == End::Kind::exited && process.end().code == (hides_files ? 0 : 2);
    });
}

TEST_CASE("a program apart sees that no file is there but its own", "[judge][sandbox]") {
    if (const std::string why = no_namespaces(); !why.empty()) RUNGS_SKIP(why);
    holds_for_each_user([] {
        const auto looks = [] {
            struct stat what {};
            for (const char* path :
                 {RUNGS_ROOT "/solutions", RUNGS_BUILD "/exams", RUNGS_ROOT, "/home", "/root", "/etc/passwd",
                  "/tmp", "/var", "/dev/shm", "/dev/tty", "/sys/fs/cgroup/cgroup.procs", "/usr/share/doc"}) {
                if (stat(path, &what) == 0 || errno != ENOENT) return 1;
            }
            if (stat("/usr/bin/env", &what) != 0) return 2;
            if (mkdir("/here", 0700) == 0 || errno != EROFS) return 3;
            if (mount("none", "/usr/bin", "tmpfs", 0, nullptr) == 0) return 4;
            return 0;
        };
        Command command;
        command.inside = looks;
        command.isolation = Isolation{false, true, false};
        command.confinement.tool = true;
        command.hidden = "/usr/share";  // as a workbook that lies below /usr
        Process tool(command);
        command.confinement = {};
        command.confinement.untrusted = command.confinement.hide_files = true;
        Process worker(command);
        return run_to_end(tool, 20) && run_to_end(worker, 20) && ended_with_0(tool.end()) &&
               ended_with_0(worker.end());
    });
}

TEST_CASE("a tool of root's has no rights but to read what is there", "[judge][sandbox]") {
    if (geteuid() != 0) RUNGS_SKIP("only root has rights to give up");
    const auto rights = [] {
        __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
        __user_cap_data_struct has[2] = {};
        if (syscall(SYS_capget, &header, has) != 0) return 2;
        return (has[0].permitted & ~(1U << CAP_DAC_OVERRIDE)) == 0 && has[1].permitted == 0 ? 0 : 1;
    };
    CHECK(rights() == 1);
    Command command;
    command.inside = rights;
    command.confinement.tool = true;
    Process process(command);
    REQUIRE(run_to_end(process, 10));
    CHECK(ended_with_0(process.end()));
}

namespace {

/// How `inside` ends as a tool, which may start processes, held in a control group or by no limits at all.
End end_grouped(int (*inside)(), const Limits& limits, bool group) {
    Command command;
    command.inside = inside;
    command.confinement.tool = true;
    command.confinement.limits = limits;
    command.isolation = Isolation{false, false, group};
    Process process(command);
    run_to_end(process, 60);
    return process.left_behind() ? End{} : process.end();
}

/// Starts so many processes that wait for their end, each with `bytes` of memory in use. @returns how many
/// could not be started, or were killed
int failed_of(int count, std::size_t bytes) {
    Pipe ready, end;
    int started = 0, killed = 0;
    for (; started < count; ++started) {
        const pid_t child = fork();
        if (child < 0) break;
        if (child > 0) continue;
        ready.read.close();
        end.write.close();
        auto* const memory = static_cast<char*>(
            mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        for (std::size_t at = 0; at < bytes; at += 4096) memory[at] = 1;
        ready.write.close();
        char nothing = 0;
        (void)!read(end.read.get(), &nothing, 1);
        _exit(0);
    }
    ready.write.close();
    char nothing = 0;
    (void)!read(ready.read.get(), &nothing, 1);  // until each of them has its memory, or is gone
    end.write.close();
    for (int i = 0; i < started; ++i) {
        int status = 0;
        waitpid(-1, &status, 0);
        killed += WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    }
    return count - started + killed;
}

}  // namespace

TEST_CASE("a control group bounds what a program and all that it starts take together", "[judge][sandbox]") {
    for (const MissingPart& part : host_level().missing) {
        if (part.level == "S4") RUNGS_SKIP(part.what);
    }
    // Far less than each of them may take.
    const auto takes_memory = [] { return failed_of(8, std::size_t{32} << 20); };
    const auto starts_processes = [] { return failed_of(40, 4096); };
    Limits memory, processes;
    memory.resident = std::size_t{128} << 20;
    processes.processes = 20;
    for (const bool group : {false, true}) {
        INFO((group ? "in a group" : "in none"));
        const End full = end_grouped(takes_memory, memory, group),
                  many = end_grouped(starts_processes, processes, group);
        REQUIRE(full.kind == End::Kind::exited);
        REQUIRE(many.kind == End::Kind::exited);
        if (group) {
            CHECK(full.code > 0);
            CHECK(full.code < 8);
            CHECK(many.code == 40 - (20 - 1));  // itself is one of them
        } else {
            CHECK(full.code == 0);
            CHECK(many.code == 0);
        }
    }
}

TEST_CASE("what a host gives is asked for by whoever runs", "[judge][sandbox]") {
    if (geteuid() != 0) RUNGS_SKIP("only root can become another user");
    host_level();  // as root, whose answer is nobody else's
    static const auto group_refused = [] {
        const std::string& folder = group_folder().path;
        return !folder.empty() && access(folder.c_str(), W_OK) != 0;
    };
    holds_for_each_user([] {
        if (group_refused()) return false;
        Command command;
        command.inside = [] { return 0; };
        command.confinement.tool = true;
        Process process(command);  // by all that isolation_of_host() names
        return run_to_end(process, 20) && ended_with_0(process.end());
    });
    CHECK_FALSE(group_refused());
}

TEST_CASE("what starts itself again and again ends with its namespace", "[judge][sandbox]") {
    if (const std::string why = no_namespaces(); !why.empty()) RUNGS_SKIP(why);
    holds_for_each_user([] {
        Pipe held;  // by each of them
        const End end = end_apart(
            [] {
                if (fork() > 0) return 0;
                for (;;) {
                    if (fork() > 0) _exit(0);
                    setsid();
                }
            },
            &held.write);
        held.write.close();
        fcntl(held.read.get(), F_SETFL, O_NONBLOCK);
        char nothing = 0;
        return ended_with_0(end) && read(held.read.get(), &nothing, 1) == 0;
    });
}

TEST_CASE("a program apart ends as it would anywhere", "[judge][sandbox]") {
    if (const std::string why = no_namespaces(); !why.empty()) RUNGS_SKIP(why);
    const End aborts = end_apart([]() -> int { std::abort(); });
    CHECK(aborts.kind == End::Kind::signalled);
    CHECK(aborts.code == SIGABRT);
    const End exits = end_apart([] { return 139; });
    CHECK(exits.kind == End::Kind::exited);
    CHECK(exits.code == 139);
    CHECK(exits.peak_bytes > 0);
}

TEST_CASE("a host that forbids namespaces is held to less, and says so", "[judge][sandbox]") {
    Pipe said;
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        // As a container's filter does.
        sock_filter refuses[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                                 BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_unshare, 0, 1),
                                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
        const sock_fprog program{std::size(refuses), refuses};
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
            prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0) {
            _exit(2);
        }
        dup2(said.write.get(), 1);
        execl(RUNGS_PROGRAM, "rungs", "doctor", nullptr);
        _exit(2);
    }
    said.write.close();
    std::string text;
    for (char c = 0; read(said.read.get(), &c, 1) == 1;) text += c;
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    INFO(text);
    CHECK(text.find("no namespaces (namespaces: Operation not permitted)") != std::string::npos);
    CHECK(text.find("S3: ") == std::string::npos);
    CHECK(text.find("S4: ") == std::string::npos);
}

TEST_CASE("a program whose warden was stopped is ended as well, and said to be left", "[judge][process]") {
    Command command = shell("echo $PPID $$; exec sleep 1000");
    command.end_seconds = 0.1;
    Process process(command);
    while (process.output().total() == 0) process.wait(-1, in_seconds(0.05));
    const std::string text = process.output().text();
    const pid_t warden = std::stoi(text), program = std::stoi(text.substr(text.find(' ')));
    REQUIRE(kill(warden, SIGSTOP) == 0);
    process.kill();
    CHECK(process.left_behind());
    CHECK(gone_within(warden, 5));
    CHECK(gone_within(program, 5));

    Process ends(shell("true"));
    REQUIRE(run_to_end(ends, 10));
    CHECK_FALSE(ends.left_behind());
}

TEST_CASE("two untrusted programs share no user", "[judge][sandbox]") {
    if (geteuid() != 0) RUNGS_SKIP("only root can give away its user");
    const auto user = [] {
        Command command = shell("id -u");
        command.confinement.untrusted = true;
        Process process(command);
        REQUIRE(run_to_end(process, 10));
        return process.output().text();
    };
    CHECK(user() != user());
}

TEST_CASE("other processes of a user who is not root do not count against an untrusted program",
          "[judge][sandbox]") {
    if (geteuid() != 0) RUNGS_SKIP("only root can become another user");
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        constexpr int most = 8;
        if (setresgid(30000, 30000, 30000) != 0 || setresuid(30000, 30000, 30000) != 0) _exit(2);
        std::array<pid_t, 2 * most> others{};
        for (pid_t& other : others) {
            other = fork();
            if (other == 0) pause(), _exit(0);
        }
        Command command = shell("/bin/true & wait $! && echo started");
        command.confinement.untrusted = true;
        command.isolation = Isolation{true, false, false};  // found out as root, a group is root's
        command.confinement.limits.processes = most;
        Process process(command);
        const bool ended = run_to_end(process, 10);
        for (const pid_t other : others) kill(other, SIGKILL);
        for (const pid_t other : others) waitpid(other, nullptr, 0);
        _exit(ended && process.output().text() == "started\n" ? 0 : 1);
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
}
