// Launches that go wrong end with a message, in run mode and in check mode, and the process goes on.
#include "runtime/tests/bad_input.h"

#include <cuda_runtime.h>

#include <string>

#include "simt/inspect/control.h"
#include "testing/catch.h"
#if defined(SIMT_CHECK)
#include "simt/inspect/check.h"
#endif

namespace {

/// Short limits, no output; undone at the end.
struct Limits {
    Limits() {
        simt::set_quiet(true);
        simt::set_time_limit(1);
        simt::set_spin_limit(0.3);
        simt::clear_report();
    }
    ~Limits() {
        simt::set_time_limit(0);
        simt::set_spin_limit(3);
        simt::set_quiet(false);
    }
};

std::string run(const bad_input::Case& c) {
    const Limits limits;
    c.run();
    const cudaError_t error = cudaDeviceSynchronize();
    const cudaError_t launch_error = cudaGetLastError();
    CHECK((error != cudaSuccess || launch_error != cudaSuccess));
    const std::string report = simt::last_report();
    cudaDeviceReset();
    cudaGetLastError();
    return report;
}

}  // namespace

TEST_CASE("bad launches end with a message, and the process goes on", "[simt][limits]") {
    for (const bad_input::Case& c : bad_input::cases()) {
        CAPTURE(c.name);
        std::string report;
        bool has_line = false, named = false;
        // The place at which a loop is interrupted is chance, and some of its instructions have the line of
        // the launch into which the kernel was inlined: not three times in a row.
        for (int attempt = 0; attempt < 3 && !named; ++attempt) {
#if defined(SIMT_CHECK)
            simt::check::clear();
#endif
            report = run(c);
            // What clang++ moves out of a loop may have no line, even at -O1.
            has_line = c.line != 0 && report.find("bad_input.cu:?") == std::string::npos;
            named = !has_line;
            for (unsigned line = c.line - 2; has_line && line <= c.line + 2; ++line)
                named = named || report.find("bad_input.cu:" + std::to_string(line)) != std::string::npos;
        }
        CAPTURE(report);
        CHECK(named);
        const char* expected = c.report;
#if !defined(SIMT_CHECK)
        // Run mode knows by its text a loop that only looks. In check mode accesses tell, of which the
        // compiler has left none.
        if (std::string(c.name) == "a plain flag") expected = "every thread has only waited or polled";
#endif
        CHECK(report.find(expected) != std::string::npos);
        CHECK(report.find("kernel ") == 0);
#if defined(SIMT_CHECK)
        bool found = false;
        for (const simt::check::Finding& f : simt::check::findings()) {
            CAPTURE(simt::check::to_text(f));
            CHECK_FALSE(f.message.empty());
            CHECK_FALSE(f.advice.empty());
            if (f.kind != c.finding) continue;
            found = true;
            if (has_line) {
                CHECK(f.side.place.file == "bad_input.cu");
                CHECK(f.side.place.line + 2 >= c.line);
                CHECK(f.side.place.line <= c.line + 2);
            }
        }
        CHECK(found);
        simt::check::clear();
#endif
        CHECK(bad_input::works());
    }
}

TEST_CASE("a limit that is not reached changes nothing", "[simt][limits]") {
    simt::set_time_limit(30);
    for (int i = 0; i < 50; ++i) REQUIRE(bad_input::works());
    simt::set_time_limit(0);
}
