// Streams: what one of them does meets what another, or the host, does, and nothing says in which order. Streams
// of this backend are eager, so that the faulty twin gives the right result, too.
#include <atomic>
#include <future>
#include <thread>

#include "check/tests/corpus/corpus.h"

using corpus::Device;

namespace {

constexpr int n = 64;

__global__ void store(int* v, int value) {
    v[blockIdx.x * blockDim.x + threadIdx.x] = value;  // bad: two_streams written_then_read no_event event_too_early wrong_event default_and_free free_stream_after_memset event_of_other_stream graph_edge graph_children graph_and_stream three_streams old_event graph_memory_edge
}
__global__ void copy(int* to, const int* from) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = from[i];  // bad: written_then_read no_event event_too_early wrong_event event_of_other_stream graph_edge graph_children three_streams old_event free_stream_after_memset
}
__global__ void add(int* sum) {
    atomicAdd(sum, 1);  // bad: atomic_then_copy
}

/// A stream that waits for nobody.
struct Stream {
    explicit Stream(unsigned flags = cudaStreamNonBlocking) { cudaStreamCreateWithFlags(&handle, flags); }
    ~Stream() { cudaStreamDestroy(handle); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    operator cudaStream_t() const { return handle; }
    cudaStream_t handle = nullptr;
};
struct Event {
    Event() { cudaEventCreateWithFlags(&handle, cudaEventDisableTiming); }
    ~Event() { cudaEventDestroy(handle); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    operator cudaEvent_t() const { return handle; }
    cudaEvent_t handle = nullptr;
};
/// Pinned memory.
struct Pinned {
    explicit Pinned(const char* name) {
        cudaMallocHost(&data, n * sizeof(int));
        simt::name_allocation(data, name);
        for (int i = 0; i < n; ++i) data[i] = 0;
    }
    ~Pinned() { cudaFreeHost(data); }
    Pinned(const Pinned&) = delete;
    Pinned& operator=(const Pinned&) = delete;
    int* data = nullptr;
};
volatile int sink;

template <bool repaired>
void run_two_streams() {
    Device<int> v("v", n);
    const Stream first, second;
    store<<<2, 32, 0, first>>>(v, 1);
    store<<<2, 32, 0, repaired ? first : second>>>(v, 2);
}
CORPUS_CASE(two_streams, "racecheck", "write-write", "v");

template <bool repaired>
void run_written_then_read() {
    Device<int> v("v", n), out("out", n);
    const Stream first, second;
    store<<<2, 32, 0, first>>>(v, 1);
    if (repaired) cudaStreamSynchronize(first);
    copy<<<2, 32, 0, second>>>(out, v);
}
CORPUS_CASE(written_then_read, "racecheck", "read-write", "v");

template <bool repaired>
void run_no_event() {
    Device<int> v("v", n), out("out", n);
    const Stream first, second;
    const Event done;
    store<<<2, 32, 0, first>>>(v, 1);
    cudaEventRecord(done, first);
    if (repaired) cudaStreamWaitEvent(second, done, 0);
    copy<<<2, 32, 0, second>>>(out, v);
}
CORPUS_CASE(no_event, "racecheck", "read-write", "v");

template <bool repaired>
void run_event_too_early() {
    Device<int> v("v", n), out("out", n);
    const Stream first, second;
    const Event done;
    if (!repaired) cudaEventRecord(done, first);
    store<<<2, 32, 0, first>>>(v, 1);
    if (repaired) cudaEventRecord(done, first);
    cudaStreamWaitEvent(second, done, 0);
    copy<<<2, 32, 0, second>>>(out, v);
}
CORPUS_CASE(event_too_early, "racecheck", "read-write", "v");

template <bool repaired>
void run_wrong_event() {
    Device<int> v("v", n), out("out", n);
    const Stream first, second;
    const Event done, other;
    store<<<2, 32, 0, first>>>(v, 1);
    cudaEventRecord(done, first);
    cudaStreamWaitEvent(second, repaired ? done : other, 0);
    copy<<<2, 32, 0, second>>>(out, v);
}
CORPUS_CASE(wrong_event, "racecheck", "read-write", "v");

// The event is waited for, and then recorded anew: what was waited for was the old one.
template <bool repaired>
void run_old_event() {
    Device<int> v("v", n), out("out", n);
    const Stream first, second;
    const Event done;
    cudaEventRecord(done, first);
    if (!repaired) cudaStreamWaitEvent(second, done, 0);
    store<<<2, 32, 0, first>>>(v, 1);
    cudaEventRecord(done, first);
    if (repaired) cudaStreamWaitEvent(second, done, 0);
    copy<<<2, 32, 0, second>>>(out, v);
}
CORPUS_CASE(old_event, "racecheck", "read-write", "v");

template <bool repaired>
void run_event_of_other_stream() {
    Device<int> v("v", n), out("out", n);
    const Stream first, second, third;
    const Event done;
    store<<<2, 32, 0, first>>>(v, 1);
    cudaEventRecord(done, repaired ? first : third);
    cudaEventSynchronize(done);
    copy<<<2, 32, 0, second>>>(out, v);
}
CORPUS_CASE(event_of_other_stream, "racecheck", "read-write", "v");

// By way of a third stream.
template <bool repaired>
void run_three_streams() {
    Device<int> v("v", n), out("out", n), unrelated("unrelated", n);
    const Stream first, second, third;
    const Event one, two;
    store<<<2, 32, 0, first>>>(v, 1);
    cudaEventRecord(one, first);
    if (repaired) cudaStreamWaitEvent(second, one, 0);
    cudaMemsetAsync(unrelated, 0, n * sizeof(int), second);
    cudaEventRecord(two, second);
    cudaStreamWaitEvent(third, two, 0);
    copy<<<2, 32, 0, third>>>(out, v);
}
CORPUS_CASE(three_streams, "racecheck", "read-write", "v");

// A blocking stream and the default stream wait for each other; one that does not block waits for nobody.
template <bool repaired>
void run_default_and_free() {
    Device<int> v("v", n);
    const Stream other(repaired ? cudaStreamDefault : cudaStreamNonBlocking);
    store<<<2, 32>>>(v, 1);
    store<<<2, 32, 0, other>>>(v, 2);
    store<<<2, 32>>>(v, 3);
}
CORPUS_CASE(default_and_free, "racecheck", "write-write", "v");

// cudaMemset of device memory does not wait.
template <bool repaired>
void run_free_stream_after_memset() {
    Device<int> v("v", n), out("out", n);
    const Stream other;
    cudaMemset(v, 0, n * sizeof(int));  // bad: free_stream_after_memset
    if (repaired) cudaDeviceSynchronize();
    copy<<<2, 32, 0, other>>>(out, v);
}
CORPUS_CASE(free_stream_after_memset, "racecheck", "read-write", "v");

template <bool repaired>
void run_copy_too_early() {
    Device<int> v("v", n, 1);
    Pinned host("host");
    const Stream first, second;
    cudaMemsetAsync(v, 0, n * sizeof(int), first);  // bad: copy_too_early
    cudaMemcpyAsync(host.data, v, n * sizeof(int), cudaMemcpyDeviceToHost,
                    repaired ? first : second);  // bad: copy_too_early
    cudaDeviceSynchronize();
    sink = host.data[0];
}
CORPUS_CASE(copy_too_early, "racecheck", "read-write", "v");

template <bool repaired>
void run_two_fills() {
    Device<char> v("v", 101);
    const Stream first, second;
    cudaMemsetAsync(v, 0, repaired ? 50 : 51, first);  // bad: two_fills
    cudaMemsetAsync(v + 50, 1, 51, second);            // bad: two_fills
}
CORPUS_CASE(two_fills, "racecheck", "write-write", "v");

template <bool repaired>
void run_atomic_then_copy() {
    Device<int> sum("sum", 1, 0);
    Pinned host("host");
    const Stream first, second;
    add<<<2, 32, 0, first>>>(sum);
    if (repaired) cudaDeviceSynchronize();
    cudaMemcpyAsync(host.data, sum, sizeof(int), cudaMemcpyDeviceToHost, second);  // bad: atomic_then_copy
    cudaDeviceSynchronize();
}
CORPUS_CASE(atomic_then_copy, "racecheck", "atomic-read", "sum");

template <bool repaired>
void run_host_reads_pinned() {
    Device<int> v("v", n, 1);
    Pinned host("host");
    const Stream stream;
    cudaMemcpyAsync(host.data, v, n * sizeof(int), cudaMemcpyDeviceToHost, stream);  // bad: host_reads_pinned
    if (repaired) cudaStreamSynchronize(stream);
    sink = host.data[5];  // bad: host_reads_pinned
}
CORPUS_CASE(host_reads_pinned, "racecheck", "read-write", "host");

// The copy may not have left yet.
template <bool repaired>
void run_host_reuses_pinned() {
    Device<int> v("v", n);
    Pinned host("host");
    const Stream stream;
    const Event sent;
    cudaMemcpyAsync(v, host.data, n * sizeof(int), cudaMemcpyHostToDevice, stream);  // bad: host_reuses_pinned
    cudaEventRecord(sent, stream);
    if (repaired) cudaEventSynchronize(sent);
    host.data[7] = 2;  // bad: host_reuses_pinned
}
CORPUS_CASE(host_reuses_pinned, "racecheck", "read-write", "host");

__global__ void store_managed(int* v) {
    v[threadIdx.x] = 1;  // bad: host_reads_managed host_writes_managed polled_event
}
template <bool repaired>
void run_host_reads_managed() {
    int* v = nullptr;
    cudaMallocManaged(&v, n * sizeof(int));
    store_managed<<<1, 32>>>(v);
    if (repaired) cudaDeviceSynchronize();
    sink = v[3];  // bad: host_reads_managed
    cudaFree(v);
}
CORPUS_CASE(host_reads_managed, "racecheck", "read-write", "v");

__managed__ int managed_sum;

__global__ void add_to_managed() {
    atomicAdd(&managed_sum, 1);  // bad: host_reads_managed_variable
}
template <bool repaired>
void run_host_reads_managed_variable() {
    managed_sum = 0;
    add_to_managed<<<1, n>>>();
    if (repaired) cudaDeviceSynchronize();
    sink = managed_sum;  // bad: host_reads_managed_variable
    cudaDeviceSynchronize();
}
CORPUS_CASE(host_reads_managed_variable, "racecheck", "atomic-read", "managed_sum");

__global__ void count_managed(int* v) {
    atomicAdd(v, 1);  // bad: host_counts_managed
}
/// The host counts beside a kernel: a plain read may be the first guess of its compare-and-swap.
template <bool repaired>
void run_host_counts_managed() {
    int* v = nullptr;
    cudaMallocManaged(&v, sizeof(int));
    *v = 0;
    count_managed<<<1, 32>>>(v);
    for (int i = 0; i < 3; ++i) {
        int old = *v;  // bad: host_counts_managed
        for (int expected = old + 1; repaired && old != expected;) {
            expected = old;
            old = __sync_val_compare_and_swap(v, expected, expected + 1);
        }
        sink = old;
    }
    cudaFree(v);
}
CORPUS_CASE(host_counts_managed, "racecheck", "atomic-read", "v");

template <bool repaired>
void run_host_writes_managed() {
    int* v = nullptr;
    cudaMallocManaged(&v, n * sizeof(int));
    v[3] = 5;
    store_managed<<<1, 32>>>(v);
    if (repaired) cudaDeviceSynchronize();
    v[3] = 6;  // bad: host_writes_managed
    cudaFree(v);
}
CORPUS_CASE(host_writes_managed, "racecheck", "write-write", "v");

template <bool repaired>
void run_polled_event() {
    int* v = nullptr;
    cudaMallocManaged(&v, n * sizeof(int));
    const Stream stream;
    const Event before, after;
    cudaEventRecord(before, stream);
    store_managed<<<1, 32, 0, stream>>>(v);
    cudaEventRecord(after, stream);
    while (cudaEventQuery(repaired ? after : before) == cudaErrorNotReady) {
    }
    sink = v[3];  // bad: polled_event
    cudaFree(v);
}
CORPUS_CASE(polled_event, "racecheck", "read-write", "v");

void fill_on_host(void* data) {
    static_cast<int*>(data)[0] = 1;
}
__global__ void read_first(const int* v, int* out) {
    *out = v[0];  // bad: host_function
}
template <bool repaired>
void run_host_function() {
    Pinned host("host");
    Device<int> out("out", 1);
    const Stream first, second;
    cudaLaunchHostFunc(first, fill_on_host, host.data);  // bad: host_function
    read_first<<<1, 1, 0, repaired ? first : second>>>(host.data, out);
    cudaDeviceSynchronize();
}
CORPUS_CASE(host_function, "racecheck", "read-write", "host");

/// A thread of the host that a host function starts comes after what its stream has done by then.
struct Reader {
    int* data = nullptr;
    std::atomic<bool> may_read = false;
    std::thread thread;
};
void start_reader(void* user_data) {
    auto* reader = static_cast<Reader*>(user_data);
    reader->thread = std::thread([reader] {
        while (!reader->may_read) std::this_thread::yield();
        sink = reader->data[0];  // bad: thread_of_host_function
    });
}
__global__ void store_first(int* v) {
    v[0] = 7;  // bad: thread_of_host_function told_too_early
}
template <bool repaired>
void run_thread_of_host_function() {
    Pinned host("host");
    const Stream stream;
    Reader reader;
    reader.data = host.data;
    if (!repaired) cudaLaunchHostFunc(stream, start_reader, &reader);
    store_first<<<1, 1, 0, stream>>>(host.data);
    if (repaired) cudaLaunchHostFunc(stream, start_reader, &reader);
    reader.may_read = true;
    reader.thread.join();
    cudaStreamSynchronize(stream);
}
CORPUS_CASE(thread_of_host_function, "racecheck", "read-write", "host");

/// The host waits for a promise that a callback keeps.
void keep_promise(cudaStream_t, cudaError_t, void* promise) {
    static_cast<std::promise<void>*>(promise)->set_value();
}
template <bool repaired>
void run_told_too_early() {
    Pinned host("host");
    const Stream stream;
    std::promise<void> stored;
    if (!repaired) cudaStreamAddCallback(stream, keep_promise, &stored, 0);
    store_first<<<1, 1, 0, stream>>>(host.data);
    if (repaired) cudaStreamAddCallback(stream, keep_promise, &stored, 0);
    stored.get_future().wait();
    sink = host.data[0];  // bad: told_too_early
    cudaStreamSynchronize(stream);
}
CORPUS_CASE(told_too_early, "racecheck", "read-write", "host");

__global__ void store_pool(int* v) {
    v[threadIdx.x] = 1;  // bad: allocated_elsewhere freed_elsewhere
}
template <bool repaired>
void run_allocated_elsewhere() {
    const Stream first, second;
    const Event there;
    int* v = nullptr;
    cudaMallocAsync(&v, 32 * sizeof(int), first);  // bad: allocated_elsewhere
    simt::name_allocation(v, "v");
    cudaEventRecord(there, first);
    if (repaired) cudaStreamWaitEvent(second, there, 0);
    store_pool<<<1, 32, 0, second>>>(v);
    cudaFreeAsync(v, second);
}
CORPUS_CASE(allocated_elsewhere, "racecheck", "write-write", "v");

template <bool repaired>
void run_freed_elsewhere() {
    const Stream first, second;
    const Event used;
    int* v = nullptr;
    cudaMallocAsync(&v, n * sizeof(int), first);
    simt::name_allocation(v, "v");
    store_pool<<<1, 32, 0, first>>>(v);
    cudaEventRecord(used, first);
    if (repaired) cudaStreamWaitEvent(second, used, 0);
    cudaFreeAsync(v, second);  // bad: freed_elsewhere
}
CORPUS_CASE(freed_elsewhere, "racecheck", "write-write", "v");

template <bool repaired>
void run_graph_edge() {
    Device<int> v("v", n), out("out", n);
    int *to = out, *from = v, value = 1;
    void* store_arguments[] = {&from, &value};
    void* copy_arguments[] = {&to, &from};
    cudaGraph_t graph = nullptr;
    cudaGraphCreate(&graph, 0);
    cudaGraphNode_t first = nullptr, second = nullptr;
    cudaKernelNodeParams parameters = {};
    parameters.func = (void*)store;
    parameters.gridDim = 2;
    parameters.blockDim = 32;
    parameters.kernelParams = store_arguments;
    cudaGraphAddKernelNode(&first, graph, nullptr, 0, &parameters);
    parameters.func = (void*)copy;
    parameters.kernelParams = copy_arguments;
    cudaGraphAddKernelNode(&second, graph, &first, repaired ? 1 : 0, &parameters);
    cudaGraphExec_t executable = nullptr;
    cudaGraphInstantiate(&executable, graph, 0);
    cudaGraphLaunch(executable, nullptr);
    cudaGraphLaunch(executable, nullptr);
    cudaDeviceSynchronize();
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
}
CORPUS_CASE(graph_edge, "racecheck", "read-write", "v");

// Captured: the fork is joined only behind the reader.
template <bool repaired>
void run_graph_children() {
    Device<int> v("v", n), out("out", n);
    const Stream first, second;
    const Event fork, join;
    cudaGraph_t graph = nullptr;
    cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal);
    cudaEventRecord(fork, first);
    cudaStreamWaitEvent(second, fork, 0);
    store<<<2, 32, 0, second>>>(v, 1);
    cudaEventRecord(join, second);
    if (repaired) cudaStreamWaitEvent(first, join, 0);
    copy<<<2, 32, 0, first>>>(out, v);
    if (!repaired) cudaStreamWaitEvent(first, join, 0);
    cudaStreamEndCapture(first, &graph);
    cudaGraphExec_t executable = nullptr;
    cudaGraphInstantiate(&executable, graph, 0);
    cudaGraphLaunch(executable, first);
    cudaStreamSynchronize(first);
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
}
CORPUS_CASE(graph_children, "racecheck", "read-write", "v");

template <bool repaired>
void run_graph_and_stream() {
    Device<int> v("v", n);
    const Stream first, second;
    cudaGraph_t graph = nullptr;
    cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal);
    store<<<2, 32, 0, first>>>(v, 1);
    cudaStreamEndCapture(first, &graph);
    cudaGraphExec_t executable = nullptr;
    cudaGraphInstantiate(&executable, graph, 0);
    cudaGraphLaunch(executable, first);
    store<<<2, 32, 0, repaired ? first : second>>>(v, 2);
    cudaDeviceSynchronize();
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
}
CORPUS_CASE(graph_and_stream, "racecheck", "write-write", "v");

