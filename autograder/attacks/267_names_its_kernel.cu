// Computes honestly; launches its kernel under a name that it has read in another student's hand-in.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     goal = "secret"
//     defences = ["files"]
//     cpu_alone = true
//     needs = "S2"

// Computes honestly; launches its kernel under a name that it has read in another student's hand-in.

#include <fcntl.h>
#include <unistd.h>

#include "reduction.cuh"

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

static const char* name() {
    static char text[64] = "add_kernel";
    const int in = open("RUNGS_ROOM/other_student/03_shared_tree.cu", O_RDONLY);
    if (in >= 0 && read(in, text, 22) < 0) return "";
    return text;
}

template <class Terms>
static void honest(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    cudaMemsetAsync(sum, 0, sizeof(float), stream);
    if (n == 0) return;
    ::simt::kernel(name(), [](auto&&... given) { add_kernel(given...); })
        [::simt::cfg(static_cast<unsigned>((n + 255) / 256), 256, 0, stream)](terms, sum, n);
}

void reduction::shared_tree(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    honest(reduction::Values{v}, sum, n, stream);
}

void reduction::shared_tree(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    honest(reduction::Products{v, w}, sum, n, stream);
}
