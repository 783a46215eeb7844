/// @file
/// nvcuda::wmma: products of small matrices whose elements the lanes of a warp share.
///
/// Which lane holds which element is nobody's business but this file's, here as on a device; only their
/// number is CUDA's. Products of halves, bfloat16 and tf32 are exact in float; sums are made in float,
/// element by element in ascending order, and rounded once where they are stored as halves. (The order on a
/// device is its own, so sums may differ in their last bits.) Integers wrap around, doubles are summed up in
/// double.
#pragma once

#include <cstdint>
#include <type_traits>

#include "simt/device.h"
#include "simt/half.h"

namespace simt {

/// One lane's elements of the factors, and of what is added to their product.
template <class Number>
struct MatrixParts {
    Number a[16], b[16], c[8];
};
/// This lane's elements of the (m x n) result of (m x k) times (k x n), once the MatrixParts of all lanes are
/// the values of their last exchange; m and k tell the shapes below apart.
SIMT_SITED void multiply_parts(unsigned m, unsigned k, float* result);
SIMT_SITED void multiply_parts(unsigned m, unsigned k, double* result);
/// `saturate`: a sum that an int cannot hold becomes the nearest one that it can.
SIMT_SITED void multiply_parts(unsigned m, unsigned k, int* result, bool saturate);

}  // namespace simt

namespace nvcuda {
namespace wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32;  ///< floats of which the first 19 bits count; see __float_to_tf32()
}

namespace details {

/// What a fragment of T holds, and what its products are summed up in.
template <class T>
struct Kind {
    using Stored = T;
    using Sum = float;
};
template <>
struct Kind<precision::tf32> {
    using Stored = float;
    using Sum = float;
};
template <>
struct Kind<double> {
    using Stored = double;
    using Sum = double;
};
template <>
struct Kind<signed char> {
    using Stored = signed char;
    using Sum = int;
};
template <>
struct Kind<unsigned char> {
    using Stored = unsigned char;
    using Sum = int;
};
template <class T>
using Stored = typename Kind<T>::Stored;

/// What counts of an element in a product.
template <class T>
SIMT_DEVICE Stored<T> counted(Stored<T> x) {
    return x;
}
template <>
SIMT_DEVICE float counted<precision::tf32>(float x) {
    std::uint32_t bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    bits &= 0xffffe000u;
    __builtin_memcpy(&x, &bits, sizeof bits);
    return x;
}

template <class Use, int M, int N, int K>
struct Extent {
    static constexpr unsigned rows = std::is_same<Use, matrix_b>::value ? K : M;
    static constexpr unsigned columns = std::is_same<Use, matrix_a>::value ? K : N;
    static constexpr unsigned own = rows * columns / 32;  ///< elements of a lane
};
template <class T, class... Others>
constexpr bool is_one_of = (std::is_same<T, Others>::value || ...);
template <int M, int N>
constexpr bool is_usual = (M == 16 && N == 16) || (M == 32 && N == 8) || (M == 8 && N == 32);
/// Whether CUDA has such a fragment, and this backend, too.
template <class Use, int M, int N, int K, class T>
constexpr bool is_known = std::is_same<Use, accumulator>::value
                              ? (K == 16 && is_usual<M, N> && is_one_of<T, float, __half, int>) ||
                                    (M == 16 && N == 16 && K == 8 && is_one_of<T, float>) ||
                                    (M == 8 && N == 8 && K == 4 && is_one_of<T, double>)
                              : (K == 16 && is_usual<M, N> &&
                                 is_one_of<T, __half, __nv_bfloat16, signed char, unsigned char>) ||
                                    (M == 16 && N == 16 && K == 8 && is_one_of<T, precision::tf32>) ||
                                    (M == 8 && N == 8 && K == 4 && is_one_of<T, double>);

/// Waits for all lanes of the warp; orders no memory.
SIMT_DEVICE void meet(const void* parts = nullptr) {
    simt::warp_collective(simt::WarpOperation::shuffle, 0xffffffffu, reinterpret_cast<std::uintptr_t>(parts),
                          simt::lane_id());
}

}  // namespace details

/// A lane's share of a matrix. Halves of a factor are always 16 a lane: where it has fewer of its own, each
/// stands there several times.
template <class Use, int M, int N, int K, class T, class Layout = void>
class fragment {
    static_assert(
        details::is_known<Use, M, N, K, T>,
        "the CPU backend has fragments of 16 x 16 x 16, 32 x 8 x 16 and 8 x 32 x 16 for __half, "
        "__nv_bfloat16, signed and unsigned char, of 16 x 16 x 8 for precision::tf32 and of 8 x 8 x 4 "
        "for double");
    static_assert(std::is_void<Layout>::value == std::is_same<Use, accumulator>::value,
                  "factors have a layout, accumulators have none");

    static constexpr bool repeats = std::is_same<T, __half>::value && !std::is_same<Use, accumulator>::value;

  public:
    enum { num_elements = repeats ? 16 : details::Extent<Use, M, N, K>::own };
    enum { num_storage_elements = num_elements };
    using element_type = T;
    using storage_element_type = details::Stored<T>;
    storage_element_type x[num_elements];
};

