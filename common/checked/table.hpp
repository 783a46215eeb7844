#pragma once
// What rungs_entries writes for a chapter, and clean_test.cpp goes through.

#include <vector>

#include "rungs/call.hpp"

namespace rungs {

/// One problem that one rung solves.
struct CheckedRung {
    const char* rung;  ///< "03_shared_tree"
    Entry entry;
};

extern const std::vector<CheckedRung> checked_rungs;

}  // namespace rungs
