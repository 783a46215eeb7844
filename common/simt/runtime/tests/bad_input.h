/// @file
/// Launches that must not bring the process down, or keep it for ever; see bad_input.cu.
#pragma once

#include <vector>

namespace bad_input {

struct Case {
    const char* name;
    void (*run)();
    const char* report;   ///< what the report has to say
    const char* finding;  ///< the kind of check mode's finding
    unsigned line;        ///< where, +-2; 0: not known
};
const std::vector<Case>& cases();

/// A launch that goes well: the device still works.
bool works();

}  // namespace bad_input
