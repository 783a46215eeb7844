// The masked kernels, after a course report on this problem (2023; see the lesson's last section). Mended:
// bounds for every n, no read past the end in the reduction, `/ 6.0` in float, any number of blocks.

#include "bench/peers.cuh"

#include <cmath>

#include "rungs/cuda_check.cuh"

namespace {

constexpr unsigned reduction_block = 512;

__device__ std::size_t haloed(int i, int j, int k, int n) {
    const std::size_t row = n + 2;
    return ((i + 1) * row + j + 1) * row + k + 1;
}

__device__ float around(const float* u, std::size_t c, int n) {
    const std::size_t row = n + 2, plane = row * row;
    return u[c - plane] + u[c - row] + u[c - 1] + u[c + 1] + u[c + row] + u[c + plane];
}

/// Runs body(i, j, k) for the thread's point, if it is in the cube.
template <class Body>
__device__ void at_point(int n, const Body& body) {
    const int k = blockDim.x * blockIdx.x + threadIdx.x;
    const int j = blockDim.y * blockIdx.y + threadIdx.y;
    const int i = blockDim.z * blockIdx.z + threadIdx.z;
    if (i < n && j < n && k < n) body(i, j, k);
}

__global__ void masked_kernel(float* u, const float* b, int n, int colour) {
    at_point(n, [&](int i, int j, int k) {
        if ((i + j + k + colour) % 2 != 0) return;
        const std::size_t c = haloed(i, j, k, n);
        u[c] = (b[(static_cast<std::size_t>(i) * n + j) * n + k] + around(u, c, n)) / 6.0f;
    });
}

__global__ void jacobi_kernel(const float* u, float* next, const float* b, int n) {
    at_point(n, [&](int i, int j, int k) {
        const std::size_t c = haloed(i, j, k, n);
        next[c] = (b[(static_cast<std::size_t>(i) * n + j) * n + k] + around(u, c, n)) / 6.0f;
    });
}

__global__ void squares_kernel(const float* u, const float* b, float* squares, int n) {
    at_point(n, [&](int i, int j, int k) {
        const std::size_t c = haloed(i, j, k, n), at = (static_cast<std::size_t>(i) * n + j) * n + k;
        const float r = b[at] - 6.0f * u[c] + around(u, c, n);
        squares[at] = r * r;
    });
}

__global__ void sum_kernel(const float* in, float* out, std::size_t n) {
    __shared__ float partial[reduction_block];
    const std::size_t i = blockIdx.x * std::size_t{2} * reduction_block + threadIdx.x;
    partial[threadIdx.x] =
        (i < n ? in[i] : 0.0f) + (i + reduction_block < n ? in[i + reduction_block] : 0.0f);
    __syncthreads();
    for (unsigned s = reduction_block / 2; s > 0; s /= 2) {
        if (threadIdx.x < s) partial[threadIdx.x] += partial[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = partial[0];
}

/// Copies between arrays with and without a halo.
__global__ void halo_kernel(const float* plain, float* with_halo, int n) {
    at_point(n, [&](int i, int j, int k) {
        with_halo[haloed(i, j, k, n)] = plain[(static_cast<std::size_t>(i) * n + j) * n + k];
    });
}
__global__ void strip_kernel(const float* with_halo, float* plain, int n) {
    at_point(n, [&](int i, int j, int k) {
        plain[(static_cast<std::size_t>(i) * n + j) * n + k] = with_halo[haloed(i, j, k, n)];
    });
}

const dim3 block(32, 8, 4);  // the better of the report's two shapes

dim3 blocks(int n) { return dim3((n + 31) / 32, (n + 7) / 8, (n + 3) / 4); }

std::size_t cube(int n) { return static_cast<std::size_t>(n) * n * n; }

}  // namespace

red_black::peers::Masked::Masked(int n)
    : n_(n),
      u_(cube(n + 2)),
      other_(cube(n + 2)),
      b_(cube(n)),
      squares_(cube(n)),
      sums_(cube(n) / 1024 + 1) {}

void red_black::peers::Masked::set(const float* start, const float* b, cudaStream_t stream) {
    u_.zero(stream);
    other_.zero(stream);
    halo_kernel<<<blocks(n_), block, 0, stream>>>(start, u_.data(), n_);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpyAsync(b_.data(), b, b_.bytes(), cudaMemcpyDeviceToDevice, stream));
}

void red_black::peers::Masked::get(float* u, cudaStream_t stream) const {
    strip_kernel<<<blocks(n_), block, 0, stream>>>(u_.data(), u, n_);
    CUDA_CHECK(cudaGetLastError());
}

float red_black::peers::Masked::norm(cudaStream_t stream) {
    squares_kernel<<<blocks(n_), block, 0, stream>>>(u_.data(), b_.data(), squares_.data(), n_);
    float *in = squares_.data(), *out = sums_.data();
    for (std::size_t n = cube(n_); n > 1; std::swap(in, out)) {
        const std::size_t left = (n + 2 * reduction_block - 1) / (2 * reduction_block);
        sum_kernel<<<static_cast<unsigned>(left), reduction_block, 0, stream>>>(in, out, n);
        n = left;
    }
    CUDA_CHECK(cudaGetLastError());
    float sum = 0;
    CUDA_CHECK(cudaMemcpyAsync(&sum, in, sizeof sum, cudaMemcpyDeviceToHost, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    return std::sqrt(sum);
}

float red_black::peers::Masked::red_black(int iterations, cudaStream_t stream) {
    float last = 0;
    for (int t = 0; t < iterations; ++t) {
        for (int colour = 0; colour < 2; ++colour) {
            masked_kernel<<<blocks(n_), block, 0, stream>>>(u_.data(), b_.data(), n_, colour);
            CUDA_CHECK(cudaGetLastError());
        }
        last = norm(stream);
    }
    return last;
}

float red_black::peers::Masked::jacobi(int iterations, cudaStream_t stream) {
    float last = 0;
    for (int t = 0; t < iterations; ++t) {
        jacobi_kernel<<<blocks(n_), block, 0, stream>>>(u_.data(), other_.data(), b_.data(), n_);
        CUDA_CHECK(cudaGetLastError());
        std::swap(u_, other_);
        last = norm(stream);
    }
    return last;
}
