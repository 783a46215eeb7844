// Wrong kernels. Several of them are right by luck on most machines, most of the time.

#include "demonstrations.cuh"

#include <cuda_runtime.h>

#include <vector>

#include "rungs/cuda_check.cuh"
#include "rungs/device_buffer.cuh"

namespace {

constexpr int side = 16;  // of a block
constexpr int n = 33;     // points in a row and a column, but where said otherwise

/// A lattice of `sites` floats, all set.
rungs::DeviceBuffer<float> field(std::size_t sites) {
    std::vector<float> values(sites);
    for (std::size_t i = 0; i < sites; ++i) values[i] = static_cast<float>(i * i % 101);
    return rungs::DeviceBuffer<float>(values);
}

}  // namespace

/// A thread owns a point, and replaces it where its neighbours still want the old value.
__global__ void in_place_kernel(float* phi) {
    const int x = static_cast<int>(blockIdx.x * side + threadIdx.x),
              y = static_cast<int>(blockIdx.y * side + threadIdx.y);
    if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
    const int i = x + n * y;
    phi[i] = 0.25f * (phi[i - n] + phi[i - 1] + phi[i + 1] + phi[i + n]);
}

void jacobi::demonstrations::in_place() {
    rungs::DeviceBuffer<float> phi = field(n * n);
    in_place_kernel<<<dim3(3, 3), dim3(side, side)>>>(phi.data());
    CUDA_CHECK(cudaDeviceSynchronize());
}

/// A thread owns a point of a line, for the sake of short code, and sweeps it twice.
__global__ void two_sweeps_kernel(float* a, float* b, int sites) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const bool inner = i > 0 && i < sites - 1;
    if (inner) b[i] = 0.5f * (a[i - 1] + a[i + 1]);
    __syncthreads();  // this block has swept: its neighbours may not have begun
    if (inner) a[i] = 0.5f * (b[i - 1] + b[i + 1]);
}

void jacobi::demonstrations::two_sweeps(int blocks) {
    const int sites = 64 * blocks;
    rungs::DeviceBuffer<float> a = field(static_cast<std::size_t>(sites)),
                               b = field(static_cast<std::size_t>(sites));
    two_sweeps_kernel<<<static_cast<unsigned>(blocks), 64>>>(a.data(), b.data(), sites);
    CUDA_CHECK(cudaDeviceSynchronize());
}

/// A block owns a tile of 16 times 16 points inside a halo of one, a thread one of them.
template <bool barrier, bool halo>
__global__ void tile_kernel(const float* from, float* to) {
    __shared__ float tile[side + 2][side + 2];
    const int column = static_cast<int>(threadIdx.x) + 1, row = static_cast<int>(threadIdx.y) + 1;
    tile[row][column] = from[column + (side + 2) * row];
    if (halo) {
        if (threadIdx.x == 0) tile[row][0] = from[(side + 2) * row];
        if (threadIdx.x == side - 1) tile[row][side + 1] = from[side + 1 + (side + 2) * row];
        if (threadIdx.y == 0) tile[0][column] = from[column];
        if (threadIdx.y == side - 1) tile[side + 1][column] = from[column + (side + 2) * (side + 1)];
    }
    if (barrier) __syncthreads();
    to[column + (side + 2) * row] = 0.25f * (tile[row - 1][column] + tile[row][column - 1] +
                                             tile[row][column + 1] + tile[row + 1][column]);
}

template <bool barrier, bool halo>
static void run_tile() {
    constexpr std::size_t sites = (side + 2) * (side + 2);
    rungs::DeviceBuffer<float> from = field(sites), to = field(sites);
    tile_kernel<barrier, halo><<<1, dim3(side, side)>>>(from.data(), to.data());
    CUDA_CHECK(cudaDeviceSynchronize());
}

void jacobi::demonstrations::tile_without_barrier() { run_tile<false, true>(); }
void jacobi::demonstrations::tile_without_rim() { run_tile<true, false>(); }

/// A thread owns a point, boundary or not.
__global__ void without_guard_kernel(const float* from, float* to) {
    const int i = static_cast<int>(threadIdx.x) + side * static_cast<int>(threadIdx.y);
    to[i] = 0.25f * (from[i - side] + from[i - 1] + from[i + 1] + from[i + side]);
}

void jacobi::demonstrations::without_guard() {
    rungs::DeviceBuffer<float> from = field(side * side), to = field(side * side);
    without_guard_kernel<<<1, dim3(side, side)>>>(from.data(), to.data());
    static_cast<void>(cudaDeviceSynchronize());  // on a GPU this may fail, or not
}

/// A block leaves one number; `gridDim.x * blockDim.y` where `gridDim.x * blockIdx.y` is meant.
__global__ void one_sum_a_column_kernel(const float* phi, float* sums) {
    const unsigned block = blockIdx.x + gridDim.x * blockDim.y;
    if (threadIdx.x == 0 && threadIdx.y == 0) sums[block] = phi[blockIdx.x + gridDim.x * blockIdx.y];
}

void jacobi::demonstrations::one_sum_a_column() {
    rungs::DeviceBuffer<float> phi = field(9), sums(3 + 3 * side);
    one_sum_a_column_kernel<<<dim3(3, 3), dim3(side, side)>>>(phi.data(), sums.data());
    CUDA_CHECK(cudaDeviceSynchronize());
}
