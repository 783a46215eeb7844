// Bad addresses.
#include <cstring>

#include "check/tests/corpus/corpus.h"

using corpus::Device;

namespace {

template <bool repaired>
__global__ void halo_left(const float* in, float* out, int n) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    float left = 0;
    if (!repaired || i > 0) left = in[i - 1];  // bad: halo_left
    if (i < n) out[i] = left;
}
template <bool repaired>
void run_halo_left() {
    Device<float> in("in", 64, 1), out("out", 64);
    halo_left<repaired><<<2, 32>>>(in.get(), out.get(), 64);
}
CORPUS_CASE(halo_left, "memcheck", "out-of-bounds", "in");

template <bool repaired>
__global__ void halo_right(const float* in, float* out, int n) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    float right = 0;
    if (i < n) right = repaired && i + 1 >= n ? 0 : in[i + 1];  // bad: halo_right
    if (i < n) out[i] = right;
}
template <bool repaired>
void run_halo_right() {
    Device<float> in("in", 60, 1), out("out", 60);
    halo_right<repaired><<<2, 32>>>(in.get(), out.get(), 60);
}
CORPUS_CASE(halo_right, "memcheck", "out-of-bounds", "in");

template <bool repaired>
__global__ void missing_guard(float* out, int n) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (repaired && i >= n) return;
    out[i] = 1;  // bad: missing_guard
}
template <bool repaired>
void run_missing_guard() {
    Device<float> out("out", 100);
    missing_guard<repaired><<<4, 32>>>(out.get(), 100);
}
CORPUS_CASE(missing_guard, "memcheck", "out-of-bounds", "out");

template <bool repaired>
__global__ void loop_off_by_one(const int* in, int* out, int n) {
    int sum = 0;
    for (int i = 0; repaired ? i < n : i <= n; ++i) sum += in[i];  // bad: loop_off_by_one
    if (threadIdx.x == 0) *out = sum;
}
template <bool repaired>
void run_loop_off_by_one() {
    Device<int> in("in", 17, 1), out("out", 1);
    loop_off_by_one<repaired><<<1, 1>>>(in.get(), out.get(), 17);
}
CORPUS_CASE(loop_off_by_one, "memcheck", "out-of-bounds", "in");

template <bool repaired>
__global__ void rows_for_columns(float* m, int rows, int columns) {
    const int row = static_cast<int>(threadIdx.y), column = static_cast<int>(threadIdx.x);
    if (row < rows && column < columns)
        m[row * (repaired ? columns : columns + rows) + column] = 1;  // bad: rows_for_columns
}
template <bool repaired>
void run_rows_for_columns() {
    Device<float> m("m", 8 * 5);
    rows_for_columns<repaired><<<1, dim3(8, 8)>>>(m.get(), 8, 5);
}
CORPUS_CASE(rows_for_columns, "memcheck", "out-of-bounds", "m");

// The address is next to the other array, and the line says which one is meant.
template <bool repaired>
__global__ void beside_another(float* meant, long distance) {
    const long i = threadIdx.x % 8 == 5 && !repaired ? distance : threadIdx.x;
    meant[i] = 1;  // bad: beside_another
}
template <bool repaired>
void run_beside_another() {
    Device<float> meant("meant", 64), other("other", 64);
    beside_another<repaired><<<1, 64>>>(meant.get(), other.get() - meant.get() - 3);
}
CORPUS_CASE(beside_another, "memcheck", "out-of-bounds", "meant");

template <bool repaired>
__global__ void far_away(float* v, long distance) {
    v[repaired ? 0 : distance] = 1;  // bad: far_away
}
template <bool repaired>
void run_far_away() {
    Device<float> v("v", 16);
    far_away<repaired><<<1, 1>>>(v.get(), 5000);
}
CORPUS_CASE(far_away, "memcheck", "out-of-bounds", "v");

template <bool repaired>
__global__ void misaligned_vector(const float* v, float4* out) {
    out[threadIdx.x] =
        *reinterpret_cast<const float4*>(v + 4 * threadIdx.x + (repaired ? 0 : 1));  // bad: misaligned_vector
}
template <bool repaired>
void run_misaligned_vector() {
    Device<float> v("v", 4 * 33, 1);
    Device<float4> out("out", 32);
    misaligned_vector<repaired><<<1, 32>>>(v.get(), out.get());
}
CORPUS_CASE(misaligned_vector, "memcheck", "misaligned", "v");

