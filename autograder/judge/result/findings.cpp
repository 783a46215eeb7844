#include "judge/result/findings.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <stdexcept>
#include <tuple>

#include <fmt/format.h>

#include "judge/build/diagnostics.hpp"
#include "judge/result/report_json.hpp"

namespace rungs::judge {
namespace {

using nlohmann::json;
using simt::check::Severity;
using simt::check::Tool;

constexpr std::size_t most_findings = 50;
constexpr std::size_t most_text = 600;  ///< bytes of a sentence
constexpr std::size_t most_name = 200;  ///< bytes of a name

std::string text_of(const json& object, const char* key, std::size_t most) {
    return one_line(object.at(key).get<std::string>(), most);
}

uint3 index_of(const json& object, const char* key) {
    if (!object.contains(key)) return {};
    const auto values = object.at(key).get<std::array<unsigned, 3>>();
    return {values[0], values[1], values[2]};
}

simt::check::Side side_of(const json& object) {
    simt::check::Side side;
    side.place.file = text_of(object, "file", most_name);
    side.place.line = object.at("line").get<unsigned>();
    side.place.column = object.at("column").get<unsigned>();
    side.place.function = text_of(object, "function", most_name);
    side.access = text_of(object, "access", most_name);
    if (object.contains("caller_file")) {
        const std::string file = text_of(object, "caller_file", most_name);
        const auto line = object.at("caller_line").get<unsigned>();
        // In a rung's own file the place says enough.
        if (!side.place.file.ends_with(".cu")) side.place.caller_file = file, side.place.caller_line = line;
    }
    side.thread = index_of(object, "thread");
    side.block = index_of(object, "block");
    return side;
}

QuotedFinding finding_of(const json& object) {
    QuotedFinding finding;
    finding.tool = one_of<Tool>(object, "tool", {"memcheck", "racecheck", "initcheck", "synccheck"});
    finding.severity = one_of<Severity>(object, "severity", {"error", "warning", "note"});
    finding.kind = text_of(object, "kind", most_name);
    finding.kernel = text_of(object, "kernel", most_name);
    finding.side = side_of(object.at("side"));
    finding.has_other = object.contains("other");
    if (finding.has_other) finding.other = side_of(object.at("other"));
    if (object.contains("array")) {
        const json& array = object.at("array");
        finding.array = text_of(array, "name", most_name);
        finding.index = array.at("index").get<std::ptrdiff_t>();
        finding.element = array.at("element").get<std::size_t>();
        finding.extent = array.at("extent").get<std::size_t>();
    }
    finding.message = text_of(object, "message", most_text);
    finding.advice = text_of(object, "advice", most_text);
    finding.count = object.at("count").get<std::uint64_t>();
    // Memory that a call keeps may be meant for the next one.
    if (finding.kind == "leak") finding.severity = Severity::warning;
    return finding;
}

/// What explains most comes first.
int rank(const QuotedFinding& finding) {
    switch (finding.tool) {
        case Tool::memcheck:
            return 0;
        case Tool::synccheck:
            return 1;
        case Tool::racecheck:
            return 2;
        default:
            return 3;
    }
}

std::string place_text(const simt::check::Place& place) {
    return place.file.empty() ? "" : fmt::format("{}:{}", place.file, place.line);
}

}  // namespace

std::vector<QuotedFinding> findings_of(const json& report) {
    std::vector<QuotedFinding> findings;
    if (report.is_null()) return findings;
    try {
        const json& list = report.at("findings");
        if (!list.is_array()) refuse_report("no list of findings");
        for (const json& entry : list) {
            if (findings.size() == most_findings) break;
            findings.push_back(finding_of(entry));
        }
    } catch (const json::exception& error) {
        refuse_report(one_line(error.what()));
    }
    sort_findings(findings);
    return findings;
}

std::vector<std::uint64_t> blocks_of(const json& report) {
    if (report.is_null()) return {};
    try {
        return report.at("blocks").get<std::vector<std::uint64_t>>();
    } catch (const json::exception& error) {
        refuse_report(one_line(error.what()));
    }
}

void sort_findings(std::vector<QuotedFinding>& findings) {
    const auto raced_for = [&](const QuotedFinding& missing) {
        return missing.tool == Tool::initcheck &&
               std::any_of(findings.begin(), findings.end(), [&](const QuotedFinding& race) {
                   const auto same = [&](const simt::check::Place& place) {
                       return place.file == missing.side.place.file && place.line == missing.side.place.line;
                   };
                   return race.tool == Tool::racecheck && race.severity == Severity::error &&
                          race.array == missing.array && (same(race.side.place) || same(race.other.place));
               });
    };
    // Threads that have left come neither to a barrier nor to a shuffle: the barrier says it more plainly.
    const auto left_before = [&](const QuotedFinding& shuffle) {
        return shuffle.kind == name_of(simt::check::Kind::inactive_lane) &&
               shuffle.severity == Severity::error &&
               std::any_of(findings.begin(), findings.end(), [&](const QuotedFinding& barrier) {
                   return barrier.kind == name_of(simt::check::Kind::exited_threads) &&
                          barrier.kernel == shuffle.kernel;
               });
    };
    std::vector<QuotedFinding> kept;
    std::copy_if(findings.begin(), findings.end(), std::back_inserter(kept),
                 [&](const QuotedFinding& f) { return !raced_for(f) && !left_before(f); });
    findings = std::move(kept);
    std::stable_sort(findings.begin(), findings.end(), [](const QuotedFinding& a, const QuotedFinding& b) {
        return std::make_tuple(a.severity, rank(a)) < std::make_tuple(b.severity, rank(b));
    });
}

std::string caller_text(const simt::check::Place& place) {
    return place.caller_file.empty() ? ""
                                     : fmt::format(", called at {}:{}", place.caller_file, place.caller_line);
}

unsigned line_in(const simt::check::Place& place, const std::string& name) {
    return place.file == name ? place.line : place.caller_file == name ? place.caller_line : 0;
}

void quote_source(std::vector<QuotedFinding>& findings, const std::string& name, const std::string& text) {
    std::vector<std::string> lines;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        lines.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    const auto line = [&](const simt::check::Place& place) {
        const unsigned number = line_in(place, name);
        if (number == 0 || number > lines.size()) return std::string();
        std::string found = lines[number - 1];
        found.erase(0, std::min(found.find_first_not_of(" \t"), found.size()));
        return one_line(found, most_name);
    };
    for (QuotedFinding& finding : findings) {
        finding.source = line(finding.side.place);
        if (finding.has_other) finding.other_source = line(finding.other.place);
    }
}

std::string who(const simt::check::Side& side) {
    return fmt::format("thread ({},{},{}) of block ({},{},{})", side.thread.x, side.thread.y, side.thread.z,
                       side.block.x, side.block.y, side.block.z);
}

Cause cause_of(const QuotedFinding& finding) {
    return {.kind = verdict_of(finding),
            .text = in_one_line(finding),
            .source = Source::findings,
            .place = finding.side.place};
}

std::string in_one_line(const QuotedFinding& finding) {
    std::string text = place_text(finding.side.place);
    const std::string other = finding.has_other ? place_text(finding.other.place) : "";
    if (!other.empty() && other != text) text += (text.empty() ? "" : " and ") + other;
    return text + (text.empty() ? "" : ": ") + finding.message;
}

}  // namespace rungs::judge
