// Draws the pictures of the lesson from the numbers that they show: FOLDER/*.svg, see rungs/figure.hpp.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "exam/reference.hpp"
#include "program/float_inside.hpp"
#include "rungs/figure.hpp"
#include "rungs/random.hpp"
#include "rungs/svg.hpp"

namespace {

using pcg::Field;
using pcg::Grid;
using rungs::Drawing;

// ---------------------------------------------------------------------------------------------------------------
// Neighbours in memory, and the one that is none

std::string neighbours_figure() {
    constexpr int side = 6;
    constexpr double point = 34, left = 40, top = 66;
    Drawing out(840, 312, "A point, its neighbours, and the trap at the end of a row",
                "on a square of six by six points the neighbours of point 14 are 13, 15, 8 and 20; point 17, "
                "the last of its row, has 16, 11 and 23, while 18, the next in memory, is the first point of "
                "the next row");
    for (int i = 0; i < side * side; ++i) {
        const bool own = i == 14 || i == 17;
        const bool next = i == 13 || i == 15 || i == 8 || i == 20 || i == 16 || i == 11 || i == 23;
        out.cell(left + i % side * point, top + i / side * point, point - 3, point - 3,
                 own       ? "on"
                 : next    ? "done"
                 : i == 18 ? "warm"
                           : "off",
                 std::to_string(i));
    }
    out.text(left, 290, "the square: side 6, c_0 to the right, c_1 down", "soft");
    // The same numbers in a line.
    constexpr double memory = 290, narrow = 30;
    for (int i = 8; i <= 24; ++i) {
        const bool own = i == 14 || i == 17;
        const bool next = i == 13 || i == 15 || i == 8 || i == 20 || i == 16 || i == 11 || i == 23;
        out.cell(memory + (i - 8) * narrow, 150, narrow - 3, 30,
                 own       ? "on"
                 : next    ? "done"
                 : i == 18 ? "warm"
                           : "off",
                 std::to_string(i));
        if (i % side == 0)
            out.line(memory + (i - 8) * narrow - 1.5, 140, memory + (i - 8) * narrow - 1.5, 190, "rule");
    }
    const auto at = [&](int i) { return memory + (i - 8) * narrow + narrow / 2 - 1.5; };
    const auto bracket = [&](int from, int to, double y, double base, const std::string& kind) {
        out.line(at(from), base, at(from), y, kind);
        out.line(at(from), y, at(to), y, kind);
        out.line(at(to), y, at(to), base, kind);
    };
    bracket(14, 8, 120, 146, "edge");
    bracket(14, 20, 104, 146, "edge");
    out.text(at(8), 92, "14: one to each side, and 6 = side to each side", "small soft");
    bracket(17, 18, 200, 184, "edge warm");
    bracket(17, 11, 216, 184, "edge");
    bracket(17, 23, 232, 184, "edge");
    out.text(at(11), 252, "17: 18 is next in memory, and no neighbour: c_0 is at its end", "small soft");
    return out.svg();
}

// ---------------------------------------------------------------------------------------------------------------
// What a block of threads owns, in two orders

std::string morton_figure() {
    constexpr int side = 32, block = 64;
    constexpr double point = 8;
    Drawing out(840, 372, "What 64 threads in a row own, and what they read besides",
                "in the order of rows 64 threads own two rows of 32 and read two more; in the order of "
                "interleaved bits they own a square of eight by eight and read its rim of 32");
    const auto panel = [&](double left, const std::string& name, const std::function<int(int, int)>& number) {
        constexpr double top = 70;
        out.box(left - 1, top - 1, side * point, side * point, "pale");
        const int first = 3 * block;
        const auto own = [&](int x, int y) {
            const int n = number(x, y);
            return n >= first && n < first + block;
        };
        int read = 0;
        for (int y = 0; y < side; ++y) {
            for (int x = 0; x < side; ++x) {
                const bool beside = (x > 0 && own(x - 1, y)) || (x + 1 < side && own(x + 1, y)) ||
                                    (y > 0 && own(x, y - 1)) || (y + 1 < side && own(x, y + 1));
                const bool rim = !own(x, y) && beside;
                read += rim;
                if (own(x, y) || rim)
                    out.box(left + x * point, top + y * point, point - 1.5, point - 1.5, rim ? "warm" : "on");
            }
        }
        out.text(left, 56, name);
        out.text(left, 350, "64 points of its own, and " + std::to_string(read) + " read from others",
                 "soft");
    };
    panel(60, "01, 02: row after row", [](int x, int y) { return y * side + x; });
    panel(470, "03: bits of x and y in turn", [](int x, int y) {
        int code = 0;
        for (int bit = 0; bit < 5; ++bit) code |= (x >> bit & 1) << 2 * bit | (y >> bit & 1) << (2 * bit + 1);
        return code;
    });
    return out.svg();
}

// ---------------------------------------------------------------------------------------------------------------
// How often an iteration goes through memory

std::string traffic_figure() {
    Drawing out(840, 300, "The vectors of one iteration",
                "the textbook's three kernels read or write eleven vectors, 44 bytes per point in float; one "
                "pass reads r and p and writes both, and every second time x: five on average, 20 bytes");
    constexpr double left = 210, width = 48, height = 26;
    const auto row = [&](double y, const std::string& name, const std::vector<std::string>& reads,
                         const std::vector<std::string>& writes, const std::string& count) {
        out.text(20, y + 17, name);
        double x = left;
        for (const std::string& word : reads) out.cell(x, y, width - 4, height, "on", word), x += width;
        for (const std::string& word : writes) out.cell(x, y, width - 4, height, "warm", word), x += width;
        out.text(x + 10, y + 17, count, "soft");
    };
    out.text(left, 58, "read", "soft");
    out.box(left - 16, 48, 11, 11, "on");
    out.text(left + 96, 58, "written", "soft");
    out.box(left + 80, 48, 11, 11, "warm");
    row(76, "04: w = A p, p.w", {"p"}, {"w"}, "2");
    row(108, "04: x and r, r.r", {"p", "w", "x", "r"}, {"x", "r"}, "6");
    row(140, "04: p", {"r", "p"}, {"p"}, "3, together 11 vectors: 44 bytes per point");
    row(200, "12: all of it", {"r", "p"}, {"r", "p"}, "4");
    row(232, "12: and every other time", {"x"}, {"x"}, "1 on average, together 5: 20 bytes per point");
    return out.svg();
}

// ---------------------------------------------------------------------------------------------------------------
// The V-cycle

std::string cycle_figure() {
    Drawing out(840, 330, "A V-cycle",
                "down: a red and a black half-sweep, the residual restricted to every second point; at the "
                "bottom so few points that they are solved; up: the correction interpolated and added, a "
                "black and a red half-sweep");
    const auto level = [&](int depth, double x, const std::string& first, const std::string& second,
                           bool down) {
        const double y = 66 + 68 * depth;
        out.cell(x, y, 38, 26, first, first);
        out.cell(x + 41, y, 38, 26, second, second);
        if (down) {
            out.line(x + 62, y + 30, x + 92, y + 62, "edge");
        } else {
            out.line(x - 12, y + 62, x + 18, y + 30, "edge");
        }
    };
    const char* const sizes[] = {"511 a side", "255", "127", "... 1"};
    for (int depth = 0; depth < 3; ++depth) {
        level(depth, 190 + 76 * depth, "red", "black", true);
        level(depth, 640 - 76 * depth, "black", "red", false);
        out.text(20, 83 + 68 * depth, sizes[depth], "soft");
    }
    out.cell(418, 66 + 68 * 3, 79, 26, "done", "solved");
    out.text(20, 83 + 68 * 3, sizes[3], "soft");
    out.text(214, 316, "restrict b - A x", "small soft");
    out.text(600, 316, "interpolate, and add to x", "small soft");
    out.text(338, 83, "the mirror image of the way down: M is symmetric", "small soft");
    return out.svg();
}

// ---------------------------------------------------------------------------------------------------------------
// How residuals fall

/// A preconditioned solve in double with beta = z.r / z.r, as for a symmetric M. @returns ||r_k|| / ||b||
std::vector<double> solve(const Grid& grid, const Field& b, int limit, double tolerance,
                          const std::function<Field(const Field&)>& precondition, bool conjugate) {
    Field r = b, z = precondition(r), p = z;
    double rz = pcg::dot(r, z);
    const double whole = std::sqrt(pcg::dot(b, b));
    std::vector<double> history{1};
    while (static_cast<int>(history.size()) <= limit && history.back() > tolerance) {
        const Field q = pcg::laplace(grid, p);
        const double alpha = rz / pcg::dot(p, q);
        for (std::size_t i = 0; i < r.size(); ++i) r[i] -= alpha * q[i];
        z = precondition(r);
        const double next = pcg::dot(r, z), beta = conjugate ? next / rz : 0;
        for (std::size_t i = 0; i < p.size(); ++i) p[i] = z[i] + beta * p[i];
        rz = next;
        history.push_back(std::sqrt(pcg::dot(r, r)) / whole);
    }
    return history;
}

rungs::Series series(const std::string& name, const std::vector<double>& y) {
    rungs::Series line{name, {}, y};
    for (std::size_t k = 0; k < y.size(); ++k) line.x.push_back(static_cast<double>(k));
    return line;
}

std::string three_methods_figure() {
    const Grid grid{2, 63};
    const Field b = rungs::random_field<double>(grid.points(), 1, rungs::signed_uniform);
    const auto nothing = [](const Field& r) { return r; };
    const auto cycle = [&](const Field& r) { return pcg::v_cycle(grid, r); };
    const rungs::LinePlot plot{"A square of 63 x 63 points, random right-hand side, in double",
                               "steepest descent crawls, conjugate gradients need over two hundred "
                               "iterations to 1e-10, with a V-cycle before each of them ten",
                               "iterations",
                               "||r|| / ||b||",
                               rungs::Scale::linear,
                               rungs::Scale::log10,
                               {series("steepest descent", solve(grid, b, 250, 1e-10, nothing, false)),
                                series("conjugate gradients", solve(grid, b, 250, 1e-10, nothing, true)),
                                series("with a V-cycle", solve(grid, b, 250, 1e-10, cycle, true))}};
    return rungs::on_ground(plot.svg());
}

std::string symmetry_figure() {
    const Grid grid{1, 33};
    const Field b = rungs::random_field<double>(grid.points(), 1, rungs::signed_uniform);
    const auto symmetric = [&](const Field& r) { return pcg::v_cycle(grid, r); };
    const auto crooked = [&](const Field& r) { return pcg::v_cycle(grid, r, {false}); };
    const rungs::LinePlot plot{
        "The same V-cycle with the colours in the wrong order, 33 points in a row",
        "with black before red on the way up the residual falls to 1e-12 in eleven iterations; with red "
        "before black both ways it is ahead at first, falls behind after eight, and takes fourteen",
        "iterations",
        "||r|| / ||b||",
        rungs::Scale::linear,
        rungs::Scale::log10,
        {series("black, red on the way up", solve(grid, b, 40, 1e-12, symmetric, true)),
         series("red, black both ways", solve(grid, b, 40, 1e-12, crooked, true))}};
    return rungs::on_ground(plot.svg());
}

/// Conjugate gradients in float on a smooth right-hand side: what r says, and what x has.
std::string carried_figure() {
    const Grid grid{2, 64};
    const std::size_t n = grid.points();
    std::vector<float> x(n, 0.0f), r(n, 1.0f), p = r, q(n);
    const Field b(n, 1.0);
    std::vector<double> carried, real;
    const auto product = [&](const std::vector<float>& u) {
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t c = i % 64;
            float around = 0;
            if (c > 0) around += u[i - 1];
            if (c < 63) around += u[i + 1];
            if (i >= 64) around += u[i - 64];
            if (i + 64 < n) around += u[i + 64];
            q[i] = 4 * u[i] - around;
        }
    };
    double rr = static_cast<double>(n);
    for (int k = 0; k <= 160; ++k) {
        carried.push_back(std::sqrt(rr / static_cast<double>(n)));
        real.push_back(pcg::residual_norm(grid, b, Field(x.begin(), x.end())) /
                       std::sqrt(static_cast<double>(n)));
        product(p);
        double pq = 0, next = 0;
        for (std::size_t i = 0; i < n; ++i) pq += static_cast<double>(p[i]) * q[i];
        const auto alpha = static_cast<float>(rr / pq);
        for (std::size_t i = 0; i < n; ++i) {
            x[i] += alpha * p[i];
            r[i] -= alpha * q[i];
            next += static_cast<double>(r[i]) * r[i];
        }
        const auto beta = static_cast<float>(next / rr);
        for (std::size_t i = 0; i < n; ++i) p[i] = r[i] + beta * p[i];
        rr = next;
    }
    const rungs::LinePlot plot{"What r says, and what x has: float, 64 x 64 points, b = 1",
                               "the residual that the recurrence carries along falls on and on; b - A x "
                               "stays where the rounding of x has left it",
                               "iterations",
                               "||r|| / ||b||",
                               rungs::Scale::linear,
                               rungs::Scale::log10,
                               {series("r, carried along", carried), series("b - A x", real)}};
    return rungs::on_ground(plot.svg());
}

