// Counts that follow from the definition, written by hand. This file is linked with the same kernels by each
// compiler at -O1 and -O2: all four must count the same.
#include "simt/inspect/counters.h"

#include <set>
#include <string>
#include <utility>

#include "counters/tests/counted.h"
#include "simt/inspect/check.h"
#include "simt/inspect/control.h"
#include "testing/catch.h"

using namespace simt::check;

namespace {

constexpr Space global = Space::global, shared = Space::shared;
constexpr Access loads = Access::read, stores = Access::write, atomics = Access::atomic;

LaunchCounters count(const char* name, int n = 0) {
    Counting counting;
    counted::run(name, n);
    REQUIRE(counting.launches().size() == 1);
    return counting.launches()[0];
}

struct Expected {
    const char* name;
    int n;
    const char* array;
    Space space;
    Access access;
    std::uint64_t requests, lanes;
    std::uint64_t cost;  ///< sectors, or wavefronts of shared memory
    std::uint64_t conflicts;
};

const Expected table[] = {
    // Contiguous, with gaps, one word for all, off by one, backwards.
    {"stride", 1, "in", global, loads, 1, 32, 4, 0},
    {"stride", 2, "in", global, loads, 1, 32, 8, 0},
    {"stride", 8, "in", global, loads, 1, 32, 32, 0},
    {"stride", 32, "in", global, loads, 1, 32, 32, 0},
    {"stride", 0, "in", global, loads, 1, 32, 1, 0},
    {"shift", 1, "in", global, loads, 1, 32, 5, 0},
    {"reverse", 0, "in", global, loads, 1, 32, 4, 0},
    {"reverse", 0, "out", global, stores, 1, 32, 4, 0},
    // 37t mod 256, with t < 32, lies in 16 groups of eight.
    {"scatter", 0, "out", global, stores, 1, 32, 16, 0},
    // Of two arrays in turn: an instruction's sectors, counted with the first lane's array.
    {"selected", 0, "b", global, loads, 1, 32, 8, 0},
    // Wide, narrow, and structures: one request a member.
    {"vectors", 0, "in", global, loads, 1, 32, 16, 0},
    {"vectors", 0, "out", global, stores, 1, 32, 16, 0},
    {"bytes", 0, "in", global, loads, 1, 32, 1, 0},
    {"structures", 0, "in", global, loads, 3, 96, 36, 0},
    // A warp is two rows of sixteen: the columns' elements of two neighbours share a sector.
    {"rows", 0, "in", global, loads, 8, 256, 8 * 16, 0},
    {"rows", 0, "out", global, stores, 8, 256, 8 * 4, 0},
    // Some of the lanes.
    {"half", 16, "in", global, loads, 1, 16, 2, 0},
    {"half", 1, "in", global, loads, 1, 1, 1, 0},
    {"half", 31, "in", global, loads, 1, 31, 4, 0},
    {"odd", 0, "in", global, loads, 1, 16, 4, 0},
    {"early_return", 10, "in", global, loads, 2, 42, 4 + 2, 0},
    {"early_return", 10, "out", global, stores, 2, 42, 4 + 2, 0},
    // Loops: lanes execute an instruction together that are in the same iteration.
    {"by_turns", 0, "in", global, loads, 32, 32, 32, 0},
    {"by_turns", 0, "out", global, stores, 1, 32, 4, 0},
    {"triangle", 0, "in", global, loads, 31, 31 * 32 / 2, 31, 0},
    {"triangle", 0, "out", global, stores, 1, 32, 4, 0},
    {"nested", 0, "in", global, loads, 16, 4 * (32 + 24 + 16 + 8), 64, 0},
    {"skipping", 0, "in", global, loads, 8, 8 * 16, 32, 0},
    // 31 iterations with one lane less each; behind the loop all are together again.
    {"leaving", 0, "in", global, loads, 31 + 1, 31 * 32 / 2 + 32, 31 + 4, 0},
    {"grid_stride", 100, "in", global, loads, 4, 100, 4 + 4 + 4 + 1, 0},
    {"four_ways", 0, "in", global, loads, 4, 32, 16, 0},
    {"four_ways", 0, "out", global, stores, 1, 32, 4, 0},
    // Calls in two branches are two instructions; recursion goes as deep as the deepest lane.
    {"two_calls", 0, "in", global, loads, 2, 32, 4, 0},
    {"two_calls", 0, "out", global, stores, 1, 32, 4, 0},
    {"recursion", 0, "out", global, stores, 1, 32, 4, 0},
    {"partial_sync", 0, "in", global, loads, 4, 16 + 16 + 16 + 32, 2 + 2 + 2 + 4, 0},
    {"partial_sync", 0, "out", global, stores, 1, 32, 4, 0},
    // Each of two warps, four times: eight lanes, four apart.
    {"barrier_loop", 0, "in", global, loads, 8, 64, 8 * 4, 0},
    {"barrier_loop", 0, "turn", shared, stores, 8, 256, 8, 0},
    {"barrier_loop", 0, "turn", shared, loads, 8, 64, 8, 0},
    // Banks.
    {"transpose", 32, "tile", shared, stores, 32, 1024, 32, 0},
    {"transpose", 32, "tile", shared, loads, 32, 1024, 32 * 32, 31 * 32},
    {"transpose", 33, "tile", shared, loads, 32, 1024, 32, 0},
    {"transpose", 33, "out", global, stores, 32, 1024, 32 * 4, 0},
    {"shared_stride float", 1, "s", shared, loads, 1, 32, 1, 0},
    {"shared_stride float", 2, "s", shared, loads, 1, 32, 2, 1},
    {"shared_stride float", 0, "s", shared, loads, 1, 32, 1, 0},
    {"shared_stride double", 1, "s", shared, loads, 1, 32, 2, 0},
    {"shared_stride double", 2, "s", shared, loads, 1, 32, 4, 2},
    {"shared_stride double", 0, "s", shared, loads, 1, 32, 1, 0},
    {"shared_stride float4", 1, "s", shared, loads, 1, 32, 4, 0},
    {"shared_stride float4", 2, "s", shared, loads, 1, 32, 8, 4},
    {"shared_stride float4", 0, "s", shared, loads, 1, 32, 2, 0},
    {"vector_swap", 0, "s", shared, loads, 1, 32, 4, 0},
    // Structures as wide as a vector are moved at once.
    {"packs float", 0, "s", shared, stores, 2, 64, 8, 0},
    {"packs float", 0, "out", global, loads, 1, 32, 16, 0},
    {"packs float", 0, "out", global, stores, 1, 32, 16, 0},
    {"packs double", 0, "s", shared, stores, 2, 64, 8, 0},
    {"packs double", 0, "out", global, stores, 1, 32, 16, 0},
    // Both warps load, then one adds six times, the last time with one lane; lane 0 reads once more.
    {"tree", 0, "partial", shared, stores, 2 + 6, 64 + 63, 2 + 6, 0},
    {"tree", 0, "partial", shared, loads, 6 * 2 + 1, 2 * 63 + 1, 13, 0},
    {"tree", 0, "out", global, stores, 1, 1, 1, 0},
    // 40 threads are one warp and eight lanes of another.
    {"shift 40", 0, "in", global, loads, 2, 40, 5, 0},
    {"shift 40", 0, "out", global, stores, 2, 40, 5, 0},
    {"shuffles", 0, "in", global, loads, 2, 64, 8, 0},
    {"shuffles", 0, "out", global, stores, 2, 2, 2, 0},
    // Atomics, whether the host has the operation or makes it of others: a sector once for each lane
    // at a word.
    {"atomics int", 0, "out", global, atomics, 1, 32, 32, 0},
    {"atomics int", 8, "out", global, atomics, 1, 32, 4, 0},
    {"atomics int", 32, "out", global, atomics, 1, 32, 4, 0},
    {"atomics float", 0, "out", global, atomics, 1, 32, 32, 0},
    {"atomics float", 32, "out", global, atomics, 1, 32, 4, 0},
    {"constants", 0, "out", global, stores, 1, 32, 4, 0},
    // A texture request covers eight lanes.
    {"fetches", 1, "in", Space::texture, loads, 4, 32, 4, 0},
    {"fetches", 32, "in", Space::texture, loads, 4, 32, 32, 0},
};

MemoryCounters of_array(const LaunchCounters& launch, const Expected& e) {
    MemoryCounters sum;
    for (const SiteCounters& s : launch.sites)
        if (s.array == e.array && s.space == e.space && s.access == e.access) sum += s;
    return sum;
}

}  // namespace

