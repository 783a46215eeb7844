// Rounds every term to half precision, hoping for a loose tolerance.
//
//     kind = "accident"
//     verdicts = ["WRONG"]

// Rounds every term to half precision, hoping for a loose tolerance.

#include "reduction.cuh"

/// Eleven significant bits, as a half has.
__device__ float rounded(float value) {
    return __int_as_float((__float_as_int(value) + 0x1000) & 0x7fffe000 |
                          (__float_as_int(value) & 0x80000000));
}

template <class Terms>
struct Rounded {
    Terms terms;
    __device__ float operator()(std::size_t i) const { return rounded(terms(i)); }
};

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

void reduction::shared_tree(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    honest(Rounded<reduction::Values>{{v}}, sum, n, stream);
}

void reduction::shared_tree(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    honest(Rounded<reduction::Products>{{v, w}}, sum, n, stream);
}
