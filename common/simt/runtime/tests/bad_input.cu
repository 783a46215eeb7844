// What students hand in once: kernels without end, too many threads, too much memory, and the ways to crash.
#include "runtime/tests/bad_input.h"

#include <cuda_runtime.h>

#include <cassert>
#include <cstdlib>
#include <stdexcept>

namespace bad_input {
namespace {

__managed__ int result;
__managed__ volatile int flag;
__managed__ int plain_flag;

#define HERE static_cast<unsigned>(__LINE__)

__global__ void endless() {
    if (threadIdx.x == 3)
        while (true) {
        }
}
constexpr unsigned endless_line = HERE - 3;

__global__ void endless_with_memory() {
    for (int i = 0;; ++i)
        if (threadIdx.x == 0) static_cast<volatile int&>(result) = i;  // a plain store would leave the loop
}
constexpr unsigned endless_with_memory_line = HERE - 3;

__global__ void waits_for_a_flag() {
    while (flag == 0) {
    }
}
constexpr unsigned waits_for_a_flag_line = HERE - 3;

__global__ void waits_for_a_plain_flag() {
    while (plain_flag == 0) {
    }
}

// Far more work than the limit allows, on any machine: 10^11 threads.
__global__ void small_work() { result = static_cast<int>(threadIdx.x); }

__global__ void much_shared() {
    __shared__ char tile[100 << 20];
    tile[threadIdx.x] = 1;
    __syncthreads();
    result = tile[0];
}
constexpr unsigned much_shared_line = HERE - 5;

__device__ __noinline__ int deep(int n) {
    volatile int here = n;
    return n == -1 ? 0 : deep(n + 1) + here;
}
__global__ void recursion() { result = deep(0); }

__global__ void large_local(int n) {
    volatile char local[1 << 20];
    for (int i = 0; i < n; ++i) local[i * 4096] = static_cast<char>(i);
    result = local[0];
}
__global__ void throws() {
    if (threadIdx.x == 4) throw std::runtime_error("out of luck");
}
__global__ void divides(int by) {
    result = 10 / by;
}
constexpr unsigned divides_line = HERE - 2;
__global__ void aborts() {
    if (threadIdx.x == 2) std::abort();
}
__global__ void asserts() { assert(threadIdx.x != 5); }
constexpr unsigned asserts_line = HERE - 1;
__global__ void store() { result = 42; }

}  // namespace

const std::vector<Case>& cases() {
    static const std::vector<Case> list = {
        {"endless", [] { endless<<<2, 32>>>(); }, "has run for", "timeout", endless_line},
        {"endless with memory", [] { endless_with_memory<<<2, 32>>>(); }, "has run for", "timeout",
         endless_with_memory_line},
        {"a flag", [] { waits_for_a_flag<<<1, 32>>>(); }, "every thread has only waited or polled", "livelock",
         waits_for_a_flag_line},
        {"a plain flag", [] { waits_for_a_plain_flag<<<1, 32>>>(); }, "has run for", "timeout",
         0},  // the compiler has made it another loop
        {"10^9 threads in a block", [] { small_work<<<1, 1000000000>>>(); },
         "was not launched: a block of 1000000000 x 1 x 1 threads", "refused-launch", 0},
        {"10^11 threads", [] { small_work<<<100000000, 1000>>>(); }, "has run for", "timeout", 0},
        {"no blocks", [] { small_work<<<0, 32>>>(); }, "a grid of 0 x 1 x 1 blocks has none", "refused-launch", 0},
        {"100 MB dynamic", [] { small_work<<<1, 32, 100 << 20>>>(); },
         "was not launched: 104857600 bytes of dynamic shared memory", "refused-launch", 0},
        {"100 MB static", [] { much_shared<<<1, 32>>>(); }, "shared array 'tile' of 104857600 bytes does not fit",
         "failure", much_shared_line},
        // No line: where the stack ends, the code may be one of the checks' own functions.
        {"recursion", [] { recursion<<<1, 32>>>(); }, "stack overflow", "crash", 0},
        {"local array", [] { large_local<<<1, 32>>>(1); }, "stack overflow", "crash", 0},
        {"exception", [] { throws<<<1, 32>>>(); }, "an exception left the kernel: out of luck", "failure", 0},
        {"division", [] { divides<<<1, 32>>>(flag); }, "integer division by zero", "crash", divides_line},
        {"assertion", [] { asserts<<<1, 32>>>(); }, "assertion 'threadIdx.x != 5' failed", "assertion", asserts_line},
        {"abort", [] { aborts<<<1, 32>>>(); }, "abort()", "crash", 0},
    };
    return list;
}

bool works() {
    result = 0;
    store<<<2, 32>>>();
    return cudaDeviceSynchronize() == cudaSuccess && result == 42;
}

}  // namespace bad_input
