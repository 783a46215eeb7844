// What check mode counts is what a GPU counts: the golden set, against the table that measure.sh wrote.

#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "golden.h"
#include "rungs/catch.hpp"
#include "simt/check.h"
#include "simt/counters.h"
#include "table.h"

using namespace simt::check;

namespace {

using Counts = std::map<std::string, double>;

const std::string global_requests = "l1tex__t_requests_pipe_lsu_mem_global_op_";
const std::string global_sectors = "l1tex__t_sectors_pipe_lsu_mem_global_op_";
const std::string shared_wavefronts_of = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_";
const std::string shared_conflicts_of = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_";
const std::string texture_requests = "l1tex__t_requests_pipe_tex_mem_texture.sum";
const std::string texture_sectors = "l1tex__t_sectors_pipe_tex_mem_texture.sum";

/// What check mode says of a launch, under ncu's names. An atomic whose result nobody uses is a `red` on the
/// GPU and else an `atom`; the source does not tell, so both are one here.
Counts predicted(const LaunchCounters& launch) {
    Counts counts;
    for (const SiteCounters& site : launch.sites) {
        const std::string op = site.access == Access::read    ? "ld.sum"
                               : site.access == Access::write ? "st.sum"
                                                              : "atom.sum";
        if (site.space == Space::global) {
            counts[global_requests + op] += static_cast<double>(site.requests);
            counts[global_sectors + op] += static_cast<double>(site.sectors);
        } else if (site.space == Space::shared) {
            counts[shared_wavefronts_of + op] += static_cast<double>(site.wavefronts);
            counts[shared_conflicts_of + op] += static_cast<double>(site.bank_conflicts());
        } else if (site.space == Space::texture) {
            counts[texture_requests] += static_cast<double>(site.requests);
            counts[texture_sectors] += static_cast<double>(site.sectors);
        }
    }
    return counts;
}

/// What ncu counted, in the same form.
Counts measured(const golden::Row& row) {
    Counts counts = row.value;
    for (const std::string& metric : {global_requests, global_sectors}) {
        counts[metric + "atom.sum"] += counts.at(metric + "red.sum");
    }
    return counts;
}

/// How far a prediction may be off. Bank conflicts are part of wavefronts, and as exact.
double allowed(const std::string& metric, const Counts& truth) {
    if (metric.find("wavefronts") != std::string::npos) return 0.02 * truth.at(metric);
    const std::size_t conflicts = metric.find(shared_conflicts_of);
    if (conflicts == 0)
        return 0.02 * truth.at(shared_wavefronts_of + metric.substr(shared_conflicts_of.size()));
    return 0;
}

std::vector<std::string> compared_metrics() {
    std::vector<std::string> metrics{texture_requests, texture_sectors};
    for (const char* op : {"ld.sum", "st.sum", "atom.sum"}) {
        for (const std::string& metric :
             {global_requests, global_sectors, shared_wavefronts_of, shared_conflicts_of}) {
            metrics.push_back(metric + op);
        }
    }
    return metrics;
}

golden::Table read_table() {
    std::ifstream file(GOLDEN_FOLDER "/measured.csv");
    REQUIRE(file);
    return golden::read(file);
}

/// Kernel and metric of each exception of this compiler; its reason.
std::map<std::pair<std::string, std::string>, std::string> read_exceptions() {
    std::map<std::pair<std::string, std::string>, std::string> exceptions;
    std::ifstream file(GOLDEN_FOLDER "/exceptions.csv");
    REQUIRE(file);
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line[0] == '#' || line.rfind("kernel,", 0) == 0) continue;
        std::istringstream cells(line);
        std::string kernel, metric, compiler, reason;
        std::getline(cells, kernel, ',');
        std::getline(cells, metric, ',');
        std::getline(cells, compiler, ',');
        std::getline(cells, reason);
        CAPTURE(line);
        REQUIRE(reason.size() > 10);
        REQUIRE((compiler == "both" || compiler == "g++" || compiler == "clang"));
        if (compiler != "both" && compiler != GOLDEN_COMPILER) continue;
        REQUIRE(exceptions.emplace(std::make_pair(kernel, metric), reason).second);
    }
    return exceptions;
}

