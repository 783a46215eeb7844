// The time model: its data file, what it gathers, and that its terms mean what they say.

#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

#include "counters/instructions.h"
#include "model/tests/traffic_kernels.h"
#include "simt/inspect/model.h"
#include "simt/inspect/profile.h"
#include "testing/catch.h"

using namespace simt::model;

namespace {

const char* const h200 = MODEL_FOLDER "/h200.toml";

/// A launch that streams `bytes` through many blocks, and has nothing else to do.
LaunchProfile stream(double bytes) {
    LaunchProfile p;
    p.kernel = "stream";
    p.blocks = 1056;
    p.threads = 256;
    p.sectors = p.block_sectors = p.dram_read_sectors = bytes / 32;
    p.requests = bytes / 512;
    p.lines = bytes / 128;
    p.instructions = p.requests * 4;
    p.load_rounds = p.dram_rounds = 1;
    return p;
}

double seconds(const LaunchProfile& p) { return predict(read_machine(h200), {{p}}).seconds; }
std::string limit(const LaunchProfile& p) { return predict(read_machine(h200), {{p}}).launches.at(0).limit; }

std::string without(const std::string& key) {
    std::ifstream in(h200);
    std::string text;
    for (std::string line; std::getline(in, line);)
        if (line.rfind(key + " ", 0) != 0) text += line + '\n';
    return text;
}

/// What read_machine() says to a file of this content.
std::string complaint(const std::string& content) {
    const std::string path = "model_test_machine.toml";
    std::ofstream(path) << content;
    try {
        read_machine(path);
        return "";
    } catch (const MachineError& error) {
        return error.what();
    }
}

}  // namespace

TEST_CASE("the H200's data file is complete", "[simt][model]") {
    const Machine machine = read_machine(h200);
    CHECK(machine.name == "NVIDIA H200");
    CHECK(machine.multiprocessors == 132);
    CHECK(machine.dram_read > machine.dram_copy);
    CHECK(machine.l2_read > machine.dram_read);
    CHECK(machine.dram_latency > machine.l2_latency);
    CHECK(machine.l2_latency > machine.l1_latency);
}

TEST_CASE("a broken data file is refused, with the key", "[simt][model]") {
    const std::string whole = without("nothing");
    CHECK(complaint(whole) == "");
    CHECK(complaint(without("dram_read")).find("'dram_read' must be a positive number") != std::string::npos);
    CHECK(complaint(without("name")).find("'name'") != std::string::npos);
    CHECK(complaint(without("multiprocessors")).find("'multiprocessors'") != std::string::npos);
    CHECK(complaint(without("clock") + "clock = -1.0\n").find("'clock'") != std::string::npos);
    CHECK(complaint(without("clock") + "clock = nan\n").find("'clock'") != std::string::npos);
    CHECK(complaint(whole + "clok = 1.0\n").find("unknown key 'clok'") != std::string::npos);
    CHECK(complaint(whole + "clock =\n").find("model_test_machine.toml: ") == 0);
    CHECK_THROWS_AS(read_machine("no such file.toml"), MachineError);
}

TEST_CASE("a long stream runs at the memory's bandwidth", "[simt][model]") {
    const Machine machine = read_machine(h200);
    const double bytes = 4e10, ideal = bytes / machine.dram_read;
    CHECK(limit(stream(bytes)) == "memory");
    CHECK(seconds(stream(bytes)) > ideal);
    CHECK(seconds(stream(bytes)) < 1.25 * ideal);  // L2 and L1 are busy half of the time, too
    CHECK(seconds(stream(2 * bytes)) > 1.9 * seconds(stream(bytes)));
}

TEST_CASE("nothing costs a launch", "[simt][model]") {
    const Machine machine = read_machine(h200);
    CHECK(seconds({}) >= machine.launch);
    CHECK(seconds({}) < 1.01 * machine.launch);
    CHECK(predict(machine, {}).seconds == 0);
    CallProfile call;
    call.fills = 3;
    CHECK(predict(machine, call).seconds == Catch::Approx(3 * machine.fill));
    CHECK(limit(stream(1)) == "launch");
}

