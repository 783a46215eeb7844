// rungs list: the ladders, and how far up one is.
#include <algorithm>

#include <fmt/format.h>

#include "judge/build/source.hpp"
#include "judge/judge.hpp"
#include "program/ladders.hpp"
#include "program/verbs.hpp"
#include "report/text.hpp"

namespace rungs {

void show_list(const Workbook& workbook, const std::map<std::string, RungProgress>& progress, Terminal& out) {
    // Points for speed are told as the last check would have given them; before the first, as without a GPU.
    const bool timed = std::any_of(progress.begin(), progress.end(), [](const auto& one) {
        return one.second.backend == name_of(Backend::cuda);
    });
    for (const Manifest& chapter : workbook.chapters) {
        double points = 0, all = 0;
        std::size_t name_width = 0;
        std::string rows;
        for (const RungEntry& rung : chapter.rungs) name_width = std::max(name_width, rung.name.size());
        const int kind_width = chapter.kinds ? 21 : 0;
        const int room = std::max(16, out.width() - 18 - static_cast<int>(name_width) - kind_width);
        for (const RungEntry& rung : chapter.rungs) {
            const Chosen chosen{&chapter, &rung};
            const std::string left = fmt::format(" {:<{}}  ", rung.name, name_width);
            const std::string kind =
                chapter.kinds ? fmt::format("{:<7} {:>6}  {:<3}  ", name_of(rung.kind),
                                            rung.minutes > 0 ? fmt::format("{} min", rung.minutes) : "",
                                            rung.difficulty > 0 ? fmt::format("{}/5", rung.difficulty) : "")
                              : "";
            if (rung.given()) {
                rows += "  " + out.paint(Style::dim, out.open()) + left +
                        out.paint(Style::dim, fmt::format("{:>9}  ", chapter.kinds ? "" : "given") + kind) +
                        out.cut(rung.idea, room) + '\n';
                continue;
            }
            const auto known = progress.find(chosen.long_name());
            std::string sign = out.paint(Style::dim, out.open());
            double most = judge::max_points(rung, timed ? Backend::cuda : Backend::cpu);
            std::string score = fmt::format("- / {}", points_text(most));
            std::string remark = rung.idea;
            if (known != progress.end() && !known->second.verdict.empty()) {
                const RungProgress& last = known->second;
                most = last.max_points;
                const std::string now =
                    fingerprint(judge::source_of(chapter, rung, workbook.root(), judge::Whose::student));
                if (now != last.content) {
                    remark = "changed since it was " + last.verdict;
                } else {
                    const bool passed = last.done(now);
                    sign = passed ? out.paint(Style::good, out.tick()) : out.paint(Style::bad, out.cross());
                    score = fmt::format("{} / {}", points_text(last.points), points_text(last.max_points));
                    if (!passed) remark = last.verdict + (last.reason.empty() ? "" : ": " + last.reason);
                    points += last.points;
                }
            }
            all += most;
            rows += "  " + sign + left + fmt::format("{:>9}  ", score) + out.paint(Style::dim, kind) +
                    out.cut(remark, room) + '\n';
        }
        out.line(out.paint(Style::bold, chapter.chapter.substr(0, 2) + " " + chapter.title) +
                 fmt::format("  {} of {} points", points_text(points), points_text(all)));
        rows.pop_back();
        out.line(rows);
        out.line();
    }
    out.line(fmt::format("{} passed   {} not passed   {} to do   next: ./rungs next", out.tick(), out.cross(),
                         out.open()));
}

int list(Terminal& out) {
    const Workbook workbook = open_workbook();
    show_list(workbook, read_progress(workbook), out);
    return 0;
}

}  // namespace rungs
