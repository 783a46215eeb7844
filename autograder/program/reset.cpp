// rungs reset: the starter again, with the student's file kept beside it.
#include <ctime>

#include <fmt/format.h>

#include "judge/build/edition.hpp"
#include "judge/build/source.hpp"
#include "program/starter.hpp"
#include "program/verbs.hpp"
#include "rungs/atomic_file.hpp"

namespace rungs {
namespace {

namespace fs = std::filesystem;

/// A name that is not taken: two resets within one second must not lose the first backup.
fs::path backup_name(const fs::path& file) {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    localtime_r(&now, &parts);
    char stamp[32];
    std::strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &parts);
    fs::path name = file.string() + ".bak-" + stamp;
    for (int i = 2; fs::exists(name); ++i) name = fmt::format("{}.bak-{}-{}", file.string(), stamp, i);
    return name;
}

}  // namespace

std::string starter_of(const Workbook& workbook, const Chosen& chosen) {
    if (chosen.rung->kind == Kind::predict) return make_answers(*chosen.chapter, *chosen.rung);
    if (judge::is_edition(workbook.root()))
        return read_file(judge::edition_starter(workbook.root(), *chosen.chapter, *chosen.rung));
    const fs::path solution = source_of(workbook, chosen, judge::Whose::solution);
    std::error_code error;
    if (!fs::exists(solution, error)) {
        throw CannotCheck(
            workbook.shown(solution) +
            " is not here, and the starter is made from it; if this is a git clone: " + "git checkout -- " +
            workbook.shown(source_of(workbook, chosen, judge::Whose::student)));
    }
    return make_starter(read_file(solution), workbook.shown(solution));
}

fs::path restore_starter(const Workbook& workbook, const Chosen& chosen) {
    const fs::path file = source_of(workbook, chosen, judge::Whose::student);
    const std::string starter = starter_of(workbook, chosen);
    std::error_code error;
    fs::path backup;
    if (fs::exists(file, error)) {
        const std::string mine = read_file(file);
        if (mine == starter) return {};
        // The backup is whole and on the disk before the file changes: at no moment is the edit in neither
        // of the two.
        backup = backup_name(file);
        write_file(backup, mine);
    }
    write_file(file, starter);
    return backup;
}

int reset(const std::string& name, Terminal& out) {
    const Workbook workbook = open_workbook();
    const Chosen chosen = choose_rung(workbook, name);
    const fs::path file = source_of(workbook, chosen, judge::Whose::student);
    if (chosen.rung->given()) {
        throw UsageError(chosen.rung->name + " is given and has no starter; to undo your changes, " +
                         (judge::is_edition(workbook.root())
                              ? "take it from what you unpacked: ./rungs update FILE"
                              : "git checkout -- " + workbook.shown(file)));
    }
    std::error_code error;
    const bool was_there = fs::exists(file, error);
    const fs::path backup = restore_starter(workbook, chosen);
    if (was_there && backup.empty()) {
        out.line(workbook.shown(file) + " is the starter already; nothing was changed");
        return 0;
    }
    out.line(workbook.shown(file) +
             (was_there ? " is the starter again" : " was missing; it is the starter again"));
    if (!backup.empty())
        out.line("your version is kept in " + out.paint(Style::link, workbook.shown(backup)));
    return 0;
}

}  // namespace rungs
