#include "judge/confine/system_calls.hpp"

#include <asm/sockios.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <system_error>

#include "judge/confine/process.hpp"
#include "judge/result/defences.hpp"

namespace rungs::judge {
namespace {

/// Stands for the process's own number, which nobody knows before it is there. No number of a process.
constexpr std::uint32_t own_number = 0x7ead1d5eU;

/// Rules of libseccomp. Calls that its headers or the system's may lack are numbers.
class Rules {
  public:
    Rules() : rules_(seccomp_init(SCMP_ACT_ALLOW), seccomp_release) {
        if (!rules_) throw std::system_error(ENOMEM, std::generic_category(), "a filter for system calls");
        must(seccomp_attr_set(rules_.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS));
    }

    void refuse(std::initializer_list<long> calls, int error = EPERM) {
        for (const long call : calls) add(call, error, nullptr);
    }

    /// The kernel takes the low half of all the arguments that are looked at here and below.
    void refuse_values(long call, unsigned argument, std::initializer_list<unsigned long> values) {
        for (const unsigned long value : values) refuse_bits(call, argument, 0xFFFFFFFFU, value);
    }

    void refuse_all_but(long call, unsigned argument, std::uint64_t value) {
        const scmp_arg_cmp compared{argument, SCMP_CMP_NE, value, 0};
        add(call, EPERM, &compared);
    }

    /// Refuses `call` when the bits of `mask` are `value`.
    void refuse_bits(long call, unsigned argument, std::uint64_t mask, std::uint64_t value) {
        const scmp_arg_cmp compared{argument, SCMP_CMP_MASKED_EQ, mask, value};
        add(call, EPERM, &compared);
    }

    std::vector<sock_filter> program() {
        const Descriptor file(memfd_create("rungs-filter", MFD_CLOEXEC));
        if (!file) fail_with_errno("a filter for system calls");
        must(seccomp_export_bpf(rules_.get(), file.get()));
        const auto size = static_cast<std::size_t>(lseek(file.get(), 0, SEEK_END));
        std::vector<sock_filter> program(size / sizeof(sock_filter));
        if (pread(file.get(), program.data(), size, 0) != static_cast<ssize_t>(size))
            fail_with_errno("a filter for system calls");
        if (program.size() > std::numeric_limits<unsigned short>::max())
            throw std::system_error(E2BIG, std::generic_category(), "a filter for system calls");
        return program;
    }

  private:
    static void must(int result) {
        if (result < 0)
            throw std::system_error(-result, std::generic_category(), "a filter for system calls");
    }

    void add(long call, int error, const scmp_arg_cmp* compared) {
        must(seccomp_rule_add_array(rules_.get(), SCMP_ACT_ERRNO(static_cast<std::uint32_t>(error)),
                                    static_cast<int>(call), compared ? 1 : 0, compared));
    }

    std::unique_ptr<void, void (*)(scmp_filter_ctx)> rules_;
};

}  // namespace

bool has_call_filters() {
    // A kernel that has them looks for the program first.
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, nullptr, 0, 0) != 0 && errno == EFAULT;
}

