#include "tables.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>
#include <sstream>
#include <stdexcept>

#include "simt/inspect/metrics.h"

namespace rungs::validation {

double Times::of(const CaseKey& key, const std::string& rung) const {
    for (const auto& [which, rows] : cases) {
        if (which != key) continue;
        for (const auto& [name, time] : rows)
            if (name == rung) return time;
    }
    return 0;
}

Times read_times(const std::filesystem::path& file) {
    std::ifstream in(file);
    if (!in) throw std::runtime_error(file.string() + ": cannot be read");
    Times times;
    int number = 0;
    for (std::string line; std::getline(in, line);) {
        ++number;
        if (line.empty()) continue;
        if (line[0] == '#') {
            if (times.machine.empty() && line.size() > 2) times.machine = line.substr(2);
            continue;
        }
        std::vector<std::string> cells;
        std::istringstream row(line);
        for (std::string cell; std::getline(row, cell, ',');) cells.push_back(cell);
        double microseconds = 0;
        std::istringstream last(cells.empty() ? "" : cells.back());
        last.imbue(std::locale::classic());
        if (cells.size() != 6 || !(last >> microseconds) || !(microseconds > 0)) {
            throw std::runtime_error(file.string() + ":" + std::to_string(number) +
                                     ": not chapter,rung,problem,sizes,kind,microseconds");
        }
        const CaseKey key{cells[0], cells[2], cells[3], cells[4]};
        auto found = std::find_if(times.cases.begin(), times.cases.end(),
                                  [&](const auto& entry) { return entry.first == key; });
        if (found == times.cases.end()) {
            times.cases.push_back({key, {}});
            found = times.cases.end() - 1;
        }
        found->second.emplace_back(cells[1], microseconds);
    }
    return times;
}

static std::vector<double> ranks(const std::vector<double>& values) {
    std::vector<double> result;
    for (const double value : values) {
        const auto less = std::count_if(values.begin(), values.end(), [=](double v) { return v < value; });
        const auto same = std::count(values.begin(), values.end(), value);
        result.push_back(static_cast<double>(less) + static_cast<double>(same - 1) / 2);
    }
    return result;
}

double rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
    if (a.size() < 2) return 1;
    const std::vector<double> ra = ranks(a), rb = ranks(b);
    const double mean = static_cast<double>(a.size() - 1) / 2;
    double ab = 0, aa = 0, bb = 0;
    for (std::size_t i = 0; i < ra.size(); ++i) {
        ab += (ra[i] - mean) * (rb[i] - mean);
        aa += (ra[i] - mean) * (ra[i] - mean);
        bb += (rb[i] - mean) * (rb[i] - mean);
    }
    return aa == 0 || bb == 0 ? 1 : ab / std::sqrt(aa * bb);
}

std::vector<Comparison> compare(const Times& measured, const Times& modelled, const Baselines& baselines) {
    std::vector<Comparison> comparisons;
    for (const auto& [key, rows] : measured.cases) {
        Comparison comparison{key, {}, 1};
        std::string base = rows.front().first;
        if (const auto named = baselines.find(key.chapter); named != baselines.end()) {
            const auto there = std::find_if(named->second.begin(), named->second.end(),
                                            [&](const auto& name) { return measured.of(key, name) > 0; });
            if (there != named->second.end()) base = *there;
        }
        for (const auto& [rung, time] : rows) {
            Line line;
            line.rung = rung;
            line.measured = time;
            line.modelled = modelled.of(key, rung);
            if (line.modelled == 0) continue;
            line.baseline = base;
            const double a = measured.of(key, base), b = modelled.of(key, base);
            if (rung != base && a > 0 && b > 0) {
                line.speedup_measured = a / line.measured;
                line.speedup_modelled = b / line.modelled;
            }
            comparison.lines.push_back(line);
        }
        if (comparison.lines.empty()) continue;
        std::vector<double> a, b;
        for (const Line& line : comparison.lines) {
            a.push_back(line.measured);
            b.push_back(line.modelled);
        }
        comparison.rank_correlation = rank_correlation(a, b);
        comparisons.push_back(std::move(comparison));
    }
    return comparisons;
}

