// The order of a launch's blocks and lanes, and its end.
#include "runtime/launch_state.h"

#include <algorithm>

#include "runtime/block.h"
#include "runtime/nested_launch.h"
#include "simt/inspect/control.h"

namespace simt {
namespace {

std::uint64_t mix(std::uint64_t x) {
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

// Fisher-Yates with the generator above.
template <class T>
void shuffle(T* begin, unsigned n, std::uint64_t& state) {
    for (unsigned i = n; i > 1; --i) std::swap(begin[i - 1], begin[mix(++state) % i]);
}

// Warps in a random order, and lanes in a random order within each.
std::vector<std::uint16_t> lane_order(unsigned lanes, std::uint64_t seed) {
    std::vector<std::uint16_t> order;
    if (seed == 0) return order;
    const unsigned warps = (lanes + warp_lanes - 1) / warp_lanes;
    std::vector<unsigned> warp(warps);
    for (unsigned w = 0; w < warps; ++w) warp[w] = w;
    std::uint64_t state = mix(seed ^ lanes);
    shuffle(warp.data(), warps, state);
    order.reserve(lanes);
    for (unsigned w : warp) {
        const unsigned first = w * warp_lanes, count = std::min(warp_lanes, lanes - first);
        for (unsigned i = 0; i < count; ++i) order.push_back(static_cast<std::uint16_t>(first + i));
        shuffle(order.data() + order.size() - count, count, state);
    }
    return order;
}

}  // namespace

Permutation::Permutation(std::uint64_t n, std::uint64_t seed) : n_(n), seed_(seed) {
    if (seed_ == 0) return;
    half_bits_ = 1;
    while (half_bits_ < 31 && (std::uint64_t{1} << 2 * half_bits_) < n) ++half_bits_;
}

std::uint64_t Permutation::operator()(std::uint64_t i) const {
    if (seed_ == 0 || n_ < 2) return i;
    const std::uint64_t half = (std::uint64_t{1} << half_bits_) - 1;
    do {
        std::uint64_t left = i >> half_bits_, right = i & half;
        for (std::uint64_t round = 0; round < 4; ++round) {
            const std::uint64_t next = left ^ (mix(right ^ seed_ << 2 ^ round << 60) & half);
            left = right;
            right = next;
        }
        i = left << half_bits_ | right;
    } while (i >= n_);
    return i;
}

Launch::Launch(const Grid& g, unsigned workers)
    : grid(g),
      blocks(std::uint64_t{g.grid.x} * g.grid.y * g.grid.z),
      lanes(g.block.x * g.block.y * g.block.z),
      seed(simt::seed()),
      order(lane_order(lanes, seed)),
      block_order(blocks, seed),
      chunk(grid.cooperative ? 1 : std::clamp<std::uint64_t>(blocks / (workers * 16), 1, 1024)),
      max_workers(workers),
      depth(launch_depth()) {}

std::uint64_t Launch::draw(std::uint64_t block) const { return mix(seed ^ mix(block)); }

bool Launch::cancel(cudaError_t e) {
    std::lock_guard lock(mutex);
    if (error != cudaSuccess) return false;
    error = e;
    cancelled.store(true, std::memory_order_relaxed);
    changed.notify_all();
    return true;
}

}  // namespace simt