TEST_CASE("requests, lanes, sectors and wavefronts are those of the definition", "[simt][counters]") {
    for (const Expected& e : table) {
        const MemoryCounters sum = of_array(count(e.name, e.n), e);
        CAPTURE(e.name, e.n, e.array, to_string(e.access));
        CHECK(sum.requests == e.requests);
        CHECK(sum.lanes == e.lanes);
        CHECK((e.space == shared ? sum.wavefronts : sum.sectors) == e.cost);
        CHECK(sum.bank_conflicts() == e.conflicts);
    }
    CHECK(findings().empty());
}

TEST_CASE("counts do not depend on the order of lanes, warps and blocks", "[simt][counters]") {
    std::set<std::pair<std::string, int>> launched;
    for (const Expected& e : table) {
        if (!launched.emplace(e.name, e.n).second) continue;  // a line for another of its arrays
        simt::set_seed(0);
        const std::string ascending = to_json({count(e.name, e.n)});
        for (std::uint64_t seed = 1; seed <= 10; ++seed) {
            CAPTURE(e.name, e.n, seed);
            simt::set_seed(seed);
            CHECK(to_json({count(e.name, e.n)}) == ascending);
        }
        simt::set_seed(0);
    }
}

TEST_CASE("bytes asked for, useful and moved", "[simt][counters]") {
    const MemoryCounters wide = count("stride", 8).total(global, loads);
    CHECK(wide.requested_bytes == 128);
    CHECK(wide.useful_bytes == 128);
    CHECK(wide.moved_bytes() == 1024);
    CHECK(wide.ideal_sectors == 4);
    CHECK(wide.lines == 8);
    CHECK(count("shift", 1).total(global, loads).lines == 2);
    CHECK(count("rows").total(global, stores).lines == 8);
    CHECK(wide.sectors_per_request() == 32);
    CHECK(wide.useful_share() == 0.125);
    const MemoryCounters broadcast = count("stride", 0).total(global, loads);
    CHECK(broadcast.requested_bytes == 128);
    CHECK(broadcast.useful_bytes == 4);
    CHECK(MemoryCounters{}.sectors_per_request() == 0);
}

