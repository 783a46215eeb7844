#include "simt/texture.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <unordered_set>

#include "runtime/array.h"
#include "runtime/memory.h"
#include "runtime/observe.h"
#include "runtime/stream_state.h"
#include "simt/half.h"
#include "simt/lane.h"
#include "simt/texture_reference.h"
#include "simt/virtual_device.h"

[[noreturn]] void __trap();

namespace simt {
namespace {

using D = VirtualDevice;

struct Objects {
    std::mutex mutex;
    std::unordered_set<Texture*> textures, surfaces;
    std::unordered_set<const textureReference*> references;  // that were bound
};
Objects& objects() {
    static auto* instance = new Objects;
    return *instance;
}

// Where texel `i` of `size` really is; -1: outside.
long address_texel(long i, long size, cudaTextureAddressMode mode, bool normalized) {
    if (i >= 0 && i < size) return i;
    if (mode == cudaAddressModeBorder) return -1;
    if (normalized && mode == cudaAddressModeWrap) return (i % size + size) % size;
    if (normalized && mode == cudaAddressModeMirror) {
        const long j = (i % (2 * size) + 2 * size) % (2 * size);
        return j < size ? j : 2 * size - 1 - j;
    }
    return i < 0 ? 0 : size - 1;
}

// floor(x) as an index, for any float: NaN and what no index can hold end at the nearer side.
long floor_index(float x) {
    if (!(x > -1e15f)) return -1;
    if (x > 1e15f) return 1000000000000000;
    return static_cast<long>(std::floor(x));
}

// Component `c` of the texel at `p`, converted.
float component(const Texture& t, const char* p, int c) {
    const cudaChannelFormatDesc& format =
        t.resource.resType == cudaResourceTypeLinear    ? t.resource.res.linear.desc
        : t.resource.resType == cudaResourceTypePitch2D ? t.resource.res.pitch2D.desc
                                                        : t.resource.res.array.array->format;
    const bool normalize = t.description.readMode == cudaReadModeNormalizedFloat;
    const int bytes = t.element / t.components;
    p += c * bytes;
    const auto load = [p](auto value) {
        std::memcpy(&value, p, sizeof value);
        return value;
    };
    if (format.f == cudaChannelFormatKindFloat)
        return bytes == 4 ? load(0.0f) : half_to_float(load(std::uint16_t{}));
    if (format.f == cudaChannelFormatKindUnsigned) {
        if (bytes == 1)
            return normalize ? static_cast<float>(load(std::uint8_t{})) / 255.0f : load(std::uint8_t{});
        if (bytes == 2)
            return normalize ? static_cast<float>(load(std::uint16_t{})) / 65535.0f : load(std::uint16_t{});
        return static_cast<float>(load(std::uint32_t{}));
    }
    if (bytes == 1)
        return normalize ? std::max(static_cast<float>(load(std::int8_t{})) / 127.0f, -1.0f)
                         : load(std::int8_t{});
    if (bytes == 2)
        return normalize ? std::max(static_cast<float>(load(std::int16_t{})) / 32767.0f, -1.0f)
                         : load(std::int16_t{});
    return static_cast<float>(load(std::int32_t{}));
}

}  // namespace

long texel_index(float x, long size, cudaTextureAddressMode mode, bool normalized) {
    if (normalized) {
        // Reduce before scaling, as the guide defines wrap and mirror: they act on the coordinate.
        if (mode == cudaAddressModeWrap) x -= std::floor(x);
        if (mode == cudaAddressModeMirror) {
            const float whole = std::floor(x), part = x - whole;
            x = std::fmod(whole, 2.0f) == 0.0f ? part : 1.0f - part;
        }
        x *= static_cast<float>(size);
        // The end of the range is the beginning of the next, but for a mirror, which stays on the last texel.
        if (mode == cudaAddressModeMirror && x >= static_cast<float>(size)) return size - 1;
    }
    return address_texel(floor_index(x), size, mode, normalized);
}

static const char* texel_at(const Texture& t, long x, long y, long z) {
    return t.data + static_cast<std::size_t>(z) * t.slice + static_cast<std::size_t>(y) * t.pitch +
           static_cast<std::size_t>(x) * static_cast<std::size_t>(t.element);
}

/// Where a GPU would have the texel, as far as sectors go: it keeps an array in tiles of a sector each, 16
/// bytes of two rows.
static const char* tiled(const Texture& t, long x, long y, long z) {
    if (t.resource.resType != cudaResourceTypeArray || t.height == 1) return texel_at(t, x, y, z);
    constexpr long sector = 32;
    constexpr long rows = 2;
    const long columns = sector / rows / t.element;
    const long tile = (z * t.height / rows + y / rows) * ((t.width + columns - 1) / columns) + x / columns;
    const long offset = tile * sector + (y % rows * columns + x % columns) * t.element;
    // Tiles that stick out at the lower and right side have no memory here.
    const long bytes = static_cast<long>(t.slice) * t.depth;
    return t.data + (offset < bytes ? offset : offset % bytes / t.element * t.element);
}

/// How many lanes one request of a texture unit covers.
static unsigned lanes_together(const Texture& t) {
    return t.resource.resType == cudaResourceTypeLinear && t.element <= 4 ? 8 : 4;
}

#if defined(SIMT_CHECK)
void copy_texel(void* to, const Texture& t, long x, long y, long z, std::size_t size) {
    const char* from = texel_at(t, x, y, z);
    observe::texel_read(from, size, tiled(t, x, y, z), lanes_together(t), SIMT_SITE);
    // Of a fixed size each, so that no function is called that would be taken for the kernel's own read.
    switch (size) {
        case 1:
            return void(__builtin_memcpy(to, from, 1));
        case 2:
            return void(__builtin_memcpy(to, from, 2));
        case 4:
            return void(__builtin_memcpy(to, from, 4));
        case 8:
            return void(__builtin_memcpy(to, from, 8));
        default:
            __builtin_memcpy(to, from, 16);
    }
}
void note_stray_fetch(const Texture& t, long x) {
    observe::stray_fetch(t.data, static_cast<std::size_t>(t.element), x, t.width, SIMT_SITE);
}
#endif

/// texel_as_float() for device code at `site`.
static void read_texel_as_float(const Texture& t, long x, long y, long z, float out[4], const void* site) {
    const bool outside = x < 0 || y < 0 || z < 0;
    const char* p = texel_at(t, x, y, z);
    if (observe::on && !outside)
        observe::texel_read(p, static_cast<std::size_t>(t.element), tiled(t, x, y, z), lanes_together(t),
                            site);
    for (int c = 0; c < 4; ++c) {
        if (outside) {
            // Linear memory has no border colour: a fetch outside gives 0.
            out[c] = t.resource.resType == cudaResourceTypeLinear ? 0.0f : t.description.borderColor[c];
        } else {
            out[c] = c < t.components ? component(t, p, c) : 0.0f;
        }
    }
}

void texel_as_float(const Texture& t, long x, long y, long z, float out[4]) {
    read_texel_as_float(t, x, y, z, out, SIMT_SITE);
}

/// Where linear filtering at `x` begins, in texels of `size`: the first of two, and how far the point is from
/// its middle towards the next. The hardware has 8 fractional bits.
static long footprint(float x, long size, cudaTextureAddressMode mode, bool normalized, float* alpha) {
    if (normalized) {
        if (mode == cudaAddressModeWrap) x -= std::floor(x);
        x *= static_cast<float>(size);
    }
    x -= 0.5f;
    const float whole = std::floor(x);
    *alpha = std::floor((x - whole) * 256.0f + 0.5f) / 256.0f;
    if (!(*alpha >= 0.0f && *alpha <= 1.0f)) *alpha = 0.0f;
    return floor_index(x);
}

void sample_linear(const Texture& t, int dimensions, float x, float y, float z, long layer, float out[4]) {
    [[maybe_unused]] const void* site = SIMT_SITE;
    const float coordinate[3] = {x, y, z};
    const long size[3] = {t.width, t.height, t.depth};
    long index[3][2] = {};
    float weight[3][2] = {{1, 0}, {1, 0}, {1, 0}};
    for (int d = 0; d < dimensions; ++d) {
        float alpha;
        const long i = footprint(coordinate[d], size[d], t.address[d], t.normalized, &alpha);
        index[d][0] = address_texel(i, size[d], t.address[d], t.normalized);
        index[d][1] = address_texel(i + 1, size[d], t.address[d], t.normalized);
        weight[d][0] = 1.0f - alpha;
        weight[d][1] = alpha;
    }
    if (layer >= 0) index[2][0] = layer;
    for (int c = 0; c < 4; ++c) out[c] = 0.0f;
    const int ends[3] = {2, dimensions > 1 ? 2 : 1, dimensions > 2 ? 2 : 1};
    for (int k = 0; k < ends[2]; ++k) {
        for (int j = 0; j < ends[1]; ++j) {
            for (int i = 0; i < ends[0]; ++i) {
                const float w = weight[0][i] * weight[1][j] * weight[2][k];
                if (w == 0.0f) continue;  // a texel without weight does not spread its NaN
                float texel[4];
                read_texel_as_float(t, index[0][i], index[1][j], index[2][k], texel, site);
                for (int c = 0; c < 4; ++c) out[c] += w * texel[c];
            }
        }
    }
}

void gather_texels(const Texture& t, float x, float y, long columns[2], long rows[2]) {
    const float coordinate[2] = {x, y};
    const long size[2] = {t.width, t.height};
    long* const to[2] = {columns, rows};
    for (int d = 0; d < 2; ++d) {
        float alpha;
        long i = footprint(coordinate[d], size[d], t.address[d], t.normalized, &alpha);
        if (alpha == 1.0f) ++i;  // so close to the next that it is there
        to[d][0] = address_texel(i, size[d], t.address[d], t.normalized);
        to[d][1] = address_texel(i + 1, size[d], t.address[d], t.normalized);
    }
}

CubePoint cube_point(float x, float y, float z) {
    const float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
    float major, s, t;
    long face;
    if (az >= ax && az >= ay) {  // of equals the last
        major = az;
        face = z >= 0 ? 4 : 5;
        s = z >= 0 ? x : -x;
        t = -y;
    } else if (ay >= ax) {
        major = ay;
        face = y >= 0 ? 2 : 3;
        s = x;
        t = y >= 0 ? z : -z;
    } else {
        major = ax;
        face = x >= 0 ? 0 : 1;
        s = x >= 0 ? -z : z;
        t = -y;
    }
    if (major == 0.0f) return {0.5f, 0.5f, face};
    return {(s / major + 1.0f) / 2.0f, (t / major + 1.0f) / 2.0f, face};
}

void surface_trap() { __trap(); }

cudaTextureObject_t bound_object(const textureReference& reference) {
    if (reference.simt_object == 0)
        fail_lane("a fetch through a texture reference that is bound to nothing", SIMT_SITE);
    return reference.simt_object;
}

void reset_textures() {
    Objects& o = objects();
    std::lock_guard lock(o.mutex);
    for (Texture* t : o.textures) delete t;
    for (Texture* s : o.surfaces) delete s;
    for (const textureReference* reference : o.references) reference->simt_object = 0;
    o.textures.clear();
    o.surfaces.clear();
    o.references.clear();
}

// Describes the memory of a resource; the access settings stay as they are.
static cudaError_t describe(const cudaResourceDesc& resource, Texture* t) {
    t->resource = resource;
    t->width = t->height = t->depth = 1;
    const cudaChannelFormatDesc* format = nullptr;
    switch (resource.resType) {
        case cudaResourceTypeLinear: {
            const auto& r = resource.res.linear;
            format = &r.desc;
            const std::size_t element = texel_bytes(r.desc);
            if (element == 0) return cudaErrorInvalidChannelDescriptor;
            if (!r.devPtr || r.sizeInBytes < element || r.sizeInBytes / element > D::max_texture_1d_linear)
                return cudaErrorInvalidValue;
            if (reinterpret_cast<std::uintptr_t>(r.devPtr) % D::texture_alignment != 0)
                return cudaErrorInvalidValue;
            if (!is_device_accessible(r.devPtr, r.sizeInBytes)) return cudaErrorInvalidValue;
            t->data = static_cast<const char*>(r.devPtr);
            t->width = static_cast<long>(r.sizeInBytes / element);
            t->pitch = r.sizeInBytes;
            break;
        }
        case cudaResourceTypePitch2D: {
            const auto& r = resource.res.pitch2D;
            format = &r.desc;
            const std::size_t element = texel_bytes(r.desc);
            if (element == 0) return cudaErrorInvalidChannelDescriptor;
            if (!r.devPtr || r.width == 0 || r.height == 0 || r.width > D::max_texture_2d_linear ||
                r.height > D::max_texture_2d_linear_height ||
                r.pitchInBytes > D::max_texture_2d_linear_pitch || r.pitchInBytes < r.width * element)
                return cudaErrorInvalidValue;
            if (reinterpret_cast<std::uintptr_t>(r.devPtr) % D::texture_alignment != 0 ||
                r.pitchInBytes % D::texture_pitch_alignment != 0)
                return cudaErrorInvalidValue;
            if (!is_device_accessible(r.devPtr, r.pitchInBytes * (r.height - 1) + r.width * element))
                return cudaErrorInvalidValue;
            t->data = static_cast<const char*>(r.devPtr);
            t->width = static_cast<long>(r.width);
            t->height = static_cast<long>(r.height);
            t->pitch = r.pitchInBytes;
            break;
        }
        case cudaResourceTypeArray: {
            cudaArray_t array = resource.res.array.array;
            if (!array_exists(array)) return cudaErrorInvalidResourceHandle;
            format = &array->format;
            t->data = array->data;
            t->width = static_cast<long>(array->extent.width);
            t->height = static_cast<long>(array->rows());
            t->depth = static_cast<long>(array->slices());
            t->pitch = array->pitch();
            t->over_array = true;
            break;
        }
        default:
            return cudaErrorNotSupported;  // mipmapped arrays
    }
    t->element = static_cast<int>(texel_bytes(*format));
    t->components = 1 + (format->y != 0) + (format->z != 0) + (format->w != 0);
    t->slice = t->pitch * static_cast<std::size_t>(t->height);
    const bool half = format->f == cudaChannelFormatKindFloat && format->x == 16;
    t->direct = !half;
    return cudaSuccess;
}

}  // namespace simt

