#pragma once
// What CUDA_CHECK calls. Includes nothing: every rung includes this, and waits for its compiler.

namespace rungs {

/// @throws CudaError (rungs/cuda_error.hpp) always
[[noreturn]] void throw_cuda_error(int code, const char* name, const char* text, const char* expression,
                                   const char* file, int line);

}  // namespace rungs