/// Which waves an iteration of Gauss-Seidel takes out of an error, and which it leaves.
std::string smoothing_figure() {
    const Grid grid{1, 63};
    const Field noise = rungs::random_field<double>(grid.points(), 4, rungs::signed_uniform);
    std::vector<rungs::Series> lines;
    // One V-cycle's first part is a sweep for A x = r from 0: for r = A e it leaves the error e - x.
    Field error = noise;
    for (int sweeps = 0; sweeps <= 4; sweeps += 2) {
        rungs::Series line{std::to_string(sweeps) + " sweeps", {}, {}};
        for (std::size_t i = 0; i < error.size(); ++i) {
            line.x.push_back(static_cast<double>(i));
            line.y.push_back(error[i]);
        }
        lines.push_back(line);
        for (int half = 0; half < 4; ++half) {
            for (std::size_t i = static_cast<std::size_t>(half % 2); i < error.size(); i += 2) {
                const double before = i > 0 ? error[i - 1] : 0,
                             after = i + 1 < error.size() ? error[i + 1] : 0;
                error[i] = (before + after) / 2;
            }
        }
    }
    const rungs::LinePlot plot{
        "An error, and what Gauss-Seidel leaves of it",
        "after two and four sweeps the rough parts of a random error are gone and the smooth ones "
        "are still there",
        "point",
        "error",
        rungs::Scale::linear,
        rungs::Scale::linear,
        lines};
    return rungs::on_ground(plot.svg());
}

