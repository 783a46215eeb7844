#include "report/pictures.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "report/advice.hpp"
#include "report/text.hpp"

namespace rungs {
namespace {

using judge::TraceStep;
using judge::WarpTrace;
using simt::check::Space;

constexpr double width = 760, margin = 20, inside = width - 2 * margin;

constexpr const char* picture_style =
    "<style>.ww{font:13px system-ui,sans-serif}.ww text{fill:#1f2328}.ww .soft{fill:#59636e}.ww "
    ".title{font-size:15px;font-weight:600}.ww .mono{font-family:ui-monospace,Menlo,Consolas,\"DejaVu Sans "
    "Mono\",monospace;font-size:12px}"
    ".ww .box{fill:none;stroke:#59636e}.ww .off{fill:#eaeef2;stroke:#d1d9e0}.ww "
    ".on{fill:#1769aa;stroke:#1769aa}"
    ".ww .hot{fill:#b8470f;stroke:#b8470f}.ww .wire{fill:none;stroke:#1769aa;stroke-opacity:.55}"
    ".ww .bar{stroke:#b8470f;stroke-width:2}"
    "@media(prefers-color-scheme:dark){.ww text{fill:#f0f6fc}.ww .soft{fill:#9198a1}.ww .box{stroke:#9198a1}"
    ".ww .off{fill:#262c34;stroke:#3d444d}.ww .on{fill:#6cb6f5;stroke:#6cb6f5}.ww "
    ".hot{fill:#ff9b6a;stroke:#ff9b6a}"
    ".ww .wire{stroke:#6cb6f5}.ww .bar{stroke:#ff9b6a}}</style>";

/// Frame of a picture: title, and what it shows for readers who do not see it.
std::string picture(double height, const std::string& title, const std::string& description,
                    const std::string& body) {
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:g} {1:g}\" width=\"{0:g}\" "
        "height=\"{1:g}\" role=\"img\" class=\"ww\" aria-label=\"{2}\"><title>{2}</title><desc>{3}</desc>{4}"
        "<text class=\"title\" x=\"{5:g}\" y=\"24\">{2}</text>{6}</svg>\n",
        width, height, escape_html(title), escape_html(description), picture_style, margin, body);
}

std::string box(const char* kind, double x, double y, double w, double h) {
    return fmt::format(
        "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"2\"/>", kind, x,
        y, w, h);
}

std::string words(const char* kind, double x, double y, const std::string& text,
                  const char* anchor = "start") {
    return fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>", kind, x,
                       y, anchor, escape_html(text));
}

std::string wire(double x1, double y1, double x2, double y2) {
    const double middle = (y1 + y2) / 2;
    return fmt::format(
        "<path class=\"wire\" d=\"M{:.1f} {:.1f}C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}\"/>", x1, y1, x1,
        middle, x2, middle, x2, y2);
}

bool active(const TraceStep& step, unsigned lane) { return step.lanes >> lane & 1U; }

double lane_x(unsigned lane) { return margin + (lane + 0.5) * inside / 32; }

/// The row of lanes, numbered.
std::string lane_row(const TraceStep& step, double y) {
    std::string body;
    for (unsigned lane = 0; lane < 32; ++lane) {
        body += box(active(step, lane) ? "on" : "off", lane_x(lane) - 9, y, 18, 16);
        if (lane % 4 == 0 || lane == 31)
            body += words("soft", lane_x(lane), y - 5, std::to_string(lane), "middle");
    }
    return body;
}

std::string where(const TraceStep& step) {
    return fmt::format("{}:{}, {}", step.place.file, step.place.line,
                       step.array.empty() ? "an array" : step.array);
}

simt::check::SiteCounters like(const TraceStep& step) {
    simt::check::SiteCounters site;
    site.space = step.space;
    site.access = step.access;
    site.width = step.width;
    return site;
}

