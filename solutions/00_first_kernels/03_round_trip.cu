// The squares again, for arrays in host memory, which the device cannot reach: each of them has a
// copy in device memory.
// TODO 3.1: the results are right nearly always. Find the fault and fix it.

#include "first_kernels.cuh"
#include "host_arrays.cuh"
#include "rungs/cuda_check.cuh"

static constexpr unsigned block_size = 256;

/// One block, whose threads take every 256th element each: the copies are what matters here.
__global__ void round_trip_kernel(const float* x, float* y, std::size_t n) {
    for (std::size_t i = threadIdx.x; i < n; i += block_size) y[i] = x[i] * x[i];
}

/// `x` and `y` are host memory.
static void squares(const float* x, float* y, std::size_t n, cudaStream_t stream) {
    const std::size_t bytes = n * sizeof(float);
    float *device_x = nullptr, *device_y = nullptr;
    CUDA_CHECK(cudaMalloc(&device_x, bytes));
    CUDA_CHECK(cudaMalloc(&device_y, bytes));

    CUDA_CHECK(cudaMemcpyAsync(device_x, x, bytes, cudaMemcpyHostToDevice, stream));
    round_trip_kernel<<<1, block_size, 0, stream>>>(device_x, device_y, n);
    CUDA_CHECK(cudaGetLastError());
    // BEGIN SOLUTION
    //~ CUDA_CHECK(cudaMemcpy(y, device_y, bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpyAsync(y, device_y, bytes, cudaMemcpyDeviceToHost, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    // END SOLUTION

    CUDA_CHECK(cudaFree(device_x));
    CUDA_CHECK(cudaFree(device_y));
}

void first_kernels::round_trip(const float* x, float* y, std::size_t n, cudaStream_t stream) {
    with_host_arrays(x, y, n, stream,
                     [&](const float* host_x, float* host_y) { squares(host_x, host_y, n, stream); });
}
