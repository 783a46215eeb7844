// Around the main of every Catch2 program (the linker's --wrap=main): what CTest sees. Catch2 exits with
// the number of assertions that failed, which may be any number, and some versions of it with 4 if all was
// skipped: so four failures read as skipped once. Here 77 is skipped, and nothing that failed exits with it.
// A run without tests or assertions is a failure.
#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include <cstdio>
#include <string>

#include "testing/catch.h"

#if __has_include(<catch2/catch_test_macros.hpp>)
#include <catch2/reporters/catch_reporter_event_listener.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>
using Listener = Catch::EventListenerBase;
#else
using Listener = Catch::TestEventListenerBase;
#endif

namespace {

bool has_run = false;  // and not listed tests, or explained its options
int tests = 0, skipped = 0, empty = 0;

struct Counter : Listener {
    using Listener::Listener;
    void testRunStarting(const Catch::TestRunInfo&) override { has_run = true; }
    void testCaseEnded(const Catch::TestCaseStats& test) override {
        ++tests;
        if (simt_testing::skipped) ++skipped;
        simt_testing::skipped = false;
        if (test.totals.assertions.total() > 0) return;
        ++empty;
        const std::string name(Catch::getResultCapture().getCurrentTestName());
        std::fprintf(stderr, "%s: not one assertion\n", name.c_str());
    }
};

}  // namespace

CATCH_REGISTER_LISTENER(Counter)

extern "C" int __real_main(int count, char** arguments);

extern "C" int __wrap_main(int count, char** arguments) {
    constexpr int skip_code = 77;
    const int status = __real_main(count, arguments);
    if (!has_run) return status;
    if (status != 0) return status == skip_code ? 1 : status;
    if (tests == 0) std::fputs("no test was run\n", stderr);
    if (tests == 0 || empty > 0) return 1;
    return skipped == tests ? skip_code : 0;
}
