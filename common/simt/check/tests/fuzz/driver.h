/// @file
/// What a generated file of kernels and the program that runs them agree on.
#pragma once

#include <cuda_runtime.h>

#include <cstring>
#include <vector>

#include "simt/api.h"

namespace fuzz {

struct Case {
    int number;
    void (*run)();
};
/// Defined by the generated file.
extern const std::vector<Case> cases;

/// Device memory of which the first `written` elements have a value.
template <class T>
struct Array {
    Array(const char* name, std::size_t n, std::size_t written) {
        cudaMalloc(reinterpret_cast<void**>(&data), n * sizeof(T));
        simt::name_allocation(data, name);
        if (written > 0) cudaMemset(data, 1, written * sizeof(T));
    }
    ~Array() { cudaFree(data); }
    Array(const Array&) = delete;
    Array& operator=(const Array&) = delete;
    T* data = nullptr;
};

}  // namespace fuzz
