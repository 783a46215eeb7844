// rungs hint: help, one step further each time.
#include <algorithm>

#include <fmt/format.h>

#include "program/ladders.hpp"
#include "program/verbs.hpp"

namespace rungs {

namespace {

void show_idea(const Chosen& chosen, Terminal& out) {
    out.line(out.paint(Style::bold, chosen.rung->name));
    out.line(out.wrapped(chosen.rung->idea, 2));
}

}  // namespace

void show_hints(const Chosen& chosen, std::size_t count, Terminal& out) {
    const std::vector<std::string>& hints = chosen.rung->hints;
    show_idea(chosen, out);
    for (std::size_t i = 0; i < std::min(count, hints.size()); ++i) {
        out.line(fmt::format("hint {} of {}", i + 1, hints.size()));
        out.line(out.wrapped(hints[i], 2));
    }
}

void show_help(const Workbook& workbook, const Chosen& chosen, std::size_t count, Terminal& out) {
    const std::size_t total = chosen.rung->hints.size();
    if (total == 0) {
        show_idea(chosen, out);
        out.line("  This rung is given: there is nothing to write. It is explained in " +
                 lesson_of(workbook, chosen));
        return;
    }
    show_hints(chosen, count, out);
    out.line(count < total ? "next hint: ./rungs hint " + chosen.short_name()
                           : "no more hints; the lesson is " + lesson_of(workbook, chosen));
}

int hint(const std::string& name, bool all, Terminal& out) {
    const Workbook workbook = open_workbook();
    const Chosen chosen = choose_rung(workbook, name);
    const std::size_t total = chosen.rung->hints.size();
    std::size_t count = total;
    std::string problem;
    if (total > 0) {
        problem = change_progress(workbook, chosen.long_name(), [&](RungProgress& one) {
            const auto read = static_cast<std::size_t>(std::max(one.hints, 0));
            if (!all) count = std::min(read + 1, total);
            one.hints = static_cast<int>(std::max(read, count));
        });
    }
    show_help(workbook, chosen, count, out);
    if (!problem.empty()) out.line("could not store which hints you have read: " + problem);
    return 0;
}

}  // namespace rungs
