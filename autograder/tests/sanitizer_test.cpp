// What compute-sanitizer and ncu have printed on a GPU (autograder/tests/recorded: an NVIDIA H200,
// compute-sanitizer 2025.3.1, ncu of CUDA 13.0, of the kernels in recorded/faulty.cu), read as
// findings and numbers.

#include <fstream>
#include <iterator>
#include <string>

#include "judge/build/build.hpp"
#include "judge/counts.hpp"
#include "judge/judge.hpp"
#include "judge/sanitizer.hpp"
#include "program_fixture.hpp"
#include "rungs/catch.hpp"

using namespace rungs;
using namespace rungs::judge;
using namespace rungs::test;
using Catch::Matchers::ContainsSubstring;
using simt::check::Tool;

namespace {

std::string recorded(const std::string& name) {
    return TemporaryFolder::content_of(std::filesystem::path(RUNGS_ROOT) / "autograder/tests/recorded" /
                                       name);
}

QuotedFinding only(Tool tool, const std::string& name) {
    const auto findings = read_sanitizer(tool, recorded(name));
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].side.place.file == "faulty.cu");
    CHECK(findings[0].kernel == findings[0].side.place.function);
    CHECK_FALSE(findings[0].advice.empty());
    return findings[0];
}

}  // namespace

TEST_CASE("memcheck's words become findings", "[judge][sanitizer]") {
    const QuotedFinding past = only(Tool::memcheck, "memcheck.write_past_end.txt");
    CHECK(verdict_of(past) == Verdict::out_of_bounds);
    CHECK(past.kind == "out-of-bounds");
    CHECK(past.kernel == "write_past_end");
    CHECK(past.side.place.line == 7);
    CHECK(past.side.access == "write of 4 bytes");
    CHECK(past.side.thread.x == 232);
    CHECK(past.side.block.x == 3);
    CHECK_THAT(past.message, ContainsSubstring("behind an allocation of 4,000 bytes"));

    const QuotedFinding off = only(Tool::memcheck, "memcheck.read_misaligned.txt");
    CHECK(off.kind == "misaligned");
    CHECK(off.side.access == "read of 16 bytes");
    CHECK(off.count > 1);  // one finding for all threads

    const QuotedFinding shared = only(Tool::memcheck, "memcheck.write_shared_past_end.txt");
    CHECK_THAT(shared.message, ContainsSubstring("shared memory"));
    CHECK_THAT(only(Tool::memcheck, "memcheck.use_after_free.txt").message,
               ContainsSubstring("before an allocation"));
}

TEST_CASE("racecheck's and initcheck's words become findings", "[judge][sanitizer]") {
    const QuotedFinding race = only(Tool::racecheck, "racecheck.missing_barrier.txt");
    CHECK(verdict_of(race) == Verdict::race);
    CHECK(race.kind == "read-write");
    CHECK(race.side.access == "write");
    CHECK(race.side.place.line == 23);
    REQUIRE(race.has_other);
    CHECK(race.other.access == "read");
    CHECK(race.other.place.line == 24);
    CHECK(race.count == 512);

    const QuotedFinding missing = only(Tool::initcheck, "initcheck.read_unwritten.txt");
    CHECK(verdict_of(missing) == Verdict::uninit);
    CHECK(missing.side.access == "read of 4 bytes");
    CHECK(missing.side.place.line == 28);
}

TEST_CASE("synccheck's words become findings", "[judge][sanitizer]") {
    const auto barriers = read_sanitizer(Tool::synccheck, recorded("synccheck.two_barriers.txt"));
    REQUIRE(barriers.size() == 1);
    CHECK(barriers[0].kind == "divergent-barrier");
    CHECK(barriers[0].kernel == "two_barriers");
    CHECK(barriers[0].message == "Divergent thread(s) in warp.");
    CHECK(barriers[0].side.place.file == "sync.cu");
    CHECK(barriers[0].side.place.line == 27);
    CHECK(barriers[0].side.thread.x == 16);
    CHECK(barriers[0].count == 16);
    CHECK(verdict_of(barriers[0]) == Verdict::barrier);

    const auto masks = read_sanitizer(Tool::synccheck, recorded("synccheck.wrong_syncwarp.txt"));
    REQUIRE(masks.size() == 1);
    CHECK(masks[0].kind == "wrong-mask");
    CHECK(masks[0].side.place.function == "__syncwarp");  // without backtraces it names no line of the kernel
    CHECK(masks[0].count == 17);
}

