// Draws the pictures of the lesson from the numbers that they show: FOLDER/*.svg
// and FOLDER/drift.csv, see rungs/figure.hpp.

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "exam/systems.hpp"
#include "rungs/atomic_file.hpp"
#include "rungs/csv.hpp"
#include "rungs/figure.hpp"
#include "rungs/svg.hpp"

namespace {

/// Two decimals, as a coordinate has them.
std::string at(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2f", value);
    return text;
}

class Drawing : public rungs::Drawing {
  public:
    using rungs::Drawing::Drawing;

    void dot(double x, double y) {
        out_ << "<circle cx=\"" << at(x) << "\" cy=\"" << at(y) << "\" r=\"5\" class=\"done\"/>\n";
    }
    void path(const std::vector<std::pair<double, double>>& points, const std::string& kind,
              bool closed = false) {
        out_ << "<path d=\"";
        for (std::size_t i = 0; i < points.size(); ++i) {
            out_ << (i ? 'L' : 'M') << at(points[i].first) << ' ' << at(points[i].second);
        }
        out_ << (closed ? "Z" : "") << "\" class=\"" << kind << "\"/>\n";
    }
};

// ---------------------------------------------------------------------------------------------------------------
// Who reads what in one step

std::string reads_figure() {
    constexpr int rows = 8, columns = 24, cell = 15, sector = 8;
    Drawing out(
        860, 230, "What eight threads read in one step",
        "One thread per row touches eight distant sectors and uses one word of each; one warp per row "
        "touches one sector and uses all of it.");
    const auto panel = [&](double left, const std::string& name, const std::string& count, bool row_wise) {
        out.text(left, 58, name);
        for (int i = 0; i < rows; ++i) {
            for (int j = 0; j < columns; ++j) {
                const bool read = row_wise ? (i == 2 && j < sector) : j == 2;
                const bool fetched = row_wise ? read : j < sector;
                out.box(left + j * cell, 70 + i * cell, cell - 2, cell - 2,
                        read      ? "on"
                        : fetched ? "warm"
                                  : "off");
            }
        }
        out.text(left, 212, count, "soft");
    };
    panel(20, "01, 02: thread i reads a[i][2]", "8 sectors of 32 bytes fetched, 32 of 256 bytes used", false);
    panel(450, "04: lane l reads a[2][l]", "1 sector fetched, 32 of 32 bytes used", true);
    return out.svg();
}

// ---------------------------------------------------------------------------------------------------------------
// Descent in a valley: f(x) = x.Ax / 2 with eigenvalues 1 and kappa, from the hardest start

std::string valley_figure() {
    constexpr double kappa = 8;
    constexpr double scale = 46, middle_x = 400, middle_y = 200;
    Drawing out(
        800, 370, "Steepest descent in a valley",
        "The path zigzags across the contours of a function that is eight times steeper one way than the "
        "other; each step shrinks the error by the same factor.");
    double x = kappa, y = 1;  // eigenvector parts of the error: the same size of gradient in both
    const auto place = [&](double u, double v) {
        return std::pair<double, double>{middle_x + scale * u, middle_y - scale * v};
    };
    std::vector<std::pair<double, double>> path{place(x, y)};
    for (int k = 0; k < 12; ++k) {
        const double level = std::sqrt(x * x + kappa * y * y);  // of the contour through this point
        if (k < 5) {
            std::vector<std::pair<double, double>> contour;
            for (int i = 0; i < 120; ++i) {
                const double angle = 2 * 3.14159265358979 * i / 120;
                contour.push_back(place(level * std::cos(angle), level * std::sin(angle) / std::sqrt(kappa)));
            }
            out.path(contour, "rule", true);
        }
        const double gx = x, gy = kappa * y;
        const double alpha = (gx * gx + gy * gy) / (gx * gx + kappa * gy * gy);
        x -= alpha * gx, y -= alpha * gy;
        path.push_back(place(x, y));
    }
    out.path(path, "edge warm");
    out.dot(middle_x, middle_y);
    out.text(20, 356,
             "Condition number 8. Each step goes straight down the slope, and each takes the error to 7/9 of "
             "what it was.",
             "soft");
    return out.svg();
}

// ---------------------------------------------------------------------------------------------------------------
// One number, two uses

std::string triangle_figure() {
    constexpr double side = 230, top = 64, left = 60;
    Drawing out(
        820, 330, "One piece of A, used twice",
        "A piece below the diagonal multiplies a part of r along its columns for its rows, and, mirrored, a "
        "part of r along its rows for its columns.");
    constexpr int tiles = 10;
    constexpr double tile = side / tiles;
    for (int i = 0; i < tiles; ++i) {
        for (int j = 0; j < tiles; ++j) {
            const bool piece = i == 6 && j == 2, mirror = i == 2 && j == 6;
            out.box(left + j * tile, top + i * tile, tile - 2, tile - 2,
                    piece    ? "on"
                    : mirror ? "warm"
                    : j <= i ? "pale"
                             : "off");
        }
    }
    out.text(left, 316, "pale: read · empty: never read", "small soft");
    const auto vector = [&](double x, const std::string& name, int first, const std::string& kind, int second,
                            const std::string& other) {
        for (int i = 0; i < tiles; ++i) {
            out.box(x, top + i * tile, tile - 2, tile - 2, i == first ? kind : i == second ? other : "off");
        }
        out.text(x + tile / 2, top - 10, name, "mid");
    };
    vector(340, "r", 2, "on", 6, "warm");
    vector(420, "q", 6, "on", 2, "warm");
    out.text(470, top + 6 * tile + 14, "q_I += A_IJ r_J: the piece as it is");
    out.text(470, top + 2 * tile + 14, "q_J += A_IJ^T r_I: the same numbers, mirrored");
    out.text(470, top + 4 * tile + 14, "4 flops for every 4 bytes, instead of 2", "soft");
    return out.svg();
}

// ---------------------------------------------------------------------------------------------------------------
// The host's part

std::string loop_figure() {
    Drawing out(
        860, 250, "Who says when to stop",
        "A host that asks waits in every iteration; a host that does not ask queues too much; a loop on the "
        "device needs no host.");
    const auto lane = [&](double y, const std::string& name) {
        out.text(20, y + 16, name);
        out.line(190, y + 32, 840, y + 32, "rule");
    };
    lane(56, "01: ask the host");
    for (int k = 0; k < 4; ++k) {
        out.cell(190 + k * 150, 56, 70, 24, "on", "iterate");
        out.cell(264 + k * 150, 56, 70, 24, "warm", "copy, wait");
    }
    lane(116, "02 to 06: queue all");
    for (int k = 0; k < 8; ++k)
        out.cell(190 + k * 74, 116, 70, 24, k < 5 ? "on" : "off", k < 5 ? "iterate" : "nothing");
    lane(176, "08 to 11: on the device");
    for (int k = 0; k < 5; ++k) out.cell(190 + k * 72, 176, 70, 24, "on", "iterate");
    out.text(560, 193, "stops by itself", "small soft");
    return out.svg();
}

// ---------------------------------------------------------------------------------------------------------------
// The drift of a carried residual

/// A float solve that keeps to the recurrence, or renews its residual. Fills in ||r|| as carried,
/// and in truth.
void solve(int n, double kappa, int iterations, bool renews, std::vector<double>& carried,
           std::vector<double>& real) {
    const gradient_descent::Spectrum spectrum(static_cast<std::size_t>(n), kappa, 4);
    const std::vector<float> a = spectrum.matrix();
    std::vector<float> b(static_cast<std::size_t>(n), 0.0f);
    spectrum.add_eigenvector(0, 1, b);
    spectrum.add_eigenvector(static_cast<std::size_t>(n) / 3, 1, b);
    spectrum.add_eigenvector(static_cast<std::size_t>(n) - 1, 1, b);
    std::vector<float> x(b.size(), 0.0f), r = b, q(b.size());
    const auto multiply = [&](const std::vector<float>& v, std::vector<float>& result) {
        for (std::size_t i = 0; i < v.size(); ++i) {
            float sum = 0;
            for (std::size_t j = 0; j < v.size(); ++j) sum += a[i * v.size() + j] * v[j];
            result[i] = sum;
        }
    };
    for (int k = 0; k <= iterations; ++k) {
        double rr = 0, rAr = 0, truth = 0;
        multiply(r, q);
        for (std::size_t i = 0; i < r.size(); ++i) {
            rr += static_cast<double>(r[i]) * r[i];
            rAr += static_cast<double>(r[i]) * q[i];
            double exact = b[i];
            for (std::size_t j = 0; j < r.size(); ++j)
                exact -= static_cast<double>(a[i * r.size() + j]) * x[j];
            truth += exact * exact;
        }
        carried.push_back(std::sqrt(rr));
        real.push_back(std::sqrt(truth));
        const auto alpha = static_cast<float>(rr / rAr);
        for (std::size_t i = 0; i < r.size(); ++i) {
            x[i] += alpha * r[i];
            r[i] -= alpha * q[i];
        }
        if (renews && (k + 1) % 50 == 0) {
            multiply(x, q);
            for (std::size_t i = 0; i < r.size(); ++i) r[i] = b[i] - q[i];
        }
    }
}

void drift(const std::filesystem::path& folder) {
    constexpr int n = 60, iterations = 3000;
    rungs::LinePlot plot{
        "A residual that is only carried along",
        "The carried residual falls without end, while b - A x stays where rounding has left it; renewed "
        "every 50 iterations, it says the truth.",
        "iterations",
        "||r|| / ||b||, condition number 300, float",
        rungs::Scale::linear,
        rungs::Scale::log10,
        {{"carried, never renewed", {}, {}}, {"its b - A x", {}, {}}, {"b - A x, renewed", {}, {}}}};
    std::vector<double> lines[4];
    solve(n, 300, iterations, false, lines[0], lines[1]);
    solve(n, 300, iterations, true, lines[3], lines[2]);
    rungs::Csv table({"iterations", "carried", "true", "true if renewed"});
    for (int k = 0; k <= iterations; k += 20) {
        const auto i = static_cast<std::size_t>(k);
        for (std::size_t s = 0; s < 3; ++s) {
            plot.series[s].x.push_back(k);
            plot.series[s].y.push_back(lines[s][i] / lines[s][0]);
        }
        table.row(k, lines[0][i] / lines[0][0], lines[1][i] / lines[1][0], lines[2][i] / lines[2][0]);
    }
    table.write(folder / "drift.csv");
    rungs::write_file(folder / "drift.svg", rungs::on_ground(plot.svg()));
}

// ---------------------------------------------------------------------------------------------------------------
// Iterations against the condition number, in double

void condition(const std::filesystem::path& folder) {
    rungs::LinePlot plot{
        "Iterations to a residual of 1e-5",
        "Descent needs iterations in proportion to the condition number; conjugate gradients in proportion "
        "to its root.",
        "condition number",
        "iterations",
        rungs::Scale::log2,
        rungs::Scale::log10,
        {{"descent, hardest b", {}, {}}, {"descent, random b", {}, {}}, {"conjugate gradients", {}, {}}}};
    constexpr std::size_t n = 64;
    for (double kappa = 2; kappa <= 1024; kappa *= 2) {
        const gradient_descent::Spectrum spectrum(n, kappa, 2);
        const std::vector<float> a = spectrum.matrix();
        std::vector<float> hardest(n, 0.0f);
        spectrum.add_eigenvector(0, 1, hardest);
        spectrum.add_eigenvector(n - 1, 1, hardest);
        const std::vector<float> random = rungs::random_field(n, 8, rungs::signed_uniform);
        for (int method = 0; method < 3; ++method) {
            const std::vector<float>& b = method == 0 ? hardest : random;
            std::vector<double> r(b.begin(), b.end()), p = r;
            double rr = 0;
            for (const double value : r) rr += value * value;
            const double enough = 1e-10 * rr;
            int k = 0;
            for (; rr > enough; ++k) {
                std::vector<double> q(n, 0.0);
                double pAp = 0, next = 0;
                for (std::size_t i = 0; i < n; ++i) {
                    for (std::size_t j = 0; j < n; ++j) q[i] += static_cast<double>(a[i * n + j]) * p[j];
                    pAp += p[i] * q[i];
                }
                for (std::size_t i = 0; i < n; ++i) {
                    r[i] -= rr / pAp * q[i];
                    next += r[i] * r[i];
                }
                for (std::size_t i = 0; i < n; ++i) p[i] = r[i] + (method == 2 ? next / rr * p[i] : 0.0);
                rr = next;
            }
            plot.series[static_cast<std::size_t>(method)].x.push_back(kappa);
            plot.series[static_cast<std::size_t>(method)].y.push_back(k);
        }
    }
    rungs::write_file(folder / "condition.svg", rungs::on_ground(plot.svg()));
}

}  // namespace

static void draw(const std::filesystem::path& folder) {
    drift(folder);
    condition(folder);
}

int main(int argc, char** argv) {
    return rungs::draw_figures(
        argc, argv,
        {{"reads.svg", reads_figure},
         {"valley.svg", valley_figure},
         {"triangle.svg", triangle_figure},
         {"loop.svg", loop_figure}},
        {"gradient_descent_ladder.svg",
         "The bytes of the full matrix over the time of an iteration, beside the libraries.", "GB/s"},
        draw);
}
