// Global memory, one float a thread: which 32-byte sectors does a warp touch?

#include "counters/tests/golden/golden.h"

namespace golden {

template <unsigned stride>
__global__ void load_stride(const float* in, float* out) {
    out[own_index()] = in[own_index() * stride];
}

template <unsigned stride>
__global__ void store_stride(const float* in, float* out) {
    out[own_index() * stride] = in[own_index()];
}

__global__ void load_shifted(const float* in, float* out, unsigned shift) {
    out[own_index()] = in[own_index() + shift];
}

__global__ void store_shifted(const float* in, float* out, unsigned shift) {
    out[own_index() + shift] = in[own_index()];
}

__global__ void load_reversed(const float* in, float* out) {
    out[own_index()] = in[gridDim.x * blockDim.x - 1 - own_index()];
}

__global__ void load_broadcast(const float* in, float* out) { out[own_index()] = in[7]; }

__global__ void load_broadcast_of_block(const float* in, float* out) {
    out[own_index()] = in[blockIdx.x * 100];
}

__global__ void gather(const float* in, const int* permutation, float* out) {
    out[own_index()] = in[permutation[own_index()]];
}

__global__ void scatter(const float* in, const int* permutation, float* out) {
    out[permutation[own_index()]] = in[own_index()];
}

__global__ void look_up(const float* in, const int* keys, float* out) {
    out[own_index()] = in[keys[own_index()]];
}

__global__ void add_vectors(const float* a, const float* b, float* c) {
    c[own_index()] = a[own_index()] + b[own_index()];
}

__global__ void update_in_place(const float* in, float* out) { out[own_index()] += 2.0f * in[own_index()]; }

/// Three loads of neighbours that overlap from thread to thread.
__global__ void three_points(const float* in, float* out) {
    const unsigned i = own_index() + 1;
    out[i] = 0.25f * in[i - 1] + 0.5f * in[i] + 0.25f * in[i + 1];
}

/// A thread owns four floats in a row: four loads, each with a stride of 16 bytes.
__global__ void four_in_a_row(const float* in, float* out) {
    const unsigned i = 4 * own_index();
    out[own_index()] = in[i] + in[i + 1] + in[i + 2] + in[i + 3];
}

/// The same in a loop whose count the compiler does not know.
__global__ void chunk_of_a_thread(const float* in, float* out, unsigned chunk) {
    float sum = 0.0f;
    for (unsigned k = 0; k < chunk; ++k) sum += in[own_index() * chunk + k];
    out[own_index()] = sum;
}

__global__ void grid_stride(const float* in, float* out, unsigned n) {
    float sum = 0.0f;
    for (unsigned i = own_index(); i < n; i += gridDim.x * blockDim.x) sum += in[i];
    out[own_index()] = sum;
}

template <class T>
__global__ void copy_elements(const T* in, T* out, unsigned shift) {
    out[own_index()] = in[own_index() + shift];
}

std::vector<Kernel> global_kernels() {
    return {
        {"stride_1", "in[i]", [](const Data& d) { load_stride<1><<<blocks, threads>>>(d.in, d.out); }},
        {"stride_2", "in[2i]", [](const Data& d) { load_stride<2><<<blocks, threads>>>(d.in, d.out); }},
        {"stride_3", "in[3i]", [](const Data& d) { load_stride<3><<<blocks, threads>>>(d.in, d.out); }},
        {"stride_4", "in[4i]", [](const Data& d) { load_stride<4><<<blocks, threads>>>(d.in, d.out); }},
        {"stride_8", "in[8i]", [](const Data& d) { load_stride<8><<<blocks, threads>>>(d.in, d.out); }},
        {"stride_32", "in[32i]", [](const Data& d) { load_stride<32><<<blocks, threads>>>(d.in, d.out); }},
        {"store_stride_2", "out[2i]",
         [](const Data& d) { store_stride<2><<<blocks, threads>>>(d.in, d.out); }},
        {"store_stride_32", "out[32i]",
         [](const Data& d) { store_stride<32><<<blocks, threads>>>(d.in, d.out); }},
        {"shifted_4_bytes", "in[i + 1]",
         [](const Data& d) { load_shifted<<<blocks, threads>>>(d.in, d.out, 1); }},
        {"shifted_16_bytes", "in[i + 4]",
         [](const Data& d) { load_shifted<<<blocks, threads>>>(d.in, d.out, 4); }},
        {"shifted_32_bytes", "in[i + 8]",
         [](const Data& d) { load_shifted<<<blocks, threads>>>(d.in, d.out, 8); }},
        {"store_shifted_4_bytes", "out[i + 1]",
         [](const Data& d) { store_shifted<<<blocks, threads>>>(d.in, d.out, 1); }},
        {"shifted_1_byte", "unsigned char in[i + 1]",
         [](const Data& d) { copy_elements<<<blocks, threads>>>(d.bytes, d.small, 1); }},
        {"bytes", "unsigned char in[i]",
         [](const Data& d) { copy_elements<<<blocks, threads>>>(d.bytes, d.small, 0); }},
        {"doubles", "double in[i]",
         [](const Data& d) { copy_elements<<<blocks, threads>>>(d.doubles, d.wide, 0); }},
        {"doubles_shifted", "double in[i + 1]",
         [](const Data& d) { copy_elements<<<blocks, threads>>>(d.doubles, d.wide, 1); }},
        {"reversed", "in[n - 1 - i]", [](const Data& d) { load_reversed<<<blocks, threads>>>(d.in, d.out); }},
        {"broadcast", "in[7] for all",
         [](const Data& d) { load_broadcast<<<blocks, threads>>>(d.in, d.out); }},
        {"broadcast_of_block", "one element a block",
         [](const Data& d) { load_broadcast_of_block<<<blocks, threads>>>(d.in, d.out); }},
        {"gather", "in[permutation[i]]",
         [](const Data& d) { gather<<<blocks, threads>>>(d.in, d.permutation, d.out); }},
        {"scatter", "out[permutation[i]]",
         [](const Data& d) { scatter<<<blocks, threads>>>(d.in, d.permutation, d.out); }},
        {"look_up", "table of 64 floats, indices from data",
         [](const Data& d) { look_up<<<blocks, threads>>>(d.in, d.keys, d.out); }},
        {"add_vectors", "c[i] = a[i] + b[i]",
         [](const Data& d) { add_vectors<<<blocks, threads>>>(d.in, d.in + 2 * count, d.out); }},
        {"update_in_place", "out[i] += 2 in[i]",
         [](const Data& d) { update_in_place<<<blocks, threads>>>(d.in, d.out); }},
        {"three_points", "in[i - 1], in[i], in[i + 1]",
         [](const Data& d) { three_points<<<blocks, threads>>>(d.in, d.out); }},
        {"four_in_a_row", "in[4i] ... in[4i + 3], four loads",
         [](const Data& d) { four_in_a_row<<<blocks, threads>>>(d.in, d.out); }},
        {"chunk_of_a_thread", "8 elements in a row a thread, in a loop",
         [](const Data& d) { chunk_of_a_thread<<<blocks, threads>>>(d.in, d.out, 8); }},
        {"grid_stride", "a grid-stride loop over 20011 elements",
         [](const Data& d) { grid_stride<<<blocks, threads>>>(d.in, d.out, 20011); }},
    };
}

}  // namespace golden
