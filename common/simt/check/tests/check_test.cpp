// The interface of the checks: findings, reports, observers.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include "check/tests/checks.h"
#include "simt/api.h"
#include "simt/inspect/check.h"
#include "simt/inspect/columns.h"
#include "simt/inspect/control.h"
#include "testing/catch.h"

using namespace simt::check;

namespace {

/// What is found when `run` runs: one thing.
template <class Run>
Finding only_finding(Run run) {
    clear();
    run();
    const auto found = findings();
    REQUIRE(found.size() == 1);
    return found[0];
}

/// Counts what it sees.
class Counter : public Observer {
  public:
    Counter() { add_observer(*this); }
    ~Counter() override { remove_observer(*this); }
    void launch_begins(const char* kernel, dim3, dim3 block) override {
        kernels.push_back(kernel);
        threads = block.x;
    }
    void launch_ends() override { ++ended; }
    void block_begins(std::uint64_t) override { ++blocks; }
    void access(const Event& e) override {
        ++accesses[{e.array, e.access}];
        sizes[e.array] = e.size;
        REQUIRE(e.lane < 32);
        REQUIRE(e.address >= e.origin);
        REQUIRE(e.pc != nullptr);
    }
    void block_synchronised(std::uint64_t) override { ++barriers; }

    std::vector<std::string> kernels;
    std::map<std::pair<std::string, Access>, int> accesses;
    std::map<std::string, std::size_t> sizes;
    unsigned threads = 0;
    int ended = 0, blocks = 0, barriers = 0;
};

}  // namespace

TEST_CASE("an observer sees every access once", "[simt][check][observer]") {
    const int n = GENERATE(1, 31, 32, 33, 100);
    clear();
    Counter counter;
    checks::add_vectors(n);
    CHECK(counter.kernels == std::vector<std::string>{"add"});
    CHECK(counter.threads == 32);
    CHECK(counter.blocks == (n + 31) / 32);
    CHECK(counter.ended == 1);
    CHECK(counter.accesses.size() == 3);
    CHECK(counter.accesses[{"a", Access::read}] == n);
    CHECK(counter.accesses[{"b", Access::read}] == n);
    CHECK(counter.accesses[{"c", Access::write}] == n);
    CHECK(findings().empty());
}

TEST_CASE("a vector is one access", "[simt][check][observer]") {
    clear();
    Counter counter;
    checks::vectors();
    CHECK(counter.accesses[{"in", Access::read}] == 32);
    CHECK(counter.accesses[{"tile", Access::write}] == 32);
    CHECK(counter.accesses[{"tile", Access::read}] == 32);
    CHECK(counter.accesses[{"out", Access::write}] == 32);
    CHECK(counter.sizes["in"] == 16);
    CHECK(counter.sizes["tile"] == 16);
    CHECK(counter.barriers == 1);
    CHECK(findings().empty());
}

TEST_CASE("what shuffles vectors in run mode does so in check mode", "[simt][check]") {
    clear();
    CHECK(checks::shuffled_vectors() == 0);
    CHECK(findings().empty());
}

TEST_CASE("functions for both sides know in check mode, too, which one calls", "[simt][check]") {
    clear();
    CHECK(checks::sides() == std::vector<int>{900, 1});
    CHECK(findings().empty());
}

TEST_CASE("outputs that nobody wrote are counted", "[simt][check]") {
    clear();
    CHECK(checks::unwritten_tail(64, 64) == 0);
    CHECK(checks::unwritten_tail(63, 64) == 4);
    CHECK(checks::unwritten_tail(0, 64) == 256);
}

TEST_CASE("a lane stops before it does harm, and the others go on", "[simt][check]") {
    simt::set_seed(GENERATE(0u, 1u, 2u));
    clear();
    const std::vector<int> out = checks::survivors();
    for (int i = 0; i < 32; ++i) CHECK(out[static_cast<std::size_t>(i)] == (i == 3 ? -1 : i));
    const auto found = findings();
    REQUIRE(found.size() == 1);
    CHECK(found[0].kind == "out-of-bounds");
    CHECK(found[0].array == "small");
    CHECK(found[0].index == 1000);
    CHECK(found[0].extent == 4);
    CHECK(found[0].element == 4);
    CHECK(found[0].side.thread.x == 3);
    CHECK(found[0].count == 1);
    CHECK(found[0].kernel == "one_bad_lane");
    CHECK(found[0].side.place.file == "checks.cu");
    CHECK(found[0].side.place.function.find("one_bad_lane") != std::string::npos);
    // Somewhere in "small[1000] = 7".
    CHECK(found[0].side.place.column >= 27);
    CHECK(found[0].side.place.column <= 41);
    simt::set_seed(0);
    clear();
    CHECK(findings().empty());
}

