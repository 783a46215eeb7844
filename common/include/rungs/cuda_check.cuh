#pragma once
// CUDA_CHECK(call) turns the status of a CUDA call into an exception: one broken rung then fails one test,
// not the whole run. Works the same with nvcc and with the CPU backend; C++17, light enough for every rung.

#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

namespace rungs {

/// What a CUDA error usually means in a program like ours, and what to try. Empty for codes without advice.
inline const char* cuda_hint(int code) {
    switch (code) {
        case 1:  // cudaErrorInvalidValue
            return "an argument is out of range: a null or host pointer, a negative size, or a copy longer "
                   "than its buffer";
        case 2:  // cudaErrorMemoryAllocation
            return "the device has too little free memory: use a smaller size, or free buffers you no longer "
                   "need (nvidia-smi shows who holds memory)";
        case 3:  // cudaErrorInitializationError
            return "the driver could not start: run `nvidia-smi`; in a container, was the GPU passed in?";
        case 9:  // cudaErrorInvalidConfiguration
            return "the launch asks for too much or for nothing: a grid of zero blocks (is n = 0?), more "
                   "than 1024 threads in a block, or a grid with y or z beyond 65535";
        case 13:  // cudaErrorInvalidSymbol
            return "pass the __device__ or __constant__ variable itself, not its name in quotes nor its "
                   "address";
        case 35:  // cudaErrorInsufficientDriver
            return "use the CPU backend (--backend cpu), or install a driver that supports this CUDA version";
        case 98:   // cudaErrorInvalidDeviceFunction
        case 209:  // cudaErrorNoKernelImageForDevice
            return "the program was compiled for another GPU architecture: set CMAKE_CUDA_ARCHITECTURES to "
                   "this GPU's compute capability and build again";
        case 100:  // cudaErrorNoDevice
            return "no CUDA device is visible: look at `nvidia-smi` and at the variable CUDA_VISIBLE_DEVICES";
        case 101:  // cudaErrorInvalidDevice
            return "there are fewer devices than the number asked for; they count from 0";
        case 222:  // cudaErrorUnsupportedPtxVersion
            return "the driver is older than the compiler and cannot read its PTX: build for this GPU's own "
                   "architecture (CMAKE_CUDA_ARCHITECTURES), or update the driver";
        case 400:  // cudaErrorInvalidResourceHandle
            return "a stream, event or graph was used after it was destroyed, or on another device";
        case 600:  // cudaErrorNotReady
            return "not a failure: the work is still running; synchronise before asking for its result";
        case 700:  // cudaErrorIllegalAddress
            return "a kernel read or wrote outside its buffers: look for a missing `if (i < n)`, an index of "
                   "the wrong unit (bytes or elements), or a host pointer passed to a kernel; "
                   "compute-sanitizer names the line";
        case 701:  // cudaErrorLaunchOutOfResources
            return "a block needs more registers than an SM has: use fewer threads in a block or "
                   "__launch_bounds__";
        case 702:  // cudaErrorLaunchTimeout
            return "the display driver stopped a kernel that ran too long: look for an endless loop, or do "
                   "less work in one launch";
        case 710:  // cudaErrorAssert
            return "an assert() in a kernel failed; its message stands above";
        case 715:  // cudaErrorIllegalInstruction
        case 718:  // cudaErrorInvalidPc
            return "the kernel's code or stack was overwritten: look for a local array that is indexed "
                   "beyond its end";
        case 716:  // cudaErrorMisalignedAddress
            return "a load wider than its alignment: a float4 access needs a pointer divisible by 16, so "
                   "treat the elements before the first such address one by one";
        case 717:  // cudaErrorInvalidAddressSpace
            return "an instruction for shared, local or global memory got an address of another space";
        case 719:  // cudaErrorLaunchFailure
            return "a kernel crashed, often by an access outside shared memory or by stack overflow; "
                   "compute-sanitizer names the line";
        case 720:  // cudaErrorCooperativeLaunchTooLarge
            return "grid.sync() needs all blocks on the GPU at once: launch at most (blocks per SM from the "
                   "occupancy query) x (number of SMs) blocks";
        case 802:  // cudaErrorSystemNotReady
            return "the driver is up but the system is not: the fabric manager may not be running";
        case 900:  // cudaErrorStreamCaptureUnsupported
        case 901:  // cudaErrorStreamCaptureInvalidated
        case 906:  // cudaErrorStreamCaptureImplicit
            return "this call is not allowed while a stream records a graph: allocate, synchronise and use "
                   "the default stream before the capture begins";
        case 999:  // cudaErrorUnknown
            return "the driver gave no reason: after suspend or a driver update reload the driver or reboot, "
                   "then see `dmesg` for a line with Xid";
        default:
            return "";
    }
}

/// A CUDA call that failed: what was called, where, and why. Errors of a kernel show up at a later call
/// (launches are asynchronous), so `expression` may be innocent: synchronise after each launch to find
/// the guilty one.
class CudaError : public std::runtime_error {
  public:
    CudaError(cudaError_t error, std::string expression, std::string file, int line)
        : CudaError(error, std::move(expression), std::move(file), line, describe(error)) {}

    cudaError_t code() const { return code_; }
    const std::string& expression() const { return expression_; }  ///< the source text of the call
    const std::string& file() const { return file_; }
    int line() const { return line_; }
    const std::string& name() const { return name_; }  ///< "cudaErrorMemoryAllocation"
    const std::string& text() const { return text_; }  ///< CUDA's own words, except where they mislead
    std::string hint() const { return cuda_hint(static_cast<int>(code_)); }  ///< what to try; may be empty

  private:
    CudaError(cudaError_t error, std::string expression, std::string file, int line, std::string text)
        : std::runtime_error(message(error, expression, file, line, text)),
          code_(error),
          expression_(std::move(expression)),
          file_(std::move(file)),
          line_(line),
          name_(cudaGetErrorName(error)),
          text_(std::move(text)) {}

    /// With no driver at all CUDA says that the driver is too old; version 0 tells the two apart.
    static std::string describe(cudaError_t error) {
        int version = 0;
        if (static_cast<int>(error) == 35 && cudaDriverGetVersion(&version) == cudaSuccess && version == 0) {
            return "no NVIDIA driver on this machine";
        }
        return cudaGetErrorString(error);
    }

    static std::string message(cudaError_t error, const std::string& expression, const std::string& file,
                               int line, const std::string& text) {
        const std::string hint = cuda_hint(static_cast<int>(error));
        return file + ":" + std::to_string(line) + ": " + expression + "\n  " + cudaGetErrorName(error) +
               " (" + std::to_string(static_cast<int>(error)) + "): " + text +
               (hint.empty() ? "" : "\n  hint: " + hint);
    }

    cudaError_t code_;
    std::string expression_;
    std::string file_;
    int line_;
    std::string name_;
    std::string text_;
};

/// The function behind CUDA_CHECK.
/// @throws CudaError unless `error` is cudaSuccess.
inline void check_cuda(cudaError_t error, const char* expression, const char* file, int line) {
    if (error == cudaSuccess) return;
    // CUDA keeps the error until someone asks: left there, the next launch's check would be blamed for it.
    static_cast<void>(cudaGetLastError());
    throw CudaError(error, expression, file, line);
}

}  // namespace rungs

/// Calls a CUDA function and throws rungs::CudaError unless it returns cudaSuccess. After a launch:
/// `CUDA_CHECK(cudaGetLastError());`
#define CUDA_CHECK(...) ::rungs::check_cuda((__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)
