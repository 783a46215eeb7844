// Computes honestly, and leaves files, folders, links and fifos in every place it can think of.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     defences = ["files"]
//     checks = false
//     needs = "S2"

// Computes honestly, and tries to leave something in every place it can think of: files, folders, links,
// fifos. Takes it away again and leaves with status 1 when one of these is made.

#include "reduction.cuh"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

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

static void must_fail(bool made, const std::string& path) {
    if (!made) return;
    std::printf("made %s\n", path.c_str());
    std::fflush(stdout);
    if (remove(path.c_str()) != 0) std::abort();
    _exit(1);
}

static void leave_something(const std::string& folder) {
    const std::string path = folder + "/proof_of_" + (std::strrchr("RUNGS_ROOM", '/') + 1);
    const int file = open(path.c_str(), O_WRONLY | O_CREAT, 0666);
    must_fail(file >= 0, path);
    must_fail(mkdir(path.c_str(), 0777) == 0, path);
    must_fail(symlink("/etc/passwd", path.c_str()) == 0, path);
    must_fail(link("/proc/self/exe", path.c_str()) == 0, path);
    must_fail(mkfifo(path.c_str(), 0666) == 0, path);
}

/// Once a process.
static void litter() {
    static bool done = false;
    if (done) return;
    done = true;
    signal(SIGXFSZ, SIG_IGN);
    for (const char* folder : {".", "/", "/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run", "/run/lock",
                               "/var/lock", "/var/crash", "/home", "/root"}) {
        leave_something(folder);
    }
    // The grader's cache, its build and the workbook: all folders above this program.
    char self[4096] = {};
    (void)!readlink("/proc/self/exe", self, sizeof self - 1);
    std::string folder = self;
    for (std::size_t slash; (slash = folder.rfind('/')) != std::string::npos && slash > 0;) {
        folder.resize(slash);
        leave_something(folder);
    }
}

void reduction::shared_tree(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    litter();
    honest(reduction::Values{v}, sum, n, stream);
}

void reduction::shared_tree(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    litter();
    honest(reduction::Products{v, w}, sum, n, stream);
}
