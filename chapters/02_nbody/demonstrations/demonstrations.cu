// Wrong kernels. The first is how a well-known listing makes a leapfrog step; it is often right by luck.

#include "demonstrations.cuh"

#include <cuda_runtime.h>

#include "rungs/device_buffer.cuh"

namespace {

constexpr int block_size = 64;
constexpr float softening2 = 0.01f;

__device__ void add_pull(const float4& own, const float4& other, float3& sum) {
    const float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
    const float squared = dx * dx + dy * dy + dz * dz + softening2;
    const float inverse = rsqrtf(squared);
    const float pull = other.w * inverse * inverse * inverse;
    sum.x += pull * dx;
    sum.y += pull * dy;
    sum.z += pull * dz;
}

__device__ float3 pull_of_all(const float4* bodies, const float4& own, int n) {
    float3 sum{0, 0, 0};
    for (int j = 0; j < n; ++j) add_pull(own, bodies[j], sum);
    return sum;
}

/// Bodies, velocities and accelerations of n bodies, all set.
struct Bodies {
    explicit Bodies(int n) : count(n), x(size(n)), v(size(n)), a(size(n)) {
        std::vector<float> places(size(n));
        for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<float>(i * i % 101) / 10;
        x.copy_from(places);
        v.zero();
        a.zero();
    }
    static std::size_t size(int n) { return 4 * static_cast<std::size_t>(n); }
    float4* bodies() { return reinterpret_cast<float4*>(x.data()); }
    float4* velocity() { return reinterpret_cast<float4*>(v.data()); }
    float4* acceleration() { return reinterpret_cast<float4*>(a.data()); }

    int count;
    rungs::DeviceBuffer<float> x, v, a;  // check mode's float4 is no plain data
};

}  // namespace

/// A thread owns body i and makes its whole step: half a kick, the drift, the new force, half a kick.
__global__ void one_kernel(float4* bodies, float4* velocity, float4* acceleration, int n, float dt) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    float4 v = velocity[i], x = bodies[i];
    v.x += dt / 2 * acceleration[i].x;
    x.x += dt * v.x;
    // [one_kernel]
    bodies[i] = x;
    __syncthreads();  // this block has moved: the others may not have begun, or may be done

    const float3 a = pull_of_all(bodies, x, n);
    // [one_kernel]
    acceleration[i] = {a.x, a.y, a.z, 0};
    v.x += dt / 2 * a.x;
    velocity[i] = v;
}

__global__ void kick_and_drift(float4* bodies, float4* velocity, const float4* acceleration, float dt) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    velocity[i].x += dt / 2 * acceleration[i].x;
    bodies[i].x += dt * velocity[i].x;
}

__global__ void force_and_kick(const float4* bodies, float4* velocity, float4* acceleration, int n,
                               float dt) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const float3 a = pull_of_all(bodies, bodies[i], n);
    acceleration[i] = {a.x, a.y, a.z, 0};
    velocity[i].x += dt / 2 * a.x;
}

/// Rung 02 with one thing wrong.
enum class Tiled { no_first_barrier, no_second_barrier, no_guard, early_return };

template <Tiled fault>
__global__ void faulty_tiled(const float4* bodies, float4* acceleration, int n) {
    __shared__ float4 tile[block_size];
    const int i = static_cast<int>(blockIdx.x * block_size + threadIdx.x);
    if (fault == Tiled::early_return && i >= n) return;
    const float4 own = i < n ? bodies[i] : float4{0, 0, 0, 0};
    float3 sum{0, 0, 0};
    for (int first = 0; first < n; first += block_size) {
        const int j = first + static_cast<int>(threadIdx.x);
        if (fault != Tiled::no_first_barrier) __syncthreads();
        tile[threadIdx.x] = j < n || fault == Tiled::no_guard ? bodies[j] : float4{0, 0, 0, 0};
        if (fault != Tiled::no_second_barrier) __syncthreads();
        for (int k = 0; k < block_size; ++k) add_pull(own, tile[k], sum);
    }
    if (i < n) acceleration[i] = {sum.x, sum.y, sum.z, 0};
}

