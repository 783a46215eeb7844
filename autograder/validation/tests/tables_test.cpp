// The tables that compare measured with modelled times.

#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>

#include "rungs/catch.hpp"
#include "tables.hpp"

using namespace rungs::validation;

namespace {

const CaseKey key{"09_topic", "sum", "1024", "uniform"};

Times times(std::vector<std::pair<std::string, double>> rows) { return {"", {{key, std::move(rows)}}}; }

std::string complaint(const std::string& content) {
    const std::string file = "tables_test.csv";
    std::ofstream(file) << content;
    try {
        read_times(file);
        return "";
    } catch (const std::exception& error) {
        return error.what();
    }
}

}  // namespace

TEST_CASE("rank correlation is Spearman's", "[validation]") {
    CHECK(rank_correlation({1, 2, 3}, {10, 20, 30}) == Approx(1));
    CHECK(rank_correlation({1, 2, 3}, {30, 20, 10}) == Approx(-1));
    // 1 - 6 (0 + 1 + 1 + 0) / (4 * 15)
    CHECK(rank_correlation({1, 2, 3, 4}, {1, 3, 2, 4}) == Approx(0.8));
    CHECK(rank_correlation({1, 2, 2, 3}, {1, 2, 2, 3}) == Approx(1));
    CHECK(rank_correlation({5}, {7}) == 1);
    CHECK(rank_correlation({}, {}) == 1);
    CHECK(rank_correlation({1, 1, 1}, {1, 2, 3}) == 1);
}

TEST_CASE("a comparison has speedups over the given rung", "[validation]") {
    const auto all = compare(times({{"01_a", 8}, {"02_b", 4}, {"03_c", 1}, {"04_d", 2}}),
                             times({{"01_a", 8}, {"02_b", 8}, {"03_c", 3}}), {{"09_topic", "01_a"}});
    REQUIRE(all.size() == 1);
    REQUIRE(all[0].lines.size() == 3);  // what is not modelled is left out
    CHECK(all[0].lines[0].speedup_measured == 0);
    CHECK(all[0].lines[1].speedup_measured == 2);
    CHECK(all[0].lines[1].speedup_modelled == 1);
    CHECK(all[0].lines[2].speedup_measured == 8);
    CHECK(all[0].lines[2].speedup_modelled == Approx(8.0 / 3));
    const Share share = within_two(all);
    CHECK(share.of == 2);
    CHECK(share.within == 1);
    CHECK(all[0].rank_correlation == Approx(std::sqrt(3) / 2));  // two of the modelled ones are equal
}

TEST_CASE("without the given rung speedups are over the first", "[validation]") {
    const auto all =
        compare(times({{"02_b", 4}, {"03_c", 1}}), times({{"02_b", 6}, {"03_c", 3}}), {{"09_topic", "01_a"}});
    REQUIRE(all.size() == 1);
    CHECK(all[0].lines[0].speedup_measured == 0);
    CHECK(all[0].lines[1].speedup_measured == 4);
    CHECK(all[0].lines[1].speedup_modelled == 2);
}

TEST_CASE("tables of times are read, and what is wrong is told with its line", "[validation]") {
    CHECK(complaint("# a GPU\n01_x,01_a,sum,1024,uniform,1.5\n") == "");
    CHECK(complaint("01_x,01_a,sum,1024,1.5\n").find("tables_test.csv:1: not chapter") == 0);
    CHECK(complaint("\n01_x,01_a,sum,1024,uniform,fast\n").find("tables_test.csv:2: ") == 0);
    CHECK(complaint("01_x,01_a,sum,1024,uniform,-1\n").find("tables_test.csv:1: ") == 0);
    CHECK_THROWS_AS(read_times("no such file.csv"), std::runtime_error);
    std::ofstream("tables_test.csv")
        << "# a GPU\n# more\nc,01_a,sum,8x4,uniform,1.5\nc,02_b,sum,8x4,uniform,2\n";
    const Times read = read_times("tables_test.csv");
    CHECK(read.machine == "a GPU");
    CHECK(read.of({"c", "sum", "8x4", "uniform"}, "02_b") == 2);
    CHECK(read.of({"c", "sum", "8x4", "uniform"}, "03_c") == 0);
    CHECK(read.of({"c", "dot", "8x4", "uniform"}, "02_b") == 0);
}

#ifdef RUNGS_LADDER
TEST_CASE("the committed table is what the model says", "[validation]") {
    const std::string command = std::string(RUNGS_LADDER) +
                                " " RUNGS_ROOT
                                "/common/simt/model/h200.toml sum:262144:uniform > tables_test_model.csv";
    REQUIRE(std::system(command.c_str()) == 0);
    const Times now = read_times("tables_test_model.csv");
    const Times committed = read_times(RUNGS_ROOT "/autograder/validation/modelled.csv");
    REQUIRE(now.cases.size() == 1);
    const auto& [which, rows] = now.cases[0];
    CHECK(rows.size() == 6);
    for (const auto& [rung, time] : rows) {
        CAPTURE(rung, time);
        // Another compiler makes other machine code of the same source; all else is the same.
        CHECK(std::abs(time / committed.of(which, rung) - 1) < 0.1);
    }
}
#endif
