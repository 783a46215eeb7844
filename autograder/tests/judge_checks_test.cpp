// Check mode in the judge: faults that the values may or may not show, each with its verdict and its lines.

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "findings.hpp"
#include "judge.hpp"
#include "rungs/catch.hpp"
#include "source.hpp"

using namespace rungs;
using namespace rungs::judge;
using Catch::Matchers::ContainsSubstring;
namespace fs = std::filesystem;

namespace {

/// Judges changed copies of the reference of 03_shared_tree, a tree in shared memory.
class Tree {
  public:
    Tree() {
        options.toolchain = read_toolchain(fs::path(RUNGS_BUILD) / "toolchain.json");
        options.key = 42;
        manifest = read_manifest(fs::path(RUNGS_ROOT) / "chapters" / "01_reduction");
        for (const RegisteredExam& entry : registered_exams()) {
            if (entry.chapter == manifest.chapter) exam_ = entry.make();
        }
        std::ifstream in(source_of(manifest, rung(), RUNGS_ROOT, Whose::solution));
        text = {std::istreambuf_iterator<char>(in), {}};
        std::string name = (fs::temp_directory_path() / "rungs_checks_test_XXXXXX").string();
        folder_ = mkdtemp(name.data());
    }
    ~Tree() {
        std::error_code ignored;
        fs::remove_all(folder_, ignored);
    }

    const RungEntry& rung() const { return *manifest.find("03_shared_tree"); }

    Tree& replace(const std::string& what, const std::string& with) {
        const std::size_t at = text.find(what);
        INFO("'" << what << "' must stand in the reference of 03_shared_tree");
        REQUIRE(at != std::string::npos);
        text.replace(at, what.size(), with);
        return *this;
    }

    RungResult judge() const {
        const fs::path file = folder_ / "03_shared_tree.cu";
        std::ofstream(file, std::ios::binary) << text;
        return judge_rung(manifest, rung(), file, *exam_, options);
    }

