// rungs check: the student's rungs, the reference solutions, or a submission.
#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "program/grading.hpp"
#include "program/interrupt.hpp"
#include "program/show.hpp"
#include "program/submission.hpp"
#include "program/verbs.hpp"
#include "report/text.hpp"
#include "rungs/atomic_file.hpp"

namespace rungs {
namespace {

/// Names what was handed in and no rung is read from.
void show_ignored(const Ignored& ignored, Terminal& out) {
    constexpr std::size_t most = 10;
    const auto show = [&](const std::vector<std::string>& all, const char* before, const char* behind) {
        for (std::size_t i = 0; i < all.size() && i < most; ++i) {
            const std::string name =
                out.cut(all[i], out.width() - static_cast<int>(std::strlen(before) + std::strlen(behind)));
            out.line(out.paint(Style::warn, before + name + behind));
        }
        if (all.size() > most)
            out.line(out.paint(Style::warn, fmt::format("{}and {} more", before, all.size() - most)));
    };
    show(ignored.names, "not graded: ", " is not an exercise's file");
    show(ignored.why_not_all, "not looked through: ", "");
}

}  // namespace

int check(const CheckOptions& options) {
    // The result alone goes to standard output when it is asked for there.
    Terminal out(options.json == "-" ? stderr : stdout);
    if (options.solution && !options.submission.empty()) {
        throw UsageError("--solution and --submission exclude each other; choose one");
    }
    if (options.sanitize && !options.submission.empty()) {
        throw UsageError(
            "--sanitize and --submission exclude each other: compute-sanitizer has to attach to the rung, "
            "so the rung runs without the sandbox");
    }
    if (options.sanitize) refuse_root(options.as_root, "--sanitize");
    const Workbook workbook = open_workbook();
    const std::vector<Chosen> chosen = choose(workbook, options.names);
    for (const Chosen& one : chosen) {
        if (options.solution) require_solution(workbook, one);
        if (!options.solution && options.submission.empty() && chosen.size() == 1)
            require_file(workbook, one);
    }
    GradeOptions grading;
    if (!options.submission.empty()) grading.submission = submission_folder(options.submission);
    grading.whose = options.solution ? judge::Whose::solution : judge::Whose::student;
    grading.machine = this_machine(options.backend != "cpu");
    grading.backend = choose_backend(workbook, options.backend, grading.machine.gpu);
    grading.sanitize = options.sanitize;
    if (options.sanitize && grading.backend.backend == Backend::cpu) {
        throw CannotCheck(
            "--sanitize needs a GPU (" + grading.backend.why +
            "); without one, check mode looks for the same errors: ./rungs check --backend cpu");
    }
    grading.jobs = options.jobs;
    grading.seed = options.seed ? *options.seed : judge::random_seed();
    grading.remember = true;
    // Who names a seed wants to see these inputs, and what is handed in is judged each time.
    grading.keep = !options.again && !options.seed && options.submission.empty() && !options.sanitize;
    grading.command = "./rungs check";
    for (const std::string& name : options.names) grading.command += " " + name;
    grading.command +=
        fmt::format(" --backend {} --seed {}", name_of(grading.backend.backend), seed_text(grading.seed));
    if (options.sanitize) grading.command += " --sanitize";
    if (options.as_root) grading.command += " --as-root";
    if (options.solution) grading.command += " --solution";
    if (!options.submission.empty()) grading.command += " --submission " + shell_word(options.submission);

    const bool to_file = !options.json.empty() && options.json != "-";
    std::filesystem::path file = options.json;
    const Special special = grading.submission.empty() ? Special::use : Special::refuse;
    if (to_file && !grading.submission.empty()) {
        file = outside(grading.submission, file, "--json");
        // From here on the file is this run's, whatever becomes of it.
        write_file(file, json_text(not_finished(workbook, chosen, grading)), special);
    } else if (to_file) {
        check_writable(file);
    }

    show_heading(workbook, grading, out);
    if (!grading.submission.empty()) {
        std::vector<std::filesystem::path> used;
        for (const Chosen& one : choose(workbook, {})) {
            used.push_back(source_of(workbook, one, grading.whose, grading.submission));
        }
        show_ignored(ignored_files(grading.submission, used), out);
    }
    const Report report = grade(workbook, chosen, grading, out);
    show_failures(workbook, report, grading, out);
    const auto kept = std::count_if(report.rungs.begin(), report.rungs.end(),
                                    [](const RungReport& rung) { return rung.kept; });
    if (kept > 0) {
        out.line(fmt::format("{} of {} unchanged since the last verdict; --again judges them again", kept,
                             report.rungs.size()));
    }
    // A run that was stopped is no result: what the file holds stays.
    stop_here();
    if (grading.whose == judge::Whose::student && grading.submission.empty() && exit_status(report) == 0) {
        if (const auto next = next_exercise(workbook, chosen.back().rung)) {
            out.line("next: " + next->rung->name + ", " +
                     workbook.shown(source_of(workbook, *next, judge::Whose::student)) + " (./rungs check " +
                     next->short_name() + ")");
        }
    }
    if (options.json == "-") {
        Terminal(stdout).write(json_text(report));
    } else if (to_file) {
        write_file(file, json_text(report), special);
        out.line("result: " + clean_name(options.json));
    }
    return exit_status(report);
}

}  // namespace rungs
