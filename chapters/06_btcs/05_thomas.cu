// Thomas's algorithm for many systems at once: down the rows, and back up. It is as sequential as can be, so
// a thread does a whole system, and its neighbours do the systems beside it.

#include <stdexcept>

#include "btcs.cuh"
#include "rows.cuh"
#include "rungs/cuda_check.cuh"
#include "rungs/scratch.cuh"

// TODO 5.1: the kernel, thomas_kernel. A thread owns a system. btcs::dominated() says whether a row can be
// trusted; status gets the first one that cannot, and all of x is NaN then.

void btcs::thomas(const float* lower, const float* diagonal, const float* upper, const float* rhs, float* x,
                  int* status, int m, int systems, cudaStream_t stream) {
    if (m > most_rows) throw std::invalid_argument("a system of a batch has most_rows rows at most");
    // TODO 5.2: the launch. What a thread has to remember of each row can go to
    // rungs::stream_workspace(stream, bytes).
}
