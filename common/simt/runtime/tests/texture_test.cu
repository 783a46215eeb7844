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

__global__ void sample_cube(cudaTextureObject_t t, const float3* at, float* out, int n) {
    const int i = static_cast<int>(threadIdx.x);
    if (i < n) out[i] = texCubemap<float>(t, at[i].x, at[i].y, at[i].z);
}
__global__ void sample_cubes(cudaTextureObject_t t, float* out) {
    for (int layer = 0; layer < 3; ++layer) out[layer] = texCubemapLayered<float>(t, 0.1f, 0.2f, 1, layer);
    out[3] = texCubemapLayeredLod<float>(t, 1, 0.2f, 0.1f, 1, 0.0f);
}
__global__ void negate_cube(cudaSurfaceObject_t s) {
    const int x = 4 * static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
    for (int face = 0; face < 6; ++face)
        surfCubemapwrite(-surfCubemapread<float>(s, x, y, face), s, x, y, face);
}
__global__ void negate_cubes(cudaSurfaceObject_t s) {
    const int x = 4 * static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
    for (int face = 0; face < 12; ++face)
        surfCubemapLayeredwrite(-surfCubemapLayeredread<float>(s, x, y, face), s, x, y, face);
}
template <class T>
__global__ void gather(cudaTextureObject_t t, const float2* at, T* out, int n, int component) {
    const int i = static_cast<int>(threadIdx.x);
    if (i < n) out[i] = tex2Dgather<T>(t, at[i].x, at[i].y, component);
}
__global__ void sample_by_gradients(cudaTextureObject_t t, float* out) {
    out[0] = tex2D<float>(t, 1.25f, 1.75f);
    out[1] = tex2DLod<float>(t, 1.25f, 1.75f, 0.0f);
    out[2] = tex2DGrad<float>(t, 1.25f, 1.75f, make_float2(1, 0), make_float2(0, 1));
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

namespace {

/// Cubes of three texels a side, one after the other: 100 times the face, 10 times y, and x.
struct Cubes {
    static constexpr std::size_t side = 3;
    cudaArray_t array = nullptr;
    std::vector<float> values;
    explicit Cubes(std::size_t count, unsigned flags) {
        for (std::size_t i = 0; i < 6 * count * side * side; ++i)
            values.push_back(static_cast<float>(i / 9 * 100 + i / 3 % 3 * 10 + i % 3));
        const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
        REQUIRE(cudaMalloc3DArray(&array, &format, make_cudaExtent(side, side, 6 * count), flags) ==
                cudaSuccess);
        copy(cudaMemcpyHostToDevice);
    }
    ~Cubes() { cudaFreeArray(array); }
    Cubes(const Cubes&) = delete;
    Cubes& operator=(const Cubes&) = delete;
    void copy(cudaMemcpyKind kind) {
        cudaMemcpy3DParms parameters{};
        const cudaPitchedPtr host = make_cudaPitchedPtr(values.data(), side * sizeof(float), side, side);
        if (kind == cudaMemcpyHostToDevice) {
            parameters.srcPtr = host;
            parameters.dstArray = array;
        } else {
            parameters.srcArray = array;
            parameters.dstPtr = host;
        }
        parameters.extent = make_cudaExtent(side, side, values.size() / side / side);
        parameters.kind = kind;
        REQUIRE(cudaMemcpy3D(&parameters) == cudaSuccess);
    }
    cudaResourceDesc resource() const {
        cudaResourceDesc r{};
        r.resType = cudaResourceTypeArray;
        r.res.array.array = array;
        return r;
    }
};

}  // namespace

TEST_CASE("a direction chooses the face of a cube map", "[simt][texture]") {
    const Cubes cube(1, cudaArrayCubemap);
    const std::vector<float3> at{{1, 0.3f, 0.6f}, {-1, 0.3f, 0.6f}, {0.3f, 1, 0.6f}, {0.3f, -1, 0.6f},
                                 {0.3f, 0.6f, 1}, {0.3f, 0.6f, -1}, {1, 1, 1},       {-1, 1, 1},
                                 {1, -1, 1},      {1, 1, -1},       {-1, -1, -1},    {0, 1, 1},
                                 {1, 0, 1},       {1, 1, 0},        {0, -1, -1},     {-1, 0, -1},
                                 {0, 0, 0},       {0.99f, 1, 0},    {1, 0.9f, 0.3f}, {1, 0.2f, -0.9f}};
    float3* where = upload(at);
    float* out = upload(std::vector<float>(at.size()));
    const auto fetched = [&](cudaTextureAddressMode mode, cudaTextureFilterMode filter, bool normalized) {
        const cudaResourceDesc resource = cube.resource();
        const cudaTextureDesc desc = description(mode, filter, normalized);
        cudaTextureObject_t object = 0;
        REQUIRE(cudaCreateTextureObject(&object, &resource, &desc, nullptr) == cudaSuccess);
        sample_cube<<<1, 32>>>(object, where, out, static_cast<int>(at.size()));
        std::vector<float> result(at.size());
        REQUIRE(cudaMemcpy(result.data(), out, at.size() * sizeof(float), cudaMemcpyDeviceToHost) ==
                cudaSuccess);
        CHECK(cudaDestroyTextureObject(object) == cudaSuccess);
        return result;
    };
    // As measured on an H200: where two coordinates are equally large, z comes before y and y before x.
    CHECK(fetched(cudaAddressModeClamp, cudaFilterModePoint, true) ==
          std::vector<float>{10,  112, 221, 301, 401, 501, 402, 400, 422, 500,
                             522, 401, 412, 212, 521, 512, 411, 212, 1,   12});
    // A face is filtered by itself, and its edge is the address mode's; coordinates are always normalised.
    const std::vector<float> clamped{5.609375f,     107.40625f, 220.43359375f, 302.46484375f, 402.46484375f,
                                     501.56640625f, 402,        400,           422,           500,
                                     522,           401,        412,           212,           521,
                                     512,           411,        212,           0.55078125f,   8.9921875f};
    const std::vector<float> filtered = fetched(cudaAddressModeClamp, cudaFilterModeLinear, true);
    for (std::size_t i = 0; i < at.size(); ++i) {
        CAPTURE(i);
        CHECK(filtered[i] == Catch::Approx(clamped[i]).epsilon(1e-5));
    }
    CHECK(fetched(cudaAddressModeClamp, cudaFilterModeLinear, false) == filtered);
    const std::vector<float> wrapped = fetched(cudaAddressModeWrap, cudaFilterModeLinear, true);
    CHECK(wrapped[6] == 411);
    CHECK(wrapped[17] == Catch::Approx(211.031).epsilon(1e-5));
    const std::vector<float> bordered = fetched(cudaAddressModeBorder, cudaFilterModeLinear, true);
    CHECK(bordered[6] == 100.5f);
    CHECK(bordered[18] == Catch::Approx(0.355469).margin(1.0 / 256));  // products of weights are rounded, too
    cudaFree(where);
    cudaFree(out);
}

TEST_CASE("layers of cube maps, and their surfaces", "[simt][texture][surface]") {
    Cubes cubes(2, cudaArrayCubemap | cudaArrayLayered | cudaArraySurfaceLoadStore);
    cudaExtent extent{};
    unsigned flags = 0;
    CHECK(cudaArrayGetInfo(nullptr, &extent, &flags, cubes.array) == cudaSuccess);
    CHECK(extent.depth == 12);
    CHECK(flags == (cudaArrayCubemap | cudaArrayLayered | cudaArraySurfaceLoadStore));
    const cudaResourceDesc resource = cubes.resource();
    const cudaTextureDesc desc = description(cudaAddressModeClamp, cudaFilterModePoint, true);
    cudaTextureObject_t texture = 0;
    REQUIRE(cudaCreateTextureObject(&texture, &resource, &desc, nullptr) == cudaSuccess);
    float* out = upload(std::vector<float>(4));
    sample_cubes<<<1, 1>>>(texture, out);
    std::vector<float> result(4);
    REQUIRE(cudaMemcpy(result.data(), out, 4 * sizeof(float), cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(result == std::vector<float>{411, 1011, 1011, 611});  // beyond the last layer is the last
    CHECK(cudaDestroyTextureObject(texture) == cudaSuccess);
    cudaFree(out);

    cudaSurfaceObject_t surface = 0;
    REQUIRE(cudaCreateSurfaceObject(&surface, &resource) == cudaSuccess);
    std::vector<float> expected = cubes.values;
    for (float& value : expected) value = -value;
    negate_cubes<<<1, dim3(3, 3)>>>(surface);
    cubes.copy(cudaMemcpyDeviceToHost);
    CHECK(cubes.values == expected);
    CHECK(cudaDestroySurfaceObject(surface) == cudaSuccess);

    Cubes cube(1, cudaArrayCubemap | cudaArraySurfaceLoadStore);
    const cudaResourceDesc one = cube.resource();
    REQUIRE(cudaCreateSurfaceObject(&surface, &one) == cudaSuccess);
    negate_cube<<<1, dim3(3, 3)>>>(surface);
    cube.copy(cudaMemcpyDeviceToHost);
    expected.resize(54);
    CHECK(cube.values == expected);
    CHECK(cudaDestroySurfaceObject(surface) == cudaSuccess);
}

TEST_CASE("a copy of arrays from device to device", "[simt][memory]") {
    Cubes from(1, cudaArrayCubemap), to(1, cudaArrayCubemap);
    const std::vector<float> expected = from.values;
    to.values.assign(54, 0.0f);
    to.copy(cudaMemcpyHostToDevice);
    cudaMemcpy3DPeerParms copy{};
    copy.srcArray = from.array;
    copy.dstArray = to.array;
    copy.extent = make_cudaExtent(3, 3, 6);
    CHECK(cudaMemcpy3DPeer(&copy) == cudaSuccess);
    to.copy(cudaMemcpyDeviceToHost);
    CHECK(to.values == expected);
    copy.dstDevice = 99;
    CHECK(cudaMemcpy3DPeerAsync(&copy) == cudaErrorInvalidDevice);
    CHECK(cudaMemcpy3DPeer(nullptr) == cudaErrorInvalidValue);
    cudaGetLastError();
}

TEST_CASE("arrays that are no cube maps, and no arrays for gathers", "[simt][texture]") {
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t array = nullptr;
    const auto made = [&](std::size_t width, std::size_t height, std::size_t depth, unsigned flags) {
        return cudaMalloc3DArray(&array, &format, make_cudaExtent(width, height, depth), flags);
    };
    CHECK(made(3, 4, 6, cudaArrayCubemap) == cudaErrorInvalidValue);
    CHECK(made(3, 3, 5, cudaArrayCubemap) == cudaErrorInvalidValue);
    CHECK(made(3, 3, 12, cudaArrayCubemap) == cudaErrorInvalidValue);
    CHECK(made(3, 3, 7, cudaArrayCubemap | cudaArrayLayered) == cudaErrorInvalidValue);
    CHECK(made(3, 0, 6, cudaArrayCubemap) == cudaErrorInvalidValue);
    CHECK(made(3, 3, 6, cudaArrayCubemap | cudaArrayTextureGather) == cudaErrorInvalidValue);
    CHECK(cudaMallocArray(&array, &format, 3, 3, cudaArrayCubemap) == cudaErrorInvalidValue);
    CHECK(made(4, 4, 4, cudaArrayTextureGather) == cudaErrorInvalidValue);
    CHECK(cudaMallocArray(&array, &format, 4, 0, cudaArrayTextureGather) == cudaErrorInvalidValue);
    cudaGetLastError();
}

TEST_CASE("a gather reads what linear filtering would weigh", "[simt][texture]") {
    std::vector<float> values(12);
    for (std::size_t i = 0; i < 12; ++i) values[i] = static_cast<float>(i / 4 * 10 + i % 4);
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t array = nullptr;
    REQUIRE(cudaMallocArray(&array, &format, 4, 3, cudaArrayTextureGather) == cudaSuccess);
    REQUIRE(cudaMemcpy2DToArray(array, 0, 0, values.data(), 16, 16, 3, cudaMemcpyHostToDevice) ==
            cudaSuccess);
    // Coordinates have 8 fractional bits: the second point is in column 0 and in row 1. As
    // measured on an H200.
    const std::vector<float2> at{{1.5f, 1.5f}, {1.498f, 1.499f}, {1.4f, 1.6f}, {0, 0},
                                 {4, 3},       {-1, 1.2f},       {2.1f, 9}};
    using Four = std::vector<float>;
    const auto gathered = [&](cudaTextureAddressMode mode, cudaTextureFilterMode filter, bool normalized,
                              int component) {
        cudaResourceDesc resource{};
        resource.resType = cudaResourceTypeArray;
        resource.res.array.array = array;
        cudaTextureDesc desc = description(mode, filter, normalized);
        desc.borderColor[0] = 77;
        cudaTextureObject_t object = 0;
        REQUIRE(cudaCreateTextureObject(&object, &resource, &desc, nullptr) == cudaSuccess);
        std::vector<float2> scaled = at;
        if (normalized)
            for (float2& p : scaled) p = make_float2(p.x / 4, p.y / 3);
        float2* where = upload(scaled);
        float4* out = upload(std::vector<float4>(at.size()));
        gather<<<1, 32>>>(object, where, out, static_cast<int>(at.size()), component);
        std::vector<float4> result(at.size());
        REQUIRE(cudaMemcpy(result.data(), out, at.size() * sizeof(float4), cudaMemcpyDeviceToHost) ==
                cudaSuccess);
        cudaDestroyTextureObject(object);
        cudaFree(where);
        cudaFree(out);
        std::vector<Four> all;
        for (const float4& r : result) all.push_back({r.x, r.y, r.z, r.w});
        return all;
    };
    const std::vector<Four> clamped{{21, 22, 12, 11}, {20, 21, 11, 10}, {20, 21, 11, 10}, {0, 0, 0, 0},
                                    {23, 23, 23, 23}, {10, 10, 0, 0},   {21, 22, 22, 21}};
    CHECK(gathered(cudaAddressModeClamp, cudaFilterModePoint, false, 0) == clamped);
    CHECK(gathered(cudaAddressModeClamp, cudaFilterModeLinear, false, 0) == clamped);
    CHECK(gathered(cudaAddressModeClamp, cudaFilterModePoint, false, 1) ==
          std::vector<Four>(7, Four{0, 0, 0, 0}));
    CHECK(gathered(cudaAddressModeBorder, cudaFilterModePoint, false, 0) ==
          std::vector<Four>{{21, 22, 12, 11},
                            {20, 21, 11, 10},
                            {20, 21, 11, 10},
                            {77, 0, 77, 77},
                            {77, 77, 77, 23},
                            {77, 77, 77, 77},
                            {77, 77, 77, 77}});
    CHECK(gathered(cudaAddressModeWrap, cudaFilterModeLinear, true, 0) == std::vector<Four>{{21, 22, 12, 11},
                                                                                            {20, 21, 11, 10},
                                                                                            {20, 21, 11, 10},
                                                                                            {3, 0, 20, 23},
                                                                                            {3, 0, 20, 23},
                                                                                            {12, 13, 3, 2},
                                                                                            {1, 2, 22, 21}});
    CHECK(gathered(cudaAddressModeMirror, cudaFilterModePoint, true, 0) ==
          std::vector<Four>{{21, 22, 12, 11},
                            {20, 21, 11, 10},
                            {20, 21, 11, 10},
                            {0, 0, 0, 0},
                            {23, 23, 23, 23},
                            {11, 10, 0, 1},
                            {21, 22, 22, 21}});
    CHECK(cudaFreeArray(array) == cudaSuccess);
}

TEST_CASE("a gather of one component of integers", "[simt][texture]") {
    const std::vector<uint4> values{{1, 2, 3, 4}, {5, 6, 4000000001u, 8}, {9, 10, 11, 12}, {13, 14, 15, 16}};
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<uint4>();
    cudaArray_t array = nullptr;
    REQUIRE(cudaMallocArray(&array, &format, 2, 2, cudaArrayTextureGather) == cudaSuccess);
    REQUIRE(cudaMemcpy2DToArray(array, 0, 0, values.data(), 32, 32, 2, cudaMemcpyHostToDevice) ==
            cudaSuccess);
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    const cudaTextureDesc desc = description(cudaAddressModeClamp, cudaFilterModePoint, false);
    cudaTextureObject_t object = 0;
    REQUIRE(cudaCreateTextureObject(&object, &resource, &desc, nullptr) == cudaSuccess);
    float2* where = upload(std::vector<float2>{{1, 1}});
    uint4* out = upload(std::vector<uint4>(1));
    gather<<<1, 32>>>(object, where, out, 1, 2);
    uint4 result{};
    REQUIRE(cudaMemcpy(&result, out, sizeof result, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(result.x == 11);
    CHECK(result.y == 15);
    CHECK(result.z == 4000000001u);
    CHECK(result.w == 3);
    CHECK(cudaDestroyTextureObject(object) == cudaSuccess);
    CHECK(cudaFreeArray(array) == cudaSuccess);
    cudaFree(where);
    cudaFree(out);
}

TEST_CASE("levels of detail and gradients read the one level there is", "[simt][texture]") {
    std::vector<float> values(12);
    for (std::size_t i = 0; i < 12; ++i) values[i] = static_cast<float>(i * i);
    const ArrayTexture<float> texture(values, 4, 3,
                                      description(cudaAddressModeClamp, cudaFilterModeLinear, false));
    float* out = upload(std::vector<float>(3));
    sample_by_gradients<<<1, 1>>>(texture.object, out);
    float result[3];
    REQUIRE(cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(result[1] == result[0]);
    CHECK(result[2] == result[0]);
    cudaFree(out);
}
