// Texture and surface objects. Holds on a device too, to the last bit of the weights.
#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "testing/catch.h"

namespace {

__global__ void fetch_1d(cudaTextureObject_t t, const int* at, float* out, int n) {
    const int i = static_cast<int>(threadIdx.x);
    if (i < n) out[i] = tex1Dfetch<float>(t, at[i]);
}
template <class T>
__global__ void sample_1d(cudaTextureObject_t t, const float* at, T* out, int n) {
    const int i = static_cast<int>(threadIdx.x);
    if (i < n) out[i] = tex1D<T>(t, at[i]);
}
template <class T>
__global__ void sample_2d(cudaTextureObject_t t, const float2* at, T* out, int n) {
    const int i = static_cast<int>(threadIdx.x);
    if (i < n) out[i] = tex2D<T>(t, at[i].x, at[i].y);
}
__global__ void sample_3d(cudaTextureObject_t t, float3 at, float* out) {
    *out = tex3D<float>(t, at.x, at.y, at.z);
}
__global__ void double_surface(cudaSurfaceObject_t s, int width) {
    const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
    if (x < width) surf2Dwrite(2 * surf2Dread<float>(s, x * 4, y), s, x * 4, y);
}

template <class T>
T* upload(const std::vector<T>& values) {
    T* d = nullptr;
    REQUIRE(cudaMalloc(&d, values.size() * sizeof(T)) == cudaSuccess);
    REQUIRE(cudaMemcpy(d, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice) == cudaSuccess);
    return d;
}

// A texture over a 1-D or 2-D array of `width * height` elements.
template <class T>
struct ArrayTexture {
    cudaArray_t array = nullptr;
    cudaTextureObject_t object = 0;
    ArrayTexture(const std::vector<T>& values, std::size_t width, std::size_t height, cudaTextureDesc desc) {
        const cudaChannelFormatDesc format = cudaCreateChannelDesc<T>();
        REQUIRE(cudaMallocArray(&array, &format, width, height) == cudaSuccess);
        REQUIRE(cudaMemcpy2DToArray(array, 0, 0, values.data(), width * sizeof(T), width * sizeof(T),
                                    height ? height : 1, cudaMemcpyHostToDevice) == cudaSuccess);
        cudaResourceDesc resource{};
        resource.resType = cudaResourceTypeArray;
        resource.res.array.array = array;
        REQUIRE(cudaCreateTextureObject(&object, &resource, &desc, nullptr) == cudaSuccess);
    }
    ~ArrayTexture() {
        cudaDestroyTextureObject(object);
        cudaFreeArray(array);
    }
    template <class R = T>
    std::vector<R> at(const std::vector<float>& x) const {
        float* where = upload(x);
        R* out = upload(std::vector<R>(x.size()));
        sample_1d<R><<<1, 64>>>(object, where, out, static_cast<int>(x.size()));
        std::vector<R> result(x.size());
        REQUIRE(cudaMemcpy(result.data(), out, x.size() * sizeof(R), cudaMemcpyDeviceToHost) == cudaSuccess);
        cudaFree(where);
        cudaFree(out);
        return result;
    }
    template <class R = T>
    std::vector<R> at_2d(const std::vector<float2>& x) const {
        float2* where = upload(x);
        R* out = upload(std::vector<R>(x.size()));
        sample_2d<R><<<1, 64>>>(object, where, out, static_cast<int>(x.size()));
        std::vector<R> result(x.size());
        REQUIRE(cudaMemcpy(result.data(), out, x.size() * sizeof(R), cudaMemcpyDeviceToHost) == cudaSuccess);
        cudaFree(where);
        cudaFree(out);
        return result;
    }
};

cudaTextureDesc description(cudaTextureAddressMode mode, cudaTextureFilterMode filter, bool normalized,
                            cudaTextureReadMode read = cudaReadModeElementType) {
    cudaTextureDesc d{};
    d.addressMode[0] = d.addressMode[1] = d.addressMode[2] = mode;
    d.filterMode = filter;
    d.readMode = read;
    d.normalizedCoords = normalized;
    return d;
}

}  // namespace

