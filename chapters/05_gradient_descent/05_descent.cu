// Descent as the textbook has it: the step length from two dot products, then b - A x computed again. The
// host queues kernels and never asks for a number: alpha is computed where it is used.

#include "steps.cuh"

using gradient_descent::Scalars;

// TODO 5.1 (about 15 lines): q = A r, and r.Ar, in one kernel: descent_kernel.

// TODO 5.2 (about 6 lines): the step. Without a positive r.Ar there is none.

// TODO 5.3 (about 11 lines): r = b - A x, and its r.r in s->next.

void gradient_descent::descent(const float* a, const float* b, float* x, double* history, int* outcome, int n,
                               int limit, double tolerance, cudaStream_t stream) {
    const Workspace work(n, 2, stream);
    clear_history(history, limit, stream);
    Scalars* const s = work.scalars;
    float *const r = work.vectors, *const q = r + n;

    queue_start(b, x, r, s, n, stream);
    queue_record(s, history, outcome, limit, tolerance, true, stream);
    // TODO 5.4 (about 11 lines): the iterations.
    work.clear(stream);
}
