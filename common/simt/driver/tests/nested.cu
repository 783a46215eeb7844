// Kernels that launch kernels, for simt++ -rdc=true and for nvcc -rdc=true: both print the same.
#include <cstdio>

__device__ int steps[64];
__device__ int taken;
__device__ int depths;
__device__ cudaError_t too_deep;
__device__ cudaError_t refused[3];

__global__ void note(int step) { steps[atomicAdd(&taken, 1)] = step; }

/// Notes `step` from a launch of its own, and so before whatever its launcher launches next.
__global__ void note_from_below(int step) { note<<<1, 1>>>(step); }

__global__ void in_order() {
    steps[atomicAdd(&taken, 1)] = 1;
    note<<<1, 1, 0, cudaStreamTailLaunch>>>(5);
    note_from_below<<<1, 1>>>(2);
    note<<<1, 1>>>(3);
    note_from_below<<<1, 1>>>(4);
}

__global__ void deeper(int depth) {
    atomicMax(&depths, depth);
    deeper<<<1, 1>>>(depth + 1);
    if (const cudaError_t error = cudaGetLastError()) too_deep = error;
}

/// Each element of a tree of launches adds one.
__global__ void tree(int depth, int* count) {
    if (threadIdx.x == 0) atomicAdd(count, 1);
    if (depth == 0 || threadIdx.x >= 2) return;
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    tree<<<1, 32, 0, stream>>>(depth - 1, count);
    cudaStreamDestroy(stream);
}

/// A thread's errors are its own.
__global__ void errors() {
    if (threadIdx.x == 1) note<<<1, 2000>>>(9);
    __syncthreads();
    refused[threadIdx.x] = threadIdx.x == 2 ? cudaPeekAtLastError() : cudaGetLastError();
    if (threadIdx.x == 1 && cudaGetLastError() != cudaSuccess) refused[1] = cudaErrorUnknown;
}

__global__ void fill(int* values) { values[threadIdx.x] = values[threadIdx.x + 32] + 1; }
__global__ void sum(int* values, int* total) {
    atomicAdd(total, values[threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) cudaFree(values);
}
/// Memory of a thread's own, which what it launches may use.
__global__ void allocate(int* total) {
    int* values;
    cudaMalloc(reinterpret_cast<void**>(&values), 64 * sizeof(int));
    for (int i = 32; i < 64; ++i) values[i] = i;
    fill<<<1, 32>>>(values);
    sum<<<1, 32>>>(values, total);
}

int main() {
    int values[64], n = 0;
    in_order<<<1, 1>>>();
    cudaDeviceSynchronize();
    cudaMemcpyFromSymbol(&n, taken, sizeof n);
    cudaMemcpyFromSymbol(values, steps, sizeof values);
    std::printf("order:");
    for (int i = 0; i < n; ++i) std::printf(" %d", values[i]);

    int* count;
    cudaMallocManaged(&count, sizeof(int));
    *count = 0;
    tree<<<2, 32>>>(6, count);
    cudaDeviceSynchronize();
    std::printf("\ntree: %d launches\n", *count);

    deeper<<<1, 1>>>(1);
    std::printf("deep: %s", cudaGetErrorName(cudaDeviceSynchronize()));
    cudaMemcpyFromSymbol(&n, depths, sizeof n);
    cudaError_t seen[3];
    cudaMemcpyFromSymbol(seen, too_deep, sizeof seen[0]);
    std::printf(", %d, %s\n", n, cudaGetErrorName(seen[0]));

    errors<<<1, 3>>>();
    cudaDeviceSynchronize();
    cudaMemcpyFromSymbol(seen, refused, sizeof seen);
    std::printf("errors: %s, %s, %s\n", cudaGetErrorName(seen[0]), cudaGetErrorName(seen[1]),
                cudaGetErrorName(seen[2]));

    *count = 0;
    allocate<<<3, 1>>>(count);
    cudaDeviceSynchronize();
    std::printf("memory: %d\nat the end: %s\n", *count, cudaGetErrorName(cudaGetLastError()));
    cudaFree(count);
}
