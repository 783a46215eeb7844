// The command line: which verb, with which options; and what becomes of problems.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "program/interrupt.hpp"
#include "program/starter.hpp"
#include "program/verbs.hpp"
#include "report/text.hpp"
#include "rungs/atomic_file.hpp"

#ifndef RUNGS_VERSION
#define RUNGS_VERSION "0"
#endif

namespace rungs {
namespace {

constexpr int wrong_use = 2, could_not_check = 3, reader_gone = 128 + 13;

/// The options of all verbs.
struct Arguments {
    DemoOptions demo;
    CheckOptions check;
    WatchOptions watch;
    ExplainOptions explain;
    SeeOptions see;
    ProfileOptions profile;
    RunOptions run;
    BenchOptions bench;
    ClassOptions grade;
    ReviewOptions review;
    ExportOptions exports;
    std::string rung;
    bool all_hints = false;
    std::string seed;
};

std::optional<std::uint64_t> seed_of(const std::string& text) {
    if (text.empty()) return std::nullopt;
    std::size_t used = 0;
    try {
        // stoull would take a sign and wrap around.
        if (text[0] >= '0' && text[0] <= '9') {
            const std::uint64_t value = std::stoull(text, &used, 0);
            if (used == text.size()) return value;
        }
    } catch (const std::logic_error&) {
        used = 0;
    }
    throw UsageError("--seed " + text + ": expected a number from 0 to 2^64 - 1, decimal or 0x...");
}

void add_backend(CLI::App* verb, std::string& backend) {
    verb->add_option("--backend", backend, "cpu, cuda, or auto (cuda if a GPU responds)")
        ->check(CLI::IsMember({"cpu", "cuda", "auto"}))
        ->type_name("NAME")
        ->capture_default_str();
}

void add_jobs(CLI::App* verb, unsigned& jobs) {
    verb->add_option("--jobs", jobs, "Rungs in parallel, except GPU timing [one per core, as memory allows]")
        ->check(CLI::Range(1, 1024))
        ->type_name("N");
}

/// What --to takes.
const std::vector<std::string> export_forms = {
#define EXPORT_FORM(name, writer, place, what) name,
#include "class/export_forms.def"
};

/// "a, b or c", in lines of help.
std::string in_words(const std::vector<std::string>& names) {
    constexpr std::size_t width = 60;
    std::string text, line;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const std::string word = names[i] + (i + 2 < names.size() ? "," : i + 2 == names.size() ? " or" : "");
        if (!line.empty() && line.size() + 1 + word.size() > width) {
            text += line + '\n';
            line.clear();
        }
        line += (line.empty() ? "" : " ") + word;
    }
    return text + line;
}

void add_rung(CLI::App* verb, RungChoice& choice) {
    verb->add_option("rung", choice.rung, "Such as 01/03")->required()->type_name("RUNG");
    verb->add_flag("--solution", choice.solution, "Use the reference solution instead of yours");
    verb->add_option("--submission", choice.submission, "Folder whose rung files are used instead of yours")
        ->type_name("DIR");
}

void add_demo(CLI::App& app, Arguments& in) {
    CLI::App* demo =
        app.add_subcommand("demo", "Grade every reference solution on this machine and write a report");
    add_backend(demo, in.demo.backend);
    demo->add_option("--json", in.demo.json, "Result file; - for standard output [beside the report]")
        ->type_name("FILE");
    demo->add_option("--out", in.demo.out, "Folder or .html file of the report [report/]")->type_name("PATH");
    demo->add_option("--seed", in.seed, "Repeat the inputs of an earlier run")->type_name("N");
    add_jobs(demo, in.demo.jobs);
    demo->footer("Example: ./rungs demo --backend cpu --json demo.json");
}

void add_hint(CLI::App& app, Arguments& in) {
    CLI::App* hint = app.add_subcommand("hint", "Help with a rung, a little more each time");
    hint->add_option("rung", in.rung, "Such as 01/03")->required()->type_name("RUNG");
    hint->add_flag("--all", in.all_hints, "All hints at once");
    hint->footer("Example: ./rungs hint 01/03");
}

void add_reset(CLI::App& app, Arguments& in) {
    CLI::App* reset =
        app.add_subcommand("reset", "Restore the starter of a rung; your version is kept as a backup");
    reset->add_option("rung", in.rung, "Such as 01/03")->required()->type_name("RUNG");
    reset->footer("Example: ./rungs reset 01/03");
}

void add_check(CLI::App& app, Arguments& in) {
    CLI::App* check = app.add_subcommand("check", "Judge your rungs: verdict, reason, points");
    check->add_option("names", in.check.names, "Chapters and rungs [all]")->type_name("NAME");
    add_backend(check, in.check.backend);
    check->add_option("--json", in.check.json, "Also write the result; - for standard output")
        ->type_name("FILE");
    check->add_flag("--solution", in.check.solution, "Grade the reference solutions instead");
    check
        ->add_option("--submission", in.check.submission, "Folder whose rung files are used instead of yours")
        ->type_name("DIR");
    check->add_flag("--sanitize", in.check.sanitize,
                    "Also run compute-sanitizer (needs a GPU; the rung runs unconfined)");
    check->add_flag("--as-root", in.check.as_root,
                    "With --sanitize: run even as root, although the rung is unconfined");
    check->add_option("--seed", in.seed, "Repeat the inputs of an earlier run")->type_name("N");
    check->add_flag("--again", in.check.again, "Judge again even if nothing has changed");
    add_jobs(check, in.check.jobs);
    check->footer("Example: ./rungs check 01/03 --backend cpu --json result.json");
}

void add_watch(CLI::App& app, Arguments& in) {
    CLI::App* watch = app.add_subcommand("watch", "Check your rungs on every save");
    watch->add_option("rung", in.watch.name, "Only this rung or chapter [whatever is saved]")
        ->type_name("NAME");
    add_backend(watch, in.watch.backend);
    watch->add_flag("--poll", in.watch.poll, "Poll the files, for drives that do not report changes");
    watch->footer("Example: ./rungs watch 01/03");
}

void add_explain(CLI::App& app, Arguments& in) {
    CLI::App* explain =
        app.add_subcommand("explain", "The source of a rung with counters in the margin, and advice");
    add_rung(explain, in.explain.choice);
    explain->add_option("--json", in.explain.json, "Also write the counters; - for standard output")
        ->type_name("FILE");
    explain->footer("Example: ./rungs explain 01/03 --solution");
}

void add_predict(CLI::App& app, Arguments& in) {
    CLI::App* predict =
        app.add_subcommand("predict", "Answer a predict rung's questions, then see the counters");
    predict->add_option("rung", in.rung, "Such as 01/07")->required()->type_name("RUNG");
    predict->footer("Example: ./rungs predict 01/07");
}

void add_see(CLI::App& app, Arguments& in) {
    CLI::App* see =
        app.add_subcommand("see", "Pictures of what a warp touches: sectors, banks, lanes, barriers");
    add_rung(see, in.see.choice);
    see->add_option("--line", in.see.line, "Source line [the most expensive]")->type_name("N");
    see->add_option("--block", in.see.block, "Block of the kernel's first launch")
        ->type_name("N")
        ->capture_default_str();
    see->add_option("--warp", in.see.warp, "Warp of the block")->type_name("N")->capture_default_str();
    see->add_option("--out", in.see.out, "Folder of the pictures [report/see/]")->type_name("DIR");
    see->footer("Example: ./rungs see 01/02 --warp 3");
}

void add_profile(CLI::App& app, Arguments& in) {
    CLI::App* profile = app.add_subcommand(
        "profile", "A rung's counters on this GPU, read by ncu, next to the predicted ones");
    profile->add_option("rung", in.profile.choice.rung, "Such as 01/03")->required()->type_name("RUNG");
    profile->add_flag("--solution", in.profile.choice.solution,
                      "Use the reference solution instead of yours");
    profile->add_flag("--as-root", in.profile.as_root,
                      "Run even as root, although ncu runs the rung unconfined");
    profile->footer("Example: ./rungs profile 01/03 --solution");
}

void add_run(CLI::App& app, Arguments& in) {
    CLI::App* run = app.add_subcommand("run", "A chapter's program, with your rungs");
    run->add_option("chapter", in.run.chapter, "Such as 01")->required()->type_name("CHAPTER");
    run->add_option("arguments", in.run.arguments, "Arguments of the program, after --")->type_name("ARG");
    add_backend(run, in.run.backend);
    run->add_flag("--solution", in.run.solution, "Use the reference solutions");
    run->footer("Example: ./rungs run 01 --solution -- --help");
}

void add_bench(CLI::App& app, Arguments& in) {
    CLI::App* bench = app.add_subcommand("bench", "Every rung and the libraries side by side on this GPU");
    bench->add_option("chapter", in.bench.chapter, "Such as 01 [all]")->type_name("CHAPTER");
    bench->add_option("arguments", in.bench.arguments, "Arguments of the benchmark, after --")
        ->type_name("ARG");
    bench->footer("Example: ./rungs bench 01");
}

void add_grade(CLI::App& app, Arguments& in) {
    CLI::App* grade = app.add_subcommand("grade", "Grade a class and keep records");
    grade
        ->add_option("class", in.grade.place,
                     "Folder or archive with a folder or archive per student, or a\n"
                     "download of Gradescope, Canvas or Moodle")
        ->required()
        ->type_name("CLASS");
    grade->add_option("--out", in.grade.out, "Folder of the records; running again resumes there")
        ->required()
        ->type_name("DIR");
    grade->add_option("--assignment", in.grade.assignment, "Rungs, due date, policy [CLASS/assignment.toml]")
        ->check(CLI::ExistingFile)
        ->type_name("FILE");
    grade->add_option("--regrade", in.grade.regrade, "Judge again: all, a student, a rung, or STUDENT/RUNG")
        ->type_name("WHAT");
    grade->add_option("--backend", in.grade.backend, "cpu or cuda, for the whole class")
        ->check(CLI::IsMember({"cpu", "cuda"}))
        ->type_name("NAME")
        ->capture_default_str();
    grade->add_option("--group", in.grade.group, "Group whose members may also grade and decide in DIR")
        ->type_name("NAME");
    grade->add_flag("--below-s3", in.grade.below,
                    "Grade even if the sandbox is weaker than the class requires");
    add_jobs(grade, in.grade.jobs);
    grade->add_flag("--slurm", in.grade.slurm, "Submit to Slurm as a job array, followed by a report job");
    grade->add_option("--tasks", in.grade.tasks, "Jobs in the array [one per 50 files to judge, at most 100]")
        ->check(CLI::Range(1, 100'000))
        ->type_name("N");
    grade->add_option("options", in.grade.sbatch, "Options for sbatch (with --slurm), after --")
        ->type_name("OPTION");
    grade->add_option("--task", in.grade.task, "Used by the jobs that --slurm submits")->type_name("RUN/N");
    grade->footer(
        "Example: ./rungs grade class --out graded --jobs 4\n"
        "     and ./rungs grade class --out graded --slurm -- --partition=short --cpus-per-task=4");
}

void add_review_and_replay(CLI::App& app, Arguments& in) {
    CLI::App* review = app.add_subcommand("review", "List and make the decisions that need a human");
    CLI::App* replay =
        app.add_subcommand("replay", "Judge a submitted rung again with the same inputs, for an appeal");
    for (CLI::App* verb : {review, replay}) {
        verb->add_option("folder", in.review.folder, "Folder that ./rungs grade wrote")
            ->required()
            ->type_name("DIR");
        verb->add_option("student", in.review.student, "Id in the roster")
            ->required(verb == replay)
            ->type_name("STUDENT");
        verb->add_option(
                "rung", in.review.rung,
                verb == review ? "Such as 01/03, or all: every rung without points" : "Such as 01/03")
            ->required(verb == replay)
            ->type_name("RUNG");
        verb->add_option("--attempt", in.review.attempt, "Number of the attempt [the one that counts]")
            ->check(CLI::PositiveNumber)
            ->type_name("N");
    }
    review->add_option("--points", in.review.points, "Points that replace the judge's")->type_name("N");
    review->add_option("--take", in.review.take, "File to take as the rung's, despite its name")
        ->type_name("FILE");
    review->add_option("--because", in.review.because, "Reason, which is kept with the decision")
        ->type_name("TEXT");
    review->add_option("--withdraw", in.review.withdraw, "Withdraw a hand-in of STUDENT")->type_name("N|all");
    review->add_option("--restore", in.review.restore, "Restore a withdrawn hand-in")->type_name("N|all");
    review->add_flag("--decided", in.review.decided, "Also list past decisions");
    review->add_flag("--changes", in.review.changes, "Instead: list changes of points after re-judging");
    review->add_flag("--similar", in.review.similar,
                     "Instead: list similar hand-ins (needs similarity-tester)");
    review->footer(
        "Example: ./rungs review graded ada 01/03 --points 10 --because \"the time limit was ours\"\n     "
        "and ./rungs review graded ben --withdraw 2 --because \"it was handed in for somebody else\"\n     "
        "and ./rungs review graded ada 01/03 --take \"03_shared_tree (1).cu\" --because \"downloaded "
        "twice\"\n\nExit status: 0 nothing is open, 2 wrong use, 3 something is open.");
    replay->footer("Example: ./rungs replay graded ada 01/03\n\nExit status: 0 the same, 1 they differ.");
}

void add_export(CLI::App& app, Arguments& in) {
    CLI::App* exports = app.add_subcommand("export", "Export a class's grades");
    exports->add_option("folder", in.exports.folder, "Folder that ./rungs grade wrote")
        ->required()
        ->type_name("DIR");
    exports->add_option("--to", in.exports.to, in_words(export_forms))
        ->required()
        ->check(CLI::IsMember(export_forms).description(""))
        ->type_name("FORMAT");
    exports->add_option("--out", in.exports.out, "File or folder [standard output, or DIR/exports/FORMAT]")
        ->type_name("PATH");
    exports
        ->add_option("--detail", in.exports.detail, "Detail shown: points, reasons (and the verdict), or all")
        ->check(CLI::IsMember({"points", "reasons", "all"}))
        ->type_name("LEVEL")
        ->capture_default_str();
    exports->add_option("--from", in.exports.from, "Gradebook exported by Canvas or Moodle, to fill in")
        ->type_name("FILE");
    exports->add_option("--column", in.exports.column, "Column to fill [the assignment's]")
        ->type_name("NAME");
    exports
        ->add_option("--match", in.exports.match, "Column that identifies the student [found by its heading]")
        ->type_name("NAME");
    exports->add_flag("--scale", in.exports.scale, "Scale points to the column's maximum");
    exports->add_option("--visibility", in.exports.visibility, "When Gradescope shows results to students")
        ->check(CLI::IsMember({"hidden", "after_due_date", "after_published", "visible"}))
        ->type_name("WHEN")
        ->capture_default_str();
    exports->footer(
        "Example: ./rungs export graded --to html --detail all\n"
        "     and ./rungs export graded --to canvas --from grades.csv --out filled.csv\n\n"
        "Exit status: 0 all grades are exported, 1 a grade has no row, 2 wrong use,\n"
        "3 a student has no grade yet.");
}

/// Verbs are listed in this order.
void describe(CLI::App& app, Arguments& in) {
    app.require_subcommand(1);
    app.set_version_flag("--version", std::string("rungs ") + RUNGS_VERSION);
    app.footer(
        "Example: ./rungs check 01/03\n\n"
        "Name a rung by number (01/03), by name (01/shared_tree) or by the path of its file, and a\n"
        "chapter by 01, reduction or 01_reduction.\n"
        "Exit status: 0 all passed, 1 something failed, 2 wrong use, 3 could not check.");
    add_demo(app, in);
    app.add_subcommand("test", "Set up, build and run the tests")->footer("Example: ./rungs test");
    app.add_subcommand("list", "All rungs, and your progress")->footer("Example: ./rungs list");
    app.add_subcommand("next", "The next rung to write")->footer("Example: ./rungs next");
    add_hint(app, in);
    add_reset(app, in);
    add_check(app, in);
    add_watch(app, in);
    add_explain(app, in);
    add_predict(app, in);
    add_see(app, in);
    add_profile(app, in);
    add_run(app, in);
    add_bench(app, in);
    add_grade(app, in);
    add_review_and_replay(app, in);
    add_export(app, in);
    app.add_subcommand("doctor", "What this machine has, what is missing, and what helps")
        ->footer("Example: ./rungs doctor");
}

[[noreturn]] void become_class_program(const std::string& verb, char** argv) {
    const std::string program =
        std::filesystem::read_symlink("/proc/self/exe").replace_filename("rungs_class").string();
    default_signals();
    execv(program.c_str(), argv);
    const std::string why = std::strerror(errno);
    throw CannotCheck("cannot start " + program + ": " + why + "; ./rungs " + verb + " builds it");
}

int dispatch(const std::string& verb, Arguments& in, const ClassVerbs* class_verbs, char** argv) {
    const bool of_class = verb == "grade" || verb == "review" || verb == "replay" || verb == "export";
    if (of_class && !class_verbs) become_class_program(verb, argv);
    if (verb == "check") {
        in.check.seed = seed_of(in.seed);
        return check(in.check);
    }
    if (verb == "demo") {
        in.demo.seed = seed_of(in.seed);
        return demo(in.demo);
    }
    if (verb == "explain") return explain(in.explain);
    if (verb == "see") return see(in.see);
    if (verb == "export") return class_verbs->export_class(in.exports);
    Terminal out(stdout);
    if (verb == "list") return list(out);
    if (verb == "next") return next(out);
    if (verb == "hint") return hint(in.rung, in.all_hints, out);
    if (verb == "reset") return reset(in.rung, out);
    if (verb == "predict") return predict(in.rung, out);
    if (verb == "watch") return watch(in.watch, out);
    if (verb == "profile") return profile(in.profile, out);
    if (verb == "run") return run(in.run, out);
    if (verb == "bench") return bench(in.bench, out);
    if (verb == "grade") return class_verbs->grade(in.grade, out);
    if (verb == "review") return class_verbs->review(in.review, out);
    if (verb == "replay") return class_verbs->replay(in.review, out);
    if (verb == "doctor") return doctor(out);
    throw UsageError("the tests are run by the launcher at the root of the workbook: ./rungs test");
}

void complain(const std::string& what) {
    std::fflush(stdout);
    std::fprintf(stderr, "rungs: %s\n", clean_utf8(what).c_str());
}

/// An unknown verb gets the nearest ones.
std::string unknown_verb(const CLI::App& app, int argc, char** argv) {
    std::vector<std::string> verbs;
    for (const CLI::App* verb : app.get_subcommands({})) verbs.push_back(verb->get_name());
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word.empty() || word[0] == '-') continue;
        if (std::find(verbs.begin(), verbs.end(), word) != verbs.end()) return {};
        std::string text = "unknown verb '" + word + "'";
        const std::vector<std::string> near = nearest(word, verbs);
        for (std::size_t k = 0; k < near.size(); ++k) text += (k == 0 ? "; did you mean " : " or ") + near[k];
        return text + (near.empty() ? "; ./rungs --help lists them" : "?");
    }
    return {};
}

int parse_and_run(int argc, char** argv, const ClassVerbs* class_verbs) {
    CLI::App app(
        "Rungs, a CUDA workbook: climb from a naive kernel to the library's speed, one idea per rung",
        "rungs");
    Arguments in;
    describe(app, in);
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& success) {
        // --help and --version
        std::ostringstream text, errors;
        app.exit(success, text, errors);
        Terminal(stdout).write(text.str());
        return 0;
    } catch (const CLI::ParseError& error) {
        const std::string unknown = unknown_verb(app, argc, argv);
        const char* more =
            app.got_subcommand("run") || app.got_subcommand("bench")
                ? "; options of the chapter's program follow --, as in: ./rungs run 01 -- --help"
                : "; see --help";
        complain(unknown.empty() ? error.what() + std::string(more) : unknown);
        return wrong_use;
    }
    return dispatch(app.get_subcommands().front()->get_name(), in, class_verbs, argv);
}

}  // namespace

int run_program(int argc, char** argv, const ClassVerbs* class_verbs) {
    handle_signals();
    std::setlocale(LC_ALL, "");
    std::setlocale(LC_NUMERIC, "C");
    try {
        const int status = parse_and_run(argc, argv, class_verbs);
        if (std::fflush(stdout) != 0) throw OutputError("cannot write the output; is the disk full?");
        return status;
    } catch (const Stopped&) {
        complain("stopped");
        return stop_status();
    } catch (const ReaderGone&) {
        return reader_gone;
    } catch (const UsageError& error) {
        complain(error.what());
        return wrong_use;
    } catch (const std::exception& error) {
        // Manifest, toolchain, files, output, out of memory: something that a student's grade must
        // not depend on.
        complain(error.what());
        return could_not_check;
    }
}

}  // namespace rungs
