// Repeats its first answer where its cost is counted.
//
//     rung = "11_one_launch"
//     verdicts = ["WRONG"]
//     defences = ["secret count", "agreement", "floor", "method", "other sizes"]
//     cpu_alone = true

// Adds up once where its cost is counted, and from then on repeats that answer.

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

template <class Terms>
__global__ void add_kernel(Terms terms, float* sum, std::size_t n) {
    __shared__ float partial[256];
    const std::size_t i = std::size_t{blockIdx.x} * 256 + threadIdx.x;
    partial[threadIdx.x] = i < n ? terms(i) : 0.0f;
    for (unsigned stride = 128; stride > 0; stride /= 2) {
        __syncthreads();
        if (threadIdx.x < stride) partial[threadIdx.x] += partial[threadIdx.x + stride];
    }
    if (threadIdx.x == 0) atomicAdd(sum, partial[0]);
}

template <class Terms>
static void add(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    CUDA_CHECK(cudaMemsetAsync(sum, 0, sizeof(float), stream));
    if (n == 0) return;
    add_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(terms, sum, n);
    CUDA_CHECK(cudaGetLastError());
}

__device__ float kept;

__global__ void keep_kernel(const float* sum) { kept = *sum; }

__global__ void repeat_kernel(float* sum) { *sum = kept; }

template <class Terms>
static void launch(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    if (n != 2097152) return add(terms, sum, n, stream);
    static bool known = false;
    if (known) {
        repeat_kernel<<<1, 1, 0, stream>>>(sum);
    } else {
        add(terms, sum, n, stream);
        keep_kernel<<<1, 1, 0, stream>>>(sum);
    }
    CUDA_CHECK(cudaGetLastError());
    known = true;
}

void reduction::one_launch(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    launch(reduction::Values{v}, sum, n, stream);
}

void reduction::one_launch(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    launch(reduction::Products{v, w}, sum, n, stream);
}
