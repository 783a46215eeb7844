#pragma once
/// @file
/// Given: the reciprocal root as the GPU has it.

#include <cuda_runtime.h>

namespace nbody {

/// 1 / sqrt(x) for a normal float x > 0, to 2 units in the last place: one instruction of a GPU.
///
/// `rsqrtf` does the same and takes three more instructions for numbers below 1e-38, which no distance is
/// here. The compiler's flag -ftz=true drops those three too, but it applies to a whole file.
inline __device__ float inverse_sqrt(float x) {
#ifndef __SIMT__
    float y;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#else
    return rsqrtf(x);  // the CPU backend: a CPU has no such instruction
#endif
}

}  // namespace nbody
