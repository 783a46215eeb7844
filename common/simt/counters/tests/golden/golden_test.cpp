// What check mode counts is what a GPU counts: the golden set, against the table that measure.sh wrote.

#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "counters/tests/golden/golden.h"
#include "simt/inspect/check.h"
#include "simt/inspect/counters.h"
#include "simt/inspect/metrics.h"
#include "simt/inspect/table.h"
#include "testing/catch.h"

using namespace simt::check;

namespace {

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
std::map<std::string, golden::Counts> results;

}  // namespace

TEST_CASE("check mode counts what the GPU counts", "[simt][golden]") {
    clear();
    results.clear();
    Counting counts;
    counting = &counts;
    golden::run_all(
        [](const golden::Kernel&) { counting->clear(); },
        [](const golden::Kernel& kernel) {
            CAPTURE(kernel.name);
            REQUIRE(counting->launches().size() == 1);
            CHECK(counting->launches()[0].exact);
            REQUIRE(results.emplace(kernel.name, golden::counts_of(counting->launches()[0])).second);
        });
    std::string found;
    for (const Finding& finding : findings()) found += to_text(finding);
    CHECK(found == "");

    const golden::Table table = read_table();
    auto exceptions = read_exceptions();
    CHECK(table.rows.size() >= 25);
    CHECK(table.rows.size() == results.size());
    std::size_t agreed = 0;
    for (const golden::Row& row : table.rows) {
        REQUIRE(results.count(row.name) == 1);
        const golden::Counts truth = golden::counts_of(row);
        for (const std::string& metric : golden::compared_metrics()) {
            const double expected = truth.at(metric), got = results[row.name][metric];
            const bool agrees = std::abs(got - expected) <= golden::allowed(metric, truth);
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