TEST_CASE("more of anything never makes a launch faster", "[simt][model]") {
    const auto field =
        GENERATE(&LaunchProfile::instructions, &LaunchProfile::doubles, &LaunchProfile::special,
                 &LaunchProfile::requests, &LaunchProfile::lines, &LaunchProfile::wavefronts,
                 &LaunchProfile::shuffles, &LaunchProfile::written_sectors, &LaunchProfile::dram_read_sectors,
                 &LaunchProfile::dram_write_sectors, &LaunchProfile::atomics, &LaunchProfile::atomics_same,
                 &LaunchProfile::load_rounds, &LaunchProfile::shared_rounds, &LaunchProfile::sync_rounds,
                 &LaunchProfile::block_barriers, &LaunchProfile::grid_barriers);
    double before = 0;
    for (double more = 0; more < 1e9; more = 10 * more + 1) {
        LaunchProfile p = stream(1e7);
        p.*field += more;
        const double now = seconds(p);
        CHECK(std::isfinite(now));
        CHECK(now >= before);
        before = now;
    }
    CHECK(before > 1.1 * seconds(stream(1e7)));
}

TEST_CASE("the slowest rate is named", "[simt][model]") {
    LaunchProfile p = stream(1e7);
    p.atomics = p.atomics_same = 1e6;
    CHECK(limit(p) == "atomics");
    p = stream(1e7);
    p.wavefronts = 1e9;
    CHECK(limit(p) == "L1 and shared");
    p = stream(1e7);
    p.instructions = 1e9;
    CHECK(limit(p) == "instructions");
    p = stream(1e7);
    p.load_rounds = 1e4;
    CHECK(limit(p) == "latency");
    p = stream(0);
    p.blocks = 1e7;
    p.load_rounds = 0;
    CHECK(limit(p) == "block starts");
}

TEST_CASE("a profile survives being written down", "[simt][model]") {
    CallProfile call;
    call.launches = {stream(12345), stream(1.0 / 3)};
    call.launches[1].kernel = "name::of<float, 3>";
    call.fills = 2, call.copied_bytes = 1e10;
    std::stringstream text;
    write(text, call);
    const CallProfile same = read_profile(text);
    REQUIRE(same.launches.size() == 2);
    CHECK(same.launches[1].kernel == "name::of<float, 3>");
    CHECK(same.launches[1].sectors == call.launches[1].sectors);
    const Machine machine = read_machine(h200);
    CHECK(predict(machine, same).seconds == predict(machine, call).seconds);
    std::istringstream broken("call 1 2 3"), other("hello"), cut("call 0 0 0 0 0 1\n1 2 3 k\n");
    CHECK_THROWS_AS(read_profile(broken), std::runtime_error);
    CHECK_THROWS_AS(read_profile(other), std::runtime_error);
    CHECK_THROWS_AS(read_profile(cut), std::runtime_error);
}

TEST_CASE("what a launch leaves in L2 is not read from memory again", "[simt][model][traffic]") {
    const int n = 4096;  // 512 sectors
    Traffic large(1e6), small(4096);
    traffic::copy_twice(n);
    REQUIRE(large.launches().size() == 2);
    CHECK(large.launches()[0].dram_read_sectors == 512);
    CHECK(large.launches()[0].dram_write_sectors == 512);
    CHECK(large.launches()[1].dram_read_sectors == 0);
    CHECK(large.launches()[1].dram_write_sectors == 0);  // still to be written, once
    CHECK(small.launches()[1].dram_read_sectors == 512);
    CHECK(small.launches()[1].dram_write_sectors == 512);
    large.clear();
    CHECK(large.launches().empty());
}

TEST_CASE("a block that reads again reads from L1, another block from L2", "[simt][model][traffic]") {
    Traffic seen;
    traffic::read_by_blocks(3, 1024, 5);
    REQUIRE(seen.launches().size() == 1);
    const Traffic::Launch& launch = seen.launches()[0];
    CHECK(launch.block_sectors == 3 * 128);
    CHECK(launch.dram_read_sectors == 128);
    CHECK(launch.dram_write_sectors == 3 * 8);
    CHECK(launch.load_rounds == 5 * 16);                     // one load at a time in each thread
    CHECK(launch.dram_rounds == Catch::Approx(16 / 3.0));    // of the first block; others find it in L2
    CHECK(launch.l2_rounds == Catch::Approx(2 * 16 / 3.0));  // and all find it in L1 the next four times
}

TEST_CASE("loads at different places are one round", "[simt][model][traffic]") {
    Traffic seen;
    traffic::load_two();
    CHECK(seen.launches().at(0).load_rounds == 1);
    CHECK(seen.launches().at(0).shared_rounds == 0);
}

