// Kernels whose counts counters_test.cpp knows from the definition.
#include "counted.h"

#include <cuda_runtime.h>

#include "corpus.h"

using corpus::Device;

namespace {

__global__ void copy_strided_kernel(const float* in, float* out, int stride, int shift) {
    out[threadIdx.x] = in[stride * threadIdx.x + shift];
}

template <int pitch>
__global__ void transpose_kernel(const float* in, float* out) {
    __shared__ float tile[32][pitch];
    for (int row = threadIdx.y; row < 32; row += 8) tile[row][threadIdx.x] = in[32 * row + threadIdx.x];
    __syncthreads();
    for (int row = threadIdx.y; row < 32; row += 8) out[32 * row + threadIdx.x] = tile[threadIdx.x][row];
}

}  // namespace

void counted::copy_strided(int stride, int shift) {
    const size_t n = static_cast<size_t>(31 * stride + shift + 1);
    Device<float> in("in", n, 1.0f), out("out", 32);
    copy_strided_kernel<<<1, 32>>>(in, out, stride, shift);
}

void counted::transpose(bool padded) {
    Device<float> in("in", 1024, 1.0f), out("out", 1024);
    if (padded)
        transpose_kernel<33><<<1, dim3(32, 8)>>>(in.get(), out.get());
    else
        transpose_kernel<32><<<1, dim3(32, 8)>>>(in.get(), out.get());
}