std::size_t count_lanes(const TraceStep& step) {
    return static_cast<std::size_t>(__builtin_popcount(step.lanes));
}
std::string lanes_text(const TraceStep& step) { return count_text(count_lanes(step), "lane"); }

/// Bank and word of every 4 bytes that a lane touches.
std::map<unsigned, std::vector<long long>> banks_of(const TraceStep& step) {
    std::map<unsigned, std::set<long long>> banks;
    for (unsigned lane = 0; lane < 32; ++lane) {
        if (!active(step, lane)) continue;
        const long long first = step.offsets[lane] / 4,
                        last = (step.offsets[lane] + std::max(step.width, 1U) - 1) / 4;
        for (long long word = first; word <= last; ++word)
            banks[static_cast<unsigned>(word % 32)].insert(word);
    }
    std::map<unsigned, std::vector<long long>> lists;
    for (const auto& [bank, set] : banks) lists[bank].assign(set.begin(), set.end());
    return lists;
}

std::set<long long> sector_set(const TraceStep& step) {
    std::set<long long> sectors;
    for (unsigned lane = 0; lane < 32; ++lane) {
        if (!active(step, lane)) continue;
        const long long first = step.offsets[lane] / 32,
                        last = (step.offsets[lane] + std::max(step.width, 1U) - 1) / 32;
        for (long long sector = first; sector <= last; ++sector) sectors.insert(sector);
    }
    return sectors;
}

bool in_global(const TraceStep& step) { return step.space == Space::global || step.space == Space::texture; }

}  // namespace

std::size_t sectors_of(const TraceStep& step) { return sector_set(step).size(); }

std::size_t depth_of(const TraceStep& step) {
    std::size_t depth = 0;
    for (const auto& [bank, list] : banks_of(step)) depth = std::max(depth, list.size());
    return depth;
}

const TraceStep* costliest(const WarpTrace& trace, Space space, unsigned line) {
    const TraceStep* best = nullptr;
    std::size_t cost = 0;
    for (const TraceStep& step : trace.steps) {
        const bool same = space == Space::shared ? step.space == Space::shared : in_global(step);
        if (!same || (line != 0 && step.place.line != line) || step.lanes == 0) continue;
        // Among equals the one with more lanes shows more.
        const std::size_t here =
            100 * (space == Space::shared ? depth_of(step) : sectors_of(step)) + count_lanes(step);
        if (here > cost) {
            best = &step;
            cost = here;
        }
    }
    return best;
}

std::string sectors_svg(const TraceStep& step) {
    if (!in_global(step) || step.lanes == 0) return {};
    const std::set<long long> set = sector_set(step);
    const std::vector<long long> sectors(set.begin(), set.end());
    constexpr double gap = 5;
    const double pitch = std::min(120.0, inside / static_cast<double>(sectors.size()));
    const double cell = (pitch - gap) / 8;
    const double lanes_y = 66, sectors_y = 178,
                 left = margin + (inside - pitch * static_cast<double>(sectors.size())) / 2;
    std::map<long long, double> x_of;
    for (std::size_t i = 0; i < sectors.size(); ++i) x_of[sectors[i]] = left + pitch * static_cast<double>(i);
    std::string wires, cells;
    std::set<long long> used;  // words
    for (unsigned lane = 0; lane < 32; ++lane) {
        if (!active(step, lane)) continue;
        const long long first = step.offsets[lane], last = first + std::max(step.width, 1U) - 1;
        for (long long word = first / 4; word <= last / 4; ++word) used.insert(word);
        const double from = x_of[first / 32] + static_cast<double>(first % 32) / 4 * cell;
        const double to = x_of[last / 32] + static_cast<double>(last % 32 + 1) / 4 * cell;
        wires += wire(lane_x(lane), lanes_y + 16, (from + to) / 2, sectors_y);
    }
    for (const auto& [sector, x] : x_of) {
        for (long long word = 0; word < 8; ++word) {
            cells += box(used.count(sector * 8 + word) ? "on" : "off", x + static_cast<double>(word) * cell,
                         sectors_y, cell, 18);
        }
        cells += box("box", x, sectors_y, 8 * cell, 18);
        if (pitch > 40)
            cells += words("soft", x + 4 * cell, sectors_y + 34, fmt::format("{}", 32 * sector), "middle");
    }
    const std::string title =
        fmt::format("{}: {}, {}", where(step), lanes_text(step), count_text(sectors.size(), "sector"));
    const std::string text =
        fmt::format("{}; {} of {} bytes that move are used.", access_text(like(step)),
                    std::min<std::size_t>(4 * used.size(), 32 * sectors.size()), 32 * sectors.size());
    return picture(
        252, title, text,
        words("soft", margin, 44, "lanes of the warp") + wires + lane_row(step, lanes_y) + cells +
            words("soft", margin, 236, text + (pitch > 40 ? " Below the sectors: byte offsets." : "")));
}

