/// @file
/// Texture and surface objects.
///
/// Coordinates, addressing and filtering follow the programming guide: linear filtering weighs with 8
/// fractional bits (1.8 fixed point), wrap and mirror act on normalised coordinates and are clamp otherwise,
/// and a fetch outside linear memory gives 0. Mipmaps, cube maps, gathers, sRGB and anisotropy do not exist
/// here; fetches with a level of detail read level 0.
#pragma once

#include "simt/api.h"
#include "simt/linkage.h"

#if defined(__cplusplus)
extern "C" {
#endif

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* object, const struct cudaResourceDesc* resource,
                                    const struct cudaTextureDesc* texture,
                                    const struct cudaResourceViewDesc* view);
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object);
cudaError_t cudaGetTextureObjectResourceDesc(struct cudaResourceDesc* resource, cudaTextureObject_t object);
cudaError_t cudaGetTextureObjectTextureDesc(struct cudaTextureDesc* texture, cudaTextureObject_t object);
cudaError_t cudaGetTextureObjectResourceViewDesc(struct cudaResourceViewDesc* view,
                                                 cudaTextureObject_t object);
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* object, const struct cudaResourceDesc* resource);
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object);
cudaError_t cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc* resource, cudaSurfaceObject_t object);
/// Most elements of format `format` that a texture over linear memory can hold.
cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t* elements, const struct cudaChannelFormatDesc* format,
                                                 int device);

struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                   enum cudaChannelFormatKind kind);

#if defined(__cplusplus)
}  // extern "C"

