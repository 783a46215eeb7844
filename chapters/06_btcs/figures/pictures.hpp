#pragma once
// The pictures that the lesson and the chapter's program both draw: the rod through time, the map of
// stability, the order of accuracy.

#include <cmath>
#include <cstddef>
#include <filesystem>
#include <numbers>
#include <sstream>
#include <string>
#include <vector>

#include "exam/reference.hpp"
#include "rungs/figure.hpp"
#include "rungs/image.hpp"
#include "rungs/svg.hpp"

namespace btcs {

/// A rod at many times: one row of values a time level, from the first on.
using History = std::vector<Vector>;

/// Histories beside each other, time downwards, with a stripe of ground between them. Values outside of
/// 0 to 1 take the colour of the end, and what is no number any more is green.
inline void draw_rods(const std::filesystem::path& file, const std::vector<History>& rods,
                      std::size_t pixel = 2) {
    std::vector<std::vector<rungs::Rgb>> panels;
    std::size_t width = 0;
    const std::size_t levels = rods.at(0).size(), height = levels * pixel, stripe = 8;
    for (const History& rod : rods) {
        Vector values;
        for (const Vector& level : rod) values.insert(values.end(), level.begin(), level.end());
        rungs::Picture picture;
        picture.range = rungs::ValueRange{0, 1};
        picture.pixel = pixel;
        const std::size_t points = values.size() / levels;
        panels.push_back(rungs::draw_field(std::span<const double>(values), points, levels, picture));
        width += points * pixel + (panels.size() > 1 ? stripe : 0);
    }
    std::vector<rungs::Rgb> all(width * height, rungs::Rgb{128, 128, 128});
    std::size_t left = 0;
    for (const std::vector<rungs::Rgb>& panel : panels) {
        const std::size_t columns = panel.size() / height;
        for (std::size_t i = 0; i < panel.size(); ++i)
            all[i / columns * width + left + i % columns] = panel[i];
        left += columns + stripe;
    }
    rungs::write_png(file, all, width, height);
}

/// What a step did to a wave.
struct Measured {
    double r = 0, theta = 0, phase = 0, factor = 0;
};

/// The amplification factor over wavenumber and r for the three schemes, by theory, and as small squares
/// what was measured: a square that cannot be made out agrees with the theory around it.
class StabilityMap : public rungs::Drawing {
  public:
    explicit StabilityMap(const std::vector<Measured>& measured)
        : rungs::Drawing(860, 372, "What a step does to a wave",
                         "FTCS lets short waves grow as soon as r exceeds one half; BTCS damps every wave at "
                         "every r; Crank-Nicolson damps none at large r, but turns its sign in each step",
                         classes) {
        constexpr double thetas[] = {0, 1, 0.5};
        const char* const names[] = {"FTCS", "BTCS", "Crank-Nicolson"};
        for (int panel = 0; panel < 3; ++panel) {
            const double left = 70 + panel * 265.0;
            text(left, 58, names[panel]);
            mesh(left, thetas[panel]);
            for (const Measured& point : measured) {
                if (point.theta != thetas[panel]) continue;
                const double x = left + point.phase / std::numbers::pi * width;
                const double y = top + height - (std::log2(point.r) - lowest) / (highest - lowest) * height;
                box(x - 4, y - 4, 8, 8, std::string("spot ") + level_of(point.factor));
            }
            text(left, top + height + 18, "long waves", "small soft");
            text(left + width, top + height + 18, "short waves", "small soft end");
        }
        for (int power = lowest; power <= highest; power += 2) {
            const double y = top + height - (power - lowest) * height / (highest - lowest);
            const std::string label =
                power < 0 ? "1/" + std::to_string(1 << -power) : std::to_string(1 << power);
            text(62, y + 4, label, "small soft end");
        }
        text(20, top - 8, "r", "soft");
        const char* const kinds[] = {"p2", "p1", "n1", "n2", "grows"};
        const char* const words[] = {"1 to 1/2", "1/2 to 0", "0 to -1/2", "-1/2 to -1", "below -1: grows"};
        for (int i = 0; i < 5; ++i) {
            box(70 + i * 140, 336, 16, 16, std::string("spot ") + kinds[i]);
            text(92 + i * 140, 349, words[i], "small");
        }
    }

  private:
    static const char* level_of(double factor) {
        if (!(factor >= -1.0000001)) return "grows";
        return factor < -0.5 ? "n2" : factor < 0 ? "n1" : factor < 0.5 ? "p1" : "p2";
    }

    /// One path a level, of runs of cells.
    void mesh(double left, double theta) {
        for (const char* const level : {"p2", "p1", "n1", "n2", "grows"}) {
            std::ostringstream path;
            for (int row = 0; row < rows; ++row) {
                const double r = std::exp2(highest - (row + 0.5) * (highest - lowest) / rows);
                const auto level_at = [&](int column) {
                    return level_of(amplification(r, theta, (column + 0.5) * std::numbers::pi / columns));
                };
                for (int first = 0; first < columns;) {
                    int last = first;
                    while (last < columns && std::string_view(level_at(last)) == level_at(first)) ++last;
                    if (std::string_view(level_at(first)) == level) {
                        path << 'M' << left + first * cell << ' ' << top + row * cell << 'h'
                             << (last - first) * cell << 'v' << cell << 'h' << -(last - first) * cell << 'z';
                    }
                    first = last;
                }
            }
            if (!path.str().empty()) out_ << "<path class=\"" << level << "\" d=\"" << path.str() << "\"/>\n";
        }
    }

    static constexpr int columns = 56, rows = 56, lowest = -4, highest = 8;  // powers of 2 for r
    static constexpr int cell = 4, width = columns * cell, height = rows * cell, top = 76;
    static constexpr const char* classes =
        ".fig .p2{fill:#1769aa}.fig .p1{fill:#9cc7ea}.fig .n1{fill:#f6c9a8}.fig .n2{fill:#d2712c}"
        ".fig .grows{fill:#2b2f36}.fig .spot{stroke:#ffffff;stroke-width:1}"
        "@media(prefers-color-scheme:dark){.fig .grows{fill:#c9d1d9}.fig .spot{stroke:#0d1117}}";
};

/// Lines of errors against time steps.
inline rungs::LinePlot order_plot(std::vector<rungs::Series> lines) {
    return {"Error against the time step",
            "Halving the step halves the error of BTCS and quarters that of Crank-Nicolson, until "
            "rounding takes over",
            "time step",
            "largest error at the end, time discretisation and rounding only",
            rungs::Scale::log10,
            rungs::Scale::log10,
            std::move(lines)};
}

}  // namespace btcs