template <bool repaired>
__global__ void misaligned_word(const char* bytes, int* out) {
    out[threadIdx.x] =
        *reinterpret_cast<const int*>(bytes + (repaired ? 4 : 6) * threadIdx.x);  // bad: misaligned_word
}
template <bool repaired>
void run_misaligned_word() {
    Device<char> bytes("bytes", 256, 1);
    Device<int> out("out", 32);
    misaligned_word<repaired><<<1, 32>>>(bytes.get(), out.get());
}
CORPUS_CASE(misaligned_word, "memcheck", "misaligned", "bytes");

template <bool repaired>
__global__ void shared_past_end(int* out, int last) {
    __shared__ int tile[32];
    int* p = tile;
    p[threadIdx.x + (repaired ? 0 : last)] = 1;  // bad: shared_past_end
    __syncthreads();
    out[threadIdx.x] = repaired ? tile[threadIdx.x] : 0;
}
template <bool repaired>
void run_shared_past_end() {
    Device<int> out("out", 32);
    shared_past_end<repaired><<<1, 32>>>(out.get(), 1);
}
CORPUS_CASE(shared_past_end, "memcheck", "out-of-bounds", "tile");

template <bool repaired>
__global__ void shared_inner_index(int* out, int n) {
    __shared__ int tile[4][33];
    const unsigned column = threadIdx.x + (repaired ? 0u : static_cast<unsigned>(n));
    tile[threadIdx.y][column] = 1;  // bad: shared_inner_index
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = repaired ? tile[threadIdx.y][threadIdx.x] : 0;
}
template <bool repaired>
void run_shared_inner_index() {
    Device<int> out("out", 128);
    shared_inner_index<repaired><<<1, dim3(32, 4)>>>(out.get(), 2);
}
CORPUS_CASE(shared_inner_index, "memcheck", "out-of-bounds", "");

template <bool repaired>
__global__ void local_array(float* out, int n) {
    float recent[4] = {1, 2, 3, 4};
    float sum = 0;
    for (int i = 0; i < n; ++i) sum += recent[repaired ? i % 4 : i];  // bad: local_array
    out[threadIdx.x] = sum;
}
template <bool repaired>
void run_local_array() {
    Device<float> out("out", 32);
    local_array<repaired><<<1, 32>>>(out.get(), 6);
}
CORPUS_CASE(local_array, "memcheck", "out-of-bounds", "");

template <bool repaired>
__global__ void dynamic_too_small(float* out) {
    extern __shared__ float buffer[];
    buffer[threadIdx.x] = 1;  // bad: dynamic_too_small
    __syncthreads();
    out[threadIdx.x] = buffer[threadIdx.x / 2];
}
template <bool repaired>
void run_dynamic_too_small() {
    Device<float> out("out", 64);
    dynamic_too_small<repaired><<<1, 64, (repaired ? 64 : 63) * sizeof(float)>>>(out.get());
}
CORPUS_CASE(dynamic_too_small, "memcheck", "out-of-bounds", "dynamic shared memory");

__global__ void host_variable(const float* v, float* out) {
    out[threadIdx.x] = v[threadIdx.x];  // bad: host_variable
}

template <bool repaired>
__global__ void host_pointer(const float* v, float* out) {
    out[threadIdx.x] = v[threadIdx.x];  // bad: host_pointer
}
template <bool repaired>
void run_host_pointer() {
    const std::vector<float> host(32, 1.0f);
    Device<float> v("v", 32, 1), out("out", 32);
    host_pointer<repaired><<<1, 32>>>(repaired ? v.get() : host.data(), out.get());
}
CORPUS_CASE(host_pointer, "memcheck", "host-memory", "");

