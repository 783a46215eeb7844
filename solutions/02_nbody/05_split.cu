// 16384 bodies make 32 blocks of rung 04, and the GPU has 132 multiprocessors. So the other side of the
// problem is cut as well: a block adds up a part of the pulls only, and a second kernel adds up the parts.

#include <algorithm>

#include "integrator.cuh"
#include "inverse_sqrt.cuh"
#include "nbody.cuh"
#include "partial_sums.cuh"
#include "rungs/cuda_check.cuh"

static constexpr int owned = 2;  // bodies a thread

// Threads that a multiprocessor shall hold. It could hold twice as many, but these have twice the registers:
// enough for four visitors at a time.
static constexpr int resident = 1024;

static __device__ void add_pull(const float4& own, const float4& other, float softening2, float3& sum) {
    const float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
    const float squared = dz * dz + (dy * dy + (dx * dx + softening2));
    const float inverse = nbody::inverse_sqrt(squared);
    const float pull = (other.w * inverse) * (inverse * inverse);  // neither product waits for the other
    sum.x += pull * dx;
    sum.y += pull * dy;
    sum.z += pull * dz;
}

/// A thread owns `owned` bodies, block_size apart. A block adds up the pull of bodies `part` * span to
/// (`part` + 1) * span - 1 on them, where its part is blockIdx.y, and stores it in that row of n sums.
/// @tparam unrolled  bodies of the other side for one turn of the innermost loop
template <int block_size, int unrolled>
__global__ void __launch_bounds__(block_size, resident / block_size)
    split_kernel(const float4* bodies, float4* sums, int n, int span, float softening2) {
    __shared__ alignas(16) float tile[4][block_size];  // all x, then all y, all z and all masses
    const int i = static_cast<int>(blockIdx.x * owned * block_size + threadIdx.x);
    float4 own[owned];
    float3 sum[owned];
#pragma unroll
    for (int r = 0; r < owned; ++r) {
        own[r] = i + r * block_size < n ? bodies[i + r * block_size] : float4{0, 0, 0, 0};
        sum[r] = {0, 0, 0};
    }

    const int part = static_cast<int>(blockIdx.y);
    // TODO 5.1 (about 2 lines): where this block's part of the bodies begins and where it ends; the last part may be
    // shorter.
    // BEGIN SOLUTION
    //~ const int begin = 0, end = 0 * span;
    const int begin = part * span;
    const int end = min(n, begin + span);
    // END SOLUTION
    for (int first = begin; first < end; first += block_size) {
        const int j = first + static_cast<int>(threadIdx.x);
        const float4 fetched = j < end ? bodies[j] : float4{0, 0, 0, 0};
        const float of_body[4] = {fetched.x, fetched.y, fetched.z, fetched.w};
        // unchecked: a part has a second tile only with more bodies than check mode has time for
        __syncthreads();
        for (int c = 0; c < 4; ++c) tile[c][threadIdx.x] = of_body[c];
        __syncthreads();
#pragma unroll(unrolled / 4)
        for (int k = 0; k < block_size; k += 4) {
            const auto four = [&](int c) { return *reinterpret_cast<const float4*>(&tile[c][k]); };
            const float4 x = four(0), y = four(1), z = four(2), m = four(3);
            const float4 others[4] = {
                {x.x, y.x, z.x, m.x}, {x.y, y.y, z.y, m.y}, {x.z, y.z, z.z, m.z}, {x.w, y.w, z.w, m.w}};
#pragma unroll
            for (int h = 0; h < 4; ++h) {
#pragma unroll
                for (int r = 0; r < owned; ++r) add_pull(own[r], others[h], softening2, sum[r]);
            }
        }
    }
#pragma unroll
    for (int r = 0; r < owned; ++r) {
        const int body = i + r * block_size;
        if (body < n) sums[part * static_cast<std::size_t>(n) + body] = {sum[r].x, sum[r].y, sum[r].z, 0};
    }
}

template <int block_size, int unrolled>
static void launch(const float4* bodies, float4* acceleration, int n, float softening, cudaStream_t stream) {
    int device = 0, sms = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));

    const int blocks = (n - 1) / (owned * block_size) + 1;
    const int tiles = (n - 1) / block_size + 1;
    const int at_once = resident / block_size * sms;  // blocks that the GPU holds
    int part_tiles = tiles, rows = 1;
    // TODO 5.2 (about 3 lines): into how many parts? Many enough that the grid has 64 times as many blocks as the GPU
    // holds: when the last ones run, few others have gone. A part is at least one tile. `part_tiles` tiles
    // make a part, and `rows` parts make a whole: round up, twice.
    // BEGIN SOLUTION
    const int wanted = std::clamp(64 * at_once / blocks, 1, tiles);
    part_tiles = (tiles - 1) / wanted + 1;
    rows = (tiles - 1) / part_tiles + 1;
    // END SOLUTION

    float4* const sums = nbody::make_packed_sums(rows, n, stream);
    const dim3 grid(static_cast<unsigned>(blocks), static_cast<unsigned>(rows));
    split_kernel<block_size, unrolled>
        <<<grid, block_size, 0, stream>>>(bodies, sums, n, part_tiles * block_size, softening * softening);
    CUDA_CHECK(cudaGetLastError());
    nbody::add_rows(sums, acceleration, n, rows, stream);
}

void nbody::split(const float4* bodies, float4* acceleration, int n, float softening, cudaStream_t stream) {
    if (n <= 0) return;
    // Large tiles need fewer barriers and jumps; small ones make more blocks.
    if (n >= 65536) {
        // unchecked: check mode has no time for so many bodies
        launch<512, 64>(bodies, acceleration, n, softening, stream);
    } else {
        launch<256, 16>(bodies, acceleration, n, softening, stream);
    }
}

void nbody::split(const float4* bodies, const float4* velocity, float4* bodies_after, float4* velocity_after,
                  float4* acceleration, int n, int steps, float dt, float softening, cudaStream_t stream) {
    leapfrog(split, bodies, velocity, bodies_after, velocity_after, acceleration, n, steps, dt, softening,
             stream);
}