using namespace simt;

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* object, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* texture, const cudaResourceViewDesc* view) {
    if (const cudaError_t error = enter()) return fail(error);
    if (!object || !resource || !texture) return fail(cudaErrorInvalidValue);
    if (view) return fail(cudaErrorNotSupported);
    auto created = std::make_unique<Texture>(Texture{});
    if (const cudaError_t error = describe(*resource, created.get())) return fail(error);
    Texture& t = *created;
    const cudaChannelFormatDesc& format =
        resource->resType == cudaResourceTypeLinear    ? resource->res.linear.desc
        : resource->resType == cudaResourceTypePitch2D ? resource->res.pitch2D.desc
                                                       : resource->res.array.array->format;
    for (int d = 0; d < 3; ++d) {
        if (texture->addressMode[d] < cudaAddressModeWrap || texture->addressMode[d] > cudaAddressModeBorder)
            return fail(cudaErrorInvalidValue);
        t.address[d] = texture->addressMode[d];
    }
    const bool integers = format.f != cudaChannelFormatKindFloat;
    const bool to_float = texture->readMode == cudaReadModeNormalizedFloat;
    if (to_float && integers && format.x == 32) return fail(cudaErrorInvalidNormSetting);
    const bool linear = texture->filterMode == cudaFilterModeLinear;
    if (linear && integers && !to_float) return fail(cudaErrorInvalidFilterSetting);
    if (texture->sRGB || texture->seamlessCubemap) return fail(cudaErrorNotSupported);
    t.description = *texture;
    t.direct = t.direct && !(to_float && integers);
    const bool cube =
        resource->resType == cudaResourceTypeArray && (resource->res.array.array->flags & cudaArrayCubemap);
    t.normalized = texture->normalizedCoords != 0 || cube;  // a direction has no unit
    t.filtered = linear && resource->resType != cudaResourceTypeLinear;
    std::lock_guard lock(objects().mutex);
    objects().textures.insert(created.get());
    observe::runtime_memory(created.get(), sizeof(Texture));
    *object = reinterpret_cast<cudaTextureObject_t>(created.release());
    return cudaSuccess;
}

