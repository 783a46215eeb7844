#include "runtime/array.h"

#include <cstring>
#include <memory>
#include <mutex>
#include <unordered_set>

#include "runtime/memory.h"
#include "runtime/stream_state.h"
#include "simt/stream.h"
#include "simt/texture.h"
#include "simt/virtual_device.h"

namespace simt {
namespace {

std::mutex& array_mutex() {
    static auto* mutex = new std::mutex;
    return *mutex;
}
std::unordered_set<cudaArray_const_t>& live_arrays() {
    static auto* set = new std::unordered_set<cudaArray_const_t>;
    return *set;
}

}  // namespace

std::size_t texel_bytes(const cudaChannelFormatDesc& format) {
    const int bits = format.x;
    const bool float_format = format.f == cudaChannelFormatKindFloat;
    if (format.f != cudaChannelFormatKindSigned && format.f != cudaChannelFormatKindUnsigned && !float_format)
        return 0;
    if (bits != 8 && bits != 16 && bits != 32) return 0;
    if (float_format && bits == 8) return 0;
    // One, two or four components of equal width.
    const int components = 1 + (format.y != 0) + (format.z != 0) + (format.w != 0);
    if (components == 3) return 0;
    const int widths[] = {format.x, format.y, format.z, format.w};
    for (int i = 0; i < 4; ++i)
        if (widths[i] != (i < components ? bits : 0)) return 0;
    return static_cast<std::size_t>(components * bits / 8);
}

bool array_exists(cudaArray_const_t array) {
    std::lock_guard lock(array_mutex());
    return live_arrays().count(array) != 0;
}

void reset_arrays() {
    std::lock_guard lock(array_mutex());
    for (cudaArray_const_t array : live_arrays()) delete array;
    live_arrays().clear();
}

namespace {

// One side of a copy: where texel or byte (0, 0, 0) of it is, and how far apart rows and slices are.
struct Side {
    char* start = nullptr;
    std::size_t pitch = 0, slice = 0;
};

// `width` is in bytes. Fails if the box leaves the array or the memory.
cudaError_t describe(cudaArray_t array, const cudaPitchedPtr& memory, cudaPos at, std::size_t width,
                     std::size_t height, std::size_t depth, cudaMemcpyKind kind, bool destination,
                     Side* side) {
    if ((array != nullptr) == (memory.ptr != nullptr)) return cudaErrorInvalidValue;
    if (array) {
        if (!array_exists(array)) return cudaErrorInvalidResourceHandle;
        const bool device_side = destination
                                     ? kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice
                                     : kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
        if (!device_side && kind != cudaMemcpyDefault) return cudaErrorInvalidValue;
        const std::size_t x = at.x * array->element;
        if (x > array->pitch() || width > array->pitch() - x || at.y > array->rows() ||
            height > array->rows() - at.y || at.z > array->slices() || depth > array->slices() - at.z)
            return cudaErrorInvalidValue;
        *side = {array->data + (at.z * array->rows() + at.y) * array->pitch() + x, array->pitch(),
                 array->pitch() * array->rows()};
        return cudaSuccess;
    }
    if (height > 1 || depth > 1) {
        if (at.x + width > memory.pitch) return cudaErrorInvalidPitchValue;
        if (memory.pitch > VirtualDevice::max_pitch) return cudaErrorInvalidPitchValue;
    }
    if (depth > 1 && at.y + height > memory.ysize) return cudaErrorInvalidValue;
    const std::size_t slice = memory.pitch * memory.ysize;
    char* start = static_cast<char*>(memory.ptr) + at.z * slice + at.y * memory.pitch + at.x;
    const std::size_t reach = (depth - 1) * slice + (height - 1) * memory.pitch + width;
    if (!side_agrees(start, reach, kind, destination)) {
        explain_side(start, reach, kind, destination);
        return cudaErrorInvalidValue;
    }
    *side = {start, memory.pitch, slice};
    return cudaSuccess;
}

}  // namespace

cudaError_t make_copy(const cudaMemcpy3DParms& copy, Operation* operation) {
    if (copy.kind < cudaMemcpyHostToHost || copy.kind > cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    if (copy.srcArray && !array_exists(copy.srcArray)) return cudaErrorInvalidResourceHandle;
    if (copy.dstArray && !array_exists(copy.dstArray)) return cudaErrorInvalidResourceHandle;
    operation->kind = Operation::Kind::memcpy;
    operation->name = "cudaMemcpy3D";
    // The extent counts texels if an array takes part, and bytes otherwise.
    const std::size_t element = copy.srcArray   ? copy.srcArray->element
                                : copy.dstArray ? copy.dstArray->element
                                                : 1;
    if (copy.srcArray && copy.dstArray && copy.srcArray->element != copy.dstArray->element)
        return cudaErrorInvalidValue;
    const std::size_t width = copy.extent.width * element, height = copy.extent.height,
                      depth = copy.extent.depth;
    if (width == 0 || height == 0 || depth == 0) {
        operation->run = [] { return cudaSuccess; };
        return cudaSuccess;
    }
    Side to, from;
    if (const cudaError_t error =
            describe(copy.srcArray, copy.srcPtr, copy.srcPos, width, height, depth, copy.kind, false, &from))
        return error;
    if (const cudaError_t error =
            describe(copy.dstArray, copy.dstPtr, copy.dstPos, width, height, depth, copy.kind, true, &to))
        return error;
    operation->run = [=] {
        if (const cudaError_t absent = check_present(to.start, from.start)) return absent;
        for (std::size_t z = 0; z < depth; ++z)
            for (std::size_t y = 0; y < height; ++y)
                std::memmove(to.start + z * to.slice + y * to.pitch,
                             from.start + z * from.slice + y * from.pitch, width);
        return cudaSuccess;
    };
    return cudaSuccess;
}

}  // namespace simt

using namespace simt;

cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind) {
    return {x, y, z, w, kind};
}

cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* format, cudaExtent extent,
                              unsigned int flags) {
    if (const cudaError_t error = enter_unsafe()) return fail(error);
    constexpr unsigned supported =
        cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayCubemap | cudaArrayTextureGather;
    if (!array || !format || (flags & ~supported)) return fail(cudaErrorInvalidValue);
    const std::size_t element = texel_bytes(*format);
    if (element == 0) return fail(cudaErrorInvalidChannelDescriptor);
    const auto [width, height, depth] = extent;
    const bool layered = flags & cudaArrayLayered;
    using D = VirtualDevice;
    // Which limits hold depends on which dimensions exist: 1D (w,0,0), 2D (w,h,0), 3D (w,h,d), or
    // layers in depth; the six faces of a cube are layers as well.
    bool right = width > 0;
    if (flags & cudaArrayTextureGather) right = right && height > 0 && depth == 0;
    if (flags & cudaArrayCubemap) {
        right = right && width == height && width <= D::max_texture_cubemap &&
                (layered ? depth > 0 && depth % 6 == 0 && depth <= D::max_texture_cubemap_faces : depth == 6);
    } else if (layered) {
        right = right && depth > 0 && depth <= D::max_texture_layers &&
                (height == 0 ? width <= D::max_texture_1d_layered
                             : width <= D::max_texture_2d_layered && height <= D::max_texture_2d_layered);
    } else if (depth > 0) {
        right = right && height > 0 && width <= D::max_texture_3d && height <= D::max_texture_3d &&
                depth <= D::max_texture_3d;
    } else if (height > 0) {
        right = right && width <= D::max_texture_2d && height <= D::max_texture_2d_height;
    } else {
        right = right && width <= D::max_texture_1d;
    }
    if (!right) return fail(cudaErrorInvalidValue);
    auto created = std::make_unique<cudaArray>(cudaArray{*format, extent, flags, element, nullptr});
    const std::size_t bytes = created->pitch() * created->rows() * created->slices();
    created->data = static_cast<char*>(allocate_device(bytes, Location::Kind::device));
    if (!created->data) return fail(cudaErrorMemoryAllocation);
    name_allocation(created->data, "a cudaArray");
    std::lock_guard lock(array_mutex());
    live_arrays().insert(created.get());
    *array = created.release();
    return cudaSuccess;
}

cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format, size_t width,
                            size_t height, unsigned int flags) {
    if (flags & cudaArrayLayered) return fail(cudaErrorInvalidValue);
    return cudaMalloc3DArray(array, format, cudaExtent{width, height, 0}, flags);
}

cudaError_t cudaFreeArray(cudaArray_t array) {
    if (const cudaError_t error = enter_unsafe()) return fail(error);
    if (!array) return cudaSuccess;
    {
        std::lock_guard lock(array_mutex());
        if (live_arrays().erase(array) == 0) return fail(cudaErrorInvalidResourceHandle);
    }
    release_device(array->data);
    delete array;
    return cudaSuccess;
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned int* flags,
                             cudaArray_t array) {
    if (const cudaError_t error = enter()) return fail(error);
    if (!array_exists(array)) return fail(cudaErrorInvalidResourceHandle);
    if (format) *format = array->format;
    if (extent) *extent = array->extent;
    if (flags) *flags = array->flags;
    return cudaSuccess;
}

cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* format, cudaArray_const_t array) {
    if (const cudaError_t error = enter()) return fail(error);
    if (!format) return fail(cudaErrorInvalidValue);
    if (!array_exists(array)) return fail(cudaErrorInvalidResourceHandle);
    *format = array->format;
    return cudaSuccess;
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* copy) {
    const cudaError_t error = cudaMemcpy3DAsync(copy, nullptr);
    note_wait(resolve(nullptr));
    return error;
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* copy, cudaStream_t stream) {
    if (const cudaError_t error = enter()) return fail(error);
    if (!copy) return fail(cudaErrorInvalidValue);
    Operation operation{};
    if (const cudaError_t error = make_copy(*copy, &operation)) return fail(error);
    return fail(enqueue(stream, std::move(operation)));
}

cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* copy) {
    return cudaMemcpy3DPeerAsync(copy, nullptr);
}

cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* copy, cudaStream_t stream) {
    if (const cudaError_t error = enter()) return fail(error);
    if (!copy) return fail(cudaErrorInvalidValue);
    if (copy->srcDevice != 0 || copy->dstDevice != 0) return fail(cudaErrorInvalidDevice);
    const cudaMemcpy3DParms same{copy->srcArray, copy->srcPos, copy->srcPtr, copy->dstArray,
                                 copy->dstPos,   copy->dstPtr, copy->extent, cudaMemcpyDeviceToDevice};
    return cudaMemcpy3DAsync(&same, stream);
}

