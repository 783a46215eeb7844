// Right, but says that no launch has ever failed.
//
//     verdicts = ["COMPILE_ERROR"]
//     defences = ["symbols"]
//     checks = false
//     control_on_cpu_alone = true

// Right, but says that no launch has ever failed.

#include <cuda_runtime.h>

cudaError_t cudaGetLastError() { return cudaSuccess; }

static void attack() {

}

#include "honest.cuh"