template <bool repaired>
void run_host_variable() {
    float host[32] = {};
    float* pinned = nullptr;
    cudaMallocHost(&pinned, sizeof host);
    pinned[0] = 1;
    for (int i = 0; i < 32; ++i) pinned[i] = host[i];
    Device<float> out("out", 32);
    host_variable<<<1, 32>>>(repaired ? pinned : host, out.get());
    cudaDeviceSynchronize();
    cudaFreeHost(pinned);
}
CORPUS_CASE(host_variable, "memcheck", "host-memory", "");

template <bool repaired>
__global__ void host_copy(char* to, const char* from, size_t n) {
    if (threadIdx.x == 0) memcpy(to, from, n);  // bad: host_copy
}
template <bool repaired>
void run_host_copy() {
    const std::vector<char> host(64, 'a');
    Device<char> from("from", 64, 'a'), to("to", 64);
    host_copy<repaired><<<1, 32>>>(to.get(), repaired ? from.get() : host.data(), 64);
}
CORPUS_CASE(host_copy, "memcheck", "host-memory", "");

struct Row {
    double values[9];
};
template <bool repaired>
__global__ void host_struct(Row* to, const Row* from) {
    *to = *from;  // bad: host_struct
}
template <bool repaired>
void run_host_struct() {
    const std::vector<Row> host(1);
    Device<Row> from("from", 1, Row{}), to("to", 1);
    host_struct<repaired><<<1, 1>>>(to.get(), repaired ? from.get() : host.data());
}
CORPUS_CASE(host_struct, "memcheck", "host-memory", "");

template <bool repaired>
__global__ void null_pointer(float* out) {
    out[threadIdx.x] = 1;  // bad: null_pointer
}
template <bool repaired>
void run_null_pointer() {
    Device<float> out("out", 32);
    null_pointer<repaired><<<1, 32>>>(repaired ? out.get() : nullptr);
}
CORPUS_CASE(null_pointer, "memcheck", "null-pointer", "");

template <bool repaired>
__global__ void after_free(float* v) {
    v[threadIdx.x] = 1;  // bad: after_free graph_memory_freed
}
template <bool repaired>
void run_after_free() {
    float* v = nullptr;
    cudaMalloc(&v, 32 * sizeof(float));
    if (!repaired) cudaFree(v);
    after_free<repaired><<<1, 32>>>(v);
    if (repaired) cudaFree(v);
}
CORPUS_CASE(after_free, "memcheck", "use-after-free", "v");

// Captured: each launch of the graph allocates at one address, and frees.
template <bool repaired>
void run_graph_memory_freed() {
    cudaStream_t stream = nullptr;
    cudaStreamCreate(&stream);
    float* v = nullptr;
    cudaGraph_t graph = nullptr;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    cudaMallocAsync(&v, 32 * sizeof(float), stream);
    if (!repaired) cudaFreeAsync(v, stream);
    after_free<repaired><<<1, 32, 0, stream>>>(v);
    if (repaired) cudaFreeAsync(v, stream);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphExec_t executable = nullptr;
    cudaGraphInstantiate(&executable, graph, 0);
    cudaGraphLaunch(executable, stream);
    cudaGraphLaunch(executable, stream);
    cudaStreamSynchronize(stream);
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
}
CORPUS_CASE(graph_memory_freed, "memcheck", "use-after-free", "memory of a graph");

template <bool repaired>
void run_double_free() {
    float* v = nullptr;
    cudaMalloc(&v, 32 * sizeof(float));
    cudaFree(v);
    if (!repaired) cudaFree(v);  // bad: double_free
    cudaGetLastError();
}
CORPUS_CASE(double_free, "memcheck", "double-free", "v");

template <bool repaired>
void run_invalid_free() {
    float* v = nullptr;
    cudaMalloc(&v, 32 * sizeof(float));
    if (!repaired) cudaFree(v + 1);  // bad: invalid_free
    cudaFree(v);
    cudaGetLastError();
}
CORPUS_CASE(invalid_free, "memcheck", "invalid-free", "v");

template <bool repaired>
void run_leak() {
    float* v = nullptr;
    cudaMalloc(&v, 32 * sizeof(float));  // bad: leak
    if (repaired) cudaFree(v);
    simt::check::find_leaks();
    if (!repaired) cudaFree(v);
}
CORPUS_CASE(leak, "memcheck", "leak", "v");

