// A sum by a function of the host in the stream, beside a kernel that does nothing.
//
//     verdicts = ["SUSPECT"]
//     defences = ["method"]

// Queues copies and a function of the host that adds them up, and a kernel that does nothing.

#include <vector>

#include "reduction.cuh"
#include "rungs/cuda_check.cuh"

__global__ void nothing_kernel() {}

struct Work {
    std::vector<float> a, b;
    float* answer;  // where a copy reads it when its turn comes
};

static void add_up(void* data) {
    Work& sum = *static_cast<Work*>(data);
    double total = 0;
    for (std::size_t i = 0; i < sum.a.size(); ++i) total += sum.b.empty() ? sum.a[i] : double{sum.a[i]} * sum.b[i];
    *sum.answer = static_cast<float>(total);
}

static void copy(std::vector<float>& to, const float* from, std::size_t n, cudaStream_t stream) {
    to.resize(n);
    CUDA_CHECK(cudaMemcpyAsync(to.data(), from, n * sizeof(float), cudaMemcpyDeviceToHost, stream));
}

static void finish(Work& work, float* sum, cudaStream_t stream) {
    CUDA_CHECK(cudaMallocHost(&work.answer, sizeof(float)));
    CUDA_CHECK(cudaLaunchHostFunc(stream, add_up, &work));
    CUDA_CHECK(cudaMemcpyAsync(sum, work.answer, sizeof(float), cudaMemcpyHostToDevice, stream));
    nothing_kernel<<<1, 32, 0, stream>>>();
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaStreamSynchronize(stream));
    CUDA_CHECK(cudaFreeHost(work.answer));
}

void reduction::shared_tree(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    Work work;
    copy(work.a, v, n, stream);
    finish(work, sum, stream);
}

void reduction::shared_tree(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    Work work;
    copy(work.a, v, n, stream);
    copy(work.b, w, n, stream);
    finish(work, sum, stream);
}
