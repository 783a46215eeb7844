/// @file
/// nvcuda::wmma: products of small matrices whose elements the lanes of a warp share.
///
/// Which lane holds which element is nobody's business but this file's, here as on a device; only their
/// number is CUDA's. Products of halves, bfloat16 and tf32 are exact in float; sums are made in float,
/// element by element in ascending order, and rounded once where they are stored as halves. (The order on a
/// device is its own, so sums may differ in their last bits.) Integers wrap around, doubles are
/// summed up in double.
#pragma once

#include <cstdint>
#include <type_traits>

#include "simt/device.h"
#include "simt/half.h"

namespace simt {

/// What the elements of a matrix are.
enum class Element : std::uint8_t { float16, bfloat16, tf32, float32, float64, int8, uint8, int32 };

/// A product of matrices, (m x k) times (k x n); m and k tell the shapes below apart.
struct MatrixProduct {
    std::uint8_t m, k;
    Element factors, addend, result;
    bool saturate;  ///< a sum that an int cannot hold becomes the nearest one that it can
};
/// Where one lane's elements of a product lie.
struct MatrixParts {
    MatrixProduct product;
    bool done;
    const void *a, *b, *c;
    void* d;
};
/// Multiplies, once the MatrixParts of all lanes are the values of their last exchange. The first lane that
/// calls it does so for the whole warp; the others find their results.
SIMT_SITED void multiply_parts(MatrixParts& own);

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

template <class T>
constexpr simt::Element element_of = std::is_same<T, __half>::value            ? simt::Element::float16
                                     : std::is_same<T, __nv_bfloat16>::value   ? simt::Element::bfloat16
                                     : std::is_same<T, precision::tf32>::value ? simt::Element::tf32
                                     : std::is_same<T, float>::value           ? simt::Element::float32
                                     : std::is_same<T, double>::value          ? simt::Element::float64
                                     : std::is_same<T, signed char>::value     ? simt::Element::int8
                                     : std::is_same<T, unsigned char>::value   ? simt::Element::uint8
                                                                               : simt::Element::int32;

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
SIMT_DEVICE void meet(simt::WarpOperation operation, const void* parts = nullptr) {
    simt::carry_out(simt::arrive_at_warp(operation, 0xffffffffu, reinterpret_cast<std::uintptr_t>(parts), 0));
}

}  // namespace details

/// A lane's share of a matrix. Halves of a factor are always 16 per lane: if it has fewer of its own, each is
/// there several times.
template <class Use, int M, int N, int K, class T, class Layout = void>
class fragment {
    static_assert(
        details::is_known<Use, M, N, K, T>,
        "the CPU backend has fragments of 16 x 16 x 16, 32 x 8 x 16 and 8 x 32 x 16 for __half, "
        "__nv_bfloat16, signed and unsigned char, of 16 x 16 x 8 for precision::tf32 and of 8 x 8 x "
        "4 for double");
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

/// Where this lane's elements lie in memory whose rows, or columns, are `stride` apart: one behind the other
/// in a row.
struct Places {
    std::size_t first, step;
};
template <class Use, int M, int N, int K>
SIMT_DEVICE Places places(unsigned stride, bool by_row) {
    using Matrix = Extent<Use, M, N, K>;
    static_assert(Matrix::columns % Matrix::own == 0, "a lane's elements are in one row");
    const unsigned e = simt::lane_id() * Matrix::own;
    const std::size_t row = e / Matrix::columns, column = e % Matrix::columns;
    return by_row ? Places{row * stride + column, 1} : Places{column * stride + row, stride};
}

template <class Use, int M, int N, int K, class T, class Layout>
SIMT_DEVICE void load(fragment<Use, M, N, K, T, Layout>& f, const Stored<T>* from, unsigned stride,
                      bool by_row) {
    constexpr unsigned own = Extent<Use, M, N, K>::own;
    meet(simt::WarpOperation::fragment);
    const Places at = places<Use, M, N, K>(stride, by_row);
    for (unsigned i = 0; i < own; ++i) f.x[i] = from[at.first + i * at.step];
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
    details::meet(simt::WarpOperation::fragment);
    const details::Places at = details::places<accumulator, M, N, K>(stride, layout == mem_row_major);
    for (unsigned i = 0; i < f.num_elements; ++i) to[at.first + i * at.step] = f.x[i];
}

namespace details {

template <int M, int N, int K, class T, class LayoutA, class LayoutB, class D, class C>
SIMT_DEVICE void multiply(fragment<accumulator, M, N, K, D>& d,
                          const fragment<matrix_a, M, N, K, T, LayoutA>& a,
                          const fragment<matrix_b, M, N, K, T, LayoutB>& b,
                          const fragment<accumulator, M, N, K, C>& c, bool saturate = false) {
    simt::MatrixParts parts{
        {M, K, element_of<T>, element_of<C>, element_of<D>, saturate}, false, a.x, b.x, c.x, d.x};
    meet(simt::WarpOperation::product, &parts);
    simt::multiply_parts(parts);  // unless another lane has; that is no branch of the kernel's
}

}  // namespace details

/// d = a * b + c
template <int M, int N, int K, class T, class LayoutA, class LayoutB, class D, class C>
SIMT_DEVICE void mma_sync(fragment<accumulator, M, N, K, D>& d,
                          const fragment<matrix_a, M, N, K, T, LayoutA>& a,
                          const fragment<matrix_b, M, N, K, T, LayoutB>& b,
                          const fragment<accumulator, M, N, K, C>& c) {
    using Sum = typename details::Kind<T>::Sum;
    static_assert(std::is_same<Sum, float>::value
                      ? details::is_one_of<C, float, __half> && details::is_one_of<D, float, __half>
                      : std::is_same<Sum, C>::value && std::is_same<C, D>::value,
                  "integers are summed up in int, doubles in double");
    details::multiply(d, a, b, c);
}
template <int M, int N, int K, class T, class LayoutA, class LayoutB>
SIMT_DEVICE void mma_sync(fragment<accumulator, M, N, K, int>& d,
                          const fragment<matrix_a, M, N, K, T, LayoutA>& a,
                          const fragment<matrix_b, M, N, K, T, LayoutB>& b,
                          const fragment<accumulator, M, N, K, int>& c, bool saturate = false) {
    details::multiply(d, a, b, c, saturate);
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
