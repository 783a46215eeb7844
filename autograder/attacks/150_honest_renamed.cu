// Honest, with names, parameters and a helper of its own.
//
//     kind = "control"
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1

// Honest, with names, parameters and a helper of its own.

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

namespace {

constexpr int THREADS = 256;

__device__ void fold(volatile float* cells, int me) {
    int half = THREADS;
    do {
        __syncthreads();
        half >>= 1;
        if (me < half) cells[me] = cells[me] + cells[me + half];
    } while (half > 1);
}

template <typename Source>
__global__ void my_sum(Source source, std::size_t count, float* result) {
    __shared__ float cells[THREADS];
    const int me = static_cast<int>(threadIdx.x);
    const std::size_t mine = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
    cells[me] = 0.0f;
    if (mine < count) cells[me] = source(mine);
    fold(cells, me);
    if (me == 0) atomicAdd(result, cells[0]);
}

template <typename Source>
void run(Source source, float* result, std::size_t count, cudaStream_t queue) {
    CUDA_CHECK(cudaMemsetAsync(result, 0, sizeof *result, queue));
    if (count > 0)
        my_sum<<<dim3((count - 1) / THREADS + 1), dim3(THREADS), 0, queue>>>(source, count, result);
    CUDA_CHECK(cudaGetLastError());
}

}  // namespace

void reduction::shared_tree(const float* a, float* result, std::size_t count, cudaStream_t queue) {
    run(Values{a}, result, count, queue);
}

void reduction::shared_tree(const float* a, const float* b, float* result, std::size_t count,
                            cudaStream_t queue) {
    run(Products{a, b}, result, count, queue);
}
