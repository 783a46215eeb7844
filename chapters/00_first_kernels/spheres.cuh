#pragma once
/// @file
/// The scene of rung 13: spheres over a square of 1024 x 1024, seen from straight above. All numbers are
/// whole, so that every device makes the same picture, bit for bit.

#include <cuda_runtime.h>

#include <array>
#include <cmath>

namespace first_kernels {

struct Sphere {
    int x, y, z;  ///< the centre: x to the right, y down, z towards the eye
    int radius;
    int red, green, blue;
};

inline constexpr int sphere_count = 40;
inline constexpr int scene_side = 1024;  ///< pixel column c of `width` looks at x = c * scene_side / width
inline constexpr int nowhere = -1 << 30;

/// The height z at which a ray down at (x, y) meets the sphere first; `nowhere` if the ray misses it.
inline __host__ __device__ int height_of(const Sphere& sphere, int x, int y) {
    const int across = x - sphere.x, down = y - sphere.y;
    const int left = sphere.radius * sphere.radius - across * across - down * down;
    if (sphere.radius == 0 || left < 0) return nowhere;
    return sphere.z + static_cast<int>(sqrtf(static_cast<float>(left)));  // exact below 2^22
}

/// The colour of a sphere that is seen at `height`: darker towards its rim.
inline __host__ __device__ uchar4 colour_of(const Sphere& sphere, int height) {
    const int light = sphere.radius + 3 * (height - sphere.z);
    const auto channel = [&](int full) {
        return static_cast<unsigned char>(full * light / (4 * sphere.radius));
    };
    return {channel(sphere.red), channel(sphere.green), channel(sphere.blue), 255};
}

/// What is seen beside the spheres.
inline __host__ __device__ uchar4 background() { return {18, 20, 32, 255}; }

namespace detail {
constexpr std::array<Sphere, sphere_count> make_scene() {
    constexpr int colours[5][3] = {
        {64, 128, 190}, {232, 142, 48}, {70, 168, 110}, {206, 72, 84}, {224, 214, 186}};
    std::array<Sphere, sphere_count> scene{};
    unsigned state = 2026;
    const auto draw = [&state](unsigned below) {
        state = state * 1664525u + 1013904223u;
        return static_cast<int>((state >> 16) % below);
    };
    for (int i = 0; i < sphere_count; ++i) {
        const int* const colour = colours[i % 5];
        const int x = draw(1024), y = draw(1024), z = draw(400), radius = 40 + draw(110);
        scene[static_cast<unsigned>(i)] = {x, y, z, radius, colour[0], colour[1], colour[2]};
    }
    return scene;
}
}  // namespace detail

/// The scene, in host memory. At a point where two spheres have the same height, the first of them is seen.
inline constexpr std::array<Sphere, sphere_count> spheres_of_the_scene = detail::make_scene();

}  // namespace first_kernels
