#pragma once
// What a judge without some of its defences is linked with.

#include <cstdint>

namespace rungs::judge {

extern std::uint64_t defences_off;  ///< a bit each

}  // namespace rungs::judge
