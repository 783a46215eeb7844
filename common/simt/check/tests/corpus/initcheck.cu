// Values that nobody has written.
#include <new>

#include "check/tests/corpus/corpus.h"

using corpus::Device;

namespace {

template <class T>
__global__ void copy_all(const T* in, T* out, int n) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) out[i] = in[i];  // bad: never_written cleared_in_part copied_in_part copied_garbage gap
}

template <bool repaired>
void run_never_written() {
    Device<float> v("v", 64), out("out", 64);
    if (repaired) cudaMemset(v, 0, 64 * sizeof(float));
    copy_all<float><<<2, 32>>>(v.get(), out.get(), 64);
}
CORPUS_CASE(never_written, "initcheck", "uninitialised", "v");

template <bool repaired>
void run_cleared_in_part() {
    Device<int> v("v", 64), out("out", 64);
    cudaMemset(v, 0, 64 * (repaired ? sizeof(int) : 1));  // bytes, not elements
    copy_all<int><<<2, 32>>>(v.get(), out.get(), 64);
}
CORPUS_CASE(cleared_in_part, "initcheck", "uninitialised", "v");

template <bool repaired>
void run_copied_in_part() {
    const std::vector<short> host(64, short{3});
    Device<short> v("v", 64), out("out", 64);
    cudaMemcpy(v, host.data(), (repaired ? 64 : 63) * sizeof(short), cudaMemcpyHostToDevice);
    copy_all<short><<<2, 32>>>(v.get(), out.get(), 64);
}
CORPUS_CASE(copied_in_part, "initcheck", "uninitialised", "v");

template <bool repaired>
void run_copied_garbage() {
    Device<float> first("first", 64), second("second", 64), out("out", 64);
    if (repaired) cudaMemset(first, 0, 64 * sizeof(float));
    cudaMemcpy(second, first, 64 * sizeof(float), cudaMemcpyDeviceToDevice);
    copy_all<float><<<2, 32>>>(second.get(), out.get(), 64);
}
CORPUS_CASE(copied_garbage, "initcheck", "uninitialised", "second");

template <bool repaired>
__global__ void write_even(float* out, int n) {
    const int i = static_cast<int>(threadIdx.x) * (repaired ? 1 : 2);
    if (i < n) out[i] = 1;
}
template <bool repaired>
void run_gap() {
    Device<float> v("v", 64), out("out", 64);
    write_even<repaired><<<1, 64>>>(v.get(), 64);
    copy_all<float><<<2, 32>>>(v.get(), out.get(), 64);
}
CORPUS_CASE(gap, "initcheck", "uninitialised", "v");

template <bool repaired>
__global__ void tile_tail(const float* in, float* out, int n) {
    __shared__ float tile[32];
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n)
        tile[threadIdx.x] = in[i];
    else if (repaired)
        tile[threadIdx.x] = 0;
    __syncthreads();
    for (unsigned step = 16; step > 0; step /= 2) {
        float other = 0;
        if (threadIdx.x < step) other = tile[threadIdx.x + step];  // bad: tile_tail
        if (threadIdx.x < step) tile[threadIdx.x] += other;
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = tile[0];
}
template <bool repaired>
void run_tile_tail() {
    Device<float> in("in", 50, 1), out("out", 2);
    tile_tail<repaired><<<2, 32>>>(in.get(), out.get(), 50);
}
CORPUS_CASE(tile_tail, "initcheck", "uninitialised", "tile");

template <bool repaired>
__global__ void shared_counter(int* out) {
    __shared__ int count;
    if (repaired && threadIdx.x == 0) count = 0;
    __syncthreads();
    atomicAdd(&count, 1);  // bad: shared_counter
    __syncthreads();
    if (threadIdx.x == 0) *out = count;
}
template <bool repaired>
void run_shared_counter() {
    Device<int> out("out", 1);
    shared_counter<repaired><<<1, 64>>>(out.get());
}
CORPUS_CASE(shared_counter, "initcheck", "uninitialised", "count");

