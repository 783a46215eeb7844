#pragma once
// What a warp touches, as SVG: pictures for pages and lessons. Light and dark by the reader's theme, readable
// without colour, complete in themselves.

#include <string>

#include "judge/result/result.hpp"

namespace rungs {

/// The lanes of one step of a warp and the 32-byte sectors of global memory that they touch. Empty for a step
/// without global accesses.
std::string sectors_svg(const judge::TraceStep& step);

/// The lanes of one step and the words of shared memory that they touch, by bank; words of one bank
/// stand on top of each other, and each row is one wavefront of an access of 4 bytes. Empty for a step
/// without shared accesses.
std::string banks_svg(const judge::TraceStep& step);

/// Which lanes take part, step by step.
std::string lanes_svg(const judge::WarpTrace& trace);

/// How many steps each warp of the block makes between the barriers.
std::string timeline_svg(const judge::WarpTrace& trace);

/// The step to show for a kind of memory: the one in `line` (0: any) that costs most, the first of its like.
/// Null where there is none.
const judge::TraceStep* costliest(const judge::WarpTrace& trace, simt::check::Space space, unsigned line = 0);

/// Distinct sectors of a step's accesses.
std::size_t sectors_of(const judge::TraceStep& step);
/// The most distinct words of one bank.
std::size_t depth_of(const judge::TraceStep& step);

}  // namespace rungs
