// Counters in the judge and what is made of them: advice, pictures, the verbs explain and see.

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "beside_a_gpu.hpp"
#include "judge/counts.hpp"
#include "judge/result/report_json.hpp"
#include "judge_fixture.hpp"
#include "program_fixture.hpp"
#include "report/advice.hpp"
#include "report/pictures.hpp"
#include "rungs/catch.hpp"

using namespace rungs;
using namespace rungs::judge;
using namespace rungs::test;
using Catch::Matchers::ContainsSubstring;
using simt::check::Access;
using simt::check::ArrayCounters;
using simt::check::SiteCounters;
using simt::check::Space;
namespace fs = std::filesystem;

namespace {

/// The reference of 08_grid_stride, with some of its text replaced.
std::string changed(const std::vector<std::pair<std::string, std::string>>& replacements) {
    std::string text =
        TemporaryFolder::content_of(fs::path(RUNGS_ROOT) / "solutions/01_reduction/08_grid_stride.cu");
    for (const auto& [what, with] : replacements) text = replaced(text, what, with);
    return text;
}

/// Each thread reads a piece of its own: neighbours are far apart.
std::string strided() {
    return changed({{"most_blocks = 2048", "most_blocks = 16"},
                    {"for (std::size_t i = first; i < n; i += threads)",
                     "const std::size_t piece = (n + threads - 1) / threads;\n"
                     "    for (std::size_t i = first * piece; i < n && i < (first + 1) * piece; ++i)"}});
}

SiteCounters site(Space space, Access access, std::uint64_t lanes, std::uint64_t cost, std::uint64_t ideal) {
    SiteCounters made;
    made.place = {"a.cu", 7, 0, "k"};
    made.array = "tile";
    made.space = space;
    made.access = access;
    made.width = 4;
    made.requests = 10;
    made.lanes = 10 * lanes;
    if (space == Space::shared) {
        made.wavefronts = cost;
        made.ideal_wavefronts = ideal;
    } else {
        made.sectors = cost;
        made.ideal_sectors = ideal;
        made.useful_bytes = 4 * made.lanes;
    }
    return made;
}

Tally tally_of(const SiteCounters& one) {
    Tally tally;
    tally.host.launches = 1;
    tally.launches.emplace_back();
    tally.launches[0].sites = {one};
    tally.launches[0].warps = 1;
    return tally;
}

std::string rules(const Tally& mine, const Tally* reference = nullptr) {
    std::string text;
    for (const Advice& one : advise(mine, reference)) text += one.rule + ";";
    return text;
}

TraceStep step_of(Space space, long long pitch) {
    TraceStep step;
    step.place = {"a.cu", 7, 0, "k"};
    step.array = "tile";
    step.space = space;
    step.width = 4;
    step.lanes = 0xffffffffu;
    for (unsigned lane = 0; lane < 32; ++lane) step.offsets[lane] = pitch * lane;
    return step;
}

}  // namespace

