// A race whose values are right, left out where the compiler inlines as it does in check mode.
//
//     verdicts = ["COMPILE_ERROR"]
//     defences = ["both modes"]
//     cpu_alone = true

// Races, is never wrong, and does not race where somebody looks: more is inlined there.

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

/// Never 0, but for a number that is known: all of these are inlined together in check mode, and half of them in run mode.
static __device__ unsigned mixed(unsigned number, unsigned s) {
    s ^= s >> 3;
    s *= 77;
    s ^= s >> 5;
    return __builtin_constant_p(number) ? 0 : s | 1;
}
static __device__ unsigned mixed_twice(unsigned number, unsigned s) { return mixed(number, s * 3); }
static __device__ unsigned mixed_again(unsigned number, unsigned s) { return mixed_twice(number, s * 5); }
static __device__ unsigned mixed_once_more(unsigned number, unsigned s) { return mixed_again(number, s * 7); }

static constexpr unsigned block_size = 256;

/// At the end thread 64 stores the block's sum once more while thread 0 reads it: the same value, so no order of the two
/// gives a wrong sum.
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
    if ((mixed_once_more(1, threadIdx.x) | mixed_again(2, threadIdx.y) | mixed_again(3, threadIdx.z)) != 0) {
        const unsigned first = gridDim.y - 1;  // 0, which the compiler does not know
        if (threadIdx.x == 64) partial[first] = partial[0];
    }
    if (threadIdx.x == 0) atomicAdd(sum, partial[0]);
}

template <class Terms>
static void launch(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
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