// ---------------------------------------------------------------------------------------------------------------
// Two ways down one valley

std::string directions_figure() {
    // f(u, v) = (u^2 + 9 v^2) / 2, so A is diagonal with 1 and 9.
    constexpr double left = 60, top = 60, unit = 78, steep = 9;
    Drawing out(
        840, 330, "Steepest descent and conjugate directions in one valley",
        "from the same point steepest descent takes a zigzag of right angles, of which twelve steps are "
        "drawn; the second conjugate direction leads straight to the lowest point");
    const auto x_of = [&](double u) { return left + (u + 0.2) * unit; };
    const auto y_of = [&](double v) { return top + 110 - v * unit; };
    for (const double f : {0.5, 2.0, 8.0, 18.0, 32.0}) {
        double before_u = std::sqrt(2 * f), before_v = 0;
        for (int i = 1; i <= 90; ++i) {
            const double turn = 2 * std::acos(-1.0) * i / 90;
            const double u = std::sqrt(2 * f) * std::cos(turn), v = std::sqrt(2 * f / steep) * std::sin(turn);
            const auto drawn = [&](double a, double b) {
                return a > -0.2 && a < 9.4 && y_of(b) > 48 && y_of(b) < 300;
            };
            if (drawn(u, v) && drawn(before_u, before_v))
                out.line(x_of(before_u), y_of(before_v), x_of(u), y_of(v), "rule");
            before_u = u, before_v = v;
        }
    }
    const auto walk = [&](int steps, bool conjugate, const std::string& kind) {
        double u = 9, v = 1, r_u = -u, r_v = -steep * v, p_u = r_u, p_v = r_v;
        for (int k = 0; k < steps; ++k) {
            const double rr = r_u * r_u + r_v * r_v, alpha = rr / (p_u * p_u + steep * p_v * p_v);
            const double next_u = u + alpha * p_u, next_v = v + alpha * p_v;
            out.line(x_of(u), y_of(v), x_of(next_u), y_of(next_v), kind);
            u = next_u, v = next_v, r_u = -u, r_v = -steep * v;
            const double beta = conjugate ? (r_u * r_u + r_v * r_v) / rr : 0;
            p_u = r_u + beta * p_u, p_v = r_v + beta * p_v;
        }
    };
    walk(12, false, "edge");
    walk(2, true, "edge warm");
    out.text(left, 318, "steepest descent: twelve steps of many", "soft");
    out.text(420, 318, "conjugate directions: two steps, and there", "soft");
    out.box(left - 16, 308, 11, 11, "on");
    out.box(404, 308, 11, 11, "warm");
    return out.svg();
}

