// One product per iteration. x moves by alpha r, so b - A x moves by -alpha A r, and A r is there already.
// Float by float the two drift apart; so r is computed from x now and then, and always before it is believed.

#include "steps.cuh"

using gradient_descent::Scalars;

// TODO 6.1 (about 34 lines): product and step. The product is that of rung 05. The step carries r along
// instead of computing it from x: recurrence_kernel.

// TODO 6.2 (about 16 lines): r = b - A x, its r.r in s->renewed, in the iterations that need it: those whose
// number s->k is a multiple of renew_every, and the one whose carried r.r, s->next, would end the solve.

/// One thread: ends the iteration.
static __global__ void end_kernel(Scalars* s, double* history, int* outcome, int limit, double tolerance) {
    // TODO 6.3 (about 5 lines): finish() after a breakdown, else record() the r.r that is to be believed.
}

void gradient_descent::recurrence(const float* a, const float* b, float* x, double* history, int* outcome,
                                  int n, int limit, double tolerance, cudaStream_t stream) {
    const Workspace work(n, 2, stream);
    clear_history(history, limit, stream);
    Scalars* const s = work.scalars;
    float *const r = work.vectors, *const q = r + n;

    queue_start(b, x, r, s, n, stream);
    queue_record(s, history, outcome, limit, tolerance, true, stream);
    // TODO 6.4 (about 12 lines): the iterations.
    work.clear(stream);
}