// Finds an object among the live ones; null if it is none of them.
static Texture* find_object(std::unordered_set<Texture*>& live, unsigned long long object) {
    auto found = live.find(reinterpret_cast<Texture*>(object));
    return found == live.end() ? nullptr : *found;
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) {
    if (const cudaError_t error = enter()) return fail(error);
    if (object == 0) return cudaSuccess;
    std::lock_guard lock(objects().mutex);
    Texture* t = find_object(objects().textures, object);
    if (!t) return fail(cudaErrorInvalidValue);
    objects().textures.erase(t);
    delete t;
    return cudaSuccess;
}

cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource, cudaTextureObject_t object) {
    if (const cudaError_t error = enter()) return fail(error);
    std::lock_guard lock(objects().mutex);
    Texture* t = find_object(objects().textures, object);
    if (!resource || !t) return fail(cudaErrorInvalidValue);
    *resource = t->resource;
    return cudaSuccess;
}

cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* texture, cudaTextureObject_t object) {
    if (const cudaError_t error = enter()) return fail(error);
    std::lock_guard lock(objects().mutex);
    Texture* t = find_object(objects().textures, object);
    if (!texture || !t) return fail(cudaErrorInvalidValue);
    *texture = t->description;
    return cudaSuccess;
}

// No object has a view.
cudaError_t cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc*, cudaTextureObject_t) {
    return fail(cudaErrorInvalidValue);
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* object, const cudaResourceDesc* resource) {
    if (const cudaError_t error = enter()) return fail(error);
    if (!object || !resource || resource->resType != cudaResourceTypeArray)
        return fail(cudaErrorInvalidValue);
    auto created = std::make_unique<Texture>(Texture{});
    if (const cudaError_t error = describe(*resource, created.get())) return fail(error);
    std::lock_guard lock(objects().mutex);
    objects().surfaces.insert(created.get());
    observe::runtime_memory(created.get(), sizeof(Texture));
    *object = reinterpret_cast<cudaSurfaceObject_t>(created.release());
    return cudaSuccess;
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object) {
    if (const cudaError_t error = enter()) return fail(error);
    if (object == 0) return cudaSuccess;
    std::lock_guard lock(objects().mutex);
    Texture* s = find_object(objects().surfaces, object);
    if (!s) return fail(cudaErrorInvalidValue);
    objects().surfaces.erase(s);
    delete s;
    return cudaSuccess;
}

cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* resource, cudaSurfaceObject_t object) {
    if (const cudaError_t error = enter()) return fail(error);
    std::lock_guard lock(objects().mutex);
    Texture* s = find_object(objects().surfaces, object);
    if (!resource || !s) return fail(cudaErrorInvalidValue);
    *resource = s->resource;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t* elements, const cudaChannelFormatDesc* format,
                                                 int device) {
    if (!elements || !format) return fail(cudaErrorInvalidValue);
    if (device != 0) return fail(cudaErrorInvalidDevice);
    if (texel_bytes(*format) == 0) return fail(cudaErrorInvalidChannelDescriptor);
    *elements = D::max_texture_1d_linear;
    return cudaSuccess;
}

// ---- Texture references

/// Makes the object behind a reference, in the place of the one that it had.
static cudaError_t renew_object(const textureReference& reference, const cudaResourceDesc& resource) {
    cudaTextureDesc description{};
    for (int d = 0; d < 3; ++d) description.addressMode[d] = reference.addressMode[d];
    description.filterMode = reference.filterMode;
    description.readMode = reference.simt_read_mode;
    description.normalizedCoords = reference.normalized;
    description.sRGB = reference.sRGB;
    description.maxAnisotropy = reference.maxAnisotropy;
    cudaTextureObject_t made = 0;
    if (const cudaError_t error = cudaCreateTextureObject(&made, &resource, &description, nullptr))
        return error;
    cudaDestroyTextureObject(reference.simt_object);
    reference.simt_object = made;
    reference.simt_offset = 0;
    std::lock_guard lock(objects().mutex);
    objects().references.insert(&reference);
    return cudaSuccess;
}

