// Writes the tables of docs/model.md from the committed measurements, or says whether they are current.
//
//     rungs_validation ROOT            prints the comparison of measured and modelled times
//     rungs_validation ROOT --write    puts the tables between their marks in docs/model.md
//     rungs_validation ROOT --check    ends with 1 if the page has other tables

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>

#include "rungs/atomic_file.hpp"
#include "rungs/manifest.hpp"
#include "table.h"
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

/// The rung that speedups are over: the one most of the manifest's rules name, else the first.
std::map<std::string, std::string> given_rungs(const fs::path& root) {
    std::map<std::string, std::string> given;
    for (const rungs::Manifest& manifest : rungs::read_manifests(root / "chapters")) {
        given[manifest.chapter] = manifest.rungs.front().name;
        for (const rungs::RungEntry& rung : manifest.rungs) {
            if (rung.speed) given[manifest.chapter] = rung.speed->given;
        }
    }
    return given;
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
    for (const Comparison& comparison : comparisons) {
        text += "| " + title(comparison.key) + " | " + format("%.2f", comparison.rank_correlation) + " | " +
                share_text(within_two({comparison})) + " |\n";
        high += comparison.rank_correlation >= 0.9;
    }
    const Share all = within_two(comparisons);
    return text + "| **all** | " + std::to_string(high) + " of " + std::to_string(comparisons.size()) +
           " at 0.9 or more | " + share_text(all) + " |\n";
}

std::string golden_table(const fs::path& folder) {
    std::ifstream exceptions(folder / "exceptions.csv"), measured(folder / "measured.csv");
    const golden::Table table = golden::read(measured);
    std::string text = "Counted on: " + table.comments.at(0) + "; " + table.comments.at(1) + ".\n\n";
    text +=
        "| kernel | loads: requests, sectors | stores: requests, sectors | atomics: requests, sectors | "
        "shared "
        "wavefronts: loads, stores, atomics | textures: requests, sectors |\n|:--|--:|--:|--:|--:|--:|\n";
    const auto cell = [](const golden::Row& row, const std::vector<std::string>& metrics) {
        std::string numbers;
        double sum = 0;
        for (const std::string& metric : metrics) {
            double value = 0;
            std::istringstream names(metric);
            for (std::string name; std::getline(names, name, '+');) value += row.value.at(name + ".sum");
            sum += value;
            numbers += (numbers.empty() ? "" : ", ") + format("%.0f", value);
        }
        return sum > 0 ? numbers : std::string();
    };
    const std::string requests = "l1tex__t_requests_pipe_lsu_mem_global_op_";
    const std::string sectors = "l1tex__t_sectors_pipe_lsu_mem_global_op_";
    const std::string wavefronts = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_";
    for (const golden::Row& row : table.rows) {
        text +=
            "| " + row.name + " | " + cell(row, {requests + "ld", sectors + "ld"}) + " | " +
            cell(row, {requests + "st", sectors + "st"}) + " | " +
            cell(row, {requests + "red+" + requests + "atom", sectors + "red+" + sectors + "atom"}) + " | " +
            cell(row, {wavefronts + "ld", wavefronts + "st", wavefronts + "atom"}) + " | " +
            cell(row, {"l1tex__t_requests_pipe_tex_mem_texture", "l1tex__t_sectors_pipe_tex_mem_texture"}) +
            " |\n";
    }
    text +=
        "\nAll of these are predicted exactly, wavefronts too, but for:\n\n| kernel | metric | under | why "
        "the "
        "counts "
        "otherwise |\n|:--|:--|:--|\n";
    for (std::string line; std::getline(exceptions, line);) {
        if (line.empty() || line[0] == '#' || line.rfind("kernel,", 0) == 0) continue;
        std::istringstream cells(line);
        std::string kernel, metric, compiler, reason;
        std::getline(cells, kernel, ',');
        std::getline(cells, metric, ',');
        std::getline(cells, compiler, ',');
        std::getline(cells, reason);
        text += "| " + kernel + " | `" + metric + "` | " + compiler + " | " + reason + " |\n";
    }
    return text;
}

/// Puts `table` between `<!-- name -->` and `<!-- end -->`.
std::string insert(const std::string& page, const std::string& name, const std::string& table) {
    const std::string begin = "<!-- " + name + " -->\n", end = "<!-- end -->";
    const std::size_t from = page.find(begin), to = from == std::string::npos ? from : page.find(end, from);
    if (to == std::string::npos) throw std::runtime_error("docs/model.md lacks " + begin + " or " + end);
    return page.substr(0, from + begin.size()) + table + page.substr(to);
}

int run(const fs::path& root, const std::string& action) {
    const fs::path folder = root / "autograder/validation", page_file = root / "docs/model.md";
    const Times measured = read_times(folder / "measured.csv"),
                modelled = read_times(folder / "modelled.csv");
    const std::vector<Comparison> comparisons = compare(measured, modelled, given_rungs(root));
    if (action.empty()) {
        std::cout << times_table(comparisons) << '\n' << summary(comparisons);
        return 0;
    }
    std::ifstream in(page_file);
    std::string page((std::istreambuf_iterator<char>(in)), {});
    const std::string before = page;
    page = insert(page, "summary", summary(comparisons));
    page = insert(page, "times", "Measured on: " + measured.machine + ".\n\n" + times_table(comparisons));
    page = insert(page, "golden", golden_table(root / "common/simt/golden"));
    if (action == "--check") {
        if (page == before) return 0;
        std::cerr << "docs/model.md is not what its tables say: run rungs_validation " << root.string()
                  << " --write\n";
        return 1;
    }
    rungs::write_file(page_file, page);
    return 0;
}

}  // namespace

int main(int count, char** words) {
    const std::string action = count == 3 ? words[2] : "";
    if (count < 2 || count > 3 || (count == 3 && action != "--write" && action != "--check")) {
        std::cerr << "usage: rungs_validation ROOT [--write | --check]\n";
        return 2;
    }
    try {
        return run(words[1], action);
    } catch (const std::exception& error) {
        std::cerr << "rungs_validation: " << error.what() << '\n';
        return 1;
    }
}
