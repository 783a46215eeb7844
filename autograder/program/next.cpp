// rungs next: the exercise to do now.
#include <algorithm>

#include <fmt/format.h>

#include "program/progress.hpp"
#include "program/show.hpp"
#include "program/verbs.hpp"
#include "rungs/atomic_file.hpp"

namespace rungs {
namespace {

/// The line of the first TODO, where the work starts.
int line_of_todo(const std::filesystem::path& file, const RungEntry& rung) {
    try {
        const std::string text = read_file(file);
        const std::size_t at = text.find(rung.kind == Kind::predict ? "= \"?\"" : "TODO");
        if (at != std::string::npos) {
            int line = 1;
            for (std::size_t i = 0; i < at; ++i) line += text[i] == '\n';
            return line;
        }
    } catch (const FileError&) {
        return 1;
    }
    return line_of_kernel(file, rung);
}

}  // namespace

std::optional<Chosen> next_exercise(const Workbook& workbook, const RungEntry* after) {
    const auto progress = read_progress(workbook);
    std::vector<Chosen> all = choose(workbook, {});
    const auto is_it = [&](const Chosen& one) { return one.rung == after; };
    if (const auto here = std::find_if(all.begin(), all.end(), is_it); here != all.end())
        std::rotate(all.begin(), here + 1, all.end());
    for (const Chosen& chosen : all) {
        if (chosen.rung->given()) continue;
        const auto known = progress.find(chosen.long_name());
        const auto file = source_of(workbook, chosen, judge::Whose::student);
        if (known == progress.end() || !known->second.done(fingerprint(file))) return chosen;
    }
    return std::nullopt;
}

std::string lesson_of(const Workbook& workbook, const Chosen& chosen) {
    return workbook.shown(chosen.chapter->folder / "README.md") + ", section \"" +
           chosen.rung->name.substr(0, 2) + " " + chosen.rung->launcher() + "\"";
}

int next(Terminal& out) {
    const Workbook workbook = open_workbook();
    const std::optional<Chosen> chosen = next_exercise(workbook);
    if (!chosen) {
        out.line(out.paint(Style::good, "Every rung passes.") + " How fast are they? ./rungs bench");
        return 0;
    }
    const auto file = source_of(workbook, *chosen, judge::Whose::student);
    out.line(out.paint(Style::bold, chosen->rung->name) + fmt::format("  {:g} points", chosen->rung->points) +
             (chosen->rung->speed ? fmt::format(" and {:g} for speed", chosen->rung->speed->points)
                                  : std::string()));
    out.line(out.wrapped(chosen->rung->idea, 2));
    if (chosen->chapter->kinds) {
        std::string how = name_of(chosen->rung->kind);
        if (chosen->rung->minutes > 0) how += fmt::format(", about {} minutes", chosen->rung->minutes);
        if (chosen->rung->difficulty > 0)
            how += fmt::format(", difficulty {} of 5", chosen->rung->difficulty);
        out.line("  kind    " + how);
    }
    if (chosen->rung->kind == Kind::predict) out.line("  answer  ./rungs predict " + chosen->short_name());
    out.line("  edit    " + out.paint(Style::link, fmt::format("{}:{}", workbook.shown(file),
                                                               line_of_todo(file, *chosen->rung))));
    out.line("  read    " + lesson_of(workbook, *chosen));
    out.line("  check   ./rungs check " + chosen->short_name() + "   or on every save: ./rungs watch " +
             chosen->short_name());
    out.line("  stuck?  ./rungs hint " + chosen->short_name());
    return 0;
}

}  // namespace rungs
