#pragma once
// What check mode sees of a call: known in workers that are linked to simt_check, nothing in all others. All
// of it are claims: the submission shares this process.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rungs::protocol {

/// Whether this worker was built for check mode.
bool in_check_mode();

/// Before the rung is called: forgets what was found before, sets the order of blocks, warps and lanes, and
/// how long a launch may take.
void begin_checks(std::uint64_t order, double launch_seconds);
/// After it: counts as well, for a GPU with so much second-level cache, and follows one warp of
/// the first launch.
void begin_counting(double l2_bytes, std::uint64_t block, std::uint64_t warp);
/// After all of it. `returned`: else it has thrown, and may have had the intention to free what it leaves.
void end_checks(bool returned);

/// Of the allocation around `memory` only these bytes are an array, which findings call `name`.
void narrow_buffer(const void* memory, std::size_t bytes, const char* name, bool written);

/// What was found and counted since begin_checks(), as `{"findings": [...], "launches": [...], ...,
/// "profile": "...", "traces": [...]}`: findings, LaunchCounters, HostCounters, the text of a
/// simt::model::CallProfile, and what the warp did (trace.hpp).
/// @param places  what addr2line said about the addresses that the call before asked for
/// @param addresses  offsets in this executable whose lines have to be known first; then the result is empty
std::vector<char> report_checks(const char* places, std::size_t bytes, std::vector<std::uint64_t>& addresses);

}  // namespace rungs::protocol
