#include "runtime/rendezvous.h"

#include "runtime/report.h"

namespace simt {
namespace {

constexpr std::uint64_t poison = ~std::uint64_t{0};

template <class T, class F>
std::uint64_t fold(const Warp& warp, unsigned lanes, F f) {
    T total = static_cast<T>(warp.value[std::countr_zero(lanes)]);
    each_lane(lanes & (lanes - 1), [&](unsigned i) { total = f(total, static_cast<T>(warp.value[i])); });
    return static_cast<std::uint64_t>(total);
}

unsigned votes(const Warp& warp, unsigned lanes) {
    unsigned yes = 0;
    each_lane(lanes, [&](unsigned i) { yes |= static_cast<unsigned>(warp.value[i] != 0) << i; });
    return yes;
}

}  // namespace

void compute(Warp& warp, WarpOperation operation, unsigned lanes, unsigned mask, const void* site) {
    using Op = WarpOperation;
    std::uint64_t common = 0;
    switch (operation) {
        case Op::sync:
        case Op::fragment:
        case Op::product:
            return;
        case Op::shuffle: {
            unsigned stray = 0;
            each_lane(lanes, [&](unsigned i) {
                const unsigned from = warp.source[i];
                const bool there = lanes >> from & 1;
                stray |= static_cast<unsigned>(!there) << from;
                warp.result[i] = there ? warp.value[from] : poison;
            });
            if (stray) {
                // Named, but of a block that has fewer lanes: nobody expects these.
                const auto first = static_cast<unsigned>(&warp - execution.block->warps) * warp_lanes;
                const unsigned rest = execution.block->total - first;
                const unsigned exist = rest < warp_lanes ? (1u << rest) - 1 : ~0u;
                warn_stray_shuffle(*this_worker->launch(), (stray & mask & exist) != 0, site);
            }
            return;
        }
        case Op::match_any:
            each_lane(lanes, [&](unsigned i) {
                std::uint64_t same = 0;
                each_lane(lanes, [&](unsigned j) {
                    same |= static_cast<std::uint64_t>(warp.value[i] == warp.value[j]) << j;
                });
                warp.result[i] = same;
            });
            return;
        case Op::match_all: {
            bool same = true;
            const std::uint64_t first = warp.value[std::countr_zero(lanes)];
            each_lane(lanes, [&](unsigned i) { same &= warp.value[i] == first; });
            common = same ? lanes : 0;
            break;
        }
        case Op::all:
            common = votes(warp, lanes) == lanes;
            break;
        case Op::any:
            common = votes(warp, lanes) != 0;
            break;
        case Op::ballot:
            common = votes(warp, lanes);
            break;
        case Op::unanimous: {
            const unsigned yes = votes(warp, lanes);
            common = yes == 0 || yes == lanes;
            break;
        }
        case Op::add:
            common = fold<std::uint32_t>(warp, lanes, [](auto a, auto b) { return a + b; });
            break;
        case Op::min_signed:
            common = fold<std::int32_t>(warp, lanes, [](auto a, auto b) { return a < b ? a : b; });
            break;
        case Op::min_unsigned:
            common = fold<std::uint32_t>(warp, lanes, [](auto a, auto b) { return a < b ? a : b; });
            break;
        case Op::max_signed:
            common = fold<std::int32_t>(warp, lanes, [](auto a, auto b) { return a > b ? a : b; });
            break;
        case Op::max_unsigned:
            common = fold<std::uint32_t>(warp, lanes, [](auto a, auto b) { return a > b ? a : b; });
            break;
        case Op::bit_and:
            common = fold<std::uint32_t>(warp, lanes, [](auto a, auto b) { return a & b; });
            break;
        case Op::bit_or:
            common = fold<std::uint32_t>(warp, lanes, [](auto a, auto b) { return a | b; });
            break;
        case Op::bit_xor:
            common = fold<std::uint32_t>(warp, lanes, [](auto a, auto b) { return a ^ b; });
            break;
    }
    each_lane(lanes, [&](unsigned i) { warp.result[i] = common; });
}

void complete_after_exit(Block& block, Warp& warp) {
    each_lane(warp.active, [&](unsigned slot) {
        if (warp.rendezvous[slot].operation != active_mask_operation) complete(block, warp, slot, 0);
    });
}

void resolve_active_masks(Block& block) {
    for (unsigned w = 0; w * warp_lanes < block.total; ++w) {
        Warp& warp = block.warps[w];
        each_lane(warp.active, [&](unsigned slot) {
            const Rendezvous meeting = warp.rendezvous[slot];
            if (meeting.operation != active_mask_operation) return;
            warp.active &= ~(1u << slot);
            each_lane(meeting.arrived, [&](unsigned i) {
                warp.result[i] = meeting.arrived;
                block.ready->push(block.lanes[w * warp_lanes + i]);
                --block.soft_waits;
            });
        });
    }
    ++block.events;
}

}  // namespace simt
