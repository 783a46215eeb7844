// What the host does wrong by itself: calls that fail and whose error it drops, memory that it frees by the
// wrong function, and copies of what nothing has written. The repaired twins do what looks like it, and is
// right.
#include <cstring>

#include "check/tests/corpus/corpus.h"

using corpus::Device;

namespace {

constexpr int n = 64;
constexpr std::size_t bytes = n * sizeof(int);
volatile int sink;

__constant__ int constants[n];
__device__ int table[n];
__device__ int single;
__device__ int* kept;

__global__ void store(int* v, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) v[i] = i;
}
__global__ void make() { kept = new int[n]; }
__global__ void drop() { delete[] kept; }

// ---- Errors that nobody reads -----------------------------------------------------------------------------

template <bool repaired>
void run_copy_wrong_way() {
    const Device<int> d("d", n, 1);
    int h[n];
    if (repaired)
        cudaMemcpy(h, d, bytes, cudaMemcpyDeviceToHost);
    else
        cudaMemcpy(h, d, bytes,  // bad: copy_wrong_way
                   cudaMemcpyHostToDevice);
}
CORPUS_CASE(copy_wrong_way, "memcheck", "failed-call", "");

template <bool repaired>
void run_async_wrong_way() {
    const Device<int> d("d", n, 1);
    int h[n];
    // Who looks at it is told.
    if (cudaMemcpyAsync(d, h, bytes, cudaMemcpyDeviceToHost, nullptr) != cudaSuccess) cudaGetLastError();
    if (!repaired)
        (void)cudaMemcpyAsync(d, h, bytes, cudaMemcpyDeviceToHost, nullptr);  // bad: async_wrong_way
}
CORPUS_CASE(async_wrong_way, "memcheck", "failed-call", "");

template <bool repaired>
void run_copy_too_long() {
    const Device<int> d("d", n, 1);
    int h[2 * n];
    const std::size_t count = repaired ? bytes : 2 * bytes;
    cudaMemcpy(h, d, count, cudaMemcpyDeviceToHost);  // bad: copy_too_long
}
CORPUS_CASE(copy_too_long, "memcheck", "failed-call", "");

template <bool repaired>
void run_copy_of_freed() {
    int *d = nullptr, h[n] = {};
    cudaMalloc(&d, bytes);
    cudaMemset(d, 0, bytes);
    if (!repaired) cudaFree(d);
    cudaMemcpy(h, d, bytes, cudaMemcpyDeviceToHost);  // bad: copy_of_freed
    if (repaired) cudaFree(d);
}
CORPUS_CASE(copy_of_freed, "memcheck", "failed-call", "");

template <bool repaired>
void run_rows_wrong_way() {
    const Device<int> d("d", n, 1);
    int h[n];
    cudaMemcpy2D(h, 32, d, 32, 16, 8,  // bad: rows_wrong_way
                 repaired ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice);
}
CORPUS_CASE(rows_wrong_way, "memcheck", "failed-call", "");

template <bool repaired>
void run_box_wrong_way() {
    const Device<int> d("d", n, 1);
    int h[n];
    cudaMemcpy3DParms copy{};
    copy.srcPtr = make_cudaPitchedPtr(d.get(), 32, 32, 4);
    copy.dstPtr = make_cudaPitchedPtr(h, 32, 32, 4);
    copy.extent = make_cudaExtent(16, 4, 2);
    copy.kind = repaired ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice;
    cudaMemcpy3D(&copy);  // bad: box_wrong_way
}
CORPUS_CASE(box_wrong_way, "memcheck", "failed-call", "");

template <bool repaired>
void run_row_too_wide() {
    const Device<int> d("d", n, 1);
    int h[n];
    cudaMemcpy2D(h, 16, d, repaired ? 16 : 8, 16, 8, cudaMemcpyDeviceToHost);  // bad: row_too_wide
}
CORPUS_CASE(row_too_wide, "memcheck", "failed-call", "");

