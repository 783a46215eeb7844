#include "class/export.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <type_traits>

#include <fmt/format.h>

#include "judge/result/clean_text.hpp"
#include "judge/result/fields.hpp"
#include "judge/result/findings.hpp"
#include "report/text.hpp"

namespace rungs::classroom {
namespace {

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
std::string side_text(const simt::check::Side& side) {
    return fmt::format("{}:{} {}{}", side.place.file, side.place.line, side.access,
                       judge::caller_text(side.place));
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

judge::RungResult for_student(judge::RungResult result) {
    judge::each_value(result, [](auto& value) {
        if constexpr (std::is_same_v<decltype(value), std::string&>) value = for_student(value);
    });
    return result;
}

std::string reason_for(const GradedRung& rung, Detail detail) {
    if (detail == Detail::points) return "";
    return for_student(rung.reason);
}

std::vector<std::string> details_for_student(const GradedRung& rung) {
    std::vector<std::string> parts;
    const std::optional<judge::RungResult> result = rung.result();
    if (!result) return parts;
    const auto add = [&](const char* what, const std::string& text) {
        if (!text.empty()) parts.push_back(for_student(what + text));
    };
    const judge::Correctness& found = result->correctness;
    add("failing case: ", found.failing_case);
    add("smallest case that fails: ", found.smallest_case);
    add("likely cause: ", found.cause);
    for (const judge::QuotedFinding& finding : result->checks.findings) {
        std::string line = fmt::format("{} ({}) at {}", judge::name_of(judge::verdict_of(finding)),
                                       finding.kind, side_text(finding.side));
        if (finding.has_other) line += " and " + side_text(finding.other);
        add("", line + ": " + finding.message + " " + finding.advice);
    }
    add("", result->diagnostics);
    return parts;
}

}  // namespace rungs::classroom
