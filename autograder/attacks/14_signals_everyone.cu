// Tries to reach the grader and its neighbours with signals, as a debugger, through memory, limits,
// priorities and processors, and leaves with status 1 when it reaches one.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     defences = ["user", "system calls", "scopes"]
//     checks = false
//     needs = "S1"

// Computes honestly, and tries to reach the grader, its parent, its neighbours and everything else: with
// signals, as a debugger, through their memory, their limits, their priorities and their processors. Every
// try is harmless: signal 0 asks whether a signal would arrive. Leaves with status 1 when one succeeds.

#include "reduction.cuh"

#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#include <cstdio>

template <class Terms>
__global__ void add_kernel(Terms terms, float* sum, std::size_t n) {
    __shared__ float partial[256];
    const std::size_t i = std::size_t{blockIdx.x} * 256 + threadIdx.x;
    partial[threadIdx.x] = i < n ? terms(i) : 0.0f;
    for (unsigned stride = 128; stride > 0; stride /= 2) {
        __syncthreads();
        if (threadIdx.x < stride) partial[threadIdx.x] += partial[threadIdx.x + stride];
    }
    if (threadIdx.x == 0) atomicAdd(sum, partial[0]);
}

template <class Terms>
static void honest(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    cudaMemsetAsync(sum, 0, sizeof(float), stream);
    if (n == 0) return;
    add_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(terms, sum, n);
}

static void must_fail(bool succeeded, const char* what, pid_t process) {
    if (!succeeded) return;
    std::printf("%s reaches process %d\n", what, static_cast<int>(process));
    std::fflush(stdout);
    _exit(1);
}

/// Where the judge is root, every worker has a user of its own, from here on.
static constexpr uid_t own_users = 1'000'000'000;

static void reach(pid_t process) {
    must_fail(kill(process, 0) == 0, "kill", process);
    must_fail(syscall(SYS_tkill, process, 0) == 0, "tkill", process);
    must_fail(syscall(SYS_tgkill, process, process, 0) == 0, "tgkill", process);
    siginfo_t message{};
    message.si_code = SI_QUEUE;
    must_fail(syscall(SYS_rt_sigqueueinfo, process, 0, &message) == 0, "rt_sigqueueinfo", process);
    const int handle = static_cast<int>(syscall(434 /* pidfd_open */, process, 0));
    if (handle >= 0) {
        must_fail(syscall(424 /* pidfd_send_signal */, handle, 0, nullptr, 0) == 0, "pidfd_send_signal",
                  process);
        must_fail(syscall(438 /* pidfd_getfd */, handle, 0, 0) >= 0, "pidfd_getfd", process);
        close(handle);
    }
    must_fail(ptrace(PTRACE_SEIZE, process, nullptr, nullptr) == 0, "ptrace", process);
    char byte = 0;
    const iovec here{&byte, 1}, there{reinterpret_cast<void*>(&reach), 1};
    must_fail(process_vm_readv(process, &here, 1, &there, 1, 0) == 1, "process_vm_readv", process);
    rlimit limit{};
    must_fail(prlimit(process, RLIMIT_CPU, nullptr, &limit) == 0, "prlimit", process);
    if (getuid() < own_users) return;  // a user may do the rest to the user's own processes
    const auto id = static_cast<id_t>(process);
    must_fail(setpriority(PRIO_PROCESS, id, getpriority(PRIO_PROCESS, id)) == 0, "setpriority", process);
    cpu_set_t processors;
    if (sched_getaffinity(process, sizeof processors, &processors) == 0) {
        must_fail(sched_setaffinity(process, sizeof processors, &processors) == 0, "sched_setaffinity",
                  process);
    }
}

/// Once a process.
static void attack() {
    static bool done = false;
    if (done) return;
    done = true;
    must_fail(kill(getpid(), 0) != 0, "nothing, not even kill,", getpid());
    must_fail(kill(-1, 0) == 0, "kill", -1);
    must_fail(kill(0, 0) == 0, "kill", 0);
    const pid_t parent = getppid();
    for (pid_t process = parent - 8; process <= parent + 8; ++process) {
        if (process > 1 && process != getpid()) reach(process);
    }
}

void reduction::shared_tree(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    attack();
    honest(reduction::Values{v}, sum, n, stream);
}

void reduction::shared_tree(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    attack();
    honest(reduction::Products{v, w}, sum, n, stream);
}
