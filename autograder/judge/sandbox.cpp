#include "judge/sandbox.hpp"

#include <asm/sockios.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "judge/defences.hpp"
#include "judge/judge.hpp"

namespace rungs::judge {
namespace {

int limit(__rlimit_resource_t which, std::size_t value) {
    const rlimit bound{value, value};
    return setrlimit(which, &bound) == 0 ? 0 : errno;
}

/// A user that no other process has, so that limits on processes count this worker alone and its signals
/// reach nobody. Needs root; without it the worker stays the student's own user.
int become_nobody() {
    if (geteuid() != 0) return 0;
    const auto process = static_cast<unsigned>(getpid());
    // A container may map only 65536 users: then a smaller number has to do.
    for (const unsigned user : {1'000'000'000U + process, 20'000U + process % 40'000U}) {
        if (syscall(SYS_setgroups, 0, nullptr) != 0) return errno;
        if (syscall(SYS_setresgid, user, user, user) != 0) continue;
        if (syscall(SYS_setresuid, user, user, user) == 0) return 0;
    }
    return errno;
}

#if defined(__x86_64__)
constexpr std::uint32_t architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t architecture = AUDIT_ARCH_AARCH64;
#else
#error "the signal filter knows x86-64 and aarch64"
#endif

// Landlock, by numbers: the headers of older distributions lack it, while their kernels have it.
constexpr long landlock_create_ruleset = 444, landlock_add_rule = 445, landlock_restrict_self = 446;
constexpr std::uint64_t may_execute = 1, may_write = 2, may_read = 4, may_list = 8;

/// The version of the kernel's Landlock; 0: none.
long landlock_version() {
    const long version = syscall(landlock_create_ruleset, nullptr, 0, 1U /* ask for the version */);
    return version > 0 ? version : 0;
}

/// Leaves the system's programs and libraries, this process's own entry in /proc, `program`, and what a tool
/// is given. Unless they are to be hidden, all files stay open. Where the kernel can, no signal and no local
/// connection by name leaves the process either way.
int restrict_access(const Confinement& how, int program) {
    const bool files = how.tool ? is_on(Defence::tool_files) : how.hide_files && is_on(Defence::files);
    const long version = landlock_version();
    if (version == 0 || (version < 6 && !files)) return 0;
    // Version 1 knows 13 kinds of access, 2 adds moving between folders, 3 truncating, 5 device controls.
    const int kinds = version == 1 ? 13 : version == 2 ? 14 : version < 5 ? 15 : 16;
    struct {
        std::uint64_t files, network, scopes;
    } const handled{
        files ? (std::uint64_t{1} << kinds) - 1 : 0, 0,
        version < 6 || !is_on(Defence::scopes) ? 0 : std::uint64_t{3} /* names of sockets, signals */};
    const int rules = static_cast<int>(syscall(landlock_create_ruleset, &handled, sizeof handled, 0));
    if (rules < 0) return errno;
    const auto allow = [&](int descriptor, std::uint64_t access) {
        struct {
            std::uint64_t access;
            std::int32_t descriptor;
        } __attribute__((packed)) const rule{access, descriptor};
        return syscall(landlock_add_rule, rules, 1 /* what is beneath a path */, &rule, 0) == 0;
    };
    const auto allow_path = [&](const char* path, std::uint64_t access) {
        const int descriptor = open(path, O_PATH | O_CLOEXEC);
        if (descriptor < 0) return;
        if (!allow(descriptor, access)) allow(descriptor, access & ~may_list);  // a file is not listed
        close(descriptor);
    };
    struct {
        const char* path;
        std::uint64_t access;
    } const places[] = {{"/usr", may_execute | may_read | may_list},
                        {"/lib", may_execute | may_read | may_list},
                        {"/lib64", may_execute | may_read | may_list},
                        {"/bin", may_execute | may_read | may_list},
                        {"/etc/ld.so.cache", may_read},
                        {"/proc/self", may_read | may_list},
                        {"/proc/meminfo", may_read},
                        {"/proc/cpuinfo", may_read},
                        {"/sys/devices/system", may_read | may_list},
                        {"/sys/fs/cgroup", may_read | may_list},
                        {"/dev/null", may_read | may_write},
                        {"/dev/zero", may_read},
                        {"/dev/urandom", may_read}};
    if (files) {
        for (const auto& place : places) allow_path(place.path, place.access);
    }
    if (how.tool) {
        // Where systems keep compilers that are not their own.
        for (const char* path : {"/opt", "/nix", "/gnu", "/snap"})
            allow_path(path, may_execute | may_read | may_list);
        for (const char* const* path = how.readable; path && *path; ++path)
            allow_path(*path, may_execute | may_read | may_list);
        if (how.writable) allow_path(how.writable, handled.files);
    }
    if (files && program >= 0) allow(program, may_execute | may_read);
    int failed = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? 0 : errno;
    if (!failed && syscall(landlock_restrict_self, rules, 0) != 0) failed = errno;
    close(rules);
    return failed;
}

/// The seccomp program that looks at every system call: a chain of rules, each of which answers or leaves the
/// call's number to the next.
class Filter {
  public:
    Filter() {
        add(load, offsetof(seccomp_data, arch));
        add(equal, architecture, 1, 0);
        add(answer, SECCOMP_RET_KILL_PROCESS);
        add(load, number);
#if defined(__x86_64__)
        add(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1);  // the x32 calls have other numbers
        add(answer, refusal(EPERM));
#endif
    }

    void refuse(std::initializer_list<long> calls, int error = EPERM) {
        for (const long call : calls) {
            add(equal, word(call), 0, 1);
            add(answer, refusal(error));
        }
    }

    void refuse_values(long call, int argument, std::initializer_list<long> values) {
        begin(call, argument, 2 * values.size());
        for (const long value : values) {
            add(equal, word(value), 0, 1);
            add(answer, refusal(EPERM));
        }
        add(load, number);
    }

    void allow_values(long call, int argument, std::initializer_list<long> values) {
        begin(call, argument, 2 * values.size());
        for (const long value : values) {
            add(equal, word(value), 0, 1);
            add(answer, SECCOMP_RET_ALLOW);
        }
        add(answer, refusal(EPERM));
    }

    /// Refuses `call` when one of `bits` is set; with `missing`, when none of them is.
    void refuse_bits(long call, int argument, std::uint32_t bits, bool missing = false) {
        begin(call, argument, 2);
        add(BPF_JMP | BPF_JSET | BPF_K, bits, missing ? 1 : 0, missing ? 0 : 1);
        add(answer, refusal(EPERM));
        add(load, number);
    }

    /// From now on, for this process and all it starts. @returns 0, or the errno of what failed
    int install() {
        add(answer, SECCOMP_RET_ALLOW);
        if (size_ > capacity) return E2BIG;
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
        const sock_fprog program{size_, code_};
        if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0) return 0;
        const int failed = errno;
        // A kernel that has filters looks for the program first. Without them the rest of the level still
        // holds, and sandbox_level() tells.
        const bool known = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, nullptr, 0, 0) != 0 && errno == EFAULT;
        return failed == EINVAL && !known ? 0 : failed;
    }

