#pragma once
// Arrays in NumPy's .npy format, version 1.0: numpy.load(path) reads them. Little-endian, row by row.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "rungs/atomic_file.hpp"

namespace rungs {

static_assert(std::endian::native == std::endian::little, "write_npy copies elements as they lie in memory");

/// An array as it was read from a file.
template <class T>
struct NpyArray {
    std::vector<std::size_t> shape;  ///< slowest dimension first; empty for one number
    std::vector<T> values;
};

namespace detail {
/// "<f4", "<i8", ...: NumPy's name of T.
template <class T>
std::string npy_type() {
    static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>, "numbers only");
    const char kind = std::is_floating_point_v<T> ? 'f' : std::is_signed_v<T> ? 'i' : 'u';
    return {sizeof(T) == 1 ? '|' : '<', kind, static_cast<char>('0' + sizeof(T))};
}
void write_npy(const std::filesystem::path& path, const void* values, std::size_t count, std::size_t element,
               const std::string& type, std::span<const std::size_t> shape);
/// Checks the header; returns the bytes of the elements. @throws FileError
std::string read_npy(const std::filesystem::path& path, std::size_t element, const std::string& type,
                     std::vector<std::size_t>& shape);
}  // namespace detail

/// Writes `values` as an array of `shape`, slowest dimension first: {rows, columns}.
/// @throws std::invalid_argument when the shape has another number of elements, FileError
template <class T>
void write_npy(const std::filesystem::path& path, std::span<const T> values, std::vector<std::size_t> shape) {
    detail::write_npy(path, values.data(), values.size(), sizeof(T), detail::npy_type<T>(), shape);
}

/// Writes a one-dimensional array. @throws FileError
template <class T>
void write_npy(const std::filesystem::path& path, const std::vector<T>& values) {
    write_npy(path, std::span<const T>(values), {values.size()});
}

/// Reads an array of T that was written row by row. @throws FileError, also for another element type or
/// order, for a later format version, and for a file cut short.
template <class T>
NpyArray<T> read_npy(const std::filesystem::path& path) {
    NpyArray<T> array;
    const std::string bytes = detail::read_npy(path, sizeof(T), detail::npy_type<T>(), array.shape);
    array.values.resize(bytes.size() / sizeof(T));
    if (!bytes.empty()) std::memcpy(array.values.data(), bytes.data(), bytes.size());
    return array;
}

}  // namespace rungs
