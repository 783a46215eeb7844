// The tables that compare measured with modelled times.

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "rungs/catch.hpp"
#include "rungs/temporary_folder.hpp"
#include "tables.hpp"

using namespace rungs::validation;

namespace {

/// A temporary folder is the current one, so that names of files are short in messages.
class InTemporaryFolder {
  public:
    InTemporaryFolder() { std::filesystem::current_path(folder_ / "."); }
    ~InTemporaryFolder() { std::filesystem::current_path(before_); }

  private:
    const std::filesystem::path before_ = std::filesystem::current_path();
    const rungs::TemporaryFolder folder_;
};

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
    CHECK(rank_correlation({1, 2, 3}, {10, 20, 30}) == Catch::Approx(1));
    CHECK(rank_correlation({1, 2, 3}, {30, 20, 10}) == Catch::Approx(-1));
    // 1 - 6 (0 + 1 + 1 + 0) / (4 * 15)
    CHECK(rank_correlation({1, 2, 3, 4}, {1, 3, 2, 4}) == Catch::Approx(0.8));
    CHECK(rank_correlation({1, 2, 2, 3}, {1, 2, 2, 3}) == Catch::Approx(1));
    CHECK(rank_correlation({5}, {7}) == 1);
    CHECK(rank_correlation({}, {}) == 1);
    CHECK(rank_correlation({1, 1, 1}, {1, 2, 3}) == 1);
}

TEST_CASE("a comparison has speedups over the baseline", "[validation]") {
    const auto all = compare(times({{"01_a", 8}, {"02_b", 4}, {"03_c", 1}, {"04_d", 2}}),
                             times({{"01_a", 8}, {"02_b", 8}, {"03_c", 3}}), {{"09_topic", {"01_a"}}});
    REQUIRE(all.size() == 1);
    REQUIRE(all[0].lines.size() == 3);  // what is not modelled is left out
    CHECK(all[0].lines[0].speedup_measured == 0);
    CHECK(all[0].lines[1].speedup_measured == 2);
    CHECK(all[0].lines[1].speedup_modelled == 1);
    CHECK(all[0].lines[2].speedup_measured == 8);
    CHECK(all[0].lines[2].speedup_modelled == Catch::Approx(8.0 / 3));
    const Share share = within_two(all);
    CHECK(share.of == 2);
    CHECK(share.within == 1);
    CHECK(all[0].rank_correlation == Catch::Approx(std::sqrt(3) / 2));  // two of the modelled ones are equal
}

TEST_CASE("of several baselines, that counts which solves the case's problem", "[validation]") {
    const Times both = times({{"02_b", 4}, {"03_c", 2}, {"04_d", 1}});
    CHECK(compare(both, both, {{"09_topic", {"01_a", "03_c"}}}).at(0).lines.at(2).speedup_measured == 2);
    CHECK(compare(both, both, {{"09_topic", {"02_b", "03_c"}}}).at(0).lines.at(2).speedup_measured == 4);
    CHECK(compare(both, both, {}).at(0).lines.at(0).baseline == "02_b");
}

TEST_CASE("without a baseline speedups are over the first", "[validation]") {
    const auto all = compare(times({{"02_b", 4}, {"03_c", 1}}), times({{"02_b", 6}, {"03_c", 3}}),
                             {{"09_topic", {"01_a"}}});
    REQUIRE(all.size() == 1);
    CHECK(all[0].lines[0].speedup_measured == 0);
    CHECK(all[0].lines[1].speedup_measured == 4);
    CHECK(all[0].lines[1].speedup_modelled == 2);
}

TEST_CASE("tables of times are read, and what is wrong is reported with its line", "[validation]") {
    const InTemporaryFolder here;
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

TEST_CASE("counts of the GPU and of check mode are compared, and every difference has a reason",
          "[validation]") {
    const InTemporaryFolder here;
    const std::vector<std::string> metrics{"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
                                           "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
                                           "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
                                           "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
                                           "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum",
                                           "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum",
                                           "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
                                           "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
                                           "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum",
                                           "l1tex__t_requests_pipe_tex_mem_texture.sum",
                                           "l1tex__t_sectors_pipe_tex_mem_texture.sum",
                                           "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum",
                                           "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum",
                                           "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
                                           "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
                                           "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum"};
    std::string head = "kernel";
    for (const std::string& metric : metrics) head += ',' + metric;
    const auto complaint = [&](const std::string& counted, const std::string& predicted,
                               const std::string& exceptions) -> std::string {
        std::ofstream("counts_test_gpu.csv") << "# a GPU\n" << head << '\n' << counted;
        std::ofstream("counts_test_own.csv") << head << '\n' << predicted;
        std::ofstream("counts_test_why.csv") << "rung,counts,reason\n" << exceptions;
        try {
            const CountComparison all =
                compare_counts(read_counts("counts_test_gpu.csv"), read_counts("counts_test_own.csv"),
                               "counts_test_why.csv");
            CHECK(all.machine == "a GPU");
            return std::to_string(all.equal) + " of " + std::to_string(all.of);
        } catch (const std::exception& error) {
            return error.what();
        }
    };
    // Two reductions of the GPU's are atomics of the source's; 101 wavefronts for 100 are near enough.
    const std::string gpu = "01_x 01_a sum 8 uniform,4,16,1,1,0,0,100,0,0,0,0,2,2,0,0,0\n";
    CHECK(complaint(gpu, "01_x 01_a sum 8 uniform,4,16,1,1,2,2,101,0,0,0,0,0,0,0,0,0\n", "") == "7 of 7");
    const std::string other = "01_x 01_a sum 8 uniform,4,17,1,1,2,2,110,0,0,0,0,0,0,0,0,0\n";
    CHECK(complaint(gpu, other, "").find("01_x 01_a sum 8 uniform: no reason in") == 0);
    CHECK(complaint(gpu, other, "01_x/01_a,load sectors + load wavefronts,it unrolls\n") == "5 of 7");
    CHECK(complaint(gpu, other, "01_x/01_a,load sectors + load wavefronts + store sectors,it unrolls\n")
              .find("does not differ in store sectors") != std::string::npos);
    CHECK(complaint(gpu, other, "01_x/01_a,sectors,it unrolls\n").find("no count is called 'sectors'") !=
          std::string::npos);
    CHECK(complaint(gpu, "01_x 02_b sum 8 uniform,4,16,1,1,2,2,100,0,0,0,0,0,0,0,0,0\n", "")
              .find("check mode has not counted '01_x 01_a") != std::string::npos);
}

#ifdef RUNGS_LADDER
TEST_CASE("the committed table is what the model says", "[validation]") {
    const InTemporaryFolder here;
    std::string command = RUNGS_LADDER " " RUNGS_ROOT;
    command += "/common/simt/model/h200.toml sum:262144:uniform > tables_test_model.csv";
    REQUIRE(std::system(command.c_str()) == 0);
    const Times now = read_times("tables_test_model.csv");
    const Times committed = read_times(RUNGS_ROOT "/common/ladder/validation/modelled.csv");
    REQUIRE(now.cases.size() == 1);
    const auto& [which, rows] = now.cases[0];
    std::size_t compared = 0;
    for (const auto& [rung, time] : rows) {
        CAPTURE(rung, time);
        const double then = committed.of(which, rung);
        if (!(then > 0)) continue;  // the table has what was timed on a GPU, too
        // Another compiler makes other machine code of the same source; all else is the same.
        CHECK(std::abs(time / then - 1) < 0.1);
        ++compared;
    }
    CHECK(compared == 6);
}
#endif
