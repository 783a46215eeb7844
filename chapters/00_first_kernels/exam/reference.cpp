// The oracle: every problem as a plain loop.

#include "exam/reference.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "spheres.cuh"

namespace first_kernels {
namespace {

Values shift(const Values& in, std::size_t times) {
    Values out(in.size());
    for (std::size_t i = 0; i < in.size(); ++i) {
        const std::size_t begin = i / group_size * group_size;
        const std::size_t last = std::min(begin + group_size, in.size()) - 1;
        out[i] = in[std::min(i + times, last)];
    }
    return out;
}

Values blur(const Values& image, std::size_t width, std::size_t height, long long radius) {
    Values out(image.size());
    const double count = static_cast<double>((2 * radius + 1) * (2 * radius + 1));
    for (std::size_t k = 0; k < width * height; ++k) {
        const auto x = static_cast<long long>(k % width), y = static_cast<long long>(k / width);
        for (std::size_t c = 0; c < 4; ++c) {
            double sum = 0;
            for (long long row = y - radius; row <= y + radius; ++row) {
                for (long long column = x - radius; column <= x + radius; ++column) {
                    sum += channel_at(image, width, height, column, row, c);
                }
            }
            out[4 * k + c] = std::floor(sum / count);
        }
    }
    return out;
}

Values split(const Values& particles) {
    Values out;
    for (std::size_t field = 0; field < 3; ++field) {
        for (std::size_t i = field; i < particles.size(); i += 3) out.push_back(particles[i]);
    }
    return out;
}

Values transpose(const Values& in, std::size_t rows, std::size_t columns) {
    Values out(in.size());
    for (std::size_t k = 0; k < in.size(); ++k) out[k % columns * rows + k / columns] = in[k];
    return out;
}

}  // namespace

Values answer(const Question& question) {
    const std::string& problem = question.problem;
    if (problem == "square" || problem == "axpy") {
        Values out(question.x.size());
        for (std::size_t i = 0; i < out.size(); ++i) {
            const double x = question.x[i];
            out[i] = problem == "square" ? x * x : question.a * x + question.y[i];
        }
        return out;
    }
    if (problem == "grey") return grey_image(question.x, {77, 150, 29});
    if (problem == "shift") return shift(question.x, question.size(1));
    if (problem == "blur") return blur(question.x, question.size(0), question.size(1), question.sizes.at(2));
    if (problem == "split") return split(question.x);
    if (problem == "transpose") return transpose(question.x, question.size(0), question.size(1));
    if (problem == "spheres") return picture(question.size(0), question.size(1), Order::highest);
    throw std::invalid_argument(
        "chapter 0 has the problems square, axpy, grey, shift, blur, split, transpose and spheres, not '" +
        problem + "'");
}

double channel_at(const Values& image, std::size_t width, std::size_t height, long long x, long long y,
                  std::size_t c) {
    const auto column =
        static_cast<std::size_t>(std::clamp<long long>(x, 0, static_cast<long long>(width) - 1));
    const auto row =
        static_cast<std::size_t>(std::clamp<long long>(y, 0, static_cast<long long>(height) - 1));
    return image[4 * (row * width + column) + c];
}

Values grey_image(const Values& image, Weights weights) {
    Values out(image.size());
    for (std::size_t k = 0; k < image.size(); k += 4) {
        const double light = std::floor(
            (weights.red * image[k] + weights.green * image[k + 1] + weights.blue * image[k + 2]) / 256);
        std::fill_n(out.begin() + static_cast<long>(k), 3, light);
        out[k + 3] = image[k + 3];
    }
    return out;
}

// The square root in double: that the float of height_of() finds the same whole numbers is part of the test.
Values picture(std::size_t width, std::size_t height, Order order, std::size_t loaded, bool unscaled) {
    Values out;
    out.reserve(4 * width * height);
    for (std::size_t k = 0; k < width * height; ++k) {
        const auto x = static_cast<int>(unscaled ? k % width : k % width * scene_side / width);
        const auto y = static_cast<int>(unscaled ? k / width : k / width * scene_side / height);
        double seen = 0;
        const Sphere* found = nullptr;
        for (std::size_t s = 0; s < loaded; ++s) {
            const Sphere& sphere = spheres_of_the_scene.at(s);
            const double across = x - sphere.x, down = y - sphere.y, radius = sphere.radius;
            const double left = radius * radius - across * across - down * down;
            if (left < 0) continue;
            const double z = sphere.z + std::floor(std::sqrt(left));
            const bool better = order == Order::last || (order == Order::highest && z > seen) ||
                                (order == Order::highest_or_later && z >= seen) ||
                                (order == Order::lowest && z < seen);
            if (found && !better) continue;
            found = &sphere;
            seen = z;
        }
        const uchar4 empty = background();
        const double colours[2][3] = {{double(empty.x), double(empty.y), double(empty.z)},
                                      {found ? double(found->red) : 0, found ? double(found->green) : 0,
                                       found ? double(found->blue) : 0}};
        for (std::size_t c = 0; c < 3; ++c) {
            const double light = found ? found->radius + 3 * (seen - found->z) : 0;
            out.push_back(found ? std::floor(colours[1][c] * light / (4 * found->radius)) : colours[0][c]);
        }
        out.push_back(255);
    }
    return out;
}

}  // namespace first_kernels
