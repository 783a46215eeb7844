/// @file
/// What a generated file of kernels and the program that runs them agree on.
#pragma once

#include <cuda_runtime.h>

#include <vector>

namespace fuzz {

constexpr unsigned inputs = 64;       ///< elements of Memory::in
constexpr unsigned most_lanes = 512;  ///< of a launch
constexpr unsigned sums = 8;          ///< elements of Memory::sums

/// What a kernel is given.
struct Memory {
    const unsigned* in;
    unsigned* out;   ///< an element for every lane
    unsigned* sums;  ///< for atomics
};

struct Case {
    int number;
    dim3 grid, block;
    unsigned n;
    void (*run)(const Case&, Memory);
};
/// Defined by the generated file.
extern const std::vector<Case> cases;

}  // namespace fuzz