TEST_CASE("members of one shared object are told apart by the size of the access", "[simt][check]") {
    clear();
    checks::unwritten_row();
    const auto found = findings();
    REQUIRE(found.size() == 1);
    CHECK(found[0].kind == "uninitialised");
    CHECK(found[0].array == "rows");
    CHECK(found[0].index == 2);
    CHECK(found[0].element == 16);
    CHECK(found[0].extent == 4);
    clear();
}

TEST_CASE("what the library does for a kernel is found at the kernel's line", "[simt][check]") {
    clear();
    const unsigned line = checks::library_past_end();
    const auto found = findings();
    REQUIRE(found.size() == 1);
    CHECK(found[0].kind == "out-of-bounds");
    CHECK(found[0].side.place.file == "checks.cu");
    CHECK(found[0].side.place.line == line);
    clear();
}

TEST_CASE("nobody else uses the inline code of an instrumented file", "[simt][check]") {
    const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
    FILE* const list = popen(("nm -P '" + program + "'").c_str(), "r");
    REQUIRE(list);
    std::string symbols;
    char part[4096];
    for (std::size_t n; (n = std::fread(part, 1, sizeof part, list)) > 0;) symbols.append(part, n);
    CHECK(pclose(list) == 0);
    // std::accumulate<const int*, int>, which checks.cu alone instantiates.
    const std::string name = "\n_ZSt10accumulateIPKiiET0_T_S3_S2_ ";
    CHECK(symbols.find(name + "t ") != std::string::npos);
    CHECK(symbols.find(name + "W ") == std::string::npos);
}

TEST_CASE("in an order of its own a launch is not one block after the other", "[simt][check][order]") {
    clear();
    CHECK(checks::collected(8, false) == 8);
    int wrong = 0;
    for (unsigned seed = 1; seed <= 50; ++seed) {
        CAPTURE(seed);
        simt::set_seed(seed);
        CHECK(checks::collected(8, true) == 8);
        CHECK(checks::collected(1, true) == 1);
        const int sum = checks::collected(8, false);
        wrong += sum < 8;
        CHECK(checks::collected(8, false) == sum);  // the same in every run
    }
    CHECK(wrong >= 25);
    CHECK(findings().empty());
    simt::set_seed(0);
}

TEST_CASE("who waits for another block reads what it has left, however it looks", "[simt][check][order]") {
    const auto how = GENERATE(checks::Poll::update, checks::Poll::exchange, checks::Poll::load,
                              checks::Poll::volatile_load, checks::Poll::several, checks::Poll::vote);
    CAPTURE(static_cast<int>(how));
    clear();
    for (unsigned seed = 0; seed <= 50; ++seed) {
        CAPTURE(seed);
        simt::set_seed(seed);
        for (const unsigned blocks : {2u, 3u, 40u}) {
            CHECK(checks::handed_over(blocks, how) == 42);
            CHECK(checks::permits(blocks) == static_cast<int>(blocks));
        }
        CHECK(findings().empty());
    }
    simt::set_seed(0);
    clear();
}

TEST_CASE("the advice for a race is the barrier that all of its cases need", "[simt][check]") {
    simt::set_seed(GENERATE(0u, 1u, 2u));
    // Most neighbours are of one warp; threads 31 and 32 are not.
    for (const unsigned threads : {32u, 64u}) {
        CAPTURE(threads);
        clear();
        checks::neighbour(threads);
        bool raced = false;
        for (const Finding& f : findings()) {
            if (f.tool != Tool::racecheck || f.count < 2) continue;  // thread 0's own store is met once
            raced = true;
            CHECK((f.advice.find("__syncwarp()") != std::string::npos) == (threads == 32));
            CHECK(f.advice.find("__syncthreads()") != std::string::npos);
        }
        CHECK(raced);
    }
    simt::set_seed(0);
    clear();
}