template <bool repaired>
void run_device_memory_on_host() {
    Device<int> v("v", 4, 7);
    int first = 0;
    if (repaired)
        cudaMemcpy(&first, v, sizeof first, cudaMemcpyDeviceToHost);
    else
        first = v[0];  // bad: device_memory_on_host
    volatile int keep = first;
    (void)keep;
}
CORPUS_CASE(device_memory_on_host, "memcheck", "device-memory-on-host", "v");

template <bool repaired>
void run_written_by_host() {
    Device<int> v("v", 4, 7);
    int* managed = nullptr;
    cudaMallocManaged(&managed, 4 * sizeof(int));
    int* target = repaired ? managed : v.get();
    target[1] = 5;  // bad: written_by_host
    cudaFree(managed);
}
CORPUS_CASE(written_by_host, "memcheck", "device-memory-on-host", "v");

template <bool repaired>
void run_copied_by_host() {
    Device<int> v("v", 4, 7);
    int host[4];
    if (repaired)
        cudaMemcpy(host, v, sizeof host, cudaMemcpyDeviceToHost);
    else
        memcpy(host, v.get(), sizeof host);  // bad: copied_by_host
    volatile int keep = host[0];
    (void)keep;
}
CORPUS_CASE(copied_by_host, "memcheck", "device-memory-on-host", "v");

// Variables one after another: an access past the end of one must not pass for one to the next.
__device__ int before_table[16];
__device__ int table[16];
__device__ int after_table[16];
template <bool repaired>
__global__ void symbol_past_end(int n) {
    int* p = table;
    before_table[threadIdx.x] = after_table[threadIdx.x] = 0;
    p[threadIdx.x + (repaired ? 0 : n)] = 1;  // bad: symbol_past_end
}
template <bool repaired>
void run_symbol_past_end() {
    symbol_past_end<repaired><<<1, 1>>>(16);
}
CORPUS_CASE(symbol_past_end, "memcheck", "out-of-bounds", "table");

template <bool repaired>
__global__ void symbol_before_start(int n) {
    int* p = table + threadIdx.x;
    before_table[threadIdx.x] = after_table[threadIdx.x] = 0;
    p[repaired ? 0 : -n] = 1;  // bad: symbol_before_start
}
template <bool repaired>
void run_symbol_before_start() {
    symbol_before_start<repaired><<<1, 1>>>(1);
}
CORPUS_CASE(symbol_before_start, "memcheck", "out-of-bounds", "table");

__device__ float first_weights[4] = {1, 2, 3, 4};
__device__ float weights[4] = {1, 2, 3, 4};
__device__ float last_weights[4] = {1, 2, 3, 4};
template <bool repaired>
__global__ void initialised_past_end(float* out, int n) {
    const float* p = weights;
    out[threadIdx.x] = p[threadIdx.x % 4 + (repaired ? 0 : n)];  // bad: initialised_past_end
    if (n < 0) first_weights[0] = last_weights[0];
}
template <bool repaired>
void run_initialised_past_end() {
    Device<float> out("out", 4);
    initialised_past_end<repaired><<<1, 4>>>(out.get(), 4);
}
CORPUS_CASE(initialised_past_end, "memcheck", "out-of-bounds", "weights");

__constant__ float first_stencil[3];
__constant__ float stencil[3];
__constant__ float last_stencil[3];
template <bool repaired>
__global__ void constant_past_end(float* out, int n) {
    const float* p = stencil;
    float sum = n < 0 ? first_stencil[0] + last_stencil[0] : 0;
    for (int i = 0; repaired ? i < n : i <= n; ++i) sum += p[i];  // bad: constant_past_end
    out[threadIdx.x] = sum;
}
template <bool repaired>
void run_constant_past_end() {
    const float values[3] = {1, 2, 1};
    cudaMemcpyToSymbol(stencil, values, sizeof values);
    Device<float> out("out", 4);
    constant_past_end<repaired><<<1, 4>>>(out.get(), 3);
}
CORPUS_CASE(constant_past_end, "memcheck", "out-of-bounds", "stencil");

