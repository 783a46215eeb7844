// Honest, with a helper struct that knows its place and its partners.
//
//     kind = "control"
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1

// Honest, with a helper struct that knows its place and its partners.

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

/// Where a thread is.
struct Place {
    unsigned lane;
    std::size_t index;
    __device__ static Place here() { return {threadIdx.x, std::size_t{blockIdx.x} * blockDim.x + threadIdx.x}; }
    __device__ bool below(unsigned stride) const { return lane < stride; }
};

template <class Terms>
__global__ void tree_kernel(Terms terms, float* sum, std::size_t n) {
    __shared__ float partial[256];
    const Place place = Place::here();
    partial[place.lane] = place.index < n ? terms(place.index) : 0.0f;
    for (unsigned stride = 128; stride > 0; stride /= 2) {
        __syncthreads();
        if (place.below(stride)) partial[place.lane] += partial[place.lane + stride];
    }
    if (place.lane == 0) atomicAdd(sum, partial[0]);
}

template <class Terms>
static void launch(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    CUDA_CHECK(cudaMemsetAsync(sum, 0, sizeof(float), stream));
    if (n == 0) return;
    tree_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(terms, sum, n);
    CUDA_CHECK(cudaGetLastError());
}

void reduction::shared_tree(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    launch(reduction::Values{v}, sum, n, stream);
}

void reduction::shared_tree(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    launch(reduction::Products{v, w}, sum, n, stream);
}
