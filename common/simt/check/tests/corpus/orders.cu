// What operations of cuda::atomic order by themselves, and static variables of device functions.
#include <cuda/atomic>

#include "check/tests/corpus/corpus.h"

using corpus::Device;

namespace {

using Flag = cuda::atomic_ref<int, cuda::thread_scope_device>;
constexpr auto relaxed = cuda::memory_order_relaxed;

// ---- Orders -----------------------------------------------------------------------------------------------

/// Block 0 leaves a value, and all others wait for it.
template <class Write, class Read>
__device__ void hand_on(int* value, int* out, Write write, Read read) {
    if (blockIdx.x == 0) {
        *value = 7;  // bad: relaxed_store relaxed_load block_scope relaxed_fences acquire_alone
        write();
    } else {
        while (!read()) {
        }
        out[blockIdx.x] = *value;  // bad: relaxed_store relaxed_load block_scope relaxed_fences acquire_alone
    }
}
template <class Kernel>
void run_hand_on(Kernel kernel) {
    Device<int> flag("flag", 1, 0), value("value", 1, 0), out("out", 3, 0);
    kernel<<<3, 1>>>(flag.get(), value.get(), out.get());
}

template <bool repaired>
__global__ void relaxed_store(int* flag, int* value, int* out) {
    hand_on(
        value, out, [=] { Flag(*flag).store(1, repaired ? cuda::memory_order_release : relaxed); },
        [=] { return Flag(*flag).load(cuda::memory_order_acquire) != 0; });
}
template <bool repaired>
void run_relaxed_store() {
    run_hand_on(relaxed_store<repaired>);
}
CORPUS_CASE(relaxed_store, "racecheck", "read-write", "value");

template <bool repaired>
__global__ void relaxed_load(int* flag, int* value, int* out) {
    hand_on(
        value, out, [=] { Flag(*flag).store(1); },
        [=] { return Flag(*flag).load(repaired ? cuda::memory_order_seq_cst : relaxed) != 0; });
}
template <bool repaired>
void run_relaxed_load() {
    run_hand_on(relaxed_load<repaired>);
}
CORPUS_CASE(relaxed_load, "racecheck", "read-write", "value");

template <bool repaired>
__global__ void block_scope(int* flag, int* value, int* out) {
    constexpr auto scope = repaired ? cuda::thread_scope_device : cuda::thread_scope_block;
    hand_on(
        value, out, [=] { cuda::atomic_ref<int, scope>(*flag).store(1, cuda::memory_order_release); },
        [=] { return Flag(*flag).load(cuda::memory_order_acquire) != 0; });
}
template <bool repaired>
void run_block_scope() {
    run_hand_on(block_scope<repaired>);
}
CORPUS_CASE(block_scope, "racecheck", "read-write", "value");

/// Fences order around operations that do not.
template <bool repaired>
__global__ void relaxed_fences(int* flag, int* value, int* out) {
    const auto fence = [](cuda::memory_order order) {
        cuda::atomic_thread_fence(repaired ? order : relaxed, cuda::thread_scope_device);
    };
    hand_on(
        value, out,
        [=] {
            fence(cuda::memory_order_release);
            Flag(*flag).store(1, relaxed);
        },
        [=] {
            if (Flag(*flag).load(relaxed) == 0) return false;
            fence(cuda::memory_order_acquire);
            return true;
        });
}
template <bool repaired>
void run_relaxed_fences() {
    run_hand_on(relaxed_fences<repaired>);
}
CORPUS_CASE(relaxed_fences, "racecheck", "read-write", "value");

/// An acquiring operation that writes does not release.
template <bool repaired>
__global__ void acquire_alone(int* flag, int* value, int* out) {
    hand_on(
        value, out,
        [=] { Flag(*flag).exchange(1, repaired ? cuda::memory_order_acq_rel : cuda::memory_order_acquire); },
        [=] {
            int one = 1;
            return Flag(*flag).compare_exchange_strong(one, 1, cuda::memory_order_acquire, relaxed);
        });
}
template <bool repaired>
void run_acquire_alone() {
    run_hand_on(acquire_alone<repaired>);
}
CORPUS_CASE(acquire_alone, "racecheck", "read-write", "value");

/// What block 0 has left goes by block 1, whose addition stands between, to block 2; without an order of its
/// own it passes block 0's on, and nothing of its own.
template <bool repaired>
__global__ void release_sequence(int* flag, int* value, int* out) {
    const Flag count(*flag);
    if (blockIdx.x == 0) {
        value[0] = 7;
        count.store(1, cuda::memory_order_release);
    } else if (blockIdx.x == 1) {
        value[1] = 8;  // bad: release_sequence
        while (count.load(relaxed) == 0) {
        }
        count.fetch_add(1, repaired ? cuda::memory_order_release : relaxed);
    } else {
        while (count.load(cuda::memory_order_acquire) < 2) {
        }
        *out = value[0] + value[1];  // bad: release_sequence
    }
}
template <bool repaired>
void run_release_sequence() {
    Device<int> flag("flag", 1, 0), value("value", 2, 0), out("out", 1, 0);
    release_sequence<repaired><<<3, 1>>>(flag.get(), value.get(), out.get());
}
CORPUS_CASE(release_sequence, "racecheck", "read-write", "value");

/// The block that comes last adds up what all have left, and clears the counter by a plain store.
template <bool repaired>
__global__ void last_block_in_order(int* flag, int* value, int* out) {
    __shared__ bool last;
    value[blockIdx.x * blockDim.x + threadIdx.x] = 1;  // bad: last_block_in_order
    __syncthreads();
    if (threadIdx.x == 0)
        last = Flag(*flag).fetch_add(1, repaired ? cuda::memory_order_acq_rel : cuda::memory_order_acquire) ==
               static_cast<int>(gridDim.x) - 1;
    __syncthreads();
    if (!last) return;
    int sum = 0;
    for (unsigned b = 0; b < gridDim.x; ++b)
        sum += value[b * blockDim.x + threadIdx.x];  // bad: last_block_in_order
    out[threadIdx.x] = sum;
    if (repaired && threadIdx.x == 0) *flag = 0;
}
template <bool repaired>
void run_last_block_in_order() {
    Device<int> flag("flag", 1, 0), value("value", 4 * 64, 0), out("out", 64, 0);
    last_block_in_order<repaired><<<4, 64>>>(flag.get(), value.get(), out.get());
}
CORPUS_CASE(last_block_in_order, "racecheck", "read-write", "value");

/// A spin lock.
template <bool repaired>
__global__ void lock_in_order(int* flag, int* value) {
    const Flag lock(*flag);
    for (int free = 0; !lock.compare_exchange_weak(free, 1, cuda::memory_order_acquire, relaxed); free = 0) {
    }
    *value = *value + 1;  // bad: lock_in_order
    lock.store(0, repaired ? cuda::memory_order_release : relaxed);
}
template <bool repaired>
void run_lock_in_order() {
    Device<int> flag("flag", 1, 0), value("value", 1, 0);
    lock_in_order<repaired><<<4, 1>>>(flag.get(), value.get());
}
CORPUS_CASE(lock_in_order, "racecheck", "read-write write-write", "value");

/// One order of a block's own, then one of the device's, are a chain.
template <bool repaired>
__global__ void chain_of_scopes(int* flag, int* value, int* out) {
    using Own = cuda::atomic_ref<int, cuda::thread_scope_block>;
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        *value = 7;  // bad: chain_of_scopes
        Own(flag[0]).store(1, repaired ? cuda::memory_order_release : relaxed);
    } else if (blockIdx.x == 0 && threadIdx.x == 32) {
        while (Own(flag[0]).load(cuda::memory_order_acquire) == 0) {
        }
        Flag(flag[1]).store(1, cuda::memory_order_release);
    } else if (blockIdx.x == 1 && threadIdx.x == 0) {
        Flag(flag[1]).wait(0, cuda::memory_order_acquire);
        *out = *value;  // bad: chain_of_scopes
    }
}
template <bool repaired>
void run_chain_of_scopes() {
    Device<int> flag("flag", 2, 0), value("value", 1, 0), out("out", 1, 0);
    chain_of_scopes<repaired><<<2, 64>>>(flag.get(), value.get(), out.get());
}
CORPUS_CASE(chain_of_scopes, "racecheck", "read-write", "value");