TEST_CASE("strided access shows 32 sectors per request where the reference has 4", "[judge][counts]") {
    const Court bench("08_grid_stride");
    const RungResult result = bench.judge_text(strided());
    INFO(result.reason() << result.counters.why_not);
    REQUIRE(result.counters.done);
    REQUIRE(result.counters.reference);
    CHECK(result.counters.rung.total(Space::global, Access::read).sectors_per_request() > 31.5);
    const auto good = result.counters.reference->total(Space::global, Access::read);
    CHECK(good.sectors_per_request() <= 4.01);
    CHECK_THAT(rules(result.counters.rung, &*result.counters.reference), ContainsSubstring("stride"));
    // The model would have it as fast as the reference: a cache that keeps all lines forgives it.
    CHECK(result.verdict == Verdict::slow);
    CHECK(result.points == bench.rung().points / 2);
    CHECK_THAT(result.reason(), ContainsSubstring("load sectors where"));
    // Nor would a GPU have told: its values are right.
    const RungResult on_a_gpu = look_beside_a_gpu(bench, strided());
    CHECK(on_a_gpu.verdict == Verdict::slow);
    CHECK(on_a_gpu.counters.beyond == result.counters.beyond);
    CHECK_FALSE(on_a_gpu.modelled.done);
    // The line is the rung's, not the contract's that it calls.
    CHECK(result.counters.rung.lines().front().place.file == "08_grid_stride.cu");
    // The same numbers every time.
    std::string why_not;
    const auto again = count(bench.trial(bench.folder.path() / "08_grid_stride.cu"), why_not);
    REQUIRE(again);
    CHECK(again->total(Space::global).sectors == result.counters.rung.total(Space::global).sectors);
    CHECK(again->total(Space::shared).wavefronts == result.counters.rung.total(Space::shared).wavefronts);
    // One warp was followed, in the order in which it went.
    const WarpTrace& trace = again->trace;
    REQUIRE(trace.steps.size() > 5);
    CHECK(trace.requests.size() == 8);
    const TraceStep* worst = costliest(trace, Space::global);
    REQUIRE(worst);
    CHECK(sectors_of(*worst) == 32);
    for (std::size_t i = 1; i < trace.steps.size(); ++i)
        CHECK(trace.steps[i - 1].phase <= trace.steps[i].phase);
}

TEST_CASE("warps that do the same are drawn alike, however much one of them does", "[judge][counts]") {
    const Court bench("08_grid_stride");
    bench.judge_text(changed({{"most_blocks = 2048", "most_blocks = 1"}}));
    std::string why_not;
    const auto counted = count(bench.trial(bench.folder.path() / "08_grid_stride.cu"), why_not);
    INFO(why_not);
    REQUIRE(counted);
    const WarpTrace& trace = counted->trace;
    REQUIRE(trace.cut);
    REQUIRE(trace.requests.size() == 8);
    for (const std::vector<unsigned>& phases : trace.requests) {
        REQUIRE_FALSE(phases.empty());
        CHECK(phases[0] >= 200);
        CHECK(phases[0] == trace.requests[0][0]);
    }
}

TEST_CASE("a call that fails when it is counted first says why", "[judge][counts]") {
    const Court bench("08_grid_stride");
    const Case shown = case_to_count(bench.manifest, bench.rung(), *bench.exam);
    const std::size_t n = bench.exam->make(shown).inputs[0].count;
    const std::string before = "    if (blocks == 0) return;\n";
    bench.judge_text(changed(
        {{before, before + fmt::format("    if (n == {}) *static_cast<volatile int*>(nullptr) = 0;\n", n)}}));
    std::string why_not;
    CHECK_FALSE(count(bench.trial(bench.folder.path() / "08_grid_stride.cu"), why_not));
    CHECK_THAT(why_not, ContainsSubstring("08_grid_stride: "));
}

TEST_CASE("a neighbour of every small case is a case as well", "[judge][counts]") {
    std::set<std::string> moved;  // problems
    for (const Manifest& manifest : read_manifests(fs::path(RUNGS_ROOT) / "chapters")) {
        const std::unique_ptr<Exam> exam = exam_of(manifest);
        for (const RungEntry& rung : manifest.rungs) {
            for (const Case& which : manifest.cases_of(rung, Backend::cpu, 1)) {
                if (exam->work(which).size() > 1e6) continue;
                for (const std::uint64_t random : {std::uint64_t{0}, ~std::uint64_t{0}, random_seed()}) {
                    CAPTURE(which.problem, which.sizes, random);
                    const Case other = neighbour(*exam, which, random);
                    CHECK_NOTHROW(exam->make(other));
                    CHECK(exam->work(other).size() <= exam->work(which).size());
                    if (other == which) continue;
                    moved.insert(which.problem);
                    for (const std::size_t place : exam->extents(which)) {
                        CHECK(2 * other.sizes[place] >= which.sizes[place] - 1);
                        CHECK((other.sizes[place] == which.sizes[place] || other.sizes[place] % 2 == 1));
                    }
                }
            }
        }
        // All cases that are counted for the speed of rungs have one.
        for (const TimedCase& counted : manifest.modelled) {
            const Case which{counted.problem, counted.sizes, counted.kind};
            CHECK(neighbour(*exam, which, 12345).sizes != which.sizes);
        }
    }
    CHECK(moved.size() > 20);
}

