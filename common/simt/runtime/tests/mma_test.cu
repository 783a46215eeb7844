// Products of matrices by a warp.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/tests/simt_tools.h"

using namespace simt_tools;
using namespace nvcuda;

namespace {

/// What memory holds for fragments of T.
template <class T>
using In = std::conditional_t<std::is_same<T, wmma::precision::tf32>::value, float, T>;

template <int M, int N, int K, class T, class A, class B, class C>
__global__ void product(const In<T>* a, const In<T>* b, const C* c, C* d, unsigned lda, unsigned ldb,
                        unsigned ldc, wmma::layout_t layout) {
    const unsigned warp = threadIdx.x / 32;
    wmma::fragment<wmma::matrix_a, M, N, K, T, A> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, T, B> fb;
    wmma::fragment<wmma::accumulator, M, N, K, C> fc, fd;
    wmma::load_matrix_sync(fa, a, lda);
    wmma::load_matrix_sync(fb, b, ldb);
    wmma::load_matrix_sync(fc, c, ldc, layout);
    wmma::fill_fragment(fd, C(0));
    wmma::mma_sync(fd, fa, fb, fd);
    // Element by element, whichever they are: d = 2 a b + c.
    for (int i = 0; i < fa.num_elements; ++i) fa.x[i] = fa.x[i] + fa.x[i];
    wmma::mma_sync(fd, fa, fb, fc);
    for (int i = 0; i < fd.num_elements; ++i) fd.x[i] = fd.x[i] + C(2);
    wmma::store_matrix_sync(d + warp * 32 * 40, fd, ldc, layout);
}

/// Of a whole number that has few digits.
template <class T>
T to(int value) {
    return T(static_cast<float>(value));
}

template <int M, int N, int K, class T, class A, class B, class C>
void check_product(wmma::layout_t layout) {
    const auto m = static_cast<unsigned>(M), n = static_cast<unsigned>(N), ks = static_cast<unsigned>(K);
    const bool a_rows = std::is_same<A, wmma::row_major>::value;
    const bool b_rows = std::is_same<B, wmma::row_major>::value;
    const bool c_rows = layout == wmma::mem_row_major;
    const unsigned lda = (a_rows ? ks : m) + 8, ldb = (b_rows ? n : ks) + 8, ldc = (c_rows ? n : m) + 8;
    Managed<In<T>> a(32 * 40), b(32 * 40);
    Managed<C> c(32 * 40), d(2 * 32 * 40);
    const auto at = [](bool rows, unsigned stride, unsigned i, unsigned j) {
        return rows ? i * stride + j : j * stride + i;
    };
    const int low = std::is_unsigned<In<T>>::value ? 0 : 5;
    const auto value_a = [=](unsigned i, unsigned j) { return static_cast<int>((i * 7 + j * 3) % 11) - low; };
    const auto value_b = [=](unsigned i, unsigned j) { return static_cast<int>((i * 5 + j) % 9) - low; };
    const auto value_c = [](unsigned i, unsigned j) { return static_cast<int>((i + j) % 4); };
    for (unsigned k = 0; k < ks; ++k) {
        for (unsigned i = 0; i < m; ++i) a[at(a_rows, lda, i, k)] = to<In<T>>(value_a(i, k));
        for (unsigned j = 0; j < n; ++j) b[at(b_rows, ldb, k, j)] = to<In<T>>(value_b(k, j));
    }
    for (unsigned i = 0; i < m; ++i)
        for (unsigned j = 0; j < n; ++j) c[at(c_rows, ldc, i, j)] = to<C>(value_c(i, j));
    product<M, N, K, T, A, B, C><<<1, 64>>>(a.get(), b.get(), c.get(), d.get(), lda, ldb, ldc, layout);
    REQUIRE_LAUNCHED();
    for (unsigned warp = 0; warp < 2; ++warp)
        for (unsigned i = 0; i < m; ++i)
            for (unsigned j = 0; j < n; ++j) {
                int sum = value_c(i, j) + 2;
                for (unsigned k = 0; k < ks; ++k) sum += 2 * value_a(i, k) * value_b(k, j);
                CAPTURE(warp, i, j);
                REQUIRE(static_cast<float>(d[warp * 32 * 40 + at(c_rows, ldc, i, j)]) ==
                        static_cast<float>(sum));
            }
}

template <class T, class C>
void check_shapes() {
    using wmma::col_major;
    using wmma::row_major;
    Orders orders;
    for (const auto layout : {wmma::mem_row_major, wmma::mem_col_major}) {
        check_product<16, 16, 16, T, row_major, row_major, C>(layout);
        check_product<16, 16, 16, T, col_major, row_major, C>(layout);
        check_product<32, 8, 16, T, row_major, col_major, C>(layout);
        check_product<8, 32, 16, T, col_major, col_major, C>(layout);
    }
}

/// In every layout of a shape.
template <int M, int N, int K, class T, class C>
void check_layouts() {
    using wmma::col_major;
    using wmma::row_major;
    Orders orders;
    for (const auto layout : {wmma::mem_row_major, wmma::mem_col_major}) {
        check_product<M, N, K, T, row_major, row_major, C>(layout);
        check_product<M, N, K, T, col_major, row_major, C>(layout);
        check_product<M, N, K, T, row_major, col_major, C>(layout);
        check_product<M, N, K, T, col_major, col_major, C>(layout);
    }
}

/// All products are 127 * 127 * 16 below the largest int, and above it with `more`.
__global__ void fill_up(int* d, int more, bool saturate) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> c;
    wmma::fill_fragment(a, static_cast<signed char>(127));
    wmma::fill_fragment(b, static_cast<signed char>(127));
    wmma::fill_fragment(c, 0x7fffffff - 127 * 127 * 16 + more);
    wmma::mma_sync(c, a, b, c, saturate);
    wmma::store_matrix_sync(d, c, 16, wmma::mem_row_major);
}

