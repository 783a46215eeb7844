// The current lane of every OS thread.
#include "simt/lane.h"

#include "runtime/worker.h"

SIMT_THREAD_LOCAL uint3 threadIdx = {};
SIMT_THREAD_LOCAL uint3 blockIdx = {};
SIMT_THREAD_LOCAL dim3 blockDim = {};
SIMT_THREAD_LOCAL dim3 gridDim = {};

namespace simt {

SIMT_THREAD_LOCAL Execution execution = {};
SIMT_THREAD_LOCAL Worker* this_worker = nullptr;

}  // namespace simt