TEST_CASE("atomics count the lanes that meet", "[simt][counters]") {
    for (const char* name : {"atomics int", "atomics float"}) {
        const LaunchCounters launch = count(name, 0);
        REQUIRE(launch.sites.size() == 1);
        // Of the call in the kernel, whose code is inlined: "    atomicAdd(out + ...".
        CHECK(launch.sites[0].place.file == "counted.cu");
        CHECK(launch.sites[0].place.column >= 5);
        CHECK(launch.sites[0].place.column <= 14);
        const MemoryCounters one = launch.total(global, atomics);
        CHECK(one.addresses == 1);
        CHECK(one.serial_steps == 32);
        const MemoryCounters eight = count(name, 8).total(global, atomics);
        CHECK(eight.addresses == 8);
        CHECK(eight.serial_steps == 4);
        const MemoryCounters all = count(name, 32).total(global, atomics);
        CHECK(all.addresses == 32);
        CHECK(all.serial_steps == 1);
    }
    const LaunchCounters l = count("histogram", 4);
    CHECK(l.total(shared, atomics).requests == 1);
    CHECK(l.total(shared, atomics).addresses == 1);  // all inputs are 0
    CHECK(l.total(shared, atomics).serial_steps == 32);
    CHECK(count("constants", 0).total(Space::constant).addresses == 1);
    CHECK(count("constants", 1).total(Space::constant).addresses == 32);
}

TEST_CASE("a launch's barriers, shuffles and votes", "[simt][counters]") {
    const LaunchCounters tree = count("tree");
    CHECK(tree.kernel == "kernel");
    CHECK(tree.blocks == 1);
    CHECK(tree.warps == 2);
    CHECK(tree.threads == 64);
    CHECK(tree.barriers == 7);
    CHECK(tree.max_barriers == 7);
    CHECK(tree.static_shared == 256);
    CHECK(tree.dynamic_shared == 0);
    CHECK(tree.max_warp_requests == 1 + 1 + 6 * 3 + 2);
    CHECK(tree.exact);
    const LaunchCounters shuffles = count("shuffles");
    CHECK(shuffles.shuffles == 2 * 5);
    CHECK(shuffles.votes == 2);
    CHECK(shuffles.warp_syncs == 0);
    CHECK(shuffles.barriers == 0);
    CHECK(count("partial_sync").warp_syncs == 2);
}

TEST_CASE("what a launch touches is counted once", "[simt][counters]") {
    const LaunchCounters l = count("again", 64);
    CHECK(l.total(global, loads).sectors == 64);
    REQUIRE(l.arrays.size() == 2);
    const ArrayCounters &in = l.arrays[l.arrays[0].array == "in" ? 0 : 1],
                        &out = l.arrays[l.arrays[0].array == "in" ? 1 : 0];
    CHECK(in.read_sectors == 64 / 8);
    CHECK(in.written_sectors == 0);
    CHECK(in.touched_sectors == 8);
    CHECK(in.bytes == 2048 * 4);
    CHECK(out.array == "out");
    CHECK(out.written_sectors == 4);
    CHECK(out.read_sectors == 0);
    const LaunchCounters two = count("selected");
    REQUIRE(two.arrays.size() == 3);
    CHECK(two.arrays[0].array == "a");
    CHECK(two.arrays[0].read_sectors == 4);
    CHECK(two.arrays[1].array == "b");
    CHECK(two.arrays[1].read_sectors == 4);
}

