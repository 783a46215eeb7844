#include "mma.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "runtime/block.h"
#include "runtime/worker.h"

namespace simt {
namespace {

/// The parts of all lanes of a warp.
struct Parts {
    const Warp& warp;
    MatrixParts& operator[](unsigned lane) const { return *reinterpret_cast<MatrixParts*>(warp.value[lane]); }
};

// Lanes hold the elements of a matrix in ascending order, rows one behind the other.

template <class T, unsigned size>
void gather(T (&all)[size], Parts parts, const void* MatrixParts::*matrix) {
    constexpr unsigned own = size / warp_lanes;
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
        std::memcpy(all + lane * own, parts[lane].*matrix, own * sizeof(T));
}
template <class T, unsigned size>
void scatter(const T (&all)[size], Parts parts) {
    constexpr unsigned own = size / warp_lanes;
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
        std::memcpy(parts[lane].d, all + lane * own, own * sizeof(T));
}

/// half_to_float() without a branch, of which compilers make vectors.
float widen(std::uint16_t half) {
    const std::uint32_t magnitude = half & 0x7FFFu, sign = static_cast<std::uint32_t>(half & 0x8000u) << 16;
    const std::uint32_t is_subnormal = 0u - static_cast<std::uint32_t>(magnitude < 0x400u);
    const std::uint32_t is_special = 0u - static_cast<std::uint32_t>(magnitude >= 0x7C00u);
    const float subnormal = static_cast<float>(static_cast<std::int32_t>(magnitude)) * 0x1p-24f;
    const std::uint32_t other = (magnitude << 13) + 0x38000000u + (is_special & 0x38000000u);
    return bits<float>(sign | (is_subnormal & bits<std::uint32_t>(subnormal)) | (~is_subnormal & other));
}

/// The elements of a matrix, of any kind, as a Number.
template <class Number, unsigned size>
void gather(Number (&all)[size], Parts parts, const void* MatrixParts::*matrix, Element element) {
    const auto convert = [&](auto stored, auto number) {
        decltype(stored) as_stored[size];
        gather(as_stored, parts, matrix);
        for (unsigned i = 0; i < size; ++i) all[i] = number(as_stored[i]);
    };
    switch (element) {
        case Element::float16:
            return convert(std::uint16_t{}, [](std::uint16_t x) { return widen(x); });
        case Element::bfloat16:
            return convert(std::uint16_t{}, [](std::uint16_t x) { return bfloat16_to_float(x); });
        case Element::tf32:
            return convert(std::uint32_t{}, [](std::uint32_t x) { return bits<float>(x & 0xFFFFE000u); });
        case Element::int8:
            return convert(std::int8_t{}, [](std::int8_t x) { return static_cast<float>(x); });
        case Element::uint8:
            return convert(std::uint8_t{}, [](std::uint8_t x) { return static_cast<float>(x); });
        default:
            gather(all, parts, matrix);
    }
}

/// `sums` += a * b, where a vector of `width` bytes holds a part of each of four rows. A macro, because a
/// template cannot leave to its arguments which registers it may use.
#define SIMT_ADD_PRODUCT(name, width, target)                          \
    template <unsigned m, unsigned n, unsigned k, class Number>        \
    target void name(Number* sums, const Number* a, const Number* b) { \
        typedef Number Vector __attribute__((vector_size(width)));     \
        for (unsigned i = 0; i < m; i += 4)                            \
            for (unsigned j = 0; j < n; j += width / sizeof(Number)) { \
                const Number* left = a + i * k;                        \
                Number* to = sums + i * n + j;                         \
                Vector sum0, sum1, sum2, sum3;                         \
                std::memcpy(&sum0, to, width);                         \
                std::memcpy(&sum1, to + n, width);                     \
                std::memcpy(&sum2, to + 2 * n, width);                 \
                std::memcpy(&sum3, to + 3 * n, width);                 \
                for (unsigned l = 0; l < k; ++l) {                     \
                    Vector right;                                      \
                    std::memcpy(&right, b + l * n + j, width);         \
                    sum0 += left[l] * right;                           \
                    sum1 += left[k + l] * right;                       \
                    sum2 += left[2 * k + l] * right;                   \
                    sum3 += left[3 * k + l] * right;                   \
                }                                                      \
                std::memcpy(to, &sum0, width);                         \
                std::memcpy(to + n, &sum1, width);                     \
                std::memcpy(to + 2 * n, &sum2, width);                 \
                std::memcpy(to + 3 * n, &sum3, width);                 \
            }                                                          \
    }
SIMT_ADD_PRODUCT(add_product_by_16, 16, )
#if defined(__x86_64__)
// Without the instructions that multiply and add at once: they would round a sum of doubles differently.
SIMT_ADD_PRODUCT(add_product_by_32, 32, __attribute__((target("avx2"))))
#endif
#undef SIMT_ADD_PRODUCT

template <unsigned m, unsigned n, unsigned k, class Number>
void add_product(Number* sums, const Number* a, const Number* b) {
#if defined(__x86_64__)
    static const bool wide = __builtin_cpu_supports("avx2");
    if (wide) return add_product_by_32<m, n, k>(sums, a, b);
#endif
    add_product_by_16<m, n, k>(sums, a, b);
}

int add_wrapped(int a, int b) {
    return static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b));
}
int add_saturated(int a, int b) {
    using Limits = std::numeric_limits<int>;
    return __builtin_add_overflow(a, b, &a) ? b < 0 ? Limits::min() : Limits::max() : a;
}