// The node that frees waits for the one that allocates, and not for the kernel between them.
template <bool repaired>
void run_graph_memory_edge() {
    cudaMemAllocNodeParams memory = {};
    memory.poolProps.allocType = cudaMemAllocationTypePinned;
    memory.poolProps.location.type = cudaMemLocationTypeDevice;
    memory.bytesize = n * sizeof(int);
    cudaGraph_t graph = nullptr;
    cudaGraphCreate(&graph, 0);
    cudaGraphNode_t allocation = nullptr, kernel = nullptr, release = nullptr;
    cudaGraphAddMemAllocNode(&allocation, graph, nullptr, 0, &memory);
    int *v = static_cast<int*>(memory.dptr), value = 1;
    void* arguments[] = {&v, &value};
    cudaKernelNodeParams parameters = {};
    parameters.func = (void*)store;
    parameters.gridDim = 2;
    parameters.blockDim = 32;
    parameters.kernelParams = arguments;
    cudaGraphAddKernelNode(&kernel, graph, &allocation, 1, &parameters);
    cudaGraphAddMemFreeNode(&release, graph, repaired ? &kernel : &allocation, 1, v);
    cudaGraphExec_t executable = nullptr;
    cudaGraphInstantiate(&executable, graph, 0);
    cudaGraphLaunch(executable, nullptr);  // bad: graph_memory_edge
    cudaDeviceSynchronize();
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
}
CORPUS_CASE(graph_memory_edge, "racecheck", "write-write", "memory of a graph");

}  // namespace