TEST_CASE("what comes to where the host can read it is counted", "[simt][counters]") {
    for (const int n : {0, 1, 2}) {
        CAPTURE(n);
        Counting counting;
        counted::run("to_host", n);
        // The first copy fills the array that is read.
        CHECK(counting.host().copies == 1 + 4);
        CHECK(counting.host().copied_bytes == 2048 * 4 + 4 + 64 + 128 + 256);
        CHECK(counting.host().bytes_to_host == 4 + 128);
        REQUIRE(counting.launches().size() == 1);
        std::uint64_t on_host = 0, elsewhere = 0;
        for (const ArrayCounters& array : counting.launches()[0].arrays)
            (array.on_host ? on_host : elsewhere) += array.written_sectors;
        CHECK(on_host == (n < 2 ? 4 : 0));
        CHECK(elsewhere == (n < 2 ? 0 : 4));
    }
}

TEST_CASE("a launch says when a thread did more than can be followed", "[simt][counters]") {
    const LaunchCounters good = count("long_walk", 10000);
    CHECK(good.exact);
    CHECK(good.total(global, loads).requests == 10000);
    CHECK(good.total(global, loads).lanes == 10000);
    const LaunchCounters long_one = count("long_walk", 5000000);
    CHECK(!long_one.exact);
    CHECK(long_one.total(global, loads).requests > 10000);
    CHECK(long_one.total(global, loads).requests < 5000000);
    CHECK(to_text(long_one).find("too low") != std::string::npos);
    CHECK(count("long_walk", 10).exact);
}

TEST_CASE("all lanes are active where nothing diverges", "[simt][counters]") {
    CHECK(count("stride", 1).simt_efficiency() == 1);
    CHECK(count("transpose", 33).simt_efficiency() == 1);
    const double half = count("by_turns").simt_efficiency();
    CHECK(half > 0.03);
    CHECK(half < 1);
}

TEST_CASE("a line and an array are one site", "[simt][counters]") {
    const LaunchCounters l = count("transpose", 32);
    CHECK(l.sites.size() == 4);
    for (const SiteCounters& s : l.sites) {
        CHECK(s.place.file == "counted.cu");
        CHECK(s.place.line > 0);
        CHECK(s.width == 4);
    }
    Counting counting;
    counted::run("transpose", 32);
    counted::run("transpose", 32);
    counting.stop();
    counted::run("transpose", 32);
    REQUIRE(counting.launches().size() == 2);
    CHECK(counting.host().launches == 2);
    const auto merged = merge_sites(counting.launches());
    REQUIRE(merged.size() == 4);
    CHECK(merged[0].array == "tile");
    CHECK(merged[0].wavefronts == 2 * 32 * 32);
    counting.clear();
    CHECK(counting.launches().empty());
    counting.start();
    counted::run("tree");
    CHECK(counting.launches().size() == 1);
}

TEST_CASE("counters are written for people and for tools", "[simt][counters]") {
    const LaunchCounters l = count("transpose", 32);
    const std::string text = to_text(l), json = to_json({l});
    CHECK(text.find("tile") != std::string::npos);
    CHECK(text.find("counted.cu:") != std::string::npos);
    CHECK(json.find("\"bank_conflicts\": 992") != std::string::npos);
    CHECK(json.find("\"space\": \"shared\"") != std::string::npos);
    CHECK(to_json(std::vector<LaunchCounters>{}) == "[]\n");
}

TEST_CASE("a request of many bytes, of no lanes or of every width has a cost", "[simt][counters]") {
    std::uint32_t offsets[32];
    for (unsigned i = 0; i < 32; ++i) offsets[i] = 4 * i;
    CHECK(shared_wavefronts(4, 0, offsets).count == 0);
    CHECK(shared_wavefronts(1, ~0u, offsets).count == 1);
    CHECK(shared_wavefronts(2, ~0u, offsets).count == 1);
    CHECK(shared_wavefronts(4, 1u << 31, offsets).count == 1);
    for (unsigned i = 0; i < 32; ++i) offsets[i] = 64 * (i / 2);
    CHECK(shared_wavefronts(4, ~0u, offsets).count == 8);
}
