// Device variables, device functions, pragmas, lambdas. Prints "ok".
#include <cstdio>

namespace settings {
__constant__ float weights[3] = {1, 2, 3}, scale;
}
static __device__ int counter = 0;
__device__ __managed__ int shared_with_host;
namespace table {
__device__ int entry = 4;
}

__device__ float dot(const float* a);
__device__ __noinline__ float twice(float x) { return 2 * x; }
__host__ __device__ constexpr int both(int x) { return x + 1; }
template <typename T>
__device__ __forceinline__ T identity(T x) {
    return x;
}
__device__ float (*function)(float) = twice;

__global__ void __launch_bounds__(64, 1) use(float* out) {
    const float a[3] = {1, 1, 1};
    atomicAdd(&counter, 1);
#pragma unroll 1
    for (int i = 0; i < 1; ++i) {
        if (threadIdx.x == 0) {
            out[0] = identity(function(dot(a)) * settings::scale) + table::entry;
            shared_with_host = both(6);
        }
    }
}

__device__ float dot(const float* a) {
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 3; ++i) sum += a[i] * settings::weights[i];
    return sum;
}

template <typename F>
__global__ void apply(F f, float* out) {
    out[0] = f(out[0]);
}

int main() {
    float* out = nullptr;
    cudaMallocManaged(&out, sizeof(float));
    const float half = 0.5f;
    cudaMemcpyToSymbol(settings::scale, &half, sizeof half);
    use<<<1, 64>>>(out);
    const float offset = 10;
    apply<<<1, 1>>>([=] __host__ __device__(float x) { return x + offset; }, out);
    cudaDeviceSynchronize();
    int count = 0;
    cudaMemcpyFromSymbol(&count, counter, sizeof count);
    const bool good = count == 64 && out[0] == 2 * 6 * 0.5f + 4 + 10 && shared_with_host == 7 &&
                      cudaGetLastError() == cudaSuccess;
    std::puts(good ? "ok" : "wrong");
    cudaFree(out);
    return good ? 0 : 1;
}
