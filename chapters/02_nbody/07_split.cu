// 16384 bodies make 32 blocks of rung 05, and the GPU has 132 multiprocessors. So the other side of the
// problem is cut as well: a block adds up a part of the pulls only, and a second kernel adds up the parts.

#include <algorithm>

#include "integrator.cuh"
#include "inverse_sqrt.cuh"
#include "nbody.cuh"
#include "partial_sums.cuh"
#include "rungs/cuda_check.cuh"

static constexpr int enough_blocks = 1024;  // in all, about what a large GPU holds at once

// TODO 7.1: the kernel, split_kernel: as in rung 05, for one part of the bodies that pull. Row p of `sums`
// has n sums, those of part p.

void nbody::split(const float4* bodies, float4* acceleration, int n, float softening, cudaStream_t stream) {
    // TODO 7.2: into how many parts? About as many as it takes for enough_blocks in all. A part is a whole
    // number of tiles, two at least where there are two, and none is empty. Then room for the rows, the
    // launch, and the sum of the rows: nbody::make_packed_sums and nbody::add_rows. The same call gives the
    // same bits in every run.
}

void nbody::split(const float4* bodies, const float4* velocity, float4* bodies_after, float4* velocity_after,
                  float4* acceleration, int n, int steps, float dt, float softening, cudaStream_t stream) {
    leapfrog(split, bodies, velocity, bodies_after, velocity_after, acceleration, n, steps, dt, softening,
             stream);
}
