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
