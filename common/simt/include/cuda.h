/// @file
/// The CPU backend has only one function of the driver API; programs include this header for
/// `CUDA_VERSION`, and compare what the runtime API gives with `CUDA_SUCCESS`.
#pragma once

#include "simt/api.h"

#define CUDA_VERSION 13000

typedef enum cudaError_enum { CUDA_SUCCESS = 0, CUDA_ERROR_INVALID_VALUE = 1 } CUresult;

/// Device memory in bytes: what is free, and all there is.
static inline CUresult cuMemGetInfo(size_t* free, size_t* total) {
    return cudaMemGetInfo(free, total) == cudaSuccess ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