TEST_CASE("who knows the answer to the case that is shown is SUSPECT", "[judge][counts]") {
    const Court bench("08_grid_stride");
    const Case shown = case_to_count(bench.manifest, bench.rung(), *bench.exam);
    const Task task = bench.exam->make(shown);
    const auto v = task.inputs[0].as<float>();
    const double sum = std::accumulate(v.begin(), v.end(), 0.0);
    const RungResult result = bench.judge_text(
        changed({{"    float mine = 0.0f;\n",
                  fmt::format("    float mine = 0.0f;\n"
                              "    if (n == {} && terms(0) == {:a}f && terms(1) == {:a}f) {{\n"
                              "        if (first == 0) *sum = {:.1f}f;\n        return;\n    }}\n",
                              v.size(), v[0], v[1], sum)}}));
    CHECK(result.verdict == Verdict::suspect);
    CHECK_FALSE(result.judged);
    CHECK(result.max_points == 15);
    CHECK_THAT(result.reason(), ContainsSubstring("on a secret input"));
}

TEST_CASE("speed that a submission keeps from being judged is part of the maximum", "[judge][counts]") {
    const Court bench("08_grid_stride");
    // The sum on the host, without a launch; dot products are as they should be.
    const RungResult result = bench.judge_text(
        changed({{"#include <algorithm>", "#include <algorithm>\n#include <vector>"},
                 {"    launch(Values{v}, sum, n, stream);",
                  "    std::vector<float> values(n);\n"
                  "    cudaMemcpyAsync(values.data(), v, n * 4, cudaMemcpyDeviceToHost, stream);\n"
                  "    cudaStreamSynchronize(stream);\n"
                  "    double total = 0;\n"
                  "    for (const float value : values) total += value;\n"
                  "    const auto rounded = static_cast<float>(total);\n"
                  "    cudaMemcpyAsync(sum, &rounded, 4, cudaMemcpyHostToDevice, stream);\n"
                  "    cudaStreamSynchronize(stream);"}}));
    INFO(result.reason());
    CHECK(result.correctness.passed == result.correctness.cases);
    CHECK(result.verdict == Verdict::suspect);
    CHECK(result.points == 0);
    CHECK(result.max_points == 15);
    CHECK_FALSE(result.modelled.done);
}

TEST_CASE("who lets the host compute beside a kernel that does nothing is SUSPECT on a GPU, too",
          "[judge][counts]") {
    const Court bench("08_grid_stride");
    const std::string host_beside_a_kernel = changed(
        {{"void reduction::grid_stride(const float* v, float* sum",
          "__global__ void idle_kernel() {}\n\nvoid reduction::grid_stride(const float* v, float* sum"},
         {"#include <algorithm>", "#include <algorithm>\n#include <vector>"},
         {"    launch(Values{v}, sum, n, stream);",
          "    std::vector<float> values(n);\n"
          "    CUDA_CHECK(cudaMemcpyAsync(values.data(), v, n * 4, cudaMemcpyDeviceToHost, stream));\n"
          "    CUDA_CHECK(cudaStreamSynchronize(stream));\n"
          "    double total = 0;\n"
          "    for (const float value : values) total += value;\n"
          "    const auto rounded = static_cast<float>(total);\n"
          "    idle_kernel<<<1, 32, 0, stream>>>();\n"
          "    CUDA_CHECK(cudaMemcpyAsync(sum, &rounded, 4, cudaMemcpyHostToDevice, stream));\n"
          "    CUDA_CHECK(cudaStreamSynchronize(stream));"}});
    const RungResult result = look_beside_a_gpu(bench, host_beside_a_kernel);
    CHECK(result.verdict == Verdict::suspect);
    CHECK_THAT(result.reason(), ContainsSubstring("perhaps computed by the host"));
}

