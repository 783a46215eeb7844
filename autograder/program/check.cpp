// rungs check: the student's rungs, the reference solutions, or a submission.
#include <algorithm>

#include <fmt/format.h>

#include "grading.hpp"
#include "interrupt.hpp"
#include "rungs/atomic_file.hpp"
#include "verbs.hpp"

namespace rungs {
namespace {

namespace fs = std::filesystem;

/// Files of a submission that no chosen rung is read from: usually a misspelt name.
std::vector<std::string> ignored_files(const fs::path& submission, const std::vector<fs::path>& used) {
    std::vector<std::string> ignored;
    std::error_code error;
    for (fs::recursive_directory_iterator
             it(submission, fs::directory_options::skip_permission_denied, error),
         end;
         !error && it != end; it.increment(error)) {
        if (it.depth() > 2) it.disable_recursion_pending();
        if (it->path().extension() != ".cu") continue;
        if (std::find(used.begin(), used.end(), it->path()) == used.end()) {
            ignored.push_back(it->path().lexically_relative(submission).string());
        }
    }
    std::sort(ignored.begin(), ignored.end());
    return ignored;
}

}  // namespace

int check(const CheckOptions& options) {
    // The result alone goes to standard output when it is asked for there.
    Terminal out(options.json == "-" ? stderr : stdout);
    if (options.solution && !options.submission.empty()) {
        throw UsageError("--solution and --submission exclude each other: which of the two shall be graded?");
    }
    if (options.sanitize && !options.submission.empty()) {
        throw UsageError(
            "--sanitize runs a rung without the sandbox, because compute-sanitizer has to attach to it: not "
            "for "
            "--submission");
    }
    const Workbook workbook = open_workbook();
    const std::vector<Chosen> chosen = choose(workbook, options.names);
    GradeOptions grading;
    if (!options.submission.empty()) {
        std::error_code error;
        if (!fs::is_directory(options.submission, error)) {
            throw UsageError("--submission " + options.submission + ": there is no such folder");
        }
        grading.submission = fs::canonical(options.submission, error);
    }
    grading.whose = options.solution ? judge::Whose::solution : judge::Whose::student;
    grading.machine = this_machine(options.backend != "cpu");
    grading.backend = choose_backend(workbook, options.backend, grading.machine.gpu);
    grading.sanitize = options.sanitize;
    if (options.sanitize && grading.backend.backend == Backend::cpu) {
        throw CannotCheck(
            "--sanitize needs a GPU (" + grading.backend.why +
            "); without one, check mode looks for the same faults: ./rungs check --backend cpu");
    }
    grading.jobs = options.jobs;
    grading.key = options.seed ? *options.seed : judge::random_key();
    grading.remember = true;
    grading.command = "./rungs check";
    for (const std::string& name : options.names) grading.command += " " + name;
    grading.command +=
        fmt::format(" --backend {} --seed {}", name_of(grading.backend.backend), key_text(grading.key));
    if (options.sanitize) grading.command += " --sanitize";
    if (options.solution) grading.command += " --solution";
    if (!options.submission.empty()) grading.command += " --submission " + shell_word(options.submission);

    show_heading(workbook, grading, out);
    if (!grading.submission.empty()) {
        std::vector<fs::path> used;
        for (const Chosen& one : choose(workbook, {})) {
            used.push_back(judge::source_of(*one.chapter, *one.rung, workbook.root(), grading.whose,
                                            grading.submission));
        }
        for (const std::string& file : ignored_files(grading.submission, used)) {
            out.line(out.paint(Style::warn, "not graded: " + file + " is no exercise's file"));
        }
    }
    const Report report = grade(workbook, chosen, grading, out);
    show_failures(workbook, report, grading, out);
    if (!grading.backend.cannot.empty()) {
        out.line(out.paint(Style::bad, grading.backend.cannot) + "; without a GPU: --backend cpu");
    }
    // A run that was stopped is no result: what a file held before stays.
    stop_here();
    if (options.json == "-") {
        Terminal(stdout).write(json_text(report));
    } else if (!options.json.empty()) {
        write_file(options.json, json_text(report));
        out.line("result: " + options.json);
    }
    return exit_status(report);
}

}  // namespace rungs
