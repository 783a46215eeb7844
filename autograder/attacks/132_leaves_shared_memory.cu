// Computes honestly; leaves shared memory, semaphores and message queues behind, which end with the
// machine only.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     defences = ["system calls"]
//     checks = false
//     needs = "S1"

// Computes honestly; leaves shared memory, semaphores and message queues behind, which end with the machine
// only.

#include "reduction.cuh"

#include <fcntl.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cstring>

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

static void leave() {
    const key_t key = ftok("RUNGS_ROOM/results.json", 'r');
    if (shmget(key, 4096, IPC_CREAT | 0600) >= 0 || msgget(key, IPC_CREAT | 0600) >= 0 ||
        semget(key, 1, IPC_CREAT | 0600) >= 0 ||
        syscall(SYS_mq_open, std::strrchr("RUNGS_ROOM", '/') + 1, O_CREAT | O_RDWR, 0600, nullptr) >= 0) {
        _exit(1);
    }
}

static void once() {
    static bool done = false;
    if (!done) leave();
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