template <bool repaired>
void run_fill_of_host() {
    int h[n];
    if (repaired) std::memset(h, 0, bytes);
    if (!repaired) cudaMemset(h, 0, bytes);  // bad: fill_of_host
}
CORPUS_CASE(fill_of_host, "memcheck", "failed-call", "");

template <bool repaired>
void run_symbol_by_name() {
    int h[n] = {};
    if (repaired)
        cudaMemcpyToSymbol(constants, h, bytes);
    else
        cudaMemcpyToSymbol("constants", h, bytes);  // bad: symbol_by_name
}
CORPUS_CASE(symbol_by_name, "memcheck", "failed-call", "");

template <bool repaired>
void run_symbol_of_host() {
    static int own[n];
    int h[n] = {};
    if (repaired)
        cudaMemcpyFromSymbol(h, table, bytes);
    else
        cudaMemcpyFromSymbol(h, own, bytes);  // bad: symbol_of_host
}
CORPUS_CASE(symbol_of_host, "memcheck", "failed-call", "");

template <bool repaired>
void run_symbol_too_long() {
    int h[2 * n] = {};
    cudaMemcpyToSymbol(table, h, repaired ? bytes : 2 * bytes);  // bad: symbol_too_long
}
CORPUS_CASE(symbol_too_long, "memcheck", "failed-call", "");

template <bool repaired>
void run_symbol_as_target() {
    int h = 1;
    if (repaired)
        cudaMemcpyToSymbol(single, &h, sizeof h);
    else
        cudaMemcpy(&single, &h, sizeof h, cudaMemcpyHostToDevice);  // bad: symbol_as_target
}
CORPUS_CASE(symbol_as_target, "memcheck", "failed-call", "");

template <bool repaired>
void run_symbol_as_source() {
    int h[n];
    if (repaired)
        cudaMemcpyFromSymbol(h, constants, bytes);
    else
        cudaMemcpy2D(h, 16, constants, 16, 16, 4, cudaMemcpyDeviceToHost);  // bad: symbol_as_source
}
CORPUS_CASE(symbol_as_source, "memcheck", "failed-call", "");

__device__ int filled[n];
template <bool repaired>
void run_symbol_filled() {
    void* address = nullptr;
    cudaGetSymbolAddress(&address, filled);
    cudaMemset(address, 0, bytes);
}
// (Of another variable: the runtime never forgets that somebody has asked for an address.)
template <>
void run_symbol_filled<false>() {
    cudaMemset(table, 0, bytes);  // bad: symbol_filled
}
CORPUS_CASE(symbol_filled, "memcheck", "failed-call", "");

template <bool repaired>
void run_stream_is_gone() {
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    if (!repaired) cudaStreamDestroy(stream);
    cudaStreamSynchronize(stream);  // bad: stream_is_gone
    if (repaired) cudaStreamDestroy(stream);
}
CORPUS_CASE(stream_is_gone, "memcheck", "failed-call", "");

template <bool repaired>
void run_no_such_device() {
    int count = 0;
    cudaGetDeviceCount(&count);
    cudaSetDevice(repaired ? count - 1 : count);  // bad: no_such_device
    // A program may find out in this way.
    if (cudaSetDevice(count) != cudaSuccess) cudaSetDevice(0);
}
CORPUS_CASE(no_such_device, "memcheck", "failed-call", "");

template <bool repaired>
void run_error_of_variable() {
    const Device<int> d("d", n, 1);
    int h[n];
    cudaError_t error = cudaMemcpy(h, d, bytes, cudaMemcpyDeviceToHost);
    error = cudaMemcpy(h, d, bytes,  // bad: error_of_variable
                       repaired ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice);
    error = cudaDeviceSynchronize();
    if (error != cudaSuccess) sink = 1;
    // Of the last one somebody looks at what it has stored.
    error = cudaMemcpy(h, d, bytes, cudaMemcpyHostToDevice);
    if (error == cudaErrorInvalidValue) sink = 2;
}
CORPUS_CASE(error_of_variable, "memcheck", "failed-call", "");

