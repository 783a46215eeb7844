// No host in the loop. Rung 04 queues `limit` iterations, needed or not, because only the device knows when
// to stop. A graph with a conditional node puts the loop on the device, too: the body runs again while its
// last kernel says so.

#include "solver.cuh"

using gradient_descent::Scalars;

static constexpr int block_size = 256;
static constexpr int rows_of_block = block_size / 32;

/// x = 0, r = b, and r.r.
static __global__ void start_kernel(const float* b, float* x, float* r, Scalars* s, int n) {
    const int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) x[i] = 0, r[i] = b[i];
    const float own = i < n ? b[i] : 0;
    gradient_descent::add_block_sum(double(own) * own, &s->next);
}

/// A warp owns one row: q_i = (A r)_i, and its term of r.Ar.
static __global__ void product_kernel(const float* a, const float* r, float* q, Scalars* s, int n) {
    if (s->finished) return;  // the first residual was small enough
    const int i = blockIdx.x * rows_of_block + threadIdx.x / 32;
    double term = 0;
    if (i < n) {
        const float product = gradient_descent::row_product(a, r, i, n);
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
        const float own = b[i] - gradient_descent::row_product(a, x, i, n);
        if (threadIdx.x % 32 == 0) r[i] = own, square = double(own) * own;
    }
    gradient_descent::add_block_sum(square, &s->renewed);
}

/// One thread: records the first residual.
static __global__ void first_kernel(Scalars* s, double* history, int* outcome, int limit, double tolerance) {
    gradient_descent::record(s, s->next, history, outcome, limit, tolerance);
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
    // TODO 5.1 (1 line): tell the conditional node whether its body has to run again.
    // BEGIN SOLUTION
    //~ cudaGraphSetConditional(again, 0);
    cudaGraphSetConditional(again, s->finished ? 0 : 1);
    // END SOLUTION
}

/// A graph, and what can be launched of it.
struct Loop {
    cudaGraph_t graph = nullptr, body = nullptr;  ///< the body belongs to the graph
    cudaGraphConditionalHandle again;
    cudaGraphExec_t executable = nullptr;

    /// A graph of one node: its body is to be repeated while `again` is not 0. At a launch it is 1.
    Loop() {
        CUDA_CHECK(cudaGraphCreate(&graph, 0));
        CUDA_CHECK(cudaGraphConditionalHandleCreate(&again, graph, 1, cudaGraphCondAssignDefault));
        cudaGraphNodeParams node{};
        node.type = cudaGraphNodeTypeConditional;
        node.conditional.handle = again;
        node.conditional.size = 1;
        // TODO 5.2 (1 line): of which type is a conditional node that repeats its body? This one runs it once.
        // BEGIN SOLUTION
        //~ node.conditional.type = cudaGraphCondTypeIf;
        node.conditional.type = cudaGraphCondTypeWhile;
        // END SOLUTION
        cudaGraphNode_t added = nullptr;
#if CUDART_VERSION >= 13000
        CUDA_CHECK(cudaGraphAddNode(&added, graph, nullptr, nullptr, 0, &node));
#else
        CUDA_CHECK(cudaGraphAddNode(&added, graph, nullptr, 0, &node));
#endif
        body = node.conditional.phGraph_out[0];
    }
    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;
    ~Loop() {
        if (executable) static_cast<void>(cudaGraphExecDestroy(executable));
        static_cast<void>(cudaGraphDestroy(graph));
    }
};

void gradient_descent::graph(const float* a, const float* b, float* x, double* history, int* outcome, int n,
                             int limit, double tolerance, cudaStream_t stream) {
    const int elements = n > 0 ? (n + block_size - 1) / block_size : 1;
    const int rows = n > 0 ? (n + rows_of_block - 1) / rows_of_block : 1;
    const Workspace work(n, 2, stream);
    clear_history(history, limit, stream);
    Scalars* const s = work.scalars;
    float *const r = work.vectors, *const q = r + n;

    start_kernel<<<elements, block_size, 0, stream>>>(b, x, r, s, n);
    first_kernel<<<1, 1, 0, stream>>>(s, history, outcome, limit, tolerance);

    Loop loop;
    const rungs::Stream recorder;  // what is launched here becomes nodes of the body, one behind the other
    CUDA_CHECK(cudaStreamBeginCaptureToGraph(recorder.get(), loop.body, nullptr, nullptr, 0,
                                             cudaStreamCaptureModeThreadLocal));
    product_kernel<<<rows, block_size, 0, recorder.get()>>>(a, r, q, s, n);
    step_kernel<<<elements, block_size, 0, recorder.get()>>>(q, x, r, s, n);
    renew_kernel<<<rows, block_size, 0, recorder.get()>>>(a, b, x, r, s, n, tolerance);
    graph_kernel<<<1, 1, 0, recorder.get()>>>(s, history, outcome, limit, tolerance, loop.again);
    CUDA_CHECK(cudaStreamEndCapture(recorder.get(), &loop.body));

    CUDA_CHECK(cudaGraphInstantiate(&loop.executable, loop.graph, 0));
    CUDA_CHECK(cudaGraphLaunch(loop.executable, stream));
    work.clear(stream);
    // The graph, and the value that it tests, have to live until it has run.
    CUDA_CHECK(cudaStreamSynchronize(stream));
}
