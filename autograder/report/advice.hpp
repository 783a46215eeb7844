#pragma once
// From counters to what to try: a few rules, each with the number that made it speak. No rule speaks where
// the number is as good as it can be.

#include <string>
#include <vector>

#include "judge/result/result.hpp"

namespace rungs {

struct Advice {
    std::string rule;  ///< "stride", "misaligned", "gaps", "bank conflict", "atomics", "divergence",
                       ///< "barriers", ...
    std::string file;  ///< empty: about the whole call
    unsigned line = 0;
    std::string text;  ///< the number, and what to try
};

/// What to try, the most expensive line first, then what concerns the whole call. `reference`: of the same
/// call, or none; some rules need it to know what is possible.
std::vector<Advice> advise(const judge::Tally& mine, const judge::Tally* reference);

/// One number of a call beside the reference's.
struct CounterRow {
    std::string what, mine, reference;
};

/// Launches, lanes active, sectors per request and the like; those that are 0 on both sides are left out.
std::vector<CounterRow> compare(const judge::Tally& mine, const judge::Tally* reference);

/// "global read, 4 bytes a lane"
std::string access_text(const simt::check::SiteCounters& site);

/// Sectors of a request to global memory, wavefronts of one to shared memory.
double cost_per_request(const simt::check::SiteCounters& site);

/// The best value that cost_per_request() can have for as many distinct bytes.
double ideal_per_request(const simt::check::SiteCounters& site);

}  // namespace rungs
