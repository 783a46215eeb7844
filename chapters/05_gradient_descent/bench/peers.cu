// The libraries, called as a careful user would: handle and vectors are made once, scalars stay
// on the device.

#include "bench/peers.cuh"

#include <cublas_v2.h>

#include <stdexcept>
#include <string>

#include "rungs/cuda_check.cuh"
#include "rungs/device_buffer.cuh"

namespace {

void check(cublasStatus_t status) {
    if (status != CUBLAS_STATUS_SUCCESS) {
        throw std::runtime_error(std::string("cuBLAS: ") + cublasGetStatusString(status));
    }
}

/// Scalars in device memory, by their place in Library::scalars.
enum { rr, rAr, alpha, minus_alpha, one, minus_one, zero };

__global__ void divide_kernel(float* s) {
    s[alpha] = s[rr] / s[rAr];
    s[minus_alpha] = -s[alpha];
}

__global__ void invert_diagonal_kernel(const float* a, float* inverse, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) inverse[i] = 1 / a[static_cast<std::size_t>(i) * n + i];
}

/// What a call needs beside its arguments.
struct Library {
    cublasHandle_t handle = nullptr;
    rungs::DeviceBuffer<float> scalars{std::vector<float>{0, 0, 0, 0, 1, -1, 0}};
    rungs::DeviceBuffer<float> r, q;

    Library() {
        check(cublasCreate(&handle));
        check(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));  // else every dot product would wait
    }

    float* scalar(int which) { return scalars.data() + which; }
    void dot(int n, const float* v, const float* w, int result) {
        check(cublasSdot(handle, n, v, 1, w, 1, scalar(result)));
    }
    void add(int n, int factor, const float* v, float* to) {
        check(cublasSaxpy(handle, n, scalar(factor), v, 1, to, 1));
    }

    /// The one library of the process, ready for systems of n unknowns on `stream`.
    static Library& for_system(int n, cudaStream_t stream) {
        static Library library;
        if (library.r.size() < static_cast<std::size_t>(n)) {
            library.r = rungs::DeviceBuffer<float>(static_cast<std::size_t>(n));
            library.q = rungs::DeviceBuffer<float>(static_cast<std::size_t>(n));
        }
        check(cublasSetStream(library.handle, stream));
        return library;
    }
};

/// y = alpha A x + beta y.
using Product = void(Library&, const float* a, const float* x, float* y, int n, int alpha, int beta);

void gemv(Library& l, const float* a, const float* x, float* y, int n, int alpha, int beta) {
    check(cublasSgemv(l.handle, CUBLAS_OP_N, n, n, l.scalar(alpha), a, n, x, 1, l.scalar(beta), y, 1));
}

void symv(Library& l, const float* a, const float* x, float* y, int n, int alpha, int beta) {
    check(
        cublasSsymv(l.handle, CUBLAS_FILL_MODE_UPPER, n, l.scalar(alpha), a, n, x, 1, l.scalar(beta), y, 1));
}

void descend(Product* product, const float* a, const float* b, float* x, int n, int limit,
             cudaStream_t stream) {
    Library& l = Library::for_system(n, stream);
    float *const r = l.r.data(), *const q = l.q.data();
    CUDA_CHECK(cudaMemsetAsync(x, 0, n * sizeof(float), stream));
    check(cublasScopy(l.handle, n, b, 1, r, 1));
    l.dot(n, r, r, rr);
    for (int k = 1; k <= limit; ++k) {
        product(l, a, r, q, n, one, zero);
        l.dot(n, r, q, rAr);
        divide_kernel<<<1, 1, 0, stream>>>(l.scalars.data());
        l.add(n, alpha, r, x);
        if (k % gradient_descent::renew_every == 0) {
            check(cublasScopy(l.handle, n, b, 1, r, 1));
            product(l, a, x, r, n, minus_one, one);
        } else {
            l.add(n, minus_alpha, q, r);
        }
        l.dot(n, r, r, rr);
    }
    CUDA_CHECK(cudaGetLastError());
}

}  // namespace

void gradient_descent::peers::cublas_jacobi(const float* a, const float* b, float* x, double*, int*, int n,
                                            int limit, double, cudaStream_t stream) {
    Library& l = Library::for_system(n, stream);
    float *const r = l.r.data(), *const inverse = l.q.data();
    invert_diagonal_kernel<<<(n + 255) / 256, 256, 0, stream>>>(a, inverse, n);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemsetAsync(x, 0, n * sizeof(float), stream));
    for (int k = 0; k < limit; ++k) {
        check(cublasScopy(l.handle, n, b, 1, r, 1));
        gemv(l, a, x, r, n, minus_one, one);
        l.dot(n, r, r, rr);
        check(cublasSsbmv(l.handle, CUBLAS_FILL_MODE_LOWER, n, 0, l.scalar(one), inverse, 1, r, 1,
                          l.scalar(one), x, 1));
    }
}

void gradient_descent::peers::cublas_descent_gemv(const float* a, const float* b, float* x, double*, int*,
                                                  int n, int limit, double, cudaStream_t stream) {
    descend(gemv, a, b, x, n, limit, stream);
}

void gradient_descent::peers::cublas_descent_symv(const float* a, const float* b, float* x, double*, int*,
                                                  int n, int limit, double, cudaStream_t stream) {
    descend(symv, a, b, x, n, limit, stream);
}
