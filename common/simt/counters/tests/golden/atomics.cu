// Atomics: on one word and on many, in global and in shared memory, with and without their result.

#include "counters/tests/golden/golden.h"

namespace golden {

__global__ void add_floats_to_one(const float* in, float* out) { atomicAdd(out, in[own_index()]); }

__global__ void count_to_one(int* counters) { atomicAdd(counters, 1); }

__global__ void add_to_own(const float* in, float* out) { atomicAdd(out + own_index(), in[own_index()]); }

__global__ void histogram(const int* keys, int* counters) { atomicAdd(&counters[keys[own_index()]], 1); }

/// The result is used: a request that waits for its answer.
__global__ void take_numbers(const int* keys, int* counters, float* out) {
    out[own_index()] = static_cast<float>(atomicAdd(&counters[keys[own_index()]], 1));
}

__global__ void exchange(const int* keys, int* counters, float* out) {
    out[own_index()] = static_cast<float>(atomicExch(&counters[own_index()], keys[own_index()]));
}

__global__ void compare_and_swap(const int* keys, int* counters) {
    atomicCAS(&counters[own_index()], 0, keys[own_index()]);
}

__global__ void maximum_of_warp_words(const int* keys, int* counters) {
    atomicMax(&counters[own_index() / 32], keys[own_index()]);
}

__global__ void histogram_in_shared(const int* keys, int* counters) {
    __shared__ int bins[64];
    if (threadIdx.x < 64) bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[keys[own_index()]], 1);
    __syncthreads();
    if (threadIdx.x < 64) atomicAdd(&counters[threadIdx.x], bins[threadIdx.x]);
}

__global__ void add_to_own_shared(const int* keys, float* out) {
    __shared__ int words[threads];
    words[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&words[threadIdx.x], keys[own_index()]);
    __syncthreads();
    out[own_index()] = static_cast<float>(words[threadIdx.x]);
}

/// The block that comes last adds up what the others left: ticket, fence, flag in shared memory.
__global__ void last_block(const float* in, float* parts, int* ticket, float* sum) {
    __shared__ float partial[threads];
    __shared__ bool last;
    partial[threadIdx.x] = in[own_index()];
    for (unsigned stride = threads / 2; stride > 0; stride /= 2) {
        __syncthreads();
        if (threadIdx.x < stride) partial[threadIdx.x] += partial[threadIdx.x + stride];
    }
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = partial[0];
        __threadfence();
        last = atomicAdd(ticket, 1) == static_cast<int>(gridDim.x) - 1;
    }
    __syncthreads();
    if (!last) return;
    __threadfence();
    if (threadIdx.x == 0) {
        float total = 0.0f;
        for (unsigned b = 0; b < gridDim.x; ++b) total += parts[b];
        *sum = total;
    }
}

std::vector<Kernel> atomic_kernels() {
    return {
        {"atomic_one_float", "all threads add a float to one word",
         [](const Data& d) { add_floats_to_one<<<blocks, threads>>>(d.in, d.out); }},
        {"atomic_one_counter", "all threads count in one word",
         [](const Data& d) { count_to_one<<<blocks, threads>>>(d.counters); }},
        {"atomic_own_word", "each thread adds to its own word",
         [](const Data& d) { add_to_own<<<blocks, threads>>>(d.in, d.out); }},
        {"atomic_histogram", "64 bins in global memory",
         [](const Data& d) { histogram<<<blocks, threads>>>(d.keys, d.counters); }},
        {"atomic_with_result", "64 counters, results used",
         [](const Data& d) { take_numbers<<<blocks, threads>>>(d.keys, d.counters, d.out); }},
        {"atomic_exchange", "each thread exchanges its own word",
         [](const Data& d) { exchange<<<blocks, threads>>>(d.keys, d.counters, d.out); }},
        {"atomic_compare_and_swap", "each thread on its own word",
         [](const Data& d) { compare_and_swap<<<blocks, threads>>>(d.keys, d.counters); }},
        {"atomic_maximum", "a word a warp",
         [](const Data& d) { maximum_of_warp_words<<<blocks, threads>>>(d.keys, d.counters); }},
        {"shared_histogram", "64 bins in shared memory, then to global memory",
         [](const Data& d) { histogram_in_shared<<<blocks, threads>>>(d.keys, d.counters); }},
        {"shared_atomic_own_word", "each thread adds to its own shared word",
         [](const Data& d) { add_to_own_shared<<<blocks, threads>>>(d.keys, d.out); }},
        {"last_block", "tree in each block, the last block finishes",
         [](const Data& d) { last_block<<<blocks, threads>>>(d.in, d.out, d.counters, d.out + 64); }},
    };
}

}  // namespace golden
