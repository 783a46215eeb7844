// Whether CUDA starts in this process and opens memory of another: what a worker has to do on a GPU. The
// judge runs it held like a worker, once.
//   rungs_gpu_probe [HANDLE]   a cudaIpcMemHandle_t in hexadecimal digits

#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>

namespace {

int failed(const char* what, cudaError_t code) {
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(code));
    return 1;
}

}  // namespace

int main(int argc, char** argv) {
    if (const cudaError_t code = cudaFree(nullptr)) return failed("starting CUDA", code);
    if (argc < 2) return 0;
    cudaIpcMemHandle_t handle;
    if (std::strlen(argv[1]) != 2 * sizeof handle) return failed("the handle", cudaErrorInvalidValue);
    for (std::size_t i = 0; i < sizeof handle; ++i) {
        unsigned byte = 0;
        if (std::sscanf(argv[1] + 2 * i, "%2x", &byte) != 1)
            return failed("the handle", cudaErrorInvalidValue);
        handle.reserved[i] = static_cast<char>(byte);
    }
    void* memory = nullptr;
    if (const cudaError_t code = cudaIpcOpenMemHandle(&memory, handle, cudaIpcMemLazyEnablePeerAccess))
        return failed("opening the judge's memory", code);
    return 0;
}
