#include "class/times.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/text.hpp"
#include "rungs/statistics.hpp"

namespace rungs::classroom {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* row_format = "{:<32}{:>10}{:>10}{:>10}{:>10}{:>10}";

std::string row(const std::string& name, const std::vector<double>& values) {
    const auto at = [&](double share) { return fmt::format("{:.4g}", quantile(values, share)); };
    return fmt::format(row_format, first_line(name, 31), at(0), at(0.2), at(0.5), at(0.8), at(1));
}

/// "GPU at 1755 to 1980 MHz, slowed down by power; the host's load up to 2.5"
std::string conditions_text(const Json& seen) {
    std::string text;
    if (const int most = seen.at("most_mhz"); most > 0) {
        const int least = seen.at("least_mhz");
        text = least == most ? fmt::format("GPU at {} MHz", most)
                             : fmt::format("GPU at {} to {} MHz", least, most);
    }
    const auto slowed_by = seen.at("slowed_by").get<std::vector<std::string>>();
    for (const std::string& what : slowed_by)
        text += (what == slowed_by.front() ? ", slowed down by " : " and ") + what;
    return fmt::format("{}{}the host's load up to {:.1f}", text, text.empty() ? "" : "; ",
                       seen.at("load").get<double>());
}

}  // namespace

std::vector<std::string> table_of_times(const Json& result) {
    const Json& speed = result.at("speed");
    if (!speed.contains("microseconds")) return {};
    const auto times = [&](const char* whose) {
        return speed.at("microseconds").at(whose).get<std::vector<double>>();
    };
    const std::vector<double> rung = times("rung"), baseline = times("baseline");
    if (rung.empty() || rung.size() != baseline.size()) return {};
    std::vector<std::string> lines{fmt::format(row_format, fmt::format("us per call, {} pairs", rung.size()),
                                               "least", "20 %", "median", "80 %", "most"),
                                   row(result.at("rung"), rung),
                                   row(speed.at("baseline").get<std::string>() + ", the baseline", baseline),
                                   row("the reference", times("reference"))};
    std::vector<double> ratios;
    for (std::size_t i = 0; i < rung.size(); ++i) {
        if (rung[i] > 0) ratios.push_back(baseline[i] / rung[i]);
    }
    if (!ratios.empty()) lines.push_back(row("baseline / rung, pair by pair", ratios));
    if (const auto alone = times("baseline_alone"); !alone.empty())
        lines.push_back(row("baseline, rung's process gone", alone));
    if (const auto alone = times("reference_alone"); !alone.empty())
        lines.push_back(row("reference, rung's process gone", alone));
    if (speed.contains("conditions")) lines.push_back(conditions_text(speed.at("conditions")));
    return lines;
}

}  // namespace rungs::classroom
