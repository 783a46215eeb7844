#include "bench/peers.cuh"

#include "rungs/cuda_check.cuh"
#include "rungs/device_buffer.cuh"
#include "spheres.cuh"

using first_kernels::Particle;
using first_kernels::Sphere;
using first_kernels::peers::Scene;

static constexpr unsigned block_size = 256;
static constexpr int image_side = 16, tile_side = 32, four_rows = 8;

static unsigned blocks_for(std::size_t n) { return static_cast<unsigned>((n + block_size - 1) / block_size); }

/// Blocks of side times side threads.
static dim3 grid_for(int width, int height, int side) {
    return {static_cast<unsigned>((width + side - 1) / side),
            static_cast<unsigned>((height + side - 1) / side)};
}

static __global__ void strided_kernel(const float* x, float* y, std::size_t n) {
    const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = first; i < n; i += threads) y[i] = x[i] * x[i];
}

void first_kernels::peers::strided(const float* x, float* y, std::size_t n, unsigned blocks,
                                   cudaStream_t stream) {
    strided_kernel<<<blocks, block_size, 0, stream>>>(x, y, n);
    CUDA_CHECK(cudaGetLastError());
}

static __global__ void pieces_kernel(const float* x, float* y, std::size_t n) {
    const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
    const std::size_t piece = (n + threads - 1) / threads;
    for (std::size_t i = thread * piece; i < (thread + 1) * piece && i < n; ++i) y[i] = x[i] * x[i];
}

void first_kernels::peers::pieces(const float* x, float* y, std::size_t n, unsigned blocks,
                                  cudaStream_t stream) {
    pieces_kernel<<<blocks, block_size, 0, stream>>>(x, y, n);
    CUDA_CHECK(cudaGetLastError());
}

static __global__ void grey_by_columns_kernel(const uchar4* image, uchar4* grey, int width, int height) {
    const int x = blockIdx.x * image_side + threadIdx.y;
    const int y = blockIdx.y * image_side + threadIdx.x;
    if (x >= width || y >= height) return;
    const uchar4 pixel = image[y * width + x];
    const auto light = static_cast<unsigned char>((77 * pixel.x + 150 * pixel.y + 29 * pixel.z) / 256);
    grey[y * width + x] = {light, light, light, pixel.w};
}

void first_kernels::peers::grey_by_columns(const uchar4* image, uchar4* grey, int width, int height,
                                           cudaStream_t stream) {
    const dim3 block(image_side, image_side), grid = grid_for(width, height, image_side);
    grey_by_columns_kernel<<<grid, block, 0, stream>>>(image, grey, width, height);
    CUDA_CHECK(cudaGetLastError());
}

static __global__ void join_kernel(const float* position, const float* velocity, const float* mass,
                                   Particle* particles, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= n) return;
    particles[i].position = position[i];
    particles[i].velocity = velocity[i];
    particles[i].mass = mass[i];
}

void first_kernels::peers::join(const float* position, const float* velocity, const float* mass,
                                Particle* particles, std::size_t n, cudaStream_t stream) {
    join_kernel<<<blocks_for(n), block_size, 0, stream>>>(position, velocity, mass, particles, n);
    CUDA_CHECK(cudaGetLastError());
}

static __global__ void square_positions_kernel(const Particle* particles, float* y, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) y[i] = particles[i].position * particles[i].position;
}

void first_kernels::peers::square_positions(const Particle* particles, float* y, std::size_t n,
                                            cudaStream_t stream) {
    square_positions_kernel<<<blocks_for(n), block_size, 0, stream>>>(particles, y, n);
    CUDA_CHECK(cudaGetLastError());
}

static __global__ void transpose_by_columns_kernel(const float* in, float* out, int rows, int columns) {
    const int column = blockIdx.x * tile_side + threadIdx.y;
    const int row = blockIdx.y * tile_side + threadIdx.x;
    if (row < rows && column < columns) out[column * rows + row] = in[row * columns + column];
}

void first_kernels::peers::transpose_by_columns(const float* in, float* out, int rows, int columns,
                                                cudaStream_t stream) {
    const dim3 block(tile_side, tile_side), grid = grid_for(columns, rows, tile_side);
    transpose_by_columns_kernel<<<grid, block, 0, stream>>>(in, out, rows, columns);
    CUDA_CHECK(cudaGetLastError());
}

