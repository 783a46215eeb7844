// rungs predict: the questions of a rung, one by one; when all are answered, what is counted.
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <set>

#include <fmt/format.h>

#include "judge/build/build.hpp"
#include "judge/judge.hpp"
#include "judge/predict.hpp"
#include "judge/result/clean_text.hpp"
#include "program/interrupt.hpp"
#include "program/progress.hpp"
#include "program/starter.hpp"
#include "program/verbs.hpp"
#include "report/text.hpp"
#include "rungs/atomic_file.hpp"

namespace rungs {
namespace {

namespace fs = std::filesystem;

/// A line of standard input without its end; nothing when there is no more. @throws Stopped
std::optional<std::string> read_line() {
    std::string line;
    for (char letter = 0;;) {
        // Not in read(): Ctrl-C just before it would wait for a line.
        pollfd input{STDIN_FILENO, POLLIN, 0};
        const int ready = poll(&input, 1, 50);
        stop_here();
        if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
        const ssize_t got = read(STDIN_FILENO, &letter, 1);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return std::nullopt;
        if (letter == '\n') break;
        line += letter;
    }
    return trimmed(line);
}

/// Asks what is not answered yet. Each answer is in the file before the next question is asked.
void ask(const Chosen& chosen, const fs::path& file, std::string text, Terminal& out) {
    const RungEntry& rung = *chosen.rung;
    const auto answers = judge::read_answers(rung, text, rung.file());
    for (std::size_t i = 0; i < answers.size(); ++i) {
        const Question& question = rung.questions[i];
        if (answers[i].value) continue;
        out.line();
        out.line(out.paint(Style::bold, fmt::format("{} of {}", i + 1, answers.size())));
        out.line(out.wrapped(question.ask, 2));
        out.line(out.wrapped(call_in_words(question), 2));
        for (;;) {
            out.write("  answer, or ? for later: ");
            std::fflush(stdout);
            const std::optional<std::string> answer = read_line();
            if (!answer) return out.line();
            if (answer->empty()) continue;
            if (*answer == "?") break;
            try {
                judge::read_answer(question, *answer);
            } catch (const judge::Rejected& why) {
                out.line(out.wrapped(why.what(), 2));
                continue;
            }
            text = judge::with_answer(rung, text, rung.file(), i, *answer);
            write_file(file, text);
            break;
        }
    }
}

}  // namespace

int predict(const std::string& name, Terminal& out) {
    const Workbook workbook = open_workbook();
    const Chosen chosen = choose_rung(workbook, name);
    const RungEntry& rung = *chosen.rung;
    if (rung.kind != Kind::predict) {
        throw UsageError(rung.name + " has no questions; ./rungs explain " + chosen.short_name() +
                         " shows what it costs");
    }
    require_file(workbook, chosen);
    const fs::path file = source_of(workbook, chosen, judge::Whose::student);
    const auto unanswered = [&] {
        std::string names;
        try {
            const auto answers = judge::read_answers(rung, judge::read_rung(file), rung.file());
            for (std::size_t i = 0; i < answers.size(); ++i)
                if (!answers[i].value) names += (names.empty() ? "" : ", ") + rung.questions[i].name;
        } catch (const judge::Rejected& why) {
            throw UsageError(why.what());
        }
        return names;
    };
    out.line(out.paint(Style::bold, rung.name) + "  " + rung.idea);
    if (!unanswered().empty()) {
        if (!isatty(STDIN_FILENO)) {
            throw UsageError(
                "predict asks on a terminal, and standard input is not one: write the answers into " +
                workbook.shown(file) + ", then: ./rungs predict " + chosen.short_name());
        }
        ask(chosen, file, judge::read_rung(file), out);
    }
    if (const std::string names = unanswered(); !names.empty()) {
        out.line(out.wrapped("not answered yet: " + names + "; the counters are shown once all are", 2));
        return 1;
    }

    judge::JudgeOptions options;
    options.toolchain = workbook.toolchain;
    options.stop = &stop_requested();
    options.progress = [&](const judge::PhaseProgress& now) {
        out.status(fmt::format("  counting {} of {}", now.done + 1, now.of));
    };
    const std::string content = fingerprint(file);
    const std::unique_ptr<Exam> exam = judge::exam_of(*chosen.chapter);
    const judge::Trial trial{*chosen.chapter, rung, file, *exam, options};
    judge::RungResult result = judge::judge_rung(trial);
    stop_here();
    if (!result.judged) throw CannotCheck(result.reason());
    std::string problem = grade_answers_once(workbook, chosen, result);  // before they are shown
    const std::string also = remember(workbook, chosen, result, Backend::cpu, content);
    if (problem.empty()) problem = also;

    const std::vector<double> counted = judge::count_answers(trial);
    for (std::size_t i = 0; i < counted.size(); ++i) {
        const Question& question = rung.questions[i];
        const judge::Prediction& mine = result.predictions[i];
        out.line();
        out.line("  " +
                 (mine.right ? out.paint(Style::good, out.tick()) : out.paint(Style::bad, out.cross())) +
                 " " + question.name);
        out.line(out.wrapped(question.ask, 4));
        out.line(fmt::format("    your answer {}; {} {:.6g}", *mine.answer,
                             question.answer ? "right is" : "counted", counted[i]));
        if (question.answer) {
            out.line(out.wrapped(call_in_words(question), 4));
            continue;
        }
        std::string what = question.counter + (question.over.empty() ? "" : " over " + question.over);
        if (question.per != 1) what += fmt::format(", divided by {:g}", question.per);
        out.line(out.wrapped(what + ", " + call_in_words(question), 4));
    }
    out.line();
    out.line(fmt::format("{} of {} points", points_text(result.points), points_text(result.max_points)));
    if (!problem.empty()) out.line("your progress could not be stored: " + problem);
    std::set<std::string> shown;
    for (const Question& question : rung.questions) {
        if (question.answer || !shown.insert(question.rung).second) continue;
        out.line();
        const Chosen asked{chosen.chapter, chosen.chapter->find(question.rung)};
        explain_reference(workbook, asked, judge::case_of(question), out);
        try {  // pictures of the student's own: those of an exercise's reference would give it away
            SeeOptions pictures;
            pictures.choice.rung = asked.short_name();
            see(pictures);
        } catch (const CannotCheck&) {  // of a given rung: its first warp touches no memory
            if (asked.rung->given()) continue;
            out.line(out.wrapped("no pictures: your " + asked.rung->name +
                                     " is not solved yet; when it runs: ./rungs see " + asked.short_name(),
                                 2));
        }
    }
    return result.passed() ? 0 : 1;
}

}  // namespace rungs
