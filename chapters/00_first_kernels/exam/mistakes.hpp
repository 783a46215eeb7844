#pragma once
// What the usual mistakes leave in the outputs, and what the cause says about each. exam_test.cpp tries
// them on the exam.

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "exam/reference.hpp"
#include "spheres.cuh"

namespace first_kernels {

/// An element that may hold anything after a mistake.
inline constexpr double anything = std::numeric_limits<double>::infinity();

struct Mistake {
    std::string cause;
    Values looks;
};

namespace detail {

/// One value for each element of x.
template <class Formula>
Values each(const Values& x, const Formula& formula) {
    Values out(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) out[i] = formula(i);
    return out;
}

inline std::vector<Mistake> mistakes_of_square(const Question& q) {
    const Values& x = q.x;
    return {{"these are the elements themselves: they were copied, and not squared", x},
            {"these are twice the elements, not their squares", each(x, [&](auto i) { return 2 * x[i]; })},
            {"all elements are 0: was x copied to the device before the kernel?",
             each(x, [](auto) { return 0.0; })},
            {"every element is the square of the first one: the index is the same for all threads",
             each(x, [&](auto) { return x[0] * x[0]; })}};
}

inline std::vector<Mistake> mistakes_of_axpy(const Question& q) {
    const Values &x = q.x, &y = q.y;
    return {
        {"this is x + y: a was not used", each(x, [&](auto i) { return x[i] + y[i]; })},
        {"this is a x: y was not added", each(x, [&](auto i) { return q.a * x[i]; })},
        {"this is a y + x: a belongs to x", each(x, [&](auto i) { return q.a * y[i] + x[i]; })},
        {"this is a (x + y): a belongs to x alone", each(x, [&](auto i) { return q.a * (x[i] + y[i]); })}};
}

inline std::vector<Mistake> mistakes_of_grey(const Question& q) {
    const Values& image = q.x;
    const std::size_t width = q.size(0), height = q.size(1);
    const auto with_alpha = [&](double alpha) {
        Values out = grey_image(image, {77, 150, 29});
        for (std::size_t k = 3; k < out.size(); k += 4) out[k] = alpha;
        return out;
    };
    const auto averaged = each(image, [&](std::size_t i) {
        const std::size_t k = i / 4 * 4;
        return i % 4 == 3 ? image[i] : std::floor((image[k] + image[k + 1] + image[k + 2]) / 3);
    });
    const Values right = grey_image(image, {77, 150, 29});
    const auto narrow = each(image, [&](std::size_t i) {  // the sum in 8 bits, or its high byte lost
        const std::size_t k = i / 4 * 4;
        const double sum = 77 * image[k] + 150 * image[k + 1] + 29 * image[k + 2];
        return i % 4 == 3 ? image[i] : std::fmod(sum, 256);
    });
    Values skewed(image.size(), untouched);  // y * height + x
    for (std::size_t k = 0; k < width * height; ++k) {
        const std::size_t at = k / width * height + k % width;
        if (at < width * height) std::copy_n(right.begin() + 4 * long(at), 4, skewed.begin() + 4 * long(at));
    }
    return {
        {"red and blue have each other's weight: x is red, y is green, z is blue",
         grey_image(image, {29, 150, 77})},
        {"red and green have each other's weight: x is red, y is green, z is blue",
         grey_image(image, {150, 77, 29})},
        {"green and blue have each other's weight: x is red, y is green, z is blue",
         grey_image(image, {77, 29, 150})},
        {"this is the mean of the three channels: the contract weighs them 77, 150 and 29", averaged},
        {"every pixel is black: in whole numbers 77 / 256 is 0, so add up first and divide the sum",
         each(image, [&](std::size_t i) { return i % 4 == 3 ? image[i] : 0.0; })},
        {"alpha is 255 everywhere: it stays that of the pixel", with_alpha(255)},
        {"alpha is 0 everywhere: it stays that of the pixel", with_alpha(0)},
        {"alpha has become grey as well: it stays that of the pixel",
         each(right, [&](std::size_t i) { return i % 4 == 3 ? right[i - 3] : right[i]; })},
        {"the weighted sum was cut off at 8 bits and not divided by 256", narrow},
        {"this is the colour image: it was copied", image},
        {"some pixels are written several times and others never: a row begins at y * width, not y * height",
         skewed}};
}

inline std::vector<Mistake> mistakes_of_shift(const Question& q) {
    const Values& in = q.x;
    const std::size_t n = in.size(), times = q.size(1);
    const auto end_of = [&](std::size_t i) { return std::min(i / group_size * group_size + group_size, n); };
    const auto other_way = each(in, [&](std::size_t i) {
        const std::size_t begin = i / group_size * group_size;
        return in[i < begin + times ? begin : i - times];
    });
    const auto zero = each(in, [&](std::size_t i) { return i + times < end_of(i) ? in[i + times] : 0.0; });
    return {{"the elements have not moved", in},
            {"the elements have moved once, whatever `times` is",
             each(in, [&](std::size_t i) { return in[std::min(i + 1, end_of(i) - 1)]; })},
            {"the elements have moved the other way: element i takes the value of element i + 1", other_way},
            {"the last elements of a group are 0: its last element keeps its own value", zero},
            {"the elements have moved across the ends of the groups of 256",
             each(in, [&](std::size_t i) { return in[std::min(i + times, n - 1)]; })},
            {"the elements have moved round the group: its last element keeps its own value",
             each(in, [&](std::size_t i) {
                 const std::size_t begin = i / group_size * group_size;
                 return in[begin + (i - begin + times) % (end_of(i) - begin)];
             })}};
}

inline std::vector<Mistake> mistakes_of_blur(const Question& q) {
    const Values& image = q.x;
    const auto width = q.sizes.at(0), height = q.sizes.at(1), radius = q.sizes.at(2);
    enum class Border { nearest, black, left_out };
    const auto blurred = [&](long long first, long long last, long long divisor, Border border,
                             long long right = 0, long long below = 0) {
        Values out(image.size());
        for (std::size_t i = 0; i < out.size(); ++i) {
            const auto k = static_cast<long long>(i / 4);
            double sum = 0;
            long long inside = 0;
            for (long long row = k / width + first + below; row <= k / width + last + below; ++row) {
                for (long long column = k % width + first + right; column <= k % width + last + right;
                     ++column) {
                    const bool in = row >= 0 && row < height && column >= 0 && column < width;
                    inside += in;
                    if (!in && border != Border::nearest) continue;
                    sum += channel_at(image, q.size(0), q.size(1), column, row, i % 4);
                }
            }
            out[i] = std::floor(sum / double(border == Border::left_out ? std::max(inside, 1LL) : divisor));
        }
        return out;
    };
    const long long across = 2 * radius + 1;
    std::vector<Mistake> all{
        {"outside of the image, 0 was added: there the nearest pixel of the image counts",
         blurred(-radius, radius, across * across, Border::black)},
        {"at the border, only pixels of the image were averaged: outside, the nearest pixel counts again",
         blurred(-radius, radius, 1, Border::left_out)},
        {"this is the image itself: nothing was blurred", image}};
    if (radius > 0) {
        all.push_back(
            {"the last row and the last column of the window are missing: it reaches up to and "
             "including + radius",
             blurred(-radius, radius - 1, across * across, Border::nearest)});
        for (const auto& [right, below, which] :
             {std::tuple{radius, radius, "to the right and too far down"},
              std::tuple{radius, 0LL, "to the right"}, std::tuple{0LL, radius, "down"}}) {
            all.push_back({std::string("the window lies the radius too far ") + which +
                               ": word 0 of the tile is the pixel `radius` before the block's first",
                           blurred(-radius, radius, across * across, Border::nearest, right, below)});
        }
        all.push_back({"the window is one too small: it has 2 radius + 1 pixels each way",
                       blurred(-radius, radius - 1, 4 * radius * radius, Border::nearest)});
        all.push_back({"divided by (2 radius)^2: the window has (2 radius + 1)^2 pixels",
                       blurred(-radius, radius, 4 * radius * radius, Border::nearest)});
        for (Mistake& mistake : all) {  // a channel has 8 bits
            for (double& value : mistake.looks) value = std::fmod(value, 256);
        }
    }
    return all;
}

inline std::vector<Mistake> mistakes_of_split(const Question& q, const Values& expected) {
    const std::size_t n = q.size(0);
    const auto fields = [&](std::size_t a, std::size_t b, std::size_t c) {
        Values out;
        for (const std::size_t field : {a, b, c}) {
            out.insert(out.end(), expected.begin() + long(field * n),
                       expected.begin() + long((field + 1) * n));
        }
        return out;
    };
    std::vector<Mistake> all{
        {"position and velocity are in each other's place", fields(1, 0, 2)},
        {"position and mass are in each other's place", fields(2, 1, 0)},
        {"velocity and mass are in each other's place", fields(0, 2, 1)},
        {"position, velocity and mass went round by one place", fields(1, 2, 0)},
        {"position, velocity and mass went round by one place", fields(2, 0, 1)},
        {"all three arrays hold the positions", fields(0, 0, 0)},
        {"this is the input cut in three: a structure lies in memory as a whole, one after the other", q.x}};
    return all;
}

inline std::vector<Mistake> mistakes_of_transpose(const Question& q) {
    const Values& in = q.x;
    const std::size_t rows = q.size(0), columns = q.size(1);
    std::vector<Mistake> all{{"nothing was transposed: this is the input", in}};
    Values turned_half(in.size());  // 180 degrees
    for (std::size_t i = 0; i < in.size(); ++i) turned_half[i] = in[in.size() - 1 - i];
    all.push_back({"this is the input back to front", turned_half});
    for (const std::size_t side : {32u, 16u, 8u}) {
        const std::size_t across = (columns + side - 1) / side, down = (rows + side - 1) / side;
        const auto tiles = [&](bool block_turned) {
            Values out(in.size(), untouched);
            for (std::size_t by = 0; by < down; ++by) {
                for (std::size_t bx = 0; bx < across; ++bx) {
                    for (std::size_t t = 0; t < side * side; ++t) {
                        const std::size_t x = t % side, y = t / side;
                        const std::size_t column = (block_turned ? by : bx) * side + x;
                        const std::size_t row = (block_turned ? bx : by) * side + y;
                        if (row >= columns || column >= rows) continue;
                        // From which place of the tile, and what that place was loaded with.
                        const std::size_t in_x = bx * side + (block_turned ? x : y);
                        const std::size_t in_y = by * side + (block_turned ? y : x);
                        const bool loaded = in_x < columns && in_y < rows;
                        out[row * rows + column] = loaded ? in[in_y * columns + in_x] : anything;
                    }
                }
            }
            return out;
        };
        Values unswapped(in.size(), untouched);
        std::vector<bool> stored(in.size());
        for (std::size_t row = 0; row < std::min(across * side, rows); ++row) {
            for (std::size_t column = 0; column < std::min(down * side, columns); ++column) {
                const std::size_t at = row * rows + column;
                if (at >= in.size()) continue;  // found as an access out of bounds
                const bool one = !stored[at] && row < columns && column < rows;
                unswapped[at] = one ? in[column * columns + row] : anything;
                stored[at] = true;
            }
        }
        all.push_back(
            {"the guard of the store compares with the sides of `in`: `out` has `columns` rows of `rows` "
             "elements, so there the row has to be less than columns, and the column less than rows",
             unswapped});
        const std::string name = std::to_string(side) + " x " + std::to_string(side);
        all.push_back({"every tile of " + name +
                           " is turned, and lies where it came from: are blockIdx.x and blockIdx.y swapped "
                           "for the store?",
                       tiles(false)});
        all.push_back({"the tiles of " + name +
                           " lie in the right places, but none is turned: the two indices into shared memory "
                           "are swapped on the way out",
                       tiles(true)});
    }
    return all;
}

inline std::vector<Mistake> mistakes_of_spheres(const Question& q, const Values& expected) {
    const std::size_t width = q.size(0), height = q.size(1);
    const auto moved = [&](auto from) {
        Values out(expected.size());
        for (std::size_t i = 0; i < out.size(); ++i) {
            const std::size_t k = i / 4;
            out[i] = expected[4 * from(k % width, k / width) + i % 4];
        }
        return out;
    };
    const uchar4 empty = background();
    Values nothing_beside = picture(width, height, Order::highest_or_later);
    for (std::size_t i = 0; i < nothing_beside.size(); i += 4) {
        const auto pixel = expected.begin() + static_cast<long>(i);
        if (pixel[0] != empty.x || pixel[1] != empty.y || pixel[2] != empty.z) continue;
        std::fill_n(nothing_beside.begin() + static_cast<long>(i), 3, anything);
    }
    return {
        {"there is only background: did the scene reach constant memory before the kernel, and does the test "
         "of the height let a first sphere pass?",
         picture(width, height, Order::highest, 0)},
        {"only the first sphere is there: the size of a copy counts bytes, of all spheres",
         picture(width, height, Order::highest, 1)},
        {"of spheres behind each other the lowest is seen: the highest is nearest to the eye",
         picture(width, height, Order::lowest)},
        {"the first sphere of the scene that a ray meets is seen, not the highest",
         picture(width, height, Order::first)},
        {"the last sphere of the scene that a ray meets is seen, not the highest",
         picture(width, height, Order::last)},
        {"where two spheres meet at the same height, the one that comes first is seen",
         picture(width, height, Order::highest_or_later)},
        {"where no sphere is met a colour is computed, and of two at the same height the later one is seen: "
         "a sphere counts only if it is higher than what was seen before",
         nothing_beside},
        {"the picture is upside down",
         moved([&](std::size_t x, std::size_t y) { return (height - 1 - y) * width + x; })},
        {"row and column have changed places where the pixel is stored: it is row * width + column",
         moved([&](std::size_t x, std::size_t y) {
             const std::size_t k = y * width + x;
             return k % height * width + k / height;
         })},
        {"the scene is looked at where the pixel is, column and row, not where x and y say",
         picture(width, height, Order::highest, sphere_count, true)}};
}

}  // namespace detail

/// The mistakes that a student may have made, the likeliest first.
inline std::vector<Mistake> mistakes_of(const Question& question, const Values& expected) {
    const std::string& problem = question.problem;
    if (problem == "square") return detail::mistakes_of_square(question);
    if (problem == "axpy") return detail::mistakes_of_axpy(question);
    if (problem == "grey") return detail::mistakes_of_grey(question);
    if (problem == "shift") return detail::mistakes_of_shift(question);
    if (problem == "blur") return detail::mistakes_of_blur(question);
    if (problem == "split") return detail::mistakes_of_split(question, expected);
    if (problem == "transpose") return detail::mistakes_of_transpose(question);
    return detail::mistakes_of_spheres(question, expected);
}

}  // namespace first_kernels
