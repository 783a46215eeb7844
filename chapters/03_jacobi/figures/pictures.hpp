#pragma once
// The pictures of the chapter's program.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <string>
#include <vector>

#include "exam/reference.hpp"
#include "rungs/atomic_file.hpp"
#include "rungs/image.hpp"
#include "rungs/svg.hpp"

namespace jacobi {

/// The potential as colours, y upwards. If there is a charge, field lines start around it at equal angles:
/// each carries the same flux, so their density is the strength of the field.
inline void draw_potential(const std::string& path, const std::vector<float>& phi, const Lattice& lattice) {
    const auto width = static_cast<std::size_t>(lattice.nx), height = static_cast<std::size_t>(lattice.ny);
    const std::size_t pixel = std::max<std::size_t>(1, 640 / std::max(width, height));
    rungs::Picture picture{
        lattice.q == 0 ? rungs::ColourMap::sequential : rungs::ColourMap::symmetric, {}, pixel, true};
    if (lattice.q != 0) {  // the point of the charge alone would take all the colours
        const double end = std::abs(lattice.q) / 2;
        picture.range = rungs::ValueRange{-end, end};
    }
    std::vector<rungs::Rgb> pixels = rungs::draw_field(std::span<const float>(phi), width, height, picture);

    // The field is the negative gradient. Bilinear interpolation of central differences, steps of a fifth
    // of a point.
    const auto value = [&](double x, double y) {
        const auto i = static_cast<std::size_t>(std::clamp(x, 0., width - 2.)),
                   j = static_cast<std::size_t>(std::clamp(y, 0., height - 2.));
        const double u = x - static_cast<double>(i), v = y - static_cast<double>(j);
        const auto at = [&](std::size_t a, std::size_t b) { return static_cast<double>(phi[a + width * b]); };
        return (1 - v) * ((1 - u) * at(i, j) + u * at(i + 1, j)) +
               v * ((1 - u) * at(i, j + 1) + u * at(i + 1, j + 1));
    };
    constexpr int lines = 24;
    for (int line = 0; line < lines && lattice.q != 0; ++line) {
        const double angle = 2 * std::numbers::pi * (line + 0.5) / lines;
        double x = lattice.x0 + 1.5 * std::cos(angle), y = lattice.y0 + 1.5 * std::sin(angle);
        while (x > 0.5 && y > 0.5 && x < static_cast<double>(width) - 1.5 &&
               y < static_cast<double>(height) - 1.5) {
            const auto column = static_cast<std::size_t>((x + 0.5) * static_cast<double>(pixel));
            const auto row =
                height * pixel - 1 - static_cast<std::size_t>((y + 0.5) * static_cast<double>(pixel));
            pixels[row * width * pixel + column] = {40, 40, 40};
            double dx = value(x + 0.5, y) - value(x - 0.5, y), dy = value(x, y + 0.5) - value(x, y - 0.5);
            const double length = std::hypot(dx, dy);
            if (!(length > 1e-12)) break;  // the iteration has not come so far, or the field is zero
            const double outward =
                lattice.q > 0 ? 1 : -1;  // the potential of a positive q has its pit at the charge
            const double step = 0.5 / static_cast<double>(pixel);
            x += outward * step * dx / length, y += outward * step * dy / length;
        }
    }
    rungs::write_png(path, pixels, width * pixel, height * pixel);
}

/// The norm against the sweeps, and what the slowest mode alone would do from the last point backwards.
inline void draw_convergence(const std::string& path, const std::vector<double>& sweeps,
                             const std::vector<double>& norms, const Lattice& lattice) {
    const double rho = spectral_radius(lattice.nx, lattice.ny);
    rungs::LinePlot plot{
        "Convergence of the Jacobi iteration",
        "The norm of the update falls fast at first and then by the spectral radius a sweep.",
        "sweeps",
        "norm of the update",
        rungs::Scale::linear,
        rungs::Scale::log10,
        {{"measured", sweeps, norms}, {"theory: rho^k", {}, {}}}};
    for (const double sweep : sweeps) {
        plot.series[1].x.push_back(sweep);
        plot.series[1].y.push_back(norms.back() * std::pow(rho, sweep - sweeps.back()));
    }
    rungs::write_file(path, rungs::on_ground(plot.svg()));
}

}  // namespace jacobi
