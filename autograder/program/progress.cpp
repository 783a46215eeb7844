#include "program/progress.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdlib>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "judge/build/hash.hpp"
#include "judge/result/points.hpp"
#include "report/report.hpp"
#include "report/text.hpp"
#include "rungs/atomic_file.hpp"

namespace rungs {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* schema = "rungs.progress/1";

}  // namespace

std::string fingerprint(const fs::path& file) {
    try {
        return judge::Sha256().add(read_file(file)).hex();
    } catch (const FileError&) {
        return {};
    }
}

fs::path progress_file(const Workbook& workbook) {
    if (const char* state = std::getenv("XDG_STATE_HOME"); state && *state == '/') {
        // Two clones are two workbooks.
        return fs::path(state) / "rungs" / judge::Sha256().add(workbook.root().string()).hex().substr(0, 16) /
               "progress.json";
    }
    return workbook.toolchain.build / "progress.json";
}

std::map<std::string, RungProgress> read_progress(const Workbook& workbook) {
    std::map<std::string, RungProgress> progress;
    try {
        const Json file = Json::parse(read_file(progress_file(workbook)));
        if (file.at("schema") != schema) return progress;
        for (const auto& [rung, entry] : file.at("rungs").items()) {
            RungProgress& one = progress[rung];
            one.verdict = entry.at("verdict").get<std::string>();
            one.reason = entry.at("reason").get<std::string>();
            one.points = entry.at("points").get<double>();
            one.max_points = entry.at("max_points").get<double>();
            one.backend = entry.at("backend").get<std::string>();
            one.content = entry.at("content").get<std::string>();
            one.hints = entry.at("hints").get<int>();
            one.revealed = entry.value("revealed", -1.0);
        }
    } catch (const FileError&) {
    } catch (const Json::exception&) {
        progress.clear();
    }
    return progress;
}

namespace detail {

ProgressLock::ProgressLock(const fs::path& file) {
    std::error_code error;
    fs::create_directories(file.parent_path(), error);
    descriptor_ = open((file.string() + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor_ >= 0) flock(descriptor_, LOCK_EX);
}

ProgressLock::~ProgressLock() {
    if (descriptor_ >= 0) close(descriptor_);
}

std::string write_progress(const Workbook& workbook, const std::map<std::string, RungProgress>& progress) {
    Json rungs = Json::object();
    for (const auto& [name, one] : progress) {
        rungs[name] = {{"verdict", one.verdict}, {"reason", clean_utf8(one.reason)},
                       {"points", one.points},   {"max_points", one.max_points},
                       {"backend", one.backend}, {"content", one.content},
                       {"hints", one.hints},     {"revealed", one.revealed}};
    }
    try {
        fs::create_directories(progress_file(workbook).parent_path());
        write_file(progress_file(workbook), Json{{"schema", schema}, {"rungs", rungs}}.dump(2) + '\n');
    } catch (const std::runtime_error& error) {  // FileError, filesystem_error
        return error.what();
    }
    return {};
}

}  // namespace detail

std::string grade_answers_once(const Workbook& workbook, const Chosen& chosen, judge::RungResult& result) {
    if (result.predictions.empty()) return {};
    std::string open;
    for (const judge::Prediction& one : result.predictions)
        if (!one.answer) open += (open.empty() ? "" : ", ") + one.name;
    if (!open.empty()) {
        result.predictions.clear();
        result.points = 0;
        result.causes.front().text = "not answered yet: " + open + "; answers are graded once all are given";
        return {};
    }
    double graded = -1;
    std::string problem = change_progress(workbook, chosen.long_name(), [&](RungProgress& one) {
        if (one.revealed < 0) one.revealed = result.points;
        graded = one.revealed;
    });
    if (result.points <= graded) return problem;
    result.points = judge::hundredths(graded);
    std::string text =
        fmt::format("the first answers were graded at {} of {} points: later ones earn no more",
                    points_text(result.points), points_text(result.max_points));
    if (!result.causes.empty()) text = result.causes.front().text + "; " + text;
    result.decide({.kind = result.verdict, .text = text, .source = judge::Source::counters});
    return problem;
}

std::string remember(const Workbook& workbook, const Chosen& chosen, const judge::RungResult& result,
                     Backend backend, const std::string& content) {
    if (judge::owner_of(result.verdict) == judge::Owner::ours) return {};
    return change_progress(workbook, chosen.long_name(), [&](RungProgress& one) {
        one.verdict = judge::name_of(result.verdict);
        one.reason = result.passed() ? "" : remark_of(result);  // as the table of check has it
        one.points = result.judged ? result.points : 0;
        one.max_points = result.max_points;
        one.backend = name_of(backend);
        one.content = content;
    });
}

}  // namespace rungs
