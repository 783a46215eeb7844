// Check mode in the judge: faults that the values may or may not show, each with its verdict and its lines.

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "beside_a_gpu.hpp"
#include "judge/build/build.hpp"
#include "judge/build/object_gate.hpp"
#include "judge/result/findings.hpp"
#include "judge_fixture.hpp"
#include "program_fixture.hpp"
#include "report/report.hpp"
#include "rungs/catch.hpp"

using namespace rungs;
using namespace rungs::judge;
using Catch::Matchers::ContainsSubstring;
namespace fs = std::filesystem;

namespace {

/// Judges changed copies of a reference: 03_shared_tree's, a tree in shared memory, unless another is named.
struct Tree : Court {
    explicit Tree(const std::string& chapter = "01_reduction", const std::string& rung = "03_shared_tree")
        : Court(rung, chapter), text(TemporaryFolder::content_of(solution())) {}

    Tree& replace(const std::string& what, const std::string& with) {
        text = replaced(text, what, with);
        return *this;
    }

    /// Gives it a function that tells check mode, which has a malloc of its own.
    void let_it_tell() {
        replace(
            "#include \"rungs/cuda_check.cuh\"\n",
            "#include \"rungs/cuda_check.cuh\"\n#include <cstdlib>\n#include <dlfcn.h>\n"
            "#define PASTED(a, b) a##b\n"  // device code may not name what CUDA does not have there
            "static __host__ __device__ bool is_watched() {\n"
            "    return PASTED(dl, sym)(RTLD_DEFAULT, \"malloc\") != reinterpret_cast<void*>(&malloc);\n}\n");
    }

    /// The changed copy.
    fs::path file() const { return folder.write(name + ".cu", text); }

    RungResult judge() const { return judge_text(text); }

