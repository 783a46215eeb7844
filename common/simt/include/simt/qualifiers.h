/// @file
/// CUDA's keywords as macros of the CPU backend.
///
/// `__shared__` is missing on purpose: the translator rewrites it, and one that it did not rewrite (because a
/// macro produced it) has to stop the compiler. `__noinline__` is missing because libstdc++ uses that word
/// inside attributes, where a macro would break it; the translator rewrites it too.
#pragma once

/// 1 when a `.cu` file is compiled for the CPU backend.
#define RUNGS_SIMT 1
#define __SIMT__ 1

// What nvcc 13.0 says of itself, for code that asks whether it is compiled as CUDA, and the guards of the
// toolkit's headers, by which helper headers tell that the runtime API is there. `__CUDA_ARCH__` is not
// defined: there is one compilation, for host and device code alike. The translator decides what asks for it.
#if defined(__cplusplus) && !defined(__CUDACC__)  // C is never nvcc's own
#define __CUDACC__ 1
#define __NVCC__ 1
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_VER_BUILD__ 0
#define __CUDA_ARCH_LIST__ 900
#endif
#define __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_API_H__
#define __DRIVER_TYPES_H__
#define __VECTOR_TYPES_H__

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __inline_hint__
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __nv_pure__ __attribute__((pure))
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __device_builtin__
#define __cudart_builtin__
#define CUDARTAPI
#define CUDART_CB
#define CUDART_VERSION 13000