/// Splits an address into what textures can begin at and the rest, which the program then has to be told.
static bool align(const void*& pointer, std::size_t& rest, const std::size_t* offset) {
    rest = reinterpret_cast<std::uintptr_t>(pointer) % D::texture_alignment;
    pointer = static_cast<const char*>(pointer) - rest;
    return rest == 0 || offset;
}

cudaError_t cudaBindTexture(size_t* offset, const textureReference* reference, const void* pointer,
                            const cudaChannelFormatDesc* format, size_t size) {
    if (const cudaError_t error = enter()) return fail(error);
    Location place;
    if (!reference || !format || !pointer || !locate(pointer, &place)) return fail(cudaErrorInvalidValue);
    if (size == 0xffffffffu)  // all that there is
        size = std::min<std::size_t>(place.size - static_cast<std::size_t>(place.offset),
                                     D::max_texture_1d_linear * texel_bytes(*format));
    std::size_t rest = 0;
    if (!align(pointer, rest, offset)) return fail(cudaErrorInvalidValue);
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear = {const_cast<void*>(pointer), *format, size + rest};
    if (const cudaError_t error = renew_object(*reference, resource)) return error;
    if (offset) *offset = rest;
    reference->simt_offset = rest;
    return cudaSuccess;
}

cudaError_t cudaBindTexture2D(size_t* offset, const textureReference* reference, const void* pointer,
                              const cudaChannelFormatDesc* format, size_t width, size_t height,
                              size_t pitch) {
    if (const cudaError_t error = enter()) return fail(error);
    std::size_t rest = 0;
    if (!reference || !format || !pointer || texel_bytes(*format) == 0 || !align(pointer, rest, offset))
        return fail(cudaErrorInvalidValue);
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D = {const_cast<void*>(pointer), *format, width + rest / texel_bytes(*format), height,
                            pitch};
    if (const cudaError_t error = renew_object(*reference, resource)) return error;
    if (offset) *offset = rest;
    reference->simt_offset = rest;
    return cudaSuccess;
}

cudaError_t cudaBindTextureToArray(const textureReference* reference, cudaArray_const_t array,
                                   const cudaChannelFormatDesc* format) {
    if (const cudaError_t error = enter()) return fail(error);
    if (!reference || !format) return fail(cudaErrorInvalidValue);
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = const_cast<cudaArray_t>(array);
    return renew_object(*reference, resource);
}

cudaError_t cudaUnbindTexture(const textureReference* reference) {
    if (!reference) return fail(cudaErrorInvalidValue);
    const cudaError_t error = cudaDestroyTextureObject(reference->simt_object);
    reference->simt_object = 0;
    reference->simt_offset = 0;
    return error;
}

cudaError_t cudaGetTextureAlignmentOffset(size_t* offset, const textureReference* reference) {
    if (const cudaError_t error = enter()) return fail(error);
    if (!offset || !reference || reference->simt_object == 0) return fail(cudaErrorInvalidTextureBinding);
    *offset = reference->simt_offset;
    return cudaSuccess;
}
