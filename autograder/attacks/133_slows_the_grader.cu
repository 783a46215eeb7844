// Computes honestly; takes the grader's processor time away, and leaves with status 1 when it can.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     defences = ["system calls", "user"]
//     checks = false
//     needs = "S1"

// Computes honestly; takes the grader's processor time away, and leaves with status 1 when it can.

#include "reduction.cuh"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

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

/// The idlest of classes is what a process may give to another of the same user.
static void slow() {
    const pid_t parent = getppid();
    const pid_t grader = parent > 0 ? parent : 1;  // in a namespace the grader's is the first process
    const sched_param none{};
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    constexpr int idle = 3 << 13;
    if (setpriority(PRIO_PROCESS, static_cast<id_t>(grader), 19) == 0 ||
        sched_setscheduler(grader, SCHED_IDLE, &none) == 0 ||
        sched_setaffinity(grader, sizeof one, &one) == 0 || syscall(SYS_ioprio_set, 1, grader, idle) == 0) {
        _exit(1);
    }
}

static void once() {
    static bool done = false;
    if (!done) slow();
    done = true;
}

void reduction::shared_tree(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    once();
    honest(reduction::Values{v}, sum, n, stream);
}

void reduction::shared_tree(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    once();
    honest(reduction::Products{v, w}, sum, n, stream);
}