static __global__ void transpose_unpadded_kernel(const float* in, float* out, int rows, int columns) {
    __shared__ float tile[tile_side][tile_side];
    const int column = blockIdx.x * tile_side + threadIdx.x;
    const int row = blockIdx.y * tile_side + threadIdx.y;
    if (row < rows && column < columns) tile[threadIdx.y][threadIdx.x] = in[row * columns + column];
    __syncthreads();
    const int out_column = blockIdx.y * tile_side + threadIdx.x;
    const int out_row = blockIdx.x * tile_side + threadIdx.y;
    if (out_row < columns && out_column < rows) {
        out[out_row * rows + out_column] = tile[threadIdx.x][threadIdx.y];
    }
}

void first_kernels::peers::transpose_unpadded(const float* in, float* out, int rows, int columns,
                                              cudaStream_t stream) {
    const dim3 block(tile_side, tile_side), grid = grid_for(columns, rows, tile_side);
    transpose_unpadded_kernel<<<grid, block, 0, stream>>>(in, out, rows, columns);
    CUDA_CHECK(cudaGetLastError());
}

static __global__ void transpose_four_kernel(const float* in, float* out, int rows, int columns) {
    __shared__ float tile[tile_side][tile_side + 1];
    const int column = blockIdx.x * tile_side + threadIdx.x, top = blockIdx.y * tile_side;
    for (int y = threadIdx.y; y < tile_side; y += four_rows) {
        if (top + y < rows && column < columns) tile[y][threadIdx.x] = in[(top + y) * columns + column];
    }
    __syncthreads();
    const int out_column = top + threadIdx.x, left = blockIdx.x * tile_side;
    for (int y = threadIdx.y; y < tile_side; y += four_rows) {
        if (left + y < columns && out_column < rows)
            out[(left + y) * rows + out_column] = tile[threadIdx.x][y];
    }
}

void first_kernels::peers::transpose_four(const float* in, float* out, int rows, int columns,
                                          cudaStream_t stream) {
    const dim3 block(tile_side, four_rows), grid = grid_for(columns, rows, tile_side);
    transpose_four_kernel<<<grid, block, 0, stream>>>(in, out, rows, columns);
    CUDA_CHECK(cudaGetLastError());
}

static __constant__ Sphere constant_scene[first_kernels::sphere_count];

template <Scene where>
static __global__ void spheres_kernel(const Sphere* global_scene, uchar4* image, int width, int height) {
    constexpr bool constant = where == Scene::constant_turned, turned = where != Scene::global;
    const int column = blockIdx.x * image_side + threadIdx.x;
    const int row = blockIdx.y * image_side + threadIdx.y;
    if (column >= width || row >= height) return;
    const int x = column * first_kernels::scene_side / width;
    const int y = row * first_kernels::scene_side / height;

    int highest = first_kernels::nowhere, seen = 0;
    uchar4 colour = first_kernels::background();
    int k = turned ? (threadIdx.y * image_side + threadIdx.x) % 32 : 0;
    for (int i = 0; i < first_kernels::sphere_count; ++i) {
        const Sphere& sphere = constant ? constant_scene[k] : global_scene[k];
        const int z = first_kernels::height_of(sphere, x, y);
        if (z > highest || (turned && z == highest && z != first_kernels::nowhere && k < seen)) {
            highest = z;
            seen = k;
            colour = first_kernels::colour_of(sphere, z);
        }
        k = turned && k + 1 == first_kernels::sphere_count ? 0 : k + 1;
    }
    image[row * width + column] = colour;
}

template <Scene where>
void first_kernels::peers::spheres(uchar4* image, int width, int height, cudaStream_t stream) {
    static rungs::DeviceBuffer<Sphere> global_scene(sphere_count);
    constexpr std::size_t bytes = sphere_count * sizeof(Sphere);
    if (where == Scene::constant_turned) {
        CUDA_CHECK(cudaMemcpyToSymbolAsync(constant_scene, spheres_of_the_scene.data(), bytes, 0,
                                           cudaMemcpyHostToDevice, stream));
    } else {
        CUDA_CHECK(cudaMemcpyAsync(global_scene.data(), spheres_of_the_scene.data(), bytes,
                                   cudaMemcpyHostToDevice, stream));
    }
    const dim3 block(image_side, image_side), grid = grid_for(width, height, image_side);
    spheres_kernel<where><<<grid, block, 0, stream>>>(global_scene.data(), image, width, height);
    CUDA_CHECK(cudaGetLastError());
}

template void first_kernels::peers::spheres<Scene::global>(uchar4*, int, int, cudaStream_t);
template void first_kernels::peers::spheres<Scene::constant_turned>(uchar4*, int, int, cudaStream_t);
template void first_kernels::peers::spheres<Scene::global_turned>(uchar4*, int, int, cudaStream_t);