template <class Use, int M, int N, int K, class T, class Layout>
SIMT_DEVICE void fill_fragment(fragment<Use, M, N, K, T, Layout>& f, const details::Stored<T>& value) {
    for (auto& x : f.x) x = value;
}

namespace details {

/// Where element `i` of this lane lies in memory whose rows, or columns, are `stride` apart.
template <class Use, int M, int N, int K>
SIMT_DEVICE std::size_t place_of(unsigned i, unsigned stride, bool by_row) {
    using Matrix = Extent<Use, M, N, K>;
    const unsigned e = simt::lane_id() * Matrix::own + i;
    const std::size_t row = e / Matrix::columns, column = e % Matrix::columns;
    return by_row ? row * stride + column : column * stride + row;
}

template <class Use, int M, int N, int K, class T, class Layout>
SIMT_DEVICE void load(fragment<Use, M, N, K, T, Layout>& f, const Stored<T>* from, unsigned stride,
                      bool by_row) {
    constexpr unsigned own = Extent<Use, M, N, K>::own;
    meet();
    for (unsigned i = 0; i < own; ++i) f.x[i] = from[place_of<Use, M, N, K>(i, stride, by_row)];
    for (unsigned i = own; i < f.num_elements; ++i) f.x[i] = f.x[i - own];
}

}  // namespace details

/// Reads a matrix whose rows, or columns, begin `stride` elements apart.
template <class Use, int M, int N, int K, class T, class Layout>
SIMT_DEVICE void load_matrix_sync(fragment<Use, M, N, K, T, Layout>& f, const details::Stored<T>* from,
                                  unsigned stride) {
    details::load(f, from, stride, std::is_same<Layout, row_major>::value);
}
template <int M, int N, int K, class T>
SIMT_DEVICE void load_matrix_sync(fragment<accumulator, M, N, K, T>& f, const T* from, unsigned stride,
                                  layout_t layout) {
    details::load(f, from, stride, layout == mem_row_major);
}

template <int M, int N, int K, class T>
SIMT_DEVICE void store_matrix_sync(T* to, const fragment<accumulator, M, N, K, T>& f, unsigned stride,
                                   layout_t layout) {
    details::meet();
    for (unsigned i = 0; i < f.num_elements; ++i)
        to[details::place_of<accumulator, M, N, K>(i, stride, layout == mem_row_major)] = f.x[i];
}

namespace details {

template <class Number, int M, int N, int K, class T, class LayoutA, class LayoutB, class D, class C,
          class... More>
SIMT_DEVICE void multiply(fragment<accumulator, M, N, K, D>& d,
                          const fragment<matrix_a, M, N, K, T, LayoutA>& a,
                          const fragment<matrix_b, M, N, K, T, LayoutB>& b,
                          const fragment<accumulator, M, N, K, C>& c, More... more) {
    simt::MatrixParts<Number> parts;
    for (unsigned i = 0; i < a.num_elements; ++i) parts.a[i] = static_cast<Number>(counted<T>(a.x[i]));
    for (unsigned i = 0; i < b.num_elements; ++i) parts.b[i] = static_cast<Number>(counted<T>(b.x[i]));
    for (unsigned i = 0; i < c.num_elements; ++i) parts.c[i] = static_cast<Number>(c.x[i]);
    Number result[8];
    meet(&parts);
    simt::multiply_parts(M, K, result, more...);
    meet(&parts);  // until all have read these
    for (unsigned i = 0; i < d.num_elements; ++i) d.x[i] = D(result[i]);
}

}  // namespace details

/// d = a * b + c
template <int M, int N, int K, class T, class LayoutA, class LayoutB, class D, class C>
SIMT_DEVICE void mma_sync(fragment<accumulator, M, N, K, D>& d,
                          const fragment<matrix_a, M, N, K, T, LayoutA>& a,
                          const fragment<matrix_b, M, N, K, T, LayoutB>& b,
                          const fragment<accumulator, M, N, K, C>& c) {
    static_assert(std::is_same<typename details::Kind<T>::Sum, float>::value ||
                      (std::is_same<typename details::Kind<T>::Sum, C>::value && std::is_same<C, D>::value),
                  "integers are summed up in int, doubles in double");
    details::multiply<typename details::Kind<T>::Sum>(d, a, b, c);
}
template <int M, int N, int K, class T, class LayoutA, class LayoutB>
SIMT_DEVICE void mma_sync(fragment<accumulator, M, N, K, int>& d,
                          const fragment<matrix_a, M, N, K, T, LayoutA>& a,
                          const fragment<matrix_b, M, N, K, T, LayoutB>& b,
                          const fragment<accumulator, M, N, K, int>& c, bool saturate = false) {
    details::multiply<int>(d, a, b, c, saturate);
}

/// Rounded to the 19 bits of tf32, to the nearest, what lies in the middle away from zero.
SIMT_DEVICE float __float_to_tf32(float x) {
    std::uint32_t bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    if ((bits & 0x7f800000u) != 0x7f800000u) bits += 0x1000u;
    bits &= 0xffffe000u;
    __builtin_memcpy(&x, &bits, sizeof bits);
    return x;
}

}  // namespace wmma
}  // namespace nvcuda
