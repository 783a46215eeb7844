// rungs profile: what ncu counts of a rung on this GPU, beside what check mode predicts.
#include <array>

#include <fmt/format.h>

#include "judge/build/build.hpp"
#include "judge/build/source.hpp"
#include "judge/counts.hpp"
#include "judge/sanitizer.hpp"
#include "program/grading.hpp"
#include "program/interrupt.hpp"
#include "program/verbs.hpp"
#include "report/text.hpp"

namespace rungs {

/// "reduction::tree<(bool)1>" -> "tree": the tools write namespaces and what stands in <> in ways
/// of their own.
static std::string plain_name(std::string kernel) {
    if (const std::string unnamed = "<unnamed>::"; kernel.rfind(unnamed, 0) == 0)
        kernel.erase(0, unnamed.size());
    kernel = kernel.substr(0, kernel.find('<'));
    return kernel.substr(kernel.find_last_of(':') + 1);  // npos + 1 is the beginning
}

int profile(const ProfileOptions& asked, Terminal& out) {
    using simt::check::Access;
    using simt::check::Space;
    const RungChoice& choice = asked.choice;
    refuse_root(asked.as_root, "profile");
    const Workbook workbook = open_workbook();
    const Chosen chosen = choose_rung(workbook, choice.rung);
    require_kernel(chosen);
    if (choice.solution) require_solution(workbook, chosen);
    if (!choice.solution) require_file(workbook, chosen);
    const auto source =
        source_of(workbook, chosen, choice.solution ? judge::Whose::solution : judge::Whose::student);
    judge::JudgeOptions options;
    options.toolchain = workbook.toolchain;
    options.stop = &stop_requested();
    const std::unique_ptr<Exam> exam = judge::exam_of(*chosen.chapter);
    const judge::Trial trial{*chosen.chapter, *chosen.rung, source, *exam, options};
    std::vector<judge::ProfiledLaunch> measured;
    try {
        measured = judge::profile_rung(trial);
    } catch (const judge::InfraError& error) {
        throw CannotCheck(error.what());
    }
    std::string why_not;
    const auto predicted = judge::count(trial, why_not);
    stop_here();
    const Case which = judge::case_to_count(*chosen.chapter, *chosen.rung, *exam);
    out.line(out.paint(Style::bold, chosen.rung->name) + "  " +
             judge::describe(*exam, which, exam->make(which)));
    const judge::SandboxLevel level = judge::tool_level();
    out.line("  isolation " + level.name + ": " + level.describe);
    if (!predicted) out.line("  no prediction: " + why_not);
    struct Row {
        const char* metric;
        const char* words;
    };
    static constexpr std::array rows{
        Row{"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "global load requests"},
        Row{"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "global load sectors"},
        Row{"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", "global store requests"},
        Row{"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "global store sectors"},
        Row{"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "shared load wavefronts"},
        Row{"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", "shared store wavefronts"},
        Row{"smsp__thread_inst_executed_per_inst_executed.ratio", "lanes per instruction"},
        Row{"dram__bytes_read.sum", "bytes read from memory"},
        Row{"dram__bytes_write.sum", "bytes written to memory"},
        Row{"gpu__time_duration.sum", "time in ns"}};
    // ncu sees kernels; fills and copies of the driver's are none of the rung's.
    for (std::size_t i = 0; i < measured.size(); ++i) {
        const judge::ProfiledLaunch& launch = measured[i];
        const simt::check::LaunchCounters* same = nullptr;
        if (predicted && i < predicted->launches.size() &&
            plain_name(predicted->launches[i].kernel) == plain_name(launch.kernel)) {
            same = &predicted->launches[i];
        }
        judge::Tally one;
        if (same) one.launches = {*same};
        const auto prediction = [&](std::size_t row) -> std::string {
            if (!same) return "";
            const auto load = one.total(Space::global, Access::read),
                       store = one.total(Space::global, Access::write);
            switch (row) {
                case 0:
                    return fmt::format("{}", load.requests);
                case 1:
                    return fmt::format("{}", load.sectors);
                case 2:
                    return fmt::format("{}", store.requests);
                case 3:
                    return fmt::format("{}", store.sectors);
                case 4:
                    return fmt::format("{}", one.total(Space::shared, Access::read).wavefronts);
                case 5:
                    return fmt::format("{}", one.total(Space::shared, Access::write).wavefronts);
                case 6:
                    return fmt::format("{:.2f}", 32 * one.simt_efficiency());
                default:
                    return "";
            }
        };
        out.line();
        out.line(out.paint(Style::bold,
                           fmt::format("  {:<32}{:>16}{:>16}", launch.kernel, "this GPU", "predicted")));
        for (std::size_t row = 0; row < rows.size(); ++row) {
            const auto found = launch.metrics.find(rows[row].metric);
            const std::string value =
                found == launch.metrics.end() ? "not reported" : fmt::format("{:.10g}", found->second);
            out.line(fmt::format("  {:<32}{:>16}{:>16}", rows[row].words, value, prediction(row)));
        }
    }
    return 0;
}

}  // namespace rungs
