#pragma once
// The oracle: forces, energy, momentum and the leapfrog in double, and what rounding in float may change.

#include <cstddef>
#include <span>
#include <vector>

namespace nbody {

struct Vector {
    double components[3];
    double operator[](std::size_t i) const { return components[i]; }
};

inline Vector operator+(const Vector& a, const Vector& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }
inline Vector operator-(const Vector& a, const Vector& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
inline Vector operator*(double s, const Vector& a) { return {s * a[0], s * a[1], s * a[2]}; }
double length(const Vector& a);

/// Bodies in double, places and velocities; masses do not change.
struct State {
    std::vector<double> mass;
    std::vector<Vector> place;
    std::vector<Vector> velocity;

    std::size_t size() const { return mass.size(); }
};

/// The state that arrays of (x, y, z, mass) and (x, y, z, unused) hold; velocities are 0 when there are none.
/// @throws std::length_error when the numbers of elements do not fit
State state_of(std::span<const float> bodies, std::span<const float> velocity = {});

/// The acceleration of a body, and the sum of the magnitudes of its terms: the yardstick for rounding errors.
struct Pull {
    Vector sum{};
    double magnitude = 0;
};

/// What all bodies but those from `end` on do to body `i`.
Pull reference_pull(const State& state, std::size_t i, double softening, std::size_t end = ~std::size_t{0});

/// The largest |got - expected| / magnitude that rounding explains in a float sum of `n` pulls, in any order.
double force_tolerance(std::size_t n);

/// Sum of m v^2 / 2 and of -m_i m_j / sqrt(|x_j - x_i|^2 + s^2) over all pairs.
struct Energy {
    double kinetic = 0;
    double potential = 0;
    double total() const { return kinetic + potential; }
};
Energy energy(const State& state, double softening);

/// Sum of m v.
Vector momentum(const State& state);

/// Kick, drift, kick, `steps` times.
void leapfrog(State& state, std::size_t steps, double dt, double softening);

/// The unit roundoff of float: a rounded operation is wrong by at most this part of its result.
inline constexpr double unit_roundoff = 0x1p-24;

}  // namespace nbody
