// rungs demo: every reference solution on this machine, in a student edition every given rung, and a report
// to look at.
#include <fmt/format.h>

#include "judge/build/edition.hpp"
#include "program/grading.hpp"
#include "program/interrupt.hpp"
#include "program/show.hpp"
#include "program/verbs.hpp"
#include "rungs/atomic_file.hpp"

namespace rungs {

int demo(const DemoOptions& options) {
    namespace fs = std::filesystem;
    Terminal out(options.json == "-" ? stderr : stdout);
    const Workbook workbook = open_workbook();
    fs::path page = options.out.empty() ? workbook.root() / "report" : fs::path(options.out);
    if (page.extension() != ".html") page /= "index.html";
    const fs::path json = options.json.empty() ? page.parent_path() / "result.json" : fs::path(options.json);

    GradeOptions grading;
    grading.given = judge::is_edition(workbook.root());
    grading.whose = grading.given ? judge::Whose::student : judge::Whose::solution;
    grading.machine = this_machine();
    grading.backend = choose_backend(workbook, options.backend, grading.machine.gpu);
    grading.jobs = options.jobs;
    grading.seed = options.seed ? *options.seed : judge::random_seed();
    grading.command = fmt::format("./rungs demo --backend {} --seed {}", name_of(grading.backend.backend),
                                  seed_text(grading.seed));
    if (page.has_parent_path()) {
        std::error_code error;
        fs::create_directories(page.parent_path(), error);
        if (error) throw FileError(page.parent_path(), error.value(), "could not make the folder");
    }
    check_writable(page);
    if (options.json != "-") check_writable(json);
    std::vector<Chosen> chosen = choose(workbook, {});
    if (grading.given) std::erase_if(chosen, [](const Chosen& one) { return !one.rung->given(); });
    show_heading(workbook, grading, out);
    const Report report = grade(workbook, chosen, grading, out);
    show_failures(workbook, report, grading, out);
    stop_here();

    write_file(page, to_html(report));
    if (options.json == "-") {
        Terminal(stdout).write(json_text(report));
    } else {
        write_file(json, json_text(report));
    }
    out.line();
    out.line("report: " + out.paint(Style::link, fs::absolute(page).lexically_normal().string()));
    if (options.json != "-")
        out.line("result: " + out.paint(Style::link, fs::absolute(json).lexically_normal().string()));
    if (report.all_passed())
        out.line("next:   " + out.paint(Style::bold, "./rungs next") + " shows the first rung to write");
    return exit_status(report);
}

}  // namespace rungs
