#pragma once
// Catch2, and tests that cannot run everywhere.

#include <cstdio>
#include <string>

#include "testing/catch.h"

/// Ends a test that cannot run here, with the reason. CTest shows it as Skipped, never as a pass. Use it in
/// the body of the test case, not in a function that it calls.
#define RUNGS_SKIP(reason)                                       \
    do {                                                         \
        std::printf("[SKIP] %s\n", std::string(reason).c_str()); \
        std::fflush(stdout);                                     \
        simt_testing::skipped = true;                            \
        SUCCEED("[SKIP]");                                       \
        return;                                                  \
    } while (0)
