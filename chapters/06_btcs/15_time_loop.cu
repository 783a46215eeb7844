// Many time steps for one pass over the memory. With constant r the elimination has no coefficients to read:
// the matrix of a rod without ends is the product of two recurrences,
//
//     z_i = c rhs_i + lambda z_{i-1}   and then   w_i = z_i + lambda w_{i+1},
//
// and what is d rows away counts with lambda^d. A block keeps a tile of the rod in registers and takes many
// steps with it; so long as the tile overlaps its neighbours by enough rows, it need not know what happens
// there. Where "enough" is too many, the tiles tell each other what runs into them, in two passes a step and
// for any lambda.

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "btcs.cuh"
#include "rows.cuh"
#include "rungs/cuda_check.cuh"
#include "rungs/scratch.cuh"

// TODO 15.1: the kernels, among them time_loop_kernel. The design is yours.

void btcs::time_loop(const float* start, const float* left, const float* right, float* u, float* work,
                     long long n, int steps, double r, double theta, cudaStream_t stream) {
    // TODO 15.2: the launches, for any n, any r and any theta.
}
