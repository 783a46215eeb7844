// The oracle. Everything in double: sums of a few thousand terms are then right to 1e-13.

#include "exam/reference.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace nbody {

double length(const Vector& a) { return std::sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]); }

State state_of(std::span<const float> bodies, std::span<const float> velocity) {
    if (bodies.size() % 4 != 0 || (!velocity.empty() && velocity.size() != bodies.size())) {
        throw std::length_error(
            "bodies and velocities are four floats each: " + std::to_string(bodies.size()) + " and " +
            std::to_string(velocity.size()) + " do not fit");
    }
    State state;
    for (std::size_t i = 0; i < bodies.size(); i += 4) {
        state.mass.push_back(bodies[i + 3]);
        state.place.push_back({bodies[i], bodies[i + 1], bodies[i + 2]});
        state.velocity.push_back(velocity.empty() ? Vector{}
                                                  : Vector{velocity[i], velocity[i + 1], velocity[i + 2]});
    }
    return state;
}

Pull reference_pull(const State& state, std::size_t i, double softening, std::size_t end) {
    const Vector own = state.place[i];
    const double softening2 = softening * softening;
    Pull pull;
    for (std::size_t j = 0; j < std::min(end, state.size()); ++j) {
        const Vector d = state.place[j] - own;
        const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        const double squared = r2 + softening2;
        const double factor = state.mass[j] / (squared * std::sqrt(squared));
        pull.sum = pull.sum + factor * d;
        pull.magnitude += factor * std::sqrt(r2);
    }
    return pull;
}

// Let u be the unit roundoff. One pull, to first order: dx is off by u, |d|^2 + s^2 by 2 u for that and 4 u
// for its own operations, its reciprocal root by half of 6 u and 4 u more (2 units in the last place: CUDA
// C++ Programming Guide, "Mathematical Functions"), the cube by three times 7 u and 2 u, and the products
// with the mass and with dx by 2 u and the u of dx: 26 u. Allowed are 32 u.
//
// The sum adds at most n roundings, each at most u of a partial sum, which is at most the magnitude A. They
// never exceed n u A together, and as they scatter around zero, only two in a million exceed 5.25 sqrt(n) u A
// (Azuma's inequality; N. Higham, T. Mary, SIAM J. Sci. Comput. 41, 2019).
double force_tolerance(std::size_t n) {
    const auto k = static_cast<double>(n);
    return (32 + std::min(k, 5.25 * std::sqrt(k))) * unit_roundoff;
}

Energy energy(const State& state, double softening) {
    Energy energy;
    for (std::size_t i = 0; i < state.size(); ++i) {
        const double speed = length(state.velocity[i]);
        energy.kinetic += 0.5 * state.mass[i] * speed * speed;
        double potential = 0;
        for (std::size_t j = 0; j < i; ++j) {
            const Vector d = state.place[j] - state.place[i];
            potential -=
                state.mass[j] / std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + softening * softening);
        }
        energy.potential += state.mass[i] * potential;
    }
    return energy;
}

Vector momentum(const State& state) {
    Vector sum{};
    for (std::size_t i = 0; i < state.size(); ++i) sum = sum + state.mass[i] * state.velocity[i];
    return sum;
}

void leapfrog(State& state, std::size_t steps, double dt, double softening) {
    const auto kick = [&](double time) {
        std::vector<Vector> sums(state.size());
        for (std::size_t i = 0; i < state.size(); ++i) sums[i] = reference_pull(state, i, softening).sum;
        for (std::size_t i = 0; i < state.size(); ++i) {
            state.velocity[i] = state.velocity[i] + time * sums[i];
        }
    };
    if (steps > 0) kick(dt / 2);
    for (std::size_t step = 0; step < steps; ++step) {
        for (std::size_t i = 0; i < state.size(); ++i) {
            state.place[i] = state.place[i] + dt * state.velocity[i];
        }
        kick(step + 1 < steps ? dt : dt / 2);
    }
}

}  // namespace nbody