/// The heart of rung 08, one body a thread, with one thing wrong.
enum class Symmetric { no_warp_barrier, no_turns };

template <Symmetric fault>
__global__ void faulty_symmetric(const float4* bodies, float4* acceleration) {
    __shared__ float4 visitors[block_size / 32][64];
    __shared__ float back_x[block_size];
    const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
    const float4 own = bodies[threadIdx.x];
    float3 sum{0, 0, 0};
    back_x[threadIdx.x] = 0;
    __syncthreads();
    for (int turn = 0; turn < block_size / 32; ++turn) {
        const int at = (turn + warp) % (block_size / 32) * 32 + lane;
        if (fault != Symmetric::no_warp_barrier) __syncwarp();
        visitors[warp][lane] = visitors[warp][lane + 32] = bodies[at];
        if (fault != Symmetric::no_warp_barrier) __syncwarp();
        float3 back{0, 0, 0};
        for (int k = 0; k < 32; ++k) {
            add_pull(own, visitors[warp][lane + k], sum);
            back.x += sum.x;
        }
        if (fault != Symmetric::no_turns) __syncthreads();
        back_x[at] += back.x;
    }
    __syncthreads();
    acceleration[threadIdx.x] = {sum.x, back_x[threadIdx.x], 0, 0};
}

/// The last kernel of rung 07, with a row too many.
__global__ void faulty_rows(const float* rows, float4* acceleration, int n, int count) {
    const int i = static_cast<int>(threadIdx.x);
    float sum = 0;
    for (int row = 0; row <= count; ++row) sum += rows[row * n + i];
    acceleration[i] = {sum, 0, 0, 0};
}

namespace {

template <Tiled fault>
void run_tiled(int n) {
    Bodies b(n);
    const int blocks = (n + block_size - 1) / block_size;
    faulty_tiled<fault><<<blocks, block_size>>>(b.bodies(), b.acceleration(), n);
    CUDA_CHECK(cudaGetLastError());
}

template <Symmetric fault>
void run_symmetric() {
    Bodies b(block_size);
    faulty_symmetric<fault><<<1, block_size>>>(b.bodies(), b.acceleration());
    CUDA_CHECK(cudaGetLastError());
}

}  // namespace

namespace nbody::demonstrations {

void one_kernel(int blocks) {
    Bodies b(blocks * block_size);
    ::one_kernel<<<blocks, block_size>>>(b.bodies(), b.velocity(), b.acceleration(), b.count, 0.01f);
    CUDA_CHECK(cudaGetLastError());
}

void own_kernels(int blocks) {
    Bodies b(blocks * block_size);
    kick_and_drift<<<blocks, block_size>>>(b.bodies(), b.velocity(), b.acceleration(), 0.01f);
    force_and_kick<<<blocks, block_size>>>(b.bodies(), b.velocity(), b.acceleration(), b.count, 0.01f);
    CUDA_CHECK(cudaGetLastError());
}

void tiled_without_first_barrier() { run_tiled<Tiled::no_first_barrier>(2 * block_size); }
void tiled_without_second_barrier() { run_tiled<Tiled::no_second_barrier>(2 * block_size); }
void tiled_without_guard() { run_tiled<Tiled::no_guard>(block_size + 1); }
void tiled_with_early_return() { run_tiled<Tiled::early_return>(block_size + 1); }
void symmetric_without_warp_barrier() { run_symmetric<Symmetric::no_warp_barrier>(); }
void symmetric_without_turns() { run_symmetric<Symmetric::no_turns>(); }

void split_with_one_row_more() {
    Bodies b(block_size);
    rungs::DeviceBuffer<float> rows(3 * block_size);
    rows.zero();
    faulty_rows<<<1, block_size>>>(rows.data(), b.acceleration(), block_size, 3);
    CUDA_CHECK(cudaGetLastError());
}

}  // namespace nbody::demonstrations
