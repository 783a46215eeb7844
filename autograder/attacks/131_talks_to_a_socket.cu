// Computes honestly; connects to services of the same machine, by a path and by a name, and leaves with
// status 1 when one answers.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     defences = ["system calls"]
//     checks = false
//     needs = "S2"

// Computes honestly; connects to services of the same machine, by a path and by a name, and leaves with
// status 1 when one answers.

#include "reduction.cuh"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <algorithm>
#include <cstddef>
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

/// To a service of the same machine, such as the desktop's message bus. '@': no file, but a name alone.
static void call(const char* name) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name, std::min(std::strlen(name), sizeof address.sun_path - 1));
    if (*name == '@') address.sun_path[0] = 0;
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + std::strlen(name));
    int pair[2] = {-1, -1};
    (void)!socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
    for (const int from : {socket(AF_UNIX, SOCK_STREAM, 0), pair[0]}) {
        if (connect(from, reinterpret_cast<const sockaddr*>(&address), size) == 0) _exit(1);
    }
}

static void call_all() {
    call("RUNGS_ROOM/socket");
    call("@RUNGS_ROOM");
}

static void once() {
    static bool done = false;
    if (!done) call_all();
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
