// Computes honestly; starts a process that starts the next and ends, and so on: whoever kills one by one
// comes too late.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     defences = ["system calls"]
//     checks = false
//     needs = "S1"

// Computes honestly; starts a process that starts the next and ends, and so on: whoever kills one by one
// comes too late. Leaves with status 1 once the first of them runs.

#include "reduction.cuh"

#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>
#include <atomic>

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

/// Seconds after which it ends by itself, so that a broken sandbox survives this test.
constexpr time_t patience = 3;

static time_t now() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec;
}

static time_t end;
static std::atomic<unsigned> next;
alignas(16) static char stacks[64][16384];

/// The memory is shared: nothing has to be copied, so a new process is there at once.
static int go_on(void*) {
    char* stack = stacks[next++ % 64] + sizeof stacks[0];
    if (now() < end) clone(go_on, stack, CLONE_VM | SIGCHLD, nullptr);
    _exit(0);
}

static void run_away() {
    end = now() + patience;
    bool runs = false;
    for (int i = 0; i < 8; ++i) {
        // The first ones may have used up the processes of this user by the time the last one starts.
        if (clone(go_on, stacks[next++ % 64] + sizeof stacks[0], CLONE_VM | SIGCHLD, nullptr) >= 0)
            runs = true;
    }
    if (runs) _exit(1);
}

static void once() {
    static bool done = false;
    if (!done) run_away();
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
