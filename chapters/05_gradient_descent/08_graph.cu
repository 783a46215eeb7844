// No host in the loop. Rung 06 queues `limit` iterations, needed or not, because only the device knows when
// to stop. A graph with a conditional node puts the loop on the device, too: the body runs again while its
// last kernel says so.

#include "loop.cuh"
#include "steps.cuh"

using gradient_descent::Scalars;

// TODO 8.1 (about 66 lines, 8 of them new): the kernels of an iteration. They are those of your rung 06,
// except the last: graph_kernel also tells the conditional node whether its body has to run again. It has to
// do so in every run of the body, also in one that finds s->finished set.

void gradient_descent::graph(const float* a, const float* b, float* x, double* history, int* outcome, int n,
                             int limit, double tolerance, cudaStream_t stream) {
    const Workspace work(n, 2, stream);
    clear_history(history, limit, stream);
    Scalars* const s = work.scalars;
    float *const r = work.vectors, *const q = r + n;

    queue_start(b, x, r, s, n, stream);
    queue_record(s, history, outcome, limit, tolerance, true, stream);
    // TODO 8.2 (about 21 lines): a Graph of one conditional node, its body captured from the launches of one
    // iteration on a stream of its own, a rungs::Stream; instantiate the Graph, and launch it on `stream`.
    work.clear(stream);
}
