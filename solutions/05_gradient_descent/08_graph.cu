// No host in the loop. Rung 06 queues `limit` iterations, needed or not, because only the device knows when
// to stop. A graph with a conditional node puts the loop on the device, too: the body runs again while its
// last kernel says so.

#include "loop.cuh"
#include "steps.cuh"

using gradient_descent::Scalars;

// TODO 8.1 (about 66 lines, 8 of them new): the kernels of an iteration. They are those of your rung 06,
// except the last: graph_kernel also tells the conditional node whether its body has to run again. It has to
// do so in every run of the body, also in one that finds s->finished set.
// BEGIN SOLUTION
static constexpr int block_size = 256;
static constexpr int rows_of_block = block_size / 32;

/// Row i of A times v, by one warp, in all lanes.
static __device__ float row_product(const float* a, const float* v, int i, int n) {
    const float* const row = a + std::size_t(i) * n;
    float sum = 0;
    for (int j = threadIdx.x % 32; j < n; j += 32) sum += row[j] * v[j];
    return gradient_descent::warp_sum(sum);
}

/// A warp owns one row: q_i = (A r)_i, and its term of r.Ar.
static __global__ void product_kernel(const float* a, const float* r, float* q, Scalars* s, int n) {
    if (s->finished) return;
    const int i = blockIdx.x * rows_of_block + threadIdx.x / 32;
    double term = 0;
    if (i < n) {
        const float product = row_product(a, r, i, n);
        if (threadIdx.x % 32 == 0) q[i] = product, term = double(r[i]) * product;
    }
    gradient_descent::add_block_sum(term, &s->rAr);
}

/// A thread owns one element: x += alpha r, r -= alpha q, and r.r of the new r.
static __global__ void step_kernel(const float* q, float* x, float* r, Scalars* s, int n) {
    if (s->finished || !(s->rAr > 0)) return;
    const int i = blockIdx.x * block_size + threadIdx.x;
    double square = 0;
    if (i < n) {
        const float alpha = static_cast<float>(s->rr / s->rAr);
        const float old = r[i];
        x[i] += alpha * old;
        r[i] = old - alpha * q[i];
        square = double(r[i]) * r[i];
    }
    gradient_descent::add_block_sum(square, &s->next);
}

/// Whether the residual of this iteration has to be b - A x itself.
static __device__ bool renews(const Scalars* s, double tolerance) {
    return s->k % gradient_descent::renew_every == 0 || s->next <= tolerance * tolerance * s->bb;
}

/// A warp owns one row: r_i = b_i - (A x)_i, and r.r; in the iterations that renew.
static __global__ void renew_kernel(const float* a, const float* b, const float* x, float* r, Scalars* s,
                                    int n, double tolerance) {
    if (s->finished || !(s->rAr > 0) || !renews(s, tolerance)) return;
    const int i = blockIdx.x * rows_of_block + threadIdx.x / 32;
    double square = 0;
    if (i < n) {
        const float own = b[i] - row_product(a, x, i, n);
        if (threadIdx.x % 32 == 0) r[i] = own, square = double(own) * own;
    }
    gradient_descent::add_block_sum(square, &s->renewed);
}

/// One thread: ends the iteration, and says whether there is another one.
__global__ void graph_kernel(Scalars* s, double* history, int* outcome, int limit, double tolerance,
                             cudaGraphConditionalHandle again) {
    using namespace gradient_descent;
    if (!s->finished && !(s->rAr > 0)) {
        finish(s, outcome, breakdown, s->k - 1);
    } else if (!s->finished) {
        record(s, renews(s, tolerance) ? s->renewed : s->next, history, outcome, limit, tolerance);
    }
    cudaGraphSetConditional(again, s->finished ? 0 : 1);
}
// END SOLUTION

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
    // BEGIN SOLUTION
    const int elements = n > 0 ? (n + block_size - 1) / block_size : 1;
    const int rows = n > 0 ? (n + rows_of_block - 1) / rows_of_block : 1;
    Graph loop;
    cudaGraphConditionalHandle again;  // its value is 1 whenever the graph is launched
    CUDA_CHECK(cudaGraphConditionalHandleCreate(&again, loop.graph, 1, cudaGraphCondAssignDefault));
    cudaGraph_t body = loop.add_conditional(cudaGraphCondTypeWhile, again);

    const rungs::Stream recorder;  // what is launched here becomes nodes of the body, one after the other
    CUDA_CHECK(cudaStreamBeginCaptureToGraph(recorder.get(), body, nullptr, nullptr, 0,
                                             cudaStreamCaptureModeThreadLocal));
    product_kernel<<<rows, block_size, 0, recorder.get()>>>(a, r, q, s, n);
    CUDA_CHECK(cudaGetLastError());
    step_kernel<<<elements, block_size, 0, recorder.get()>>>(q, x, r, s, n);
    CUDA_CHECK(cudaGetLastError());
    renew_kernel<<<rows, block_size, 0, recorder.get()>>>(a, b, x, r, s, n, tolerance);
    CUDA_CHECK(cudaGetLastError());
    graph_kernel<<<1, 1, 0, recorder.get()>>>(s, history, outcome, limit, tolerance, again);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaStreamEndCapture(recorder.get(), &body));

    CUDA_CHECK(cudaGraphInstantiate(&loop.executable, loop.graph, 0));
    CUDA_CHECK(cudaGraphLaunch(loop.executable, stream));
    // END SOLUTION
    work.clear(stream);
}