template <bool repaired>
void run_error_never_read() {
    const Device<int> d("d", n, 1);
    int h[n];
    cudaError_t error = cudaMemcpy(h, d, bytes,  // bad: error_never_read
                                   repaired ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice);
    (void)error;
}
CORPUS_CASE(error_never_read, "memcheck", "failed-call", "");

template <bool repaired>
void run_error_asked_for() {
    const Device<int> d("d", n, 1);
    int h[n];
    cudaMemcpy(h, d, bytes, cudaMemcpyHostToDevice);  // bad: error_asked_for
    if (repaired) sink = cudaGetLastError();
    cudaMemcpy(h, d, bytes, cudaMemcpyHostToDevice);  // bad: error_asked_for
    if (repaired) sink = cudaPeekAtLastError();
    cudaDeviceSynchronize();
}
CORPUS_CASE(error_asked_for, "memcheck", "failed-call", "");

template <bool repaired>
void run_too_much_memory() {
    int* d = nullptr;
    if (!repaired) cudaMalloc(&d, std::size_t{1} << 60);  // bad: too_much_memory
    if (cudaMalloc(&d, std::size_t{1} << 60) != cudaSuccess) cudaMalloc(&d, bytes);
    cudaFree(d);
}
CORPUS_CASE(too_much_memory, "memcheck", "failed-call", "");

template <bool repaired>
void run_time_too_early() {
    const Device<int> d("d", n);
    cudaEvent_t first, second;
    cudaEventCreate(&first), cudaEventCreate(&second);
    cudaEventRecord(first);
    store<<<1, n>>>(d, n);
    cudaEventRecord(second);
    float ms = 0;
    if (repaired) cudaEventSynchronize(second);
    cudaEventElapsedTime(&ms, first, second);  // bad: time_too_early
    cudaEventDestroy(first), cudaEventDestroy(second);
}
CORPUS_CASE(time_too_early, "memcheck", "failed-call", "");

// Whatever the host waits for will do; and so does asking until there is an answer.
template <bool repaired>
void run_time_of_stream() {
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    for (int way = 0; way < (repaired ? 4 : 1); ++way) {
        const Device<int> d("d", n);
        int h[n];
        cudaEvent_t first, second;
        cudaEventCreate(&first), cudaEventCreate(&second);
        cudaEventRecord(first, stream);
        store<<<1, n, 0, stream>>>(d, n);
        cudaEventRecord(second, stream);
        float ms = 0;
        if (repaired && way == 0) cudaDeviceSynchronize();
        if (repaired && way == 1) cudaStreamSynchronize(stream);
        if (repaired && way == 2) cudaMemcpyAsync(h, d, bytes, cudaMemcpyDeviceToHost, stream);
        if (repaired && way == 3) {
            while (cudaEventElapsedTime(&ms, first, second) == cudaErrorNotReady) sink = 1;
        } else {
            cudaEventElapsedTime(&ms, first, second);  // bad: time_of_stream
        }
        cudaStreamSynchronize(stream);
        cudaEventDestroy(first), cudaEventDestroy(second);
    }
    cudaStreamDestroy(stream);
}
CORPUS_CASE(time_of_stream, "memcheck", "failed-call", "");

template <bool repaired>
void run_capture_of_default() {
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    if (!repaired)
        cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal);  // bad: capture_of_default
    else
        cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    cudaGraph_t graph = nullptr;
    if (repaired) cudaStreamEndCapture(stream, &graph);
    if (repaired) cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
}
CORPUS_CASE(capture_of_default, "memcheck", "failed-call", "");

// ---- Memory and the functions that free it ----------------------------------------------------------------