std::string banks_svg(const TraceStep& step) {
    if (step.space != Space::shared || step.lanes == 0) return {};
    const auto banks = banks_of(step);
    const std::size_t depth = depth_of(step);
    const double height = std::clamp(220.0 / static_cast<double>(depth), 6.0, 18.0);
    const double lanes_y = 66, banks_y = 178;
    std::string wires, cells;
    for (unsigned lane = 0; lane < 32; ++lane) {
        if (!active(step, lane)) continue;
        const long long word = step.offsets[lane] / 4;
        const auto bank = static_cast<unsigned>(word % 32);
        wires += wire(lane_x(lane), lanes_y + 16, lane_x(bank), banks_y);
    }
    for (unsigned bank = 0; bank < 32; ++bank) {
        const auto found = banks.find(bank);
        const std::size_t here = found == banks.end() ? 0 : found->second.size();
        if (here == 0) cells += box("off", lane_x(bank) - 9, banks_y, 18, height);
        for (std::size_t row = 0; row < here; ++row) {
            cells += box(row == 0 ? "on" : "hot", lane_x(bank) - 9,
                         banks_y + static_cast<double>(row) * (height + 2), 18, height);
        }
        if (bank % 4 == 0 || bank == 31) {
            cells += words("soft", lane_x(bank), banks_y + static_cast<double>(depth) * (height + 2) + 14,
                           std::to_string(bank), "middle");
        }
    }
    const double foot = banks_y + static_cast<double>(depth) * (height + 2) + 38;
    const std::string title =
        depth == 1 ? fmt::format("{}: {}, no bank conflict", where(step), lanes_text(step))
                   : fmt::format("{}: {}, {}-way bank conflict", where(step), lanes_text(step), depth);
    const std::string text =
        access_text(like(step)) +
        (depth == 1 ? "; no bank has more than one word to serve."
                    : fmt::format("; the busiest bank has {} different words to serve, one after the other.",
                                  depth));
    return picture(foot + 16, title, text,
                   words("soft", margin, 44, "lanes of the warp") + wires + lane_row(step, lanes_y) + cells +
                       words("soft", margin, foot, text));
}