template <bool repaired>
__global__ void constant_index(float* out, int n) {
    out[threadIdx.x] = stencil[static_cast<int>(threadIdx.x) + (repaired ? 0 : n)];  // bad: constant_index
}
template <bool repaired>
void run_constant_index() {
    Device<float> out("out", 3);
    constant_index<repaired><<<1, 3>>>(out.get(), 3);
}
CORPUS_CASE(constant_index, "memcheck", "out-of-bounds", "");

template <bool repaired>
__global__ void shared_neighbour(int* out, int n) {
    __shared__ int first[32], second[32];
    int* p = first + threadIdx.x;
    second[threadIdx.x] = 0;
    p[repaired ? 0 : n] = 1;  // bad: shared_neighbour
    __syncthreads();
    out[threadIdx.x] = second[threadIdx.x];
}
template <bool repaired>
void run_shared_neighbour() {
    Device<int> out("out", 32);
    shared_neighbour<repaired><<<1, 32>>>(out.get(), 32);
}
CORPUS_CASE(shared_neighbour, "memcheck", "out-of-bounds", "first");

template <bool repaired>
__global__ void misaligned_shared(float4* out) {
    __shared__ __align__(16) float tile[4 * 33];
    for (unsigned i = threadIdx.x; i < 4 * 33; i += blockDim.x) tile[i] = 1;
    __syncthreads();
    out[threadIdx.x] =
        *reinterpret_cast<float4*>(tile + 4 * threadIdx.x + (repaired ? 0 : 2));  // bad: misaligned_shared
}
template <bool repaired>
void run_misaligned_shared() {
    Device<float4> out("out", 32);
    misaligned_shared<repaired><<<1, 32>>>(out.get());
}
CORPUS_CASE(misaligned_shared, "memcheck", "misaligned", "tile");

template <class T>
cudaTextureObject_t texture_over(T* data, size_t n) {
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = data;
    resource.res.linear.desc = cudaCreateChannelDesc<T>();
    resource.res.linear.sizeInBytes = n * sizeof(T);
    cudaTextureDesc description = {};
    cudaTextureObject_t texture = 0;
    cudaCreateTextureObject(&texture, &resource, &description, nullptr);
    return texture;
}

template <bool repaired>
__global__ void texture_past_end(cudaTextureObject_t v, float* out, int n) {
    const int i = static_cast<int>(threadIdx.x) + 1;
    out[threadIdx.x] = repaired && i >= n ? 0 : tex1Dfetch<float>(v, i);  // bad: texture_past_end
}
template <bool repaired>
void run_texture_past_end() {
    Device<float> v("v", 32, 1), out("out", 32);
    const cudaTextureObject_t texture = texture_over(v.get(), 32);
    texture_past_end<repaired><<<1, 32>>>(texture, out.get(), 32);
    cudaDestroyTextureObject(texture);
}
CORPUS_CASE(texture_past_end, "memcheck", "out-of-bounds", "v");

template <bool repaired>
__global__ void texture_freed(cudaTextureObject_t v, float* out) {
    out[threadIdx.x] = tex1Dfetch<float>(v, static_cast<int>(threadIdx.x));  // bad: texture_freed
}
template <bool repaired>
void run_texture_freed() {
    Device<float> out("out", 32);
    float* v = nullptr;
    cudaMalloc(&v, 128);
    cudaMemset(v, 0, 128);
    const cudaTextureObject_t texture = texture_over(v, 32);
    if (!repaired) cudaFree(v);
    texture_freed<repaired><<<1, 32>>>(texture, out.get());
    if (repaired) cudaFree(v);
    cudaDestroyTextureObject(texture);
}
CORPUS_CASE(texture_freed, "memcheck", "use-after-free", "v");

template <bool repaired>
__global__ void atomic_past_end(int* bins, const int* in) {
    atomicAdd(bins + in[threadIdx.x] - (repaired ? 1 : 0), 1);  // bad: atomic_past_end
}
template <bool repaired>
void run_atomic_past_end() {
    Device<int> bins("bins", 8, 0), in("in", 32, 8);
    atomic_past_end<repaired><<<1, 32>>>(bins.get(), in.get());
}
CORPUS_CASE(atomic_past_end, "memcheck", "out-of-bounds", "bins");

