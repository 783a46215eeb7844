#include "sandbox.hpp"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "judge.hpp"

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

/// Leaves the system's programs and libraries, this process's own entry in /proc, and `program`.
int hide_files(int program) {
    const long version = landlock_version();
    if (version == 0) return 0;
    // Version 1 knows 13 kinds of access, 2 adds moving between folders, 3 adds truncating.
    const std::uint64_t handled = (std::uint64_t{1} << (version == 1 ? 13 : version == 2 ? 14 : 15)) - 1;
    const int rules = static_cast<int>(syscall(landlock_create_ruleset, &handled, sizeof handled, 0));
    if (rules < 0) return errno;
    const auto allow = [&](int descriptor, std::uint64_t access) {
        struct {
            std::uint64_t access;
            std::int32_t descriptor;
        } __attribute__((packed)) const rule{access, descriptor};
        syscall(landlock_add_rule, rules, 1 /* what is beneath a path */, &rule, 0);
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
    for (const auto& place : places) {
        const int descriptor = open(place.path, O_PATH | O_CLOEXEC);
        if (descriptor < 0) continue;
        allow(descriptor, place.access);
        close(descriptor);
    }
    if (program >= 0) allow(program, may_execute | may_read);
    int failed = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? 0 : errno;
    if (!failed && syscall(landlock_restrict_self, rules, 0) != 0) failed = errno;
    close(rules);
    return failed;
}

/// Without a process namespace, kill(-1) of a submission would end the student's whole desktop, and
/// prlimit() or ptrace() could reach the judge. This filter leaves a process with signals to itself, and with
/// none of the calls that are there to reach further.
int filter_calls(bool no_network) {
    constexpr std::uint32_t number = offsetof(seccomp_data, nr);
    constexpr std::uint32_t first = offsetof(seccomp_data, args[0]);
    const auto self = static_cast<std::uint32_t>(getpid());
    const auto deny = SECCOMP_RET_ERRNO | EPERM;

    // BPF jumps are relative: each block below ends by reloading the number for the next.
    constexpr std::size_t capacity = 96;
    sock_filter code[capacity];
    unsigned short size = 0;
    const auto add = [&](unsigned short op, std::uint32_t k, unsigned char yes = 0, unsigned char no = 0) {
        if (size < capacity) code[size++] = {op, yes, no, k};
    };
    constexpr unsigned short load = BPF_LD | BPF_W | BPF_ABS;
    constexpr unsigned short equal = BPF_JMP | BPF_JEQ | BPF_K;
    constexpr unsigned short answer = BPF_RET | BPF_K;

    add(load, offsetof(seccomp_data, arch));
    add(equal, architecture, 1, 0);
    add(answer, SECCOMP_RET_KILL_PROCESS);
    add(load, number);
#if defined(__x86_64__)
    add(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1);  // the x32 calls have other numbers
    add(answer, deny);
#endif
    for (const long call :
         {SYS_tkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_ptrace, SYS_process_vm_readv,
          SYS_process_vm_writev, 424 /* pidfd_send_signal */, 425 /* io_uring_setup */, 438 /* pidfd_getfd */,
          SYS_unshare, SYS_setns, SYS_mount, SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_keyctl,
          SYS_add_key, SYS_request_key}) {
        add(equal, static_cast<std::uint32_t>(call), 0, 1);
        add(answer, deny);
    }
    // Allowed with itself as the first argument only; prlimit64 with 0 too, which means itself.
    for (const int call : {SYS_kill, SYS_tgkill, SYS_prlimit64}) {
        const bool zero_is_self = call == SYS_prlimit64;
        add(equal, static_cast<std::uint32_t>(call), 0, zero_is_self ? 5 : 4);
        add(load, first);
        if (zero_is_self) add(equal, 0, 2, 0);
        add(equal, self, 1, 0);
        add(answer, deny);
        add(answer, SECCOMP_RET_ALLOW);
    }
    if (no_network) {  // a socket of any family but AF_UNIX
        add(equal, SYS_socket, 0, 4);
        add(load, first);
        add(equal, AF_UNIX, 1, 0);
        add(answer, SECCOMP_RET_ERRNO | EAFNOSUPPORT);
        add(answer, SECCOMP_RET_ALLOW);
    }
    add(answer, SECCOMP_RET_ALLOW);

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
    const sock_fprog program{size, code};
    // A kernel or container without seccomp filters: the rest of the level still holds.
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0 && errno != EINVAL) return errno;
    return 0;
}

}  // namespace

int confine(const Confinement& how, int program) {
    const Limits& limits = how.limits;
    int failed = limit(RLIMIT_CORE, 0);
    if (!failed && limits.address_space) failed = limit(RLIMIT_AS, limits.address_space);
    if (!failed && limits.cpu_seconds) failed = limit(RLIMIT_CPU, limits.cpu_seconds);
    if (!failed && (limits.file_size || limits.no_files)) {
        failed = limit(RLIMIT_FSIZE, limits.no_files ? 0 : limits.file_size);
    }
    if (!failed && limits.open_files) failed = limit(RLIMIT_NOFILE, limits.open_files);
    if (failed || !how.untrusted) return failed;
    const bool own_user = geteuid() == 0;
    failed = become_nobody();
    // Only of a user that no other process has: a student's other programs would count otherwise.
    if (!failed && limits.processes && own_user) failed = limit(RLIMIT_NPROC, limits.processes);
    if (!failed && how.hide_files) failed = hide_files(program);
    return failed ? failed : filter_calls(how.hide_files);
}

SandboxLevel sandbox_level(Backend backend) {
    const bool files = backend == Backend::cpu && landlock_version() > 0;
    std::string text = "limits on memory, time and processes; no signals to others";
    text += geteuid() == 0 ? "; a user of its own" : "; the user's own rights";
    text += files ? "; no files but the system's; no network" : "; files and network stay open";
    return {files ? "S2" : "S1", text};
}

}  // namespace rungs::judge