// ---------------------------------------------------------------------------------------------------------------
// Float inside double: what rung 08 does, and what was tried beside it

std::string flexible_figure() {
    const Grid grid{3, 31};
    const Field b = rungs::random_field<double>(grid.points(), 1, rungs::signed_uniform);
    constexpr int most = 500;
    const auto with = [&](const std::string& name, pcg::Inside way, bool keeps) {
        pcg::HostInside inner(grid, 1e-3, keeps, most);
        const pcg::Course course = pcg::solve_around(grid, b, way, std::ref(inner), 1e-10, most);
        return rungs::Series{name, course.products, course.residuals};
    };
    const auto nothing = [](const Field& r) { return r; };
    const rungs::LinePlot plot{
        "Float inside double: 31^3 points, random b, inner solves to 1e-3",
        "a solve in float that keeps its direction from correction to correction needs few more products "
        "with A than double alone; thrown away directions, and a float solve as a preconditioner, need more",
        "products with A, inner ones counted",
        "||b - A x|| / ||b||",
        rungs::Scale::linear,
        rungs::Scale::log10,
        {series("double alone", solve(grid, b, most, 1e-10, nothing, true)),
         with("correction, p kept: rung 08", pcg::Inside::correction, true),
         with("correction, p thrown away", pcg::Inside::correction, false),
         with("preconditioner, beta of the textbook", pcg::Inside::textbook, false),
         with("preconditioner, flexible beta", pcg::Inside::flexible, false)}};
    return rungs::on_ground(plot.svg());
}

