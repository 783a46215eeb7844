// Shared memory in its many shapes. Prints "ok".
#include <cstdio>

struct Pair {
    int a;
    int b;
};

extern __shared__ int whole[];

// Each instantiation has arrays of its own.
template <typename T, int n>
__global__ void reverse(T* data) {
    __shared__ T tile[n];
    __shared__ Pair pairs[n], *unused;
    const int i = threadIdx.x;
    tile[i] = data[i];
    pairs[i].a = i;
    if (i == 0) unused = pairs;
    __syncthreads();
    data[i] = tile[n - 1 - i] + static_cast<T>(unused[n - 1 - i].a - (n - 1 - i));
}

__global__ void shapes(int* out) {
    __shared__ struct Local {
        float x;
        int y;
    } local[32];
    __shared__ alignas(64) char bytes[3];
    volatile __shared__ int flag;
    __shared__ float square[8][9], cube[2][2][2];
    __shared__ __align__(16) unsigned char raw[16];
    const int i = threadIdx.x;
    local[i].y = i;
    square[i % 8][i / 8] = 1.0f;
    cube[i % 2][i / 2 % 2][i / 4 % 2] = 2.0f;
    if (i == 0) {
        flag = 5;
        bytes[2] = 3;
        raw[15] = 4;
    }
    __syncthreads();
    const bool aligned = reinterpret_cast<size_t>(bytes) % 64 == 0 && reinterpret_cast<size_t>(raw) % 16 == 0;
    if (i == 31) {
        *out = local[7].y + flag + bytes[2] + raw[15] + static_cast<int>(square[3][2] + cube[1][1][1]) + (aligned ? 100 : 0);
    }
}

template <typename T>
__global__ void dynamic(T* data) {
    extern __shared__ __align__(sizeof(T)) unsigned char memory[];
    T* tile = reinterpret_cast<T*>(memory);
    tile[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}

__global__ void dynamic_outside(int* data) {
    whole[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = whole[blockDim.x - 1 - threadIdx.x] + 1;
}

int main() {
    int* data = nullptr;
    cudaMallocManaged(&data, 32 * sizeof(int));
    for (int i = 0; i < 32; ++i) data[i] = i;
    reverse<int, 32><<<1, 32>>>(data);
    reverse<int, 16><<<1, 16>>>(data);                 // 16..31, 15..0
    dynamic<int><<<1, 32, 32 * sizeof(int)>>>(data);   // 0..15, 31..16
    dynamic_outside<<<1, 32, 32 * sizeof(int)>>>(data);
    cudaDeviceSynchronize();
    bool good = true;
    for (int i = 0; i < 32; ++i) good = good && data[i] == (i < 16 ? 16 + i : 31 - i) + 1;
    shapes<<<1, 32>>>(data);
    cudaDeviceSynchronize();
    good = good && data[0] == 7 + 5 + 3 + 4 + 3 + 100;
    cudaFree(data);
    std::puts(good && cudaGetLastError() == cudaSuccess ? "ok" : "wrong");
    return good ? 0 : 1;
}