TEST_CASE("each rule of advice speaks on its pattern and on no other", "[report][advice]") {
    CHECK(rules(tally_of(site(Space::global, Access::read, 32, 40, 40))) == "");
    CHECK(rules(tally_of(site(Space::global, Access::read, 32, 320, 40))) == "stride;");
    CHECK(rules(tally_of(site(Space::global, Access::read, 32, 50, 40))) == "misaligned;");
    CHECK(rules(tally_of(site(Space::global, Access::write, 32, 120, 40))) == "gaps;");
    CHECK(rules(tally_of(site(Space::shared, Access::read, 32, 10, 10))) == "");
    CHECK(rules(tally_of(site(Space::shared, Access::read, 32, 320, 10))) == "bank conflict;");
    SiteCounters atomic = site(Space::global, Access::atomic, 32, 10, 10);
    atomic.serial_steps = 320;
    CHECK(rules(tally_of(atomic)) == "atomics;");
    atomic.serial_steps = 10;
    CHECK(rules(tally_of(atomic)) == "");

    Tally mine = tally_of(site(Space::global, Access::read, 32, 40, 40));
    Tally reference = mine;
    CHECK(rules(mine, &reference) == "");
    mine.launches[0].basic_blocks = 10;
    mine.launches[0].active_lanes = 100;
    CHECK(rules(mine, &reference) == "divergence;");
    const Tally alike = mine;
    CHECK(rules(mine, &alike) == "");
    mine = reference;
    mine.launches[0].barriers = 100;
    CHECK(rules(mine, &reference) == "barriers;");
    // One more for each tile is one too many.
    Tally two = reference;
    mine.launches[0].barriers = 8, two.launches[0].barriers = 4;
    CHECK(rules(mine, &two) == "barriers;");
    two.launches[0].barriers = 6;
    CHECK(rules(mine, &two) == "");
    mine = reference;
    mine.host.launches = 3;
    CHECK(rules(mine, &reference) == "launches;");
    mine = two = reference;
    mine.launches[0].threads = 4096, mine.launches[0].blocks = 16;
    two.launches[0].threads = 2048, two.launches[0].blocks = 8;
    CHECK(rules(mine, &two) == "threads;");
    two.launches[0].threads = 4096;
    CHECK(rules(mine, &two) == "");
    // What is used again was read again, at no line's fault: each costs no more than it has to.
    reference = tally_of(site(Space::shared, Access::read, 32, 10, 10));
    mine = tally_of(site(Space::shared, Access::read, 32, 10, 10));
    CHECK(rules(mine, &reference) == "");
    mine.launches[0].sites.assign(4, mine.launches[0].sites[0]);
    SiteCounters constants = site(Space::constant, Access::read, 32, 1000, 1000);
    constants.place.line = 7;
    mine.launches[0].sites.push_back(constants);
    for (unsigned i = 0; i < 4; ++i) mine.launches[0].sites[i].place.line = 1 + i;
    mine.launches[0].sites[2].requests *= 2;
    const std::vector<Advice> all = advise(mine, &reference);
    const auto again =
        std::find_if(all.begin(), all.end(), [](const Advice& one) { return one.rule == "shared requests"; });
    REQUIRE(again != all.end());
    CHECK(again->line == 3);
    CHECK_THAT(again->text, ContainsSubstring(" into a variable"));
}

