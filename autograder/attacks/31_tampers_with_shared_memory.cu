// Computes honestly, and tries to write to its inputs, and to resize and unseal the memory it shares with
// the grader.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     defences = ["seals"]
//     checks = false

// Computes honestly, and tries to write to the inputs that it shares with the grader, before the worker maps
// them and after, and to resize both memories and to undo their seals. Leaves with status 1 when one of these
// succeeds.

#include "reduction.cuh"

#include <fcntl.h>
#include <linux/falloc.h>
#include <signal.h>
#include <sys/mman.h>
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

static void must_fail(bool succeeded, const char* what) {
    if (!succeeded) return;
    std::printf("%s succeeds\n", what);
    std::fflush(stdout);
    _exit(1);
}

/// The worker's own mappings of the inputs: "begin-end r--s ... /memfd:rungs".
static void make_mappings_writable() {
    std::FILE* maps = std::fopen("/proc/self/maps", "r");
    char line[512];
    while (maps && std::fgets(line, sizeof line, maps)) {
        unsigned long begin = 0, end = 0;
        char mode[5] = {};
        if (std::sscanf(line, "%lx-%lx %4s", &begin, &end, mode) != 3 || mode[1] == 'w' || mode[3] != 's')
            continue;
        void* const memory = reinterpret_cast<void*>(begin);
        must_fail(mprotect(memory, end - begin, PROT_READ | PROT_WRITE) == 0, "mprotect");
        must_fail(madvise(memory, end - begin, MADV_REMOVE) == 0, "madvise");
    }
    if (maps) std::fclose(maps);
}

static void tamper() {
    signal(SIGXFSZ, SIG_IGN);
    const char bytes[4096] = {};
    const int again = open("/proc/self/fd/3", O_RDWR);
    for (const int inputs : {3, again}) {
        must_fail(pwrite(inputs, bytes, sizeof bytes, 0) > 0, "pwrite");
        must_fail(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, inputs, 0) != MAP_FAILED, "mmap");
        must_fail(fallocate(inputs, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096) == 0, "fallocate");
    }
    for (const int memory : {3, 4, again}) {
        must_fail(ftruncate(memory, 4096) == 0, "shrinking");
        must_fail(ftruncate(memory, 1L << 40) == 0, "growing");
        must_fail(fcntl(memory, F_ADD_SEALS, F_SEAL_WRITE) == 0, "sealing");
    }
    close(again);
    make_mappings_writable();
}

__attribute__((constructor)) static void tamper_early() { tamper(); }

void reduction::shared_tree(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    tamper();
    honest(reduction::Values{v}, sum, n, stream);
}

void reduction::shared_tree(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    tamper();
    honest(reduction::Products{v, w}, sum, n, stream);
}
