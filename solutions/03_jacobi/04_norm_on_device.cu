// Whoever computes a point holds its old and its new value: the norm costs no second pass. It stays on the
// device, and every sweep looks at the norm of the one before, so that the host need not wait for each.

#include "jacobi.cuh"
#include "norm.cuh"
#include "rungs/cuda_check.cuh"
#include "steps.cuh"

// TODO 4.1: the kernel, norm_on_device_kernel. Where squares[-1], the sum of squares of the sweep before, is at
// most `limit`, it does nothing. Else it is one sweep, and adds its own sum to squares[0].
// BEGIN SOLUTION
static constexpr int width = 32, height = 8;  // of a block

/// A block owns 32 times 8 points, a thread one of them.
static __global__ void norm_on_device_kernel(const float* from, float* to, jacobi::Lattice lattice,
                                             double* squares, double limit) {
    if (squares[-1] <= limit) return;  // the sweep before was the last one
    const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);

    float update = 0;
    if (lattice.contains(x, y)) {
        const std::size_t i = lattice.at(x, y), row = lattice.pitch();
        const float old = from[i];
        float now = old;
        if (!lattice.fixed(x, y)) {
            const float sum = from[i - row] + from[i - 1] + from[i + 1] + from[i + row];
            now = 0.25f * (sum - lattice.charge(x, y));
            update = now - old;
        }
        to[i] = now;
    }
    jacobi::add_block_sum<width * height>(update * update, squares);
}
// END SOLUTION

void jacobi::norm_on_device(const float* start, float* phi, float* work, float* norm, int* sweeps, int nx,
                            int ny, float q, int x0, int y0, int most, float eps, cudaStream_t stream) {
    const Lattice lattice{nx, ny, q, x0, y0};
    const double limit = limit_of(eps);
    // TODO 4.2: the iteration, by iterate_on_device of steps.cuh, and in it one sweep on `stream`.
    // BEGIN SOLUTION
    const dim3 grid(static_cast<unsigned>((nx + width - 1) / width),
                    static_cast<unsigned>((ny + height - 1) / height));
    iterate_on_device(start, phi, work, norm, sweeps, lattice, most, eps, stream,
                      [&](const float* from, float* to, double* squares) {
                          norm_on_device_kernel<<<grid, dim3(width, height), 0, stream>>>(from, to, lattice,
                                                                                          squares, limit);
                          CUDA_CHECK(cudaGetLastError());
                      });
    // END SOLUTION
}