TEST_CASE("pictures say in words what they draw", "[report][pictures]") {
    CHECK(sectors_of(step_of(Space::global, 4)) == 4);
    CHECK(sectors_of(step_of(Space::global, 128)) == 32);
    CHECK(depth_of(step_of(Space::shared, 4)) == 1);
    CHECK(depth_of(step_of(Space::shared, 128)) == 32);
    CHECK(depth_of(step_of(Space::shared, 132)) == 1);  // the padded row
    CHECK(depth_of(step_of(Space::shared, 8)) == 2);
    CHECK_THAT(sectors_svg(step_of(Space::global, 128)), ContainsSubstring("32 lanes, 32 sectors"));
    CHECK_THAT(sectors_svg(step_of(Space::global, 4)),
               ContainsSubstring("128 of 128 bytes that move are used"));
    CHECK_THAT(banks_svg(step_of(Space::shared, 128)), ContainsSubstring("32-way bank conflict"));
    CHECK_THAT(banks_svg(step_of(Space::shared, 4)), ContainsSubstring("no bank conflict"));
    CHECK(sectors_svg(step_of(Space::shared, 4)).empty());
    CHECK(banks_svg(step_of(Space::global, 4)).empty());
    CHECK(lanes_svg({}).empty());
    CHECK(timeline_svg({}).empty());
    // Names come from a submission.
    TraceStep hostile = step_of(Space::global, 4);
    hostile.array = "<script>&\"";
    CHECK(sectors_svg(hostile).find("<script>") == std::string::npos);
    for (const std::string& svg :
         {sectors_svg(step_of(Space::global, 4)), banks_svg(step_of(Space::shared, 128))}) {
        CHECK_THAT(svg, ContainsSubstring("prefers-color-scheme:dark"));
        CHECK_THAT(svg, ContainsSubstring("<title>"));
        CHECK_THAT(svg, ContainsSubstring("width=\"760\" height="));  // else a page stretches it
    }
}

TEST_CASE("what kernels move and what the host sees are told apart", "[judge][counts]") {
    Tally tally;
    tally.host.bytes_to_host = 100;
    tally.launches.resize(2);
    ArrayCounters array;
    array.read_sectors = 5;
    array.written_sectors = 2;
    array.touched_sectors = 6;
    tally.launches[0].arrays = {array};
    array.on_host = true;
    tally.launches[1].arrays = {array};
    tally.launches[1].sites = {site(Space::global, Access::read, 32, 40, 40)};
    CHECK(tally.moved_by_kernels() == 2 * 7 * 32);
    CHECK(tally.seen_by_host() == 100 + 2 * 32);
    SiteCounters constants = site(Space::constant, Access::read, 32, 1, 1);
    constants.useful_bytes = 40;
    tally.launches[1].sites.push_back(constants);
    CHECK(tally.moved_by_kernels() == 2 * 7 * 32 + 40);
}

TEST_CASE("counters that make no sense are refused", "[judge][counts]") {
    for (const char* bad : {"", "{}", "[]", R"({"launches": 1})", R"({"launches": [{}]})"}) {
        CHECK_THROWS_AS(tally_of(parse_report(bad)), std::runtime_error);
    }
}

TEST_CASE("explain shows counters in the margin, see writes pictures", "[program][judge]") {
    const SmallWorkbook workbook;
    const Outcome good = workbook.run({"explain", "01/03", "--solution", "--json", "explain.json"});
    INFO(good.out << good.err);
    REQUIRE(good.status == 0);
    for (const char* text :
         {"Hottest lines", "share", "partial[threadIdx.x] +=", "What to try", "./rungs see 01/03"}) {
        CHECK_THAT(good.out, ContainsSubstring(text));
    }
    CHECK(good.out.find('\033') == std::string::npos);
    const auto json = nlohmann::json::parse(workbook.folder.read("explain.json"));
    CHECK(json["schema"] == "rungs.explain/1");
    CHECK(json["counters"]["rung"]["launches"] == 1);

    const Outcome seen = workbook.run({"see", "01/03", "--solution", "--out", "pictures"});
    INFO(seen.out << seen.err);
    REQUIRE(seen.status == 0);
    CHECK(workbook.folder.listing("pictures") ==
          "01_03_banks.svg 01_03_lanes.svg 01_03_sectors.svg 01_03_timeline.svg");
    CHECK(workbook.run({"see", "01/03", "--solution", "--line", "1"}).status == 2);
    CHECK(workbook.run({"see", "01/03", "--solution", "--warp", "77"}).status == 3);
    CHECK(workbook.run({"explain", "01"}).status == 2);
}