struct Particle {
    float x, y, z, mass;
};
template <bool repaired>
__global__ void struct_past_end(Particle* p, int n) {
    const int i = static_cast<int>(threadIdx.x) + (repaired ? 0 : 1);
    if (i <= n) p[i].mass = 2;  // bad: struct_past_end
}
template <bool repaired>
void run_struct_past_end() {
    Device<Particle> p("p", 32);
    struct_past_end<repaired><<<1, 32>>>(p.get(), 32);
}
CORPUS_CASE(struct_past_end, "memcheck", "out-of-bounds", "p");

template <bool repaired>
__global__ void byte_past_end(char* text, int n) {
    const int i = static_cast<int>(threadIdx.x);
    if (repaired ? i < n : i <= n) text[i] = 'a';  // bad: byte_past_end
}
template <bool repaired>
void run_byte_past_end() {
    Device<char> text("text", 29);
    byte_past_end<repaired><<<1, 32>>>(text.get(), 29);
}
CORPUS_CASE(byte_past_end, "memcheck", "out-of-bounds", "text");

template <bool repaired>
__global__ void vector_tail(float* v, int n) {
    const int i = 4 * static_cast<int>(threadIdx.x);
    if (repaired ? i + 3 < n : i < n)
        *reinterpret_cast<float4*>(v + i) = float4{1, 2, 3, 4};  // bad: vector_tail
}
template <bool repaired>
void run_vector_tail() {
    Device<float> v("v", 102);
    vector_tail<repaired><<<1, 32>>>(v.get(), 102);
}
CORPUS_CASE(vector_tail, "memcheck", "out-of-bounds", "v");

template <bool repaired>
__global__ void copy_past_end(char* to, const char* from, int n) {
    memcpy(to, from, static_cast<size_t>(n));  // bad: copy_past_end
}
template <bool repaired>
void run_copy_past_end() {
    Device<char> to("to", 40), from("from", 48, 'a');
    copy_past_end<repaired><<<1, 1>>>(to.get(), from.get(), repaired ? 40 : 41);
}
CORPUS_CASE(copy_past_end, "memcheck", "out-of-bounds", "to");

__constant__ float coefficients[4];
template <bool repaired>
__global__ void constant_write(float* out) {
    float* p = const_cast<float*>(coefficients);
    if (!repaired) p[threadIdx.x] = 1;  // bad: constant_write
    out[threadIdx.x] = p[threadIdx.x];
}
template <bool repaired>
void run_constant_write() {
    Device<float> out("out", 4);
    constant_write<repaired><<<1, 4>>>(out.get());
}
CORPUS_CASE(constant_write, "memcheck", "constant-write", "coefficients");

template <bool repaired>
__global__ void others_local(float* out) {
    __shared__ float* shared;
    float mine = static_cast<float>(threadIdx.x);
    float* p = &mine;
    if (threadIdx.x == 0) shared = p;
    __syncthreads();
    if (!repaired) p = shared;
    asm volatile("" : "+r"(p));
    out[threadIdx.x] = *p;  // bad: others_local
    __syncthreads();
}
template <bool repaired>
void run_others_local() {
    Device<float> out("out", 2);
    others_local<repaired><<<1, 2>>>(out.get());
}
CORPUS_CASE(others_local, "memcheck", "local-memory", "");

template <bool repaired>
__global__ void too_wide(const int* amounts, unsigned* out) {
    const int amount = amounts[threadIdx.x];
    out[threadIdx.x] = 1u << (repaired ? amount & 31 : amount);  // bad: too_wide
}
template <bool repaired>
void run_too_wide() {
    Device<int> amounts("amounts", 32, 40);
    Device<unsigned> out("out", 32);
    too_wide<repaired><<<1, 32>>>(amounts.get(), out.get());
}
CORPUS_CASE(too_wide, "memcheck", "wide-shift", "");

template <bool repaired>
void run_wrong_direction() {
    Device<float> from("from", 32, 1), to("to", 32);
    cudaMemcpy(to.get(), from.get(), 32 * sizeof(float),  // bad: wrong_direction
               repaired ? cudaMemcpyDeviceToDevice : cudaMemcpyDeviceToHost);
}
CORPUS_CASE(wrong_direction, "memcheck", "copy-direction", "to");

}  // namespace
