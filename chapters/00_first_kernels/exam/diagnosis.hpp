#pragma once
// Why an answer is wrong. A faulty first kernel rarely leaves noise: it leaves what another formula, another
// index or another grid would have given. This computes what the usual mistakes leave and looks which of
// them the answer is; a cause is named where every single element fits.

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "exam/mistakes.hpp"
#include "exam/reference.hpp"
#include "rungs/diagnosis.hpp"
#include "spheres.cuh"

namespace first_kernels {
namespace detail {

inline std::string text(std::size_t number) { return std::to_string(number); }

/// Does the answer fit a mistake everywhere, and does the mistake explain anything?
inline bool fits(const Values& got, const Values& expected, const Values& looks) {
    if (looks.size() != got.size()) return false;
    bool explains = false;
    for (std::size_t i = 0; i < got.size(); ++i) {
        if (looks[i] == anything) continue;
        const bool same = got[i] == looks[i] || (std::isnan(got[i]) && std::isnan(looks[i]));
        if (!same) return false;
        explains = explains || got[i] != expected[i];
    }
    return explains;
}

/// Is exactly what `written` says as expected, and all the rest untouched?
inline bool left_out(const Values& got, const Values& expected,
                     const std::function<bool(std::size_t)>& written) {
    for (std::size_t i = 0; i < got.size(); ++i) {
        if (written(i) ? got[i] != expected[i] : !std::isnan(got[i])) return false;
    }
    return true;
}

/// Elements in a row that were not written.
inline std::string of_elements_left_out(const Values& got, const Values& expected) {
    const std::size_t n = got.size();
    std::size_t count = 0;
    while (count < n && !std::isnan(got[count])) ++count;
    if (count == n || !left_out(got, expected, [count](std::size_t i) { return i < count; })) return {};
    const std::size_t missing = n - count;
    const std::string first = count == 1 ? "only the first element was written: "
                                         : "only the first " + text(count) + " elements were written: ";
    if (missing == 1) {
        return "the last element was not written: the guard lets i < n pass, and the last i is n - 1; the "
               "grid, or a loop over it, has to get there, too";
    }
    for (const std::size_t block : {256u, 128u, 512u, 1024u, 64u, 32u}) {
        if (missing == n % block) {
            return "the last " + text(missing) + " elements (n % " + text(block) +
                   ") were not written: is the number of blocks rounded up?";
        }
    }
    for (const std::size_t block : {256u, 128u, 512u, 1024u, 64u, 32u}) {
        if (count == (n + block - 1) / block && count < block) {
            return first + "that is one for each block. Is the number of the thread in the index?";
        }
        if (count == block) {
            return first +
                   "one block's worth. Does the index count the blocks, and does the grid have "
                   "more than one?";
        }
    }
    for (const std::size_t block : {256u, 128u, 512u, 1024u, 64u, 32u}) {
        const std::size_t blocks = (n + block - 1) / block;  // too many or too few for the block's threads
        if (blocks > 1 && count == (blocks - 1) * blocks + block) {
            return first +
                   "each block begins as many elements after the one before as there are blocks. The index "
                   "takes blockDim.x, not gridDim.x";
        }
    }
    if (count == n / 4) return first + "a quarter. A copy counts bytes, and a float has four of them";
    if (count % 256 == 0) {
        return first + "one for each of that many threads. Does every thread go on to its next element?";
    }
    return first + "does the grid, or the loop, reach n?";
}

/// Rows and columns that were not written; `channels` numbers for each of width * height places.
inline std::string of_rows_left_out(const Values& got, const Values& expected, std::size_t width,
                                    std::size_t height, std::size_t channels) {
    const auto tiles = [](std::size_t size, std::size_t tile) { return (size + tile - 1) / tile * tile; };
    const auto matches = [&](std::size_t columns, std::size_t rows) {
        if (columns >= width && rows >= height) return false;
        return left_out(got, expected, [&](std::size_t i) {
            return i / channels % width < columns && i / channels / width < rows;
        });
    };
    constexpr std::array<std::pair<std::size_t, std::size_t>, 8> blocks{
        {{16, 16}, {32, 32}, {32, 8}, {8, 8}, {32, 16}, {32, 4}, {64, 4}, {16, 8}}};
    for (const auto& [across, down] : blocks) {
        const std::string block = text(across) + " x " + text(down);
        if (matches(width / across * across, height / down * down) ||
            matches(width / across * across, height) || matches(width, height / down * down)) {
            return "what lies past the last whole block of " + block +
                   " was not written: is the grid rounded up in both dimensions?";
        }
        if (matches(tiles(height, across), tiles(width, down))) {
            return "the grid has as many blocks across as are needed down, and the other way round: are its "
                   "two sizes swapped?";
        }
        if (matches(across, down))
            return "only one block of " + block + " was written: does the index count the blocks?";
        if (matches(width, down)) {
            return "only the first " + text(down) +
                   " rows were written: does the grid have two dimensions, and is blockIdx.y in the "
                   "index of the row?";
        }
        if (matches(across, height)) {
            return "only the first " + text(across) +
                   " columns were written: is blockIdx.x in the index of the column?";
        }
        if (left_out(got, expected,
                     [&, down = down](std::size_t i) { return i / channels / width % down == 0; })) {
            return "of every " + text(down) +
                   " rows only the first was written: does the block have two dimensions, and is "
                   "threadIdx.y in the index of the row?";
        }
    }
    return {};
}

/// "pixel (3, 4): green is 17 and should be 90", for the first that is wrong.
inline std::string first_wrong_pixel(const Values& got, const Values& expected, std::size_t width) {
    const char* const names[] = {"red", "green", "blue", "alpha"};
    std::array<bool, 4> wrong{};
    std::string first;
    for (std::size_t i = 0; i < got.size(); ++i) {
        if (got[i] == expected[i]) continue;
        wrong[i % 4] = true;
        if (!first.empty()) continue;
        first = "pixel (" + text(i / 4 % width) + ", " + text(i / 4 / width) + "): " + names[i % 4] +
                (std::isnan(got[i]) ? " was not written"
                                    : " is " + text(static_cast<std::size_t>(got[i])) + " and should be " +
                                          text(static_cast<std::size_t>(expected[i])));
    }
    if (std::count(wrong.begin(), wrong.end(), true) > 1) return first;
    return "only " + std::string(names[std::find(wrong.begin(), wrong.end(), true) - wrong.begin()]) +
           " is ever wrong. " + first;
}

/// A blur by tiles that is wrong only where a halo is read.
inline std::string of_halo(const Question& question, const Values& got, const Values& expected) {
    const std::size_t width = question.size(0), height = question.size(1), radius = question.size(2);
    constexpr std::size_t side = 16;  // of the rung's tile
    const auto of_cut_tile = [&](std::size_t i) {
        return i / 4 % width >= width / side * side || i / 4 / width >= height / side * side;
    };
    bool cut = true;
    for (std::size_t i = 0; i < got.size(); ++i) cut = cut && (got[i] == expected[i] || of_cut_tile(i));
    if (cut) return "only pixels of tiles that the edge of the image cuts are wrong";
    for (const std::size_t tile : {side, 2 * side}) {
        if (2 * radius >= tile || (width <= tile && height <= tile)) continue;
        const auto near = [&](std::size_t at, std::size_t size) {  // does the stencil leave the tile there?
            const std::size_t begin = at / tile * tile, end = std::min(begin + tile, size);
            return at < begin + radius || at + radius >= end;
        };
        bool sides = true, corners = true;
        for (std::size_t i = 0; i < got.size(); ++i) {
            if (got[i] == expected[i]) continue;
            const bool x = near(i / 4 % width, width), y = near(i / 4 / width, height);
            sides = sides && (x || y);
            corners = corners && x && y;
        }
        const std::string name = text(tile) + " x " + text(tile);
        if (corners) {
            return "only pixels near the corners of tiles of " + name +
                   " are wrong: are the four corners of the halo loaded?";
        }
        if (sides) {
            return "only pixels near the edges of tiles of " + name +
                   " are wrong: is the whole halo loaded, and does a barrier follow?";
        }
    }
    return {};
}

/// A picture of the scene in which only what lies beside the spheres is wrong.
inline std::string of_background(const Values& got, const Values& expected) {
    const uchar4 beside = background();
    const std::array<double, 4> colour{double(beside.x), double(beside.y), double(beside.z),
                                       double(beside.w)};
    for (std::size_t i = 0; i < got.size(); ++i) {
        const std::size_t k = i / 4 * 4;
        const bool empty = std::equal(colour.begin(), colour.end(), expected.begin() + static_cast<long>(k));
        if (!empty && got[i] != expected[i]) return {};
    }
    return "only pixels beside the spheres are wrong: a ray that meets nothing shows background()";
}

/// A picture of the scene in which no pixel is right.
inline std::string of_heights(const Values& got, const Values& expected) {
    for (std::size_t i = 0; i < got.size(); i += 4) {
        const auto from = static_cast<long>(i);
        if (std::equal(got.begin() + from, got.begin() + from + 4, expected.begin() + from)) return {};
    }
    return "no pixel is right, neither on a sphere nor beside one: is the test of the height the wrong way "
           "round? A sphere is seen if it is higher than what was seen before, and one that is met "
           "`nowhere` never is";
}

/// What the generic patterns tell.
inline std::string of_pattern(const Values& got, const Values& expected, std::size_t width = 0) {
    rungs::Failure failure;
    failure.wrong.resize(got.size());
    for (std::size_t i = 0; i < got.size(); ++i) failure.wrong[i] = !(got[i] == expected[i]);
    failure.got = [&](std::size_t i) { return got[i]; };
    failure.expected = [&](std::size_t i) { return expected[i]; };
    failure.untouched = [&](std::size_t i) { return std::isnan(got[i]); };
    failure.width = width;
    return rungs::likely_cause(failure);
}

inline bool nothing_written(const Values& got) {
    return std::all_of(got.begin(), got.end(), [](double value) { return std::isnan(value); });
}

/// The three arrays of a structure: the first that is wrong, and what it holds instead.
inline std::string of_fields(const Values& particles, const Values& got, const Values& expected) {
    const char* const names[] = {"position", "velocity", "mass"};
    const auto n = static_cast<long>(got.size() / 3);
    const auto part = [n](const Values& all, int field) {
        return Values(all.begin() + field * n, all.begin() + (field + 1) * n);
    };
    for (int field = 0; field < 3; ++field) {
        const Values one = part(got, field), right = part(expected, field);
        if (one == right) continue;
        const std::string name = names[field];
        if (nothing_written(one)) return "nothing was written to " + name;
        for (int other = 0; other < 3; ++other) {
            if (one == part(expected, other)) return name + " holds what belongs to " + names[other];
        }
        if (one ==
            Values(particles.begin() + field, particles.begin() + field + std::min(n, 3 * n - field))) {
            return name +
                   " holds the floats of the structures one after the other: its own are three apart, "
                   "particles[i]." +
                   name;
        }
        std::string cause = of_elements_left_out(one, right);
        if (cause.empty()) cause = of_pattern(one, right);
        return cause.empty() ? name + " is wrong" : name + ": " + cause;
    }
    return {};
}

}  // namespace detail

/// One sentence that names the likely mistake; empty where none fits. `got` is not `expected`.
/// @param certain  whether it explains every element
inline std::string cause_of(const Question& question, const Values& got, const Values& expected,
                            bool* certain = nullptr) {
    using namespace detail;
    if (nothing_written(got)) {
        return "nothing was written: is the kernel launched, is the guard the right way round, and is a "
               "result that lies elsewhere copied back?";
    }
    for (const Mistake& mistake : mistakes_of(question, expected)) {
        if (!fits(got, expected, mistake.looks)) continue;
        if (certain) *certain = true;
        return mistake.cause;
    }
    const std::string& problem = question.problem;
    const bool image = problem == "grey" || problem == "blur" || problem == "spheres";
    std::string cause;
    if (image) {
        cause = of_rows_left_out(got, expected, question.size(0), question.size(1), 4);
        if (cause.empty() && problem == "blur") cause = of_halo(question, got, expected);
        if (cause.empty() && problem == "spheres") cause = of_background(got, expected);
        if (cause.empty() && problem == "spheres") cause = of_heights(got, expected);
        return cause.empty() ? first_wrong_pixel(got, expected, question.size(0)) : cause;
    }
    if (problem == "split") return of_fields(question.x, got, expected);
    const bool matrix = problem == "transpose";
    cause = matrix ? of_rows_left_out(got, expected, question.size(0), question.size(1), 1)
                   : of_elements_left_out(got, expected);
    return cause.empty() ? of_pattern(got, expected, matrix ? question.size(0) : 0) : cause;
}

}  // namespace first_kernels
