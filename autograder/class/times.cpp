#include "class/times.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "report/text.hpp"
#include "rungs/statistics.hpp"

namespace rungs::classroom {
namespace {

constexpr const char* row_format = "{:<32}{:>10}{:>10}{:>10}{:>10}{:>10}";

std::string times_row(const std::string& name, const std::vector<double>& values) {
    const auto at = [&](double share) { return fmt::format("{:.4g}", quantile(values, share)); };
    return fmt::format(row_format, first_line(name, 31), at(0), at(0.2), at(0.5), at(0.8), at(1));
}

/// "GPU at 1755 to 1980 MHz, slowed down by power; the host's load up to 2.5"
std::string conditions_text(const judge::Conditions& seen) {
    std::string text;
    if (seen.most_mhz > 0) {
        text = seen.least_mhz == seen.most_mhz
                   ? fmt::format("GPU at {} MHz", seen.most_mhz)
                   : fmt::format("GPU at {} to {} MHz", seen.least_mhz, seen.most_mhz);
    }
    for (const std::string& what : seen.slowed_by)
        text += (what == seen.slowed_by.front() ? ", slowed down by " : " and ") + what;
    return fmt::format("{}{}the host's load up to {:.1f}", text, text.empty() ? "" : "; ", seen.load);
}

}  // namespace

std::vector<std::string> table_of_times(const judge::RungResult& result) {
    const judge::Speed& speed = result.speed;
    const auto doubles = [](const std::vector<float>& times) {
        return std::vector<double>(times.begin(), times.end());
    };
    const std::vector<double> rung = doubles(speed.times.rung), baseline = doubles(speed.times.baseline);
    if (!speed.judged || rung.empty() || rung.size() != baseline.size()) return {};
    std::vector<std::string> lines{fmt::format(row_format, fmt::format("us per call, {} pairs", rung.size()),
                                               "least", "20 %", "median", "80 %", "most"),
                                   times_row(result.rung, rung),
                                   times_row(speed.baseline + ", the baseline", baseline),
                                   times_row("the reference", doubles(speed.times.reference))};
    std::vector<double> ratios;
    for (std::size_t i = 0; i < rung.size(); ++i) {
        if (rung[i] > 0) ratios.push_back(baseline[i] / rung[i]);
    }
    if (!ratios.empty()) lines.push_back(times_row("baseline / rung, pair by pair", ratios));
    if (!speed.times.baseline_alone.empty())
        lines.push_back(times_row("baseline, rung's process gone", doubles(speed.times.baseline_alone)));
    if (!speed.times.reference_alone.empty())
        lines.push_back(times_row("reference, rung's process gone", doubles(speed.times.reference_alone)));
    // Records that are older than the conditions have none.
    if (const judge::Conditions& seen = speed.conditions; seen.most_mhz > 0 || seen.load > 0)
        lines.push_back(conditions_text(seen));
    return lines;
}

}  // namespace rungs::classroom