TEST_CASE("a tool is not asked about what it is known to get wrong", "[judge][sanitizer]") {
    // What it reports of a loop in a graph would be a verdict without points.
    const auto misread = read_sanitizer(Tool::synccheck, recorded("synccheck.two_barriers.txt"));
    REQUIRE(misread.size() == 1);
    CHECK(verdict_of(misread[0]) == Verdict::barrier);

    using Tools = std::vector<Tool>;
    const std::string call = "cudaGraphConditionalHandleCreate(&again, graph, 1, 0);\n";
    const ToolChoice graph = tools_for("void f() {\n    " + call + "}\n");
    CHECK(graph.asked == Tools{Tool::memcheck, Tool::initcheck});
    CHECK_THAT(graph.left_out, ContainsSubstring("2025.3.1") &&
                                   ContainsSubstring("racecheck and synccheck are not asked") &&
                                   ContainsSubstring("the conditional nodes of graphs"));
    for (const std::string& other : {std::string(), "// " + call, "my" + call, "x();  // not " + call}) {
        CAPTURE(other);
        const ToolChoice all = tools_for(other);
        CHECK(all.asked == Tools{Tool::memcheck, Tool::racecheck, Tool::initcheck, Tool::synccheck});
        CHECK(all.left_out.empty());
    }

    std::vector<std::string> limited;
    const auto solutions = std::filesystem::path(RUNGS_ROOT) / "solutions";
    for (const auto& file : std::filesystem::recursive_directory_iterator(solutions)) {
        if (file.path().extension() != ".cu") continue;
        if (!tools_for(TemporaryFolder::content_of(file.path().string())).left_out.empty())
            limited.push_back(file.path().filename().string());
    }
    CHECK(limited == std::vector<std::string>{"08_graph.cu"});
}

TEST_CASE("findings and profiles call a kernel by its name alone", "[judge][sanitizer]") {
    std::string text = recorded("memcheck.write_past_end.txt");
    const std::string plain = "write_past_end(float *, int)";
    for (std::size_t at = 0; (at = text.find(plain, at)) != std::string::npos; at += plain.size())
        text.replace(at, plain.size(), "void past::end<(bool)1, float>(T2 *, int)");
    const auto findings = read_sanitizer(Tool::memcheck, text);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].kernel == "past::end<(bool)1, float>");
    CHECK(findings[0].side.place.line == 7);

    std::string table = recorded("ncu.strided.csv");
    const std::size_t at = table.find("strided(");
    REQUIRE(at != std::string::npos);
    for (std::size_t from = 0; (from = table.find("\"strided(", from)) != std::string::npos; ++from)
        table.replace(from + 1, table.find('"', from + 1) - from - 1, "void strided<int>(T1 *)");
    CHECK(read_ncu(table).at(0).kernel == "strided<int>");
}

TEST_CASE("a clean run has no findings", "[judge][sanitizer]") {
    CHECK(read_sanitizer(Tool::memcheck, recorded("memcheck.clean.txt")).empty());
    CHECK(read_sanitizer(Tool::racecheck, recorded("racecheck.clean.txt")).empty());
    CHECK(read_sanitizer(Tool::initcheck, recorded("initcheck.clean.txt")).empty());
    CHECK(read_sanitizer(Tool::synccheck, recorded("synccheck.clean.txt")).empty());
    // What the program prints is none of the tool's words.
    CHECK(read_sanitizer(Tool::memcheck, "Invalid __global__ write of size 4 bytes\n").empty());
    CHECK(read_sanitizer(Tool::memcheck, "").empty());
}