/// d = a b + c of matrices that lie one row behind the other.
template <int M, int N, int K, class T, class C, class D>
__global__ void product_of_rows(const In<T>* a, const In<T>* b, const C* c, D* d) {
    wmma::fragment<wmma::matrix_a, M, N, K, T, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, T, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, M, N, K, C> fc;
    wmma::fragment<wmma::accumulator, M, N, K, D> fd;
    wmma::load_matrix_sync(fa, a, K);
    wmma::load_matrix_sync(fb, b, N);
    wmma::load_matrix_sync(fc, c, N, wmma::mem_row_major);
    wmma::mma_sync(fd, fa, fb, fc);
    wmma::store_matrix_sync(d, fd, N, wmma::mem_row_major);
}
template <int M, int N, class T>
__global__ void product_of_bytes(const T* a, const T* b, int* c, bool saturate) {
    wmma::fragment<wmma::matrix_a, M, N, 16, T, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, M, N, 16, T, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, M, N, 16, int> fc;
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, b, N);
    wmma::load_matrix_sync(fc, c, N, wmma::mem_row_major);
    wmma::mma_sync(fc, fa, fb, fc, saturate);
    wmma::store_matrix_sync(c, fc, N, wmma::mem_row_major);
}

/// A T of any bits: small and large, subnormal, infinite, no number.
template <class T>
void draw(T& x, std::mt19937_64& random) {
    const auto bits = random();
    std::memcpy(static_cast<void*>(&x), &bits, sizeof x);
}
/// What a product takes of it.
template <class T>
auto factor(In<T> x) {
    if constexpr (std::is_same<T, wmma::precision::tf32>::value) {
        unsigned bits;
        std::memcpy(&bits, &x, sizeof bits);
        bits &= 0xffffe000u;
        std::memcpy(&x, &bits, sizeof bits);
        return x;
    } else if constexpr (std::is_same<T, double>::value) {
        return x;
    } else {
        return static_cast<float>(x);
    }
}

template <int M, int N, int K, class T, class C, class D>
void check_any_values() {
    std::mt19937_64 random(20261128);
    Managed<In<T>> a(M * K), b(K * N);
    Managed<C> c(M * N);
    Managed<D> d(M * N);
    unsigned numbers = 0;
    for (int round = 0; round < 50; ++round) {
        for (auto& x : a) draw(x, random);
        for (auto& x : b) draw(x, random);
        for (auto& x : c) draw(x, random);
        // Most sums of the above are infinite or no number, so other rounds have values near 1.
        if (round % 5 != 0) {
            const auto near = [&] { return static_cast<float>(random() % 4096) / 1024 - 2; };
            for (auto& x : a) x = In<T>(near());
            for (auto& x : b) x = In<T>(near());
            for (auto& x : c) x = C(near());
            if (round % 5 == 1) draw(a[random() % (M * K)], random);
        }
        product_of_rows<M, N, K, T, C, D><<<1, 32>>>(a.get(), b.get(), c.get(), d.get());
        REQUIRE_LAUNCHED();
        for (int i = 0; i < M; ++i)
            for (int j = 0; j < N; ++j) {
                auto sum = factor<C>(c[i * N + j]);
                for (int k = 0; k < K; ++k) {
                    // Rounded before it is added.
                    const volatile auto term = factor<T>(a[i * K + k]) * factor<T>(b[k * N + j]);
                    sum += term;
                }
                const D expected(sum), found = d[i * N + j];
                CAPTURE(round, i, j, factor<D>(expected), factor<D>(found));
                if (std::isnan(factor<D>(expected))) {
                    REQUIRE(std::isnan(factor<D>(found)));
                } else {
                    REQUIRE(std::memcmp(&expected, &found, sizeof found) == 0);
                    ++numbers;
                }
            }
    }
    CHECK(numbers > 40 * M * N);
}

