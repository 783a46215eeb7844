// Control flow: which lanes of a warp make an access together?

#include "counters/tests/golden/golden.h"

namespace golden {

__global__ void half_warp(const float* in, float* out) {
    if (threadIdx.x % 32 < 16) out[own_index()] = in[own_index()];
}

__global__ void odd_lanes(const float* in, float* out) {
    if (threadIdx.x % 2 == 1) out[own_index()] = in[own_index()];
}

__global__ void early_exit(const float* in, float* out, unsigned n) {
    if (own_index() >= n) return;
    out[own_index()] = in[own_index()];
}

/// A load in each branch.
__global__ void two_branches(const float* in, float* out) {
    float x;
    if (threadIdx.x % 2 == 0) {
        x = in[own_index()];
    } else {
        x = in[own_index() + 64];
    }
    out[own_index()] = x;
}

/// Stores to different arrays in the branches, which no compiler can make one.
__global__ void two_arrays(const float* in, float* evens, float* odds) {
    const float x = in[own_index()];
    if (threadIdx.x % 2 == 0) {
        evens[own_index() / 2] = x;
    } else {
        odds[own_index() / 2] = 1.0f / x;
    }
}

/// Lane t makes t rounds. Not unrolled, so that rounds of the source are rounds of the machine.
__global__ void triangle(const float* in, float* out) {
    const unsigned rounds = threadIdx.x % 32;
    float sum = 0.0f;
#pragma unroll 1
    for (unsigned k = 0; k < rounds; ++k) sum += in[k * 64 + threadIdx.x];
    out[own_index()] = sum;
}

/// As before, unrolled as the compiler likes.
__global__ void triangle_unrolled(const float* in, float* out) {
    const unsigned rounds = threadIdx.x % 32;
    float sum = 0.0f;
    for (unsigned k = 0; k < rounds; ++k) sum += in[k * 64 + threadIdx.x];
    out[own_index()] = sum;
}

/// The lane's own round is the only one in which it loads.
__global__ void one_lane_at_a_time(const float* in, float* out) {
    float x = 0.0f;
#pragma unroll 1
    for (unsigned k = 0; k < 32; ++k) {
        if (k == threadIdx.x % 32) x = in[own_index() * 2 + k];
    }
    out[own_index()] = x;
}

/// The inner loop's length depends on the lane, the outer one's does not.
__global__ void nested_loops(const float* in, float* out) {
    float sum = 0.0f;
#pragma unroll 1
    for (unsigned row = 0; row < 4; ++row) {
#pragma unroll 1
        for (unsigned k = 0; k < threadIdx.x % 4; ++k) sum += in[row * 512 + k * 128 + threadIdx.x % 128];
        sum += in[4096 + row * 32 + threadIdx.x % 32];
    }
    out[own_index()] = sum;
}

/// Rows of a sparse matrix, one a thread: lengths from data, columns gathered.
__global__ void sparse_rows(const float* values, const int* starts, const int* columns, const float* x,
                            float* y) {
    const unsigned row = own_index();
    float sum = 0.0f;
#pragma unroll 1
    for (int k = starts[row]; k < starts[row + 1]; ++k) sum += values[k] * x[columns[k % count]];
    y[row] = sum;
}

/// Loops while it likes what it finds: data decide when a lane leaves.
__global__ void search(const int* keys, float* out) {
    unsigned i = own_index();
    unsigned steps = 0;
#pragma unroll 1
    while (keys[i % count] > 8) {
        i = i * 5 + 1;
        ++steps;
    }
    out[own_index()] = static_cast<float>(steps);
}

__device__ static float deeper(const float* in, unsigned i) { return in[i] > 0.5f ? in[i + 1] : in[i + 33]; }

/// A load in a device function, called from two places.
__global__ void called_twice(const float* in, float* out) {
    float x = deeper(in, own_index());
    if (threadIdx.x % 32 < 8) x += deeper(in, own_index() + 1000);
    out[own_index()] = x;
}

/// A switch with four ways.
__global__ void four_ways(const float* in, const int* keys, float* out) {
    const unsigned i = own_index();
    float x = 0.0f;
    switch (keys[i] % 4) {
        case 0:
            x = in[i];
            break;
        case 1:
            x = in[2 * i + 1] * 2.0f;
            break;
        case 2:
            x = sqrtf(in[3 * i]);
            break;
        default:
            x = in[i + 5] - in[i + 9];
            break;
    }
    out[i] = x;
}

std::vector<Kernel> flow_kernels() {
    return {
        {"half_warp", "lanes 0 to 15", [](const Data& d) { half_warp<<<blocks, threads>>>(d.in, d.out); }},
        {"odd_lanes", "odd lanes", [](const Data& d) { odd_lanes<<<blocks, threads>>>(d.in, d.out); }},
        {"early_exit", "the last blocks leave at once",
         [](const Data& d) { early_exit<<<blocks, threads>>>(d.in, d.out, 1001); }},
        {"two_branches", "a load in each branch",
         [](const Data& d) { two_branches<<<blocks, threads>>>(d.in, d.out); }},
        {"two_arrays", "a store to another array in each branch",
         [](const Data& d) { two_arrays<<<blocks, threads>>>(d.in, d.out, d.out + count); }},
        {"triangle", "lane t makes t rounds",
         [](const Data& d) { triangle<<<blocks, threads>>>(d.in, d.out); }},
        {"triangle_unrolled", "lane t makes t rounds, as the compiler unrolls them",
         [](const Data& d) { triangle_unrolled<<<blocks, threads>>>(d.in, d.out); }},
        {"one_lane_at_a_time", "a lane loads in its own round",
         [](const Data& d) { one_lane_at_a_time<<<blocks, threads>>>(d.in, d.out); }},
        {"nested_loops", "the inner loop's length depends on the lane",
         [](const Data& d) { nested_loops<<<blocks, threads>>>(d.in, d.out); }},
        {"sparse_rows", "sparse matrix, a thread a row",
         [](const Data& d) {
             sparse_rows<<<blocks, threads>>>(d.in, d.starts, d.permutation, d.in + 8 * count, d.out);
         }},
        {"search", "data decide when a lane leaves the loop",
         [](const Data& d) { search<<<blocks, threads>>>(d.keys, d.out); }},
        {"called_twice", "a device function with loads, called from two places",
         [](const Data& d) { called_twice<<<blocks, threads>>>(d.in, d.out); }},
        {"four_ways", "a switch on data",
         [](const Data& d) { four_ways<<<blocks, threads>>>(d.in, d.keys, d.out); }},
    };
}

}  // namespace golden
