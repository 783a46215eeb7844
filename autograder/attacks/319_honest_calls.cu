// Honest, with structures that functions return and take, made in place, and with what the C library
// stores.
//
//     kind = "control"
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1

// Honest: sums travel in structures that functions return and take; one is made in place, and modff stores.

#include <new>

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

struct Part {
    double whole, rest, terms;
};
static __device__ __noinline__ Part part_of(float x) {
    float whole = 0;
    const float rest = modff(x, &whole);
    return {whole, rest, 1};
}
static __device__ __noinline__ Part joined(Part a, const Part& b) {
    return {a.whole + b.whole, a.rest + b.rest, a.terms + b.terms};
}
static __device__ __noinline__ double total(Part part) { return part.whole + part.rest; }

template <class Terms>
__global__ void add_kernel(Terms terms, float* sum, std::size_t n) {
    __shared__ Part partial[256];
    __shared__ double whole;
    const std::size_t i = std::size_t{blockIdx.x} * 256 + threadIdx.x;
    const float term = i < n ? terms(i) : 0.0f;
    if (isinf(term))
        new (&partial[threadIdx.x]) Part{term, 0.0, 1.0};
    else
        new (&partial[threadIdx.x]) Part(part_of(term));
    for (unsigned stride = 128; stride > 0; stride /= 2) {
        __syncthreads();
        if (threadIdx.x < stride)
            partial[threadIdx.x] = joined(partial[threadIdx.x], partial[threadIdx.x + stride]);
    }
    if (threadIdx.x != 0) return;
    const double rest = modf(total(partial[0]), &whole);
    atomicAdd(sum, static_cast<float>(isinf(whole) ? whole : whole + rest));
}

template <class Terms>
static void launch(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    CUDA_CHECK(cudaMemsetAsync(sum, 0, sizeof(float), stream));
    if (n == 0) return;
    add_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(terms, sum, n);
    CUDA_CHECK(cudaGetLastError());
}

void reduction::shared_tree(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    launch(reduction::Values{v}, sum, n, stream);
}

void reduction::shared_tree(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    launch(reduction::Products{v, w}, sum, n, stream);
}
