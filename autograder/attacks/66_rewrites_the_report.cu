// A race whose values are right, and a report without sense in place of what the worker reports.
//
//     verdicts = ["SUSPECT"]
//     defences = ["complete checks"]

// Races. Puts memory of its own in the place where the worker writes what check mode found, so that the
// grader reads what was left in the shared memory: a report that makes no sense.

#include <sys/mman.h>
#include <sys/stat.h>

#include <cstdio>
#include <cstring>

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

static constexpr unsigned block_size = 256;

/// At the end thread 64 stores the block's sum once more while thread 0 reads it: the same value, so no order
/// of the two gives a wrong sum, and a race nevertheless.
template <class Terms>
__global__ void shared_tree_kernel(Terms terms, float* sum, std::size_t n) {
    __shared__ float partial[block_size];
    const std::size_t i = std::size_t{blockIdx.x} * block_size + threadIdx.x;
    partial[threadIdx.x] = i < n ? terms(i) : 0.0f;

    for (unsigned stride = block_size / 2; stride > 0; stride /= 2) {
        __syncthreads();
        if (threadIdx.x < stride) partial[threadIdx.x] += partial[threadIdx.x + stride];
    }
    __syncthreads();
    const unsigned first = gridDim.y - 1;  // 0, which the compiler does not know
    if (threadIdx.x == 64) partial[first] = partial[0];
    if (threadIdx.x == 0) atomicAdd(sum, partial[0]);
}

/// Once a process. Reports have the last 4 MiB of descriptor 4.
static void forge() {
    static bool done = false;
    if (done) return;
    done = true;
    constexpr std::size_t room = std::size_t{4} << 20;
    struct stat status {};
    fstat(4, &status);
    const auto size = static_cast<std::size_t>(status.st_size);
    void* const all = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, 4, 0);
    if (all == MAP_FAILED) return;
    std::strcpy(static_cast<char*>(all) + size - room, "{\"findings\": nothing}");
    munmap(all, size);
    std::FILE* maps = std::fopen("/proc/self/maps", "r");
    char line[512];
    while (maps && std::fgets(line, sizeof line, maps)) {
        unsigned long begin = 0, end = 0;
        char mode[5] = {};
        if (std::sscanf(line, "%lx-%lx %4s", &begin, &end, mode) != 3 || std::strcmp(mode, "rw-s") != 0)
            continue;
        if (end - begin != size || !std::strstr(line, "memfd:rungs")) continue;
        mmap(reinterpret_cast<void*>(end - room), room, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        break;
    }
    if (maps) std::fclose(maps);
}

template <class Terms>
static void launch(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    forge();
    const std::size_t blocks = (n + block_size - 1) / block_size;

    CUDA_CHECK(cudaMemsetAsync(sum, 0, sizeof(float), stream));
    if (blocks == 0) return;
    shared_tree_kernel<<<static_cast<unsigned>(blocks), block_size, 0, stream>>>(terms, sum, n);
    CUDA_CHECK(cudaGetLastError());
}

void reduction::shared_tree(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    launch(Values{v}, sum, n, stream);
}

void reduction::shared_tree(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    launch(Products{v, w}, sum, n, stream);
}
