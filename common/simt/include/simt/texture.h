/// @file
/// Texture and surface objects.
///
/// Coordinates, addressing and filtering follow the programming guide: linear filtering weighs with 8
/// fractional bits (1.8 fixed point), wrap and mirror act on normalised coordinates and are clamp otherwise,
/// and a fetch outside linear memory gives 0. Mipmaps, sRGB and anisotropy do not exist here; fetches with a
/// level of detail, or with gradients, read level 0. Faces of a cube map are filtered each by itself.
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
/// For check mode: a fetch outside linear memory, before it gives 0.
void note_stray_fetch(const Texture& texture, long x);
/// For check mode: copies a texel of `size` bytes out, as a texture's read rather than the kernel's own.
void copy_texel(void* to, const Texture& texture, long x, long y, long z, size_t size);
/// Linear filtering in one to three dimensions; `layer` is a slice that is not filtered over, or -1.
void sample_linear(const Texture& texture, int dimensions, float x, float y, float z, long layer,
                   float out[4]);
/// The two columns and the two rows of texels that linear filtering at (x, y) would weigh; -1 outside.
void gather_texels(const Texture& texture, float x, float y, long columns[2], long rows[2]);
/// Where a direction from a cube's middle meets its surface: normalised coordinates on one of six faces.
struct CubePoint {
    float s, t;
    long face;
};
CubePoint cube_point(float x, float y, float z);
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

/// Copies a texel of `size` bytes as it is.
inline void load_texel(void* to, const Texture& t, long x, long y, long z, size_t size) {
#if defined(SIMT_CHECK)
    copy_texel(to, t, x, y, z, size);
#else
    const char* from = t.data + static_cast<size_t>(z) * t.slice + static_cast<size_t>(y) * t.pitch +
                       static_cast<size_t>(x) * size;
    __builtin_memcpy(to, from, size);
#endif
}

