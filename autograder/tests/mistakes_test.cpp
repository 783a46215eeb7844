// Typical mistakes: each chapter that has exam/mistakes.toml lists changes of its reference rungs, with
// the verdict and the cause that a student has to get for them.

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "cases/slice.hpp"
#include "judge_fixture.hpp"
#include "rungs/catch.hpp"
#include "rungs/toml.hpp"

namespace rungs::judge {
namespace {

namespace fs = std::filesystem;

struct Mistake {
    std::string rung, name, source, verdict;
    std::vector<std::vector<std::string>> told;  ///< of each, one; which of them may depend on the schedule
    std::string why;                             ///< it is not found, where that is so
};

/// The reference of a rung, or the file of a given one, as a student would hand it in under another rung's
/// name: with that one's launchers.
std::string code_of(const std::string& chapter, const std::string& from, const std::string& name) {
    const fs::path root = RUNGS_ROOT;
    const fs::path solution = root / "solutions" / chapter / (from + ".cu");
    std::string text = TemporaryFolder::content_of(
        fs::exists(solution) ? solution : root / "chapters" / chapter / (from + ".cu"));
    const std::string theirs = "::" + from.substr(3) + "(", ours = "::" + name.substr(3) + "(";
    for (std::size_t at = 0; (at = text.find(theirs, at)) != std::string::npos; at += ours.size())
        text.replace(at, theirs.size(), ours);
    return text;
}

/// Of a string, which must not be empty: that stands in every text.
std::string words_in(const toml::node& text) {
    const std::string words = text.value_or("");
    INFO(text.source());
    REQUIRE_FALSE(words.empty());
    return words;
}

/// A string, or an array of strings of which one is enough.
std::vector<std::string> any_of(const toml::node& words) {
    const toml::array* several = words.as_array();
    if (!several) return {words_in(words)};
    std::vector<std::string> all;
    for (const toml::node& one : *several) all.push_back(words_in(one));
    return all;
}

std::vector<Mistake> read_mistakes(const fs::path& file, const std::string& chapter) {
    const toml::table table = toml::parse_file(file.string());
    std::vector<Mistake> mistakes;
    for (const toml::node& node : *table["mistake"].as_array()) {
        const toml::table& entry = *node.as_table();
        Mistake made{.rung = entry["rung"].value_or(""),
                     .name = entry["name"].value_or(""),
                     .source = {},
                     .verdict = entry["verdict"].value_or(""),
                     .told = {},
                     .why = entry["why"].value_or("")};
        made.source = code_of(chapter, entry["code_of"].value_or(made.rung), made.rung);
        if (const toml::array* changes = entry["change"].as_array()) {
            for (const toml::node& change : *changes) {
                const toml::array& pair = *change.as_array();
                made.source = replaced(made.source, pair[0].value_or(""), pair[1].value_or(""));
            }
        }
        if (const toml::array* told = entry["told"].as_array())
            for (const toml::node& words : *told) made.told.push_back(any_of(words));
        mistakes.push_back(std::move(made));
    }
    return mistakes;
}

fs::path file_of(const std::string& chapter) {
    return fs::path(RUNGS_ROOT) / "chapters" / chapter / "exam/mistakes.toml";
}

std::vector<std::string> chapters_with_mistakes() {
    std::vector<std::string> chapters;
    for (const auto& entry : fs::directory_iterator(fs::path(RUNGS_ROOT) / "chapters")) {
        const std::string chapter = entry.path().filename().string();
        if (fs::exists(file_of(chapter))) chapters.push_back(chapter);
    }
    return chapters;
}

/// Those that this run of the tests tries. The slice is chosen before anything is compiled.
std::vector<Mistake> in_slice(std::vector<Mistake> mistakes, const std::string& chapter) {
    std::vector<Slice::Case> cases;
    for (const Mistake& mistake : mistakes)
        cases.push_back({chapter + "/" + mistake.rung + ": " + mistake.name,
                         {"solutions/" + chapter + "/" + mistake.rung + ".cu", "mistake: " + mistake.name}});
    const std::vector<bool> tried = Slice::of_environment().choose("mistakes in " + chapter, cases);
    std::size_t at = 0;
    std::erase_if(mistakes, [&](const Mistake&) { return !tried[at++]; });
    return mistakes;
}

/// All that the report of a verdict says of its cause.
std::string words_of(const RungResult& result) {
    std::string words;
    for (const Cause& cause : result.causes) words += cause.text + '\n' + cause.likely + '\n';
    for (const auto& finding : result.checks.findings)
        words += finding.message + '\n' + finding.advice + '\n';
    return words;
}

}  // namespace

// Takes seconds per mistake, and all cores; CTest has a test of its own for each chapter.
TEST_CASE("mistakes get their verdict and are told their cause", "[.][mistakes]") {
    for (const std::string& chapter : chapters_with_mistakes()) {
        DYNAMIC_SECTION(chapter) {
            const std::vector<Mistake> mistakes = in_slice(read_mistakes(file_of(chapter), chapter), chapter);
            CHECK_FALSE(mistakes.empty());
            std::vector<RungResult> results(mistakes.size());
            std::atomic<std::size_t> next{0};
            std::vector<std::thread> judges;
            for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i) {
                judges.emplace_back([&] {
                    for (std::size_t at; (at = next++) < mistakes.size();) {
                        const Court court(mistakes[at].rung, chapter);
                        results[at] = court.judge_text(mistakes[at].source);
                    }
                });
            }
            for (std::thread& judge : judges) judge.join();
            for (std::size_t i = 0; i < mistakes.size(); ++i) {
                const Mistake& mistake = mistakes[i];
                const std::string words = words_of(results[i]);
                CAPTURE(mistake.rung, mistake.name, words);
                CHECK(name_of(results[i].verdict) == mistake.verdict);
                CHECK(mistake.told.empty() != mistake.why.empty());
                if (mistake.verdict == "SLOW") {
                    CHECK(results[i].points < results[i].max_points);
                } else if (mistake.verdict != "OK") {
                    CHECK(results[i].points == 0);
                }
                for (const std::vector<std::string>& told : mistake.told) {
                    CAPTURE(told);
                    CHECK(std::any_of(told.begin(), told.end(), [&](const std::string& one) {
                        return words.find(one) != std::string::npos;
                    }));
                }
            }
        }
    }
}

}  // namespace rungs::judge
