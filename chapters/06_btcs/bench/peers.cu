// cuSPARSE, called as a careful user would: the handle and the buffer are made once.

#include "bench/peers.cuh"

#include <cusparse.h>

#include <stdexcept>
#include <string>

#include "rungs/cuda_check.cuh"
#include "rungs/device_buffer.cuh"

namespace {

void check(cusparseStatus_t status) {
    if (status != CUSPARSE_STATUS_SUCCESS) {
        throw std::runtime_error(std::string("cuSPARSE: ") + cusparseGetErrorString(status));
    }
}

/// What calls need beside their arguments.
struct Library {
    cusparseHandle_t handle = nullptr;
    rungs::DeviceBuffer<unsigned char> buffer;

    Library() { check(cusparseCreate(&handle)); }

    void* room(std::size_t bytes) {
        if (buffer.size() < bytes) {
            buffer = {};  // frees before it allocates
            buffer = rungs::DeviceBuffer<unsigned char>(bytes);
        }
        return buffer.data();
    }
};

/// The one library of the process.
Library& library() {
    static Library one;
    return one;
}

Library& library(cudaStream_t stream) {
    check(cusparseSetStream(library().handle, stream));
    return library();
}

}  // namespace

void btcs::peers::gtsv2(const Systems& s, cudaStream_t stream) {
    Library& l = library(stream);
    std::size_t bytes = 0;
    check(cusparseSgtsv2_bufferSizeExt(l.handle, s.m, 1, s.lower, s.diagonal, s.upper, s.x, s.m, &bytes));
    check(cusparseSgtsv2(l.handle, s.m, 1, s.lower, s.diagonal, s.upper, s.x, s.m, l.room(bytes)));
}

void btcs::peers::gtsv2_nopivot(const Systems& s, cudaStream_t stream) {
    Library& l = library(stream);
    std::size_t bytes = 0;
    check(cusparseSgtsv2_nopivot_bufferSizeExt(l.handle, s.m, 1, s.lower, s.diagonal, s.upper, s.x, s.m,
                                               &bytes));
    check(cusparseSgtsv2_nopivot(l.handle, s.m, 1, s.lower, s.diagonal, s.upper, s.x, s.m, l.room(bytes)));
}

void btcs::peers::strided_batch(const Systems& s, cudaStream_t stream) {
    Library& l = library(stream);
    std::size_t bytes = 0;
    check(cusparseSgtsv2StridedBatch_bufferSizeExt(l.handle, s.m, s.lower, s.diagonal, s.upper, s.x, s.count,
                                                   s.m, &bytes));
    check(cusparseSgtsv2StridedBatch(l.handle, s.m, s.lower, s.diagonal, s.upper, s.x, s.count, s.m,
                                     l.room(bytes)));
}

void btcs::peers::interleaved_batch(const Systems& s, cudaStream_t stream) {
    Library& l = library(stream);
    std::size_t bytes = 0;
    check(cusparseSgtsvInterleavedBatch_bufferSizeExt(l.handle, 0, s.m, s.lower, s.diagonal, s.upper, s.x,
                                                      s.count, &bytes));
    check(cusparseSgtsvInterleavedBatch(l.handle, 0, s.m, s.lower, s.diagonal, s.upper, s.x, s.count,
                                        l.room(bytes)));
}
