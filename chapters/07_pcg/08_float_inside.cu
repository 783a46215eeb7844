// Float does the work, double the correction: b - A x in double, divided by its norm, is what conjugate
// gradients in float solve for, roughly; what they find is added to x in double; and again.

#include "grid_sums.cuh"
#include "solver.cuh"

using namespace pcg;

static constexpr int block_size = 256;
static constexpr double gain = 1e-3;  ///< by which r has to fall before double looks at x again

/// Iterations to a correction, where float does not get as far as it should.
static __device__ int most_inner(int side) { return 50 + 8 * min(side, 1 << 16); }

// TODO 8.1: the kernel, float_inside_kernel, for a cooperative grid. b and x are double; the r, p, w and e of
// conjugate gradients for A e = (b - A x) / norm are float. A correction ends when r has fallen by `gain`,
// after most_inner(side) iterations, or where p.Ap is not positive. What p is more than r stays: the next
// correction begins with p = r + (p - r) * (norm before / norm now), in the first one it is r. `limit` and
// `history` count corrections.

void pcg::float_inside(const double* b, double* x, double* history, int* outcome, int dimensions, int side,
                       int limit, double tolerance, cudaStream_t stream) {
    with_dimensions(dimensions, side, [&](auto known) {
        constexpr int d = decltype(known)::value;
        const long long n = points(d, side);
        clear_history(history, limit, stream);
        // TODO 8.2: memory for the sums and for four vectors of floats, and the cooperative launch.
    });
}
