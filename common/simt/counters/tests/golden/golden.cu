// The data of the golden set, and its table.

#include "counters/tests/golden/golden.h"

namespace golden {

std::vector<Kernel> all_kernels() {
    std::vector<Kernel> all;
    for (const auto& part : {global_kernels(), vector_kernels(), tile_kernels(), shared_kernels(),
                             flow_kernels(), atomic_kernels(), other_kernels()}) {
        all.insert(all.end(), part.begin(), part.end());
    }
    return all;
}

/// The same numbers on every platform.
static unsigned next(unsigned& state) { return (state = state * 1664525u + 1013904223u) >> 8; }

template <class T>
static T* on_device(const std::vector<T>& values) {
    T* memory = nullptr;
    require(cudaMalloc(&memory, values.size() * sizeof(T)), "allocating memory");
    require(cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice),
            "copying data");
    return memory;
}

static cudaTextureObject_t texture(const cudaResourceDesc& resource) {
    cudaTextureDesc how = {};
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    how.readMode = cudaReadModeElementType;
    cudaTextureObject_t object = 0;
    require(cudaCreateTextureObject(&object, &resource, &how, nullptr), "making a texture");
    return object;
}

template <class T>
static cudaTextureObject_t linear_texture(float* memory, std::size_t floats) {
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = memory;
    resource.res.linear.desc = cudaCreateChannelDesc<T>();
    resource.res.linear.sizeInBytes = floats * sizeof(float);
    return texture(resource);
}

static cudaTextureObject_t pitched_texture(const std::vector<float>& values) {
    void* memory = nullptr;
    std::size_t pitch = 0;
    require(cudaMallocPitch(&memory, &pitch, side * sizeof(float), side), "allocating a picture");
    require(cudaMemcpy2D(memory, pitch, values.data(), side * sizeof(float), side * sizeof(float), side,
                         cudaMemcpyHostToDevice),
            "copying a picture");
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = memory;
    resource.res.pitch2D.desc = cudaCreateChannelDesc<float>();
    resource.res.pitch2D.width = resource.res.pitch2D.height = side;
    resource.res.pitch2D.pitchInBytes = pitch;
    return texture(resource);
}

/// `side` x `rows` texels; without rows, of one dimension.
template <class T>
static cudaTextureObject_t array_texture(const std::vector<T>& values, unsigned rows) {
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<T>();
    cudaArray_t array = nullptr;
    require(cudaMallocArray(&array, &format, side, rows), "allocating an array");
    require(cudaMemcpy2DToArray(array, 0, 0, values.data(), side * sizeof(T), side * sizeof(T),
                                rows ? rows : 1, cudaMemcpyHostToDevice),
            "copying an array");
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    return texture(resource);
}

static Data make_data() {
    unsigned state = 2024;
    std::vector<float> in(length);
    for (float& x : in) x = static_cast<float>(next(state) % 4096) / 4096.0f;
    std::vector<double> doubles(4 * count, 0.5);
    std::vector<unsigned char> bytes(2 * count, 3);
    std::vector<int> permutation(count), keys(count), starts(count + 1);
    for (unsigned i = 0; i < count; ++i) permutation[i] = static_cast<int>(i);
    for (unsigned i = count - 1; i > 0; --i) std::swap(permutation[i], permutation[next(state) % (i + 1)]);
    for (int& key : keys) key = static_cast<int>(next(state) % 8 * (next(state) % 8));
    for (unsigned i = 0; i < count; ++i) starts[i + 1] = starts[i] + static_cast<int>(next(state) % 8);

    Data data = {};
    float* const line = on_device(in);
    data.in = line;
    data.doubles = on_device(doubles);
    data.bytes = on_device(bytes);
    data.permutation = on_device(permutation);
    data.keys = on_device(keys);
    data.starts = on_device(starts);
    data.out = on_device(std::vector<float>(length, 1.0f));
    data.wide = on_device(doubles);
    data.small = on_device(bytes);
    data.counters = on_device(std::vector<int>(count));
    data.line = linear_texture<float>(line, length);
    data.picture = pitched_texture(in);
    data.array = array_texture(in, side);
    data.bytes_array = array_texture(std::vector<unsigned char>(side * side, 3), side);
    data.shorts_array = array_texture(std::vector<unsigned short>(side * side, 3), side);
    data.pairs_array = array_texture(std::vector<float2>(side * side, make_float2(1.0f, 2.0f)), side);
    data.quads_array =
        array_texture(std::vector<float4>(side * side, make_float4(1.0f, 2.0f, 3.0f, 4.0f)), side);
    data.row = array_texture(in, 0);
    data.quads_line = linear_texture<float4>(line, length);
    return data;
}

void run_all(void (*before)(const Kernel&), void (*after)(const Kernel&)) {
    const Data data = make_data();
    fill_constants();
    for (const Kernel& kernel : all_kernels()) {
        require(cudaMemset(data.counters, 0, count * sizeof(int)), "clearing the counters");
        before(kernel);
        kernel.launch(data);
        require(cudaGetLastError(), kernel.name);
        require(cudaDeviceSynchronize(), kernel.name);
        after(kernel);
    }
}

}  // namespace golden