// ---------------------------------------------------------------------------------------------------------------
// One cube, seven ways

/// A recorded table: its `# name: text` lines, and its rows as words.
struct Recorded {
    std::map<std::string, std::string> header;
    std::vector<std::vector<std::string>> rows;
};

/// @throws std::runtime_error when the file cannot be read
Recorded recorded(const std::string& name) {
    Recorded table;
    std::ifstream in(std::filesystem::path(RUNGS_CHAPTER_FOLDER) / "bench" / name);
    if (!in) throw std::runtime_error("bench/" + name + " cannot be read");
    for (std::string line; std::getline(in, line);) {
        const std::size_t colon = line.find(": ");
        if (line.rfind("# ", 0) == 0) {
            if (colon != std::string::npos) table.header[line.substr(2, colon - 2)] = line.substr(colon + 2);
            continue;
        }
        std::istringstream words(line);
        table.rows.emplace_back();
        for (std::string word; std::getline(words, word, ',');) table.rows.back().push_back(word);
    }
    return table;
}

/// From measured times, as ./rungs run 04 and 07 -- --history write them, one behind the other.
std::string seven_ways_figure() {
    const Recorded table = recorded("h200_seven_ways.csv");
    const std::vector<std::pair<std::string, std::string>> drawn = {
        {"04/01_jacobi", "Jacobi"},      {"04/11_wavefront", "red-black"}, {"04/08_sor", "over-relaxed"},
        {"steepest descent", "descent"}, {"07/04_cg", "rung 04"},          {"07/12_cg_fused", "rung 12"},
        {"07/14_multigrid", "rung 14"}};
    std::vector<rungs::Series> lines;
    for (const auto& [method, name] : drawn) {
        rungs::Series line{name, {}, {}};
        for (const std::vector<std::string>& row : table.rows) {
            if (row.size() != 4 || row[0] != method || row[1] == "0") continue;
            line.x.push_back(std::stod(row[2])), line.y.push_back(std::stod(row[3]));
        }
        if (!line.x.empty()) lines.push_back(line);
    }
    const rungs::LinePlot plot{
        "One cube, seven ways: 127^3 points, random b, in double, on " +
            table.header.at("machine").substr(0, table.header.at("machine").find(" (")),
        "the residual of seven methods against seconds, as measured on a GPU: the V-cycle in conjugate "
        "gradients is at 1e-6 after a millisecond, over-relaxation after 7, conjugate gradients after 11 in "
        "one pass and 28 in the textbook's way, red-black after 190; Jacobi takes 0.7 s and descent 1.2 s",
        "seconds",
        "||b - A x|| / ||b||",
        rungs::Scale::log10,
        rungs::Scale::log10,
        lines};
    return rungs::on_ground(plot.svg());
}

