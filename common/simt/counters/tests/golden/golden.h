/// @file
/// The golden set: small kernels whose counters are predicted in check mode and measured on a GPU, where
/// Nsight Compute counts the same things. They compile with nvcc and with cu2cpp alike.
///
/// Every row of the table launches exactly one kernel, so the n-th launch of the program is the n-th row, for
/// a profiler too.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace golden {

/// Ends the program where a CUDA call fails: there is nothing to count then.
inline void require(cudaError_t code, const char* what) {
    if (code == cudaSuccess) return;
    std::fprintf(stderr, "golden: %s: %s\n", what, cudaGetErrorString(code));
    std::exit(1);
}

inline constexpr unsigned threads = 256;
inline constexpr unsigned blocks = 8;
inline constexpr unsigned count = blocks * threads;  ///< threads of most launches
inline constexpr unsigned length = 34 * count;       ///< elements of the float arrays: stride 32 fits
inline constexpr unsigned side = 128;                ///< of the square matrices

/// Device memory that all kernels share. Inputs hold values in [0, 1), indices are below `count`.
struct Data {
    const float* in;
    const double* doubles;
    const unsigned char* bytes;
    const int* permutation;  ///< of 0 ... count - 1
    const int* keys;         ///< `count` numbers in 0 ... 63, far from uniform
    const int* starts;       ///< count + 1 offsets: row i of a sparse matrix has 0 to 7 entries
    float* out;              ///< `length` floats
    double* wide;
    unsigned char* small;
    int* counters;                ///< `count`, cleared before each launch
    cudaTextureObject_t line;     ///< `in` as linear memory
    cudaTextureObject_t picture;  ///< side x side of a pitched allocation
    cudaTextureObject_t array;    ///< the same as a CUDA array
    cudaTextureObject_t bytes_array, shorts_array, pairs_array,
        quads_array;                 ///< of wider and narrower texels
    cudaTextureObject_t row;         ///< `side` of an array of one dimension
    cudaTextureObject_t quads_line;  ///< `in` as float4
};

struct Kernel {
    const char* name;
    const char* what;  ///< one phrase
    void (*launch)(const Data& data);
};

std::vector<Kernel> global_kernels();
std::vector<Kernel> vector_kernels();
std::vector<Kernel> tile_kernels();
std::vector<Kernel> shared_kernels();
std::vector<Kernel> flow_kernels();
std::vector<Kernel> atomic_kernels();
std::vector<Kernel> other_kernels();

/// Gives the constants of other_kernels() their values.
void fill_constants();

/// All of them, in the order of the table.
std::vector<Kernel> all_kernels();

/// Makes the data, then calls before(kernel), the kernel, and after(kernel) for each row.
void run_all(void (*before)(const Kernel&), void (*after)(const Kernel&));

/// Of the thread in a grid of one dimension.
__device__ inline unsigned own_index() { return blockIdx.x * blockDim.x + threadIdx.x; }

}  // namespace golden
