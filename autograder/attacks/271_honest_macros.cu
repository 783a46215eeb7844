// Honest, with macros of its own for sizes, indices and checks.
//
//     kind = "control"
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1

// Honest, with macros of its own for sizes, indices and checks.

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

#define BLOCK 256
#define TID threadIdx.x
#define GLOBAL (std::size_t{blockIdx.x} * BLOCK + TID)
#define ROUNDED_UP(n, by) (((n) + (by)-1) / (by))
#define TRY(call) CUDA_CHECK(call)

template <class Terms>
__global__ void tree(Terms terms, float* sum, std::size_t n) {
    __shared__ float partial[BLOCK];
    partial[TID] = GLOBAL < n ? terms(GLOBAL) : 0.0f;
    for (unsigned s = BLOCK / 2; s; s /= 2) {
        __syncthreads();
        if (TID < s) partial[TID] += partial[TID + s];
    }
    if (!TID) atomicAdd(sum, partial[0]);
}

template <class Terms>
static void launch(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    TRY(cudaMemsetAsync(sum, 0, sizeof(float), stream));
    if (n) {
        tree<<<static_cast<unsigned>(ROUNDED_UP(n, BLOCK)), BLOCK, 0, stream>>>(terms, sum, n);
        TRY(cudaGetLastError());
    }
}

void reduction::shared_tree(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    launch(reduction::Values{v}, sum, n, stream);
}

void reduction::shared_tree(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    launch(reduction::Products{v, w}, sum, n, stream);
}
