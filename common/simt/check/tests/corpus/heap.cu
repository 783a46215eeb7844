// malloc, free, new and delete in kernels: the device has a heap of its own.
#include "check/tests/corpus/corpus.h"

using corpus::Device;

namespace {

constexpr const char* name = "memory from malloc";

template <bool repaired>
__global__ void heap_past_end(int* out, int n) {
    auto* mine = static_cast<int*>(malloc(static_cast<size_t>(n) * sizeof(int)));
    int sum = 0;
    for (int i = 0; i < n; ++i) mine[i] = i;
    for (int i = 0; repaired ? i < n : i <= n; ++i) sum += mine[i];  // bad: heap_past_end
    out[threadIdx.x] = sum;
    free(mine);
}
template <bool repaired>
void run_heap_past_end() {
    Device<int> out("out", 32);
    heap_past_end<repaired><<<1, 32>>>(out.get(), 7);
}
CORPUS_CASE(heap_past_end, "memcheck", "out-of-bounds", name);

template <bool repaired>
__global__ void heap_new(int* out, int n) {
    int* mine = new int[static_cast<size_t>(n)];
    int* one = new int(5);
    int sum = *one;
    for (int i = 0; i < n; ++i) mine[i] = i;
    for (int i = 0; i < n; ++i) sum += mine[repaired ? i : i - 1];  // bad: heap_new
    out[threadIdx.x] = sum;
    delete one;
    delete[] mine;
}
template <bool repaired>
void run_heap_new() {
    Device<int> out("out", 32);
    heap_new<repaired><<<1, 32>>>(out.get(), 7);
}
CORPUS_CASE(heap_new, "memcheck", "out-of-bounds", name);

template <bool repaired>
__global__ void heap_after_free(int* out) {
    auto* mine = static_cast<volatile int*>(malloc(sizeof(int)));
    *mine = 1;
    auto* given_up = const_cast<int*>(mine);
    asm volatile("" : "+r"(given_up));  // the compiler would see through it
    if (!repaired) free(given_up);
    out[threadIdx.x] = *mine;  // bad: heap_after_free
    if (repaired) free(given_up);
}
template <bool repaired>
void run_heap_after_free() {
    Device<int> out("out", 8);
    heap_after_free<repaired><<<1, 8>>>(out.get());
}
CORPUS_CASE(heap_after_free, "memcheck", "use-after-free", name);

template <bool repaired>
__global__ void heap_double_free() {
    __shared__ int* block;
    if (threadIdx.x == 0) block = static_cast<int*>(malloc(16));
    __syncthreads();
    block[threadIdx.x] = 1;
    __syncthreads();
    if (!repaired || threadIdx.x == 0) free(block);  // bad: heap_double_free
}
template <bool repaired>
void run_heap_double_free() {
    heap_double_free<repaired><<<2, 4>>>();
}
CORPUS_CASE(heap_double_free, "memcheck", "double-free", name);

template <bool repaired>
__global__ void heap_wrong_owner(int* v) {
    auto* mine = static_cast<int*>(malloc(16));
    free(repaired ? mine : v);  // bad: heap_wrong_owner
}
template <bool repaired>
void run_heap_wrong_owner() {
    Device<int> v("v", 4, 0);
    heap_wrong_owner<repaired><<<1, 1>>>(v.get());
}
CORPUS_CASE(heap_wrong_owner, "memcheck", "invalid-free", "v");

__device__ int* kept;
__global__ void keep_some() { kept = static_cast<int*>(malloc(16)); }
__global__ void free_kept() { free(kept); }
template <bool repaired>
void run_heap_freed_by_host() {
    keep_some<<<1, 1>>>();
    int* host = nullptr;
    cudaMemcpyFromSymbol(&host, kept, sizeof host);
    if (repaired)
        free_kept<<<1, 1>>>();
    else
        free(host);  // bad: heap_freed_by_host
}
CORPUS_CASE(heap_freed_by_host, "memcheck", "invalid-free", name);

template <bool repaired>
__global__ void heap_leak(int* out) {
    auto* mine = static_cast<int*>(malloc(16));  // bad: heap_leak
    kept = mine;                                 // the compiler would do without it
    mine[0] = 1;
    out[threadIdx.x] = mine[0];
    if (repaired) free(mine);
}
template <bool repaired>
void run_heap_leak() {
    Device<int> out("out", 4);
    const std::uint64_t before = simt::check::allocations();
    heap_leak<repaired><<<1, 1>>>(out.get());
    simt::check::find_leaks(before);
}
CORPUS_CASE(heap_leak, "memcheck", "leak", name);

// The heap is not endless: malloc returns null, and code that does not look meets it.
template <bool repaired>
__global__ void heap_exhausted(int* out) {
    auto* mine = static_cast<int*>(malloc(size_t{1} << 22));
    if (!repaired || mine != nullptr) mine[0] = 1;  // bad: heap_exhausted
    out[threadIdx.x] = mine == nullptr;
    __syncthreads();
    free(mine);
}
template <bool repaired>
void run_heap_exhausted() {
    Device<int> out("out", 4);
    heap_exhausted<repaired><<<1, 4>>>(out.get());
}
CORPUS_CASE(heap_exhausted, "memcheck", "null-pointer", "");

template <bool repaired>
__global__ void heap_uninitialised(int* out) {
    auto* mine = static_cast<int*>(malloc(4 * sizeof(int)));
    for (int i = 0; i < (repaired ? 4 : 3); ++i) mine[i] = i;
    int sum = 0;
    for (int i = 0; i < 4; ++i) sum += mine[i];  // bad: heap_uninitialised
    out[threadIdx.x] = sum;
    free(mine);
}
template <bool repaired>
void run_heap_uninitialised() {
    Device<int> out("out", 4);
    heap_uninitialised<repaired><<<1, 4>>>(out.get());
}
CORPUS_CASE(heap_uninitialised, "initcheck", "uninitialised", name);

template <bool repaired>
__global__ void heap_race(int* out) {
    __shared__ int* block;
    if (threadIdx.x == 0) block = static_cast<int*>(malloc(64 * sizeof(int)));
    __syncthreads();
    block[threadIdx.x] = 1;  // bad: heap_race
    if (repaired) __syncthreads();
    out[threadIdx.x] = block[63 - threadIdx.x];  // bad: heap_race
    __syncthreads();
    if (threadIdx.x == 0) free(block);
}
template <bool repaired>
void run_heap_race() {
    Device<int> out("out", 64);
    heap_race<repaired><<<1, 64>>>(out.get());
}
CORPUS_CASE(heap_race, "racecheck", "read-write", name);

}  // namespace
