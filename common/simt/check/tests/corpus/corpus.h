/// @file
/// The corpus of check mode: small kernels that have one fault each, and their repaired twins.
///
/// A case is a template on `repaired`. The lines where its finding lies carry a comment `bad: NAME`; the test
/// reads them from the source, runs both twins under many orders, and compares.
#pragma once

#include <cuda_runtime.h>

#include <vector>

#include "simt/api.h"
#include "simt/inspect/check.h"

namespace corpus {

struct Case {
    const char* name;
    const char* file;
    const char* tool;
    const char* kind;
    const char* array;  ///< its name in the finding, "" if it has none
    void (*faulty)();
    void (*repaired)();
};

/// All of them; defined where they are tested, for an instrumented file has inline code for itself alone.
std::vector<Case>& cases();

struct Add {
    explicit Add(const Case& c) { cases().push_back(c); }
};

/// Device memory with a name.
template <class T>
class Device {
  public:
    Device(const char* name, size_t n) {
        cudaMalloc((void**)&data_, n * sizeof(T));
        simt::name_allocation(data_, name);
    }
    Device(const char* name, size_t n, T value) : Device(name, n) {
        const std::vector<T> host(n, value);
        cudaMemcpy(data_, host.data(), n * sizeof(T), cudaMemcpyHostToDevice);
    }
    ~Device() { cudaFree(data_); }
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;
    operator T*() const { return data_; }
    T* get() const { return data_; }

  private:
    T* data_ = nullptr;
};

}  // namespace corpus

/// Registers run_NAME<false>() and run_NAME<true>(), host functions that run the kernel.
#define CORPUS_CASE(name, tool, kind, array) \
    static const corpus::Add add_##name(     \
        {#name, __FILE__, tool, kind, array, run_##name<false>, run_##name<true>})
