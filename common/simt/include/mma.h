/// @file
/// nvcuda::wmma: products of small matrices whose elements the lanes of a warp share.
///
/// Which lane holds which element is nobody's business but this file's, here as on a device; only their
/// number is CUDA's. Inputs are halves or bfloat16, whose products are exact in float; sums are made in
/// float, element by element in ascending order, and rounded once where they are stored as halves. (The order
/// on a device is its own, so sums may differ in their last bits.)
#pragma once

#include <cstdint>
#include <type_traits>

#include "simt/device.h"
#include "simt/half.h"

namespace simt {

/// One lane's elements of the factors, and of what is added to their product.
struct MatrixParts {
    float a[16], b[16], c[8];
};
/// This lane's elements of the (m x n) result, once the MatrixParts of all lanes are the values of their
/// last exchange; `k` is 16.
SIMT_SITED void multiply_parts(unsigned m, unsigned n, float* result);

}  // namespace simt

namespace nvcuda {
namespace wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };

namespace details {

template <class Use, int M, int N, int K>
struct Extent {
    static constexpr unsigned rows = std::is_same<Use, matrix_b>::value ? K : M;
    static constexpr unsigned columns = std::is_same<Use, matrix_a>::value ? K : N;
    static constexpr unsigned own = rows * columns / 32;  ///< elements of a lane
};
template <class Use, class T>
constexpr bool is_element =
    std::is_same<T, __half>::value ||
    std::is_same<T, std::conditional_t<std::is_same<Use, accumulator>::value, float, __nv_bfloat16>>::value;
template <int M, int N, int K>
constexpr bool is_shape = K == 16 && ((M == 16 && N == 16) || (M == 32 && N == 8) || (M == 8 && N == 32));

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
    static_assert(details::is_shape<M, N, K>,
                  "the CPU backend has fragments of 16 x 16 x 16, 32 x 8 x 16 and 8 x 32 x 16");
    static_assert(details::is_element<Use, T>,
                  "the CPU backend has fragments of __half and __nv_bfloat16, and of float to accumulate");
    static_assert(std::is_void<Layout>::value == std::is_same<Use, accumulator>::value,
                  "factors have a layout, accumulators have none");

    static constexpr bool repeats = std::is_same<T, __half>::value && !std::is_same<Use, accumulator>::value;

  public:
    enum { num_elements = repeats ? 16 : details::Extent<Use, M, N, K>::own };
    enum { num_storage_elements = num_elements };
    using element_type = T;
    using storage_element_type = T;
    T x[num_elements];
};

template <class Use, int M, int N, int K, class T, class Layout>
SIMT_DEVICE void fill_fragment(fragment<Use, M, N, K, T, Layout>& f, const T& value) {
    for (T& x : f.x) x = value;
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
SIMT_DEVICE void load(fragment<Use, M, N, K, T, Layout>& f, const T* from, unsigned stride, bool by_row) {
    constexpr unsigned own = Extent<Use, M, N, K>::own;
    meet();
    for (unsigned i = 0; i < own; ++i) f.x[i] = from[place_of<Use, M, N, K>(i, stride, by_row)];
    for (unsigned i = own; i < f.num_elements; ++i) f.x[i] = f.x[i - own];
}

}  // namespace details

/// Reads a matrix whose rows, or columns, begin `stride` elements apart.
template <class Use, int M, int N, int K, class T, class Layout>
SIMT_DEVICE void load_matrix_sync(fragment<Use, M, N, K, T, Layout>& f, const T* from, unsigned stride) {
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

/// d = a * b + c
template <int M, int N, int K, class T, class LayoutA, class LayoutB, class D, class C>
SIMT_DEVICE void mma_sync(fragment<accumulator, M, N, K, D>& d,
                          const fragment<matrix_a, M, N, K, T, LayoutA>& a,
                          const fragment<matrix_b, M, N, K, T, LayoutB>& b,
                          const fragment<accumulator, M, N, K, C>& c) {
    simt::MatrixParts parts;
    for (unsigned i = 0; i < a.num_elements; ++i) parts.a[i] = static_cast<float>(a.x[i]);
    for (unsigned i = 0; i < b.num_elements; ++i) parts.b[i] = static_cast<float>(b.x[i]);
    for (unsigned i = 0; i < c.num_elements; ++i) parts.c[i] = static_cast<float>(c.x[i]);
    float result[8];
    details::meet(&parts);
    simt::multiply_parts(M, N, result);
    details::meet(&parts);  // until all have read these
    for (unsigned i = 0; i < d.num_elements; ++i) d.x[i] = D(result[i]);
}

}  // namespace wmma
}  // namespace nvcuda
