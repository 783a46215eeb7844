#pragma once
// Bodies to try a force on, and to watch: each system is the same on every machine for the same seed.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rungs/random.hpp"

namespace nbody {

/// n bodies: (x, y, z, mass) of each, then (vx, vy, vz, 0) of each.
struct System {
    std::vector<float> bodies;
    std::vector<float> velocity;
};

/// At rest, uniform in a cube from -1 to 1, of masses between 0.5 / n and 1.5 / n.
inline System cube(std::size_t n, std::uint64_t seed) {
    System system{rungs::random_field(4 * n, seed, rungs::signed_uniform), std::vector<float>(4 * n, 0.0f)};
    for (std::size_t i = 0; i < n; ++i) {
        float& mass = system.bodies[4 * i + 3];
        mass = (1 + mass / 2) / static_cast<float>(n);
    }
    return system;
}

/// A ball of radius 1 and mass 1 that turns slowly: n bodies, the first two 200 times as heavy as the others
/// and on opposite sides. It falls together within a time of about 1.
inline System two_heavy(std::size_t n, std::uint64_t seed) {
    System system{std::vector<float>(4 * n), std::vector<float>(4 * n, 0.0f)};
    const std::size_t heavy = n < 2 ? n : 2;
    const float light = 1.0f / static_cast<float>(n + 199 * heavy);
    std::uint64_t drawn = 0;
    for (std::size_t i = 0; i < n; ++i) {
        float x[3];
        do {  // a point of the cube, until it is one of the ball
            for (float& c : x) c = rungs::random_at(drawn++, seed, rungs::signed_uniform);
        } while (x[0] * x[0] + x[1] * x[1] + x[2] * x[2] > 1);
        if (i < heavy) x[0] = i == 0 ? -0.5f : 0.5f, x[1] = x[2] = 0;
        for (std::size_t c = 0; c < 3; ++c) system.bodies[4 * i + c] = x[c];
        system.bodies[4 * i + 3] = i < heavy ? 200 * light : light;
        constexpr float turn = 0.4f;  // radians in a unit of time, about z
        system.velocity[4 * i] = -turn * x[1];
        system.velocity[4 * i + 1] = turn * x[0];
    }
    return system;
}

/// A heavy pair on an elongated orbit (eccentricity 0.5, period 2 pi), and n - 2 bodies of a billionth of the
/// mass in a cube of side 4 around it: so light that the energy of the whole does not feel where one of them
/// is flung that comes close to the pair, which the last digits decide.
inline System orbit(std::size_t n, std::uint64_t seed) {
    System system = cube(n, seed);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t c = 0; c < 3; ++c) system.bodies[4 * i + c] *= 2;
        system.bodies[4 * i + 3] = 1e-9f;
    }
    for (std::size_t i = 0; i < 2 && n >= 2; ++i) {
        const float side = i == 0 ? -0.5f : 0.5f;
        float* const body = &system.bodies[4 * i];
        body[0] = 1.5f * side, body[1] = body[2] = 0, body[3] = 0.5f;  // furthest apart: 1.5
        system.velocity[4 * i + 1] = side * 0.57735027f;               // sqrt((1 - 0.5) / (1 + 0.5))
    }
    return system;
}

}  // namespace nbody
