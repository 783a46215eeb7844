// Small faulty kernels, one fault each: compute-sanitizer's words about them are the recordings of its parser's tests.
#include <cstdio>
#include <cstring>

__global__ void write_past_end(float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) out[i] = 1.0f;
}

__global__ void read_misaligned(const float* in, float4* out) {
    out[threadIdx.x] = *reinterpret_cast<const float4*>(in + 1 + 4 * threadIdx.x);
}

__global__ void write_shared_past_end(float* out) {
    extern __shared__ float tile[];
    tile[threadIdx.x * 4] = 1.0f;
    __syncthreads();
    out[threadIdx.x] = tile[0];
}

__global__ void missing_barrier(const float* in, float* out) {
    __shared__ float tile[128];
    tile[threadIdx.x] = in[threadIdx.x];
    out[threadIdx.x] = tile[127 - threadIdx.x];
}

__global__ void read_unwritten(const float* in, float* out) {
    out[threadIdx.x] = in[threadIdx.x] + 1.0f;
}

__global__ void divergent_barrier(float* out) {
    if (threadIdx.x < 7) {
        __syncthreads();
        out[threadIdx.x] = 1.0f;
    }
}

__global__ void wrong_mask(float* out) {
    if (threadIdx.x < 16) out[threadIdx.x] = __shfl_down_sync(0xff, out[threadIdx.x], 1);
}

__global__ void clean(const float* in, float* out) {
    out[threadIdx.x] = in[threadIdx.x];
}

__global__ void strided(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 8) out[i] = in[8 * i];
}

int main(int, char** arguments) {
    const char* what = arguments[1];
    float *in, *out;
    cudaMalloc(&in, 1024 * sizeof(float));
    cudaMalloc(&out, 1000 * sizeof(float));
    if (std::strcmp(what, "read_unwritten") != 0) cudaMemset(in, 0, 1024 * sizeof(float));
    if (!std::strcmp(what, "write_past_end")) write_past_end<<<4, 256>>>(out, 1000);
    if (!std::strcmp(what, "read_misaligned")) read_misaligned<<<1, 32>>>(in, reinterpret_cast<float4*>(out));
    if (!std::strcmp(what, "write_shared_past_end")) write_shared_past_end<<<1, 64, 64 * sizeof(float)>>>(out);
    if (!std::strcmp(what, "missing_barrier")) missing_barrier<<<1, 128>>>(in, out);
    if (!std::strcmp(what, "read_unwritten")) read_unwritten<<<1, 64>>>(in, out);
    if (!std::strcmp(what, "divergent_barrier")) divergent_barrier<<<1, 32>>>(out);
    if (!std::strcmp(what, "wrong_mask")) wrong_mask<<<1, 32>>>(out);
    if (!std::strcmp(what, "clean")) clean<<<1, 32>>>(in, out);
    if (!std::strcmp(what, "strided")) strided<<<1, 128>>>(in, out, 1024);
    if (!std::strcmp(what, "use_after_free")) {
        cudaFree(in);
        clean<<<1, 32>>>(in, out);
    }
    std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
