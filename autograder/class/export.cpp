#include "class/export.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "judge/result/clean_text.hpp"
#include "report/text.hpp"

namespace rungs::classroom {
namespace {

using Json = nlohmann::ordered_json;

/// A string of the result; empty where it has none.
std::string text_at(const Json& json, const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           static_cast<unsigned char>(c) >= 0x80;
}

/// "sum of 257 floats, kind uniform, seed 0x2a" without its seed. No regular expression: std::regex needs
/// stack in proportion to a text that a student may have written.
std::string without_seeds(std::string_view text) {
    constexpr std::string_view word = "seed";
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = at + word.size();
        const bool begins = text.substr(at, word.size()) == word && (at == 0 || !is_word(text[at - 1]));
        while (begins && end < text.size() && (text[end] == ' ' || text[end] == '=' || text[end] == ':'))
            ++end;
        if (!begins || end >= text.size() || text[end] < '0' || text[end] > '9') {
            out += text[at++];
            continue;
        }
        while (end < text.size() && is_word(text[end])) ++end;
        while (!out.empty() && (out.back() == ' ' || out.back() == ',' || out.back() == '-')) out.pop_back();
        at = end;
    }
    return out;
}

/// "/home/a/class/ben/03_shared_tree.cu:28" without its folders.
std::string without_folders(std::string_view text) {
    constexpr std::string_view before = " \t\n'\"`(=:,<[{~";
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = at, last = at;
        const bool begins = text[at] == '/' && at + 1 < text.size() && is_word(text[at + 1]) &&
                            (at == 0 || before.find(text[at - 1]) != std::string_view::npos);
        for (; begins && end < text.size(); ++end) {
            const char c = text[end];
            if (c == '/') last = end;
            if (c != '/' && !is_word(c) && std::string_view(".+@~%-").find(c) == std::string_view::npos)
                break;
        }
        if (last > at) {
            at = last + 1;
        } else {
            out += text[at++];
        }
    }
    return out;
}

/// "03_shared_tree.cu:28 write of 4 bytes"
std::string side_text(const Json& side) {
    return fmt::format("{}:{} {}{}", text_at(side, "file"), side.value("line", 0), text_at(side, "access"),
                       called_at(side));
}

}  // namespace

Outcome outcome_of(const GradedRung& rung) {
    if (rung.decision) {
        const bool all = rung.decision->points >= rung.max_points - 1e-9;
        return all || rung.status == "passed" ? Outcome::passed : Outcome::failed;
    }
    if (rung.open()) return Outcome::open;
    if (rung.missing) return Outcome::missing;
    return rung.status == "passed" ? Outcome::passed : Outcome::failed;
}

std::string decided_text(const GradedRung& rung) {
    return !rung.decision ? "" : rung.stale ? "decided on an older verdict" : "decided";
}

const char* name_of(Detail detail) {
    return detail == Detail::points ? "points" : detail == Detail::reasons ? "reasons" : "all";
}

const char* name_of(Outcome outcome) {
    switch (outcome) {
        case Outcome::passed:
            return "passed";
        case Outcome::failed:
            return "failed";
        case Outcome::open:
            return "not graded yet";
        case Outcome::missing:
            break;
    }
    return "missing";
}

std::string called_at(const Json& side) {
    const std::string file = text_at(side, "caller_file");
    return file.empty() ? "" : fmt::format(", called at {}:{}", file, side.value("caller_line", 0));
}

std::string title_of(const Gradebook& book) {
    return book.assignment.title.empty() ? "Assignment" : book.assignment.title;
}

const Attempt* counted_attempt(const Student& student) {
    return student.counted ? &student.attempts[*student.counted] : nullptr;
}

std::string state_of(const Student& student) {
    if (student.missing()) return "missing";
    if (student.score) return "graded";
    const Attempt* const attempt = counted_attempt(student);
    return attempt && !attempt->refused.empty() ? "refused" : "not graded yet";
}

std::size_t open_count(const Gradebook& book) {
    return static_cast<std::size_t>(std::count_if(book.students.begin(), book.students.end(),
                                                  [](const Student& one) { return !one.score; }));
}

std::string factor_text(double factor) { return fmt::format("{}", std::round(1e4 * factor) / 1e4); }

std::string for_student(std::string_view text) { return without_folders(without_seeds(clean_utf8(text))); }

std::string reason_for(const GradedRung& rung, Detail detail) {
    if (detail == Detail::points) return "";
    return for_student(rung.reason);
}

std::vector<std::string> details_for_student(const GradedRung& rung) {
    std::vector<std::string> parts;
    const Json result = rung.result();
    if (result.is_null()) return parts;
    const auto add = [&](const std::string& text) {
        if (!text.empty()) parts.push_back(for_student(text));
    };
    if (const auto found = result.find("correctness"); found != result.end()) {
        if (const std::string which = text_at(*found, "failing_case"); !which.empty())
            add("failing case: " + which);
        if (const std::string which = text_at(*found, "smallest_case"); !which.empty())
            add("smallest case that fails: " + which);
        if (const std::string cause = text_at(*found, "cause"); !cause.empty()) add("likely cause: " + cause);
    }
    if (const auto checks = result.find("checks"); checks != result.end() && checks->contains("findings")) {
        for (const Json& finding : checks->at("findings")) {
            std::string line = fmt::format("{} ({}) at {}", text_at(finding, "verdict"),
                                           text_at(finding, "kind"), side_text(finding.at("side")));
            if (!finding.at("other").is_null()) line += " and " + side_text(finding.at("other"));
            add(line + ": " + text_at(finding, "message") + " " + text_at(finding, "advice"));
        }
    }
    if (const auto compile = result.find("compile"); compile != result.end())
        add(text_at(*compile, "diagnostics"));
    return parts;
}

}  // namespace rungs::classroom
