#include "mma.h"

#include "runtime/block.h"
#include "runtime/worker.h"

namespace simt {

void multiply_parts(unsigned m, unsigned n, float* result) {
    constexpr unsigned k = 16;
    const auto index = static_cast<unsigned>(execution.lane - execution.block->lanes);
    const Warp& warp = execution.block->warps[index / warp_lanes];
    if (warp.live != ~0u)
        fail_lane("a product of matrices in a warp that does not have all its lanes", SIMT_SITE);
    const auto parts = [&](unsigned lane) { return reinterpret_cast<const MatrixParts*>(warp.value[lane]); };
    const unsigned own_a = m * k / warp_lanes, own_b = k * n / warp_lanes, own_c = m * n / warp_lanes;
    const unsigned lane = index % warp_lanes;
    for (unsigned i = 0; i < own_c; ++i) {
        const unsigned row = (lane * own_c + i) / n, column = (lane * own_c + i) % n;
        float sum = parts(lane)->c[i];
        for (unsigned j = 0; j < k; ++j) {
            const unsigned a = row * k + j, b = j * n + column;
            sum += parts(a / own_a)->a[a % own_a] * parts(b / own_b)->b[b % own_b];
        }
        result[i] = sum;
    }
}

}  // namespace simt
