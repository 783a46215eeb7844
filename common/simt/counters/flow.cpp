#include "counters/flow.h"

#include <functional>
#include <utility>

namespace simt::check {

void FlowGraph::find_loops() {
    current_ = true;
    const auto n = static_cast<std::uint32_t>(successors_.size());
    constexpr std::uint32_t none = ~0u;
    // Reverse postorder.
    std::vector<std::uint32_t> order, position(n, none);
    {
        std::vector<std::pair<std::uint32_t, std::size_t>> stack{{0, 0}};
        std::vector<bool> seen(n);
        seen[0] = true;
        while (!stack.empty()) {
            auto& [node, next] = stack.back();
            if (next == successors_[node].size()) {
                order.push_back(node);
                stack.pop_back();
                continue;
            }
            const std::uint32_t to = successors_[node][next++];
            if (!seen[to]) seen[to] = true, stack.push_back({to, 0});
        }
        std::reverse(order.begin(), order.end());
    }
    for (std::uint32_t i = 0; i < order.size(); ++i) position[order[i]] = i;
    std::vector<std::vector<std::uint32_t>> predecessors(n);
    for (std::uint32_t from = 0; from < n; ++from)
        for (const std::uint32_t to : successors_[from]) predecessors[to].push_back(from);
    // Dominators: K. D. Cooper, T. J. Harvey and K. Kennedy, A Simple, Fast Dominance Algorithm, figure 3.
    std::vector<std::uint32_t> dominator(n, none);
    dominator[0] = 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (const std::uint32_t node : order) {
            if (node == 0) continue;
            std::uint32_t best = none;
            for (std::uint32_t other : predecessors[node]) {
                if (dominator[other] == none) continue;
                if (best == none) {
                    best = other;
                    continue;
                }
                while (best != other) {
                    while (position[best] > position[other]) best = dominator[best];
                    while (position[other] > position[best]) other = dominator[other];
                }
            }
            if (best != dominator[node]) dominator[node] = best, changed = true;
        }
    }
    const auto dominates = [&](std::uint32_t a, std::uint32_t b) {
        while (position[b] > position[a]) b = dominator[b];
        return a == b;
    };
    // Natural loops; those of one header are one.
    std::unordered_map<std::uint32_t, std::vector<bool>> bodies;
    for (std::uint32_t from = 0; from < n; ++from)
        for (const std::uint32_t header : successors_[from]) {
            if (position[from] == none || !dominates(header, from)) continue;
            auto& body = bodies.try_emplace(header, n).first->second;
            body[header] = true;
            std::vector<std::uint32_t> work;
            if (!body[from]) body[from] = true, work.push_back(from);
            while (!work.empty()) {
                const std::uint32_t node = work.back();
                work.pop_back();
                for (const std::uint32_t p : predecessors[node])
                    if (!body[p]) body[p] = true, work.push_back(p);
            }
        }
    // The larger of two loops that share a block is the outer one.
    std::vector<std::pair<std::size_t, std::uint32_t>> by_size;
    for (const auto& [header, body] : bodies)
        by_size.push_back({static_cast<std::size_t>(std::count(body.begin(), body.end(), true)), header});
    std::sort(by_size.begin(), by_size.end(), std::greater<>());
    around_.assign(n, {});
    for (const auto& [size, header] : by_size)
        for (std::uint32_t node = 0; node < n; ++node)
            if (bodies[header][node]) around_[node].push_back(header);
}

}  // namespace simt::check
