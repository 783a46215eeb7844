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
template <class Number, class Sum, class Round>
void multiply(unsigned m, unsigned n, unsigned k, Number* result, const void* site, Round round) {
    const auto index = static_cast<unsigned>(execution.lane - execution.block->lanes);
    const Warp& warp = execution.block->warps[index / warp_lanes];
    if (warp.live != ~0u) fail_lane("a product of matrices in a warp that does not have all its lanes", site);
    const auto parts = [&](unsigned lane) {
        return reinterpret_cast<const MatrixParts<Number>*>(warp.value[lane]);
    };
    const unsigned own_a = m * k / warp_lanes, own_b = k * n / warp_lanes, own_c = m * n / warp_lanes;
    const unsigned lane = index % warp_lanes;
    for (unsigned i = 0; i < own_c; ++i) {
        const unsigned row = (lane * own_c + i) / n, column = (lane * own_c + i) % n;
        Sum sum = parts(lane)->c[i];
        for (unsigned j = 0; j < k; ++j) {
            const unsigned a = row * k + j, b = j * n + column;
            sum += static_cast<Sum>(parts(a / own_a)->a[a % own_a]) * parts(b / own_b)->b[b % own_b];
        }
        result[i] = round(sum);
    }
}

}  // namespace

void multiply_parts(unsigned m, unsigned n, unsigned k, float* result) {
    multiply<float, float>(m, n, k, result, SIMT_SITE, [](float sum) { return sum; });
}

void multiply_parts(unsigned m, unsigned n, unsigned k, double* result) {
    multiply<double, double>(m, n, k, result, SIMT_SITE, [](double sum) { return sum; });
}

void multiply_parts(unsigned m, unsigned n, unsigned k, int* result, bool saturate) {
    multiply<int, std::int64_t>(m, n, k, result, SIMT_SITE, [saturate](std::int64_t sum) {
        using Limits = std::numeric_limits<int>;
        if (saturate) sum = std::clamp<std::int64_t>(sum, Limits::min(), Limits::max());
        return static_cast<int>(static_cast<std::uint32_t>(sum));
    });
}

}  // namespace simt
