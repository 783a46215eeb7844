// What keeps the memory busy is bytes in flight, so a thread loads 16 bytes at a time and starts four
// such loads before it uses the first.

#include <algorithm>

#include "block_sum.cuh"
#include "quads.cuh"
#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

static constexpr unsigned block_size = 256;
static constexpr std::size_t most_blocks = 1024;  // enough loads in flight for any GPU
static constexpr unsigned loads_in_flight = 4;    // of 16 bytes, for each thread

/// The sum of the four terms from i on; a.v + i is on a 16-byte boundary.
static __device__ float four(const reduction::Values& a, std::size_t i) {
    // TODO 10.1 (2 lines): one load for the four terms.
    // BEGIN SOLUTION
    //~ return 0.0f;
    const float4 v = *reinterpret_cast<const float4*>(a.v + i);
    return (v.x + v.y) + (v.z + v.w);
    // END SOLUTION
}

/// The same for products; a.w + i is on a 16-byte boundary as well.
static __device__ float four(const reduction::Products& a, std::size_t i) {
    // TODO 10.2 (3 lines): two loads.
    // BEGIN SOLUTION
    //~ return 0.0f;
    const float4 v = *reinterpret_cast<const float4*>(a.v + i);
    const float4 w = *reinterpret_cast<const float4*>(a.w + i);
    return (v.x * w.x + v.y * w.y) + (v.z * w.z + v.w * w.w);
    // END SOLUTION
}

/// A block owns every gridDim.x-th tile of quads (four terms in a row), and block 0 the `head` terms
/// before the first quad and those after the last.
template <class Terms>
__global__ void vectorized_kernel(Terms terms, float* sum, std::size_t n, reduction::Quads quads) {
    constexpr unsigned rounds = loads_in_flight / Terms::vectors;  // quads that a thread fetches at once
    constexpr std::size_t tile = rounds * block_size;              // in quads
    float mine = 0.0f;

    // TODO 10.3 (about 8 lines): in every tile a thread owns `rounds` quads, block_size apart. All their
    // loads are started before the first is used; quads past the end are none.
    // BEGIN SOLUTION
    for (std::size_t q = blockIdx.x * tile + threadIdx.x; q < quads.count; q += gridDim.x * tile) {
        float fetched[rounds];
#pragma unroll
        for (unsigned r = 0; r < rounds; ++r) {
            const std::size_t own = q + r * block_size;
            fetched[r] = own < quads.count ? four(terms, quads.head + 4 * own) : 0.0f;
        }
#pragma unroll
        for (unsigned r = 0; r < rounds; ++r) mine += fetched[r];
    }
    // END SOLUTION

    mine += reduction::outside_quads(terms, n, quads);
    mine = reduction::block_sum<block_size>(mine);
    if (threadIdx.x == 0) atomicAdd(sum, mine);
}

template <class Terms>
static void launch(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    const reduction::Quads quads = reduction::quads_of(terms.v, n);
    constexpr std::size_t tile = loads_in_flight / Terms::vectors * block_size;
    const std::size_t blocks = std::clamp<std::size_t>((quads.count + tile - 1) / tile, 1, most_blocks);

    CUDA_CHECK(cudaMemsetAsync(sum, 0, sizeof(float), stream));
    vectorized_kernel<<<static_cast<unsigned>(blocks), block_size, 0, stream>>>(terms, sum, n, quads);
    CUDA_CHECK(cudaGetLastError());
}

void reduction::vectorized(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    launch(Values{v}, sum, n, stream);
}

void reduction::vectorized(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    if (equally_aligned(v, w)) {
        launch(Products{v, w}, sum, n, stream);
    } else {
        launch(SkewedProducts{{v, w}}, sum, n, stream);
    }
}
