// rungs next: the exercise to do now.
#include <algorithm>

#include <fmt/format.h>

#include "program/ladders.hpp"
#include "program/show.hpp"
#include "program/verbs.hpp"
#include "rungs/atomic_file.hpp"

namespace rungs {
namespace {

/// The line of `file` where the work starts.
int line_of_work(const std::filesystem::path& file, const RungEntry& rung) {
    try {
        const int line = line_of_todo(read_file(file), rung);
        return line > 0 ? line : line_of_kernel(file, rung);
    } catch (const FileError&) {
        return 1;
    }
}

}  // namespace

int line_of_todo(const std::string& text, const RungEntry& rung) {
    const std::size_t at = text.find(rung.kind == Kind::predict ? "= \"?\"" : "TODO");
    if (at == std::string::npos) return 0;
    return 1 +
           static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

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

void show_exercise(const Workbook& workbook, const Chosen& chosen, int line, Terminal& out) {
    const RungEntry& rung = *chosen.rung;
    out.line(out.paint(Style::bold, rung.name) + fmt::format("  {:g} points", rung.points) +
             (rung.speed ? fmt::format(" and {:g} for speed", rung.speed->points) : std::string()));
    out.line(out.wrapped(rung.idea, 2));
    if (chosen.chapter->kinds) {
        std::string how = name_of(rung.kind);
        if (rung.minutes > 0) how += fmt::format(", about {} minutes", rung.minutes);
        if (rung.difficulty > 0) how += fmt::format(", difficulty {} of 5", rung.difficulty);
        out.line("  kind    " + how);
    }
    if (rung.kind == Kind::predict) out.line("  answer  ./rungs predict " + chosen.short_name());
    const std::string file = workbook.shown(source_of(workbook, chosen, judge::Whose::student));
    out.line("  edit    " + out.paint(Style::link, fmt::format("{}:{}", file, line)));
    out.line("  read    " + lesson_of(workbook, chosen));
    out.line("  check   ./rungs check " + chosen.short_name() + "   or on every save: ./rungs watch " +
             chosen.short_name());
    out.line("  stuck?  ./rungs hint " + chosen.short_name());
}

int next(Terminal& out) {
    const Workbook workbook = open_workbook();
    const std::optional<Chosen> chosen = next_exercise(workbook);
    if (!chosen) {
        out.line(out.paint(Style::good, "Every rung passes.") + " How fast are they? ./rungs bench");
        return 0;
    }
    const auto file = source_of(workbook, *chosen, judge::Whose::student);
    show_exercise(workbook, *chosen, line_of_work(file, *chosen->rung), out);
    return 0;
}

}  // namespace rungs
