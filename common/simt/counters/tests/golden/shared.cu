// Shared memory: which lane reads which element, for elements of 1 to 16 bytes. Each kernel fills its array
// row by row, without conflicts, and then makes the one access that it is named after.

#include "counters/tests/golden/golden.h"

namespace golden {

template <class T>
__device__ T value_of(unsigned k) {
    return static_cast<T>(k);
}
template <>
__device__ float2 value_of<float2>(unsigned k) {
    return make_float2(static_cast<float>(k), 1.0f);
}
template <>
__device__ float4 value_of<float4>(unsigned k) {
    return make_float4(static_cast<float>(k), 1.0f, 2.0f, 3.0f);
}

__device__ inline float number(float x) { return x; }
__device__ inline float number(double x) { return static_cast<float>(x); }
__device__ inline float number(unsigned char x) { return static_cast<float>(x); }
__device__ inline float number(short x) { return static_cast<float>(x); }
__device__ inline float number(float2 x) { return x.x + x.y; }
__device__ inline float number(float4 x) { return (x.x + x.y) + (x.z + x.w); }

// Which element a lane accesses.
template <unsigned factor, unsigned divisor = 1, unsigned modulus = 32, unsigned add = 0>
struct Linear {
    static constexpr unsigned size = factor * (modulus - 1) / divisor + add + factor;
    __device__ static unsigned at(unsigned lane) { return lane % modulus / divisor * factor + add; }
};
template <unsigned bits>
struct Flip {
    static constexpr unsigned size = 32;
    __device__ static unsigned at(unsigned lane) { return lane ^ bits; }
};
/// Clears bits of the lane: lanes that differ there read the same element.
template <unsigned bits>
struct Without {
    static constexpr unsigned size = 32;
    __device__ static unsigned at(unsigned lane) { return lane & ~bits; }
};
struct Shuffled {
    static constexpr unsigned size = 64;
    __device__ static unsigned at(unsigned lane) { return (lane * 11 + 5) % 64; }
};
// Which lanes take part.
struct All {
    __device__ static bool takes(unsigned) { return true; }
};
struct Even {
    __device__ static bool takes(unsigned lane) { return lane % 2 == 0; }
};
struct FirstHalf {
    __device__ static bool takes(unsigned lane) { return lane < 16; }
};
struct Every4th {
    __device__ static bool takes(unsigned lane) { return lane % 4 == 1; }
};

template <class T, class Pattern, class Lanes = All>
__global__ void shared_load(float* out) {
    __shared__ T array[Pattern::size];
    for (unsigned k = threadIdx.x; k < Pattern::size; k += 32) array[k] = value_of<T>(k);
    __syncthreads();
    if (Lanes::takes(threadIdx.x)) out[own_index()] = number(array[Pattern::at(threadIdx.x)]);
}

/// One lane reads back what it stored, which costs one wavefront whatever the pattern.
template <class T, class Pattern, class Lanes = All>
__global__ void shared_store(float* out) {
    __shared__ T array[Pattern::size];
    if (Lanes::takes(threadIdx.x)) array[Pattern::at(threadIdx.x)] = value_of<T>(threadIdx.x);
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = number(array[Pattern::at(threadIdx.x)]);
}

template <class T, class Pattern, class Lanes = All>
static void load(const Data& d) {
    shared_load<T, Pattern, Lanes><<<blocks, 32>>>(d.out);
}

template <class T, class Pattern, class Lanes = All>
static void store(const Data& d) {
    shared_store<T, Pattern, Lanes><<<blocks, 32>>>(d.out);
}

std::vector<Kernel> shared_kernels() {
    return {
        {"shared_row", "float s[t]", load<float, Linear<1>>},
        {"shared_column_32", "float s[32 t]", load<float, Linear<32>>},
        {"shared_column_33", "float s[33 t]", load<float, Linear<33>>},
        {"shared_stride_2", "float s[2 t]", load<float, Linear<2>>},
        {"shared_stride_3", "float s[3 t]", load<float, Linear<3>>},
        {"shared_stride_8", "float s[8 t]", load<float, Linear<8>>},
        {"shared_16_words_of_a_bank", "float s[32 (t / 2)]", load<float, Linear<32, 2>>},
        {"shared_broadcast", "float s[3]", load<float, Linear<1, 32, 32, 3>>},
        {"shared_pairs", "float s[t / 2]", load<float, Linear<1, 2>>},
        {"shared_shuffled", "float s[(11 t + 5) % 64]", load<float, Shuffled>},
        {"shared_even_lanes", "float s[32 t], even lanes", load<float, Linear<32>, Even>},
        {"shared_bytes", "unsigned char s[t]", load<unsigned char, Linear<1>>},
        {"shared_bytes_stride_4", "unsigned char s[4 t]", load<unsigned char, Linear<4>>},
        {"shared_shorts_stride_64", "short s[64 t]", load<short, Linear<64>>},
        {"shared_double", "double s[t]", load<double, Linear<1>>},
        {"shared_double_stride_2", "double s[2 t]", load<double, Linear<2>>},
        {"shared_double_stride_16", "double s[16 t]", load<double, Linear<16>>},
        {"shared_double_broadcast", "double s[3]", load<double, Linear<1, 32, 32, 3>>},
        {"shared_double_pairs", "double s[t / 2]", load<double, Linear<1, 2>>},
        {"shared_double_pairs_apart", "double s[t & ~2]", load<double, Without<2>>},
        {"shared_double_quads", "double s[t / 4]", load<double, Linear<1, 4>>},
        {"shared_double_without_4", "double s[t & ~4]", load<double, Without<4>>},
        {"shared_double_halves_alike", "double s[t % 16]", load<double, Linear<1, 1, 16>>},
        {"shared_double_flipped", "double s[t ^ 17]", load<double, Flip<17>>},
        {"shared_double_even_lanes", "double s[t], even lanes", load<double, Linear<1>, Even>},
        {"shared_double_even_lanes_16", "double s[16 t], even lanes", load<double, Linear<16>, Even>},
        {"shared_double_half_warp", "double s[t], lanes 0 to 15", load<double, Linear<1>, FirstHalf>},
        {"shared_float2", "float2 s[t]", load<float2, Linear<1>>},
        {"shared_float4", "float4 s[t]", load<float4, Linear<1>>},
        {"shared_float4_flipped", "float4 s[t ^ 1]", load<float4, Flip<1>>},
        {"shared_float4_stride_2", "float4 s[2 t]", load<float4, Linear<2>>},
        {"shared_float4_stride_8", "float4 s[8 t]", load<float4, Linear<8>>},
        {"shared_float4_broadcast", "float4 s[3]", load<float4, Linear<1, 32, 32, 3>>},
        {"shared_float4_pairs", "float4 s[t / 2]", load<float4, Linear<1, 2>>},
        {"shared_float4_pairs_apart", "float4 s[t & ~2]", load<float4, Without<2>>},
        {"shared_float4_quads", "float4 s[t / 4]", load<float4, Linear<1, 4>>},
        {"shared_float4_without_4", "float4 s[t & ~4]", load<float4, Without<4>>},
        {"shared_float4_eighths", "float4 s[t / 8]", load<float4, Linear<1, 8>>},
        {"shared_float4_sixteenths", "float4 s[t / 16]", load<float4, Linear<1, 16>>},
        {"shared_float4_period_8", "float4 s[t % 8]", load<float4, Linear<1, 1, 8>>},
        {"shared_float4_period_16", "float4 s[t % 16]", load<float4, Linear<1, 1, 16>>},
        {"shared_float4_even_lanes", "float4 s[t], even lanes", load<float4, Linear<1>, Even>},
        {"shared_float4_every_4th", "float4 s[t], every fourth lane", load<float4, Linear<1>, Every4th>},
        {"shared_float4_half_warp", "float4 s[t], lanes 0 to 15", load<float4, Linear<1>, FirstHalf>},
        {"shared_store_row", "float s[t] = ...", store<float, Linear<1>>},
        {"shared_store_column_32", "float s[32 t] = ...", store<float, Linear<32>>},
        {"shared_store_column_33", "float s[33 t] = ...", store<float, Linear<33>>},
        {"shared_store_stride_2", "float s[2 t] = ...", store<float, Linear<2>>},
        {"shared_store_bytes", "unsigned char s[t] = ...", store<unsigned char, Linear<1>>},
        {"shared_store_double", "double s[t] = ...", store<double, Linear<1>>},
        {"shared_store_double_stride_2", "double s[2 t] = ...", store<double, Linear<2>>},
        {"shared_store_double_even_lanes", "double s[t] = ..., even lanes", store<double, Linear<1>, Even>},
        {"shared_store_float4", "float4 s[t] = ...", store<float4, Linear<1>>},
        {"shared_store_float4_stride_2", "float4 s[2 t] = ...", store<float4, Linear<2>>},
        {"shared_store_float4_even_lanes", "float4 s[t] = ..., even lanes", store<float4, Linear<1>, Even>},
    };
}

}  // namespace golden
