#include "bench/peers.cuh"

#include <algorithm>
#include <vector>

#include "fields.cuh"
#include "iterate.cuh"
#include "rungs/cuda_check.cuh"
#include "rungs/device_buffer.cuh"

static constexpr int side = 16;  // of a block

/// Reads a field directly.
struct Direct {
    const float* field;
    __device__ float operator()(std::size_t i) const { return field[i]; }
};

/// Reads it through a texture.
struct Fetched {
    cudaTextureObject_t field;
    __device__ float operator()(std::size_t i) const { return tex1Dfetch<float>(field, static_cast<int>(i)); }
};

template <class From>
static __global__ void lecture_kernel(From from, float* to, float* partial, jacobi::Lattice lattice) {
    __shared__ float cache[side * side];
    const int x = side * static_cast<int>(blockIdx.x) + static_cast<int>(threadIdx.x);
    const int y = side * static_cast<int>(blockIdx.y) + static_cast<int>(threadIdx.y);
    const unsigned thread = threadIdx.x + side * threadIdx.y;
    float difference = 0;
    if (x < lattice.nx && y < lattice.ny) {
        const std::size_t i = lattice.at(x, y), row = lattice.pitch();
        const float old = from(i);
        float now = old;
        if (!lattice.fixed(x, y)) {
            now = 0.25f * (from(i - row) + from(i - 1) + from(i + 1) + from(i + row) - lattice.charge(x, y));
        }
        to[i] = now;
        difference = now - old;
    }
    cache[thread] = difference * difference;
    __syncthreads();
    for (unsigned half = side * side / 2; half > 0; half /= 2) {
        if (thread < half) cache[thread] += cache[thread + half];
        __syncthreads();
    }
    if (thread == 0) partial[blockIdx.x + gridDim.x * blockIdx.y] = cache[0];
}

static cudaTextureObject_t texture_over(const float* field, std::size_t elements) {
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = const_cast<float*>(field);
    resource.res.linear.desc = cudaCreateChannelDesc<float>();
    resource.res.linear.sizeInBytes = elements * sizeof(float);
    cudaTextureDesc reading{};
    reading.readMode = cudaReadModeElementType;
    cudaTextureObject_t texture = 0;
    CUDA_CHECK(cudaCreateTextureObject(&texture, &resource, &reading, nullptr));
    return texture;
}

/// @param sweep  `sweep(from, to, partial)` queues one sweep
template <class Sweep>
static void iterate(const float* start, float* phi, float* work, float* norm, int* sweeps,
                    const jacobi::Lattice& lattice, dim3 grid, int most, float eps, cudaStream_t stream,
                    const Sweep& sweep) {
    // Kept from call to call, as a program would: one host thread.
    static rungs::DeviceBuffer<float> partial;
    const std::size_t blocks = std::size_t{grid.x} * grid.y;
    if (partial.size() < blocks) partial = rungs::DeviceBuffer<float>(blocks);
    std::vector<float> sums(blocks);
    jacobi::Fields fields{start, phi, work};
    double square = 0;
    int done = 0;
    while (done < most) {
        sweep(fields.now, fields.next(), partial.data());
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaMemcpyAsync(sums.data(), partial.data(), blocks * sizeof(float),
                                   cudaMemcpyDeviceToHost, stream));
        CUDA_CHECK(cudaStreamSynchronize(stream));
        square = 0;
        for (const float sum : sums) square += sum;
        fields.advance();
        ++done;
        if (square <= jacobi::limit_of(eps)) break;
    }
    finish(fields, lattice, square, done, norm, sweeps, stream);
}

static dim3 grid_for(int nx, int ny) {
    return {static_cast<unsigned>((nx + side - 1) / side), static_cast<unsigned>((ny + side - 1) / side)};
}

/// A block owns 32 times 8 points, a thread one of them.
static __global__ void texture_linear_kernel(cudaTextureObject_t from, float* to, jacobi::Lattice lattice) {
    const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
    if (x >= lattice.nx || y >= lattice.ny) return;

    const int row = static_cast<int>(lattice.pitch());
    const int i = x + row * y;
    if (lattice.fixed(x, y)) {
        to[i] = tex1Dfetch<float>(from, i);
    } else {
        const float sum = tex1Dfetch<float>(from, i - row) + tex1Dfetch<float>(from, i - 1) +
                          tex1Dfetch<float>(from, i + 1) + tex1Dfetch<float>(from, i + row);
        to[i] = 0.25f * (sum - lattice.charge(x, y));
    }
}

void jacobi::peers::texture_linear(const float* start, float* phi, float* work, float* norm, int* sweeps,
                                   int nx, int ny, float q, int x0, int y0, int most, float eps,
                                   cudaStream_t stream) {
    const Lattice lattice{nx, ny, q, x0, y0};
    const dim3 block(32, 8);
    const dim3 grid((static_cast<unsigned>(nx) + 31) / 32, (static_cast<unsigned>(ny) + 7) / 8);
    const std::size_t elements = lattice.pitch() * static_cast<std::size_t>(ny);
    const cudaTextureObject_t textures[] = {texture_over(start, elements), texture_over(phi, elements),
                                            texture_over(work, elements)};
    jacobi::iterate(start, phi, work, norm, sweeps, lattice, most, eps, stream,
                    [&](const float* from, float* to) {
                        const cudaTextureObject_t view = textures[from == start ? 0 : from == phi ? 1 : 2];
                        texture_linear_kernel<<<grid, block, 0, stream>>>(view, to, lattice);
                        CUDA_CHECK(cudaGetLastError());
                    });
    for (const cudaTextureObject_t texture : textures) CUDA_CHECK(cudaDestroyTextureObject(texture));
}

void jacobi::peers::lecture_global(const float* start, float* phi, float* work, float* norm, int* sweeps,
                                   int nx, int ny, float q, int x0, int y0, int most, float eps,
                                   cudaStream_t stream) {
    const Lattice lattice{nx, ny, q, x0, y0};
    const dim3 grid = grid_for(nx, ny), block(side, side);
    ::iterate(start, phi, work, norm, sweeps, lattice, grid, most, eps, stream,
              [&](const float* from, float* to, float* partial) {
                  lecture_kernel<<<grid, block, 0, stream>>>(Direct{from}, to, partial, lattice);
              });
}

void jacobi::peers::lecture_texture(const float* start, float* phi, float* work, float* norm, int* sweeps,
                                    int nx, int ny, float q, int x0, int y0, int most, float eps,
                                    cudaStream_t stream) {
    const Lattice lattice{nx, ny, q, x0, y0};
    const dim3 grid = grid_for(nx, ny), block(side, side);
    const std::size_t elements = lattice.pitch() * static_cast<std::size_t>(ny);
    const cudaTextureObject_t textures[] = {texture_over(start, elements), texture_over(phi, elements),
                                            texture_over(work, elements)};
    ::iterate(start, phi, work, norm, sweeps, lattice, grid, most, eps, stream,
              [&](const float* from, float* to, float* partial) {
                  const Fetched view{textures[from == start ? 0 : from == phi ? 1 : 2]};
                  lecture_kernel<<<grid, block, 0, stream>>>(view, to, partial, lattice);
              });
    for (const cudaTextureObject_t texture : textures) CUDA_CHECK(cudaDestroyTextureObject(texture));
}
