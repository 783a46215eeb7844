#pragma once
// What the chapter's program draws: bodies seen along z, and curves.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "exam/reference.hpp"
#include "exam/systems.hpp"
#include "program/options.hpp"
#include "rungs/atomic_file.hpp"
#include "rungs/csv.hpp"
#include "rungs/image.hpp"
#include "rungs/progress.hpp"
#include "rungs/svg.hpp"

namespace nbody {

/// A square picture from -1.1 to 1.1: the light bodies as light, the two heavy ones as discs.
inline std::vector<rungs::Rgb> draw(const System& system, std::size_t width) {
    std::vector<float> light(width * width, 0.0f);
    const std::size_t n = system.bodies.size() / 4;
    const double scale = static_cast<double>(width) / 2.2, middle = static_cast<double>(width) / 2;
    const double spread = static_cast<double>(width) / 400;  // pixels: the radius of a spot of light
    const auto around = [&](double centre,
                            double radius) {  // the pixels from centre - radius to centre + radius
        const auto clamped = [&](double x) { return std::clamp(x, 0.0, static_cast<double>(width)); };
        return std::pair{static_cast<std::size_t>(clamped(std::floor(centre - radius))),
                         static_cast<std::size_t>(clamped(std::ceil(centre + radius) + 1))};
    };
    const auto for_pixels = [&](std::size_t body, double radius, const auto& act) {
        const double x = middle + scale * system.bodies[4 * body],
                     y = middle - scale * system.bodies[4 * body + 1];
        if (!std::isfinite(x) || !std::isfinite(y)) return;
        const auto [left, right] = around(x, radius);
        const auto [top, bottom] = around(y, radius);
        for (std::size_t row = top; row < bottom; ++row) {
            for (std::size_t col = left; col < right; ++col) {
                const double dx = static_cast<double>(col) + 0.5 - x, dy = static_cast<double>(row) + 0.5 - y;
                act(row * width + col, std::sqrt(dx * dx + dy * dy));
            }
        }
    };
    for (std::size_t i = 2; i < n; ++i) {
        for_pixels(i, 3 * spread, [&](std::size_t pixel, double distance) {
            light[pixel] += static_cast<float>(std::exp(-0.5 * distance * distance / (spread * spread)));
        });
    }
    std::vector<rungs::Rgb> pixels(light.size());
    const double exposure = 1.2 * std::min(1.0, 2048.0 / static_cast<double>(n));
    std::transform(light.begin(), light.end(), pixels.begin(), [&](float l) {
        return rungs::colour_of(rungs::ColourMap::sequential, 1 - std::exp(-exposure * l));
    });
    const double radius = static_cast<double>(width) / 90;
    for (std::size_t i = 0; i < std::min<std::size_t>(2, n); ++i) {
        for_pixels(i, radius + 2, [&](std::size_t pixel, double distance) {  // with a soft edge
            const double cover = std::clamp(radius + 0.5 - distance, 0.0, 1.0);
            const auto mix = [&](std::uint8_t from, double to) {
                return static_cast<std::uint8_t>(std::lround((1 - cover) * from + cover * to));
            };
            rungs::Rgb& p = pixels[pixel];
            p = {mix(p.r, 150), mix(p.g, 215), mix(p.b, 255)};
        });
    }
    return pixels;
}

/// Square pictures side by side, with a light gap.
inline std::vector<rungs::Rgb> side_by_side(const std::vector<std::vector<rungs::Rgb>>& squares,
                                            std::size_t width, std::size_t gap) {
    const std::size_t all = squares.size() * (width + gap) - gap;
    std::vector<rungs::Rgb> pixels(all * width, rungs::Rgb{255, 255, 255});
    for (std::size_t s = 0; s < squares.size(); ++s) {
        for (std::size_t row = 0; row < width; ++row) {
            std::copy_n(squares[s].begin() + static_cast<long>(row * width), width,
                        pixels.begin() + static_cast<long>(row * all + s * (width + gap)));
        }
    }
    return pixels;
}

/// Energy and momentum over time.
class Curves {
  public:
    void add(double time, const System& system, double softening) {
        const State state = state_of(system.bodies, system.velocity);
        const Energy e = energy(state, softening);
        const Vector p = momentum(state);
        if (csv_rows_++ == 0) start_ = e.total(), momentum_ = p;
        const double drift = std::abs(e.total() - start_) / (start_ == 0 ? 1 : std::abs(start_)),
                     moved = length(p - momentum_);
        csv_.row(time, e.kinetic, e.potential, e.total(), drift, moved);
        const double values[] = {e.kinetic, e.potential, e.total(), drift, moved};
        for (std::size_t i = 0; i < std::size(values); ++i) {
            lines_[i].x.push_back(time);
            lines_[i].y.push_back(values[i]);
        }
    }

