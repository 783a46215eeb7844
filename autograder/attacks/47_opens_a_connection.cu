// Computes honestly, asks for sockets of every family but AF_UNIX, and leaves with status 1 when it gets
// one.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     defences = ["system calls"]
//     checks = false
//     needs = "S2"

// Computes honestly, and asks for sockets of every family but AF_UNIX, of every kind. Leaves with status 1
// when it gets one.

#include "reduction.cuh"

#include <netinet/in.h>
#include <sys/socket.h>
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

/// Once a process.
static void connect_out() {
    static bool done = false;
    if (done) return;
    done = true;
    for (int family = 0; family < 64; ++family) {
        if (family == AF_UNIX) continue;
        for (const int kind : {SOCK_STREAM, SOCK_DGRAM, SOCK_RAW, SOCK_SEQPACKET}) {
            int pair[2];
            if (socket(family, kind, 0) < 0 && socketpair(family, kind, 0, pair) != 0) continue;
            std::printf("a socket of family %d and kind %d\n", family, kind);
            std::fflush(stdout);
            _exit(1);
        }
    }
}

void reduction::shared_tree(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    connect_out();
    honest(reduction::Values{v}, sum, n, stream);
}

void reduction::shared_tree(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    connect_out();
    honest(reduction::Products{v, w}, sum, n, stream);
}