// ---- Static variables -------------------------------------------------------------------------------------

template <class T>
__device__ T next(T by) {
    static T calls = 0;
    return atomicAdd(&calls, by);
}
/// Host and device have one each.
__host__ __device__ inline int count_up() {
    static int calls = 0;
    return ++calls;
}

template <bool repaired>
__global__ void static_counter(int* out) {
    static int count, others[2];
    static const int weights[2] = {2, 3};
    if (repaired)
        atomicAdd(&count, 1);
    else
        ++count;  // bad: static_counter
    out[threadIdx.x] = weights[next(1) % 2] + static_cast<int>(next(1u));
    if (threadIdx.x == 0) others[1] += count_up();
    const auto inner = [](int by) {
        static int inside = 5;
        return atomicAdd(&inside, by);
    };
    out[threadIdx.x] += inner(1);
}
template <bool repaired>
void run_static_counter() {
    Device<int> out("out", 32);
    for (int launch = 0; launch < 2; ++launch) static_counter<repaired><<<1, 32>>>(out.get());
    cudaDeviceSynchronize();
    count_up();
}
CORPUS_CASE(static_counter, "racecheck", "read-write write-write", "count");

template <bool repaired>
__global__ void static_past_end(int n) {
    static int values[32];
    int* const p = values;
    if (!repaired || static_cast<int>(threadIdx.x) < n) p[threadIdx.x] = 1;  // bad: static_past_end
}
template <bool repaired>
void run_static_past_end() {
    static_past_end<repaired><<<1, 33>>>(32);
}
CORPUS_CASE(static_past_end, "memcheck", "out-of-bounds", "values");

template <class T>
__device__ T instance = T(4);

template <bool repaired>
__global__ void variable_template(int* out) {
    out[threadIdx.x] = instance<int>;
    if (repaired)
        atomicAdd(&instance<unsigned>, 1u);
    else
        instance<unsigned> = threadIdx.x;  // bad: variable_template
}
template <bool repaired>
void run_variable_template() {
    Device<int> out("out", 32);
    const int five = 5;
    cudaMemcpyToSymbol(instance<int>, &five, sizeof five);
    variable_template<repaired><<<1, 32>>>(out.get());
}
CORPUS_CASE(variable_template, "racecheck", "write-write", "instance<unsigned>");

}  // namespace
