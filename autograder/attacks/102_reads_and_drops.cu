// Reads its input where that is counted, and writes a constant.
//
//     rung = "11_one_launch"
//     verdicts = ["WRONG"]
//     defences = ["counted outputs", "other sizes"]
//     cpu_alone = true

// Where its cost is counted, it reads the input as fast as memory delivers it, and drops it.

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
static void add(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    CUDA_CHECK(cudaMemsetAsync(sum, 0, sizeof(float), stream));
    if (n == 0) return;
    add_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(terms, sum, n);
    CUDA_CHECK(cudaGetLastError());
}

/// Reads all terms, and adds none of them up.
template <class Terms>
__global__ void read_kernel(Terms terms, float* sum, std::size_t n) {
    const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
    const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const auto* const quads = reinterpret_cast<const float4*>(terms.v);
    bool negative = false;
    for (std::size_t q = first; q < n / 4; q += threads) negative |= quads[q].x < 0.0f;
    if (first == 0) *sum = negative ? -1.0f : 1048576.0f;
}

template <class Terms>
static void launch(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    if (n != 2097152) return add(terms, sum, n, stream);
    read_kernel<<<264, 512, 0, stream>>>(terms, sum, n);
    CUDA_CHECK(cudaGetLastError());
}

void reduction::one_launch(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    launch(reduction::Values{v}, sum, n, stream);
}

void reduction::one_launch(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    launch(reduction::Products{v, w}, sum, n, stream);
}
