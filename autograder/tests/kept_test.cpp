// A verdict that is kept says the same as the one that was found, to every reader.

#include <fstream>
#include <string>

#include "judge/result/kept.hpp"
#include "judge_fixture.hpp"
#include "report/report.hpp"
#include "report_sample.hpp"

namespace rungs::judge {
namespace {

/// All that reports say about a rung, except the time it took.
std::string everything(const RungResult& result) {
    RungReport rung;
    rung.result = result;
    rung.result.seconds = rung.result.build_seconds = 0;
    rung.result.profile = {};
    rung.result.cached = false;
    Report report;
    report.rungs.push_back(rung);
    return json_text(report) + to_html(report);
}

RungResult kept(const std::filesystem::path& cache, const RungResult& result) {
    keep_verdict(cache, "key", result);
    const std::optional<RungResult> read = kept_verdict(cache, "key");
    REQUIRE(read);
    return *read;
}

TEST_CASE("a kept verdict says what was found", "[judge][kept]") {
    const Court court;
    const std::string right = read_file(court.solution());
    for (const std::string& text :
         {right, replaced(right, "__syncthreads();", ""), replaced(right, "static", "statik")}) {
        const RungResult result = court.judge_text(text);
        CHECK(everything(kept(court.folder.path(), result)) == everything(result));
    }
    for (const RungReport& sample : test::sample_report().rungs) {
        if (!sample.result.judged) continue;
        CHECK(everything(kept(court.folder.path(), sample.result)) == everything(sample.result));
    }
}

TEST_CASE("what is not the student's alone is judged again", "[judge][kept]") {
    const TemporaryFolder cache;
    RungResult result;
    result.decide({.kind = Verdict::infra, .text = "no memory"});
    keep_verdict(cache.path(), "key", result);
    CHECK_FALSE(kept_verdict(cache.path(), "key"));
    result.decide({.kind = Verdict::timeout, .text = "a call did not come back"});
    result.judged = true;
    keep_verdict(cache.path(), "key", result);
    CHECK_FALSE(kept_verdict(cache.path(), "key"));
    RungResult half_told;
    half_told.judged = true;
    half_told.checks.unread = "as its reader was ended by signal 11";
    keep_verdict(cache.path(), "key", half_told);
    CHECK_FALSE(kept_verdict(cache.path(), "key"));
    half_told.checks.unread.clear();
    keep_verdict(cache.path(), "whole", half_told);
    CHECK(kept_verdict(cache.path(), "whole"));
    std::filesystem::create_directories(cache.path() / "verdicts");
    std::ofstream(cache.path() / "verdicts" / "key") << "half a ver";
    CHECK_FALSE(kept_verdict(cache.path(), "key"));
}

TEST_CASE("a verdict is kept under all that it follows from", "[judge][kept]") {
    const Court court;
    const auto key = [&](const std::string& text) {
        return verdict_key(court.manifest, court.rung(), court.folder.write("03_shared_tree.cu", text),
                           court.options);
    };
    const std::string right = read_file(court.solution());
    const std::optional<std::string> first = key(right);
    REQUIRE(first);
    CHECK(key(right) == first);
    CHECK(key(right + "\n") != first);
    JudgeOptions other = court.options;
    other.backend = Backend::cuda;
    CHECK_FALSE(verdict_key(court.manifest, court.rung(), court.solution(), other));
    const Court predict("07_three_trees");
    CHECK_FALSE(verdict_key(predict.manifest, predict.rung(), predict.solution(), predict.options));
    CHECK_FALSE(verdict_key(court.manifest, court.rung(), court.folder.path() / "none.cu", court.options));
}

}  // namespace
}  // namespace rungs::judge
