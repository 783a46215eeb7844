#include "judge/confine/sandbox.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <sys/ipc.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <system_error>

#include <fmt/format.h>

#include "judge/confine/control_group.hpp"
#include "judge/confine/gpu_process.hpp"
#include "judge/confine/per_user.hpp"
#include "judge/confine/process.hpp"
#include "judge/confine/system_calls.hpp"
#include "judge/confine/visible_files.hpp"
#include "judge/result/defences.hpp"

namespace rungs::judge {
namespace {

/// `grace`: how far beyond it a program that has been told may go.
Failure limit(__rlimit_resource_t which, std::size_t value, std::size_t grace = 0) {
    const rlimit bound{value, value + grace};
    return setrlimit(which, &bound) == 0 ? Failure{} : Failure{"a limit", errno};
}

constexpr const char* own_user_step = "a user of its own";

/// A user that no other process has, so that limits on processes count this worker alone and its signals
/// reach nobody. Needs root; without it the worker stays the student's own user.
Failure become_nobody(unsigned number) {
    if (geteuid() != 0) return {};
    // A container may map only 65536 users: then a smaller number has to do.
    for (const unsigned user : {1'000'000'000U + number, 20'000U + number % 40'000U}) {
        if (syscall(SYS_setgroups, 0, nullptr) != 0) break;
        if (syscall(SYS_setresgid, user, user, user) != 0) continue;
        if (syscall(SYS_setresuid, user, user, user) == 0) return {};
    }
    return {own_user_step, errno};
}

/// Nothing that is run from now on has more rights than this process. Leaves root, where a tool keeps it,
/// with the right to read what others own: a student's tree. What it can reach at all is decided elsewhere.
Failure drop_rights() {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return {"giving up rights", errno};
    if (!is_on(Defence::user)) return {};
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct now[2] = {};
    if (syscall(SYS_capget, &header, now) != 0) return {"giving up rights", errno};
    const unsigned kept = geteuid() == 0 ? now[0].permitted & 1U << CAP_DAC_OVERRIDE : 0;
    const __user_cap_data_struct wanted[2] = {{kept, kept, 0}, {0, 0, 0}};
    return syscall(SYS_capset, &header, wanted) == 0 ? Failure{} : Failure{"giving up rights", errno};
}

// -- what this host can do

/// What a confined process could not do, one bit each.
enum Held : int { signals = 1, processes = 2, objects = 4, files = 8, network = 16, apart = 32 };
constexpr int held_at_s2 = signals | processes | objects | files | network;

constexpr std::array<const char*, 4> kinds_of_namespace{"pid", "ipc", "net", "mnt"};

/// What the process that tries has to know of the judge. Set before it is started.
struct Outside {
    pid_t judge;
    char file[32];  ///< that everybody may write to
    std::array<ino_t, kinds_of_namespace.size()> namespaces;
} outside;

ino_t own_namespace(const char* kind) {
    char path[32] = "/proc/self/ns/";
    struct stat what {};
    return stat(std::strcat(path, kind), &what) == 0 ? what.st_ino : 0;
}

/// Tries in a process that is held like a worker. @returns what it could not do
int try_out() {
    int ends[2];
    if (pipe(ends) != 0) return 0;
    int held = 0;
    if (kill(outside.judge, 0) != 0 && fcntl(ends[0], F_SETOWN, outside.judge) != 0) held |= signals;
    const pid_t other = fork();
    if (other == 0) _exit(0);
    if (other < 0) {
        held |= processes;
    } else {
        waitpid(other, nullptr, 0);
    }
    // Calls without sense: who may make them is told that.
    if (shmget(IPC_PRIVATE, 0, 0) < 0 && errno == EPERM) held |= objects;
    if (open(outside.file, O_RDONLY) < 0 && open(outside.file, O_WRONLY) < 0 &&
        open("/etc/passwd", O_RDONLY) < 0 && truncate("", 0) != 0 && errno == EPERM) {
        held |= files;
    }
    // The driver of a GPU has sockets, and nobody to talk to.
    const int lonely = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    const bool talks = lonely >= 0 && (connect(lonely, nullptr, 0) == 0 || errno != EPERM);
    if (socket(AF_UNIX, SOCK_STREAM, 0) < 0 && !talks) held |= network;
    held |= apart;
    for (std::size_t i = 0; i < kinds_of_namespace.size(); ++i) {
        if (own_namespace(kinds_of_namespace[i]) == outside.namespaces[i]) held &= ~apart;
    }
    return held;
}

/// Runs `inside` confined like a worker. @returns how it ended
End try_with(int (*inside)(), const Isolation& isolation, bool hide_files, bool gpu = false) {
    Command command;
    command.inside = inside;
    command.isolation = isolation;
    Confinement& how = command.confinement;
    how.untrusted = how.one_process = true;
    how.hide_files = hide_files;
    how.gpu = gpu;
    how.limits.resident = 1U << 30;
    how.limits.processes = 64;
    Process process(command);
    run_to_end(process, 10);
    return process.end();
}

int try_on(Backend backend) {
    static std::mutex one_at_a_time;
    const std::lock_guard lock(one_at_a_time);
    outside.judge = getpid();
    for (std::size_t i = 0; i < kinds_of_namespace.size(); ++i)
        outside.namespaces[i] = own_namespace(kinds_of_namespace[i]);
    std::strcpy(outside.file, "/tmp/rungs-probe-XXXXXX");
    const Descriptor file(mkostemp(outside.file, O_CLOEXEC));
    if (!file || fchmod(file.get(), 0666) != 0) fail_with_errno("a file in /tmp");
    const bool gpu = backend == Backend::cuda;
    const bool hide_files = !gpu || why_gpu_stays_open().empty();
    const End end = try_with(try_out, isolation_of_host(), hide_files, gpu);
    unlink(outside.file);
    return end.kind == End::Kind::exited ? end.code : 0;
}

/// Once for each user: what a kernel holds does not change.
int what_holds(Backend backend) {
    static PerUser<int> on_cpu, on_gpu;
    return (backend == Backend::cpu ? on_cpu : on_gpu).get([&] { return try_on(backend); });
}

struct Found {
    Isolation isolation;
    std::string no_namespaces, no_group;  ///< why not
};

/// Tries each part for itself: one that is missing leaves the others.
const Found& found_on_host() {
    static PerUser<Found> found;
    return found.get([] {
        const auto nothing = [] { return 0; };
        const auto why_not = [&](const Isolation& tried) -> std::string {
            try {
                const End end = try_with(nothing, tried, true);
                if (end.kind == End::Kind::exited && end.code == 0) return "";
                if (end.kind != End::Kind::not_started) return "a process that was held so did not end";
                return why_not_started(end);
            } catch (const std::system_error& error) {
                return error.what();
            }
        };
        Found is;
        is.isolation.calls = has_call_filters();
        is.no_namespaces = why_not({is.isolation.calls, true, false});
        is.isolation.namespaces = is.no_namespaces.empty();
        is.no_group = group_folder().why_not;
        if (is.no_group.empty()) is.no_group = why_not({is.isolation.calls, false, true});
        is.isolation.group = is.no_group.empty();
        return is;
    });
}

/// The first number in a file of the kernel's settings; -1: there is none.
long setting(const char* file) {
    long value = -1;
    std::ifstream(file) >> value;
    return value;
}

std::string advice_on_namespaces(const std::string& why_not) {
    if (why_not.rfind(own_user_step, 0) == 0)
        return "start Rungs as an ordinary user, or as a root who can become other users";
    const bool container = access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0;
    if (geteuid() != 0 && setting("/proc/sys/user/max_user_namespaces") == 0)
        return "as root: sysctl -w user.max_user_namespaces=10000; or start Rungs as root";
    if (geteuid() != 0 && setting("/proc/sys/kernel/unprivileged_userns_clone") == 0)
        return "as root: sysctl -w kernel.unprivileged_userns_clone=1; or start Rungs as root";
    if (geteuid() != 0 && setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == 1) {
        return "as root: sysctl -w kernel.apparmor_restrict_unprivileged_userns=0 (for Ubuntu 24.04 and "
               "later); or start Rungs as root";
    }
    if (container) {
        return "start the container with --cap-add SYS_ADMIN --security-opt seccomp=unconfined "
               "--security-opt "
               "apparmor=unconfined --security-opt systempaths=unconfined, or grade on the host";
    }
    return "start Rungs as root, on Linux 5.12 or later, outside of containers that forbid namespaces";
}

}  // namespace

Failure confine(const Confinement& how, const Isolation& isolation, CallFilter& filter, int program,
                unsigned number) {
    if (how.is_closed() && isolation.namespaces) {
        if (const Failure failed = change_root(how)) return failed;
    }
    const bool limited = is_on(how.tool ? Defence::tool_limits : Defence::limits);
    const Limits limits = limited ? how.limits : Limits();
    Failure failed = limit(RLIMIT_CORE, 0);
    if (!failed && limits.address_space) failed = limit(RLIMIT_AS, limits.address_space);
    if (!failed && limits.cpu_seconds) {
        failed = limit(RLIMIT_CPU, limits.cpu_seconds, 1);  // its end says why: SIGXCPU, not SIGKILL
    }
    if (!failed && (limits.file_size || limits.no_files)) {
        failed = limit(RLIMIT_FSIZE, limits.no_files ? 0 : limits.file_size);
    }
    if (!failed && limits.open_files) failed = limit(RLIMIT_NOFILE, limits.open_files);
    if (failed || !how.is_confined()) return failed;
    const bool own_user = how.untrusted && geteuid() == 0;
    if (how.untrusted && is_on(Defence::user)) failed = become_nobody(number);
    if (!failed) failed = drop_rights();
    // Only of a user that no other process has: a student's other programs would count otherwise.
    if (!failed && limits.processes && own_user) failed = limit(RLIMIT_NPROC, limits.processes);
    if (!failed) failed = restrict_access(how, program);
    return failed ? failed : filter.install();
}

const Isolation& isolation_of_host() { return found_on_host().isolation; }

SandboxLevel sandbox_level(Backend backend) {
    const int held = what_holds(backend);
    const bool group = isolation_of_host().group;
    constexpr int alone = signals | processes | objects;
    std::string text = "limits on memory and time";
    text += geteuid() == 0 ? "; a user of its own" : "; the user's own rights";
    text += held & signals ? "; no signals to others" : "; signals to others stay open";
    text += held & processes ? "; no other processes" : "; other processes can be started";
    text += held & objects ? "" : "; shared memory can be left behind";
    text += held & files ? "; no files but the system's" : "; files stay open";
    text += held & network ? "; no network" : "; the network stays open";
    text += held & apart ? "; namespaces of its own" : "; no namespaces of its own";
    text += group ? "; a control group" : "; no control group";
    const bool s2 = (held & held_at_s2) == held_at_s2, s3 = s2 && (held & apart);
    return {s3 && group ? "S4" : s3 ? "S3" : s2 ? "S2" : (held & alone) == alone ? "S1" : "S0", text};
}

const HostLevel& host_level() {
    static PerUser<HostLevel> host;
    return host.get([] {
        HostLevel is;
        is.level = sandbox_level(Backend::cpu).name[1] - '0';
        const Found& found = found_on_host();
        if (!found.isolation.calls) {
            is.missing.push_back({"S1", "the kernel filters no system calls (seccomp)",
                                  "use a kernel with CONFIG_SECCOMP_FILTER; all of the usual ones have it"});
        }
        if (landlock_version() == 0) {
            is.missing.push_back(
                {"S2", "the kernel hides no files (Landlock)",
                 "Linux 5.13 or later; where /sys/kernel/security/lsm lists others, boot with "
                 "lsm=landlock,... in front of them"});
        }
        if (!found.isolation.namespaces) {
            is.missing.push_back({"S3", fmt::format("no namespaces ({})", found.no_namespaces),
                                  advice_on_namespaces(found.no_namespaces)});
        }
        if (!found.isolation.group) {
            is.missing.push_back(
                {"S4", fmt::format("no control group ({})", found.no_group), group_folder().advice});
        }
        return is;
    });
}

}  // namespace rungs::judge
