// Draws the pictures of the lesson from the numbers that they show: FOLDER/*.svg
// and FOLDER/*.png, see rungs/figure.hpp.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <numbers>
#include <string>
#include <vector>

#include "exam/reference.hpp"
#include "figures/pictures.hpp"
#include "rungs/figure.hpp"
#include "rungs/svg.hpp"

namespace {

using btcs::Vector;
using rungs::Drawing;

// ---------------------------------------------------------------------------------------------------------------
// The schemes

std::string stencils_figure() {
    Drawing out(820, 214, "Three ways to step",
                "FTCS takes three old values for one new one, BTCS one old value for three new ones, "
                "Crank-Nicolson three of each");
    const char* const names[] = {"FTCS: explicit", "BTCS: implicit", "Crank-Nicolson: half and half"};
    const char* const words[] = {"each new value alone", "all new values together",
                                 "all new values together"};
    constexpr double size = 44, gap = 10;
    for (int panel = 0; panel < 3; ++panel) {
        const double left = 30 + panel * 270.0;
        out.text(left, 60, names[panel]);
        for (int row = 0; row < 2; ++row) {  // the new level above the old one
            for (int column = 0; column < 3; ++column) {
                const bool used = column == 1 || panel == 2 || (row == 0) == (panel == 1);
                const double x = left + column * (size + gap), y = 74 + row * (34 + gap);
                out.cell(x, y, size, 34,
                         !used      ? "off"
                         : row == 0 ? "done"
                                    : "on",
                         !used      ? ""
                         : row == 0 ? "new"
                                    : "old");
            }
        }
        out.text(left, 182, words[panel], "soft");
    }
    return out.svg();
}

/// sin(pi x) on n points, and what is in it of the shortest wave.
Vector sine(std::size_t n, double waves) {
    Vector u(n);
    for (std::size_t i = 0; i < n; ++i) {
        u[i] = std::sin(std::numbers::pi * waves * static_cast<double>(i + 1) / static_cast<double>(n + 1));
    }
    return u;
}

double largest(const Vector& u) {
    double most = 0;
    for (const double value : u) most = std::max(most, std::abs(value));
    return most;
}

Vector step(const Vector& u, double r, double theta) {
    return btcs::step({u.size(), 1, r, theta}, u, {}, {});
}

/// FTCS around r = 1/2.
std::string blowup_figure() {
    rungs::LinePlot plot{"FTCS around r = 1/2",
                         "Up to one half the rod cools as it should; beyond, rounding errors grow until they "
                         "are all there is.",
                         "steps",
                         "largest |u|",
                         rungs::Scale::linear,
                         rungs::Scale::log10,
                         {}};
    for (const double r : {0.5, 0.52, 0.55, 0.6}) {
        char label[32];
        std::snprintf(label, sizeof label, "r = %g", r);
        rungs::Series line{label, {}, {}};
        Vector u = sine(63, 1);
        for (std::size_t i = 0; i < u.size(); ++i) u[i] += 1e-7 * (i % 2 ? 1 : -1);  // a float's rounding
        for (int k = 0; k <= 400 && largest(u) < 1e5; ++k) {
            line.x.push_back(k);
            line.y.push_back(largest(u));
            u = step(u, r, 0);
        }
        plot.series.push_back(line);
    }
    return rungs::on_ground(plot.svg());
}

std::string stability_figure() {
    std::vector<btcs::Measured> measured;
    constexpr std::size_t n = 15;
    for (const double theta : {0.0, 1.0, 0.5}) {
        for (const double r : {0.125, 0.5, 2.0, 8.0, 64.0}) {
            for (const double waves : {2.0, 5.0, 8.0, 11.0, 14.0}) {
                const Vector u = sine(n, waves), next = step(u, r, theta);
                double product = 0, square = 0;
                for (std::size_t i = 0; i < n; ++i) product += u[i] * next[i], square += u[i] * u[i];
                measured.push_back({r, theta, std::numbers::pi * waves / (n + 1), product / square});
            }
        }
    }
    return btcs::StabilityMap(measured).svg();
}

/// The error of the time discretisation alone: held against exp(-lambda t) with the lambda of the grid.
std::string order_figure() {
    constexpr std::size_t n = 63;
    constexpr double end = 0.1, pi = std::numbers::pi;
    const double lambda = 4 * std::pow((n + 1) * std::sin(pi / 2 / (n + 1)), 2);
    std::vector<rungs::Series> lines{{"BTCS", {}, {}}, {"Crank-Nicolson", {}, {}}, {"FTCS", {}, {}}};
    const double thetas[] = {1, 0.5, 0};
    for (std::size_t which = 0; which < 3; ++which) {
        for (std::size_t steps = 2; steps <= 4096; steps *= 2) {
            const double dt = end / static_cast<double>(steps), r = dt * (n + 1) * (n + 1);
            if (which == 2 && r > 0.5) continue;
            const Vector start = sine(n, 1);
            const Vector cold(steps + 1, 0.0);
            const Vector u = btcs::march({{n, steps, r, thetas[which]}, start, cold, cold}).u;
            double error = 0;
            for (std::size_t i = 0; i < n; ++i)
                error = std::max(error, std::abs(u[i] - std::exp(-lambda * end) * start[i]));
            lines[which].x.push_back(dt);
            lines[which].y.push_back(error);
        }
    }
    return rungs::on_ground(btcs::order_plot(lines).svg());
}

/// A rod with a hot stretch in its middle: FTCS, BTCS and Crank-Nicolson, at two r.
void rods(const std::filesystem::path& folder, double r, const std::string& name) {
    constexpr std::size_t n = 127, levels = 100;
    Vector start(n, 0.0);
    for (std::size_t i = 48; i < 79; ++i) start[i] = 1;
    std::vector<btcs::History> histories;
    for (const double theta : {0.0, 1.0, 0.5}) {
        btcs::History history{start};
        while (history.size() < levels) history.push_back(step(history.back(), r, theta));
        histories.push_back(history);
    }
    btcs::draw_rods(folder / name, histories);
}

/// A rod whose middle third insulates sixteen times as well, with ends that let no heat out, hot on the left.
void insulated_rod(const std::filesystem::path& folder) {
    constexpr std::size_t n = 255, levels = 120;
    constexpr double r = 50;
    Vector faces(n + 1, 1.0), u(n, 0.0);
    for (std::size_t i = 0; i <= n; ++i) {
        if (3 * i > n && 3 * i < 2 * n) faces[i] = 1 / 16.0;
        if (4 * i < n) u[i] = 1;
    }
    faces[0] = faces[n] = 0;
    btcs::History history{u};
    while (history.size() < levels)
        history.push_back(btcs::solve(btcs::heat_matrix(faces, r), history.back()));
    btcs::draw_rods(folder / "rod_insulated.png", {history}, 3);
}

// ---------------------------------------------------------------------------------------------------------------
// The rungs

/// How a disturbance fades with distance.
std::string influence_figure() {
    rungs::LinePlot plot{"How far one row is felt",
                         "The influence of a row falls by the same factor from row to row: after 18 rows for "
                         "r = 1, after 167 for r = 100 a float no longer sees it.",
                         "rows away",
                         "change of x, of what it is in the row itself",
                         rungs::Scale::linear,
                         rungs::Scale::log10,
                         {}};
    for (const double r : {1.0, 10.0, 100.0}) {
        rungs::Series line{"r = " + std::to_string(static_cast<int>(r)), {}, {}};
        for (int i = 0; i <= 200; ++i) {
            const double felt = std::pow(btcs::decay(r), i);
            if (felt < 1e-9) break;
            line.x.push_back(i);
            line.y.push_back(felt);
        }
        plot.series.push_back(line);
    }
    plot.series.push_back({"2^-24", {0, 200}, {0x1p-24, 0x1p-24}});
    return rungs::on_ground(plot.svg());
}

/// Where the rows of four systems are in memory.
std::string layout_figure() {
    Drawing out(820, 264, "Four systems of six rows in memory",
                "system after system, four threads read words far apart; interleaved, they read neighbours");
    const char* const kinds[] = {"on", "warm", "done", "pale"};
    constexpr double size = 30, left = 20;
    const auto row = [&](double y, bool interleaved) {
        for (int e = 0; e < 24; ++e) {
            const int system = interleaved ? e % 4 : e / 6, i = interleaved ? e / 4 : e % 6;
            out.cell(left + e * (size + 2), y, size, 28, kinds[system], std::to_string(i));
            if (i == 2) {  // what the four threads read in this step
                out.line(left + e * (size + 2) + size / 2, y + 48, left + e * (size + 2) + size / 2, y + 32,
                         "edge");
            }
        }
    };
    out.text(20, 58, "System after system. A colour is a system, and a thread; the number is its row.",
             "soft");
    row(70, false);
    out.text(20, 136, "Four threads at row 2: four places, four sectors.", "small soft");
    out.text(20, 168, "Interleaved: row 0 of all systems, then row 1 of all.", "soft");
    row(180, true);
    out.text(20, 245, "Four threads at row 2: neighbours, one sector.", "small soft");
    return out.svg();
}

/// Cyclic reduction of seven rows, and parallel cyclic reduction of eight.
std::string cyclic_figure() {
    Drawing out(840, 340, "Who is eliminated from whom",
                "cyclic reduction halves the rows until one is left and goes back; parallel cyclic reduction "
                "keeps all rows busy and is done after three steps");
    constexpr double size = 38, gap = 8, top = 80, height = 30;
    const auto column = [&](double left, int i) { return left + i * (size + gap); };
    const auto join = [&](double left, int level, int to, int from) {
        out.line(column(left, from) + size / 2, top + level * 58 + height, column(left, to) + size / 2,
                 top + (level + 1) * 58, "edge");
    };
    out.text(20, 60, "CR: rows that are still there");
    for (int level = 0; level < 3; ++level) {
        const int stride = 1 << level;
        for (int i = 0; i < 7; ++i) {
            const bool there = (i + 1) % stride == 0;
            out.cell(column(20, i), top + level * 58, size, height,
                     !there                        ? "off"
                     : level == 2                  ? "done"
                     : (i + 1) % (2 * stride) == 0 ? "on"
                                                   : "pale",
                     there ? std::to_string(i) : "");
        }
        if (level == 2) break;
        for (int i = 2 * stride - 1; i < 7; i += 2 * stride) {
            for (const int from : {i - stride, i, i + stride}) join(20, level, i, from);
        }
    }
    out.text(20, 258, "Row 3 stands alone: solved. Then back up: 1 and 5,", "small soft");
    out.text(20, 274, "then 0, 2, 4, 6. 2n row operations, 2 log n barriers,", "small soft");
    out.text(20, 290, "and half of the threads leave at each level.", "small soft");
    out.text(450, 60, "PCR: every row, at distances 1, 2, 4");
    for (int level = 0; level < 4; ++level) {
        for (int i = 0; i < 8; ++i) {
            out.cell(column(450, i), top + level * 58, size, height, level == 3 ? "done" : "on",
                     level == 3 ? "x" + std::to_string(i) : std::to_string(i));
        }
        if (level == 3) break;
        for (int i = 0; i < 8; ++i) {
            for (const int from : {i - (1 << level), i, i + (1 << level)}) {
                if (from >= 0 && from < 8 && (level < 1 || i == 3)) join(450, level, i, from);
            }
        }
    }
    out.text(450, 304, "From the second level on, lines to row 3 alone.", "small soft");
    out.text(450, 320, "n log n row operations, nobody idle.", "small soft");
    return out.svg();
}

/// Tiles, the last unknown of each, and the reduced system.
std::string partition_figure() {
    Drawing out(
        840, 316, "One long system, cut into tiles",
        "each tile expresses its rows by its own last unknown and that of the tile before; the last rows "
        "of all tiles make a small tridiagonal system; with its solution each tile fills in its rows");
    constexpr double size = 22, gap = 2, left = 20;
    const auto at = [&](int tile, int i) { return left + tile * (8 * (size + gap) + 8) + i * (size + gap); };
    const auto tiles = [&](double y, const char* last, const char* inner) {
        for (int tile = 0; tile < 4; ++tile) {
            for (int i = 0; i < 8; ++i) out.box(at(tile, i), y, size, 24, i == 7 ? last : inner);
        }
    };
    out.text(20, 56,
             "1. Each tile, on its own: all rows in terms of its last unknown and the one before the tile.",
             "soft");
    tiles(66, "warm", "on");
    out.text(20, 163, "2. What is left: one row a tile,", "soft");
    out.text(520, 163, "each coupled to its neighbours: tridiagonal", "soft");
    for (int tile = 0; tile < 4; ++tile) {
        const double x = 340 + tile * (size + gap);
        out.box(x, 146, size, 24, "warm");
        out.line(at(tile, 7) + size / 2, 92, x + size / 2, 144, "edge off");
        out.line(x + size / 2, 172, at(tile, 7) + size / 2, 224, "edge off");
    }
    tiles(226, "done", "on");
    out.text(20, 272, "3. Each tile again: the last unknowns of all tiles are known.", "soft");
    out.text(
        20, 298,
        "n rows of traffic for the tiles, 1 / tile of that in between. Between 1 and 3 all tiles have to "
        "wait for each other.",
        "small soft");
    return out.svg();
}

/// Several steps of one tile while it is on the chip.
std::string time_loop_figure() {
    Drawing out(820, 300, "Four steps in one pass",
                "a tile is read with a halo on both sides; each step spoils as many rows of the halo as the "
                "influence reaches; after four steps the tile itself is still right and is written");
    constexpr int columns = 38, halo = 3, steps = 4;
    constexpr double size = 17, gap = 2, left = 90, top = 74;
    for (int level = 0; level <= steps; ++level) {
        const double y = top + (steps - level) * 34;
        out.text(20, y + 16, level == 0 ? "read" : "step " + std::to_string(level), "small soft");
        for (int i = 0; i < columns; ++i) {
            const int away = std::min(i, columns - 1 - i);
            const bool right = away >= halo * level, own = away >= halo * steps;
            out.box(left + i * (size + gap), y, size, 24,
                    !right                  ? "off"
                    : own && level == steps ? "done"
                    : own                   ? "on"
                                            : "pale");
        }
    }
    out.text(20, 56, "Time goes upwards. Empty: no longer right, and not needed.", "soft");
    out.text(20, 266,
             "Here the influence of a row reaches three rows. In float it reaches 18 for r = 1 and 167 for r "
             "= 100, and tiles",
             "small soft");
    out.text(20, 282, "are thousands of rows long.", "small soft");
    return out.svg();
}

}  // namespace

static void draw(const std::filesystem::path& folder) {
    rods(folder, 20, "rod_large.png");
    insulated_rod(folder);
}

int main(int argc, char** argv) {
    return rungs::draw_figures(
        argc, argv,
        {{"stencils.svg", stencils_figure},
         {"blowup.svg", blowup_figure},
         {"stability.svg", stability_figure},
         {"order.svg", order_figure},
         {"influence.svg", influence_figure},
         {"layout.svg", layout_figure},
         {"cyclic.svg", cyclic_figure},
         {"partition.svg", partition_figure},
         {"time_loop.svg", time_loop_figure}},
        {"btcs_ladder.svg",
         "How many rows each rung solves in a second, beside the libraries and the limit of memory.",
         "Grow/s"},
        draw);
}
