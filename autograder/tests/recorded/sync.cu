// Barriers that go wrong, one a kernel: what synccheck says of them on this GPU.
#include <cstdio>
#include <cstring>

// Two warps; the loop's last round is not everybody's.
__global__ void uneven_rounds(const float* in, float* out, int n) {
    __shared__ float tile[64];
    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        tile[threadIdx.x] = in[i];
        __syncthreads();
        sum += tile[63 - threadIdx.x];
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}

// Half a warp at one barrier, half at another.
__global__ void two_barriers(float* out) {
    __shared__ float tile[32];
    if (threadIdx.x < 16) {
        tile[threadIdx.x] = out[threadIdx.x];
        __syncthreads();
        out[threadIdx.x] = tile[15 - threadIdx.x] + 1.0f;
    } else {
        tile[threadIdx.x] = 2.0f * out[threadIdx.x + 32];
        __syncthreads();
        out[threadIdx.x] = tile[47 - threadIdx.x];
    }
}

// Half of each warp; the others go on, and exit later.
__global__ void half_a_warp(float* out) {
    if (threadIdx.x % 32 < 16) {
        __syncthreads();
        out[threadIdx.x] = 1.0f;
    } else {
        out[threadIdx.x] = 2.0f;
    }
}

// One warp of two; the other exits.
__global__ void one_warp(float* out) {
    if (threadIdx.x < 32) {
        __syncthreads();
        out[threadIdx.x] = 1.0f;
    }
}

// Lane 16 comes, too, and is not in the mask.
__global__ void wrong_syncwarp(float* out) {
    __shared__ float tile[32];
    const unsigned mask = __ballot_sync(0xffffffffu, threadIdx.x < 16);
    if (threadIdx.x <= 16) {
        tile[threadIdx.x] = out[threadIdx.x];
        __syncwarp(mask);
        out[threadIdx.x] = tile[16 - threadIdx.x];
    }
}

int main(int, char** arguments) {
    const char* what = arguments[1];
    float *in, *out;
    cudaMalloc(&in, 1024 * sizeof(float));
    cudaMalloc(&out, 1024 * sizeof(float));
    cudaMemset(in, 0, 1024 * sizeof(float));
    cudaMemset(out, 0, 1024 * sizeof(float));
    if (!std::strcmp(what, "uneven_rounds")) uneven_rounds<<<1, 64>>>(in, out, 100);
    if (!std::strcmp(what, "two_barriers")) two_barriers<<<1, 32>>>(out);
    if (!std::strcmp(what, "half_a_warp")) half_a_warp<<<1, 64>>>(out);
    if (!std::strcmp(what, "one_warp")) one_warp<<<1, 64>>>(out);
    if (!std::strcmp(what, "wrong_syncwarp")) wrong_syncwarp<<<1, 32>>>(out);
    std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