    /// Number of the first line that contains `words`.
    unsigned line(const std::string& words) const {
        const std::size_t at = text.find(words);
        REQUIRE(at != std::string::npos);
        return 1 + static_cast<unsigned>(
                       std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
    }

    std::string text;
};

void check_lost(const RungResult& result) {
    CHECK(result.judged);
    CHECK(result.points == 0);
    CHECK(result.max_points == 15);
    CHECK(result.checks.done);
    REQUIRE_FALSE(result.checks.findings.empty());
    CHECK(result.reason() == in_one_line(result.checks.findings.front()));
    CHECK_FALSE(result.checks.found_in.empty());
}

}  // namespace

TEST_CASE("the reference is clean, in all cases and orders", "[judge][checks]") {
    const RungResult result = Tree().judge();
    INFO(result.reason());
    CHECK(result.verdict == Verdict::ok);
    CHECK(result.points == 15);
    CHECK(result.checks.done);
    CHECK(result.checks.findings.empty());
    CHECK(result.checks.cases == result.checks.of);
    CHECK(result.checks.cases >= 30);
    CHECK(unchecked_text(result.checks).empty());
    CHECK(result.checks.orders == 3);
    CHECK_THAT(result.checks.tool, ContainsSubstring("check mode, "));
}

TEST_CASE("a launch that forgets its stream is RACE", "[judge][checks]") {
    Tree tree;
    const RungResult result = tree.replace("0, stream>>>", "0>>>").judge();
    INFO(result.reason());
    CHECK(result.verdict == Verdict::race);
    check_lost(result);
    CHECK_THAT(result.reason(),
               ContainsSubstring("in the default stream") && ContainsSubstring("in stream "));
}

TEST_CASE("a rung that uses the default stream alone is RACE with what reads its output", "[judge][checks]") {
    Tree tree;
    const RungResult result =
        tree.replace("0, stream>>>", "0>>>").replace("sizeof(float), stream)", "sizeof(float))").judge();
    INFO(result.reason());
    CHECK(result.verdict == Verdict::race);
    check_lost(result);
    CHECK_THAT(result.reason(), ContainsSubstring("in the default stream") &&
                                    ContainsSubstring("by cudaMemcpyAsync in stream "));
}

TEST_CASE("a removed __syncthreads is RACE, with both lines", "[judge][checks]") {
    Tree tree;
    const RungResult result = tree.replace("__syncthreads();", "").judge();
    CHECK(result.verdict == Verdict::race);
    check_lost(result);
    CHECK_FALSE(result.correctness.failing_case.empty());
    CHECK(result.correctness.smallest_case.empty());
    const QuotedFinding& race = result.checks.findings.front();
    CHECK(race.tool == simt::check::Tool::racecheck);
    CHECK(race.kernel == "shared_tree_kernel");
    CHECK(race.array == "partial");
    CHECK(race.extent == 256);
    REQUIRE(race.has_other);
    CHECK(race.side.place.file == "03_shared_tree.cu");
    CHECK(race.other.place.file == "03_shared_tree.cu");
    CHECK(race.side.place.line == tree.line("partial[threadIdx.x] = i < n"));
    CHECK(race.other.place.line == tree.line("partial[threadIdx.x] += partial"));
    CHECK_THAT(race.source, ContainsSubstring("partial[threadIdx.x] = i < n"));
    CHECK_THAT(race.other_source, ContainsSubstring("+= partial[threadIdx.x + stride]"));
    // The sum was wrong as well; the race is what explains it, and comes first.
    CHECK(result.correctness.passed < result.correctness.cases);
    CHECK_FALSE(result.correctness.failing_case.empty());
    for (const QuotedFinding& finding : result.checks.findings) CHECK(finding.kind != "uninitialised");
}

TEST_CASE("a rung that throws is not told to leak what it would have freed", "[judge][checks]") {
    const bool throws = GENERATE(true, false);
    Tree tree;
    const std::string fill = "    CUDA_CHECK(cudaMemsetAsync(";
    const std::string to = throws ? "nullptr" : "scratch";
    const std::string faulty =
        "    float* scratch = nullptr;\n"
        "    CUDA_CHECK(cudaMalloc(&scratch, 4));\n"
        "    CUDA_CHECK(cudaMemcpy(" +
        to + ", sum, 4, cudaMemcpyDeviceToDevice));\n" + fill;
    const RungResult result = tree.replace(fill.c_str(), faulty.c_str()).judge();
    INFO(result.reason());
    const auto& findings = result.checks.findings;
    const bool leaks = std::any_of(findings.begin(), findings.end(),
                                   [](const QuotedFinding& finding) { return finding.kind == "leak"; });
    CHECK(leaks == !throws);
    if (throws) CHECK(result.verdict == Verdict::runtime_error);
}

TEST_CASE("a loop that never ends is TIMEOUT, with its line", "[judge][checks]") {
    const auto [what, with, from, lines] = GENERATE(table<const char*, const char*, const char*, unsigned>({
        {"stride > 0", "stride < 1000", "for (unsigned stride", 4},
        {"    if (threadIdx.x == 0) atomicAdd(sum, partial[0]);",
         "    unsigned odd = threadIdx.x | 1;  // and remains so\n"
         "    while (odd != 0) {\n"
         "        odd *= 5;\n"
         "    }\n"
         "    if (threadIdx.x == odd) atomicAdd(sum, partial[0]);",
         "// and remains so", 4},
    }));
    Tree tree;
    tree.options.time_limit = 5;
    // In a folder that others may not enter, where a worker that has a user of its own can look nothing up.
    tree.options.toolchain.cache = tree.folder / "cache";
    const RungResult result = tree.replace(what, with).judge();
    INFO(result.reason());
    CHECK(result.verdict == Verdict::timeout);
    check_lost(result);
    const QuotedFinding& loop = result.checks.findings.front();
    CHECK(loop.kind == "timeout");
    CHECK(loop.kernel == "shared_tree_kernel");
    // The place at which a loop is interrupted is chance, and an instruction of it may have no
    // line of its own.
    if (loop.side.place.file.empty()) {
        CHECK_THAT(loop.message, ContainsSubstring("not known"));
    } else {
        CHECK(loop.side.place.file == "03_shared_tree.cu");
        CHECK(loop.side.place.line >= tree.line(from));
        CHECK(loop.side.place.line < tree.line(from) + lines);
    }
}

TEST_CASE("a flag that nobody sets is DEADLOCK, with its line", "[judge][checks]") {
    Tree tree;
    tree.options.time_limit = GENERATE(2, 5);
    const RungResult result = tree.replace("    if (threadIdx.x == 0) atomicAdd(sum, partial[0]);",
                                           "    __shared__ volatile int ready;\n"
                                           "    if (threadIdx.x == 0) ready = 0;\n"
                                           "    __syncthreads();\n"
                                           "    while (ready == 0) {  // nobody sets it\n"
                                           "    }\n"
                                           "    if (threadIdx.x == 0) atomicAdd(sum, partial[0]);")
                                  .judge();
    INFO(result.reason());
    CHECK(result.verdict == Verdict::deadlock);
    check_lost(result);
    const QuotedFinding& flag = result.checks.findings.front();
    CHECK(flag.kind == "livelock");
    CHECK(flag.kernel == "shared_tree_kernel");
    CHECK(flag.side.place.line == tree.line("// nobody sets it"));
}

TEST_CASE("a loop on the host that never ends is TIMEOUT, without a line", "[judge][checks]") {
    Tree tree;
    tree.options.time_limit = 2;
    tree.replace(
        "    const std::size_t blocks =",
        "    for (volatile int waiting = 1; waiting != 0;) {\n    }\n    const std::size_t blocks =");
    const RungResult result = tree.judge();
    CHECK(result.verdict == Verdict::timeout);
    CHECK(result.checks.findings.empty());
    CHECK_THAT(result.reason(), ContainsSubstring("the line is not known"));
}

TEST_CASE("a call's limit counts its work, not what else this machine does", "[judge][checks]") {
    Tree tree;
    tree.options.time_limit = 1;
    tree.replace("#include \"rungs/cuda_check.cuh\"", "#include \"rungs/cuda_check.cuh\"\n#include <ctime>")
        .replace("    const std::size_t blocks =",
                 "    static const std::clock_t end = std::clock() + CLOCKS_PER_SEC * 7 / 10;\n"
                 "    while (std::clock() < end) {\n    }\n    const std::size_t blocks =");
    const Verdict alone = tree.judge().verdict;
    CHECK(alone == Verdict::ok);

    // All of it on one processor, beside four threads that never rest.
    cpu_set_t all, one;
    REQUIRE(sched_getaffinity(0, sizeof all, &all) == 0);
    CPU_ZERO(&one);
    int first = 0;
    while (!CPU_ISSET(first, &all)) ++first;
    CPU_SET(first, &one);
    REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
    std::atomic<bool> over{false};
    std::vector<std::thread> others;
    for (int i = 0; i < 4; ++i)
        others.emplace_back([&] {
            while (!over) {
            }
        });
    const RungResult result = tree.judge();
    over = true;
    for (std::thread& other : others) other.join();
    REQUIRE(sched_setaffinity(0, sizeof all, &all) == 0);
    INFO(result.reason());
    CHECK(result.verdict == Verdict::ok);
}

TEST_CASE("an assertion that fails in a kernel is RUNTIME_ERROR, with its line", "[judge][checks]") {
    Tree tree;
    tree.replace("#include \"rungs/cuda_check.cuh\"", "#include \"rungs/cuda_check.cuh\"\n#include <cassert>")
        .replace("    partial[threadIdx.x] =", "    assert(i < n);\n    partial[threadIdx.x] =");
    const RungResult result = tree.judge();
    INFO(result.reason());
    CHECK(result.verdict == Verdict::runtime_error);
    check_lost(result);
    REQUIRE(result.checks.findings.size() == 1);
    const QuotedFinding& finding = result.checks.findings.front();
    CHECK(finding.kind == "assertion");
    CHECK(finding.side.place.file == "03_shared_tree.cu");
    CHECK(finding.side.place.line == tree.line("assert(i < n)"));
    CHECK_THAT(result.reason(), ContainsSubstring("ssertion 'i < n' failed"));
}

TEST_CASE("a race of whole rows is RACE, with both lines", "[judge][checks]") {
    Tree tree("06_btcs", "10_hybrid_reduction");
    tree.replace("place[thread] = row;\n        __syncthreads();", "place[thread] = row;  // and on");
    const RungResult result = tree.judge();
    INFO(result.reason());
    CHECK(result.verdict == Verdict::race);
    REQUIRE_FALSE(result.checks.findings.empty());
    const QuotedFinding& race = result.checks.findings.front();
    REQUIRE(race.has_other);
    CHECK(race.side.place.file == "10_hybrid_reduction.cu");
    CHECK(race.side.place.line == tree.line("// and on"));
    CHECK(race.other.place.file == "10_hybrid_reduction.cu");
    CHECK(race.other.place.line != race.side.place.line);
}

TEST_CASE("the checks are bound to no code of a rung", "[judge][checks]") {
    Tree tree;
    tree.replace("#include \"rungs/cuda_check.cuh\"",
                 "#include \"rungs/cuda_check.cuh\"\n"
                 "#include <iostream>\n#include <map>\n#include <string>\n#include <vector>\n"
                 "struct OfRung { std::string name; };")
        .replace("    const std::size_t blocks =",
                 "    std::map<std::string, std::vector<OfRung>> all;\n"
                 "    all[std::to_string(n) + \", a long name\"].push_back({\"one\"});\n"
                 "    std::string text = all.begin()->first;\n"
                 "    text = text + text;\n"
                 "    if (n == 77) std::cerr << text << '\\n';\n"
                 "    const std::size_t blocks =");
    const Build build = build_worker(tree.trial(tree.file()), Backend::cpu, Mode::check);
    REQUIRE(build.reason == "");
    const auto symbols_of = [](const fs::path& file) {
        return parse_symbols(run_binutil({"nm", "-P", file.string()}, nullptr));
    };
    std::set<std::string> ours, systems;
    for (const std::string& archive : tree.options.toolchain.check->archives) {
        for (const Symbol& symbol : symbols_of(archive)) ours.insert(symbol.name);
    }
    const std::vector<Symbol> symbols = symbols_of(build.executable);
    const bool asks_a_library = std::any_of(symbols.begin(), symbols.end(), [](const Symbol& symbol) {
        return symbol.name.find("@GLIBCXX_") != std::string::npos;
    });
    // A compiler may link the standard library's code itself.
    if (!asks_a_library) {
        const test::Outcome where =
            test::Process({tree.options.toolchain.check->compiler, "-print-file-name=libstdc++.a"}, {})
                .finish();
        for (const Symbol& symbol : symbols_of(where.out.substr(0, where.out.find('\n'))))
            systems.insert(symbol.name);
    }
    bool both = false;
    for (const Symbol& symbol : symbols) {
        CAPTURE(demangle(symbol.name), symbol.type);
        const bool of_rung = symbol.name.find("6OfRung") != std::string::npos;
        if (of_rung) CHECK(std::islower(static_cast<unsigned char>(symbol.type)));
        // What the linker could choose from is ours, the system's, or asked of a library.
        const bool inline_code = symbol.type == 'W' || symbol.type == 'V' || symbol.type == 'u';
        if (inline_code && symbol.name.rfind("_Z", 0) == 0 && symbol.name.find('@') == std::string::npos) {
            CHECK(ours.count(symbol.name) + systems.count(symbol.name) > 0);
        }
        both = both ||
               (symbol.type == 't' && symbol.name.rfind("_ZNSt", 0) == 0 && ours.count(symbol.name) == 1);
    }
    CHECK(both);
}

TEST_CASE("a race whose sums are right all the same is RACE", "[judge][checks]") {
    // Two warps leave different values in a word that nobody reads.
    Tree tree;
    tree.replace("    if (threadIdx.x == 0) atomicAdd(sum, partial[0]);",
                 "    if (threadIdx.x == 0) atomicAdd(sum, partial[0]);\n"
                 "    __shared__ volatile float word;\n"
                 "    if (threadIdx.x % 64 == 0) word = static_cast<float>(threadIdx.x);");
    const RungResult result = tree.judge();
    INFO(result.reason());
    CHECK(result.correctness.passed == result.correctness.cases);
    CHECK(result.verdict == Verdict::race);
    check_lost(result);
    // Nothing else would tell it on a GPU.
    const RungResult on_a_gpu = look_beside_a_gpu(tree, tree.text);
    CHECK(on_a_gpu.verdict == Verdict::race);
    CHECK(on_a_gpu.reason() == in_one_line(result.checks.findings.front()));
}

TEST_CASE("scratch memory that is left as it was not found is WRONG where a GPU judges, too",
          "[judge][checks]") {
    Tree last("01_reduction", "11_one_launch");
    last.replace("atomicInc(&scratch[0], gridDim.x - 1) == gridDim.x - 1",
                 "atomicAdd(&scratch[0], 1u) % gridDim.x == gridDim.x - 1");
    const RungResult result = look_beside_a_gpu(last, last.text);
    CHECK(result.verdict == Verdict::wrong);
    CHECK_FALSE(result.checks.done);
    CHECK_THAT(result.reason(),
               ContainsSubstring("right, but the call left scratch memory that is not all 0"));
    CHECK_THAT(result.correctness.failing_case, Catch::Matchers::StartsWith("in check mode, "));
}

TEST_CASE("what check mode cannot look at passes where a GPU has found it right, and says so",
          "[judge][checks]") {
    Tree tree;
    std::string why;
    SECTION("a function that the CPU backend lacks") {
        tree.replace("    if (threadIdx.x == 0) atomicAdd(sum, partial[0]);",
                     "    if (threadIdx.x == 0) atomicAdd(sum, partial[0] + 0 * __no_such_function());");
        why = "does not compile in check mode: ";
    }
    SECTION("blocks that wait for blocks") {
        tree.options.time_limit = 2;
        tree.replace("    if (threadIdx.x == 0) atomicAdd(sum, partial[0]);",
                     "    __shared__ volatile int ready;\n"
                     "    if (threadIdx.x == 0) ready = 0;\n"
                     "    __syncthreads();\n"
                     "    while (ready == 0) {}\n"
                     "    if (threadIdx.x == 0) atomicAdd(sum, partial[0]);");
        why = "cut short after ";
    }
    SECTION("an error that is none on a GPU") {
        tree.let_it_tell();
        tree.replace("    const std::size_t blocks =",
                     "    if (is_watched()) throw 1;\n    const std::size_t blocks =");
        why = "cut short after ";
    }
    RungResult result = look_beside_a_gpu(tree, tree.text);
    INFO(result.reason());
    CHECK(result.verdict == Verdict::ok);
    CHECK_FALSE(result.checks.done);
    CHECK(result.checks.findings.empty());
    CHECK_THAT(result.checks.why_not, Catch::Matchers::StartsWith(why));
    CHECK_THAT(result.counters.why_not, ContainsSubstring("checks were not done"));
    CHECK(is_unchecked(result));
    CHECK_THAT(remark_of(result), ContainsSubstring("not checked"));

    // A repair may be wrong there alone.
    tree.manifest.rungs[static_cast<std::size_t>(&tree.rung() - tree.manifest.rungs.data())].kind =
        Kind::repair;
    result = look_beside_a_gpu(tree, tree.text);
    CHECK_FALSE(result.passed());
    CHECK_FALSE(is_unchecked(result));
}

TEST_CASE("a rung that may be another program on a GPU passes there, and says so", "[judge][checks]") {
    Tree tree("01_reduction", "03_shared_tree");
    tree.replace("static constexpr unsigned block_size = 256;",
                 "#if __CUDA_ARCH__ >= 900\n#endif\nstatic constexpr unsigned block_size = 256;");
    RungResult result = look_beside_a_gpu(tree, tree.text);
    INFO(result.reason());
    CHECK(result.verdict == Verdict::ok);
    CHECK(result.counters.done);
    CHECK_THAT(result.checks.why_not, ContainsSubstring("asks which compiler reads it"));
    CHECK(is_unchecked(result));
    tree.manifest.rungs[static_cast<std::size_t>(&tree.rung() - tree.manifest.rungs.data())].kind =
        Kind::repair;
    CHECK(look_beside_a_gpu(tree, tree.text).verdict == Verdict::suspect);
    CHECK(tree.judge().passed());
}

TEST_CASE("blocks that leave their sums without an atomic are RACE", "[judge][checks]") {
    Tree blocks("01_reduction", "11_one_launch");
    blocks.options.speed = false;
    SECTION("a plain store") {
        blocks.replace(
            "atomicExch(&scratch[1 + blockIdx.x], __float_as_uint(block == 0.0f ? -0.0f : block));",
            "scratch[1 + blockIdx.x] = __float_as_uint(block == 0.0f ? -0.0f : block);");
    }
    SECTION("a volatile load") {
        blocks.replace("while (bits == 0) bits = atomicExch(&scratch[1 + b], 0u);",
                       "while (bits == 0) bits = *(volatile unsigned*)&scratch[1 + b];\n"
                       "        scratch[1 + b] = 0;");
    }
    const RungResult result = blocks.judge();
    INFO(result.reason());
    CHECK(result.verdict == Verdict::race);
    CHECK(result.points == 0);
}

TEST_CASE("lines that no check case reaches are reported, and cost nothing", "[judge][checks]") {
    Tree tree;
    tree.replace("    if (threadIdx.x == 0) atomicAdd(sum, partial[0]);",
                 "    if (n == 123456789)\n"
                 "        partial[0] = 0;\n"
                 "    if (threadIdx.x == 0) atomicAdd(sum, partial[0]);");
    // What a rung refuses is no case of an exam.
    tree.replace("cudaStream_t stream) {",
                 "cudaStream_t stream) {\n"
                 "    if (n == 123456787)\n"
                 "        throw n;\n"
                 "    if (n == 123456788)\n"
                 "        throw static_cast<int>(\n"
                 "            n);");
    const RungResult result = tree.judge();
    INFO(result.reason());
    CHECK(result.verdict == Verdict::ok);
    CHECK(result.points == 15);
    CHECK(result.checks.unchecked == std::vector<unsigned>{tree.line("partial[0] = 0;")});
    CHECK(unchecked_text(result.checks) ==
          "line " + std::to_string(tree.line("partial[0] = 0;")) + " was not reached by any check case");

    ChecksResult several;
    several.unchecked = {3, 7, 8, 9, 12};
    CHECK(unchecked_text(several) == "lines 3, 7-9, 12 were not reached by any check case");
    CHECK(unchecked_text(ChecksResult()).empty());
    several.unread = "as its reader was ended by signal 11";
    CHECK_THAT(unchecked_text(several),
               ContainsSubstring("12 were not reached") && ContainsSubstring("; columns, or lines"));
    several.unchecked.clear();
    CHECK(unchecked_text(several) ==
          "columns, or lines that no check case reached, are missing: the program's debug information could "
          "not be read, as its reader was ended by signal 11");
}

TEST_CASE("an access past the end is OOB, with array and index", "[judge][checks]") {
    Tree tree;
    const RungResult result = tree.replace("i < n ? terms(i)", "i <= n ? terms(i)").judge();
    CHECK(result.verdict == Verdict::out_of_bounds);
    check_lost(result);
    const QuotedFinding& finding = result.checks.findings.front();
    CHECK(finding.kind == "out-of-bounds");
    CHECK(finding.array == "v");  // the contract's name
    CHECK(finding.index == static_cast<std::ptrdiff_t>(finding.extent));
    // Where the grader has allocated it is nobody's business.
    CHECK_THAT(finding.message, !ContainsSubstring("worker.cpp"));
}

TEST_CASE("memory that nothing has written is UNINIT", "[judge][checks]") {
    const RungResult shared = Tree()
                                  .replace("    partial[threadIdx.x] = i < n ? terms(i) : 0.0f;",
                                           "    if (i < n) partial[threadIdx.x] = terms(i);")
                                  .judge();
    CHECK(shared.verdict == Verdict::uninit);
    check_lost(shared);
    CHECK(shared.checks.findings.front().array == "partial");

    const RungResult output =
        Tree().replace("    CUDA_CHECK(cudaMemsetAsync(sum, 0, sizeof(float), stream));", "").judge();
    CHECK(output.verdict == Verdict::uninit);
    CHECK(output.checks.findings.front().array == "sum");
}

TEST_CASE("pixels that nobody wrote do not look like a race", "[judge][checks]") {
    Tree image("00_first_kernels", "04_grey");
    image.replace("grid((width + side - 1) / side, (height + side - 1) / side)",
                  "grid((height + side - 1) / side, (width + side - 1) / side)");
    const RungResult result = image.judge();
    CHECK(result.verdict == Verdict::wrong);
    CHECK_THAT(result.correctness.cause, ContainsSubstring("are its two sizes swapped"));
    CHECK_THAT(result.correctness.cause, !ContainsSubstring("different results"));
}

TEST_CASE("a barrier in a divergent branch is BARRIER, though the sums are right", "[judge][checks]") {
    Tree tree;
    tree.replace(
        "        __syncthreads();  // reached by all threads, the idle ones too\n"
        "        if (threadIdx.x < stride) partial[threadIdx.x] += partial[threadIdx.x + stride];",
        "        if (threadIdx.x < stride) {\n"
        "            __syncthreads();  // the busy ones\n"
        "            partial[threadIdx.x] += partial[threadIdx.x + stride];\n"
        "        } else {\n"
        "            __syncthreads();  // the idle ones\n"
        "        }");
    const RungResult result = tree.judge();
    CHECK(result.correctness.passed == result.correctness.cases);
    CHECK(result.verdict == Verdict::barrier);
    check_lost(result);
    const QuotedFinding& finding = result.checks.findings.front();
    CHECK(finding.side.place.line == tree.line("// the busy ones"));
    CHECK(finding.other.place.line == tree.line("// the idle ones"));
}

TEST_CASE("threads that wait for each other are DEADLOCK", "[judge][checks]") {
    const RungResult result =
        Tree()
            .replace("    for (unsigned stride",
                     "    if (threadIdx.x < 16) __syncwarp(0xffffffffu);\n    for (unsigned stride")
            .judge();
    INFO(result.reason());
    CHECK(result.verdict == Verdict::deadlock);
    check_lost(result);
}

TEST_CASE("a deadlock is reported with its lines, also if the program ends itself", "[judge][checks]") {
    Tree tree;
    tree.options.checks = false;
    tree.replace(
        "    for (unsigned stride",
        "    if (threadIdx.x < 16) __syncwarp(0xffffffffu);  // half of the warp\n    for (unsigned stride");
    tree.text.insert(tree.text.rfind("CUDA_CHECK(cudaGetLastError());"),
                     "if (cudaDeviceSynchronize() != cudaSuccess) std::exit(3);\n    ");
    tree.text.insert(0, "#include <cstdlib>\n");
    const RungResult result = tree.judge();
    INFO(result.reason());
    CHECK(result.verdict == Verdict::deadlock);
    CHECK_THAT(result.reason(),
               ContainsSubstring("(03_shared_tree.cu:" + std::to_string(tree.line("half of the warp"))));
}

TEST_CASE("memory that runs out is OOM when the program ends itself, and not when it only says so",
          "[judge][checks]") {
    const auto verdict = [](const char* statement) {
        Tree tree;
        tree.options.checks = false;
        tree.text.insert(tree.text.rfind("CUDA_CHECK(cudaGetLastError());"), statement);
        tree.text.insert(0, "#include <cstdio>\n#include <cstdlib>\n#include <vector>\n");
        const RungResult result = tree.judge();
        INFO(result.reason());
        CHECK(result.points == 0);
        return result.verdict;
    };
    CHECK(verdict("[]() noexcept { std::vector<char> all(1ull << 50, 'x'); std::puts(&all[5]); }();\n    ") ==
          Verdict::oom);
    CHECK(verdict("std::fputs(\"std::bad_alloc\\n\", stderr); std::abort();\n    ") ==
          Verdict::runtime_signal);
}

TEST_CASE("a loop that ends in run mode alone is TIMEOUT", "[judge][checks]") {
    Tree tree;
    tree.let_it_tell();
    tree.options.time_limit = 2;
    // Shared memory of run mode starts with the same garbage in every block; what check mode has there
    // is its own.
    tree.replace("    if (threadIdx.x == 0) atomicAdd(sum, partial[0]);",
                 "    if (is_watched()) for (volatile int k = 0;; k = "
                 "k + 1) {}\n"
                 "    if (threadIdx.x == 0) atomicAdd(sum, partial[0]);");
    const RungResult result = tree.judge();
    INFO(result.reason());
    CHECK(result.correctness.passed == result.correctness.cases);
    CHECK(result.verdict == Verdict::timeout);
    CHECK(result.points == 0);
    CHECK_THAT(result.reason(), ContainsSubstring("in check mode") ||
                                    ContainsSubstring("The launch has run for more than its limit"));
}

TEST_CASE("a launch too long for check mode does not hide outputs that are wrong", "[judge][checks]") {
    Tree tree;
    tree.let_it_tell();
    tree.options.time_limit = 2;
    tree.replace("    if (threadIdx.x == 0) atomicAdd(sum, partial[0]);",
                 "    if (is_watched()) for (volatile int k = 0;; k = "
                 "k + 1) {}\n"
                 "    if (threadIdx.x == 0) atomicAdd(sum, 2 * partial[0]);");
    const RungResult result = tree.judge();
    INFO(result.reason());
    CHECK(result.verdict == Verdict::wrong);
    CHECK(result.points == 0);
}

TEST_CASE("a worker that ends in check mode alone is for a human to see", "[judge][checks]") {
    Tree tree;
    tree.let_it_tell();
    tree.replace("    const std::size_t blocks =",
                 "    if (is_watched()) throw 1;\n    const std::size_t blocks =");
    const RungResult result = tree.judge();
    CHECK(result.correctness.passed == result.correctness.cases);
    CHECK(result.verdict == Verdict::suspect);
    CHECK_FALSE(result.judged);
    CHECK(result.points == 0);
    CHECK_FALSE(result.checks.done);
}

TEST_CASE("a worker that ends by itself misses no barrier", "[judge][checks]") {
    const Court court;
    CHECK_THROWS_AS(first_fault(court.trial(court.solution()), "/bin/true"), InfraError);
}

TEST_CASE("checks that came to no case are not done", "[judge][checks]") {
    Tree tree;
    tree.let_it_tell();
    tree.replace("    const std::size_t blocks =",
                 "    if (is_watched()) throw 1;\n    const std::size_t blocks =");
    tree.replace("atomicAdd(sum, partial[0])", "atomicAdd(sum, partial[1])");
    const RungResult result = tree.judge();
    CHECK(result.verdict == Verdict::wrong);
    CHECK_FALSE(result.checks.done);
    CHECK(result.checks.cases == 0);
    CHECK_THAT(result.checks.why_not,
               ContainsSubstring(fmt::format("cut short after 0 of {} cases", result.checks.of)));
}

TEST_CASE("outputs that are wrong in check mode alone are WRONG", "[judge][checks]") {
    Tree tree;
    tree.let_it_tell();
    tree.replace("    CUDA_CHECK(cudaMemsetAsync(sum, 0, sizeof(float), stream));",
                 "    CUDA_CHECK(cudaMemsetAsync(sum, 0, sizeof(float), stream));\n"
                 "    if (is_watched()) return;");
    const RungResult result = tree.judge();
    CHECK(result.correctness.passed == result.correctness.cases);
    CHECK(result.verdict == Verdict::wrong);
    CHECK(result.points == 0);
    CHECK_FALSE(result.checks.done);
    CHECK_THAT(result.reason(), ContainsSubstring("in check mode, ") && ContainsSubstring("got 0, expected"));
}

TEST_CASE("a launcher finds the same stream, device and environment in run and check mode",
          "[judge][checks]") {
    // Where calls are counted the device is the modelled GPU.
    const bool anywhere = GENERATE(true, false);
    Tree tree;
    tree.replace("#include \"reduction.cuh\"", "#include <cstdlib>\n#include \"reduction.cuh\"");
    tree.replace("    const std::size_t blocks =",
                 "    int multiprocessors = 0;\n"
                 "    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);\n"
                 "    if (!stream || (multiprocessors != 16" +
                     std::string(anywhere ? " && multiprocessors != 132" : "") +
                     ")) throw 1;\n"
                     "    if ((terms.v == nullptr) != (n == 0)) throw 2;\n"
                     "    if (std::strtoull(std::getenv(\"RUNGS_SIMT_SEED\"), nullptr, 10) < 1000) throw 3;\n"
                     "    if (!std::getenv(\"RUNGS_SIMT_MULTIPROCESSORS\")) throw 4;\n"
                     "    const std::size_t blocks =");
    REQUIRE(tree.options.seed < 1000);  // so that it is no order's seed either
    const RungResult result = tree.judge();
    INFO(result.reason() << result.counters.why_not);
    CHECK(result.correctness.passed == result.correctness.cases);
    CHECK(result.checks.done);
    CHECK(result.verdict == (anywhere ? Verdict::ok : Verdict::suspect));
    CHECK(result.counters.done == anywhere);
}

TEST_CASE("where the manifest does not require it, a finding is shown and costs nothing", "[judge][checks]") {
    Tree tree;
    tree.manifest.check.required = false;
    tree.replace("    if (threadIdx.x == 0) atomicAdd(sum, partial[0]);",
                 "    if (threadIdx.x == 0) atomicAdd(sum, partial[0]);\n"
                 "    if (threadIdx.x % 32 == 5) __syncwarp(1u << 5 | 1u << 6);\n"
                 "    if (threadIdx.x % 32 == 6) __syncwarp(1u << 5 | 1u << 6);\n"
                 "    if (threadIdx.x < 2) partial[7] = static_cast<float>(threadIdx.x);");
    const RungResult result = tree.judge();
    INFO(result.reason());
    CHECK(result.verdict == Verdict::ok);
    CHECK(result.points == 15);
    REQUIRE_FALSE(result.checks.findings.empty());
    CHECK(result.checks.findings.front().severity == simt::check::Severity::error);
}

TEST_CASE("outputs that are right only while blocks do not overlap are WRONG", "[judge][checks]") {
    Tree tree;  // in check mode alone: elsewhere it is the schedule that decides
    tree.let_it_tell();
    tree.replace("    if (threadIdx.x == 0) atomicAdd(sum, partial[0]);",
                 "    if (threadIdx.x == 0) {\n"
                 "        if (!is_watched()) {\n"
                 "            atomicAdd(sum, partial[0]);\n"
                 "        } else {\n"
                 "            const float before = atomicExch(sum, 0.0f);\n"
                 "            atomicExch(sum, before + partial[0]);\n"
                 "        }\n"
                 "    }");
    const RungResult result = tree.judge();
    INFO(result.reason());
    CHECK(result.correctness.passed == result.correctness.cases);
    CHECK(result.verdict == Verdict::wrong);
    CHECK(result.points == 0);
    CHECK(result.correctness.varies);
    CHECK_THAT(result.reason(), ContainsSubstring("in check mode, ") && ContainsSubstring(", order ") &&
                                    ContainsSubstring("the same call gives different results: right while "
                                                      "blocks and warps run one after the other"));
}

TEST_CASE("a rung that promises the same bits in every run is held to it", "[judge][checks]") {
    Tree tree;  // its blocks call atomicAdd in the order in which they come
    for (RungEntry& rung : tree.manifest.rungs) rung.repeatable = true;
    const RungResult result = tree.judge();
    INFO(result.reason());
    CHECK(result.verdict == Verdict::wrong);
    CHECK(result.points == 0);
    CHECK_THAT(result.reason(), ContainsSubstring("not the same bits in every run"));

    const RungResult summit = Tree("01_reduction", "11_one_launch").judge();
    INFO(summit.reason());
    CHECK(summit.verdict == Verdict::ok);
    CHECK(summit.checks.done);
}

TEST_CASE("a rung that promises to report a launch that fails is held to it", "[judge][checks]") {
    Tree tree;
    for (RungEntry& rung : tree.manifest.rungs) rung.checks_launches = true;
    const RungResult reports = tree.judge();
    INFO(reports.reason());
    CHECK(reports.verdict == Verdict::ok);

    tree.replace("    CUDA_CHECK(cudaGetLastError());\n", "");
    const RungResult silent = tree.judge();
    INFO(silent.reason());
    CHECK(silent.verdict == Verdict::wrong);
    CHECK(silent.points == 0);
    CHECK_THAT(silent.reason(), ContainsSubstring("a launch that fails is not reported"));
}

TEST_CASE("a report that makes no sense is refused, however it is broken", "[judge][checks]") {
    const std::string good =
        R"({"findings": [{"tool": "racecheck", "severity": "error", "kind": "read-write", "kernel": "k",
            "side": {"file": "a.cu", "line": 3, "column": 0, "function": "k", "access": "write", "thread": [1, 2, 3],
                     "block": [0, 0, 0]}, "message": "m", "advice": "a", "count": 1}]})";
    const auto findings_in = [](const std::string& report) { return findings_of(parse_report(report)); };
    const auto findings = findings_in(good);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].side.thread.z == 3);
    CHECK(who(findings[0].side) == "thread (1,2,3) of block (0,0,0)");
    CHECK(verdict_of(findings[0]) == Verdict::race);
    CHECK(findings_in(R"({"findings": []})").empty());
    for (std::size_t cut = 0; cut < good.size(); cut += 7) {
        CHECK_THROWS_AS(findings_in(good.substr(0, cut)), std::runtime_error);
    }
    for (const char* bad :
         {"", "[]", "{}", "null", R"({"findings": 1})", R"({"findings": [1]})", R"({"findings": [{}]})"}) {
        CHECK_THROWS_AS(findings_in(bad), std::runtime_error);
    }
    const auto change = [&](const std::string& what, const std::string& with) {
        std::string text = good;
        text.replace(text.find(what), what.size(), with);
        return text;
    };
    CHECK_THROWS_AS(findings_in(change("racecheck", "lostcheck")), std::runtime_error);
    CHECK_THROWS_AS(findings_in(change("\"error\"", "\"fine\"")), std::runtime_error);
    CHECK_THROWS_AS(findings_in(change("\"line\": 3", "\"line\": \"3\"")), std::runtime_error);
    // Of what lies in a header that line is quoted which called it.
    auto called = findings_in(change(
        "\"a.cu\", \"line\": 3", "\"a.cuh\", \"line\": 3, \"caller_file\": \"a.cu\", \"caller_line\": 2"));
    REQUIRE(called.size() == 1);
    CHECK(caller_text(called[0].side.place) == ", called at a.cu:2");
    CHECK(caller_text(findings[0].side.place).empty());
    CHECK(findings_in(change("\"line\": 3", "\"line\": 3, \"caller_file\": \"a.cuh\", \"caller_line\": 2"))[0]
              .side.place.caller_file.empty());
    quote_source(called, "a.cu", "one\ntwo\nthree\n");
    CHECK(called[0].source == "two");
    CHECK_THROWS_AS(findings_in(change("\"line\": 3", "\"line\": 3, \"caller_file\": \"a.cu\"")),
                    std::runtime_error);
    // What a terminal must not see, and what would fill it.
    CHECK(findings_in(change("\"m\"", "\"\\u001b[2Jm\\nn\""))[0].message.find('\x1b') == std::string::npos);
    CHECK(findings_in(change("\"m\"", "\"" + std::string(100000, 'x') + "\""))[0].message.size() < 1000);
}

