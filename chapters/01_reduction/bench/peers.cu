// The libraries, called as a careful user would: workspace and handle are made once, the result stays
// on the device.

#include "bench/peers.cuh"

#include <cublas_v2.h>

#include <climits>
#include <cub/device/device_reduce.cuh>
#include <stdexcept>
#include <string>

#include "rungs/cuda_check.cuh"
#include "rungs/device_buffer.cuh"

void reduction::peers::cub_sum(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    static rungs::DeviceBuffer<unsigned char> workspace(1 << 20);  // more than CUB asks for, whatever n
    const auto reduce = [&](auto count) {
        std::size_t bytes = workspace.size();
        CUDA_CHECK(cub::DeviceReduce::Sum(workspace.data(), bytes, v, sum, count, stream));
    };
    if (n <= INT_MAX) {
        reduce(static_cast<int>(n));  // narrow indices are faster
    } else {
        reduce(n);
    }
}

static void check(cublasStatus_t status) {
    if (status != CUBLAS_STATUS_SUCCESS) {
        throw std::runtime_error(std::string("cuBLAS: ") + cublasGetStatusString(status));
    }
}

void reduction::peers::cublas_dot(const float* v, const float* w, float* sum, std::size_t n,
                                  cudaStream_t stream) {
    static cublasHandle_t handle = [] {
        cublasHandle_t made = nullptr;
        check(cublasCreate(&made));
        check(cublasSetPointerMode(made,
                                   CUBLAS_POINTER_MODE_DEVICE));  // else every call would wait for the result
        return made;
    }();
    static cudaStream_t current = nullptr;
    if (stream != current) {
        check(cublasSetStream(handle, stream));
        current = stream;
    }
    check(cublasSdot_64(handle, static_cast<std::int64_t>(n), v, 1, w, 1, sum));
}