// What the launches of run_all() were, for functions without arguments of ours.
Counting* counting = nullptr;
std::map<std::string, Counts> results;

}  // namespace

TEST_CASE("check mode counts what the GPU counts", "[simt][golden]") {
    clear();
    results.clear();
    Counting counts;
    counting = &counts;
    golden::run_all([](const golden::Kernel&) { counting->clear(); },
                    [](const golden::Kernel& kernel) {
                        CAPTURE(kernel.name);
                        REQUIRE(counting->launches().size() == 1);
                        CHECK(counting->launches()[0].exact);
                        REQUIRE(results.emplace(kernel.name, predicted(counting->launches()[0])).second);
                    });
    std::string found;
    for (const Finding& finding : findings()) found += to_text(finding);
    CHECK(found == "");

    const golden::Table table = read_table();
    auto exceptions = read_exceptions();
    const std::vector<std::string> metrics = compared_metrics();
    CHECK(table.rows.size() >= 25);
    CHECK(table.rows.size() == results.size());
    std::size_t agreed = 0;
    for (const golden::Row& row : table.rows) {
        REQUIRE(results.count(row.name) == 1);
        const Counts truth = measured(row);
        for (const std::string& metric : metrics) {
            const double expected = truth.at(metric), got = results[row.name][metric];
            const bool agrees = std::abs(got - expected) <= allowed(metric, truth);
            CAPTURE(row.name, metric, expected, got);
            const bool excepted = exceptions.erase({row.name, metric}) > 0;
            if (excepted) {
                CHECK_FALSE(agrees);  // else the exception has to go
            } else {
                CHECK(agrees);
                agreed += expected > 0;
            }
        }
    }
    for (const auto& [exception, reason] : exceptions) {
        CAPTURE(exception.first, exception.second);
        FAIL_CHECK("an exception for what is not compared");
    }
    CHECK(agreed > 400);  // counts that are not zero
}

TEST_CASE("tables of counters survive being written", "[simt][golden]") {
    const golden::Table table = read_table();
    std::stringstream text;
    golden::write(text, table);
    const golden::Table same = golden::read(text);
    CHECK(same.comments == table.comments);
    CHECK(same.metrics == table.metrics);
    REQUIRE(same.rows.size() == table.rows.size());
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
        CHECK(same.rows[i].name == table.rows[i].name);
        CHECK(same.rows[i].value == table.rows[i].value);
    }
}

TEST_CASE("ncu's output is read, and what is wrong with it is told", "[simt][golden]") {
    const auto read = [](const std::string& text, const std::vector<std::string>& names) {
        std::istringstream in(text);
        return golden::read_ncu(in, names, {"m.sum"});
    };
    const std::string head = "==PROF== Connected\n\"ID\",\"Kernel Name\",\"m.sum\"\n\"\",\"\",\"byte\"\n";
    const golden::Table table =
        read(head + "a\n\"0\",\"k(int, int)\",\"1,234\"\n\"1\",\"k\",\"5.5\"\n", {"a", "b"});
    REQUIRE(table.rows.size() == 2);
    CHECK(table.rows[0].value.at("m.sum") == 1234);
    CHECK(table.rows[1].value.at("m.sum") == 5.5);
    std::istringstream in(
        head + "\"0\",\"a\",\"3\"\n\"1\",\"b\",\"4\"\n\"2\",\"end()\",\"100\"\n\"3\",\"end()\",\"100\"\n");
    const golden::Table sums = golden::read_ncu(in, {"both", "none"}, {"m.sum"}, "end");
    REQUIRE(sums.rows.size() == 2);
    CHECK(sums.rows[0].value.at("m.sum") == 7);
    CHECK(sums.rows[1].value.at("m.sum") == 0);
    CHECK_THROWS_WITH(read(head, {"a"}), "0 launches, but 1 names");
    CHECK_THROWS_WITH(read(head + "\"0\",\"k\",\"1\"\n", {}), "more launches than names");
    CHECK_THROWS_WITH(read("\"ID\",\"other.sum\"\n", {}), "ncu has no column m.sum");
    CHECK_THROWS_WITH(read(head + "\"0\",\"k\",\"n/a\"\n", {"a"}), "'n/a' is not a number");
}