    /// Number of the first line that contains `words`.
    unsigned line(const std::string& words) const {
        const std::size_t at = text.find(words);
        REQUIRE(at != std::string::npos);
        return 1 + static_cast<unsigned>(
                       std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
    }

    JudgeOptions options;
    Manifest manifest;
    std::string text;

  private:
    std::unique_ptr<Exam> exam_;
    fs::path folder_;
};

void check_lost(const RungResult& result) {
    CHECK(result.judged);
    CHECK(result.points == 0);
    CHECK(result.max_points == 15);
    CHECK(result.checks.done);
    REQUIRE_FALSE(result.checks.findings.empty());
    CHECK(result.reason == in_one_line(result.checks.findings.front()));
    CHECK_FALSE(result.checks.found_in.empty());
}

}  // namespace

TEST_CASE("the reference is clean, in all cases and orders", "[judge][checks]") {
    const RungResult result = Tree().judge();
    INFO(result.reason);
    CHECK(result.verdict == Verdict::ok);
    CHECK(result.points == 15);
    CHECK(result.checks.done);
    CHECK(result.checks.findings.empty());
    CHECK(result.checks.cases == result.checks.of);
    CHECK(result.checks.cases >= 30);
    CHECK(result.checks.orders == 3);
    CHECK_THAT(result.checks.tool, ContainsSubstring("check mode, "));
}

TEST_CASE("a launch that forgets its stream is RACE", "[judge][checks]") {
    Tree tree;
    const RungResult result = tree.replace("0, stream>>>", "0>>>").judge();
    INFO(result.reason);
    CHECK(result.verdict == Verdict::race);
    check_lost(result);
    CHECK_THAT(result.reason, ContainsSubstring("in the default stream") && ContainsSubstring("in stream "));
}

TEST_CASE("a rung that uses the default stream alone is RACE with what reads its output", "[judge][checks]") {
    Tree tree;
    const RungResult result =
        tree.replace("0, stream>>>", "0>>>").replace("sizeof(float), stream)", "sizeof(float))").judge();
    INFO(result.reason);
    CHECK(result.verdict == Verdict::race);
    check_lost(result);
    CHECK_THAT(result.reason, ContainsSubstring("in the default stream") &&
                                  ContainsSubstring("by cudaMemcpyAsync in stream "));
}

TEST_CASE("a removed __syncthreads is RACE, with both lines", "[judge][checks]") {
    Tree tree;
    const RungResult result = tree.replace("__syncthreads();", "").judge();
    CHECK(result.verdict == Verdict::race);
    check_lost(result);
    const Finding& race = result.checks.findings.front();
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
    for (const Finding& finding : result.checks.findings) CHECK(finding.kind != "uninitialised");
}

TEST_CASE("a loop that never ends is TIMEOUT, with its line", "[judge][checks]") {
    Tree tree;
    tree.options.time_limit = 2;
    const RungResult result = tree.replace("stride > 0", "stride < 1000").judge();
    CHECK(result.verdict == Verdict::timeout);
    check_lost(result);
    const Finding& loop = result.checks.findings.front();
    CHECK(loop.kind == "timeout");
    CHECK(loop.kernel == "shared_tree_kernel");
    const unsigned first = tree.line("for (unsigned stride");
    CHECK(loop.side.place.line >= first);
    CHECK(loop.side.place.line <= first + 3);
}

TEST_CASE("a race whose sums are right all the same is RACE", "[judge][checks]") {
    // Lane 0 adds the warp's sum that lane 1 has left, waits until it is there, and so is never wrong here.
    Tree tree;
    tree.replace("    if (threadIdx.x == 0) atomicAdd(sum, partial[0]);",
                 "    __syncthreads();\n"
                 "    __shared__ volatile int ready;\n"
                 "    if (threadIdx.x == 1) ready = 0;\n"
                 "    __syncthreads();\n"
                 "    if (threadIdx.x == 64) { partial[9] = partial[0]; ready = 1; }\n"
                 "    if (threadIdx.x == 0) {\n"
                 "        while (ready == 0) {}\n"
                 "        atomicAdd(sum, partial[9]);\n"
                 "    }");
    const RungResult result = tree.judge();
    INFO(result.reason);
    CHECK(result.correctness.passed == result.correctness.cases);
    CHECK(result.verdict == Verdict::race);
    check_lost(result);
}

TEST_CASE("an access past the end is OOB, with array and index", "[judge][checks]") {
    Tree tree;
    const RungResult result = tree.replace("i < n ? terms(i)", "i <= n ? terms(i)").judge();
    CHECK(result.verdict == Verdict::out_of_bounds);
    check_lost(result);
    const Finding& finding = result.checks.findings.front();
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
    const Finding& finding = result.checks.findings.front();
    CHECK(finding.side.place.line == tree.line("// the busy ones"));
    CHECK(finding.other.place.line == tree.line("// the idle ones"));
}

TEST_CASE("threads that wait for each other are DEADLOCK", "[judge][checks]") {
    const RungResult result =
        Tree()
            .replace("    for (unsigned stride",
                     "    if (threadIdx.x < 16) __syncwarp(0xffffffffu);\n    for (unsigned stride")
            .judge();
    INFO(result.reason);
    CHECK(result.verdict == Verdict::deadlock);
    check_lost(result);
}

TEST_CASE("a loop that ends in run mode alone is TIMEOUT", "[judge][checks]") {
    Tree tree;
    tree.options.time_limit = 2;
    // Shared memory of run mode starts with the same garbage in every block; what check mode has there is its
    // own.
    tree.replace("    if (threadIdx.x == 0) atomicAdd(sum, partial[0]);",
                 "    if (sizeof(float4) && !__is_trivially_copyable(float4)) for (volatile int k = 0;; k = "
                 "k + 1) {}\n"
                 "    if (threadIdx.x == 0) atomicAdd(sum, partial[0]);");
    const RungResult result = tree.judge();
    INFO(result.reason);
    CHECK(result.correctness.passed == result.correctness.cases);
    CHECK(result.verdict == Verdict::timeout);
    CHECK(result.points == 0);
    CHECK_THAT(result.reason, ContainsSubstring("in check mode"));
}

TEST_CASE("a worker that ends in check mode alone is for a human to see", "[judge][checks]") {
    Tree tree;
    tree.replace("    const std::size_t blocks =",
                 "    if (!__is_trivially_copyable(float4)) throw 1;\n    const std::size_t blocks =");
    const RungResult result = tree.judge();
    CHECK(result.correctness.passed == result.correctness.cases);
    CHECK(result.verdict == Verdict::suspect);
    CHECK_FALSE(result.judged);
    CHECK(result.points == 0);
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
    INFO(result.reason);
    CHECK(result.verdict == Verdict::ok);
    CHECK(result.points == 15);
    REQUIRE_FALSE(result.checks.findings.empty());
    CHECK(result.checks.findings.front().severity == simt::check::Severity::error);
}

TEST_CASE("a report without sense is refused, however it is broken", "[judge][checks]") {
    const std::string good =
        R"({"findings": [{"tool": "racecheck", "severity": "error", "kind": "read-write", "kernel": "k",
            "side": {"file": "a.cu", "line": 3, "column": 0, "function": "k", "access": "write", "thread": [1, 2, 3],
                     "block": [0, 0, 0]}, "message": "m", "advice": "a", "count": 1}]})";
    const auto findings = read_findings(good);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].side.thread.z == 3);
    CHECK(who(findings[0].side) == "thread (1,2,3) of block (0,0,0)");
    CHECK(verdict_of(findings[0]) == Verdict::race);
    CHECK(read_findings(R"({"findings": []})").empty());
    for (std::size_t cut = 0; cut < good.size(); cut += 7) {
        CHECK_THROWS_AS(read_findings(good.substr(0, cut)), std::runtime_error);
    }
    for (const char* bad :
         {"", "[]", "{}", "null", R"({"findings": 1})", R"({"findings": [1]})", R"({"findings": [{}]})"}) {
        CHECK_THROWS_AS(read_findings(bad), std::runtime_error);
    }
    const auto change = [&](const std::string& what, const std::string& with) {
        std::string text = good;
        text.replace(text.find(what), what.size(), with);
        return text;
    };
    CHECK_THROWS_AS(read_findings(change("racecheck", "lostcheck")), std::runtime_error);
    CHECK_THROWS_AS(read_findings(change("\"error\"", "\"fine\"")), std::runtime_error);
    CHECK_THROWS_AS(read_findings(change("\"line\": 3", "\"line\": \"3\"")), std::runtime_error);
    // What a terminal must not see, and what would fill it.
    CHECK(read_findings(change("\"m\"", "\"\\u001b[2Jm\\nn\""))[0].message.find('\x1b') == std::string::npos);
    CHECK(read_findings(change("\"m\"", "\"" + std::string(100000, 'x') + "\""))[0].message.size() < 1000);
}

TEST_CASE("the finding that explains most comes first", "[judge][checks]") {
    using simt::check::Severity;
    using simt::check::Tool;
    const auto make = [](Tool tool, Severity severity, unsigned line) {
        Finding finding;
        finding.tool = tool;
        finding.severity = severity;
        finding.side.place = {"a.cu", line, 0, "k"};
        finding.array = "tile";
        return finding;
    };
    std::vector<Finding> findings{
        make(Tool::memcheck, Severity::warning, 1), make(Tool::initcheck, Severity::error, 2),
        make(Tool::racecheck, Severity::error, 3), make(Tool::synccheck, Severity::error, 4),
        make(Tool::memcheck, Severity::error, 5)};
    sort_findings(findings);
    std::vector<unsigned> lines;
    for (const Finding& finding : findings) lines.push_back(finding.side.place.line);
    CHECK(lines == std::vector<unsigned>{5, 4, 3, 2, 1});
    // A value that is missing where it is raced for is the race's doing.
    findings = {make(Tool::initcheck, Severity::error, 3), make(Tool::racecheck, Severity::error, 3)};
    sort_findings(findings);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].tool == Tool::racecheck);
}
