#pragma once
// Device memory with an owner: no cudaFree to forget, also when a check throws.

#include <cstddef>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "rungs/cuda_check.cuh"

namespace rungs {

/// `size()` elements of T in device memory; move-only. A new buffer is not initialised.
///
/// Functions that take a stream are queued there; those that take none wait, before and after, for everything
/// on the device. They are slower, and right with every stream: a plain cudaMemcpy neither waits for a
/// non-blocking stream nor holds one up.
template <class T>
class DeviceBuffer {
    static_assert(std::is_trivially_copyable_v<T>, "device memory holds plain data");
    static_assert(!std::is_same_v<T, bool>, "use unsigned char: std::vector<bool> has no elements to copy");

  public:
    DeviceBuffer() = default;

    /// Allocates `size` elements; none and a null pointer for 0.
    /// @throws std::length_error when the bytes cannot be counted, CudaError when there are too few.
    explicit DeviceBuffer(std::size_t size) {
        if (size > static_cast<std::size_t>(-1) / 2 / sizeof(T)) {
            throw std::length_error(
                "DeviceBuffer: " + std::to_string(size) + " elements of " + std::to_string(sizeof(T)) +
                " bytes are more than memory can hold; was a negative number given as the size?");
        }
        if (size > 0) CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&data_), size * sizeof(T)));
        size_ = size;
    }

    /// Allocates and copies `values`. @throws as above
    explicit DeviceBuffer(std::span<const T> values) : DeviceBuffer(values.size()) { copy_from(values); }
    explicit DeviceBuffer(const std::vector<T>& values) : DeviceBuffer(std::span<const T>(values)) {}

    DeviceBuffer(DeviceBuffer&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
    DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
        DeviceBuffer taken(std::move(other));
        std::swap(data_, taken.data_);
        std::swap(size_, taken.size_);
        return *this;  // what this one held is freed with `taken`
    }
    /// cudaFree waits for the device, so kernels that still use the memory end first.
    ~DeviceBuffer() {
        if (data_) static_cast<void>(cudaFree(data_));
    }

    T* data() { return data_; }
    const T* data() const { return data_; }
    std::size_t size() const { return size_; }               ///< elements
    std::size_t bytes() const { return size_ * sizeof(T); }  ///< bytes
    bool empty() const { return size_ == 0; }

    /// The elements in host memory. @throws CudaError, also that of a kernel that ran before.
    std::vector<T> to_host() const {
        std::vector<T> values(size_);
        copy_to(values);
        return values;
    }

    /// Copies all elements to `values`, of the same size. @throws std::length_error, CudaError
    void copy_to(std::span<T> values) const {
        CUDA_CHECK(cudaDeviceSynchronize());
        copy_to(values, nullptr);
        CUDA_CHECK(cudaDeviceSynchronize());
    }
    /// Queues the copy; `values` may be read after `stream` was synchronised.
    void copy_to(std::span<T> values, cudaStream_t stream) const {
        require_size(values.size(), "copy_to");
        if (!empty())
            CUDA_CHECK(cudaMemcpyAsync(values.data(), data_, bytes(), cudaMemcpyDeviceToHost, stream));
    }

    /// Overwrites all elements by `values`, of the same size. @throws std::length_error, CudaError
    void copy_from(std::span<const T> values) {
        CUDA_CHECK(cudaDeviceSynchronize());
        copy_from(values, nullptr);
        CUDA_CHECK(cudaDeviceSynchronize());
    }
    /// Queues the copy; `values` must stay until `stream` was synchronised.
    void copy_from(std::span<const T> values, cudaStream_t stream) {
        require_size(values.size(), "copy_from");
        if (!empty())
            CUDA_CHECK(cudaMemcpyAsync(data_, values.data(), bytes(), cudaMemcpyHostToDevice, stream));
    }
    /// Overwrites all elements by those of `other`, of the same size, on `stream`.
    void copy_from(const DeviceBuffer& other, cudaStream_t stream = nullptr) {
        require_size(other.size(), "copy_from");
        if (!stream) CUDA_CHECK(cudaDeviceSynchronize());
        if (!empty())
            CUDA_CHECK(cudaMemcpyAsync(data_, other.data_, bytes(), cudaMemcpyDeviceToDevice, stream));
        if (!stream) CUDA_CHECK(cudaDeviceSynchronize());
    }

    /// Sets every byte to the low 8 bits of `value`: 0xff makes NaN of floats. @throws CudaError
    void fill_bytes(int value) {
        CUDA_CHECK(cudaDeviceSynchronize());
        fill_bytes(value, nullptr);
        CUDA_CHECK(cudaDeviceSynchronize());
    }
    void fill_bytes(int value, cudaStream_t stream) {  ///< @overload
        if (!empty()) CUDA_CHECK(cudaMemsetAsync(data_, value, bytes(), stream));
    }
    void zero() { fill_bytes(0); }                             ///< all bytes 0
    void zero(cudaStream_t stream) { fill_bytes(0, stream); }  ///< @overload

  private:
    void require_size(std::size_t given, const char* what) const {
        if (given != size_) {
            throw std::length_error(std::string("DeviceBuffer::") + what + ": " + std::to_string(given) +
                                    " elements given for a buffer of " + std::to_string(size_));
        }
    }

    T* data_ = nullptr;
    std::size_t size_ = 0;
};

/// Bytes of device memory that nobody has. @throws CudaError
inline std::size_t free_device_memory() {
    std::size_t free = 0, total = 0;
    CUDA_CHECK(cudaMemGetInfo(&free, &total));
    return free;
}

}  // namespace rungs
