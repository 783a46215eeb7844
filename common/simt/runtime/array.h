/// @file
/// Arrays as the runtime keeps them: rows without padding, slices one after the other.
#pragma once

#include <cstddef>

#include "simt/structures.h"

struct cudaArray {
    cudaChannelFormatDesc format;
    cudaExtent extent;  ///< as the program gave it: 0 for dimensions that do not exist
    unsigned flags;
    std::size_t element;  ///< bytes of a texel
    char* data;

    std::size_t rows() const { return extent.height ? extent.height : 1; }
    std::size_t slices() const { return extent.depth ? extent.depth : 1; }
    std::size_t pitch() const { return extent.width * element; }
};

namespace simt {

/// Bytes of a texel, or 0 if CUDA has no such format.
std::size_t texel_bytes(const cudaChannelFormatDesc& format);
/// True if `array` was made and not yet freed.
bool array_exists(cudaArray_const_t array);
/// Frees all arrays: cudaDeviceReset().
void reset_arrays();

}  // namespace simt
