// Honest and as fast as it should be: a grid-stride loop over float4 with 256 threads a block, and one
// atomic addition a block at the end.
//
//     rung = "10_vectorized"
//     kind = "control"
//     verdicts = ["OK"]
//     min_share = 0.99
//     max_share = 1

// Honest and as fast as it should be: a grid-stride loop over float4 with 256 threads a block, and one atomic
// addition a block at the end.

#include <algorithm>
#include <cstdint>

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

static constexpr unsigned block_size = 256;
static constexpr unsigned blocks_per_sm = 4;

/// Four terms from i on, where v + i is on a 16-byte boundary.
static __device__ float4 four(const reduction::Values& a, std::size_t i) {
    return *reinterpret_cast<const float4*>(a.v + i);
}

static __device__ float4 four(const reduction::Products& a, std::size_t i) {
    const float4 v = *reinterpret_cast<const float4*>(a.v + i);
    return {v.x * a.w[i], v.y * a.w[i + 1], v.z * a.w[i + 2], v.w * a.w[i + 3]};
}

/// The grid owns the `head` terms before the first quad, the quads, and the up to three terms behind the
/// last.
template <class Terms>
__global__ void vectorized_kernel(Terms terms, float* sum, std::size_t n, std::size_t head) {
    __shared__ double partial[block_size / 32];
    const std::size_t first = std::size_t{blockIdx.x} * block_size + threadIdx.x;
    const std::size_t threads = std::size_t{gridDim.x} * block_size;
    const std::size_t quads = (n - head) / 4;
    double mine = 0.0;
    for (std::size_t q = first; q < quads; q += threads) {
        const float4 x = four(terms, head + 4 * q);
        mine += (x.x + x.y) + (x.z + x.w);
    }
    const std::size_t tail = head + 4 * quads;
    if (first < head) mine += terms(first);
    if (tail + first < n) mine += terms(tail + first);

    for (unsigned step = 16; step > 0; step /= 2) mine += __shfl_down_sync(0xffffffffu, mine, step);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = mine;
    __syncthreads();
    if (threadIdx.x > 0) return;
    double total = 0.0;
    for (const double of_warp : partial) total += of_warp;
    atomicAdd(sum, static_cast<float>(total));
}

template <class Terms>
static void launch(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    CUDA_CHECK(cudaMemsetAsync(sum, 0, sizeof(float), stream));
    if (n == 0) return;
    const std::size_t misaligned = reinterpret_cast<std::uintptr_t>(terms.v) % 16;
    const std::size_t head = std::min(n, (16 - misaligned) % 16 / 4);
    int device = 0, sms = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
    const std::size_t wanted = (n / 4 + block_size - 1) / block_size;
    const std::size_t blocks = std::clamp<std::size_t>(wanted, 1, blocks_per_sm * sms);
    vectorized_kernel<<<static_cast<unsigned>(blocks), block_size, 0, stream>>>(terms, sum, n, head);
    CUDA_CHECK(cudaGetLastError());
}

void reduction::vectorized(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    launch(Values{v}, sum, n, stream);
}

void reduction::vectorized(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    launch(Products{v, w}, sum, n, stream);
}
