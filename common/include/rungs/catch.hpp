#pragma once
// Catch2, and tests that cannot run everywhere.

#include <cstdio>
#include <string>

#include "testing/catch.h"

/// Ends a test that cannot run here, with the reason. CTest shows it as Skipped, never as a pass. Use it in
/// the body of the test case, not in a function that it calls.
#define RUNGS_SKIP(reason)                                       \
    do {                                                         \
        std::printf("[SKIP] %s\n", std::string(reason).c_str()); \
        std::fflush(stdout);                                     \
        simt_testing::skipped.one = true;                        \
        SUCCEED("[SKIP]");                                       \
        return;                                                  \
    } while (0)

/// Ends a test that needs a CUDA device where there is none: nvcc without a GPU. The CPU backend has one
/// always. The file has to include <cuda_runtime.h>.
#define RUNGS_NEEDS_DEVICE()                                                           \
    do {                                                                               \
        int rungs_devices = 0;                                                         \
        if (cudaGetDeviceCount(&rungs_devices) != cudaSuccess || rungs_devices == 0) { \
            simt_testing::skipped.everything = true;                                   \
            RUNGS_SKIP("no CUDA device here");                                         \
        }                                                                              \
    } while (0)
