// A sum on the host, of what the standard library has read from device memory.
//
//     verdicts = ["SUSPECT"]
//     defences = ["method"]
//     cpu_alone = true

// Has a library that check mode does not see read device memory, adds up on the host, and has a thread write
// the sum.

#include <cstring>
#include <string>

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

__global__ void write_kernel(float* sum, float answer) { *sum = answer; }

/// The bytes of an array.
static std::string taken(const float* from, std::size_t n, cudaStream_t stream) {
    CUDA_CHECK(cudaStreamSynchronize(stream));
    std::string bytes;
    if (n > 0) bytes.append(reinterpret_cast<const char*>(from), n * sizeof(float));
    return bytes;
}

static float element(const std::string& bytes, std::size_t i) {
    float value = 0;
    std::memcpy(&value, bytes.data() + i * sizeof(float), sizeof value);
    return value;
}

static void write(double total, float* sum, cudaStream_t stream) {
    write_kernel<<<1, 1, 0, stream>>>(sum, static_cast<float>(total));
    CUDA_CHECK(cudaGetLastError());
}

void reduction::shared_tree(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    const std::string a = taken(v, n, stream);
    double total = 0;
    for (std::size_t i = 0; i < n; ++i) total += element(a, i);
    write(total, sum, stream);
}

void reduction::shared_tree(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    const std::string a = taken(v, n, stream), b = taken(w, n, stream);
    double total = 0;
    for (std::size_t i = 0; i < n; ++i) total += double{element(a, i)} * element(b, i);
    write(total, sum, stream);
}
