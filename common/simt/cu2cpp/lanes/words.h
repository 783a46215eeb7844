#pragma once

#include <array>
#include <string_view>

#include "cu2cpp/syntax.h"

// Words of device code, as loop_over_lanes() understands them.
namespace cu2cpp::lanes {

inline constexpr std::array<std::string_view, 4> shuffles = {"__shfl_sync", "__shfl_up_sync",
                                                             "__shfl_down_sync", "__shfl_xor_sync"};
inline constexpr std::array<std::string_view, 4> shuffle_members = {"index", "up", "down", "exclusive_or"};

/// `sync` is a group's, be it a member or a function.
[[nodiscard]] bool is_barrier(std::string_view word);
[[nodiscard]] bool is_wait(std::string_view word);
/// Words of code that may wait in another way, or whose lanes may wait for each other.
[[nodiscard]] bool is_beyond(std::string_view word);
/// Functions of CUDA's that neither wait nor ask which lane calls.
[[nodiscard]] bool is_plain_function(std::string_view word);
/// Of these, what depends on the lane or has an effect.
[[nodiscard]] bool is_effective_function(std::string_view word);
[[nodiscard]] bool is_cast(std::string_view word);
[[nodiscard]] bool is_assignment(std::string_view word);
/// `auto block = cg::this_thread_block();`, without its `;`, and nothing else.
[[nodiscard]] bool names_the_block(const Sequence& seq, Range statement);
/// A loop there may go on until an atomic operation gives it what another lane has done, or only looks.
[[nodiscard]] bool may_poll(const Sequence& seq, Range range);

}  // namespace cu2cpp::lanes
