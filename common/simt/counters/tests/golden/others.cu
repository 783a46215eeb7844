// Shuffles, trees, N-body tiles, constant memory and textures.

#include "counters/tests/golden/golden.h"

namespace golden {

__constant__ float table[64];

__global__ void constant_uniform(float* out) { out[own_index()] = table[blockIdx.x]; }

__global__ void constant_by_lane(float* out) { out[own_index()] = table[threadIdx.x % 32]; }

__global__ void butterfly(const float* in, float* out) {
    float x = in[own_index()];
    for (unsigned mask = 16; mask > 0; mask /= 2) x += __shfl_xor_sync(0xffffffffu, x, mask);
    out[own_index()] = x;
}

__global__ void tree_interleaved(const float* in, float* out) {
    __shared__ float partial[threads];
    partial[threadIdx.x] = in[own_index()];
    for (unsigned stride = 1; stride < threads; stride *= 2) {
        __syncthreads();
        if (threadIdx.x % (2 * stride) == 0) partial[threadIdx.x] += partial[threadIdx.x + stride];
    }
    if (threadIdx.x == 0) out[blockIdx.x] = partial[0];
}

__global__ void tree_sequential(const float* in, float* out) {
    __shared__ float partial[threads];
    partial[threadIdx.x] = in[own_index()];
    for (unsigned stride = threads / 2; stride > 0; stride /= 2) {
        __syncthreads();
        if (threadIdx.x < stride) partial[threadIdx.x] += partial[threadIdx.x + stride];
    }
    if (threadIdx.x == 0) out[blockIdx.x] = partial[0];
}

/// Interleaved, but with the working threads side by side: bank conflicts instead of divergence.
__global__ void tree_with_conflicts(const float* in, float* out) {
    __shared__ float partial[threads];
    partial[threadIdx.x] = in[own_index()];
    for (unsigned stride = 1; stride < threads; stride *= 2) {
        __syncthreads();
        const unsigned i = 2 * stride * threadIdx.x;
        if (i < threads) partial[i] += partial[i + stride];
    }
    if (threadIdx.x == 0) out[blockIdx.x] = partial[0];
}

/// Forces between `count` bodies by tiles of 256 float4 in shared memory: all lanes read the same one.
__global__ void nbody_tile(const float4* bodies, float4* forces) {
    __shared__ float4 tile[threads];
    const float4 own = bodies[own_index()];
    float x = 0.0f, y = 0.0f, z = 0.0f;
    for (unsigned first = 0; first < count; first += threads) {
        tile[threadIdx.x] = bodies[first + threadIdx.x];
        __syncthreads();
        for (unsigned k = 0; k < threads; ++k) {
            const float4 other = tile[k];
            const float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
            const float r = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-3f);
            const float f = other.w * r * r * r;
            x += f * dx, y += f * dy, z += f * dz;
        }
        __syncthreads();
    }
    forces[own_index()] = make_float4(x, y, z, 0.0f);
}

__device__ float sum_of(float texel) { return texel; }
__device__ float sum_of(unsigned char texel) { return texel; }
__device__ float sum_of(unsigned short texel) { return texel; }
__device__ float sum_of(float2 texel) { return texel.x + texel.y; }
__device__ float sum_of(float4 texel) { return texel.x + texel.y + texel.z + texel.w; }

template <class T, int stride>
__global__ void fetch_line(cudaTextureObject_t line, float* out) {
    out[own_index()] = sum_of(tex1Dfetch<T>(line, static_cast<int>(own_index()) * stride));
}

__global__ void fetch_permuted(cudaTextureObject_t line, const int* permutation, float* out) {
    out[own_index()] = tex1Dfetch<float>(line, permutation[own_index()]);
}

__global__ void fetch_row(cudaTextureObject_t row, float* out) {
    out[own_index()] = tex1D<float>(row, static_cast<float>(own_index() % side) + 0.5f);
}

/// Lanes side by side in `picture`.
template <class T>
__global__ void fetch_rows(cudaTextureObject_t picture, float* out) {
    const unsigned col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    out[row * side + col] =
        sum_of(tex2D<T>(picture, static_cast<float>(col) + 0.5f, static_cast<float>(row) + 0.5f));
}

/// Lanes above each other.
template <class T>
__global__ void fetch_columns(cudaTextureObject_t picture, float* out) {
    const unsigned col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    out[row * side + col] =
        sum_of(tex2D<T>(picture, static_cast<float>(row) + 0.5f, static_cast<float>(col) + 0.5f));
}

/// Each thread of blocks of 8 x 8 reads its texel and its right and lower neighbour.
__global__ void fetch_corner(cudaTextureObject_t picture, float* out) {
    const unsigned col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    const float x = static_cast<float>(col) + 0.5f, y = static_cast<float>(row) + 0.5f;
    out[row * side + col] =
        tex2D<float>(picture, x, y) + tex2D<float>(picture, x + 1.0f, y) + tex2D<float>(picture, x, y + 1.0f);
}

void fill_constants() {
    const std::vector<float> values(64, 1.5f);
    require(cudaMemcpyToSymbol(table, values.data(), sizeof(float) * values.size()), "filling the table");
}

