#pragma once
// The calls of a chapter's rungs, as rungs_entries writes them from the manifest.

#include <span>
#include <string>
#include <vector>

#include "rungs/call.hpp"

namespace rungs {

/// One problem that one rung solves.
struct LadderEntry {
    const char* rung;  ///< "03_shared_tree"
    Entry entry;
};

/// In the order of the manifest: by rung, then by problem. May be called before main().
std::span<const LadderEntry> ladder_entries();

/// The rungs of the contract's own table, in its order.
std::vector<std::string> rungs_of_contract();

}  // namespace rungs
