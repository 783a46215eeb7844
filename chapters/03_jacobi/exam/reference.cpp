// The oracle: the same sweeps in double, point by point.

#include "exam/reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <string>
#include <utility>

namespace jacobi {
namespace {

constexpr double unit_roundoff = 0x1p-24;  // of float

std::size_t sites(int nx, int ny) { return static_cast<std::size_t>(nx) * static_cast<std::size_t>(ny); }

void require(std::size_t got, std::size_t expected) {
    if (got == expected) return;
    throw std::length_error("a field of " + std::to_string(got) + " elements where " +
                            std::to_string(expected) + " are expected");
}

/// Inner points of a lattice.
double inner(const Lattice& lattice) {
    return static_cast<double>(std::max(lattice.nx - 2, 0)) *
           static_cast<double>(std::max(lattice.ny - 2, 0));
}

/// |value|, or 0 for NaN and infinity.
double magnitude(double value) {
    const double size = std::abs(value);
    return size <= std::numeric_limits<double>::max() ? size : 0;
}

/// The new values of the inner points of row y.
void sweep_row(const double* phi, double* next, const Lattice& lattice, int y) {
    const int end = lattice.nx - 1;
    const double *const above = phi - lattice.nx, *const below = phi + lattice.nx;
    for (int x = 1; x < end; ++x) next[x] = (above[x] + phi[x - 1] + phi[x + 1] + below[x]) / 4;
    if (y == lattice.y0 && 0 < lattice.x0 && lattice.x0 < end)
        next[lattice.x0] -= static_cast<double>(lattice.q) / 4;
}

/// @returns the sum of the squares of a row's updates
double squares_of_row(const double* phi, const double* next, const Lattice& lattice, double& largest) {
    const int end = lattice.nx - 1;
    constexpr int chains = 4;  // the compiler may not reorder one
    double squares[chains] = {}, sizes[chains] = {};
    const auto look_at = [&](int x, int chain) {
        const double update = next[x] - phi[x], size = magnitude(next[x]);
        squares[chain] += update * update;
        sizes[chain] = size > sizes[chain] ? size : sizes[chain];
    };
    int x = 1;
    for (; x + chains <= end; x += chains) {
        for (int chain = 0; chain < chains; ++chain) look_at(x + chain, chain);
    }
    for (; x < end; ++x) look_at(x, 0);
    for (const double size : sizes) largest = std::max(largest, size);
    return squares[0] + squares[1] + squares[2] + squares[3];
}

}  // namespace

std::vector<float> without_pitch(std::span<const float> field, int nx, int ny) {
    const std::size_t width = static_cast<std::size_t>(nx), pitch = pitch_of(nx);
    require(field.size(), pitch * static_cast<std::size_t>(ny));
    std::vector<float> result;
    result.reserve(sites(nx, ny));
    for (std::size_t begin = 0; begin < field.size(); begin += pitch) {
        const auto row = field.subspan(begin, width);
        result.insert(result.end(), row.begin(), row.end());
    }
    return result;
}

std::vector<float> with_pitch(std::span<const float> field, int nx, int ny, float between) {
    const std::size_t width = static_cast<std::size_t>(nx), pitch = pitch_of(nx);
    require(field.size(), sites(nx, ny));
    std::vector<float> result(pitch * static_cast<std::size_t>(ny), between);
    for (std::size_t i = 0; i < field.size(); ++i) result[i / width * pitch + i % width] = field[i];
    return result;
}

Reference reference_solve(std::span<const float> start, const Lattice& lattice, int most, double eps,
                          Norms norms) {
    const std::size_t width = static_cast<std::size_t>(lattice.nx);
    require(start.size(), sites(lattice.nx, lattice.ny));
    Reference result;
    result.phi.assign(start.begin(), start.end());
    std::vector<double> other = result.phi;  // the boundary is right from here on
    for (const double value : result.phi) result.largest = std::max(result.largest, magnitude(value));
    // If no norm ends it, several sweeps go over the lattice together, each two rows behind the previous: the
    // rows that they share stay in a core's cache, and two fields are enough, since what a sweep overwrites
    // is not read again.
    const int together = eps < 0 ? 16 : 1;
    // Without a charge no mean is larger than what it is of.
    const bool only_last = norms == Norms::last && eps < 0 && lattice.q == 0;
    for (int done = 0; done < most; done += together) {
        const int sweeps = std::min(together, most - done);
        std::vector<double> squares(static_cast<std::size_t>(sweeps));
        for (int front = 1; front + 1 < lattice.ny + 2 * (sweeps - 1); ++front) {
            for (int k = 0; k < sweeps; ++k) {
                const int y = front - 2 * k;
                if (y < 1) break;
                if (y + 1 >= lattice.ny) continue;
                const std::size_t row = width * static_cast<std::size_t>(y);
                const double* const from = (k % 2 ? other : result.phi).data() + row;
                double* const to = (k % 2 ? result.phi : other).data() + row;
                sweep_row(from, to, lattice, y);
                double& square = squares[static_cast<std::size_t>(k)];
                if (only_last && done + k + 1 < most) {
                    square = std::numeric_limits<double>::quiet_NaN();
                } else {
                    square += squares_of_row(from, to, lattice, result.largest);
                }
            }
        }
        if (sweeps % 2) std::swap(result.phi, other);
        for (const double square : squares) result.norms.push_back(std::sqrt(square));
        if (result.norms.back() <= eps) break;
    }
    return result;
}

// Let u be the unit roundoff and M the largest magnitude. A new value is four neighbours and perhaps a
// charge, added in any order: four roundings, none of a sum larger than 4 M + |q|, and a division by 4 that
// is exact. So a sweep errs by at most u (4 M + |q|), to first order. Errors that are there already are
// averaged like the values, and no average of four numbers is larger than the largest: they never grow. After
// k sweeps the error is at most k times that of one.
double rounding_bound(const Lattice& lattice, double largest, int sweeps) {
    const double one = unit_roundoff * (4 * largest + std::abs(static_cast<double>(lattice.q)));
    return sweeps * one + std::numeric_limits<float>::denorm_min() * sweeps;
}

// The norm is a sum over points of (new - old)^2. Each difference carries the rounding of this sweep and the
// last, and a smooth rest of older ones that both fields share; by the triangle inequality the norm errs by
// no more than the norm of these errors, 2 u (4 M + |q|) a point. To that come the roundings of the sum
// itself: a float partial sum of some tens of squares, all positive, then double: a few u of the whole. And
// updates below 2^-63, whose squares are no normal floats, may be missing.
double norm_bound(const Lattice& lattice, double largest, double norm) {
    return 64 * unit_roundoff * norm +
           std::sqrt(inner(lattice)) * (2 * rounding_bound(lattice, largest, 1) + 0x1p-63);
}

double spectral_radius(int nx, int ny) {
    if (nx < 3 || ny < 3) return 0;
    return (std::cos(std::numbers::pi / (nx - 1)) + std::cos(std::numbers::pi / (ny - 1))) / 2;
}

// The potential kernel of the simple random walk is a(r) = (2 / pi) ln r + (2 gamma + ln 8) / pi + O(1 / r^2)
// (F. Spitzer, Principles of Random Walk, 1976, section 12; G. Lawler, V. Limic, Random Walk, 2010, theorem
// 4.4.4). The mean of its four neighbours exceeds it by 1 at the origin; the charge enters here as 1/4.
double green(double r) {
    return (std::log(r) + std::numbers::egamma + 1.5 * std::numbers::ln2) / (2 * std::numbers::pi);
}

}  // namespace jacobi