template <bool repaired>
void run_heap_given_to_cuda() {
    int* h = nullptr;
    make<<<1, 1>>>();
    cudaMemcpyFromSymbol(&h, kept, sizeof h);
    if (!repaired) cudaFree(h);  // bad: heap_given_to_cuda
    drop<<<1, 1>>>();
    cudaDeviceSynchronize();
}
CORPUS_CASE(heap_given_to_cuda, "memcheck", "invalid-free", "memory from malloc");

template <bool repaired>
void run_heap_given_to_pool() {
    int* h = nullptr;
    make<<<1, 1>>>();
    cudaMemcpyFromSymbol(&h, kept, sizeof h);
    if (!repaired) cudaFreeAsync(h, nullptr);  // bad: heap_given_to_pool
    drop<<<1, 1>>>();
    cudaDeviceSynchronize();
}
CORPUS_CASE(heap_given_to_pool, "memcheck", "invalid-free", "memory from malloc");

template <bool repaired>
void run_host_given_to_cuda() {
    int h = 0, *d = nullptr;
    cudaMalloc(&d, bytes);
    if (!repaired) cudaFree(&h);  // bad: host_given_to_cuda
    cudaFree(d);
    cudaFree(nullptr);
}
CORPUS_CASE(host_given_to_cuda, "memcheck", "invalid-free", "");

template <bool repaired>
void run_pinned_given_to_cuda() {
    int* p = nullptr;
    cudaMallocHost(&p, bytes);
    simt::name_allocation(p, "p");
    if (!repaired) cudaFree(p);  // bad: pinned_given_to_cuda
    cudaFreeHost(p);
}
CORPUS_CASE(pinned_given_to_cuda, "memcheck", "invalid-free", "p");

template <bool repaired>
void run_device_freed_as_pinned() {
    int* d = nullptr;
    cudaMalloc(&d, bytes);
    if (!repaired) cudaFreeHost(d);  // bad: device_freed_as_pinned
    cudaFree(d);
}
CORPUS_CASE(device_freed_as_pinned, "memcheck", "invalid-free", "d");

template <bool repaired>
void run_pinned_freed_twice() {
    int* p = nullptr;
    cudaMallocHost(&p, bytes);
    simt::name_allocation(p, "p");
    cudaFreeHost(p);
    if (!repaired) cudaFreeHost(p);  // bad: pinned_freed_twice
}
CORPUS_CASE(pinned_freed_twice, "memcheck", "double-free", "p");

template <bool repaired>
void run_symbol_freed() {
    if (!repaired) cudaFree(table);  // bad: symbol_freed
}
CORPUS_CASE(symbol_freed, "memcheck", "invalid-free", "table");

// ---- What nothing has written -----------------------------------------------------------------------------

template <bool repaired>
void run_tail_left_out() {
    const Device<int> d("d", n);
    int h[n];
    store<<<repaired ? 4 : 3, n / 4>>>(d, n);
    cudaMemcpy(h, d, bytes, cudaMemcpyDeviceToHost);  // bad: tail_left_out
    for (const int value : h) sink = value;           // bad: tail_left_out
}
CORPUS_CASE(tail_left_out, "initcheck", "unwritten-copy", "d");

template <bool repaired>
void run_one_left_out() {
    const Device<int> d("d", n);
    std::vector<int> h(n);
    if (repaired) cudaMemset(d, 0, sizeof(int));
    store<<<1, n>>>(d + 1, n - 1);
    cudaMemcpyAsync(h.data(), d, bytes, cudaMemcpyDeviceToHost, nullptr);  // bad: one_left_out
    sink = h[0];                                                           // bad: one_left_out
}
CORPUS_CASE(one_left_out, "initcheck", "unwritten-copy", "d");

template <bool repaired>
void run_row_left_out() {
    const Device<int> d("d", n);
    int h[n];
    store<<<1, n>>>(d, repaired ? n : n - 8);
    cudaMemcpy2D(h, 32, d, 32, 32, 8, cudaMemcpyDeviceToHost);  // bad: row_left_out
    sink = h[n - 1];                                            // bad: row_left_out
}
CORPUS_CASE(row_left_out, "initcheck", "unwritten-copy", "d");

