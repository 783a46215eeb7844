// Error codes: numbers, names, texts, and who remembers them. Holds on a device too.
#include <cuda_runtime.h>

#include <cstring>
#include <string>
#include <thread>

#include "testing/catch.h"

TEST_CASE("error numbers are CUDA's", "[simt][error]") {
    CHECK(static_cast<int>(cudaSuccess) == 0);
    CHECK(static_cast<int>(cudaErrorInvalidValue) == 1);
    CHECK(static_cast<int>(cudaErrorMemoryAllocation) == 2);
    CHECK(static_cast<int>(cudaErrorInvalidConfiguration) == 9);
    CHECK(static_cast<int>(cudaErrorInvalidSymbol) == 13);
    CHECK(static_cast<int>(cudaErrorInvalidMemcpyDirection) == 21);
    CHECK(static_cast<int>(cudaErrorInsufficientDriver) == 35);
    CHECK(static_cast<int>(cudaErrorInvalidDeviceFunction) == 98);
    CHECK(static_cast<int>(cudaErrorInvalidDevice) == 101);
    CHECK(static_cast<int>(cudaErrorInvalidResourceHandle) == 400);
    CHECK(static_cast<int>(cudaErrorNotReady) == 600);
    CHECK(static_cast<int>(cudaErrorIllegalAddress) == 700);
    CHECK(static_cast<int>(cudaErrorLaunchFailure) == 719);
    CHECK(static_cast<int>(cudaErrorCooperativeLaunchTooLarge) == 720);
    CHECK(static_cast<int>(cudaErrorStreamCaptureUnsupported) == 900);
    CHECK(static_cast<int>(cudaErrorUnknown) == 999);
}

TEST_CASE("error names and texts are CUDA's", "[simt][error]") {
    CHECK(std::string(cudaGetErrorName(cudaSuccess)) == "cudaSuccess");
    CHECK(std::string(cudaGetErrorString(cudaSuccess)) == "no error");
    CHECK(std::string(cudaGetErrorName(cudaErrorInvalidValue)) == "cudaErrorInvalidValue");
    CHECK(std::string(cudaGetErrorString(cudaErrorInvalidValue)) == "invalid argument");
    CHECK(std::string(cudaGetErrorString(cudaErrorMemoryAllocation)) == "out of memory");
    CHECK(std::string(cudaGetErrorString(cudaErrorInvalidConfiguration)) == "invalid configuration argument");
    CHECK(std::string(cudaGetErrorString(cudaErrorIllegalAddress)) ==
          "an illegal memory access was encountered");
    CHECK(std::string(cudaGetErrorString(cudaErrorInsufficientDriver)) ==
          "CUDA driver version is insufficient for CUDA runtime version");
    CHECK(std::string(cudaGetErrorName(static_cast<cudaError_t>(10))) == "unrecognized error code");
    CHECK(std::string(cudaGetErrorString(static_cast<cudaError_t>(-1))) == "unrecognized error code");
}

TEST_CASE("the last error is kept until it is read, one for each host thread", "[simt][error]") {
    cudaGetLastError();
    REQUIRE(cudaSetDevice(12345) == cudaErrorInvalidDevice);
    CHECK(cudaPeekAtLastError() == cudaErrorInvalidDevice);
    int count = 0;
    CHECK(cudaGetDeviceCount(&count) == cudaSuccess);  // a success does not clear it
    CHECK(cudaPeekAtLastError() == cudaErrorInvalidDevice);
    std::thread([] {
        CHECK(cudaGetLastError() == cudaSuccess);
        CHECK(cudaFree(reinterpret_cast<void*>(8)) == cudaErrorInvalidValue);
        CHECK(cudaGetLastError() == cudaErrorInvalidValue);
    }).join();
    CHECK(cudaGetLastError() == cudaErrorInvalidDevice);
    CHECK(cudaGetLastError() == cudaSuccess);
}