namespace simt {

/// What a texture or surface object's handle points to.
struct Texture {
    const char* data;
    long width, height, depth;  ///< in texels; 1 where a dimension does not exist; layers are depth
    size_t pitch, slice;        ///< bytes from row to row and from slice to slice
    int element;                ///< bytes of a texel
    int components;
    bool direct;  ///< texels are read as they are: no conversion to float
    bool filtered;
    bool normalized;
    bool over_array;  ///< the memory is an array's, so that a surface may write it
    cudaTextureAddressMode address[3];
    cudaResourceDesc resource;
    cudaTextureDesc description;
};

/// Index of the texel that point sampling reads at `x` of `size`; -1 outside if the mode is border.
long texel_index(float x, long size, cudaTextureAddressMode mode, bool normalized);
/// Component values of one texel as floats, converted as the read mode says. Outside: the border colour.
void texel_as_float(const Texture& texture, long x, long y, long z, float out[4]);
#if defined(SIMT_CHECK)
/// A fetch outside linear memory, before it gives 0.
void note_stray_fetch(const Texture& texture, long x);
/// Copies a texel of `size` bytes out, as a texture's read rather than the kernel's own.
void copy_texel(void* to, const Texture& texture, long x, long y, long z, size_t size);
#endif
/// Linear filtering in one to three dimensions; `layer` is a slice that is not filtered over, or -1.
void sample_linear(const Texture& texture, int dimensions, float x, float y, float z, long layer,
                   float out[4]);
/// Ends the kernel: a surface access left the surface in trap mode.
[[noreturn]] void surface_trap();

template <class T>
struct Texel;  // not a texel type: use char, short, int, float or their 2- and 4-component vectors
template <class T, class S, int N>
struct TexelOf {
    using Scalar = S;
    static constexpr int count = N;
};
#define SIMT_TEXEL(scalar, vector)                              \
    template <>                                                 \
    struct Texel<scalar> : TexelOf<scalar, scalar, 1> {};       \
    template <>                                                 \
    struct Texel<vector##1> : TexelOf<vector##1, scalar, 1> {}; \
    template <>                                                 \
    struct Texel<vector##2> : TexelOf<vector##2, scalar, 2> {}; \
    template <>                                                 \
    struct Texel<vector##4> : TexelOf<vector##4, scalar, 4> {};
SIMT_TEXEL(signed char, char)
SIMT_TEXEL(unsigned char, uchar)
SIMT_TEXEL(short, short)
SIMT_TEXEL(unsigned short, ushort)
SIMT_TEXEL(int, int)
SIMT_TEXEL(unsigned int, uint)
SIMT_TEXEL(float, float)
#undef SIMT_TEXEL
template <>
struct Texel<char> : TexelOf<char, char, 1> {};

template <class T>
inline T from_floats(const float* values) {
    using S = typename Texel<T>::Scalar;
    S scalars[Texel<T>::count];
    for (int i = 0; i < Texel<T>::count; ++i) scalars[i] = static_cast<S>(values[i]);
    T result;
    __builtin_memcpy(static_cast<void*>(&result), scalars, sizeof result);
    return result;
}

template <class T>
inline T read_texel(const Texture& t, long x, long y, long z) {
    if (t.direct && t.element == static_cast<int>(sizeof(T)) && x >= 0 && y >= 0 && z >= 0) {
        T result;
#if defined(SIMT_CHECK)
        copy_texel(&result, t, x, y, z, sizeof result);
#else
        const char* from = t.data + static_cast<size_t>(z) * t.slice + static_cast<size_t>(y) * t.pitch +
                           static_cast<size_t>(x) * sizeof(T);
        __builtin_memcpy(static_cast<void*>(&result), from, sizeof result);
#endif
        return result;
    }
    float values[4];
    texel_as_float(t, x, y, z, values);
    return from_floats<T>(values);
}

/// One fetch. `layer` is the slice of a layered array, or -1.
template <class T>
inline T sample(cudaTextureObject_t object, int dimensions, float x, float y, float z, long layer) {
    const Texture& t = *reinterpret_cast<const Texture*>(object);
    if (layer >= t.depth) layer = t.depth - 1;
    if (t.filtered) {
        float values[4];
        sample_linear(t, dimensions, x, y, z, layer, values);
        return from_floats<T>(values);
    }
    const long i = texel_index(x, t.width, t.address[0], t.normalized);
    const long j = dimensions > 1 ? texel_index(y, t.height, t.address[1], t.normalized) : 0;
    const long k = layer >= 0       ? layer
                   : dimensions > 2 ? texel_index(z, t.depth, t.address[2], t.normalized)
                                    : 0;
    return read_texel<T>(t, i, j, k);
}

/// Byte address of a surface access, or null where it leaves the surface and the mode ignores that.
template <class T>
inline char* surface_address(cudaSurfaceObject_t object, long x_bytes, long y, long z,
                             cudaSurfaceBoundaryMode mode) {
    const Texture& s = *reinterpret_cast<const Texture*>(object);
    const long row = s.width * s.element, last = row - static_cast<long>(sizeof(T));
    if (x_bytes < 0 || x_bytes > last || y < 0 || y >= s.height || z < 0 || z >= s.depth) {
        if (mode == cudaBoundaryModeTrap) surface_trap();
        if (mode == cudaBoundaryModeZero) return nullptr;
        x_bytes = x_bytes < 0 ? 0 : x_bytes > last ? last : x_bytes;
        y = y < 0 ? 0 : y >= s.height ? s.height - 1 : y;
        z = z < 0 ? 0 : z >= s.depth ? s.depth - 1 : z;
    }
    return const_cast<char*>(s.data) + static_cast<size_t>(z) * s.slice + static_cast<size_t>(y) * s.pitch +
           x_bytes;
}
template <class T>
inline T surface_read(cudaSurfaceObject_t object, long x, long y, long z, cudaSurfaceBoundaryMode mode) {
    T result{};
    if (const char* from = surface_address<T>(object, x, y, z, mode))
        __builtin_memcpy(static_cast<void*>(&result), from, sizeof result);
    return result;
}
template <class T>
inline void surface_write(T value, cudaSurfaceObject_t object, long x, long y, long z,
                          cudaSurfaceBoundaryMode mode) {
    if (char* to = surface_address<T>(object, x, y, z, mode)) __builtin_memcpy(to, &value, sizeof value);
}

/// CUDA's channel format of a texel type.
template <class T>
struct ChannelOf {
    static constexpr cudaChannelFormatDesc make() {
        using S = typename Texel<T>::Scalar;
        constexpr int bits = 8 * sizeof(S), n = Texel<T>::count;
        constexpr bool floating = static_cast<S>(0.5f) != S(0), is_signed = static_cast<S>(-1) < S(0);
        return {bits, n > 1 ? bits : 0, n > 2 ? bits : 0, n > 3 ? bits : 0,
                floating    ? cudaChannelFormatKindFloat
                : is_signed ? cudaChannelFormatKindSigned
                            : cudaChannelFormatKindUnsigned};
    }
};

}  // namespace simt

// ---- Fetches, as device code writes them
// ------------------------------------------------------------------------

