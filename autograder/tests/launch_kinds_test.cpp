// Launches of run mode and of check mode, compared.

#include <string>

#include "judge/result/launch_kinds.hpp"
#include "rungs/catch.hpp"

using namespace rungs;
using namespace rungs::judge;

TEST_CASE("a launch that no check has run is called by its kernel or its place", "[judge][checks]") {
    const std::string loop =
        "_ZN4simt9lane_loopINS_4BodyIZ6launchIN9reduction6ValuesEEvT_PfmP11CUstream_stEUlDpOT_E_St16integer_"
        "sequenceImJLm0ELm1ELm2EEEJS4_S6_mEEEEEvv";
    CHECK(kernel_of("- _Z5clearPf - - 32x2x1 0") == "clear with blocks of 32x2x1 threads");
    CHECK(kernel_of("- - _Z5clearPf - 256x1x1 5") == "clear with blocks of 256x1x1 threads");
    CHECK(kernel_of(loop + " - - - 256x1x1 0") == "a launch in launch with blocks of 256x1x1 threads");
    CHECK(kernel_of("4BodyIZN3pcg5solve4stepEPfE - - - 8x8x1 0") ==
          "a launch in pcg::solve::step with blocks of 8x8x1 threads");
    CHECK(kernel_of("- - - - 1x1x1 0") == "a launch with blocks of 1x1x1 threads");
    CHECK(kernel_of("") == "?");
}

TEST_CASE("a worker tells each kind of launch once, and no more than there is room for", "[judge][checks]") {
    protocol::Reply reply;
    reply.kinds = 1000;  // a claim
    for (std::uint64_t i = 0; i < protocol::max_launch_kinds; ++i) reply.kind[i].block[0] = 1 + i % 3;
    LaunchKinds kinds;
    kinds.note(reply, {"sum", {7}, "ones"});
    reply.kinds = 1;
    kinds.note(reply, {"sum", {8}, "ones"});
    const auto named = kinds.named(RUNGS_PROGRAM, nullptr);
    REQUIRE(named.size() == 3);
    CHECK(named.begin()->first == "- - - - 1x0x0 0");
    CHECK(named.begin()->second.sizes == std::vector<long long>{7});
    CHECK(LaunchKinds().named("/nowhere", nullptr).empty());
    CHECK(kinds.too_many());
}

TEST_CASE("more kinds of launches than can be told are never taken for all there are", "[judge][checks]") {
    protocol::Reply reply;
    LaunchKinds kinds;
    for (std::uint32_t call = 0; call < 100; ++call) {
        reply.kinds = protocol::max_launch_kinds;
        for (std::uint32_t i = 0; i < reply.kinds; ++i) reply.kind[i].block[0] = 1 + call * reply.kinds + i;
        kinds.note(reply, {"sum", {7}, "ones"});
        if (call == 9) CHECK_FALSE(kinds.too_many());  // 960
    }
    CHECK(kinds.too_many());
}
