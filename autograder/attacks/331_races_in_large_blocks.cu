// A race whose values are right, in blocks of a size that check mode does not have.
//
//     verdicts = ["RACE", "SUSPECT"]
//     defences = ["every launch"]
//     cpu_alone = true

// Races in blocks that are larger than those of check mode.

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

/// At the end thread 256, which only large blocks have, stores the block's sum once more while thread 0 reads
/// it: the same value, so no order of the two gives a wrong sum, and a race nevertheless.
template <class Terms>
__global__ void shared_tree_kernel(Terms terms, float* sum, std::size_t n) {
    __shared__ float partial[512];
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    partial[threadIdx.x] = i < n ? terms(i) : 0.0f;

    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
        __syncthreads();
        if (threadIdx.x < stride) partial[threadIdx.x] += partial[threadIdx.x + stride];
    }
    __syncthreads();
    const unsigned first = gridDim.y - 1;  // 0, which the compiler does not know
    if (threadIdx.x == 256) partial[first] = partial[0];
    if (threadIdx.x == 0) atomicAdd(sum, partial[0]);
}

template <class Terms>
static void launch(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    const unsigned block_size = n > 200000 && n < 2000000 ? 512 : 256;
    const auto blocks = static_cast<unsigned>((n + block_size - 1) / block_size);
    CUDA_CHECK(cudaMemsetAsync(sum, 0, sizeof(float), stream));
    if (blocks == 0) return;
    shared_tree_kernel<<<blocks, block_size, 0, stream>>>(terms, sum, n);
    CUDA_CHECK(cudaGetLastError());
}

void reduction::shared_tree(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    launch(Values{v}, sum, n, stream);
}

void reduction::shared_tree(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    launch(Products{v, w}, sum, n, stream);
}