template <int M, int N, class T>
void check_any_bytes() {
    std::mt19937_64 random(20261128);
    Managed<T> a(M * 16), b(16 * N);
    Managed<int> c(M * N);
    std::vector<int> before(M * N);
    using Limits = std::numeric_limits<int>;
    unsigned beyond = 0;
    for (int round = 0; round < 40; ++round) {
        const bool saturate = round % 2 != 0, extreme = round % 4 < 2;
        const T ends[] = {std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
        for (auto& x : a) x = extreme ? ends[random() % 2] : static_cast<T>(random());
        for (auto& x : b) x = extreme ? ends[random() % 2] : static_cast<T>(random());
        for (std::size_t i = 0; i < before.size(); ++i) {
            const int away = static_cast<int>(random() % 1000000);
            c[i] = before[i] = random() % 2 != 0 ? Limits::max() - away : Limits::min() + away;
        }
        product_of_bytes<M, N, T><<<1, 32>>>(a.get(), b.get(), c.get(), saturate);
        REQUIRE_LAUNCHED();
        for (unsigned i = 0; i < M; ++i)
            for (unsigned j = 0; j < N; ++j) {
                long long sum = before[i * N + j];
                for (unsigned k = 0; k < 16; ++k) sum += a[i * 16 + k] * b[k * N + j];
                if (sum < Limits::min() || sum > Limits::max()) {
                    ++beyond;
                    if (saturate) sum = sum < 0 ? Limits::min() : Limits::max();
                }
                CAPTURE(round, i, j);
                REQUIRE(c[i * N + j] == static_cast<int>(static_cast<unsigned>(sum)));
            }
    }
    CHECK(beyond > 100);
}

__global__ void product_of_few() {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::fill_fragment(a, __half(1.0f));
    wmma::fill_fragment(b, __half(1.0f));
    wmma::fill_fragment(c, 1.0f);
    wmma::mma_sync(c, a, b, c);
}

template <int M, int N, int K, class T>
__device__ void multiply_nothing() {
    wmma::fragment<wmma::matrix_a, M, N, K, T, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, M, N, K, T, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, M, N, K, float> c;
    wmma::fill_fragment(a, In<T>(0.0f));
    wmma::fill_fragment(b, In<T>(0.0f));
    wmma::fill_fragment(c, 0.0f);
    wmma::mma_sync(c, a, b, c);
}
__global__ void different_products() {
    if (threadIdx.x < 16)
        multiply_nothing<16, 16, 16, __half>();
    else
        multiply_nothing<16, 16, 8, wmma::precision::tf32>();
}

__global__ void to_tf32(const float* x, float* y, int n) {
    if (const int i = static_cast<int>(threadIdx.x); i < n) y[i] = wmma::__float_to_tf32(x[i]);
}

template <class Use, int M, int N, class T, class Layout = void, int K = 16>
constexpr int elements = wmma::fragment<Use, M, N, K, T, Layout>::num_elements;
static_assert(elements<wmma::matrix_a, 8, 32, __half, wmma::row_major> == 16, "as in CUDA");
static_assert(elements<wmma::matrix_b, 16, 16, __half, wmma::row_major> == 16, "as in CUDA");
static_assert(elements<wmma::matrix_a, 8, 32, __nv_bfloat16, wmma::row_major> == 4, "as in CUDA");
static_assert(elements<wmma::matrix_b, 16, 16, __nv_bfloat16, wmma::col_major> == 8, "as in CUDA");
static_assert(elements<wmma::accumulator, 32, 8, float> == 8, "as in CUDA");
static_assert(elements<wmma::matrix_a, 32, 8, signed char, wmma::row_major> == 16, "as in CUDA");
static_assert(elements<wmma::matrix_b, 32, 8, unsigned char, wmma::row_major> == 4, "as in CUDA");
static_assert(elements<wmma::accumulator, 8, 32, int> == 8, "as in CUDA");
static_assert(elements<wmma::matrix_a, 16, 16, wmma::precision::tf32, wmma::row_major, 8> == 4, "as in CUDA");
static_assert(elements<wmma::matrix_b, 8, 8, double, wmma::col_major, 4> == 1, "as in CUDA");
static_assert(elements<wmma::accumulator, 8, 8, double, void, 4> == 2, "as in CUDA");

}  // namespace