  private:
    static constexpr unsigned short load = BPF_LD | BPF_W | BPF_ABS;
    static constexpr unsigned short equal = BPF_JMP | BPF_JEQ | BPF_K;
    static constexpr unsigned short answer = BPF_RET | BPF_K;
    static constexpr std::uint32_t number = offsetof(seccomp_data, nr);
    static constexpr std::size_t capacity = 512;

    static std::uint32_t word(long value) { return static_cast<std::uint32_t>(value); }
    static std::uint32_t refusal(int error) { return SECCOMP_RET_ERRNO | word(error); }

    /// Loads an argument of `call`; any other call goes on behind `rest` instructions and one that ends the
    /// rule. The kernel takes the low half of all the arguments that are looked at here.
    void begin(long call, int argument, std::size_t rest) {
        add(equal, word(call), 0, static_cast<unsigned char>(rest + 2));
        add(load, static_cast<std::uint32_t>(offsetof(seccomp_data, args) +
                                             sizeof(std::uint64_t) * static_cast<unsigned>(argument)));
    }

    void add(unsigned short op, std::uint32_t k, unsigned char yes = 0, unsigned char no = 0) {
        if (size_ < capacity) code_[size_] = {op, yes, no, k};
        ++size_;
    }

    sock_filter code_[capacity];
    unsigned short size_ = 0;
};

/// Without a process namespace, kill(-1) of a submission would end the student's whole desktop, and
/// prlimit() or ptrace() could reach the judge. This filter leaves a process with signals to itself, and with
/// none of the calls that are there to reach further. Calls that headers of older systems lack are numbers.
int filter_calls(const Confinement& how) {
    if (!is_on(Defence::calls)) return 0;
    const long self = getpid();
    Filter filter;
    filter.refuse({SYS_tkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, 424 /* pidfd_send_signal */});
    filter.refuse({SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp, SYS_move_pages,
                   SYS_migrate_pages, 438 /* pidfd_getfd */, 440 /* process_madvise */});
    filter.allow_values(SYS_kill, 0, {self});
    filter.allow_values(SYS_tgkill, 0, {self});
    filter.allow_values(SYS_prlimit64, 0, {0, self});
    // A descriptor sends its owner signals, and whoever holds a lease or watches a folder gets some.
    filter.refuse_values(SYS_fcntl, 1, {F_SETOWN, F_SETOWN_EX, F_SETSIG, F_SETLEASE, F_NOTIFY});
    filter.refuse_values(SYS_ioctl, 1, {FIOSETOWN, SIOCSPGRP, FIOASYNC});
    // The processor time of others.
    filter.refuse({SYS_setpriority, SYS_ioprio_set});
    for (const long call :
         {SYS_sched_setaffinity, SYS_sched_setscheduler, SYS_sched_setparam, SYS_sched_setattr}) {
        filter.allow_values(call, 0, {0});
    }
    // What outlives the process without being a file.
    filter.refuse({SYS_shmget, SYS_shmat, SYS_shmctl, SYS_msgget, SYS_msgsnd, SYS_msgrcv, SYS_msgctl,
                   SYS_semget, SYS_semop, SYS_semtimedop, SYS_semctl, SYS_mq_open, SYS_mq_unlink});
    // Parts of the kernel that nobody needs here, and where faults were found.
    filter.refuse({SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_keyctl, SYS_add_key, SYS_request_key,
                   425 /* io_uring_setup */, 426, 427});
    filter.refuse({SYS_unshare, SYS_setns, SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot,
                   428 /* open_tree */, 429 /* move_mount */, 430 /* fsopen */, 431, 432, 433,
                   442 /* mount_setattr */});
    constexpr std::uint32_t namespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                                         CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;
    filter.refuse_bits(SYS_clone, 0, namespaces);
    filter.refuse({435 /* clone3 */}, ENOSYS);  // its flags lie in memory: the C library asks clone() then
    if (how.one_process) {
        filter.refuse_bits(SYS_clone, 0, CLONE_THREAD, true);
#if defined(__x86_64__)
        filter.refuse({SYS_fork, SYS_vfork});
#endif
    }
    if (how.tool || how.hide_files) filter.refuse({SYS_socket, SYS_socketpair});
    if (how.hide_files) {
        // What Landlock leaves: modes, owners, times and attributes; and, before its version 3, truncating.
        filter.refuse({SYS_fchmod, SYS_fchmodat, 452 /* fchmodat2 */, SYS_fchown, SYS_fchownat, SYS_utimensat,
                       SYS_setxattr, SYS_lsetxattr, SYS_fsetxattr, SYS_removexattr, SYS_lremovexattr,
                       SYS_fremovexattr, 463 /* setxattrat */, 466 /* removexattrat */,
                       469 /* file_setattr */, SYS_truncate});
#if defined(__x86_64__)
        filter.refuse({SYS_chmod, SYS_chown, SYS_lchown, SYS_utime, SYS_utimes, SYS_futimesat});
#endif
    }
    return filter.install();
}

/// What a confined process could not do, one bit each.
enum Held : int { signals = 1, processes = 2, objects = 4, files = 8, network = 16, everything = 31 };

/// Finds out by trying, in a process that is held like a worker.
int what_holds(bool hide_files) {
    Confinement how;
    how.untrusted = true;
    how.one_process = true;
    how.hide_files = hide_files;
    const pid_t judge = getpid();
    const pid_t child = fork();
    if (child < 0) return 0;
    if (child == 0) {
        int ends[2];
        if (pipe(ends) != 0 || confine(how, -1) != 0) _exit(0);
        int held = 0;
        if (kill(judge, 0) != 0 && fcntl(ends[0], F_SETOWN, judge) != 0) held |= signals;
        const pid_t other = fork();
        if (other == 0) _exit(0);
        if (other < 0) {
            held |= processes;
        } else {
            waitpid(other, nullptr, 0);
        }
        // Calls without sense: who may make them is told that.
        if (shmget(IPC_PRIVATE, 0, 0) < 0 && errno == EPERM) held |= objects;
        if (open("/", O_RDONLY | O_DIRECTORY) < 0 && truncate("", 0) != 0 && errno == EPERM) held |= files;
        if (socket(AF_UNIX, SOCK_STREAM, 0) < 0) held |= network;
        _exit(held);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

}  // namespace

int confine(const Confinement& how, int program) {
    const bool limited = is_on(how.tool ? Defence::tool_limits : Defence::limits);
    const Limits limits = limited ? how.limits : Limits();
    int failed = limit(RLIMIT_CORE, 0);
    if (!failed && limits.address_space) failed = limit(RLIMIT_AS, limits.address_space);
    if (!failed && limits.cpu_seconds) failed = limit(RLIMIT_CPU, limits.cpu_seconds);
    if (!failed && (limits.file_size || limits.no_files)) {
        failed = limit(RLIMIT_FSIZE, limits.no_files ? 0 : limits.file_size);
    }
    if (!failed && limits.open_files) failed = limit(RLIMIT_NOFILE, limits.open_files);
    if (failed || !(how.untrusted || how.tool)) return failed;
    const bool own_user = how.untrusted && geteuid() == 0;
    if (how.untrusted && is_on(Defence::user)) failed = become_nobody();
    // Only of a user that no other process has: a student's other programs would count otherwise.
    if (!failed && limits.processes && own_user) failed = limit(RLIMIT_NPROC, limits.processes);
    if (!failed) failed = restrict_access(how, program);
    return failed ? failed : filter_calls(how);
}

SandboxLevel sandbox_level(Backend backend) {
    // Once a process: what a kernel holds does not change.
    static const int on_cpu = what_holds(true), on_cuda = what_holds(false);
    const int held = backend == Backend::cpu ? on_cpu : on_cuda;
    constexpr int alone = signals | processes | objects;
    std::string text = "limits on memory and time";
    text += geteuid() == 0 ? "; a user of its own" : "; the user's own rights";
    text += held & signals ? "; no signals to others" : "; signals to others stay open";
    text += held & processes ? "; no other processes" : "; other processes can be started";
    text += held & objects ? "" : "; shared memory can be left behind";
    text += held & files ? "; no files but the system's" : "; files stay open";
    text += held & network ? "; no network" : "; the network stays open";
    return {held == everything ? "S2" : (held & alone) == alone ? "S1" : "S0", text};
}

}  // namespace rungs::judge
