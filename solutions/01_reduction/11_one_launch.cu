// One launch does it all, with the same bits in every run: no launch that clears, no float atomics, no
// second kernel that collects. And as many bytes are in flight as in rung 10.

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"
#include "rungs/scratch.cuh"

// TODO 11.1: the kernel, one_launch_kernel, and its launch. The design is yours. What one block leaves
// for another can go to rungs::stream_scratch(stream, bytes), a void*: all zero at first, and all zero
// again when the kernel ends.
// BEGIN SOLUTION
static constexpr unsigned block_size = 512;
static constexpr unsigned loads_in_flight = 4;  // of 16 bytes, a thread

/// Products of vectors that are not equally far from a 16-byte boundary: w is read float by float.
struct SkewedProducts : reduction::Products {};

/// The sum of the four terms from i on; a.v + i is on a 16-byte boundary.
static __device__ float four(const reduction::Values& a, std::size_t i) {
    const float4 v = *reinterpret_cast<const float4*>(a.v + i);
    return (v.x + v.y) + (v.z + v.w);
}

static __device__ float four(const reduction::Products& a, std::size_t i) {
    const float4 v = *reinterpret_cast<const float4*>(a.v + i);
    const float4 w = *reinterpret_cast<const float4*>(a.w + i);
    return (v.x * w.x + v.y * w.y) + (v.z * w.z + v.w * w.w);
}

static __device__ float four(const SkewedProducts& a, std::size_t i) {
    const float4 v = *reinterpret_cast<const float4*>(a.v + i);
    return (v.x * a.w[i] + v.y * a.w[i + 1]) + (v.z * a.w[i + 2] + v.w * a.w[i + 3]);
}

/// The sum of x over the block, in thread 0.
static __device__ float block_sum(float x) {
    constexpr unsigned warps = block_size / 32;
    __shared__ float partial[warps];
    for (unsigned step = 16; step > 0; step /= 2) x += __shfl_down_sync(0xffffffffu, x, step);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = x;
    __syncthreads();
    if (threadIdx.x < 32) {
        x = threadIdx.x < warps ? partial[threadIdx.x] : 0.0f;
        for (unsigned step = warps / 2; step > 0; step /= 2) x += __shfl_down_sync(0xffffffffu, x, step);
    }
    return x;
}

/// A block owns every gridDim.x-th tile of quads (four terms in a row), and block 0 the `head` terms
/// before the first quad and those after the last. A thread adds its quads up in double, which costs little
/// and rounds little; the two trees are of floats, because every block waits for them and a shuffle moves
/// four bytes. scratch[0] is a ticket, scratch[1 + b] what block b leaves behind; all zero before and after.
template <class Terms>
__global__ void __launch_bounds__(block_size, 2)
    one_launch_kernel(Terms terms, float* sum, std::size_t n, std::size_t head, unsigned* scratch) {
    constexpr unsigned rounds = loads_in_flight / Terms::vectors;
    constexpr std::size_t tile = rounds * block_size;
    const std::size_t quads = (n - head) / 4;
    const std::size_t tail = head + 4 * quads;

    // Who draws the last ticket knows that all blocks have started, and may therefore
    // wait for the others.
    const bool alone = gridDim.x == 1;
    __shared__ bool last;
    if (threadIdx.x == 0 && !alone) {
        last = atomicInc(&scratch[0], gridDim.x - 1) == gridDim.x - 1;  // the last wraps it to 0
    }

    double mine = 0.0;
    for (std::size_t q = blockIdx.x * tile + threadIdx.x; q < quads; q += gridDim.x * tile) {
        float fetched[rounds];
#pragma unroll
        for (unsigned r = 0; r < rounds; ++r) {
            const std::size_t own = q + r * block_size;
            fetched[r] = own < quads ? four(terms, head + 4 * own) : 0.0f;
        }
#pragma unroll
        for (unsigned r = 0; r < rounds; ++r) mine += fetched[r];
    }
    if (blockIdx.x == 0 && threadIdx.x < head) mine += terms(threadIdx.x);
    if (blockIdx.x == 0 && tail + threadIdx.x < n) mine += terms(tail + threadIdx.x);

    const float block = block_sum(static_cast<float>(mine));
    if (alone) {
        if (threadIdx.x == 0) *sum = block;
        return;
    }
    if (threadIdx.x == 0) {
        atomicExch(&scratch[1 + blockIdx.x], __float_as_uint(block == 0.0f ? -0.0f : block));
    }
    if (!last) return;
    __syncthreads();  // block_sum's shared memory is free again
    float total = 0.0f;
    for (unsigned b = threadIdx.x; b < gridDim.x; b += block_size) {
        unsigned bits = 0;
        while (bits == 0) bits = atomicExch(&scratch[1 + b], 0u);
        total += __uint_as_float(bits);
    }
    total = block_sum(total);
    if (threadIdx.x == 0) *sum = total;
}

template <class Terms>
static void launch(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    // Quads begin at a line of 128 bytes, not only at 16: else each warp would touch one line more.
    const std::size_t misaligned = reinterpret_cast<std::uintptr_t>(terms.v) % 128;
    const std::size_t head = std::min(n, (128 - misaligned) % 128 / 4);
    const std::size_t quads = (n - head) / 4;

    // Every block waits for the slowest, so a short sum gets few blocks, with a full tile each. Where four
    // per multiprocessor hold all tiles, all are in flight at once, and more blocks share a long sum more
    // evenly; but a skewed thread needs more registers.
    constexpr std::size_t tile = loads_in_flight / Terms::vectors * block_size;
    constexpr bool skewed = std::is_same_v<Terms, SkewedProducts>;
    const std::size_t tiles = (quads + tile - 1) / tile;
    int device = 0, sms = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
    const bool four = !skewed && (tiles <= std::size_t(4) * sms || n >= std::size_t{1} << 25);
    const std::size_t blocks = std::clamp<std::size_t>(tiles, 1, (four ? 4 : 2) * sms);

    auto* const scratch =
        static_cast<unsigned*>(rungs::stream_scratch(stream, (blocks + 1) * sizeof(unsigned)));
    one_launch_kernel<<<static_cast<unsigned>(blocks), block_size, 0, stream>>>(terms, sum, n, head, scratch);
    CUDA_CHECK(cudaGetLastError());
}
// END SOLUTION

void reduction::one_launch(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    // TODO 11.2: the sum.
    // BEGIN SOLUTION
    launch(Values{v}, sum, n, stream);
    // END SOLUTION
}

void reduction::one_launch(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    // TODO 11.3: the dot product, for vectors of any two alignments.
    // BEGIN SOLUTION
    const auto apart = reinterpret_cast<std::uintptr_t>(v) - reinterpret_cast<std::uintptr_t>(w);
    if (apart % 16 == 0) {
        launch(Products{v, w}, sum, n, stream);
    } else {
        launch(SkewedProducts{{v, w}}, sum, n, stream);
    }
    // END SOLUTION
}