template <bool repaired>
void run_copied_on() {
    const Device<int> d("d", n);
    int* pinned = nullptr;
    cudaMallocHost(&pinned, bytes);
    store<<<1, n>>>(d, repaired ? n : n - 1);
    cudaMemcpy(pinned, d, bytes, cudaMemcpyDeviceToHost);  // bad: copied_on
    std::vector<int> h(n);
    std::memcpy(h.data(), pinned, bytes);
    cudaFreeHost(pinned);
    sink = h[n - 1];  // bad: copied_on
}
CORPUS_CASE(copied_on, "initcheck", "unwritten-copy", "d");

template <bool repaired>
void run_copy_of_a_copy() {
    const Device<int> d("d", n), other("other", n);
    std::vector<int> h(n);
    store<<<1, n>>>(d, repaired ? n : n - 1);
    cudaMemcpy(other, d, bytes, cudaMemcpyDeviceToDevice);
    cudaMemcpy(h.data(), other, bytes, cudaMemcpyDeviceToHost);  // bad: copy_of_a_copy
    sink = h[n - 1];                                             // bad: copy_of_a_copy
}
CORPUS_CASE(copy_of_a_copy, "initcheck", "unwritten-copy", "other");

template <bool repaired>
void run_copy_of_graph() {
    const Device<int> d("d", n);
    std::vector<int> h(n);
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    cudaGraphNode_t node;
    cudaGraphCreate(&graph, 0);
    cudaGraphAddMemcpyNode1D(&node, graph, nullptr, 0, h.data(), d, bytes, cudaMemcpyDeviceToHost);
    cudaGraphInstantiate(&ready, graph, 0);
    store<<<1, n>>>(d, repaired ? n : n - 1);
    cudaGraphLaunch(ready, nullptr);  // bad: copy_of_graph
    cudaDeviceSynchronize();
    sink = h[n - 1];  // bad: copy_of_graph
    cudaGraphExecDestroy(ready);
    cudaGraphDestroy(graph);
}
CORPUS_CASE(copy_of_graph, "initcheck", "unwritten-copy", "d");

// Nobody looks at the rest: a warning, and nothing where the rest is written over first.
template <bool repaired>
void run_rest_unread() {
    const Device<int> d("d", n);
    int h[n];
    store<<<1, n>>>(d, n / 2);
    cudaMemcpy(h, d, repaired ? bytes / 2 : bytes, cudaMemcpyDeviceToHost);  // bad: rest_unread
    for (int i = n / 2; i < n; ++i) h[i] = 0;
    for (const int value : h) sink = value;
}
CORPUS_CASE(rest_unread, "initcheck", "unwritten-copy", "d");

/// With four bytes that are nobody's.
struct Padded {
    double x;
    int i;
};
__global__ void store_members(Padded* v, int count) {
    const auto i = static_cast<int>(threadIdx.x);
    if (i < count) v[i].x = i, v[i].i = i;
}
template <bool repaired>
void run_padding() {
    const Device<Padded> d("d", 8);
    Padded h[8];
    store_members<<<1, 8>>>(d, repaired ? 8 : 7);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);                        // bad: padding
    for (const Padded& value : h) sink = value.i + static_cast<int>(value.x);  // bad: padding
}
CORPUS_CASE(padding, "initcheck", "unwritten-copy", "d");

template <bool repaired>
void run_managed_flag() {
    int* flag = nullptr;
    cudaMallocManaged(&flag, 4 * sizeof(int));
    if (repaired) flag[1] = 0;
    store<<<1, 1>>>(flag, 1);
    cudaDeviceSynchronize();
    sink = flag[0];
    sink = flag[1];  // bad: managed_flag
    cudaFree(flag);
}
CORPUS_CASE(managed_flag, "initcheck", "uninitialised", "flag");

}  // namespace