std::string lanes_svg(const WarpTrace& trace) {
    constexpr std::size_t most = 36;
    if (trace.steps.empty()) return {};
    const std::size_t rows = std::min(most, trace.steps.size());
    const double label = 250, pitch = 15, cell = (width - margin - label) / 32;
    const std::string dashes = fmt::format("stroke-width=\"11\" stroke-dasharray=\"{:.4f} 2\"", cell - 2);
    std::string body;
    for (unsigned lane = 0; lane < 32; lane += 4) {
        body += words("soft", label + (lane + 0.5) * cell, 46, std::to_string(lane), "middle");
    }
    double y = 52;
    unsigned phase = trace.steps[0].phase;
    for (std::size_t i = 0; i < rows; ++i) {
        const TraceStep& step = trace.steps[i];
        if (step.phase != phase) {
            body += fmt::format("<line class=\"bar\" x1=\"{:g}\" x2=\"{:g}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>",
                                label, width - margin, y + 1.5, y + 1.5);
            y += 5;
            phase = step.phase;
        }
        static constexpr const char* accesses[] = {"read", "write", "atomic"};
        body += words("mono", margin, y + 10,
                      first_line(fmt::format("{:>4} {} {}", step.place.line,
                                             accesses[static_cast<int>(step.access)], step.array),
                                 31));
        // Lanes side by side are one dashed line: a report has thousands of them.
        const auto lanes = [&](const char* kind, unsigned from, unsigned to) {
            body += fmt::format("<path class=\"{}\" d=\"M{:.2f} {:.1f}H{:.2f}\" {}/>", kind,
                                label + from * cell + 1, y + 5.5, label + to * cell - 1, dashes);
        };
        lanes("off", 0, 32);
        for (unsigned lane = 0, end; lane < 32; lane = end + 1) {
            for (end = lane; end < 32 && active(step, end);) ++end;
            if (end > lane) lanes("on", lane, end);
        }
        y += pitch;
    }
    std::string text =
        "A row is one memory instruction, with its line; filled lanes take part; lines across are barriers.";
    if (rows < trace.steps.size() || trace.cut) text += " Only the first are shown.";
    body += words("soft", margin, y + 20, text);
    const std::string title = fmt::format("Warp {} of block {} of {}: lanes that take part, step by step",
                                          trace.warp, trace.block, trace.kernel);
    return picture(y + 34, title, text, body);
}

std::string timeline_svg(const WarpTrace& trace) {
    constexpr std::size_t most_phases = 40;
    if (trace.requests.empty()) return {};
    std::size_t phases = 0;
    for (const auto& warp : trace.requests) phases = std::max(phases, warp.size());
    const bool cut = phases > most_phases;
    phases = std::min(phases, most_phases);
    // A phase is as wide as its busiest warp is busy, and never too narrow for a bar.
    constexpr double least = 4;
    std::vector<double> longest(phases, 1);
    double all = 0;
    for (std::size_t p = 0; p < phases; ++p) {
        for (const auto& warp : trace.requests) {
            if (p < warp.size()) longest[p] = std::max(longest[p], static_cast<double>(warp[p]));
        }
        all += longest[p];
    }
    const double label = 90, room = width - margin - label, pitch = 20, top = 44;
    std::string body;
    double x = label;
    for (std::size_t p = 0; p < phases; ++p) {
        const double whole = least + (room - least * static_cast<double>(phases)) * longest[p] / all;
        for (std::size_t w = 0; w < trace.requests.size(); ++w) {
            const double mine = p < trace.requests[w].size() ? static_cast<double>(trace.requests[w][p]) : 0;
            const double y = top + pitch * static_cast<double>(w);
            body += box("off", x, y, whole - 2, 13);
            if (mine > 0) body += box("on", x, y, std::max(1.5, (whole - 2) * mine / longest[p]), 13);
        }
        x += whole;
        if (p + 1 < phases) {
            body +=
                fmt::format("<line class=\"bar\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:g}\" y2=\"{:g}\"/>",
                            x - 1, x - 1, top - 5, top + pitch * static_cast<double>(trace.requests.size()));
        }
    }
    for (std::size_t w = 0; w < trace.requests.size(); ++w) {
        body += words("mono", margin, top + pitch * static_cast<double>(w) + 11, fmt::format("warp {}", w));
    }
    const double foot = top + pitch * static_cast<double>(trace.requests.size()) + 20;
    const std::string text = fmt::format(
        "Upright lines are barriers; a bar is a warp's memory instructions between two; empty ones only "
        "wait.{}",
        cut ? " Only the first are shown." : "");
    body += words("soft", margin, foot, text);
    return picture(foot + 14, fmt::format("Block {} of {} between its barriers", trace.block, trace.kernel),
                   text, body);
}

}  // namespace rungs
