#pragma once
// Fields as pictures: PNG files in colours that do not invent steps which the data do not have.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rungs/atomic_file.hpp"

namespace rungs {

/// One pixel, 8 bits a channel, in sRGB.
struct Rgb {
    std::uint8_t r = 0;
    std::uint8_t g = 0;
    std::uint8_t b = 0;
    bool operator==(const Rgb&) const = default;
};

/// How numbers become colours. Both maps are curves in OKLab (B. Ottosson, "A perceptual color space for
/// image processing", 2020), walked in steps of equal length: equal differences in value look equally large.
/// They stay readable in grey and for colour-blind eyes, because lightness alone tells the order.
enum class ColourMap {
    sequential,  ///< dark violet over red to light yellow: from the least value to the greatest
    symmetric,   ///< blue, white at zero, red: for values of both signs
};

/// The colour at `t` in [0, 1]; values outside take the colour of the end, NaN a green that no map has.
Rgb colour_of(ColourMap map, double t);

/// Writes an image of `width` times `height` pixels, top row first.
/// @throws std::invalid_argument for a size that is not that of `pixels`, or 0; FileError
void write_png(const std::filesystem::path& path, std::span<const Rgb> pixels, std::size_t width,
               std::size_t height);

/// Pictures that follow each other: an animated PNG, which browsers and most viewers play, and others show
/// the first frame of.
class Animation {
  public:
    /// All frames have this size. @throws std::invalid_argument for a side that is not 1 to 65535
    Animation(std::size_t width, std::size_t height);

    /// Adds a frame that is shown for `milliseconds`, at most 65535. Frames are kept compressed.
    /// @throws std::invalid_argument as write_png
    void add(std::span<const Rgb> pixels, unsigned milliseconds);

    std::size_t frames() const { return frames_; }

    /// @throws std::invalid_argument when there is no frame, FileError
    void write(const std::filesystem::path& path) const;

  private:
    std::size_t width_;
    std::size_t height_;
    std::size_t frames_ = 0;
    std::string chunks_;  ///< of all frames
};

/// Which values take the ends of the colour map.
struct ValueRange {
    double low = 0;
    double high = 1;
};

/// How to draw a field.
struct Picture {
    ColourMap map = ColourMap::sequential;
    std::optional<ValueRange> range = {};  ///< none: least to greatest finite value; about 0 for `symmetric`
    std::size_t pixel = 1;                 ///< width and height of an element in pixels
    bool first_row_at_bottom = false;      ///< as in a diagram with y upwards; otherwise as in a matrix
};

/// The pixels of a field of `width` times `height` elements, row by row, enlarged by `picture.pixel`.
/// @throws std::invalid_argument as write_png
template <class T>
std::vector<Rgb> draw_field(std::span<const T> values, std::size_t width, std::size_t height,
                            const Picture& picture = {});
extern template std::vector<Rgb> draw_field(std::span<const float>, std::size_t, std::size_t, const Picture&);
extern template std::vector<Rgb> draw_field(std::span<const double>, std::size_t, std::size_t,
                                            const Picture&);

/// Draws a field into a PNG file. @throws std::invalid_argument, FileError
template <class T>
void write_field_png(const std::filesystem::path& path, std::span<const T> values, std::size_t width,
                     std::size_t height, const Picture& picture = {}) {
    const std::vector<Rgb> pixels = draw_field(values, width, height, picture);
    write_png(path, pixels, width * picture.pixel, height * picture.pixel);
}

}  // namespace rungs