template <class T>
inline T read_texel(const Texture& t, long x, long y, long z) {
    if (t.direct && t.element == static_cast<int>(sizeof(T)) && x >= 0 && y >= 0 && z >= 0) {
        T result;
        load_texel(static_cast<void*>(&result), t, x, y, z, sizeof result);
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

/// One component of four texels, from the lower left one counterclockwise, where y points down.
template <class T>
inline T gather(cudaTextureObject_t object, float x, float y, int component) {
    static_assert(Texel<T>::count == 4, "a gather gives four values");
    using S = typename Texel<T>::Scalar;
    const Texture& t = *reinterpret_cast<const Texture*>(object);
    long columns[2], rows[2];
    gather_texels(t, x, y, columns, rows);
    const long at[4][2] = {
        {columns[0], rows[1]}, {columns[1], rows[1]}, {columns[1], rows[0]}, {columns[0], rows[0]}};
    S values[4] = {};
    for (int i = 0; i < 4; ++i) {
        if (component < 0 || component >= t.components) continue;
        const bool inside = at[i][0] >= 0 && at[i][1] >= 0;
        if (t.direct && inside && t.element == t.components * static_cast<int>(sizeof(S))) {
            S texel[4];
            load_texel(texel, t, at[i][0], at[i][1], 0, static_cast<size_t>(t.element));
            values[i] = texel[component];
        } else {
            float texel[4];
            texel_as_float(t, at[i][0], at[i][1], 0, texel);
            values[i] = static_cast<S>(texel[component]);
        }
    }
    T result;
    __builtin_memcpy(static_cast<void*>(&result), values, sizeof result);
    return result;
}

/// A fetch from a cube, one of those that follow each other in an array; from the last for a
/// layer that does not exist.
template <class T>
inline T sample_cube(cudaTextureObject_t object, float x, float y, float z, long layer) {
    const long layers = reinterpret_cast<const Texture*>(object)->depth / 6;
    if (layer < 0 || layer >= layers) layer = layers - 1;
    const CubePoint p = cube_point(x, y, z);
    return sample<T>(object, 2, p.s, p.t, 0, 6 * layer + p.face);
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
/// The direction (x, y, z) from the middle of a cube.
template <class T>
inline T texCubemap(cudaTextureObject_t object, float x, float y, float z) {
    return ::simt::sample_cube<T>(object, x, y, z, 0);
}
template <class T>
inline T texCubemapLayered(cudaTextureObject_t object, float x, float y, float z, int layer) {
    return ::simt::sample_cube<T>(object, x, y, z, layer);
}
/// Component `component` of the four texels that linear filtering would weigh: T is a vector of four.
template <class T>
inline T tex2Dgather(cudaTextureObject_t object, float x, float y, int component = 0) {
    return ::simt::gather<T>(object, x, y, component);
}
template <class T>
inline void texCubemap(T* result, cudaTextureObject_t object, float x, float y, float z) {
    *result = texCubemap<T>(object, x, y, z);
}
template <class T>
inline void texCubemapLayered(T* result, cudaTextureObject_t object, float x, float y, float z, int layer) {
    *result = texCubemapLayered<T>(object, x, y, z, layer);
}
template <class T>
inline void tex2Dgather(T* result, cudaTextureObject_t object, float x, float y, int component = 0) {
    *result = tex2Dgather<T>(object, x, y, component);
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

// With a level of detail, or with gradients that choose one: there is only level 0.
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

template <class T>
inline T tex1DLayeredLod(cudaTextureObject_t object, float x, int layer, float) {
    return tex1DLayered<T>(object, x, layer);
}
template <class T>
inline T tex2DLayeredLod(cudaTextureObject_t object, float x, float y, int layer, float) {
    return tex2DLayered<T>(object, x, y, layer);
}
template <class T>
inline T texCubemapLod(cudaTextureObject_t object, float x, float y, float z, float) {
    return texCubemap<T>(object, x, y, z);
}
template <class T>
inline T texCubemapLayeredLod(cudaTextureObject_t object, float x, float y, float z, int layer, float) {
    return texCubemapLayered<T>(object, x, y, z, layer);
}
template <class T>
inline T tex1DGrad(cudaTextureObject_t object, float x, float, float) {
    return tex1D<T>(object, x);
}
template <class T>
inline T tex2DGrad(cudaTextureObject_t object, float x, float y, float2, float2) {
    return tex2D<T>(object, x, y);
}
template <class T>
inline T tex3DGrad(cudaTextureObject_t object, float x, float y, float z, float4, float4) {
    return tex3D<T>(object, x, y, z);
}
template <class T>
inline T tex1DLayeredGrad(cudaTextureObject_t object, float x, int layer, float, float) {
    return tex1DLayered<T>(object, x, layer);
}
template <class T>
inline T tex2DLayeredGrad(cudaTextureObject_t object, float x, float y, int layer, float2, float2) {
    return tex2DLayered<T>(object, x, y, layer);
}
template <class T>
inline T texCubemapGrad(cudaTextureObject_t object, float x, float y, float z, float4, float4) {
    return texCubemap<T>(object, x, y, z);
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

/// Of a cube `face`, or face `layer_face % 6` of cube `layer_face / 6`.
template <class T>
inline T surfCubemapread(cudaSurfaceObject_t object, int x, int y, int face,
                         cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
    return ::simt::surface_read<T>(object, x, y, face, mode);
}
template <class T>
inline T surfCubemapLayeredread(cudaSurfaceObject_t object, int x, int y, int layer_face,
                                cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
    return ::simt::surface_read<T>(object, x, y, layer_face, mode);
}
template <class T>
inline void surfCubemapread(T* result, cudaSurfaceObject_t object, int x, int y, int face,
                            cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
    *result = surfCubemapread<T>(object, x, y, face, mode);
}
template <class T>
inline void surfCubemapLayeredread(T* result, cudaSurfaceObject_t object, int x, int y, int layer_face,
                                   cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
    *result = surfCubemapLayeredread<T>(object, x, y, layer_face, mode);
}
template <class T>
inline void surfCubemapwrite(T value, cudaSurfaceObject_t object, int x, int y, int face,
                             cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
    ::simt::surface_write(value, object, x, y, face, mode);
}
template <class T>
inline void surfCubemapLayeredwrite(T value, cudaSurfaceObject_t object, int x, int y, int layer_face,
                                    cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
    ::simt::surface_write(value, object, x, y, layer_face, mode);
}

template <class T>
constexpr cudaChannelFormatDesc cudaCreateChannelDesc() {
    return ::simt::ChannelOf<T>::make();
}
#endif