// The two-dimensional forms give x and width in bytes; a position inside a texel is refused.
static cudaError_t copy_array_2d(cudaArray_t destination_array, cudaArray_t source_array, void* memory,
                                 std::size_t pitch, std::size_t x, std::size_t y, std::size_t width,
                                 std::size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
    cudaArray_t array = destination_array ? destination_array : source_array;
    if (!array_exists(array)) return fail(cudaErrorInvalidResourceHandle);
    if (x % array->element != 0 || width % array->element != 0) return fail(cudaErrorInvalidValue);
    if (height > 0 && width > pitch) return fail(cudaErrorInvalidPitchValue);
    cudaMemcpy3DParms copy{};
    copy.kind = kind;
    copy.extent = {width / array->element, height, 1};
    const cudaPitchedPtr pitched{memory, pitch, width, height};
    const cudaPos position{x / array->element, y, 0};
    if (destination_array) {
        copy.dstArray = destination_array;
        copy.dstPos = position;
        copy.srcPtr = pitched;
    } else {
        copy.srcArray = source_array;
        copy.srcPos = position;
        copy.dstPtr = pitched;
    }
    return cudaMemcpy3DAsync(&copy, stream);
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t destination, size_t x, size_t y, const void* source,
                                size_t source_pitch, size_t width, size_t height, cudaMemcpyKind kind) {
    const cudaError_t error =
        cudaMemcpy2DToArrayAsync(destination, x, y, source, source_pitch, width, height, kind, nullptr);
    note_wait(resolve(nullptr));
    return error;
}
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t destination, size_t x, size_t y, const void* source,
                                     size_t source_pitch, size_t width, size_t height, cudaMemcpyKind kind,
                                     cudaStream_t stream) {
    if (const cudaError_t error = enter()) return fail(error);
    if (!destination) return fail(cudaErrorInvalidResourceHandle);
    return copy_array_2d(destination, nullptr, const_cast<void*>(source), source_pitch, x, y, width, height,
                         kind, stream);
}
cudaError_t cudaMemcpy2DFromArray(void* destination, size_t destination_pitch, cudaArray_const_t source,
                                  size_t x, size_t y, size_t width, size_t height, cudaMemcpyKind kind) {
    const cudaError_t error = cudaMemcpy2DFromArrayAsync(destination, destination_pitch, source, x, y, width,
                                                         height, kind, nullptr);
    note_wait(resolve(nullptr));
    return error;
}
cudaError_t cudaMemcpy2DFromArrayAsync(void* destination, size_t destination_pitch, cudaArray_const_t source,
                                       size_t x, size_t y, size_t width, size_t height, cudaMemcpyKind kind,
                                       cudaStream_t stream) {
    if (const cudaError_t error = enter()) return fail(error);
    if (!source) return fail(cudaErrorInvalidResourceHandle);
    return copy_array_2d(nullptr, const_cast<cudaArray_t>(source), destination, destination_pitch, x, y,
                         width, height, kind, stream);
}

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t destination, size_t destination_x, size_t destination_y,
                                     cudaArray_const_t source, size_t source_x, size_t source_y, size_t width,
                                     size_t height, cudaMemcpyKind kind) {
    if (const cudaError_t error = enter()) return fail(error);
    if (!array_exists(destination) || !array_exists(source)) return fail(cudaErrorInvalidResourceHandle);
    if (source_x % source->element || destination_x % destination->element || width % source->element)
        return fail(cudaErrorInvalidValue);
    cudaMemcpy3DParms copy{};
    copy.kind = kind;
    copy.srcArray = const_cast<cudaArray_t>(source);
    copy.srcPos = {source_x / source->element, source_y, 0};
    copy.dstArray = destination;
    copy.dstPos = {destination_x / destination->element, destination_y, 0};
    copy.extent = {width / source->element, height, 1};
    return cudaMemcpy3DAsync(&copy, nullptr);
}

// The linear forms fill rows one after the other, from (x bytes, y) on.
static cudaError_t copy_array_linear(cudaArray_t array, std::size_t x, std::size_t y, void* memory,
                                     std::size_t count, cudaMemcpyKind kind, bool to_array) {
    if (const cudaError_t error = enter()) return fail(error);
    if (!array_exists(array)) return fail(cudaErrorInvalidResourceHandle);
    if (count == 0) return cudaSuccess;
    const std::size_t total = array->pitch() * array->rows();
    if (x >= array->pitch() || y >= array->rows()) return fail(cudaErrorInvalidValue);
    const std::size_t start = y * array->pitch() + x;
    if (count > total - start) return fail(cudaErrorInvalidValue);
    char* texels = array->data + start;
    return to_array ? cudaMemcpy(texels, memory, count, kind) : cudaMemcpy(memory, texels, count, kind);
}

cudaError_t cudaMemcpyToArray(cudaArray_t destination, size_t x, size_t y, const void* source, size_t count,
                              cudaMemcpyKind kind) {
    return copy_array_linear(destination, x, y, const_cast<void*>(source), count, kind, true);
}
cudaError_t cudaMemcpyFromArray(void* destination, cudaArray_const_t source, size_t x, size_t y, size_t count,
                                cudaMemcpyKind kind) {
    return copy_array_linear(const_cast<cudaArray_t>(source), x, y, destination, count, kind, false);
}
