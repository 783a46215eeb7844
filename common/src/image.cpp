#include "rungs/image.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>

#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb/stb_image_write.h>
#pragma GCC diagnostic pop

namespace rungs {
namespace {

/// A point of OKLab: lightness, and the two colour axes.
struct Lab {
    double lightness = 0;
    double a = 0;
    double b = 0;
};

Lab from_hue(double lightness, double chroma, double degrees) {
    const double angle = degrees * std::numbers::pi / 180;
    return {lightness, chroma * std::cos(angle), chroma * std::sin(angle)};
}

double distance(const Lab& p, const Lab& q) {
    return std::hypot(p.lightness - q.lightness, p.a - q.a, p.b - q.b);
}

/// OKLab to 8-bit sRGB, by the matrices of the publication and the transfer function of IEC 61966-2-1.
Rgb to_srgb(const Lab& c) {
    const double l = std::pow(c.lightness + 0.3963377774 * c.a + 0.2158037573 * c.b, 3);
    const double m = std::pow(c.lightness - 0.1055613458 * c.a - 0.0638541728 * c.b, 3);
    const double s = std::pow(c.lightness - 0.0894841775 * c.a - 1.2914855480 * c.b, 3);
    const auto channel = [](double linear) {
        const double clamped = std::clamp(linear, 0.0, 1.0);
        const double encoded =
            clamped <= 0.0031308 ? 12.92 * clamped : 1.055 * std::pow(clamped, 1 / 2.4) - 0.055;
        return static_cast<std::uint8_t>(std::lround(255 * encoded));
    };
    return {channel(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
            channel(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
            channel(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)};
}

/// From dark violet (hue 285) over red (20) to light yellow (105); the chroma keeps the curve inside sRGB.
Lab sequential(double t) {
    return from_hue(0.14 + 0.83 * t, 0.03 + 0.15 * std::sin(std::numbers::pi * t), 285 + 180 * t);
}

/// From dark blue (hue 257) over white to dark red (28); both halves have the same lightness.
Lab symmetric(double t) {
    const double away = std::abs(2 * t - 1);
    return from_hue(0.97 - 0.56 * away, 0.14 * std::pow(away, 0.8), t < 0.5 ? 257 : 28);
}

using Table = std::array<Rgb, 256>;

/// 256 points of `curve` at equal distances along it.
Table tabulate(Lab (*curve)(double)) {
    constexpr std::size_t fine = 8192;
    std::vector<double> length(fine + 1, 0);
    for (std::size_t i = 1; i <= fine; ++i) {
        length[i] = length[i - 1] + distance(curve(double(i - 1) / fine), curve(double(i) / fine));
    }
    Table table;
    for (std::size_t i = 0; i < table.size(); ++i) {
        const double wanted = length.back() * static_cast<double>(i) / (table.size() - 1);
        const auto at = std::lower_bound(length.begin(), length.end(), wanted);
        table[i] =
            to_srgb(curve(static_cast<double>(std::min(at, length.end() - 1) - length.begin()) / fine));
    }
    return table;
}

void require_size(std::size_t count, std::size_t width, std::size_t height) {
    // stb counts in int, and so do the viewers.
    if (width > 0 && height > 0 && width <= 65535 && height <= 65535 && count == width * height) return;
    throw std::invalid_argument("an image of " + std::to_string(width) + " x " + std::to_string(height) +
                                " cannot " + "be made from " + std::to_string(count) +
                                " values (each side is 1 to 65535)");
}

template <class T>
ValueRange range_of(std::span<const T> values, ColourMap map) {
    double low = HUGE_VAL;
    double high = -HUGE_VAL;
    for (const T value : values) {
        if (!std::isfinite(value)) continue;
        low = std::min(low, static_cast<double>(value));
        high = std::max(high, static_cast<double>(value));
    }
    if (low > high) return {};  // nothing finite
    if (map == ColourMap::symmetric) {
        high = std::max(std::abs(low), std::abs(high));
        low = -high;
    }
    return {low, high};
}

}  // namespace

Rgb colour_of(ColourMap map, double t) {
    static const Table tables[] = {tabulate(sequential), tabulate(symmetric)};
    if (std::isnan(t)) return {0, 200, 90};
    const Table& table = tables[map == ColourMap::sequential ? 0 : 1];
    return table[static_cast<std::size_t>(std::lround(255 * std::clamp(t, 0.0, 1.0)))];
}

void write_png(const std::filesystem::path& path, std::span<const Rgb> pixels, std::size_t width,
               std::size_t height) {
    require_size(pixels.size(), width, height);
    static_assert(sizeof(Rgb) == 3, "pixels lie side by side, as stb reads them");
    std::string file;
    const auto append = [](void* context, void* data, int size) {
        static_cast<std::string*>(context)->append(static_cast<const char*>(data),
                                                   static_cast<std::size_t>(size));
    };
    const int done = stbi_write_png_to_func(append, &file, static_cast<int>(width), static_cast<int>(height),
                                            3, pixels.data(), static_cast<int>(3 * width));
    if (done == 0) throw FileError(path, 0, "the image is too large to encode as PNG");
    write_file(path, file);
}

template <class T>
std::vector<Rgb> draw_field(std::span<const T> values, std::size_t width, std::size_t height,
                            const Picture& picture) {
    require_size(values.size(), width, height);
    if (picture.pixel == 0) throw std::invalid_argument("draw_field: an element needs at least one pixel");
    const ValueRange range = picture.range ? *picture.range : range_of(values, picture.map);
    const double extent = range.high - range.low;
    const std::size_t p = picture.pixel;
    std::vector<Rgb> pixels(width * p * height * p);
    for (std::size_t row = 0; row < height * p; ++row) {
        const std::size_t from = picture.first_row_at_bottom ? height - 1 - row / p : row / p;
        for (std::size_t col = 0; col < width * p; ++col) {
            const double value = static_cast<double>(values[from * width + col / p]);
            // A constant field has no extent: it takes the middle colour.
            const double t = extent > 0 || !std::isfinite(value) ? (value - range.low) / extent : 0.5;
            pixels[row * width * p + col] = colour_of(picture.map, t);
        }
    }
    return pixels;
}

template std::vector<Rgb> draw_field(std::span<const float>, std::size_t, std::size_t, const Picture&);
template std::vector<Rgb> draw_field(std::span<const double>, std::size_t, std::size_t, const Picture&);

}  // namespace rungs
