/// @file
/// Texture references, which CUDA 12 removed: `texture<float, 1> t;` at namespace scope, bound to memory by
/// the host. cu2cpp lets them pass where it is asked to (`--lenient`, as simt++ does), and makes
/// `TextureReference` of the name. Each has a texture object, made when memory is bound; what a program
/// writes to the members before counts, as in CUDA.
/// Source: CUDA C++ Programming Guide 11.8, section 3.2.14.1.2.
#pragma once
#pragma GCC system_header

#include "simt/texture.h"

/// What a program may set before it binds memory.
struct textureReference {
    int normalized = 0;
    cudaTextureFilterMode filterMode = cudaFilterModePoint;
    cudaTextureAddressMode addressMode[3] = {cudaAddressModeClamp, cudaAddressModeClamp,
                                             cudaAddressModeClamp};
    cudaChannelFormatDesc channelDesc{};
    int sRGB = 0;
    unsigned int maxAnisotropy = 0;

    // The runtime's.
    cudaTextureReadMode simt_read_mode = cudaReadModeElementType;
    mutable cudaTextureObject_t simt_object = 0;  ///< 0 while nothing is bound
    mutable size_t simt_offset = 0;               ///< in bytes, of what the program bound
};

namespace simt {

template <class T, int dimensions = cudaTextureType1D, cudaTextureReadMode mode = cudaReadModeElementType>
struct __attribute__((
    deprecated("CUDA 12 removed texture references; write an object: cudaCreateTextureObject()")))
TextureReference : textureReference {
    explicit TextureReference(int normal = 0, cudaTextureFilterMode filter = cudaFilterModePoint,
                              cudaTextureAddressMode address = cudaAddressModeClamp,
                              cudaChannelFormatDesc format = cudaCreateChannelDesc<T>()) {
        normalized = normal;
        filterMode = filter;
        for (cudaTextureAddressMode& each : addressMode) each = address;
        channelDesc = format;
        simt_read_mode = mode;
    }
};

/// The object behind a reference. Ends the kernel if nothing is bound.
cudaTextureObject_t bound_object(const textureReference& reference);

/// What a fetch gives.
template <class T, cudaTextureReadMode mode>
struct Fetched {
    using Type = T;
};
template <int count>
struct FloatVector;
template <>
struct FloatVector<1> {
    using Type = float;
};
template <>
struct FloatVector<2> {
    using Type = float2;
};
template <>
struct FloatVector<4> {
    using Type = float4;
};
template <class T>
struct Fetched<T, cudaReadModeNormalizedFloat> {
    using Type = typename FloatVector<Texel<T>::count>::Type;
};

}  // namespace simt

// Binding. `size` is in bytes; by default as much as there is. `offset`, in bytes, is what the program has to
// add where memory does not begin at a multiple of the alignment of textures.
cudaError_t cudaBindTexture(size_t* offset, const textureReference* reference, const void* pointer,
                            const cudaChannelFormatDesc* format, size_t size = 0xffffffffu);
cudaError_t cudaBindTexture2D(size_t* offset, const textureReference* reference, const void* pointer,
                              const cudaChannelFormatDesc* format, size_t width, size_t height, size_t pitch);
cudaError_t cudaBindTextureToArray(const textureReference* reference, cudaArray_const_t array,
                                   const cudaChannelFormatDesc* format);
cudaError_t cudaUnbindTexture(const textureReference* reference);
cudaError_t cudaGetTextureAlignmentOffset(size_t* offset, const textureReference* reference);

inline cudaError_t cudaBindTexture(size_t* offset, const textureReference& reference, const void* pointer,
                                   const cudaChannelFormatDesc& format, size_t size = 0xffffffffu) {
    return cudaBindTexture(offset, &reference, pointer, &format, size);
}
inline cudaError_t cudaBindTexture(size_t* offset, const textureReference& reference, const void* pointer,
                                   size_t size = 0xffffffffu) {
    return cudaBindTexture(offset, &reference, pointer, &reference.channelDesc, size);
}
inline cudaError_t cudaBindTexture2D(size_t* offset, const textureReference& reference, const void* pointer,
                                     const cudaChannelFormatDesc& format, size_t width, size_t height,
                                     size_t pitch) {
    return cudaBindTexture2D(offset, &reference, pointer, &format, width, height, pitch);
}
inline cudaError_t cudaBindTexture2D(size_t* offset, const textureReference& reference, const void* pointer,
                                     size_t width, size_t height, size_t pitch) {
    return cudaBindTexture2D(offset, &reference, pointer, &reference.channelDesc, width, height, pitch);
}
inline cudaError_t cudaBindTextureToArray(const textureReference& reference, cudaArray_const_t array,
                                          const cudaChannelFormatDesc& format) {
    return cudaBindTextureToArray(&reference, array, &format);
}
inline cudaError_t cudaBindTextureToArray(const textureReference& reference, cudaArray_const_t array) {
    return cudaBindTextureToArray(&reference, array, &reference.channelDesc);
}
inline cudaError_t cudaUnbindTexture(const textureReference& reference) {
    return cudaUnbindTexture(&reference);
}
inline cudaError_t cudaGetTextureAlignmentOffset(size_t* offset, const textureReference& reference) {
    return cudaGetTextureAlignmentOffset(offset, &reference);
}

// Fetches.
#define SIMT_FETCH(name, dimensions, parameters, arguments)                                     \
    template <class T, cudaTextureReadMode mode>                                                \
    inline typename ::simt::Fetched<T, mode>::Type name(                                        \
        const ::simt::TextureReference<T, dimensions, mode>& reference, SIMT_LIST parameters) { \
        return name<typename ::simt::Fetched<T, mode>::Type>(::simt::bound_object(reference),   \
                                                             SIMT_LIST arguments);              \
    }
#define SIMT_LIST(...) __VA_ARGS__
SIMT_FETCH(tex1Dfetch, cudaTextureType1D, (int i), (i))
SIMT_FETCH(tex1D, cudaTextureType1D, (float x), (x))
SIMT_FETCH(tex2D, cudaTextureType2D, (float x, float y), (x, y))
SIMT_FETCH(tex3D, cudaTextureType3D, (float x, float y, float z), (x, y, z))
SIMT_FETCH(tex1DLayered, cudaTextureType1DLayered, (float x, int layer), (x, layer))
SIMT_FETCH(tex2DLayered, cudaTextureType2DLayered, (float x, float y, int layer), (x, y, layer))
SIMT_FETCH(texCubemap, cudaTextureTypeCubemap, (float x, float y, float z), (x, y, z))
#undef SIMT_FETCH
#undef SIMT_LIST
