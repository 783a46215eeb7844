#include "rungs/cuda_error.hpp"

namespace rungs {
namespace {

std::string message(int code, const char* name, const char* text, const char* expression, const char* file,
                    int line) {
    const std::string hint = cuda_hint(code, expression);
    return std::string(file) + ":" + std::to_string(line) + ": " + expression + "\n  " + name + " (" +
           std::to_string(code) + "): " + text + (hint.empty() ? "" : "\n  hint: " + hint);
}

}  // namespace

const char* cuda_hint(int code, const std::string& expression) {
    switch (code) {
        case 1:  // cudaErrorInvalidValue
            if (expression.find("cudaCreateTextureObject") != std::string::npos) {
                return "the texture's description is out of range: is pitchInBytes in bytes, at least a row "
                       "of `width` elements and a multiple of cudaDeviceProp::texturePitchAlignment, and "
                       "does the memory begin at a multiple of textureAlignment?";
            }
            if (expression.find("MaxDynamicSharedMemorySize") != std::string::npos) {
                return "cudaDevAttrMaxSharedMemoryPerBlockOptin says what a block may have, what its kernel "
                       "declares __shared__ included: ask for no more, and keep the rest in global memory";
            }
            return "an argument is out of range: a null or host pointer, a copy in the wrong direction or to "
                   "a `__constant__` variable by its name, a negative size, or a copy longer than its buffer";
        case 2:  // cudaErrorMemoryAllocation
            return "the device has too little free memory: use a smaller size, or free buffers you no longer "
                   "need (nvidia-smi shows who holds memory)";
        case 3:  // cudaErrorInitializationError
            return "the driver could not start: run `nvidia-smi`; in a container, was the GPU passed in?";
        case 9:  // cudaErrorInvalidConfiguration
            return "the launch asks for too much or for nothing: a grid of zero blocks (is n = 0?), more "
                   "than 1024 threads in a block, or a grid with y or z beyond 65535";
        case 13:  // cudaErrorInvalidSymbol
            return "pass the __device__ or __constant__ variable itself, not its name in quotes "
                   "nor its address";
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
            if (expression.find("cudaCreateTextureObject") != std::string::npos) {
                return "the texture's description names no memory: is resType set, and then devPtr, or the "
                       "array, in the member of `res` that belongs to it?";
            }
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
            return "the display driver, or the limit on the CPU backend, stopped a kernel that ran too long: "
                   "look for an endless loop, or do "
                   "less work in one launch";
        case 710:  // cudaErrorAssert
            return "an assert() in a kernel failed; its message is above";
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

CudaError::CudaError(int code, const char* name, const char* text, const char* expression, const char* file,
                     int line)
    : std::runtime_error(message(code, name, text, expression, file, line)),
      code_(code),
      expression_(expression),
      file_(file),
      line_(line),
      name_(name),
      text_(text) {}

CudaError::~CudaError() = default;

void throw_cuda_error(int code, const char* name, const char* text, const char* expression, const char* file,
                      int line) {
    throw CudaError(code, name, text, expression, file, line);
}

}  // namespace rungs