/// Without a process namespace, kill(-1) of a submission would end the student's whole desktop, and
/// prlimit() or ptrace() could reach the judge. This filter leaves a process with signals to itself, and with
/// none of the calls that are there to reach further.
CallFilter::CallFilter(const Confinement& how) {
    if (!is_on(Defence::calls)) return;
    Rules rules;
    rules.refuse({SYS_tkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, 424 /* pidfd_send_signal */});
    rules.refuse({SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp, SYS_move_pages,
                  SYS_migrate_pages, 438 /* pidfd_getfd */, 440 /* process_madvise */});
    for (const long call : {SYS_kill, SYS_tgkill}) rules.refuse_all_but(call, 0, own_number);
    // A descriptor sends its owner signals, and whoever holds a lease or watches a folder gets some.
    rules.refuse_values(SYS_fcntl, 1, {F_SETOWN, F_SETOWN_EX, F_SETSIG, F_SETLEASE, F_NOTIFY});
    rules.refuse_values(SYS_ioctl, 1, {FIOSETOWN, SIOCSPGRP, FIOASYNC});
    // Who may read a library may lock it, and so keep others from it, or tell them something.
    // (The driver of a GPU may lock files of its own.)
    if (how.untrusted && !how.gpu) {
        rules.refuse({SYS_flock});
        rules.refuse_values(SYS_fcntl, 1, {F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW});
    }
    // The limits and the processor time of others.
    rules.refuse({SYS_setpriority, SYS_ioprio_set});
    for (const long call : {SYS_prlimit64, SYS_sched_setaffinity, SYS_sched_setscheduler, SYS_sched_setparam,
                            SYS_sched_setattr}) {
        rules.refuse_all_but(call, 0, 0);
    }
    // What outlives the process without being a file.
    rules.refuse({SYS_shmget, SYS_shmat, SYS_shmctl, SYS_msgget, SYS_msgsnd, SYS_msgrcv, SYS_msgctl,
                  SYS_semget, SYS_semop, SYS_semtimedop, SYS_semctl, SYS_mq_open, SYS_mq_unlink});
    // Parts of the kernel that nobody needs here, and where faults were found.
    rules.refuse({SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_keyctl, SYS_add_key, SYS_request_key,
                  425 /* io_uring_setup */, 426, 427});
    rules.refuse({SYS_unshare, SYS_setns, SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot,
                  428 /* open_tree */, 429 /* move_mount */, 430 /* fsopen */, 431, 432, 433,
                  442 /* mount_setattr */});
    for (const std::uint64_t kind : {CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER,
                                     CLONE_NEWPID, CLONE_NEWNET}) {
        rules.refuse_bits(SYS_clone, 0, kind, kind);
    }
    rules.refuse({435 /* clone3 */}, ENOSYS);  // its flags lie in memory: the C library asks clone() then
    if (how.one_process) {
        rules.refuse_bits(SYS_clone, 0, CLONE_THREAD, 0);
#if defined(__x86_64__)
        rules.refuse({SYS_fork, SYS_vfork});
#endif
    }
    if (how.hide_files && how.gpu) {
        // The driver listens under a name of its own, and gives up if it cannot. Nobody is answered.
        rules.refuse_all_but(SYS_socket, 0, AF_UNIX);
        for (const auto kind : {SOCK_STREAM, SOCK_DGRAM, SOCK_RAW})
            rules.refuse_bits(SYS_socket, 1, 0xF, static_cast<std::uint64_t>(kind));
        rules.refuse({SYS_socketpair, SYS_connect, SYS_accept, SYS_accept4});
    } else if ((how.tool && !how.network) || how.hide_files) {
        rules.refuse({SYS_socket, SYS_socketpair});
    }
    if (how.hide_files) {
        // What Landlock leaves: modes, owners, times and attributes; and, before its version 3, truncating.
        rules.refuse({SYS_fchmod, SYS_fchmodat, 452 /* fchmodat2 */, SYS_fchown, SYS_fchownat, SYS_utimensat,
                      SYS_setxattr, SYS_lsetxattr, SYS_fsetxattr, SYS_removexattr, SYS_lremovexattr,
                      SYS_fremovexattr, 463 /* setxattrat */, 466 /* removexattrat */, 469 /* file_setattr */,
                      SYS_truncate});
#if defined(__x86_64__)
        rules.refuse({SYS_chmod, SYS_chown, SYS_lchown, SYS_utime, SYS_utimes, SYS_futimesat});
#endif
    }
    program_ = rules.program();
}

Failure CallFilter::install() {
    if (program_.empty()) return {};
    for (sock_filter& instruction : program_) {
        if (instruction.code == (BPF_JMP | BPF_JEQ | BPF_K) && instruction.k == own_number)
            instruction.k = static_cast<std::uint32_t>(getpid());
    }
    const sock_fprog program{static_cast<unsigned short>(program_.size()), program_.data()};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0
               ? Failure{}
               : Failure{"filtering system calls", errno};
}

}  // namespace rungs::judge
