#pragma once
// What the build under test honestly lacks, as CMake and the compiler know it: of toolchain.json, which is to
// be tested, nothing is taken.

#include <string>

namespace rungs::judge {

/// Why there is no check mode; empty where there is one.
inline std::string why_no_check_mode() {
#ifdef RUNGS_NO_CHECK_MODE
    return "this build has no check mode: it uses a sanitizer of its own";
#else
    return "";
#endif
}

/// Why nothing is precompiled for rungs; empty where something is.
inline std::string why_no_preludes() {
#ifdef __clang__
    return "nothing is precompiled for rungs with Clang";
#else
    return "";
#endif
}

}  // namespace rungs::judge