TEST_CASE("between barriers a block takes as long as its slowest lane", "[simt][model][traffic]") {
    Traffic seen;
    traffic::reduce(2);
    CHECK(seen.launches().at(0).load_rounds == 1);
    CHECK(seen.launches().at(0).shared_rounds == 6);  // the last read, of s[0], is at another place
}

TEST_CASE("four loads of a loop over shared memory are on their way together", "[simt][model][traffic]") {
    Traffic seen;
    traffic::loop_over_shared(9);
    CHECK(seen.launches().at(0).shared_rounds == 3);
}

TEST_CASE("the busiest word of atomics", "[simt][model][traffic]") {
    const unsigned words = GENERATE(1u, 2u, 64u, 256u);
    Traffic seen;
    traffic::count_in(words);
    CHECK(seen.launches().at(0).atomics == 1024);
    CHECK(seen.launches().at(0).atomics_same == 1024 / words);
}

TEST_CASE("what the host does beside launches is counted", "[simt][model]") {
    simt::check::Counting counting;
    const Traffic traffic;
    traffic::copy_back(1000);
    const CallProfile call = profile(counting, traffic);
    CHECK(call.launches.size() == 1);
    CHECK(call.fills == 2);
    CHECK(call.filled_bytes == 2 * 4000);
    CHECK(call.copies == 2);
    CHECK(call.copied_bytes == 4000 + 400);
    CHECK(call.waits >= 1);
}

TEST_CASE("what the machine code of a basic block computes", "[simt][model]") {
    // addss, mulss, subsd, divss, sqrtsd, cvtsi2ss, ucomiss; cmp with a constant and ja: a check of bounds;
    // add, lea, jne; a jump ends it.
    const unsigned char code[] = {
        0xf3, 0x0f, 0x58, 0xc1, 0xf3, 0x0f, 0x59, 0x45, 0x80, 0xf2, 0x0f, 0x5c, 0xc1, 0xf3, 0x0f, 0x5e,
        0xc1, 0xf2, 0x0f, 0x51, 0xc0, 0xf3, 0x48, 0x0f, 0x2a, 0xc0, 0x0f, 0x2e, 0xf0, 0x48, 0x81, 0xfb,
        0x00, 0x01, 0x00, 0x00, 0x0f, 0x87, 0x10, 0x00, 0x00, 0x00, 0x83, 0xc3, 0x01, 0x42, 0x8d, 0x04,
        0x8d, 0x00, 0x00, 0x00, 0x00, 0x75, 0x05, 0xeb, 0x00, 0xf3, 0x0f, 0x58, 0xc1};
    const simt::check::Arithmetic sum = simt::check::arithmetic_of(code, sizeof code, nullptr);
    CHECK(sum.floats == 4);
    CHECK(sum.doubles == 1);
    CHECK(sum.fusable == 1);
    CHECK(sum.special == 2);
    CHECK(sum.integers == 2);
    CHECK(sum.branches == 1);
    // idivl, divb, idivq
    const unsigned char divisions[] = {0xf7, 0xf9, 0xf6, 0xf1, 0x49, 0xf7, 0xfd, 0xc3};
    const simt::check::Arithmetic quotients =
        simt::check::arithmetic_of(divisions, sizeof divisions, nullptr);
    CHECK(quotients.divisions == 2);
    CHECK(quotients.wide_divisions == 1);
    CHECK(quotients.special == 0);
    // Whatever the bytes, it ends, and reads nothing behind them.
    std::uint32_t random = 1;
    for (int i = 0; i < 20000; ++i) {
        unsigned char noise[24];
        for (unsigned char& byte : noise)
            byte = static_cast<unsigned char>((random = random * 1664525 + 1013904223) >> 24);
        const simt::check::Arithmetic any = simt::check::arithmetic_of(noise, sizeof noise, nullptr);
        const auto instructions = any.floats + any.doubles + any.special + any.divisions +
                                  any.wide_divisions + any.integers + any.branches;
        CHECK(instructions <= sizeof noise);
    }
}

TEST_CASE("counters and traffic of different launches are not mixed", "[simt][model]") {
    simt::check::Counting counting;
    traffic::load_two();
    const Traffic late;
    CHECK_THROWS_AS(profile(counting, late), std::logic_error);
    traffic::load_two();
    CHECK_THROWS_AS(profile(counting, late), std::logic_error);
}