// ---------------------------------------------------------------------------------------------------------------
// The roofline of the operator

std::string roofline_figure() {
    // The roof of arithmetic is the data sheet's; all else was recorded.
    constexpr double terms = 7, bytes = 8, peak = 67'000;
    const Recorded table = recorded("h200_operator.csv");
    const std::vector<std::string>&names = table.rows.at(0), &row = table.rows.at(1);
    const auto speed = [&](const std::string& name) {
        for (std::size_t c = 0; c < names.size(); ++c) {
            if (names[c].rfind(name, 0) == 0) return std::stod(row.at(c));
        }
        throw std::runtime_error("h200_operator.csv has no column " + name);
    };
    const double bandwidth = bytes * speed("copy"), ridge = peak / bandwidth;
    rungs::LinePlot plot{
        "The operator under the roofs of an H200: float, d = 3, " + row.at(0) + "^3 points",
        "all forms of the operator need 7 operations for 8 bytes, far left of where the roofs "
        "meet; rung 02 reaches half of what the memory allows, the listing a thirteenth",
        "operations per byte that has to move: (2 d + 1) / 8",
        "Gflop/s",
        rungs::Scale::log2,
        rungs::Scale::log10,
        {{"roofs", {0.25, ridge, 4 * ridge}, {0.25 * bandwidth, peak, peak}}}};
    for (const auto& [column, name] :
         {std::pair{"02", "rung 02"}, std::pair{"03", "rung 03"}, std::pair{"01", "rung 01"},
          std::pair{"the course", "the listing, fixed"}})
        plot.series.push_back({name, {terms / bytes}, {terms * speed(column)}});
    return rungs::on_ground(plot.svg());
}

}  // namespace

int main(int argc, char** argv) {
    return rungs::draw_figures(argc, argv,
                               {{"neighbours.svg", neighbours_figure},
                                {"morton.svg", morton_figure},
                                {"traffic.svg", traffic_figure},
                                {"cycle.svg", cycle_figure},
                                {"three_methods.svg", three_methods_figure},
                                {"symmetry.svg", symmetry_figure},
                                {"carried.svg", carried_figure},
                                {"smoothing.svg", smoothing_figure},
                                {"directions.svg", directions_figure},
                                {"flexible.svg", flexible_figure},
                                {"seven_ways.svg", seven_ways_figure},
                                {"roofline.svg", roofline_figure}},
                               {});
}
