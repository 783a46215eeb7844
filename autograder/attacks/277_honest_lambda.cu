// Honest, with a lambda on the host that says how many blocks there are, and another that checks.
//
//     kind = "control"
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1

// Honest, with a lambda on the host that says how many blocks there are, and another that checks.

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

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
static void launch(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    const auto blocks_of = [](std::size_t terms, std::size_t block) { return static_cast<unsigned>((terms + block - 1) / block); };
    const auto checked = [](cudaError_t error) { CUDA_CHECK(error); };
    checked(cudaMemsetAsync(sum, 0, sizeof *sum, stream));
    if (const unsigned blocks = blocks_of(n, 256); blocks > 0) {
        add_kernel<<<blocks, 256, 0, stream>>>(terms, sum, n);
        checked(cudaGetLastError());
    }
}

void reduction::shared_tree(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    launch(reduction::Values{v}, sum, n, stream);
}

void reduction::shared_tree(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    launch(reduction::Products{v, w}, sum, n, stream);
}
