#pragma once
// What the right answers are. All data of this chapter are whole numbers, so that there is one right answer
// and no rounding.

#include <limits>
#include <string>
#include <vector>

#include "rungs/exam.hpp"

namespace first_kernels {

/// Numbers on the host: floats, or the channels of pixels, four for each.
using Values = std::vector<double>;

/// What a case asks for, decoded. The sizes are those of the case, in the order of the contract.
struct Question {
    std::string problem;
    std::vector<long long> sizes;
    double a = 0;
    Values x, y;  ///< the inputs

    std::size_t size(std::size_t index) const { return static_cast<std::size_t>(sizes.at(index)); }
};

/// An element that nobody has written.
inline constexpr double untouched = std::numeric_limits<double>::quiet_NaN();

inline constexpr std::size_t group_size = 256;  ///< of Shift

/// The outputs, one after the other. @throws std::invalid_argument for a problem it does not know
Values answer(const Question& question);

/// Channel `c` of the pixel at (x, y), or of the nearest pixel of the image.
double channel_at(const Values& image, std::size_t width, std::size_t height, long long x, long long y,
                  std::size_t c);

/// How the colours of a grey pixel are weighed, in 256ths.
struct Weights {
    int red, green, blue;
};
Values grey_image(const Values& image, Weights weights);

/// How a picture of the scene is drawn.
enum class Order { highest, lowest, first, last, highest_or_later };
/// @param loaded    spheres of the scene that are there, from the first on
/// @param unscaled  pixel (x, y) looks at (x, y) of the scene, whatever the size
Values picture(std::size_t width, std::size_t height, Order order, std::size_t loaded = 40,
               bool unscaled = false);

}  // namespace first_kernels
