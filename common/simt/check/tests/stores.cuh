/// @file
/// Functions of a header that store where they are told to: check_test.cpp asks who called them.
#pragma once

#include <cuda_runtime.h>

static __device__ __forceinline__ void store_inlined(int* to, int i) { to[i] = 1; }
static __device__ __noinline__ void store_apart(int* to, int i) { to[i] = 2; }
