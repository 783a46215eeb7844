/// @file
/// How control goes through one function, as it was seen.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace simt::check {

/// Transitions between basic blocks of one function. Node 0 is where control comes from that was not seen:
/// the start of the function, or a barrier.
class FlowGraph {
  public:
    std::uint32_t node(std::uint64_t pc) {
        Entry& entry = recent_[(pc ^ pc >> 8) % recent_.size()];
        if (entry.pc == pc) return entry.node;
        const auto [found, fresh] = nodes_.try_emplace(pc, static_cast<std::uint32_t>(successors_.size()));
        if (fresh) successors_.emplace_back();
        entry = {pc, found->second};
        return found->second;
    }

    void add_edge(std::uint32_t from, std::uint32_t to) {
        auto& list = successors_[from];
        for (const std::uint32_t known : list)
            if (known == to) return;
        list.push_back(to);
        current_ = false;
    }

    /// The loops that hold a block, outermost first.
    const std::vector<std::uint32_t>& loops_around(std::uint32_t node) {
        if (!current_) find_loops();
        return around_[node];
    }
    bool in_loop(std::uint32_t loop, std::uint32_t node) const {
        const auto& list = around_[node];
        return std::find(list.begin(), list.end(), loop) != list.end();
    }

  private:
    void find_loops();

    struct Entry {
        std::uint64_t pc = 0;
        std::uint32_t node = 0;
    };
    std::array<Entry, 256> recent_;
    std::unordered_map<std::uint64_t, std::uint32_t> nodes_;
    std::vector<std::vector<std::uint32_t>> successors_{1};
    bool current_ = false;
    /// Of each node. A loop's name is its header.
    std::vector<std::vector<std::uint32_t>> around_;
};

}  // namespace simt::check