    /// energy.svg, errors.svg and energy.csv. @throws rungs::FileError
    void write(const std::filesystem::path& folder) const {
        const rungs::LinePlot energies{
            "Energy",
            "Kinetic and potential energy mirror each other while the bodies fall together",
            "time",
            "energy",
            rungs::Scale::linear,
            rungs::Scale::linear,
            {lines_[0], lines_[1], lines_[2]}};
        const rungs::LinePlot errors{
            "What should be constant",
            "The relative change of the energy and the change of the momentum over time",
            "time",
            "change since the start",
            rungs::Scale::linear,
            rungs::Scale::log10,
            {lines_[3], lines_[4]}};
        rungs::write_file(folder / "energy.svg", rungs::on_ground(energies.svg()));
        rungs::write_file(folder / "errors.svg", rungs::on_ground(errors.svg()));
        csv_.write(folder / "energy.csv");
    }

    double largest_drift() const { return *std::max_element(lines_[3].y.begin(), lines_[3].y.end()); }
    double largest_momentum() const { return *std::max_element(lines_[4].y.begin(), lines_[4].y.end()); }

  private:
    std::size_t csv_rows_ = 0;
    double start_ = 0;
    Vector momentum_{};
    rungs::Csv csv_{{"time", "kinetic", "potential", "total", "relative_energy_error", "momentum_error"}};
    rungs::Series lines_[5] = {{"kinetic", {}, {}},
                               {"potential", {}, {}},
                               {"total", {}, {}},
                               {"energy", {}, {}},
                               {"momentum", {}, {}}};
};

/// Draws all frames of a finished run into its folder, and prints how well energy and momentum were kept.
/// @throws rungs::FileError
template <class Simulation>
void draw(const Simulation& simulation, const Options& options) {
    constexpr std::size_t width = 360;
    const bool with_energy = options.n <= 16384;  // n^2 operations a frame, on one core
    Curves curves;
    rungs::Animation animation(width, width);
    std::vector<std::vector<rungs::Rgb>> moments;
    rungs::Progress progress("drawing", static_cast<std::size_t>(options.frames + 1));
    for (int k = 0; k <= options.frames; ++k, progress.advance()) {
        const System system = simulation.frame(k);
        animation.add(draw(system, width), k == 0 || k == options.frames ? 1000 : 60);
        if (with_energy) curves.add(k / static_cast<double>(options.frames), system, options.softening);
        for (const double time : {0.0, 0.3, 0.75, 1.0}) {
            if (k == std::lround(time * options.frames)) moments.push_back(draw(system, width));
        }
    }
    rungs::write_png(options.out / "moments.png", side_by_side(moments, width, 8),
                     moments.size() * (width + 8) - 8, width);
    animation.write(options.out / "animation.png");
    if (!with_energy) return void(std::printf("energy is left out beyond 16384 bodies\n"));
    curves.write(options.out);
    std::printf("energy changed by %.1e of itself at most, momentum by %.1e\n", curves.largest_drift(),
                curves.largest_momentum());
}

}  // namespace nbody