TEST_CASE("where a barrier is missing at the end of a round, the advice says so", "[simt][check]") {
    for (const unsigned threads : {32u, 64u}) {
        CAPTURE(threads);
        const Finding found = only_finding([&] { checks::rounds(threads); });
        CHECK(found.tool == Tool::racecheck);
        CHECK(found.advice.find(threads == 32
                                    ? "the end of one round of a loop"
                                    : "behind the write, before the next round reads") != std::string::npos);
    }
    clear();
}

TEST_CASE("a race within one line asks for no barrier between two lines", "[simt][check]") {
    for (const bool the_same : {false, true}) {
        CAPTURE(the_same);
        clear();
        checks::adds_up(the_same);
        const auto found = findings();
        // Where each adds 0, all write the same value: no note says that this is harmless.
        REQUIRE(found.size() == (the_same ? 1 : 2));
        for (const Finding& f : found) {
            CHECK(f.severity == simt::check::Severity::error);
            CHECK(f.advice.find("atomicAdd") != std::string::npos);
            CHECK(f.advice.find("if they are of different rounds of a loop") != std::string::npos);
        }
    }
    const auto advised = [](auto run, const char* words) {
        const std::string advice = only_finding(run).advice;
        CHECK(advice.find("between the two") == std::string::npos);
        CHECK(advice.find(words) != std::string::npos);
    };
    advised([] { checks::shifts_in_place(1); }, "read into a variable, __syncthreads(), then write");
    advised([] { checks::shifts_in_place_of_warp(); }, "read into a variable, __syncwarp(), then write");
    advised([] { checks::shifts_in_place(64); }, "write into another array");
    clear();
}

TEST_CASE("an index that comes beside a freed array is out of its own", "[simt][check][memcheck]") {
    for (const std::ptrdiff_t before : {-400, 0, 4, 64}) {  // the freed array has 400 bytes
        CAPTURE(before);
        const Finding found = only_finding([&] { checks::comes_beside_freed(before); });
        CHECK(found.kind == (before > 0 ? "out-of-bounds" : "use-after-free"));
        CHECK((found.array == "in") == (before > 0));
    }
    clear();
}

TEST_CASE("an unsigned index below 0 is of the array that it was meant for", "[simt][check][memcheck]") {
    for (const bool shared : {false, true}) {
        CAPTURE(shared);
        const Finding found = only_finding([&] { checks::goes_below_zero(shared); });
        CHECK(found.kind == "out-of-bounds");
        CHECK(found.array == (shared ? "tile" : "in"));
        CHECK(found.index == 4294967295);
        CHECK(found.message.find("the index has wrapped below 0") != std::string::npos);
        CHECK(found.advice.find("unsigned") != std::string::npos);
    }
    clear();
}