Share within_two(const std::vector<Comparison>& comparisons) {
    Share share;
    for (const Comparison& comparison : comparisons) {
        for (const Line& line : comparison.lines) {
            if (line.speedup_measured == 0) continue;
            const double ratio = line.speedup_modelled / line.speedup_measured;
            ++share.of;
            share.within += ratio >= 0.5 && ratio <= 2;
        }
    }
    return share;
}

const std::vector<std::pair<std::string, std::string>>& counted_metrics() {
    static const std::vector<std::pair<std::string, std::string>> names{
        {"load requests", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"},
        {"load sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"},
        {"store requests", "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"},
        {"store sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"},
        {"atomic requests", "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum"},
        {"atomic sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum"},
        {"load wavefronts", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"},
        {"store wavefronts", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"},
        {"atomic wavefronts", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum"},
        {"texture requests", "l1tex__t_requests_pipe_tex_mem_texture.sum"},
        {"texture sectors", "l1tex__t_sectors_pipe_tex_mem_texture.sum"}};
    return names;
}

golden::Table read_counts(const std::filesystem::path& file, const std::string& chapter) {
    std::ifstream in(file);
    if (!in) throw std::runtime_error(file.string() + ": cannot be read");
    golden::Table table = golden::read(in);
    const auto is_other = [&](const golden::Row& row) { return row.name.rfind(chapter, 0) != 0; };
    table.rows.erase(std::remove_if(table.rows.begin(), table.rows.end(), is_other), table.rows.end());
    return table;
}

CountComparison compare_counts(const golden::Table& gpu, const golden::Table& own,
                               const std::filesystem::path& exceptions, const std::string& chapter) {
    CountComparison comparison;
    for (const std::string& comment : gpu.comments)
        comparison.machine += (comparison.machine.empty() ? "" : "; ") + comment;
    // rung, the names of its counts joined by " + ", and the reason
    std::ifstream in(exceptions);
    if (!in) throw std::runtime_error(exceptions.string() + ": cannot be read");
    std::map<std::pair<std::string, std::string>, bool> excepted;  // whether it was met
    for (std::string line; std::getline(in, line);) {
        if (line.empty() || line[0] == '#' || line.rfind("rung,", 0) == 0) continue;
        std::istringstream cells(line);
        std::string rung, counts;
        std::getline(cells, rung, ',');
        std::getline(cells, counts, ',');
        if (rung.rfind(chapter, 0) != 0) continue;
        std::istringstream names(counts);
        for (std::string name; std::getline(names, name, '+');) {
            name.erase(0, name.find_first_not_of(' '));
            name.erase(name.find_last_not_of(' ') + 1);
            if (std::none_of(counted_metrics().begin(), counted_metrics().end(),
                             [&](const auto& metric) { return metric.first == name; }))
                throw std::runtime_error(exceptions.string() + ": no count is called '" + name + "'");
            excepted[{rung, name}] = false;
        }
    }
    for (const golden::Row& counted : gpu.rows) {
        const auto ours_row = std::find_if(own.rows.begin(), own.rows.end(),
                                           [&](const golden::Row& row) { return row.name == counted.name; });
        if (ours_row == own.rows.end())
            throw std::runtime_error("check mode has not counted '" + counted.name + "'");
        std::istringstream words(counted.name);
        std::string folder, rung;
        words >> folder >> rung;
        const golden::Counts truth = golden::counts_of(counted), ours = golden::counts_of(*ours_row);
        for (const auto& [name, metric] : counted_metrics()) {
            const double expected = truth.at(metric), got = ours.at(metric);
            if (expected == 0 && got == 0) continue;
            ++comparison.of;
            if (std::abs(got - expected) <= golden::allowed(metric, truth)) {
                ++comparison.equal;
                continue;
            }
            const auto reason = excepted.find({folder + "/" + rung, name});
            if (reason == excepted.end())
                throw std::runtime_error(counted.name + ": no reason in " + exceptions.string() + " for " +
                                         name + ", " + std::to_string(expected) + " and not " +
                                         std::to_string(got));
            reason->second = true;
        }
    }
    for (const auto& [which, met] : excepted)
        if (!met)
            throw std::runtime_error(exceptions.string() + ": " + which.first + " does not differ in " +
                                     which.second);
    return comparison;
}

}  // namespace rungs::validation
