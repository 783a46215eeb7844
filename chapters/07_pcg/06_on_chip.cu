// Rung 05 with what it can keep on the chip: a block owns a stretch of points in a row, and has their x, r
// and A p in shared memory from the first iteration to the last. Only p, which others have to
// see, goes through memory.

#include "grid_sums.cuh"
#include "rungs/shared_memory.cuh"
#include "solver.cuh"

using namespace pcg;

// TODO 6.1: the kernel, on_chip_kernel. The dynamic shared memory of a block holds x, r and w = A p of its
// points; p is in global memory. If a block's points do not fit, the launcher gives the same three vectors
// in global memory, `spilled`.

template <class T>
static void launch(const T* b, T* x, double* history, int* outcome, int dimensions, int side, int limit,
                   double tolerance, cudaStream_t stream) {
    with_dimensions(dimensions, side, [&](auto known) {
        constexpr int d = decltype(known)::value;
        const long long n = points(d, side);
        clear_history(history, limit, stream);
        // TODO 6.2: a block for each multiprocessor, but no more than there are points for; how many points each
        // has; whether they fit: of cudaDevAttrMaxSharedMemoryPerBlockOptin the sums over a block take up to
        // 2 KiB; memory for p, for the sums, for what does not fit;
        // rungs::allow_shared_memory; the cooperative launch.
    });
}

void pcg::on_chip(const float* b, float* x, double* history, int* outcome, int d, int side, int limit,
                  double tolerance, cudaStream_t stream) {
    launch(b, x, history, outcome, d, side, limit, tolerance, stream);
}

void pcg::on_chip(const double* b, double* x, double* history, int* outcome, int d, int side, int limit,
                  double tolerance, cudaStream_t stream) {
    launch(b, x, history, outcome, d, side, limit, tolerance, stream);
}
