// Conjugate gradients as in the textbook: a kernel for each line of the algorithm. Scalars stay on
// the device; the host queues all iterations, and what comes after the last one that was
// needed returns at once.

#include "textbook.cuh"

using namespace pcg;

// TODO 4.1: the kernels of an iteration: product_kernel, w = A p and the sum p.Ap; cg_kernel, the step of x and
// r and the sum of the new r.r; direction_kernel, the next p. A kernel has nothing to do once the solve is
// finished, and no step is made where p.Ap is not in range.

template <class T>
static void launch(const T* b, T* x, double* history, int* outcome, int dimensions, int side, int limit,
                   double tolerance, cudaStream_t stream) {
    with_dimensions(dimensions, side, [=](auto known) {
        constexpr int d = decltype(known)::value;
        const long long n = points(d, side);
        const TextbookWork<T> work(n, stream);
        textbook_start(b, x, history, outcome, work, n, limit, tolerance, stream);

        // TODO 4.2: `limit` iterations, each your kernels and textbook.cuh's renew_kernel<T, d> and
        // record_kernel, in the order in which one needs what another leaves. Check the launches.
    });
}

void pcg::cg(const float* b, float* x, double* history, int* outcome, int d, int side, int limit,
             double tolerance, cudaStream_t stream) {
    launch(b, x, history, outcome, d, side, limit, tolerance, stream);
}

void pcg::cg(const double* b, double* x, double* history, int* outcome, int d, int side, int limit,
             double tolerance, cudaStream_t stream) {
    launch(b, x, history, outcome, d, side, limit, tolerance, stream);
}
