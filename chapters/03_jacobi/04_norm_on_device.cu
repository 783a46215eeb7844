// Whoever computes a point holds its old and its new value: the norm costs no second pass. It stays on the
// device, and every sweep looks at the norm of the one before, so that the host need not wait for each.

#include "jacobi.cuh"
#include "norm.cuh"
#include "rungs/cuda_check.cuh"
#include "steps.cuh"

// TODO 4.1: the kernel, norm_on_device_kernel. Where squares[-1], the sum of squares of the sweep before, is at
// most `limit`, it does nothing. Else it is one sweep, and adds its own sum to squares[0].

void jacobi::norm_on_device(const float* start, float* phi, float* work, float* norm, int* sweeps, int nx,
                            int ny, float q, int x0, int y0, int most, float eps, cudaStream_t stream) {
    const Lattice lattice{nx, ny, q, x0, y0};
    const double limit = limit_of(eps);
    // TODO 4.2: the iteration, by iterate_on_device of steps.cuh, and in it one sweep on `stream`.
}
