// Writes what docs/model.md says about the committed measurements, or says whether it is current.
//
//     rungs_validation ROOT            prints the comparison of measured and modelled times
//     rungs_validation ROOT --write    puts the summaries between their marks in docs/model.md
//     rungs_validation ROOT --check    ends with 1 if the page has other tables
//     rungs_validation ROOT --counts RAW...  turns what ncu printed of ladders into a table, on standard
//     output

#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>

#include "rungs/atomic_file.hpp"
#include "rungs/manifest.hpp"
#include "simt/inspect/table.h"
#include "tables.hpp"

namespace {

namespace fs = std::filesystem;
using namespace rungs::validation;

std::string format(const char* pattern, double value) {
    char text[64];
    std::snprintf(text, sizeof text, pattern, value);
    return text;
}

/// Microseconds with three digits.
std::string time(double microseconds) {
    const char* const pattern = microseconds >= 100 ? "%.0f" : microseconds >= 10 ? "%.1f" : "%.2f";
    return format(pattern, microseconds);
}

/// The baselines that the manifests name.
Baselines baselines(const fs::path& root) {
    Baselines all;
    for (const rungs::Manifest& manifest : rungs::read_manifests(root / "chapters")) {
        for (const rungs::RungEntry& rung : manifest.rungs) {
            if (rung.speed) all[manifest.chapter].push_back(rung.speed->baseline);
        }
    }
    return all;
}

std::string title(const CaseKey& key) {
    return key.chapter + ", " + key.problem + ", " + key.sizes + " " + key.kind;
}

std::string times_table(const std::vector<Comparison>& comparisons) {
    std::string text =
        "| case | rung | measured, us | modelled, us | ratio | speedup measured | modelled |\n"
        "|:--|:--|--:|--:|--:|--:|--:|\n";
    for (const Comparison& comparison : comparisons) {
        bool first = true;
        for (const Line& line : comparison.lines) {
            const bool compared = line.speedup_measured > 0;
            text += "| " + (first ? title(comparison.key) : std::string()) + " | " + line.rung + " | " +
                    time(line.measured) + " | " + time(line.modelled) + " | " +
                    format("%.2f", line.modelled / line.measured) + " | " +
                    (compared ? format("%.2f", line.speedup_measured) + " | " +
                                    format("%.2f", line.speedup_modelled)
                              : std::string("1 | 1")) +
                    " |\n";
            first = false;
        }
    }
    return text;
}

std::string summary(const std::vector<Comparison>& comparisons) {
    std::string text = "| case | rank correlation | speedups within a factor of 2 |\n|:--|--:|--:|\n";
    const auto share_text = [](const Share& share) {
        return std::to_string(share.within) + " of " + std::to_string(share.of);
    };
    int high = 0;
    int ladders = 0;
    for (const Comparison& comparison : comparisons) {
        if (comparison.lines.size() < 2) continue;  // nothing to be faster than
        ++ladders;
        text += "| " + title(comparison.key) + " | " + format("%.2f", comparison.rank_correlation) + " | " +
                share_text(within_two({comparison})) + " |\n";
        high += comparison.rank_correlation >= 0.9;
    }
    const Share all = within_two(comparisons);
    return text + "| **all** | " + std::to_string(high) + " of " + std::to_string(ladders) +
           " at 0.9 or more | " + share_text(all) + " |\n";
}

/// What ncu printed of ladders that ran with `--once`, which print a line with the rung's name for each.
int print_counts(const fs::path& root, const std::vector<std::string>& files) {
    std::ifstream list(root / "common/simt/counters/tests/golden/metrics.txt");
    golden::Table all;
    for (std::string metric; list >> metric;)
        if (metric.rfind("l1tex", 0) == 0) all.metrics.push_back(metric);
    for (const std::string& file : files) {
        std::ifstream in(file);
        std::vector<std::string> names;
        for (std::string line; std::getline(in, line);) {
            std::vector<std::string> cells;
            std::istringstream row(line);
            for (std::string cell; std::getline(row, cell, ',');) cells.push_back(cell);
            if (cells.size() != 6 || line.find_first_of("\"#=") != std::string::npos) continue;
            names.push_back(cells[0] + ' ' + cells[1] + ' ' + cells[2] + ' ' + cells[3] + ' ' + cells[4]);
        }
        in.clear();
        in.seekg(0);
        for (golden::Row& row : golden::read_ncu(in, names, all.metrics, "rung_ends").rows)
            all.rows.push_back(row);
    }
    golden::write(std::cout, all);
    return 0;
}

/// How many of ncu's counts check mode has too.
std::string counts_summary(const fs::path& folder) {
    const CountComparison comparison =
        compare_counts(read_counts(folder / "counted.csv"), read_counts(folder / "predicted.csv"),
                       folder / "counted_exceptions.csv");
    return "On an " + comparison.machine + ": " + std::to_string(comparison.equal) + " of " +
           std::to_string(comparison.of) +
           " counts that are not zero are equal (wavefronts within 2 %), and each of the others "
           "has its reason.\n";
}

/// Puts `table` between `<!-- name -->` and `<!-- end -->`.
std::string insert(const std::string& page, const std::string& name, const std::string& table) {
    const std::string begin = "<!-- " + name + " -->\n", end = "<!-- end -->";
    const std::size_t from = page.find(begin), to = from == std::string::npos ? from : page.find(end, from);
    if (to == std::string::npos) throw std::runtime_error("docs/model.md lacks " + begin + " or " + end);
    return page.substr(0, from + begin.size()) + table + page.substr(to);
}

int run(const fs::path& root, const std::string& action) {
    const fs::path folder = root / "common/ladder/validation", page_file = root / "docs/model.md";
    const Times measured = read_times(folder / "measured.csv"),
                modelled = read_times(folder / "modelled.csv");
    const std::vector<Comparison> comparisons = compare(measured, modelled, baselines(root));
    if (action.empty()) {
        std::cout << measured.machine << "\n\n" << times_table(comparisons) << '\n' << summary(comparisons);
        return 0;
    }
    std::ifstream in(page_file);
    std::string page((std::istreambuf_iterator<char>(in)), {});
    const std::string before = page;
    page = insert(page, "summary", summary(comparisons));
    page = insert(page, "counts", counts_summary(folder));
    if (action == "--check") {
        if (page == before) return 0;
        std::cerr << "docs/model.md is not what its files say: run rungs_validation " << root.string()
                  << " --write\n";
        return 1;
    }
    rungs::write_file(page_file, page);
    return 0;
}

}  // namespace

int main(int count, char** words) {
    const std::string action = count >= 3 ? words[2] : "";
    const bool counts = action == "--counts" && count > 3;
    if (count < 2 || (count > 3 && !counts) || (count == 3 && action != "--write" && action != "--check")) {
        std::cerr << "usage: rungs_validation ROOT [--write | --check | --counts RAW...]\n";
        return 2;
    }
    try {
        if (counts) return print_counts(words[1], {words + 3, words + count});
        return run(words[1], action);
    } catch (const std::exception& error) {
        std::cerr << "rungs_validation: " << error.what() << '\n';
        return 1;
    }
}