namespace {

/// Bytes of memory that the process has.
std::size_t resident() {
    std::ifstream file("/proc/self/statm");
    std::size_t all = 0, here = 0;
    file >> all >> here;
    return here * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

/// The finding of a launch that is ended by force.
template <class Run>
Finding finding_of_crash(Run run) {
    simt::set_quiet(true);
    Finding found = only_finding(run);
    cudaDeviceReset();
    cudaGetLastError();
    simt::set_quiet(false);
    clear();
    return found;
}

/// Skips a test for which this machine lacks the memory.
void skip() {
    SUCCEED("needs 2.3 GB of device memory");
    simt_testing::skipped = true;
}

constexpr std::size_t two_gigabytes = std::size_t{70000} * 32000;

}  // namespace

TEST_CASE("an index that has wrapped is of the array that it was meant for", "[simt][check][memcheck]") {
    clear();
    if (!checks::index_of(64, two_gigabytes)) return skip();
    CHECK(findings().empty());
    const Finding found = only_finding([] { checks::index_of(32, two_gigabytes); });
    CHECK(found.kind == "out-of-bounds");
    CHECK(found.array == "table");
    CHECK(found.index == 2239968000 - (std::int64_t{1} << 32));
    CHECK(found.message.find("the index has wrapped, for 2239968000") != std::string::npos);
    CHECK(found.message.find("out of bounds") != std::string::npos);
    CHECK(found.advice.find("64 bits") != std::string::npos);
    clear();
}

TEST_CASE("the checks' memory is what a program touches, and not what it allocates", "[simt][check]") {
    clear();
    CHECK(checks::touches_little(1 << 20, true));  // what the first launch needs
    constexpr std::size_t few = std::size_t{64} << 20;
    std::size_t before = resident();
    for (int i = 0; i < 2; ++i)
        if (!checks::touches_little(two_gigabytes, false)) return skip();
    CHECK(resident() < before + few);
    // The array's own memory has been cleared, and freed.
    before = resident();
    CHECK(checks::touches_little(4 * few, true));
    CHECK(resident() < before + few);
    CHECK(findings().empty());
}

TEST_CASE("a copy of elements in place of bytes is called one", "[simt][check][initcheck]") {
    const Finding found = only_finding([] { checks::copies_a_part(16); });
    CHECK(found.index == 16);
    CHECK(found.message.find("Only the first 64 of its 256 bytes have been written") != std::string::npos);
    CHECK(found.advice.find("count bytes") != std::string::npos);
    const Finding all = only_finding([] { checks::copies_a_part(0); });
    CHECK(all.message.find("Only") == std::string::npos);
    clear();
    checks::copies_a_part(64);
    CHECK(findings().empty());
}

TEST_CASE("arrays that are one memory are named in their race", "[simt][check][racecheck]") {
    for (const bool same : {false, true}) {
        CAPTURE(same);
        clear();
        checks::dynamic_arrays(same);
        const auto found = findings();
        REQUIRE_FALSE(found.empty());
        CHECK((found[0].message.find("first and second begin at the same address") == std::string::npos) ==
              same);
        CHECK((found[0].advice.find("extern __shared__") == std::string::npos) == same);
    }
    clear();
}

TEST_CASE("a stack overflow is shown where the recursion calls itself", "[simt][check][memcheck]") {
    unsigned line = 0;
    const Finding found = finding_of_crash([&] { line = checks::endless_recursion(); });
    CHECK(found.kind == "crash");
    CHECK(found.message.find("stack overflow in a recursion") != std::string::npos);
    CHECK(found.side.place.file == "checks.cu");
    CHECK(found.side.place.line == line);
    CHECK(found.kernel == "recurse");
}

TEST_CASE("a function's address that the host took cannot be called", "[simt][check][memcheck]") {
    clear();
    checks::calls_by_address(false);
    CHECK(findings().empty());
    unsigned line = 0;
    const Finding found = finding_of_crash([&] { line = checks::calls_by_address(true); });
    CHECK(found.kind == "crash");
    CHECK(found.message.find("'plus_one' by the address that the host has for it") != std::string::npos);
    CHECK(found.side.place.line == line);
}

TEST_CASE("a lambda that captures `this` is reported", "[simt][check][memcheck]") {
    unsigned line = 0;
    clear();
    line = checks::captures_this();
    const auto found = findings();
    REQUIRE_FALSE(found.empty());
    CHECK(found[0].kind == "host-memory");
    CHECK(found[0].side.place.line == line);
    INFO(to_text(found[0]));
    CHECK(found[0].advice.find("`this`") != std::string::npos);
    clear();
}

TEST_CASE("one thread at a barrier is reported in the singular", "[simt][check][synccheck]") {
    clear();
    checks::own_barrier();
    const auto found = findings();
    REQUIRE(found.size() == 1);
    const std::string& message = found[0].message;
    CHECK((message.find("1 thread is at one barrier and 63 at another") != std::string::npos ||
           message.find("63 threads are at one barrier and 1 at another") != std::string::npos));
    clear();
}

TEST_CASE("a value that a mask does not promise is a warning", "[simt][check][synccheck]") {
    simt::set_seed(GENERATE(0u, 1u, 2u));
    // The upper lanes read from lanes that take no part, and nobody uses what they get.
    struct Masks {
        unsigned threads, mask;
        Severity severity;
    };
    for (const auto& [threads, mask, severity] :
         {Masks{32, 0xff, Severity::warning}, Masks{8, 0xffffffff, Severity::warning},
          Masks{32, 0xffffffff, Severity::error}, Masks{8, 0xff, Severity::warning}}) {
        CAPTURE(threads, mask);
        clear();
        CHECK(checks::eight_lanes(threads, mask) == 28);
        const auto found = findings();
        REQUIRE(found.size() == 1);
        CHECK(found[0].kind == "inactive-lane");
        CHECK(found[0].severity == severity);
    }
    simt::set_seed(0);
    clear();
}

TEST_CASE("a barrier that some threads have returned before is an error", "[simt][check][synccheck]") {
    simt::set_seed(GENERATE(0u, 1u, 2u));
    for (const unsigned n : {1u, 31u, 32u, 33u, 63u, 64u}) {
        CAPTURE(n);
        clear();
        checks::early_return(64, n);
        const auto found = findings();
        REQUIRE(found.size() == (n < 64 ? 1 : 0));
        if (n == 64) continue;
        CHECK(found[0].kind == "exited-threads");
        CHECK(found[0].severity == Severity::error);
        CHECK(found[0].message.find(std::to_string(64 - n) + " of 64 threads") != std::string::npos);
    }
    simt::set_seed(0);
    clear();
}

TEST_CASE("without a line table there are no columns", "[simt][check]") {
    const std::string places = "0x0000000000001234\nkernel\nfile.cu:12\n";
    CHECK(with_columns(ProgramFile("no such program"), places) == places);
    std::ifstream self("/proc/self/exe", std::ios::binary);
    std::string program(1 << 20, '\0');
    self.read(program.data(), static_cast<std::streamsize>(program.size()));
    for (const std::size_t size : {0, 10, 63, 64, 4096, 1 << 20}) {
        const int file = ::memfd_create("a part of a program", MFD_CLOEXEC);
        REQUIRE(file >= 0);
        const std::string path = "/proc/self/fd/" + std::to_string(file);
        std::ofstream(path, std::ios::binary) << program.substr(0, size);
        CHECK(with_columns(ProgramFile(path), places) == places);
        ::close(file);
    }
}

TEST_CASE("lines with code that has not run are reported", "[simt][check]") {
    const ProgramFile program("/proc/self/exe");
    std::set<std::uint64_t> ran;
    const auto lines = [&] {
        for (const std::uintptr_t block : take_blocks()) ran.insert(block);
        return lines_run(program, "checks.cu", ran);
    };
    const checks::Branches at = checks::branches(3);
    const auto before = lines();
    REQUIRE(before.count(at.taken) == 1);
    REQUIRE(before.count(at.other) == 1);
    CHECK(before.at(at.taken));
    CHECK_FALSE(before.at(at.other));
    checks::branches(-3);
    CHECK(lines().at(at.other));
    CHECK(take_blocks().empty());  // nothing new has run
    CHECK(lines_run(program, "no such file", ran).empty());
    CHECK(lines_run(ProgramFile("no such program"), "checks.cu", ran).empty());
    CHECK(lines_run(program, "checks.cu", {}).empty());
}

TEST_CASE("a finding in a header tells who called it", "[simt][check]") {
    clear();
    const std::vector<unsigned> calls = checks::stores_of_header();
    const auto found = findings();
    REQUIRE(found.size() == 2);
    for (std::size_t i = 0; i < 2; ++i) {
        CAPTURE(to_text(found[i]));
        CHECK(found[i].side.place.file == "stores.cuh");
        CHECK(found[i].side.place.caller_file == "checks.cu");
        CHECK(found[i].side.place.caller_line == calls[i]);
        CHECK(to_text(found[i]).find(", called at checks.cu:" + std::to_string(calls[i])) !=
              std::string::npos);
    }
    CHECK(to_json(found).find("\"caller_file\": \"checks.cu\"") != std::string::npos);
    clear();
}

TEST_CASE("findings are written for people and for tools", "[simt][check]") {
    clear();
    checks::race();
    const auto found = findings();
    REQUIRE(found.size() == 1);
    const Finding& f = found[0];
    CHECK(f.tool == Tool::racecheck);
    CHECK(f.severity == Severity::error);
    CHECK(f.has_other);
    CHECK(f.side.thread.x != f.other.thread.x);
    const std::string text = to_text(f), json = to_json(found);
    CHECK(text.find("racecheck error: write-write in kernel race_once") == 0);
    CHECK(text.find("checks.cu:" + std::to_string(f.side.place.line)) != std::string::npos);
    CHECK(json.find("\"kind\": \"write-write\"") != std::string::npos);
    CHECK(json.find("\"other\": {\"file\": \"checks.cu\"") != std::string::npos);
    CHECK(f.side.place.caller_file.empty());
    CHECK(to_json({}) == "[]\n");
    Finding strange;
    strange.kind = "a \"quote\"\n";
    CHECK(to_json({strange}).find("\"a \\\"quote\\\"\\u000a\"") != std::string::npos);
    clear();
}