__global__ void global_counter(int* count) {
    atomicAdd(count, 1);  // bad: global_counter
}
template <bool repaired>
void run_global_counter() {
    Device<int> count("count", 1);
    if (repaired) cudaMemset(count, 0, sizeof(int));
    global_counter<<<2, 32>>>(count.get());
}
CORPUS_CASE(global_counter, "initcheck", "uninitialised", "count");

struct Pair {
    int key, value;
};
template <bool repaired>
__global__ void half_a_struct(Pair* pairs) {
    pairs[threadIdx.x].key = 1;
    if (repaired) pairs[threadIdx.x].value = 2;
}
__global__ void read_values(const Pair* pairs, int* out) {
    out[threadIdx.x] = pairs[threadIdx.x].value;  // bad: half_a_struct
}
template <bool repaired>
void run_half_a_struct() {
    Device<Pair> pairs("pairs", 32);
    Device<int> out("out", 32);
    half_a_struct<repaired><<<1, 32>>>(pairs.get());
    read_values<<<1, 32>>>(pairs.get(), out.get());
}
CORPUS_CASE(half_a_struct, "initcheck", "uninitialised", "pairs");

template <bool repaired>
__global__ void bytes_of_a_word(char* bytes) {
    if (repaired || threadIdx.x % 4 != 3) bytes[threadIdx.x] = 'x';
}
template <bool repaired>
__global__ void read_bytes(const char* bytes, char* out) {
    out[threadIdx.x] = bytes[threadIdx.x];  // bad: one_byte
}
template <bool repaired>
void run_one_byte() {
    Device<char> bytes("bytes", 32), out("out", 32);
    bytes_of_a_word<repaired><<<1, 32>>>(bytes.get());
    read_bytes<repaired><<<1, 32>>>(bytes.get(), out.get());
}
CORPUS_CASE(one_byte, "initcheck", "uninitialised", "bytes");

struct Shape {
    __device__ virtual int area() const = 0;
};
template <bool repaired>
struct Square : Shape {
    int side;
    __device__ explicit Square(int length) {
        if (repaired) side = length;
    }
    __device__ int area() const override {
        return side * side;  // bad: virtual_in_heap virtual_in_shared virtual_in_global
    }
};
struct Point : Shape {
    __device__ int area() const override { return 0; }
};

/// What a virtual call reads first, the pointer to the table of functions, the constructor has written.
template <bool repaired>
__global__ void virtual_in_heap(int* out) {
    Point local;
    Shape* shape = threadIdx.x % 2 == 0 ? new Square<repaired>(static_cast<int>(threadIdx.x)) : nullptr;
    const Shape* either = shape ? shape : &local;
    asm volatile("" : "+r"(either));  // the compiler would see through it
    out[threadIdx.x] = either->area();
    free(shape);
}
template <bool repaired>
void run_virtual_in_heap() {
    Device<int> out("out", 32);
    virtual_in_heap<repaired><<<1, 32>>>(out.get());
}
CORPUS_CASE(virtual_in_heap, "initcheck", "uninitialised", "memory from malloc");

template <bool repaired>
__global__ void virtual_in_shared(int* out) {
    __shared__ Square<repaired>* shape;
    alignas(8) __shared__ char room[sizeof(Square<repaired>)];
    if (threadIdx.x == 0) shape = new (room) Square<repaired>(3);
    __syncthreads();
    const Shape* seen = shape;
    asm volatile("" : "+r"(seen));
    out[threadIdx.x] = seen->area();
}
template <bool repaired>
void run_virtual_in_shared() {
    Device<int> out("out", 64);
    virtual_in_shared<repaired><<<1, 64>>>(out.get());
}
CORPUS_CASE(virtual_in_shared, "initcheck", "uninitialised", "room");

template <bool repaired>
__global__ void construct(Square<repaired>* shapes) {
    new (shapes + threadIdx.x) Square<repaired>(static_cast<int>(threadIdx.x));
}
__global__ void call(const Shape* shapes, int stride, int* out) {
    const auto* mine = reinterpret_cast<const char*>(shapes) + stride * static_cast<int>(threadIdx.x);
    out[threadIdx.x] = reinterpret_cast<const Shape*>(mine)->area();
}
template <bool repaired>
void run_virtual_in_global() {
    using Object = Square<repaired>;
    Device<char> room("room", 32 * sizeof(Object));
    Device<int> out("out", 32);
    construct<repaired><<<1, 32>>>(reinterpret_cast<Object*>(room.get()));
    call<<<1, 32>>>(reinterpret_cast<Object*>(room.get()), static_cast<int>(sizeof(Object)), out);
}
CORPUS_CASE(virtual_in_global, "initcheck", "uninitialised", "room");

