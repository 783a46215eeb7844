#include "mma.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "runtime/block.h"
#include "runtime/worker.h"

namespace simt {
namespace {

/// `Number` is what the lanes have left, `Sum` what products are summed up in, and `round` makes a sum a
/// result.
template <unsigned m, unsigned n, unsigned k, class Number, class Sum, class Round>
void multiply(Number* result, const void* site, Round round) {
    const auto index = static_cast<unsigned>(execution.lane - execution.block->lanes);
    const Warp& warp = execution.block->warps[index / warp_lanes];
    if (warp.live != ~0u) fail_lane("a product of matrices in a warp that does not have all its lanes", site);
    const auto parts = [&](unsigned lane) {
        return reinterpret_cast<const MatrixParts<Number>*>(warp.value[lane]);
    };
    constexpr unsigned own_a = m * k / warp_lanes, own_b = k * n / warp_lanes, own_c = m * n / warp_lanes;
    static_assert(n % own_c == 0, "a lane's results stand in one row");
    const unsigned first = index % warp_lanes * own_c, row = first / n, column = first % n;
    Sum sums[own_c];
    for (unsigned i = 0; i < own_c; ++i) sums[i] = parts(first / own_c)->c[i];
    for (unsigned j = 0; j < k; ++j) {
        const unsigned a = row * k + j;
        const auto factor = static_cast<Sum>(parts(a / own_a)->a[a % own_a]);
        for (unsigned i = 0; i < own_c; ++i) {
            const unsigned b = j * n + column + i;
            sums[i] += factor * static_cast<Sum>(parts(b / own_b)->b[b % own_b]);
        }
    }
    for (unsigned i = 0; i < own_c; ++i) result[i] = round(sums[i]);
}

/// The shapes that fragments have.
template <class Number, class Sum, class Round>
void multiply(unsigned m, unsigned k, Number* result, const void* site, Round round) {
    if (k == 4) return multiply<8, 8, 4, Number, Sum>(result, site, round);
    if (k == 8) return multiply<16, 16, 8, Number, Sum>(result, site, round);
    if (m == 8) return multiply<8, 32, 16, Number, Sum>(result, site, round);
    if (m == 32) return multiply<32, 8, 16, Number, Sum>(result, site, round);
    multiply<16, 16, 16, Number, Sum>(result, site, round);
}

}  // namespace

void multiply_parts(unsigned m, unsigned k, float* result) {
    multiply<float, float>(m, k, result, SIMT_SITE, [](float sum) { return sum; });
}

void multiply_parts(unsigned m, unsigned k, double* result) {
    multiply<double, double>(m, k, result, SIMT_SITE, [](double sum) { return sum; });
}

void multiply_parts(unsigned m, unsigned k, int* result, bool saturate) {
    multiply<int, std::int64_t>(m, k, result, SIMT_SITE, [saturate](std::int64_t sum) {
        using Limits = std::numeric_limits<int>;
        if (saturate) sum = std::clamp<std::int64_t>(sum, Limits::min(), Limits::max());
        return static_cast<int>(static_cast<std::uint32_t>(sum));
    });
}

}  // namespace simt
