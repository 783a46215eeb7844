// Variables at namespace scope and the copies that name them. Holds on a device too.
#include <cuda_runtime.h>

#include "testing/catch.h"

namespace {

__constant__ float coefficients[8];
__device__ int counter;
__device__ double scale = 2.5;
__managed__ int shared_with_host = 3;
int ordinary;

__global__ void use_symbols(float* out) {
    out[threadIdx.x] = coefficients[threadIdx.x] * static_cast<float>(scale);
    if (threadIdx.x == 0) counter += 1 + shared_with_host;
}

}  // namespace

TEST_CASE("kernels see what is copied to symbols", "[simt][symbol]") {
    float in[8], out[8] = {};
    for (int i = 0; i < 8; ++i) in[i] = static_cast<float>(i);
    int start = 10, end = 0;
    REQUIRE(cudaMemcpyToSymbol(coefficients, in, sizeof in) == cudaSuccess);
    REQUIRE(cudaMemcpyToSymbol(counter, &start, sizeof start) == cudaSuccess);
    shared_with_host = 4;
    float* d = nullptr;
    REQUIRE(cudaMalloc(&d, sizeof out) == cudaSuccess);
    use_symbols<<<1, 8>>>(d);
    CHECK(cudaMemcpy(out, d, sizeof out, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(cudaMemcpyFromSymbol(&end, counter, sizeof end) == cudaSuccess);
    for (int i = 0; i < 8; ++i) CHECK(out[i] == static_cast<float>(i) * 2.5f);
    CHECK(end == 15);
    cudaFree(d);
}

TEST_CASE("parts of symbols", "[simt][symbol]") {
    const float two[2] = {20, 30};
    float all[8] = {};
    REQUIRE(cudaMemcpyToSymbol(coefficients, two, sizeof two, 2 * sizeof(float)) == cudaSuccess);
    REQUIRE(cudaMemcpyFromSymbol(all, coefficients, sizeof all) == cudaSuccess);
    CHECK(all[2] == 20);
    CHECK(all[3] == 30);
    float* address = nullptr;
    REQUIRE(cudaGetSymbolAddress(reinterpret_cast<void**>(&address), coefficients) == cudaSuccess);
    float third = 0;
    CHECK(cudaMemcpy(&third, address + 3, sizeof third, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(third == 30);
    std::size_t size = 0;
    CHECK(cudaGetSymbolSize(&size, coefficients) == cudaSuccess);
    CHECK(size == sizeof all);
}

// On a GPU a variable's name stands for a place on the host, unless a call asks for a symbol.
static __constant__ float by_name[4];

TEST_CASE("a copy by address reaches no variable by its name", "[simt][symbol]") {
    const float values[4] = {1, 2, 3, 4};
    float read[4] = {};
    CHECK(cudaMemcpy(by_name, values, sizeof values, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    CHECK(cudaMemcpyAsync(by_name + 1, values, 4, cudaMemcpyHostToDevice, nullptr) == cudaErrorInvalidValue);
    CHECK(cudaMemcpy(read, by_name, sizeof read, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
    CHECK(cudaMemcpy2D(read, 8, by_name, 8, 8, 2, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
    CHECK(cudaMemset(by_name, 0, sizeof values) == cudaErrorInvalidValue);
    cudaGetLastError();
    REQUIRE(cudaMemcpyToSymbol(by_name, values, sizeof values) == cudaSuccess);
    void* address = nullptr;
    REQUIRE(cudaGetSymbolAddress(&address, by_name) == cudaSuccess);
    CHECK(cudaMemcpy(read, address, sizeof read, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(read[3] == 4);
}

TEST_CASE("wrong symbols, ranges and directions", "[simt][symbol]") {
    float values[9] = {};
    CHECK(cudaMemcpyToSymbol(coefficients, values, sizeof values) == cudaErrorInvalidValue);
    CHECK(cudaMemcpyToSymbol(coefficients, values, 4, 32) == cudaErrorInvalidValue);
    CHECK(cudaMemcpyToSymbol(coefficients, values, 4, 0, cudaMemcpyDeviceToHost) ==
          cudaErrorInvalidMemcpyDirection);
    CHECK(cudaMemcpyFromSymbol(values, coefficients, 4, 0, cudaMemcpyHostToDevice) ==
          cudaErrorInvalidMemcpyDirection);
    CHECK(cudaMemcpyToSymbol(ordinary, values, 4) == cudaErrorInvalidSymbol);
    std::size_t size = 0;
    CHECK(cudaGetSymbolSize(&size, ordinary) == cudaErrorInvalidSymbol);
    void* address = nullptr;
    CHECK(cudaGetSymbolAddress(&address, ordinary) == cudaErrorInvalidSymbol);
    cudaGetLastError();
}
