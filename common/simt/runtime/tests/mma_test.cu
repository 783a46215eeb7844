// Products of matrices by a warp.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include "runtime/tests/simt_tools.h"

using namespace simt_tools;
using namespace nvcuda;

namespace {

template <int M, int N, class T, class A, class B, class C>
__global__ void product(const T* a, const T* b, const C* c, C* d, unsigned lda, unsigned ldb, unsigned ldc,
                        wmma::layout_t layout) {
    const unsigned warp = threadIdx.x / 32;
    wmma::fragment<wmma::matrix_a, M, N, 16, T, A> fa;
    wmma::fragment<wmma::matrix_b, M, N, 16, T, B> fb;
    wmma::fragment<wmma::accumulator, M, N, 16, C> fc, fd;
    wmma::load_matrix_sync(fa, a, lda);
    wmma::load_matrix_sync(fb, b, ldb);
    wmma::load_matrix_sync(fc, c, ldc, layout);
    wmma::fill_fragment(fd, C(0.0f));
    wmma::mma_sync(fd, fa, fb, fd);
    // Element by element, whichever they are: d = 2 a b + c.
    for (int i = 0; i < fa.num_elements; ++i) fa.x[i] = fa.x[i] + fa.x[i];
    wmma::mma_sync(fd, fa, fb, fc);
    for (int i = 0; i < fd.num_elements; ++i) fd.x[i] = fd.x[i] + C(0.5f);
    wmma::store_matrix_sync(d + warp * 32 * 40, fd, ldc, layout);
}

template <int M, int N, class T, class A, class B, class C>
void check_product(wmma::layout_t layout) {
    const auto m = static_cast<unsigned>(M), n = static_cast<unsigned>(N);
    const bool a_rows = std::is_same<A, wmma::row_major>::value;
    const bool b_rows = std::is_same<B, wmma::row_major>::value;
    const bool c_rows = layout == wmma::mem_row_major;
    const unsigned lda = (a_rows ? 16 : m) + 8, ldb = (b_rows ? n : 16) + 8, ldc = (c_rows ? n : m) + 8;
    Managed<T> a(32 * 40), b(32 * 40);
    Managed<C> c(32 * 40), d(2 * 32 * 40);
    const auto at = [](bool rows, unsigned stride, unsigned i, unsigned j) {
        return rows ? i * stride + j : j * stride + i;
    };
    const auto value_a = [](unsigned i, unsigned j) { return static_cast<float>((i * 7 + j * 3) % 11) - 5; };
    const auto value_b = [](unsigned i, unsigned j) { return static_cast<float>((i * 5 + j) % 9) / 2 - 2; };
    const auto value_c = [](unsigned i, unsigned j) { return static_cast<float>((i + j) % 4); };
    for (unsigned k = 0; k < 16; ++k) {
        for (unsigned i = 0; i < m; ++i) a[at(a_rows, lda, i, k)] = T(value_a(i, k));
        for (unsigned j = 0; j < n; ++j) b[at(b_rows, ldb, k, j)] = T(value_b(k, j));
    }
    for (unsigned i = 0; i < m; ++i)
        for (unsigned j = 0; j < n; ++j) c[at(c_rows, ldc, i, j)] = C(value_c(i, j));
    product<M, N, T, A, B, C><<<1, 64>>>(a.get(), b.get(), c.get(), d.get(), lda, ldb, ldc, layout);
    REQUIRE_LAUNCHED();
    for (unsigned warp = 0; warp < 2; ++warp)
        for (unsigned i = 0; i < m; ++i)
            for (unsigned j = 0; j < n; ++j) {
                float sum = value_c(i, j) + 0.5f;
                for (unsigned k = 0; k < 16; ++k) sum += 2 * value_a(i, k) * value_b(k, j);
                CAPTURE(warp, i, j);
                REQUIRE(static_cast<float>(d[warp * 32 * 40 + at(c_rows, ldc, i, j)]) == sum);
            }
}

template <class T, class C>
void check_shapes() {
    using wmma::col_major;
    using wmma::row_major;
    Orders orders;
    for (const auto layout : {wmma::mem_row_major, wmma::mem_col_major}) {
        check_product<16, 16, T, row_major, row_major, C>(layout);
        check_product<16, 16, T, col_major, row_major, C>(layout);
        check_product<32, 8, T, row_major, col_major, C>(layout);
        check_product<8, 32, T, col_major, col_major, C>(layout);
    }
}

template <class Use, int M, int N, class T, class Layout = void>
constexpr int elements = wmma::fragment<Use, M, N, 16, T, Layout>::num_elements;
static_assert(elements<wmma::matrix_a, 8, 32, __half, wmma::row_major> == 16, "as in CUDA");
static_assert(elements<wmma::matrix_b, 16, 16, __half, wmma::row_major> == 16, "as in CUDA");
static_assert(elements<wmma::matrix_a, 8, 32, __nv_bfloat16, wmma::row_major> == 4, "as in CUDA");
static_assert(elements<wmma::matrix_b, 16, 16, __nv_bfloat16, wmma::col_major> == 8, "as in CUDA");
static_assert(elements<wmma::accumulator, 32, 8, float> == 8, "as in CUDA");

}  // namespace

TEST_CASE("products of halves, summed up as float", "[simt][mma]") { check_shapes<__half, float>(); }
TEST_CASE("products of halves, summed up as halves", "[simt][mma]") { check_shapes<__half, __half>(); }
TEST_CASE("products of bfloat16", "[simt][mma]") { check_shapes<__nv_bfloat16, float>(); }
