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
    // stb and viewers count in int.
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

namespace {

std::string encode_png(std::span<const Rgb> pixels, std::size_t width, std::size_t height) {
    require_size(pixels.size(), width, height);
    static_assert(sizeof(Rgb) == 3, "pixels lie side by side, as stb reads them");
    std::string file;
    const auto append = [](void* context, void* data, int size) {
        static_cast<std::string*>(context)->append(static_cast<const char*>(data),
                                                   static_cast<std::size_t>(size));
    };
    const int done = stbi_write_png_to_func(append, &file, static_cast<int>(width), static_cast<int>(height),
                                            3, pixels.data(), static_cast<int>(3 * width));
    return done == 0 ? std::string() : file;
}

// An animated PNG is a PNG with more chunks: acTL says how many frames there are, fcTL comes before
// each frame, and the data of all frames but the first are in fdAT (W3C, Portable Network Graphics,
// 3rd edition, 11.3.6).

constexpr std::string_view png_signature("\x89PNG\r\n\x1a\n", 8);

void append_number(std::string& bytes, std::uint32_t value, int size = 4) {
    for (int shift = 8 * (size - 1); shift >= 0; shift -= 8)
        bytes += static_cast<char>(value >> shift & 255U);
}

/// A chunk: length, type, data, and the cyclic redundancy check of type and data.
std::string chunk(std::string_view type, std::string_view data) {
    std::string bytes;
    append_number(bytes, static_cast<std::uint32_t>(data.size()));
    bytes.append(type).append(data);
    std::uint32_t crc = 0xFFFFFFFFU;
    for (const char c : std::string_view(bytes).substr(4)) {
        crc ^= static_cast<unsigned char>(c);
        for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1U ? 0xEDB88320U : 0U);
    }
    append_number(bytes, ~crc);
    return bytes;
}

/// The data of all chunks of a type, joined.
std::string data_of(std::string_view png, std::string_view type) {
    std::string data;
    for (std::size_t at = png_signature.size(); at + 12 <= png.size();) {
        std::size_t length = 0;
        for (std::size_t i = 0; i < 4; ++i) length = length << 8 | static_cast<unsigned char>(png[at + i]);
        if (png.substr(at + 4, 4) == type) data += png.substr(at + 8, length);
        at += 12 + length;
    }
    return data;
}

}  // namespace

void write_png(const std::filesystem::path& path, std::span<const Rgb> pixels, std::size_t width,
               std::size_t height) {
    const std::string file = encode_png(pixels, width, height);
    if (file.empty()) throw FileError(path, 0, "the image is too large to encode as PNG");
    write_file(path, file);
}

Animation::Animation(std::size_t width, std::size_t height) : width_(width), height_(height) {
    require_size(width * height, width, height);
}

void Animation::add(std::span<const Rgb> pixels, unsigned milliseconds) {
    const std::string png = encode_png(pixels, width_, height_);
    if (png.empty()) throw std::invalid_argument("Animation: the frame is too large to encode as PNG");
    const auto sequence = static_cast<std::uint32_t>(frames_ == 0 ? 0 : 2 * frames_ - 1);
    std::string control;
    append_number(control, sequence);
    append_number(control, static_cast<std::uint32_t>(width_));
    append_number(control, static_cast<std::uint32_t>(height_));
    append_number(control, 0);  // at the left
    append_number(control, 0);  // at the top
    append_number(control, std::min(milliseconds, 65535U), 2);
    append_number(control, 1000, 2);  // of a second
    append_number(control, 0, 2);     // stays until the next, which replaces it
    chunks_ += chunk("fcTL", control);
    std::string data;
    if (frames_ > 0) append_number(data, sequence + 1);
    chunks_ += chunk(frames_ == 0 ? "IDAT" : "fdAT", data + data_of(png, "IDAT"));
    ++frames_;
}

void Animation::write(const std::filesystem::path& path) const {
    if (frames_ == 0) throw std::invalid_argument("Animation: there is no frame to write");
    std::string header, control;
    append_number(header, static_cast<std::uint32_t>(width_));
    append_number(header, static_cast<std::uint32_t>(height_));
    header.append("\x08\x02\x00\x00\x00", 5);  // 8 bits of red, green and blue
    append_number(control, static_cast<std::uint32_t>(frames_));
    append_number(control, 0);  // for ever
    write_file(path, std::string(png_signature) + chunk("IHDR", header) + chunk("acTL", control) + chunks_ +
                         chunk("IEND", ""));
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
