/// @file
/// Copies from global to shared memory that a device makes while its threads go on. They are
/// made at once here.
#pragma once

#include <cstddef>

#include "cuda_runtime.h"

/// Copies 4, 8 or 16 bytes, both places aligned to as many. The last `zeros` of them are 0 and not read.
SIMT_DEVICE void __pipeline_memcpy_async(void* to, const void* from, std::size_t bytes,
                                         std::size_t zeros = 0) {
    if (zeros == 0 && bytes == 16)
        *static_cast<int4*>(to) = *static_cast<const int4*>(from);
    else if (zeros == 0 && bytes == 8)
        *static_cast<int2*>(to) = *static_cast<const int2*>(from);
    else
        for (std::size_t i = 0; i < bytes; ++i)
            static_cast<unsigned char*>(to)[i] = i + zeros < bytes
                                                     ? static_cast<const unsigned char*>(from)[i]
                                                     : static_cast<unsigned char>(0);
}

/// Ends a batch of copies.
SIMT_DEVICE void __pipeline_commit() {}

/// Waits until all of the thread's batches have arrived but the last `prior`; all of them, here.
SIMT_DEVICE void __pipeline_wait_prior(std::size_t prior) { (void)prior; }
