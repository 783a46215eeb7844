// Honest, with blocks of 32 by 8 threads, and a tree over each column.
//
//     kind = "control"
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1

// Honest, with blocks of 32 by 8 threads, and a tree over each column.

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

template <class Terms>
__global__ void column_kernel(Terms terms, float* sum, std::size_t n) {
    __shared__ float partial[8][33];
    const std::size_t i = std::size_t{blockIdx.x} * 256 + threadIdx.y * 32 + threadIdx.x;
    partial[threadIdx.y][threadIdx.x] = i < n ? terms(i) : 0.0f;
    for (unsigned stride = 4; stride > 0; stride /= 2) {
        __syncthreads();
        if (threadIdx.y < stride) partial[threadIdx.y][threadIdx.x] += partial[threadIdx.y + stride][threadIdx.x];
    }
    if (threadIdx.y > 0) return;
    float value = partial[0][threadIdx.x];
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
    if (threadIdx.x == 0) atomicAdd(sum, value);
}

template <class Terms>
static void launch(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    CUDA_CHECK(cudaMemsetAsync(sum, 0, sizeof(float), stream));
    if (n == 0) return;
    const dim3 block(32, 8), grid(static_cast<unsigned>((n + 255) / 256));
    column_kernel<<<grid, block, 0, stream>>>(terms, sum, n);
    CUDA_CHECK(cudaGetLastError());
}

void reduction::shared_tree(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    launch(reduction::Values{v}, sum, n, stream);
}

void reduction::shared_tree(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    launch(reduction::Products{v, w}, sum, n, stream);
}
