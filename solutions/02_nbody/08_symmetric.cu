// What i does to j, j does to i, the other way round: each pair is computed once, for both of its bodies, and
// still no two threads add to one sum at the same time.

#include "integrator.cuh"
#include "inverse_sqrt.cuh"
#include "nbody.cuh"
#include "partial_sums.cuh"
#include "rungs/cuda_check.cuh"

// TODO 8.1: kernel and launch. The design is yours. What several blocks leave for one body can go to
// rows: nbody::make_partial_sums and nbody::add_rows. The same call gives the same bits in every run.
// BEGIN SOLUTION
static constexpr int block_size = 128;
static constexpr int warps = block_size / 32;
static constexpr unsigned all_lanes = 0xffffffffu;

/// Adds the pull of `other` on `own` to `sum`, and the pull of `own` on `other` to `back`.
static __device__ void add_pair(const float4& own, const float4& other, float softening2, float3& sum,
                                float3& back) {
    const float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
    const float squared = dz * dz + (dy * dy + (dx * dx + softening2));
    const float inverse = nbody::inverse_sqrt(squared);
    const float inverse3 = inverse * inverse * inverse;
    const float pull = other.w * inverse3, push = -own.w * inverse3;
    sum.x += pull * dx;
    sum.y += pull * dy;
    sum.z += pull * dz;
    back.x += push * dx;
    back.y += push * dy;
    back.z += push * dz;
}

/// The value that the next lane holds; lane 31 gets that of lane 0.
static __device__ float from_next_lane(float value) {
    return __shfl_sync(all_lanes, value, static_cast<int>((threadIdx.x + 1) % 32));
}

/// The bodies form strips of `tile`, and a block lets two strips meet, as in a tournament: every strip meets
/// every other once. A thread owns `owned` bodies of strip blockIdx.x, block_size apart. The strip blockIdx.y
/// further on visits: each warp takes 32 of its bodies at a time. Row s of `parts` holds what strip s did to
/// a body, so every element of it has exactly one block that stores it.
template <int owned>
__global__ void __launch_bounds__(block_size, owned == 8 ? 5 : 1)
    symmetric_kernel(const float4* bodies, nbody::PartialSums parts, float softening2) {
    constexpr int tile = owned * block_size;
    constexpr int groups = tile / 32;
    __shared__ float4 visitors[warps][64];  // a warp's 32 visitors, twice over
    __shared__ float back_x[tile], back_y[tile], back_z[tile];
    const int n = parts.n;
    const int strips = static_cast<int>(gridDim.x), away = static_cast<int>(blockIdx.y);
    const int home = static_cast<int>(blockIdx.x);
    // With an even number of strips, those half a round away would meet twice: once from either side.
    if (2 * away == strips && home >= away) return;
    const int guest = (home + away) % strips;
    const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);

    float4 own[owned];
    float3 sum[owned];
#pragma unroll
    for (int r = 0; r < owned; ++r) {
        const int at = r * block_size + static_cast<int>(threadIdx.x);
        const int i = home * tile + at;
        own[r] = i < n ? bodies[i] : float4{0, 0, 0, 0};
        sum[r] = {0, 0, 0};
        back_x[at] = back_y[at] = back_z[at] = 0;
    }

    for (int turn = 0; turn < groups; ++turn) {
        const int at = (turn + warp) % groups * 32 + lane;  // another group for each warp
        const int j = guest * tile + at;
        const float4 visitor = j < n ? bodies[j] : float4{0, 0, 0, 0};
        float3 back{0, 0, 0};
        visitors[warp][lane] = visitors[warp][lane + 32] = visitor;
        __syncwarp();
#pragma unroll 2
        for (int k = 0; k < 32; ++k) {
            const float4 other = visitors[warp][lane + k];
#pragma unroll
            for (int r = 0; r < owned; ++r) add_pair(own[r], other, softening2, sum[r], back);
            back.x = from_next_lane(back.x);
            back.y = from_next_lane(back.y);
            back.z = from_next_lane(back.z);
        }

        __syncthreads();  // the turn before has ended for all warps
        back_x[at] += back.x;
        back_y[at] += back.y;
        back_z[at] += back.z;
    }
    __syncthreads();

#pragma unroll
    for (int r = 0; r < owned; ++r) {
        const int at = r * block_size + static_cast<int>(threadIdx.x);
        if (home * tile + at < n) parts.store(guest, home * tile + at, sum[r]);
        // A strip that meets itself has both sides of each pair in `sum`.
        if (guest != home && guest * tile + at < n) {
            parts.store(home, guest * tile + at, {back_x[at], back_y[at], back_z[at]});
        }
    }
}

template <int owned>
static void launch(const float4* bodies, float4* acceleration, int n, float softening, cudaStream_t stream) {
    const int strips = (n - 1) / (owned * block_size) + 1;
    const nbody::PartialSums parts = nbody::make_partial_sums(strips, n, stream);
    const dim3 grid(static_cast<unsigned>(strips), static_cast<unsigned>(strips / 2 + 1));
    symmetric_kernel<owned><<<grid, block_size, 0, stream>>>(bodies, parts, softening * softening);
    CUDA_CHECK(cudaGetLastError());
    nbody::add_rows(parts, acceleration, strips, stream);
}
// END SOLUTION

void nbody::symmetric(const float4* bodies, float4* acceleration, int n, float softening,
                      cudaStream_t stream) {
    // TODO 8.2: the acceleration of all bodies.
    // BEGIN SOLUTION
    if (n <= 0) return;
    int device = 0, sms = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
    const auto meetings = [n](int owned) {
        const long long strips = (n - 1) / (owned * block_size) + 1;
        return strips * (strips + 1) / 2;
    };
    // Long strips make few rows and few loads; but the strips' meetings are the blocks, and there must be
    // enough for every multiprocessor.
    const auto launch_strips = meetings(8) >= 8 * sms   ? launch<8>
                               : meetings(4) >= 2 * sms ? launch<4>
                               : meetings(2) >= 2 * sms ? launch<2>
                                                        : launch<1>;
    launch_strips(bodies, acceleration, n, softening, stream);
    // END SOLUTION
}

void nbody::symmetric(const float4* bodies, const float4* velocity, float4* bodies_after,
                      float4* velocity_after, float4* acceleration, int n, int steps, float dt,
                      float softening, cudaStream_t stream) {
    leapfrog(symmetric, bodies, velocity, bodies_after, velocity_after, acceleration, n, steps, dt, softening,
             stream);
}