template <class T>
inline T tex1Dfetch(cudaTextureObject_t object, int i) {
    const ::simt::Texture& t = *reinterpret_cast<const ::simt::Texture*>(object);
#if defined(SIMT_CHECK)
    if (i < 0 || i >= t.width) ::simt::note_stray_fetch(t, i);
#endif
    return ::simt::read_texel<T>(t, i >= 0 && i < t.width ? i : -1, 0, 0);
}
template <class T>
inline T tex1D(cudaTextureObject_t object, float x) {
    return ::simt::sample<T>(object, 1, x, 0, 0, -1);
}
template <class T>
inline T tex2D(cudaTextureObject_t object, float x, float y) {
    return ::simt::sample<T>(object, 2, x, y, 0, -1);
}
template <class T>
inline T tex3D(cudaTextureObject_t object, float x, float y, float z) {
    return ::simt::sample<T>(object, 3, x, y, z, -1);
}
template <class T>
inline T tex1DLayered(cudaTextureObject_t object, float x, int layer) {
    return ::simt::sample<T>(object, 1, x, 0, 0, layer < 0 ? 0 : layer);
}
template <class T>
inline T tex2DLayered(cudaTextureObject_t object, float x, float y, int layer) {
    return ::simt::sample<T>(object, 2, x, y, 0, layer < 0 ? 0 : layer);
}
template <class T>
inline void tex1Dfetch(T* result, cudaTextureObject_t object, int i) {
    *result = tex1Dfetch<T>(object, i);
}
template <class T>
inline void tex1D(T* result, cudaTextureObject_t object, float x) {
    *result = tex1D<T>(object, x);
}
template <class T>
inline void tex2D(T* result, cudaTextureObject_t object, float x, float y) {
    *result = tex2D<T>(object, x, y);
}
template <class T>
inline void tex3D(T* result, cudaTextureObject_t object, float x, float y, float z) {
    *result = tex3D<T>(object, x, y, z);
}

// With a level of detail: there is only level 0.
template <class T>
inline T tex1DLod(cudaTextureObject_t object, float x, float) {
    return tex1D<T>(object, x);
}
template <class T>
inline T tex2DLod(cudaTextureObject_t object, float x, float y, float) {
    return tex2D<T>(object, x, y);
}
template <class T>
inline T tex3DLod(cudaTextureObject_t object, float x, float y, float z, float) {
    return tex3D<T>(object, x, y, z);
}

// Surfaces: x counts bytes.
template <class T>
inline T surf1Dread(cudaSurfaceObject_t object, int x, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
    return ::simt::surface_read<T>(object, x, 0, 0, mode);
}
template <class T>
inline T surf2Dread(cudaSurfaceObject_t object, int x, int y,
                    cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
    return ::simt::surface_read<T>(object, x, y, 0, mode);
}
template <class T>
inline T surf3Dread(cudaSurfaceObject_t object, int x, int y, int z,
                    cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
    return ::simt::surface_read<T>(object, x, y, z, mode);
}
template <class T>
inline T surf2DLayeredread(cudaSurfaceObject_t object, int x, int y, int layer,
                           cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
    return ::simt::surface_read<T>(object, x, y, layer, mode);
}
template <class T>
inline void surf2DLayeredwrite(T value, cudaSurfaceObject_t object, int x, int y, int layer,
                               cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
    ::simt::surface_write(value, object, x, y, layer, mode);
}
template <class T>
inline void surf1Dread(T* result, cudaSurfaceObject_t object, int x,
                       cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
    *result = surf1Dread<T>(object, x, mode);
}
template <class T>
inline void surf2Dread(T* result, cudaSurfaceObject_t object, int x, int y,
                       cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
    *result = surf2Dread<T>(object, x, y, mode);
}
template <class T>
inline void surf1Dwrite(T value, cudaSurfaceObject_t object, int x,
                        cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
    ::simt::surface_write(value, object, x, 0, 0, mode);
}
template <class T>
inline void surf2Dwrite(T value, cudaSurfaceObject_t object, int x, int y,
                        cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
    ::simt::surface_write(value, object, x, y, 0, mode);
}
template <class T>
inline void surf3Dwrite(T value, cudaSurfaceObject_t object, int x, int y, int z,
                        cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
    ::simt::surface_write(value, object, x, y, z, mode);
}

template <class T>
constexpr cudaChannelFormatDesc cudaCreateChannelDesc() {
    return ::simt::ChannelOf<T>::make();
}
#endif
