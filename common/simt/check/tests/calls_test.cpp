// A call's result and its arguments, what assembly and the C library store: check mode sees them
// as it sees assignments.
#include <string>

#include "check/tests/calls.h"
#include "simt/api.h"
#include "simt/inspect/check.h"
#include "simt/inspect/control.h"
#include "testing/catch.h"

using calls::Fault;

TEST_CASE("stores and loads by calls are seen", "[simt][check][calls]") {
    for (const calls::Run& run : calls::runs()) {
        INFO(run.form << ", " << run.memory);
        simt::set_quiet(true);
        simt::check::clear();
        run.run();
        const auto found = simt::check::findings();
        cudaDeviceReset();
        cudaGetLastError();
        simt::set_quiet(false);
        std::string kinds, texts;
        for (const auto& f : found) {
            kinds += std::string(f.kind) + ' ';
            texts += simt::check::to_text(f);
            CHECK(f.side.place.file == "calls.cu");
            CHECK_FALSE(calls::is_class(f.side.place.line));
            if (f.has_other) CHECK_FALSE(calls::is_class(f.other.place.line));
        }
        INFO(texts);
        const auto is_found = [&](const char* kind) { return kinds.find(kind) != std::string::npos; };
        switch (run.fault) {
            case Fault::none:
                CHECK(found.empty());
                break;
            case Fault::race:
                CHECK((is_found("write-write") || is_found("read-write")));
                break;
            case Fault::outside:
                // What a constructor stores by itself is checked behind it.
                CHECK((is_found("out-of-bounds") ||
                       (run.form == std::string("PlacedByItself") && is_found("crash"))));
                break;
            case Fault::unwritten:
                CHECK(is_found("uninitialised"));
                break;
        }
    }
}

TEST_CASE("printf stores nothing in a kernel", "[simt][check][calls]") {
    simt::check::clear();
    calls::prints_into_memory(false);
    CHECK(simt::check::findings().empty());
    calls::prints_into_memory(true);
    const auto found = simt::check::findings();
    REQUIRE(found.size() == 1);
    CHECK(std::string(found[0].kind) == "failure");
    CHECK(found[0].message.find("%n") != std::string::npos);
    CHECK(found[0].side.place.file == "calls.cu");
}
