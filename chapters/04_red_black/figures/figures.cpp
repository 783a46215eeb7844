// Draws the pictures of the lesson from the numbers that they show: FOLDER/*.svg, see rungs/figure.hpp.
// error.png beside them is one of the pictures that `./rungs run 04 --solution` writes.

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "rungs/figure.hpp"
#include "rungs/svg.hpp"

namespace {

using rungs::Drawing;

/// The places of a row's points in memory, in one array and in two; and what a red half-sweep fetches.
std::string storage_figure() {
    constexpr double left = 20, width = 30, height = 26;
    Drawing out(820, 300, "A row of points in memory",
                "in one array the colours alternate, so that each 32-byte sector that a red half-sweep "
                "fetches holds four values in vain; in two arrays it fetches only what it uses");
    const auto row = [&](double y, int count, const auto& kind, const auto& word) {
        for (int e = 0; e < count; ++e) {
            out.cell(left + e * (width + 2), y, width, height, kind(e), word(e));
            if (e % 8 == 0)
                out.cell(left + e * (width + 2) - 3, y - 5, 8 * (width + 2) + 2, height + 10, "frame");
        }
    };
    const auto colour = [](int k) { return std::string(k % 2 ? "black" : "red"); };
    out.text(20, 56,
             "One array. The number is k; a frame is a sector of 32 bytes, the least that memory hands out.",
             "soft");
    row(70, 24, colour, [](int k) { return std::to_string(k); });
    out.text(
        20, 128,
        "To update the red points of this row, three sectors of b are fetched for 12 values out of 24, and");
    out.text(20, 147, "u is written back with 12 values that did not change.");
    out.text(20, 186, "Two arrays. Element m of the red one is k = 2m, of the black one k = 2m + 1.", "soft");
    row(
        200, 12, [](int) { return std::string("red"); }, [](int m) { return std::to_string(2 * m); });
    row(
        244, 12, [](int) { return std::string("black"); }, [](int m) { return std::to_string(2 * m + 1); });
    out.text(548, 205, "The neighbours of red 8, m = 4, are");
    out.text(548, 223, "black 7 and 9: m = 3 and m = 4.");
    out.text(548, 241, "In the next row of the cube red and");
    out.text(548, 259, "black change places, and it is");
    out.text(548, 277, "m = 4 and m = 5.");
    return out.svg();
}

/// Which half-sweep works on which plane, step by step.
std::string wavefront_figure() {
    constexpr int steps = 9, planes = 9;
    constexpr double left = 110, top = 92, width = 74, height = 24;
    Drawing out(
        820, 400, "A wavefront of half-sweeps, two iterations in one pass",
        "in step i the red points of plane i arrive, plane i - 1 gets black, i - 2 red, i - 3 black again, "
        "i - 4 red again, and plane i - 4 is written");
    out.text(
        20, 56,
        "Each column is a step. Each half-sweep finds the plane below already updated by the one before it.",
        "soft");
    const char* const names[] = {"arrives", "black 1", "red 2", "black 2", "red 3"};
    const char* const kinds[] = {"off", "black", "red", "black", "red"};
    for (int i = 0; i < steps; ++i) {
        out.text(left + i * (width + 4) + width / 2, 82, "step " + std::to_string(i), "mid small soft");
        for (int stage = 0; stage < 5; ++stage) {
            const int plane = i - stage;
            if (plane < 0 || plane >= planes) continue;
            out.cell(left + i * (width + 4), top + plane * (height + 4), width, height, kinds[stage],
                     names[stage]);
        }
        for (int plane = 0; plane <= i - 5; ++plane) {
            out.cell(left + i * (width + 4), top + plane * (height + 4), width, height, "done", "written");
        }
    }
    for (int plane = 0; plane < planes; ++plane) {
        out.text(left - 12, top + plane * (height + 4) + 16, "plane " + std::to_string(plane), "end small");
    }
    out.text(20, top + planes * (height + 4) + 22,
             "Six planes of the tile are on their way at a time. Memory sees the red points of each twice: "
             "once read, once written.");
    return out.svg();
}

/// The convergence factor of SOR against omega, by Young's relation.
std::string omega_figure() {
    rungs::LinePlot plot;
    plot.title = "How fast SOR converges, by omega";
    plot.description =
        "the factor falls towards the best omega, steeply at the end, and rises along omega - 1 beyond";
    plot.x_label = "omega";
    plot.y_label = "factor per iteration";
    for (const int n : {7, 15, 31, 127}) {
        const double rho = std::cos(std::numbers::pi / (n + 1));
        rungs::Series series{"n = " + std::to_string(n), {}, {}};
        for (int step = 0; step <= 200; ++step) {
            const double omega = 1 + step / 200.0;
            const double below = omega * omega * rho * rho / 4 - (omega - 1);
            const double root = omega * rho / 2 + std::sqrt(below > 0 ? below : 0);
            series.x.push_back(omega);
            series.y.push_back(below > 0 ? root * root : omega - 1);
        }
        plot.series.push_back(series);
    }
    return rungs::on_ground(plot.svg());
}

}  // namespace

int main(int argc, char** argv) {
    return rungs::draw_figures(
        argc, argv,
        {{"storage.svg", storage_figure}, {"wavefront.svg", wavefront_figure}, {"omega.svg", omega_figure}},
        {"red_black_ladder.svg",
         "How many points each rung updates in a second, beside the masked kernels and the limit "
         "of one pass.",
         "Gcell/s"});
}