template <unsigned m, unsigned n, unsigned k>
void multiply(MatrixProduct product, Parts parts) {
    using Number = std::conditional_t<k == 4, double, float>;
    Number a[m * k], b[k * n], sums[m * n];
    gather(a, parts, &MatrixParts::a, product.factors);
    gather(b, parts, &MatrixParts::b, product.factors);
    if (product.result == Element::int32) {
        // A sum of products of bytes has fewer digits than a float: it is exact, too.
        static_assert(k * 255 * 255 < 1 << std::numeric_limits<float>::digits);
        int results[m * n];
        gather(results, parts, &MatrixParts::c);
        std::fill_n(sums, m * n, Number{});
        add_product<m, n, k>(sums, a, b);
        const auto add_to_results = [&](auto add) {
            for (unsigned i = 0; i < m * n; ++i) results[i] = add(results[i], static_cast<int>(sums[i]));
        };
        if (product.saturate)
            add_to_results([](int x, int y) { return add_saturated(x, y); });
        else
            add_to_results([](int x, int y) { return add_wrapped(x, y); });
        return scatter(results, parts);
    }
    gather(sums, parts, &MatrixParts::c, product.addend);
    add_product<m, n, k>(sums, a, b);
    if (product.result != Element::float16) return scatter(sums, parts);
    std::uint16_t results[m * n];
    for (unsigned i = 0; i < m * n; ++i) results[i] = float_to_half(static_cast<float>(sums[i]));
    scatter(results, parts);
}

/// The shapes that fragments have.
void multiply(MatrixProduct product, Parts parts) {
    if (product.k == 4) return multiply<8, 8, 4>(product, parts);
    if (product.k == 8) return multiply<16, 16, 8>(product, parts);
    if (product.m == 8) return multiply<8, 32, 16>(product, parts);
    if (product.m == 32) return multiply<32, 8, 16>(product, parts);
    multiply<16, 16, 16>(product, parts);
}

}  // namespace

void multiply_parts(MatrixParts& own) {
    if (own.done) return;
    const auto index = static_cast<unsigned>(execution.lane - execution.block->lanes);
    const Warp& warp = execution.block->warps[index / warp_lanes];
    if (warp.live != ~0u)
        fail_lane("a product of matrices in a warp that does not have all its lanes", SIMT_SITE);
    const Parts parts{warp};
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
        if (std::memcmp(&parts[lane].product, &own.product, sizeof own.product) != 0)
            fail_lane("lanes of a warp multiply matrices of different shapes or kinds", SIMT_SITE);
    multiply(own.product, parts);
    for (unsigned lane = 0; lane < warp_lanes; ++lane) parts[lane].done = true;
}

}  // namespace simt