TEST_CASE("products of halves, summed up as float", "[simt][mma]") { check_shapes<__half, float>(); }
TEST_CASE("products of halves, summed up as halves", "[simt][mma]") { check_shapes<__half, __half>(); }
TEST_CASE("products of bfloat16", "[simt][mma]") { check_shapes<__nv_bfloat16, float>(); }
TEST_CASE("products of signed bytes", "[simt][mma]") { check_shapes<signed char, int>(); }
TEST_CASE("products of unsigned bytes", "[simt][mma]") { check_shapes<unsigned char, int>(); }
TEST_CASE("products of tf32", "[simt][mma]") { check_layouts<16, 16, 8, wmma::precision::tf32, float>(); }
TEST_CASE("products of doubles", "[simt][mma]") { check_layouts<8, 8, 4, double, double>(); }

TEST_CASE("a product of any floats is summed up in ascending order", "[simt][mma]") {
    using wmma::precision::tf32;
    check_any_values<16, 16, 16, __half, float, float>();
    check_any_values<32, 8, 16, __half, float, float>();
    check_any_values<8, 32, 16, __half, float, float>();
    check_any_values<16, 16, 16, __half, __half, __half>();
    check_any_values<32, 8, 16, __half, __half, float>();
    check_any_values<8, 32, 16, __half, float, __half>();
    check_any_values<16, 16, 16, __nv_bfloat16, float, float>();
    check_any_values<32, 8, 16, __nv_bfloat16, float, float>();
    check_any_values<8, 32, 16, __nv_bfloat16, float, float>();
    check_any_values<16, 16, 8, tf32, float, float>();
    check_any_values<8, 8, 4, double, double, double>();
}

TEST_CASE("a product of any bytes wraps around, or stops", "[simt][mma]") {
    check_any_bytes<16, 16, signed char>();
    check_any_bytes<32, 8, signed char>();
    check_any_bytes<8, 32, signed char>();
    check_any_bytes<16, 16, unsigned char>();
    check_any_bytes<32, 8, unsigned char>();
    check_any_bytes<8, 32, unsigned char>();
}

TEST_CASE("a warp that lacks lanes multiplies no matrices", "[simt][mma]") {
    ExpectFailure quiet;
    product_of_few<<<1, 48>>>();
    CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
    CHECK_THAT(simt::last_report(), Catch::Matchers::ContainsSubstring(
                                        "a product of matrices in a warp that does not have all its lanes"));
}

TEST_CASE("lanes that multiply different matrices are reported", "[simt][mma]") {
    ExpectFailure quiet;
    different_products<<<1, 32>>>();
    CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
    CHECK_THAT(simt::last_report(), Catch::Matchers::ContainsSubstring(
                                        "lanes of a warp multiply matrices of different shapes or kinds"));
}

TEST_CASE("a sum of bytes that an int does not hold wraps around, or stops", "[simt][mma]") {
    Managed<int> d(256);
    const auto result = [&](int more, bool saturate) {
        fill_up<<<1, 32>>>(d.get(), more, saturate);
        REQUIRE_LAUNCHED();
        for (int i = 1; i < 256; ++i) REQUIRE(d[i] == d[0]);
        return d[0];
    };
    CHECK(result(0, false) == 0x7fffffff);
    CHECK(result(1, false) == -0x7fffffff - 1);
    CHECK(result(1, true) == 0x7fffffff);
}

TEST_CASE("tf32 is a float of 19 bits", "[simt][mma]") {
    const float huge = std::numeric_limits<float>::max(), infinity = std::numeric_limits<float>::infinity();
    const std::vector<std::pair<float, float>> values{
        {1.0f, 1.0f},
        {-0.0f, -0.0f},
        {1.0f + 0x1p-10f, 1.0f + 0x1p-10f},
        {1.0f + 0x1p-11f, 1.0f + 0x1p-10f},  // in the middle
        {-1.0f - 0x1p-11f, -1.0f - 0x1p-10f},
        {1.0f + 0x1p-12f, 1.0f},
        {huge, infinity},
        {-infinity, -infinity},
    };
    const int n = static_cast<int>(values.size());
    Managed<float> x(values.size()), y(values.size());
    for (int i = 0; i < n; ++i) x[i] = values[static_cast<std::size_t>(i)].first;
    to_tf32<<<1, 32>>>(x.get(), y.get(), n);
    REQUIRE_LAUNCHED();
    for (int i = 0; i < n; ++i) {
        CAPTURE(x[i]);
        CHECK(y[i] == values[static_cast<std::size_t>(i)].second);
        CHECK(std::signbit(y[i]) == std::signbit(x[i]));
    }
}