TEST_CASE("the finding that explains most comes first", "[judge][checks]") {
    using simt::check::Severity;
    using simt::check::Tool;
    const auto make = [](Tool tool, Severity severity, unsigned line) {
        QuotedFinding finding;
        finding.tool = tool;
        finding.severity = severity;
        finding.side.place = {"a.cu", line, 0, "k"};
        finding.array = "tile";
        return finding;
    };
    std::vector<QuotedFinding> findings{
        make(Tool::memcheck, Severity::warning, 1), make(Tool::initcheck, Severity::error, 2),
        make(Tool::racecheck, Severity::error, 3), make(Tool::synccheck, Severity::error, 4),
        make(Tool::memcheck, Severity::error, 5)};
    sort_findings(findings);
    std::vector<unsigned> lines;
    for (const QuotedFinding& finding : findings) lines.push_back(finding.side.place.line);
    CHECK(lines == std::vector<unsigned>{5, 4, 3, 2, 1});
    // A value that is missing where it is raced for is the race's doing.
    findings = {make(Tool::initcheck, Severity::error, 3), make(Tool::racecheck, Severity::error, 3)};
    sort_findings(findings);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].tool == Tool::racecheck);
    // Threads that have left are missing at the shuffle, too.
    findings = {make(Tool::synccheck, Severity::error, 3), make(Tool::synccheck, Severity::error, 4)};
    findings[0].kind = "inactive-lane";
    findings[1].kind = "exited-threads";
    sort_findings(findings);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].kind == "exited-threads");
}