std::vector<Kernel> other_kernels() {
    return {
        {"constant_uniform", "one constant for all lanes",
         [](const Data& d) { constant_uniform<<<blocks, threads>>>(d.out); }},
        {"constant_by_lane", "a constant for each lane",
         [](const Data& d) { constant_by_lane<<<blocks, threads>>>(d.out); }},
        {"butterfly", "five shuffles", [](const Data& d) { butterfly<<<blocks, threads>>>(d.in, d.out); }},
        {"tree_interleaved", "a divergent tree in shared memory",
         [](const Data& d) { tree_interleaved<<<blocks, threads>>>(d.in, d.out); }},
        {"tree_sequential", "sequential addressing",
         [](const Data& d) { tree_sequential<<<blocks, threads>>>(d.in, d.out); }},
        {"tree_with_conflicts", "side by side threads, strided words",
         [](const Data& d) { tree_with_conflicts<<<blocks, threads>>>(d.in, d.out); }},
        {"nbody_tile", "2048 bodies by tiles of float4",
         [](const Data& d) {
             nbody_tile<<<blocks, threads>>>(reinterpret_cast<const float4*>(d.in),
                                             reinterpret_cast<float4*>(d.out));
         }},
        {"texture_line", "tex1Dfetch(i)",
         [](const Data& d) { fetch_line<float, 1><<<blocks, threads>>>(d.line, d.out); }},
        {"texture_line_stride_32", "tex1Dfetch(32 i)",
         [](const Data& d) { fetch_line<float, 32><<<blocks, threads>>>(d.line, d.out); }},
        {"texture_line_stride_3", "tex1Dfetch(3 i)",
         [](const Data& d) { fetch_line<float, 3><<<blocks, threads>>>(d.line, d.out); }},
        {"texture_line_permuted", "tex1Dfetch of a permuted index",
         [](const Data& d) { fetch_permuted<<<blocks, threads>>>(d.line, d.permutation, d.out); }},
        {"texture_line_float4", "tex1Dfetch of float4",
         [](const Data& d) { fetch_line<float4, 1><<<blocks, threads>>>(d.quads_line, d.out); }},
        {"texture_row", "tex1D of an array",
         [](const Data& d) { fetch_row<<<blocks, threads>>>(d.row, d.out); }},
        {"texture_picture", "tex2D of pitched memory, by rows",
         [](const Data& d) { fetch_rows<float><<<dim3(4, 16), dim3(32, 8)>>>(d.picture, d.out); }},
        {"texture_picture_columns", "tex2D of pitched memory, by columns",
         [](const Data& d) { fetch_columns<float><<<dim3(4, 16), dim3(32, 8)>>>(d.picture, d.out); }},
        {"texture_array", "tex2D of an array, by rows",
         [](const Data& d) { fetch_rows<float><<<dim3(4, 16), dim3(32, 8)>>>(d.array, d.out); }},
        {"texture_array_columns", "tex2D of an array, by columns",
         [](const Data& d) { fetch_columns<float><<<dim3(4, 16), dim3(32, 8)>>>(d.array, d.out); }},
        {"texture_picture_corner", "tex2D of pitched memory and two neighbours",
         [](const Data& d) { fetch_corner<<<dim3(16, 16), dim3(8, 8)>>>(d.picture, d.out); }},
        {"texture_array_corner", "tex2D of an array and two neighbours",
         [](const Data& d) { fetch_corner<<<dim3(16, 16), dim3(8, 8)>>>(d.array, d.out); }},
        {"texture_bytes_rows", "tex2D of an array of unsigned char, by rows",
         [](const Data& d) {
             fetch_rows<unsigned char><<<dim3(4, 16), dim3(32, 8)>>>(d.bytes_array, d.out);
         }},
        {"texture_bytes_columns", "tex2D of an array of unsigned char, by columns",
         [](const Data& d) {
             fetch_columns<unsigned char><<<dim3(4, 16), dim3(32, 8)>>>(d.bytes_array, d.out);
         }},
        {"texture_shorts_rows", "tex2D of an array of unsigned short, by rows",
         [](const Data& d) {
             fetch_rows<unsigned short><<<dim3(4, 16), dim3(32, 8)>>>(d.shorts_array, d.out);
         }},
        {"texture_shorts_columns", "tex2D of an array of unsigned short, by columns",
         [](const Data& d) {
             fetch_columns<unsigned short><<<dim3(4, 16), dim3(32, 8)>>>(d.shorts_array, d.out);
         }},
        {"texture_pairs_rows", "tex2D of an array of float2, by rows",
         [](const Data& d) { fetch_rows<float2><<<dim3(4, 16), dim3(32, 8)>>>(d.pairs_array, d.out); }},
        {"texture_pairs_columns", "tex2D of an array of float2, by columns",
         [](const Data& d) { fetch_columns<float2><<<dim3(4, 16), dim3(32, 8)>>>(d.pairs_array, d.out); }},
        {"texture_quads_rows", "tex2D of an array of float4, by rows",
         [](const Data& d) { fetch_rows<float4><<<dim3(4, 16), dim3(32, 8)>>>(d.quads_array, d.out); }},
        {"texture_quads_columns", "tex2D of an array of float4, by columns",
         [](const Data& d) { fetch_columns<float4><<<dim3(4, 16), dim3(32, 8)>>>(d.quads_array, d.out); }},
    };
}

}  // namespace golden
