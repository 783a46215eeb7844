// Draws the pictures of the lesson from the numbers that they show: FOLDER/*.svg
// and FOLDER/*.png, see rungs/figure.hpp.

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "exam/reference.hpp"
#include "figures/pictures.hpp"
#include "rungs/atomic_file.hpp"
#include "rungs/figure.hpp"
#include "rungs/svg.hpp"

namespace {

using rungs::Drawing;

// ---------------------------------------------------------------------------------------------------------------
// A sweep, and what a texture adds to it

std::string sweep_figure() {
    constexpr double size = 36, top = 58;
    Drawing out(760, 316, "One sweep, and clamping",
                "an inner point becomes the mean of its four neighbours, boundary points stay; a clamped "
                "fetch left of "
                "column 0 brings column 0");
    const auto grid = [&](double left) {
        for (int y = 0; y < 6; ++y) {
            for (int x = 0; x < 7; ++x) {
                const bool edge = x == 0 || y == 0 || x == 6 || y == 5;
                out.cell(left + x * size, top + y * size, size - 3, size - 3, edge ? "pale" : "off");
            }
        }
    };
    const auto mark = [&](double left, int x, int y, const std::string& kind, const std::string& word) {
        out.cell(left + x * size, top + y * size, size - 3, size - 3, kind, word);
    };
    grid(30);
    mark(30, 3, 2, "done", "mean");
    mark(30, 2, 2, "on", "1/4"), mark(30, 4, 2, "on", "1/4"), mark(30, 3, 1, "on", "1/4"),
        mark(30, 3, 3, "on", "1/4");
    out.text(30, top + 6 * size + 20, "Pale points are the boundary and keep their value.", "soft");
    grid(450);
    mark(450, 0, 3, "done", "point");
    out.cell(450 - size, top + 3 * size, size - 3, size - 3, "warm", "-1");
    out.text(410, top + 6 * size + 20, "Column -1 does not exist: the unit gives column 0.", "soft");
    return out.svg();
}

// ---------------------------------------------------------------------------------------------------------------
// Tile and halo

std::string halo_figure() {
    constexpr double size = 20, left = 40, top = 60;
    Drawing out(760, 300, "A tile and its halo",
                "a tile of 16 by 8 points with a halo of one point above and below and four columns at its "
                "sides, of which one is used");
    for (int y = -1; y < 9; ++y) {
        for (int x = -4; x < 20; ++x) {
            const bool inside = x >= 0 && x < 16 && y >= 0 && y < 8;
            const bool used = x >= -1 && x <= 16;
            out.cell(left + (x + 4) * size, top + (y + 1) * size, size - 2, size - 2,
                     inside ? "on"
                     : used ? "warm"
                            : "off");
        }
    }
    const double right = left + 24 * size + 20;
    out.text(right, top + 30, "blue: the block's own points");
    out.text(right, top + 56, "orange: the halo, which");
    out.text(right, top + 74, "the neighbours own");
    out.text(right, top + 100, "empty: comes along, as");
    out.text(right, top + 118, "a load brings four");
    out.text(left, top + 10 * size + 24,
             "The real tile has 128 by 32 points: 34 rows of 34 quads are read for 32 rows of 32.", "soft");
    return out.svg();
}

// ---------------------------------------------------------------------------------------------------------------
// Sixteen sweeps in one pass, in one dimension, with four

std::string trapezoid_figure() {
    constexpr int tile = 24, depth = 4;
    constexpr double size = 15, left = 130, top = 62, step = 30;
    Drawing out(820, 310, "Several sweeps for one pass, drawn for four",
                "a tile of 24 points is swept four times; after each sweep one more point at either side is "
                "wrong, and the 16 points in the middle are stored; the next tile overlaps by eight points");
    for (int level = 0; level <= depth; ++level) {
        const double y = top + level * step;
        out.text(20, y + 14, level == 0 ? "loaded" : "after sweep " + std::to_string(level));
        for (int x = 0; x < tile; ++x) {
            const bool right = x >= level && x < tile - level;
            const bool stored = level == depth && right;
            out.cell(left + x * size, y, size - 2, size + 3, stored ? "done" : right ? "on" : "warm");
        }
    }
    const double next = left + (tile - 2 * depth) * size;
    const double y = top + (depth + 1) * step + 6;
    out.text(20, y + 14, "next tile");
    for (int x = 0; x < tile; ++x) {
        const bool stored = x >= depth && x < tile - depth;
        out.cell(next + x * size, y, size - 2, size + 3, stored ? "pale" : "off");
    }
    out.text(20, y + 50,
             "Orange values are wrong: their neighbours outside were never swept. The next tile stores what "
             "this one cannot.",
             "soft");
    return out.svg();
}

// ---------------------------------------------------------------------------------------------------------------
// Diagonal pairs

std::string pairs_figure() {
    constexpr double size = 44, top = 66;
    Drawing out(
        760, 300, "Two additions per point instead of three",
        "the sum of four neighbours is the sum of two diagonal pairs, and every pair serves two points");
    const auto box = [&](double left, int x, int y, const std::string& kind, const std::string& word) {
        out.cell(left + x * size, top + y * size, size - 4, size - 4, kind, word);
    };
    const auto grid = [&](double left) {
        for (int y = 0; y < 4; ++y) {
            for (int x = 0; x < 5; ++x) box(left, x, y, "off", "");
        }
    };
    const auto pair = [&](double left, int x, int y, const std::string& kind, const std::string& word) {
        const double middle = size / 2 - 2;
        out.line(left + x * size + middle, top + y * size + middle, left + (x + 1) * size + middle,
                 top + (y + 1) * size + middle, kind == "on" ? "edge" : "edge warm");
        box(left, x, y, kind, word), box(left, x + 1, y + 1, kind, word);
    };
    grid(30);
    pair(30, 1, 1, "on", "A"), pair(30, 2, 0, "warm", "B");
    box(30, 2, 1, "done", "new");
    grid(420);
    pair(420, 1, 1, "on", "A"), pair(420, 0, 2, "warm", "C");
    box(420, 1, 2, "done", "new");
    out.text(30, top + 4 * size + 22, "new = A + B: left with below, above with right.", "soft");
    out.text(420, top + 4 * size + 22, "Down left of it: the same A serves again.", "soft");
    return out.svg();
}

// ---------------------------------------------------------------------------------------------------------------
// Stopping at the exact sweep

std::string replay_figure() {
    constexpr double left = 40, top = 70, width = 200;
    Drawing out(760, 250, "Stopping at the exact sweep",
                "passes of sixteen sweeps measure only their last one; when it is small, the pass is "
                "repeated one sweep at a time until the first small one");
    const char* norms[] = {"norm of sweep 16: 0.9", "norm of sweep 32: 0.4", "norm of sweep 48: 0.09"};
    for (int pass = 0; pass < 3; ++pass) {
        const double x = left + pass * (width + 14);
        out.cell(x, top, width, 30, pass == 2 ? "warm" : "on",
                 "pass " + std::to_string(pass + 1) + ": 16 sweeps");
        out.text(x, top + 48, norms[pass], "small");
    }
    const double back = left + 2 * (width + 14);
    out.line(back + width / 2, top + 56, back + 6, top + 82, "edge warm");
    for (int sweep = 0; sweep < 6; ++sweep) {
        out.cell(back + sweep * 32, top + 84, 28, 30, sweep == 5 ? "done" : "pale",
                 std::to_string(33 + sweep));
    }
    out.text(back, top + 132, "sweep 38: norm 0.0998, the first below 0.1", "small");
    out.text(
        left, top + 164,
        "eps = 0.1. The field before the pass is still in the other buffer, so going back costs nothing.",
        "soft");
    return out.svg();
}

// ---------------------------------------------------------------------------------------------------------------
// Computed pictures

std::vector<float> as_floats(const std::vector<double>& values) { return {values.begin(), values.end()}; }

/// The hot plate and the charge, converged.
void potentials(const std::filesystem::path& folder) {
    constexpr int n = 65;
    std::vector<float> start(n * n, 0.0f);
    const jacobi::Lattice charged{n, n, 1, n / 2, n / 2}, plate{n, n, 0, 0, 0};
    jacobi::draw_potential(folder / "charge.png",
                           as_floats(jacobi::reference_solve(start, charged, 9000, -1).phi), charged);
    std::fill(start.end() - n, start.end(), 1.0f);
    jacobi::draw_potential(folder / "plate.png",
                           as_floats(jacobi::reference_solve(start, plate, 9000, -1).phi), plate);
}

/// The norm of the update and that of the error, which is what one wants to know.
void convergence(const std::filesystem::path& folder) {
    constexpr int n = 65, most = 12000;
    const jacobi::Lattice lattice{n, n, 0, 0, 0};
    std::vector<float> start(n * n, 0.0f);
    std::fill(start.end() - n, start.end(), 1.0f);
    const jacobi::Reference all = jacobi::reference_solve(start, lattice, 30000, -1);
    rungs::LinePlot plot{
        "The update is small long before the error is",
        "Norms of update and error of the hot plate on 65 times 65 points against the sweeps, with the "
        "slope that theory gives.",
        "sweeps",
        "norm",
        rungs::Scale::linear,
        rungs::Scale::log10,
        {{"update", {}, {}}, {"error", {}, {}}, {"theory: rho^k", {}, {}}}};
    const double rho = jacobi::spectral_radius(n, n);
    jacobi::Reference at = jacobi::reference_solve(start, lattice, 0, -1);
    std::vector<float> field = start;
    for (int sweep = 0; sweep <= most; sweep += 100) {
        if (sweep > 0) {
            // In steps of 100 from rounded fields: floats are exact enough for a picture.
            const jacobi::Reference part = jacobi::reference_solve(field, lattice, 100, -1);
            field = as_floats(part.phi);
            plot.series[0].x.push_back(sweep);
            plot.series[0].y.push_back(all.norms[static_cast<std::size_t>(sweep - 1)]);
        }
        double square = 0;
        for (std::size_t i = 0; i < field.size(); ++i) square += std::pow(field[i] - all.phi[i], 2);
        plot.series[1].x.push_back(sweep);
        plot.series[1].y.push_back(std::sqrt(square));
        plot.series[2].x.push_back(sweep);
        plot.series[2].y.push_back(3 * std::pow(rho, sweep));
    }
    rungs::write_file(folder / "convergence.svg", rungs::on_ground(plot.svg()));
}

}  // namespace

static void draw(const std::filesystem::path& folder) {
    potentials(folder);
    convergence(folder);
}

int main(int argc, char** argv) {
    return rungs::draw_figures(argc, argv,
                               {{"sweep.svg", sweep_figure},
                                {"halo.svg", halo_figure},
                                {"trapezoid.svg", trapezoid_figure},
                                {"pairs.svg", pairs_figure},
                                {"replay.svg", replay_figure}},
                               {"jacobi_ladder.svg",
                                "How many points per second each solver sweeps, beside what a copy would "
                                "allow for one sweep per pass.",
                                "Gcell/s"},
                               draw);
}
