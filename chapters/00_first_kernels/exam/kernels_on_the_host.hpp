#pragma once
// The chapter's kernels as loops over threads on the host, each with the mistakes that a student can make in
// it. For the exam's tests: no rung is called.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "rungs/exam.hpp"
#include "spheres.cuh"

namespace first_kernels::host {

using Floats = std::vector<float>;
using Pixel = std::array<int, 4>;  ///< red, green, blue, alpha
using Image = std::vector<Pixel>;
using Outputs = std::vector<rungs::Array>;

inline constexpr float unwritten = std::numeric_limits<float>::quiet_NaN();
inline constexpr std::uint32_t poison = 0xffd12345u;  ///< a NaN, as the grader fills outputs with

inline Floats floats_of(const rungs::Array& array) {
    const auto all = array.as<float>();
    return {all.begin(), all.end()};
}

inline Pixel unpacked(std::uint32_t word) {
    Pixel pixel{};
    for (unsigned c = 0; c < 4; ++c) pixel[c] = static_cast<int>(word >> 8 * c & 255);
    return pixel;
}

inline Image image_of(const rungs::Array& array) {
    Image image;
    for (const int word : array.as<int>()) image.push_back(unpacked(std::bit_cast<std::uint32_t>(word)));
    return image;
}

inline Image new_image(std::size_t size) { return Image(size, unpacked(poison)); }

inline Outputs outputs_of(const rungs::Task& task, const Floats& all) {
    Outputs outputs;
    auto next = all.begin();
    for (const rungs::Array& output : task.outputs) {
        const auto end = next + static_cast<long>(output.count);
        outputs.push_back(rungs::Array::of(output.name, Floats(next, end)));
        next = end;
    }
    return outputs;
}

inline Outputs outputs_of(const rungs::Task& task, const Image& image) {
    std::vector<int> words;
    for (const Pixel& pixel : image) {
        std::uint32_t word = 0;
        for (unsigned c = 0; c < 4; ++c) word |= static_cast<std::uint32_t>(pixel[c] & 255) << 8 * c;
        words.push_back(std::bit_cast<int>(word));
    }
    return {rungs::Array::of(task.outputs[0].name, words)};
}

/// work(x, y) for every thread of a grid of blocks_x x blocks_y blocks of across x down threads.
template <class Work>
void threads(int blocks_x, int blocks_y, int across, int down, const Work& work) {
    for (int by = 0; by < blocks_y; ++by) {
        for (int bx = 0; bx < blocks_x; ++bx) {
            for (int t = 0; t < across * down; ++t) work(bx * across + t % across, by * down + t / across);
        }
    }
}

struct GreyMistake {
    Pixel weights{77, 150, 29, 256};  ///< and what their sum is divided by
    int alpha = -1;                   ///< instead of the pixel's own
    bool row_of_height = false;       ///< a row begins at y * height
    bool swapped_grid = false;        ///< gridDim.x from the height
    bool rounded_down = false;        ///< the grid
};

inline Image grey(const Image& image, int width, int height, const GreyMistake& mistake = {}) {
    Image out = new_image(image.size());
    const int up = mistake.rounded_down ? 0 : 15;
    int across = (width + up) / 16, down = (height + up) / 16;
    if (mistake.swapped_grid) std::swap(across, down);
    threads(across, down, 16, 16, [&](int x, int y) {
        if (x >= width || y >= height) return;
        const auto k = static_cast<std::size_t>(y * (mistake.row_of_height ? height : width) + x);
        if (k >= image.size()) return;  // out of bounds, which check mode sees
        int sum = 0;
        for (unsigned c = 0; c < 3; ++c) sum += mistake.weights[c] * image[k][c];
        const int light = sum / mistake.weights[3] & 255;
        out[k] = {light, light, light, mistake.alpha < 0 ? image[k][3] : mistake.alpha};
    });
    return out;
}

struct ShiftMistake {
    int times = -1;        ///< instead of the number that was asked for
    bool wraps = false;    ///< round the group
    bool crosses = false;  ///< into the next group
    bool zero = false;     ///< comes in from the end
    bool back = false;     ///< takes the value of the element before
};

inline Floats shift(const Floats& in, int times, const ShiftMistake& mistake = {}) {
    Floats now = in;
    for (int round = 0; round < (mistake.times < 0 ? times : mistake.times); ++round) {
        const Floats before = now;
        for (std::size_t i = 0; i < in.size(); ++i) {
            const std::size_t begin = i / 256 * 256, end = std::min(begin + 256, in.size());
            if (mistake.back) {
                if (i > begin) now[i] = before[i - 1];
            } else if (i + 1 < end || (mistake.crosses && i + 1 < in.size())) {
                now[i] = before[i + 1];
            } else if (mistake.wraps) {
                now[i] = before[begin];
            } else if (mistake.zero) {
                now[i] = 0;
            }
        }
    }
    return now;
}

struct BlurMistake {
    int last = 0;          ///< the window ends this much before + radius
    int divisor = 0;       ///< instead of the number of pixels
    bool black = false;    ///< beyond the border
    bool skips = false;    ///< what lies beyond the border, and divides by what is left
    bool corners = false;  ///< the corners of the halo are never loaded
    bool halo = false;     ///< nothing of the halo is
    bool swapped = false;  ///< row and column, when loading
    int right = 0;         ///< the window lies so far from where it should
    int below = 0;
};

/// By tiles of 16 x 16 pixels.
inline Image blur(const Image& image, int width, int height, int radius, const BlurMistake& mistake = {}) {
    Image out = new_image(image.size());
    const int window = 2 * radius + 1 - mistake.last;
    threads((width + 15) / 16, (height + 15) / 16, 16, 16, [&](int x, int y) {
        if (x >= width || y >= height) return;
        const int left = x / 16 * 16, top = y / 16 * 16;
        Pixel sum{};
        int inside = 0;
        for (int row = y - radius + mistake.below; row <= y + radius - mistake.last + mistake.below; ++row) {
            for (int column = x - radius + mistake.right; column <= x + radius - mistake.last + mistake.right;
                 ++column) {
                const bool beside = column < left || column >= left + 16,
                           above = row < top || row >= top + 16;
                if ((mistake.corners && beside && above) || (mistake.halo && (beside || above))) continue;
                const bool in = column >= 0 && column < width && row >= 0 && row < height;
                inside += in;
                if (!in && (mistake.black || mistake.skips)) continue;
                const int from_x = std::clamp(column, 0, width - 1), from_y = std::clamp(row, 0, height - 1);
                for (unsigned c = 0; c < 4; ++c) {
                    sum[c] += image[static_cast<std::size_t>(from_y * width + from_x)][c];
                }
            }
        }
        const int count = mistake.divisor ? mistake.divisor : mistake.skips ? inside : window * window;
        for (int& channel : sum) channel /= count;
        out[static_cast<std::size_t>(y * width + x)] = sum;
    });
    return out;
}

/// position, velocity and mass from the fields that `from` names.
inline Floats split(const Floats& particles, const std::array<std::size_t, 3>& from = {0, 1, 2}) {
    Floats out;
    for (const std::size_t field : from) {
        for (std::size_t i = field; i < particles.size(); i += 3) out.push_back(particles[i]);
    }
    return out;
}

struct TransposeMistake {
    int side = 32;              ///< of a tile
    bool stays = false;         ///< a tile is stored where it came from
    bool not_turned = false;    ///< the tile itself
    bool rounded_down = false;  ///< the grid
    bool swapped_grid = false;  ///< gridDim.x from the rows
};

inline Floats transpose(const Floats& in, int rows, int columns, const TransposeMistake& mistake = {}) {
    Floats out(in.size(), unwritten);
    const int side = mistake.side, up = mistake.rounded_down ? 0 : side - 1;
    int across = (columns + up) / side, down = (rows + up) / side;
    if (mistake.swapped_grid) std::swap(across, down);
    for (int block = 0; block < across * down; ++block) {
        const int bx = block % across, by = block / across;
        Floats tile(static_cast<std::size_t>(side * side), -7);  // what was there before
        const auto at = [side](int y, int x) { return static_cast<std::size_t>(y * side + x); };
        threads(1, 1, side, side, [&](int x, int y) {
            const int column = bx * side + x, row = by * side + y;
            if (row < rows && column < columns) {
                tile[at(y, x)] = in[static_cast<std::size_t>(row * columns + column)];
            }
        });
        threads(1, 1, side, side, [&](int x, int y) {
            const int column = (mistake.stays ? bx : by) * side + x,
                      row = (mistake.stays ? by : bx) * side + y;
            if (row >= columns || column >= rows) return;
            out[static_cast<std::size_t>(row * rows + column)] =
                tile[mistake.not_turned ? at(y, x) : at(x, y)];
        });
    }
    return out;
}

enum class Pick { highest, lowest, first, last, highest_or_later };

inline Image spheres(int width, int height, Pick pick = Pick::highest, std::size_t loaded = sphere_count) {
    Image out = new_image(static_cast<std::size_t>(width * height));
    threads(width, height, 1, 1, [&](int column, int row) {
        const int x = column * scene_side / width, y = row * scene_side / height;
        uchar4 colour = background();
        int seen = nowhere;
        for (std::size_t s = 0; s < loaded; ++s) {
            const Sphere& sphere = spheres_of_the_scene[s];
            const int z = height_of(sphere, x, y);
            if (z == nowhere) continue;
            const bool better = pick == Pick::last || (pick == Pick::highest && z > seen) ||
                                (pick == Pick::highest_or_later && z >= seen) ||
                                (pick == Pick::lowest && z < seen);
            if (seen != nowhere && !better) continue;
            seen = z;
            colour = colour_of(sphere, z);
        }
        out[static_cast<std::size_t>(row * width + column)] = {colour.x, colour.y, colour.z, colour.w};
    });
    return out;
}

}  // namespace first_kernels::host
