#pragma once
// What CUDA_CHECK throws. Without CUDA's own headers, and compiled once.

#include <stdexcept>
#include <string>

#include "rungs/throw_cuda_error.hpp"

namespace rungs {

/// What a CUDA error usually means in a program like ours, and what to try. Empty for codes without advice.
/// @param expression  the call that returned it, where it is known
const char* cuda_hint(int code, const std::string& expression = {});

/// A CUDA call that failed: what was called, where, and why. Errors of a kernel show up at a later call
/// (launches are asynchronous), so `expression` may be innocent: synchronise after each launch to find
/// the guilty one.
class CudaError : public std::runtime_error {
  public:
    CudaError(int code, const char* name, const char* text, const char* expression, const char* file,
              int line);
    CudaError(const CudaError&) = default;
    CudaError& operator=(const CudaError&) = default;
    ~CudaError() override;

    int code() const { return code_; }                             ///< the cudaError_t
    const std::string& expression() const { return expression_; }  ///< the source text of the call
    const std::string& file() const { return file_; }
    int line() const { return line_; }
    const std::string& name() const { return name_; }  ///< "cudaErrorMemoryAllocation"
    const std::string& text() const { return text_; }  ///< CUDA's own words, except where they mislead
    std::string hint() const { return cuda_hint(code_, expression_); }  ///< what to try; may be empty

  private:
    int code_;
    std::string expression_;
    std::string file_;
    int line_;
    std::string name_;
    std::string text_;
};

}  // namespace rungs
