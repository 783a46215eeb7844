// Computes honestly; starts a process in a user namespace of its own, and leaves with status 1 when it
// can.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     defences = ["system calls"]
//     checks = false
//     control_needs_namespace = true
//     needs = "S1"

// Computes honestly; starts a process in a user namespace of its own, and leaves with status 1 when it can.

#include "reduction.cuh"

#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
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

/// Where it would be root, and could ask the kernel for what is root's.
static void enter() {
    if (unshare(CLONE_NEWUSER) == 0) _exit(1);
    clone_args wanted{};
    wanted.flags = CLONE_NEWUSER;
    wanted.exit_signal = SIGCHLD;
    for (const long child : {syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, nullptr, nullptr, nullptr, nullptr),
                             syscall(SYS_clone3, &wanted, sizeof wanted)}) {
        if (child >= 0) _exit(1);
    }
}

static void once() {
    static bool done = false;
    if (!done) enter();
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