TEST_CASE("tex1Dfetch reads linear memory and gives 0 outside", "[simt][texture]") {
    std::vector<float> values(100);
    for (int i = 0; i < 100; ++i) values[static_cast<std::size_t>(i)] = 1.5f * static_cast<float>(i) + 1;
    float* d = upload(values);
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = d;
    resource.res.linear.desc = cudaCreateChannelDesc<float>();
    resource.res.linear.sizeInBytes = 100 * sizeof(float);
    cudaTextureDesc desc{};
    cudaTextureObject_t object = 0;
    REQUIRE(cudaCreateTextureObject(&object, &resource, &desc, nullptr) == cudaSuccess);
    int* at = upload(std::vector<int>{0, 99, 50, 100, -1, 1000000});
    float* out = upload(std::vector<float>(6, -1));
    fetch_1d<<<1, 32>>>(object, at, out, 6);
    float result[6];
    REQUIRE(cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(result[0] == 1);
    CHECK(result[1] == values[99]);
    CHECK(result[2] == values[50]);
    CHECK(result[3] == 0);
    CHECK(result[4] == 0);
    CHECK(result[5] == 0);
    cudaResourceDesc read{};
    CHECK(cudaGetTextureObjectResourceDesc(&read, object) == cudaSuccess);
    CHECK(read.res.linear.devPtr == d);
    CHECK(cudaDestroyTextureObject(object) == cudaSuccess);
    cudaFree(d);
    cudaFree(at);
    cudaFree(out);
}

TEST_CASE("point sampling and address modes", "[simt][texture]") {
    const std::vector<float> values{10, 20, 30, 40};
    SECTION("clamp, texel coordinates") {
        ArrayTexture<float> t(values, 4, 0, description(cudaAddressModeClamp, cudaFilterModePoint, false));
        CHECK(t.at({0.0f, 0.99f, 1.0f, 3.99f, 4.0f, 100.0f, -0.5f, -9.0f}) ==
              std::vector<float>{10, 10, 20, 40, 40, 40, 10, 10});
    }
    SECTION("border, texel coordinates") {
        ArrayTexture<float> t(values, 4, 0, description(cudaAddressModeBorder, cudaFilterModePoint, false));
        CHECK(t.at({-0.01f, 0.0f, 3.99f, 4.0f}) == std::vector<float>{0, 10, 40, 0});
    }
    SECTION("wrap, normalised") {
        ArrayTexture<float> t(values, 4, 0, description(cudaAddressModeWrap, cudaFilterModePoint, true));
        CHECK(t.at({0.0f, 0.26f, 1.0f, 1.26f, -0.01f, -0.26f, 2.99f}) ==
              std::vector<float>{10, 20, 10, 20, 40, 30, 40});
    }
    SECTION("mirror, normalised") {
        ArrayTexture<float> t(values, 4, 0, description(cudaAddressModeMirror, cudaFilterModePoint, true));
        CHECK(t.at({0.1f, 0.9f, 1.1f, 1.9f, 2.1f, -0.1f, -0.9f}) ==
              std::vector<float>{10, 40, 40, 10, 10, 10, 40});
    }
    SECTION("clamp, normalised") {
        ArrayTexture<float> t(values, 4, 0, description(cudaAddressModeClamp, cudaFilterModePoint, true));
        CHECK(t.at({0.3f, 1.0f, 5.0f, -5.0f}) == std::vector<float>{20, 40, 40, 10});
    }
}

TEST_CASE("linear filtering weighs with eight fractional bits", "[simt][texture]") {
    const std::vector<float> values{0, 256, 512, 1024};
    ArrayTexture<float> t(values, 4, 0, description(cudaAddressModeClamp, cudaFilterModeLinear, false));
    // Between texel centres 0.5 and 1.5 the value is the weight in 256ths.
    std::vector<float> x, expected;
    for (int i = 0; i <= 32; ++i) {
        x.push_back(0.5f + static_cast<float>(i) / 32.0f);
        expected.push_back(static_cast<float>(i) * 8);
    }
    CHECK(t.at(x) == expected);
    CHECK(t.at({0.0f, -3.0f, 0.5f, 3.5f, 4.0f, 9.0f}) == std::vector<float>{0, 0, 0, 1024, 1024, 1024});
    // 0.3 lies between 76/256 and 77/256: nearest.
    CHECK(t.at({0.8f}) == std::vector<float>{77});
    CHECK(t.at({0.5f + 1.0f / 1024}) == std::vector<float>{0});
}

TEST_CASE("linear filtering in two dimensions, wrap", "[simt][texture]") {
    const std::vector<float> values{0, 1, 2, 3};
    ArrayTexture<float> t(values, 2, 2, description(cudaAddressModeWrap, cudaFilterModeLinear, true));
    CHECK(t.at_2d({float2{0.5f, 0.5f}, float2{0.0f, 0.25f}, float2{0.25f, 0.0f}, float2{0.25f, 0.25f}}) ==
          std::vector<float>{1.5f, 0.5f, 1.0f, 0.0f});
}

TEST_CASE("vectors of bytes, raw and normalised", "[simt][texture]") {
    std::vector<uchar4> values(4);
    for (unsigned char i = 0; i < 4; ++i)
        values[i] = uchar4{i, static_cast<unsigned char>(255 - i), 51, static_cast<unsigned char>(85 * i)};
    ArrayTexture<uchar4> raw(values, 2, 2, description(cudaAddressModeClamp, cudaFilterModePoint, false));
    const auto a = raw.at_2d({float2{1.5f, 1.5f}});
    CHECK(static_cast<int>(a[0].x) == 3);
    CHECK(static_cast<int>(a[0].y) == 252);
    ArrayTexture<uchar4> scaled(
        values, 2, 2,
        description(cudaAddressModeClamp, cudaFilterModePoint, false, cudaReadModeNormalizedFloat));
    const auto b = scaled.at_2d<float4>({float2{1.5f, 1.5f}});
    CHECK(b[0].z == Catch::Approx(0.2));
    CHECK(b[0].w == 1.0f);
}

TEST_CASE("three dimensions", "[simt][texture]") {
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    REQUIRE(cudaMalloc3DArray(&array, &format, make_cudaExtent(2, 3, 4), 0) == cudaSuccess);
    std::vector<float> values(24);
    for (std::size_t i = 0; i < 24; ++i) values[i] = static_cast<float>(i);
    cudaMemcpy3DParms p{};
    p.srcPtr = make_cudaPitchedPtr(values.data(), 2 * sizeof(float), 2, 3);
    p.dstArray = array;
    p.extent = make_cudaExtent(2, 3, 4);
    p.kind = cudaMemcpyHostToDevice;
    REQUIRE(cudaMemcpy3D(&p) == cudaSuccess);
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    float *out = nullptr, result = 0;
    REQUIRE(cudaMalloc(&out, sizeof(float)) == cudaSuccess);
    for (auto filter : {cudaFilterModePoint, cudaFilterModeLinear}) {
        const cudaTextureDesc desc = description(cudaAddressModeClamp, filter, false);
        cudaTextureObject_t object;
        REQUIRE(cudaCreateTextureObject(&object, &resource, &desc, nullptr) == cudaSuccess);
        sample_3d<<<1, 1>>>(object, make_float3(1.5f, 1.5f, 2.5f), out);
        REQUIRE(cudaMemcpy(&result, out, sizeof result, cudaMemcpyDeviceToHost) == cudaSuccess);
        CHECK(result == 15);
        sample_3d<<<1, 1>>>(object, make_float3(1.0f, 2.0f, 3.0f), out);
        REQUIRE(cudaMemcpy(&result, out, sizeof result, cudaMemcpyDeviceToHost) == cudaSuccess);
        CHECK(result == (filter == cudaFilterModePoint ? 23.0f : 18.5f));
        cudaDestroyTextureObject(object);
    }
    cudaExtent extent{};
    unsigned flags = 9;
    cudaChannelFormatDesc read{};
    CHECK(cudaArrayGetInfo(&read, &extent, &flags, array) == cudaSuccess);
    CHECK(extent.depth == 4);
    CHECK(read.x == 32);
    CHECK(flags == 0);
    cudaFree(out);
    cudaFreeArray(array);
}

TEST_CASE("pitched memory as a texture", "[simt][texture]") {
    float* d = nullptr;
    std::size_t pitch = 0;
    REQUIRE(cudaMallocPitch(&d, &pitch, 5 * sizeof(float), 3) == cudaSuccess);
    std::vector<float> values(15);
    for (std::size_t i = 0; i < 15; ++i) values[i] = static_cast<float>(i);
    REQUIRE(cudaMemcpy2D(d, pitch, values.data(), 20, 20, 3, cudaMemcpyHostToDevice) == cudaSuccess);
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = d;
    resource.res.pitch2D.desc = cudaCreateChannelDesc<float>();
    resource.res.pitch2D.width = 5;
    resource.res.pitch2D.height = 3;
    resource.res.pitch2D.pitchInBytes = pitch;
    const cudaTextureDesc desc = description(cudaAddressModeClamp, cudaFilterModePoint, false);
    cudaTextureObject_t object;
    REQUIRE(cudaCreateTextureObject(&object, &resource, &desc, nullptr) == cudaSuccess);
    float2* at = upload(std::vector<float2>{{4.5f, 2.5f}, {0.5f, 1.5f}, {7.0f, 9.0f}});
    float* out = upload(std::vector<float>(3));
    sample_2d<float><<<1, 32>>>(object, at, out, 3);
    float result[3];
    REQUIRE(cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(result[0] == 14);
    CHECK(result[1] == 5);
    CHECK(result[2] == 14);
    cudaDestroyTextureObject(object);
    resource.res.pitch2D.pitchInBytes = pitch + 4;
    CHECK(cudaCreateTextureObject(&object, &resource, &desc, nullptr) == cudaErrorInvalidValue);
    resource.res.pitch2D.pitchInBytes = pitch;
    resource.res.pitch2D.devPtr = d + 1;
    CHECK(cudaCreateTextureObject(&object, &resource, &desc, nullptr) == cudaErrorInvalidValue);
    cudaFree(d);
    cudaFree(at);
    cudaFree(out);
    cudaGetLastError();
}

TEST_CASE("surfaces are read and written", "[simt][texture][surface]") {
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    REQUIRE(cudaMallocArray(&array, &format, 4, 2, cudaArraySurfaceLoadStore) == cudaSuccess);
    std::vector<float> values{1, 2, 3, 4, 5, 6, 7, 8}, out(8);
    REQUIRE(cudaMemcpy2DToArray(array, 0, 0, values.data(), 16, 16, 2, cudaMemcpyHostToDevice) ==
            cudaSuccess);
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaSurfaceObject_t surface;
    REQUIRE(cudaCreateSurfaceObject(&surface, &resource) == cudaSuccess);
    double_surface<<<1, dim3(4, 2)>>>(surface, 4);
    REQUIRE(cudaMemcpy2DFromArray(out.data(), 16, array, 0, 0, 16, 2, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(out == std::vector<float>{2, 4, 6, 8, 10, 12, 14, 16});
    CHECK(cudaDestroySurfaceObject(surface) == cudaSuccess);
    cudaFreeArray(array);
}

TEST_CASE("wrong textures", "[simt][texture]") {
    int* d = nullptr;
    REQUIRE(cudaMalloc(&d, 4096) == cudaSuccess);
    cudaTextureObject_t object = 0;
    cudaTextureDesc desc{};
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = d;
    resource.res.linear.desc = cudaCreateChannelDesc<int>();
    resource.res.linear.sizeInBytes = 4096;
    CHECK(cudaCreateTextureObject(nullptr, &resource, &desc, nullptr) == cudaErrorInvalidValue);
    desc.readMode = cudaReadModeNormalizedFloat;  // not for 32-bit integers
    CHECK(cudaCreateTextureObject(&object, &resource, &desc, nullptr) == cudaErrorInvalidNormSetting);
    cudaArray_t array = nullptr;
    const cudaChannelFormatDesc three{32, 32, 32, 0, cudaChannelFormatKindFloat};
    CHECK(cudaMallocArray(&array, &three, 4, 4) != cudaSuccess);
    const cudaChannelFormatDesc ints = cudaCreateChannelDesc<int>();
    REQUIRE(cudaMallocArray(&array, &ints, 4, 4) == cudaSuccess);
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    desc.readMode = cudaReadModeElementType;
    desc.filterMode = cudaFilterModeLinear;  // not without conversion to float
    CHECK(cudaCreateTextureObject(&object, &resource, &desc, nullptr) == cudaErrorInvalidFilterSetting);
    CHECK(cudaMallocArray(&array, &ints, 1 << 20, 1 << 20) == cudaErrorInvalidValue);
    CHECK(cudaDestroyTextureObject(0) == cudaSuccess);
    cudaFree(d);
    cudaGetLastError();
}

TEST_CASE("layers are separate, and arrays copy to arrays", "[simt][texture]") {
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t layers, a, b;
    REQUIRE(cudaMalloc3DArray(&layers, &format, make_cudaExtent(2, 0, 3), cudaArrayLayered) == cudaSuccess);
    cudaExtent extent{};
    unsigned flags = 0;
    CHECK(cudaArrayGetInfo(nullptr, &extent, &flags, layers) == cudaSuccess);
    CHECK(extent.height == 0);
    CHECK(flags == cudaArrayLayered);
    REQUIRE(cudaMallocArray(&a, &format, 3, 2) == cudaSuccess);
    REQUIRE(cudaMallocArray(&b, &format, 3, 2) == cudaSuccess);
    const std::vector<float> values{1, 2, 3, 4, 5, 6};
    std::vector<float> out(6);
    CHECK(cudaMemcpy2DToArray(a, 0, 0, values.data(), 12, 12, 2, cudaMemcpyHostToDevice) == cudaSuccess);
    CHECK(cudaMemcpy2DArrayToArray(b, 0, 0, a, 0, 0, 12, 2) == cudaSuccess);
    CHECK(cudaMemcpy2DFromArray(out.data(), 12, b, 0, 0, 12, 2, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(out == values);
    CHECK(cudaMemcpy2DToArray(a, 4, 0, values.data(), 12, 12, 2, cudaMemcpyHostToDevice) ==
          cudaErrorInvalidValue);
    cudaFreeArray(layers);
    cudaFreeArray(a);
    cudaFreeArray(b);
    cudaGetLastError();
}
