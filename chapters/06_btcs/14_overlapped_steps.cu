// Several explicit steps for one pass over memory: a block reads a tile with a halo, takes the steps in
// shared memory, and writes what the missing neighbours cannot have reached.

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "btcs.cuh"
#include "rungs/cuda_check.cuh"

// TODO 14.1: the kernel, overlapped_steps_kernel: `count` steps of FTCS, from step `step` on. left[s] and
// right[s] are the values beyond the ends before step s.

void btcs::overlapped_steps(const float* start, const float* left, const float* right, float* u, float* work,
                            long long n, int steps, double r, double theta, cudaStream_t stream) {
    if (!(r >= 0 && std::isfinite(r)) || theta != 0) {
        throw std::invalid_argument("an explicit step takes a finite r >= 0, and theta = 0");
    }
    // TODO 14.2: the launches, several steps each. The values after the last step have to be in u; `work` is
    // a second array.
}