TEST_CASE("ncu's table becomes numbers", "[judge][sanitizer]") {
    const auto launches = read_ncu(recorded("ncu.strided.csv"));
    REQUIRE(launches.size() == 1);
    CHECK(launches[0].kernel == "strided");
    // Every 8th float: a sector of its own for each lane.
    CHECK(launches[0].metrics.at("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum") == 4);
    CHECK(launches[0].metrics.at("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum") == 128);
    CHECK(launches[0].metrics.at("dram__bytes_read.sum") == 6912);  // printed with a comma
    CHECK(read_ncu(recorded("ncu.shared.csv")).at(0).metrics.at("smsp__inst_executed_op_shared_ld.sum") == 4);

    CHECK_THROWS_WITH(read_ncu("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n"),
                      ContainsSubstring("may not read the GPU's counters"));
    CHECK_THROWS_WITH(read_ncu("==ERROR== 'x' does not exist or is not an executable.\n"),
                      ContainsSubstring("does not exist"));
    CHECK_THROWS_WITH(read_ncu(""), ContainsSubstring("no kernel"));
    CHECK_THROWS_WITH(read_ncu("\"ID\",\"Name\"\n"), ContainsSubstring("no column"));
}

TEST_CASE("without a GPU the tools say what is missing", "[program]") {
    const SmallWorkbook workbook;
    const Outcome sanitized = workbook.run({"check", "01/03", "--sanitize", "--as-root", "--backend", "cpu"});
    CHECK(sanitized.status == 3);
    CHECK_THAT(sanitized.err, ContainsSubstring("needs a GPU"));
    CHECK(workbook.run({"check", "01/03", "--sanitize", "--submission", "."}).status == 2);
    const Outcome profiled = workbook.run({"profile", "01/03", "--as-root"});
    CHECK(profiled.status == 3);
    CHECK_THAT(profiled.err, ContainsSubstring("ncu was not found") || ContainsSubstring("no cuda backend"));
}

TEST_CASE("as root a rung runs unconfined only where that is asked for", "[program]") {
    if (geteuid() != 0) RUNGS_SKIP("only root is warned");
    const SmallWorkbook workbook;
    for (const std::vector<std::string>& verb :
         std::vector<std::vector<std::string>>{{"check", "01/03", "--sanitize"}, {"profile", "01/03"}}) {
        const Outcome refused = workbook.run(verb);
        CHECK(refused.status == 2);
        CHECK_THAT(refused.err, ContainsSubstring("--as-root"));
        CHECK(refused.out.empty());
    }
}

TEST_CASE("a call that did not come back is not taken for one without findings", "[judge][sanitizer]") {
    const SmallWorkbook workbook;
    const Manifest manifest = read_manifest(workbook.folder.path() / "chapters/01_reduction");
    const RungEntry& rung = *manifest.find("03_shared_tree");
    JudgeOptions options;
    options.toolchain = read_toolchain(workbook.folder.path() / "build/toolchain.json");
    const std::unique_ptr<Exam> exam = exam_of(manifest);
    const Case which = case_to_count(manifest, rung, *exam);
    const auto came_back = [&](const std::string& source) {
        const auto file = workbook.folder.write("in/03_shared_tree.cu", source);
        const Build build = build_worker({manifest, rung, file, *exam, options}, Backend::cpu);
        INFO(build.diagnostics);
        REQUIRE_FALSE(build.executable.empty());
        const TaskFile task(which.problem, exam->make(which));
        CHECK_FALSE(task.came_back());
        const Outcome outcome =
            test::Process({build.executable.string(), task.path()}, workbook.setup()).finish();
        INFO(outcome.err);
        CHECK(outcome.status == 0);
        return task.came_back();
    };
    CHECK(came_back(workbook.solution));
    CHECK_FALSE(came_back("#include <unistd.h>\n" + workbook.solution_with("if (n > 0) _exit(0);")));
}
