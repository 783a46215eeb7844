// Counts that follow from the definition, written by hand.
#include "simt/counters.h"

#include "counted.h"
#include "rungs/catch.hpp"

using namespace simt::check;

namespace {

template <class F>
LaunchCounters count(F f) {
    Counting counting;
    f();
    REQUIRE(counting.launches().size() == 1);
    return counting.launches()[0];
}

}  // namespace

TEST_CASE("strided loads touch as many sectors as their stride says", "[simt][counters]") {
    struct Case {
        int stride, shift;
        std::uint64_t sectors;
    };
    for (const Case c : {Case{1, 0, 4}, {1, 1, 5}, {2, 0, 8}, {8, 0, 32}, {32, 0, 32}, {0, 7, 1}}) {
        CAPTURE(c.stride, c.shift);
        const LaunchCounters l = count([&] { counted::copy_strided(c.stride, c.shift); });
        const MemoryCounters in = l.total(Space::global, Access::read);
        CHECK(in.requests == 1);
        CHECK(in.lanes == 32);
        CHECK(in.sectors == c.sectors);
        CHECK(in.useful_bytes == (c.stride == 0 ? 4 : 128));
        const MemoryCounters out = l.total(Space::global, Access::write);
        CHECK(out.requests == 1);
        CHECK(out.sectors == 4);
    }
}

TEST_CASE("columns of a square tile meet in one bank, those of a padded one do not", "[simt][counters]") {
    for (const bool padded : {false, true}) {
        const LaunchCounters l = count([&] { counted::transpose(padded); });
        const MemoryCounters in = l.total(Space::shared, Access::write),
                             out = l.total(Space::shared, Access::read);
        CHECK(in.requests == 32);
        CHECK(in.wavefronts == 32);
        CHECK(in.bank_conflicts() == 0);
        CHECK(out.requests == 32);
        CHECK(out.wavefronts == (padded ? 32 : 32 * 32));
        CHECK(out.bank_conflicts() == (padded ? 0 : 31 * 32));
        CHECK(l.total(Space::global).sectors == 2 * 128);
        CHECK(l.barriers == 1);
        CHECK(l.warps == 8);
    }
}