template <bool repaired>
__global__ void texture_garbage(cudaTextureObject_t v, float* out) {
    out[threadIdx.x] = tex1Dfetch<float>(v, static_cast<int>(threadIdx.x));  // bad: texture_garbage
}
template <bool repaired>
void run_texture_garbage() {
    Device<unsigned short> v("v", 32);
    Device<float> out("out", 32);
    cudaMemset(v.get(), 0, repaired ? 64 : 60);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = v.get();
    resource.res.linear.desc = cudaCreateChannelDesc(16, 0, 0, 0, cudaChannelFormatKindUnsigned);
    resource.res.linear.sizeInBytes = 64;
    cudaTextureDesc description = {};
    description.readMode = cudaReadModeNormalizedFloat;
    cudaTextureObject_t texture = 0;
    cudaCreateTextureObject(&texture, &resource, &description, nullptr);
    texture_garbage<repaired><<<1, 32>>>(texture, out.get());
    cudaDestroyTextureObject(texture);
}
CORPUS_CASE(texture_garbage, "initcheck", "uninitialised", "v");

/// Compilers copy all sixteen bytes at once, with the four that are no member's.
struct Best {
    double value;
    int index;
};
template <bool repaired>
__global__ void best_of(int* out) {
    __shared__ Best best[64];
    best[threadIdx.x].value = 0.5 * static_cast<double>(threadIdx.x);
    if (repaired || threadIdx.x != 40) best[threadIdx.x].index = static_cast<int>(threadIdx.x);
    __syncthreads();
    for (unsigned half = 32; half > 0; half /= 2) {
        if (threadIdx.x < half && best[threadIdx.x + half].value > best[threadIdx.x].value)
            best[threadIdx.x] = best[threadIdx.x + half];  // bad: padded_struct
        __syncthreads();
    }
    out[threadIdx.x] = best[0].index;
}
template <bool repaired>
void run_padded_struct() {
    Device<int> out("out", 64);
    best_of<repaired><<<1, 64>>>(out.get());
}
CORPUS_CASE(padded_struct, "initcheck", "uninitialised", "best");

/// Three words are written one by one: the fourth is no padding.
template <bool repaired>
__global__ void fourth_of_four(float4* out) {
    __shared__ float4 v[32];
    v[threadIdx.x].x = 1, v[threadIdx.x].y = 2, v[threadIdx.x].z = 3;
    if (repaired) v[threadIdx.x].w = 4;
    __syncthreads();
    out[threadIdx.x] = v[31 - threadIdx.x];  // bad: fourth_of_four
}
template <bool repaired>
void run_fourth_of_four() {
    Device<float4> out("out", 32);
    fourth_of_four<repaired><<<1, 32>>>(out.get());
}
CORPUS_CASE(fourth_of_four, "initcheck", "uninitialised", "v");

/// Copied from a place in the middle of eight bytes, at the beginning of its array.
struct Three {
    int a, b, c;
};
template <bool repaired>
__global__ void middle_of_eight(Three* out) {
    extern __shared__ int dynamic[];
    __shared__ int one;
    __shared__ int three[3];
    if (threadIdx.x == 0) one = dynamic[0] = 1, three[1] = 2, three[2] = 3;
    if (repaired && threadIdx.x == 0) three[0] = 1;
    __syncthreads();
    *out = *reinterpret_cast<const Three*>(three);  // bad: middle_of_eight
}
template <bool repaired>
void run_middle_of_eight() {
    Device<Three> out("out", 1);
    middle_of_eight<repaired><<<1, 1, 8>>>(out.get());
}
CORPUS_CASE(middle_of_eight, "initcheck", "uninitialised", "three");

}  // namespace
