// Draws the pictures of the lesson: FOLDER/*.svg and FOLDER/spheres.png, see rungs/figure.hpp.

#include <filesystem>
#include <string>
#include <vector>

#include "exam/reference.hpp"
#include "rungs/figure.hpp"
#include "rungs/image.hpp"

namespace {

using rungs::Drawing;

// ---------------------------------------------------------------------------------------------------------------
// Index and guard

std::string index_figure() {
    constexpr int blocks = 4, threads = 4, n = 13;
    constexpr double left = 110, width = 38, height = 26, gap = 14;
    Drawing out(
        820, 214, "The number of a thread in the grid",
        "four blocks of four threads over thirteen elements: thread 1 of block 2 is number 9; the last "
        "three threads have no element");
    const auto x_of = [&](int i) { return left + i * (width + 2) + (i / threads) * gap; };
    const char* rows[] = {"blockIdx.x", "threadIdx.x", "number", "element"};
    for (int row = 0; row < 4; ++row) out.text(20, 70 + row * 36, rows[row], row < 2 ? "code" : "");
    for (int b = 0; b < blocks; ++b) {
        out.cell(x_of(b * threads), 52, threads * (width + 2) - 2, height, "pale", std::to_string(b));
    }
    for (int i = 0; i < blocks * threads; ++i) {
        out.cell(x_of(i), 88, width, height, "pale", std::to_string(i % threads));
        out.cell(x_of(i), 124, width, height, i == 9 ? "done" : i < n ? "on" : "off", std::to_string(i));
        if (i < n)
            out.cell(x_of(i), 160, width, height, i == 9 ? "done" : "pale", "x[" + std::to_string(i) + "]");
    }
    out.text(20, 206,
             "n = 13 takes 4 blocks of 4: rounded up. Threads 13, 14 and 15 have no element and leave.",
             "soft");
    return out.svg();
}

// ---------------------------------------------------------------------------------------------------------------
// Two dimensions, row-major

std::string rows_figure() {
    constexpr int width = 7, height = 5, side = 4;
    constexpr double left = 24, top = 62, cell = 34;
    Drawing out(
        820, 360, "An image of 7 x 5 pixels under 2 x 2 blocks of 4 x 4 threads",
        "pixels are numbered row by row; threads of the right and the lower blocks that have no pixel "
        "are empty boxes");
    for (int y = 0; y < 2 * side; ++y) {
        for (int x = 0; x < 2 * side; ++x) {
            const bool pixel = x < width && y < height;
            const char* kind = !pixel ? "off" : (x / side + y / side) % 2 ? "pale" : "on";
            out.cell(left + x * cell + (x / side) * 6, top + y * (cell - 2) + (y / side) * 6, cell - 3,
                     cell - 5, kind, pixel ? std::to_string(y * width + x) : "");
        }
    }
    const char* const lines[] = {"A number is the pixel's place in memory:",
                                 "y * width + x, row after row.",
                                 "",
                                 "Lanes of a warp differ in threadIdx.x first.",
                                 "So x is the column: neighbours in a warp",
                                 "are neighbours in memory.",
                                 "",
                                 "Empty boxes are threads without a pixel.",
                                 "Both x and y need a guard: without the one",
                                 "for x, the thread beside pixel 6 would",
                                 "work on pixel 7, in the next row."};
    for (int i = 0; i < 11; ++i) out.text(350, 78 + i * 21, lines[i], i < 2 ? "" : "soft");
    return out.svg();
}

// ---------------------------------------------------------------------------------------------------------------
// Tile and halo

std::string halo_figure() {
    constexpr int side = 8, radius = 2, all = side + 2 * radius,
                  image = 5;  // columns of the image in this block
    constexpr double left = 24, top = 78, cell = 24;
    Drawing out(
        820, 414, "The last block of a row: few pixels, a whole tile to load",
        "a tile of 8 x 8 threads with a halo of 2 where only five columns of pixels are left: threads "
        "without a pixel load part of the halo");
    for (int y = 0; y < all; ++y) {
        for (int x = 0; x < all; ++x) {
            const int column = x - radius, row = y - radius;
            const bool own = column >= 0 && column < side && row >= 0 && row < side;
            const char* kind = own ? (column < image ? "on" : "warm") : "pale";
            out.cell(left + x * cell, top + y * cell, cell - 2, cell - 2, kind);
        }
    }
    for (int x = 0; x < all;
         ++x) {  // columns are counted in words; those of threads without a pixel are framed
        const bool theirs = x >= image && x < side;
        out.text(left + (x + 0.5) * cell - 1, top - 7, std::to_string(x),
                 theirs ? "mid small" : "mid small soft");
    }
    const double from = left + image * cell - 1, to = left + side * cell - 1, bottom = top + all * cell - 1;
    for (const double x : {from, to}) out.line(x, top - 20, x, bottom);
    for (const double y : {top - 20, bottom}) out.line(from, y, to, y);
    struct Line {
        const char* kind;
        const char* words;
    };
    const Line lines[] = {{"on", "threads with a pixel of their own"},
                          {"warm", "threads without: the image ends before them"},
                          {"pale", "the halo: words of the tile with no thread of their own"}};
    for (int i = 0; i < 3; ++i) {
        out.box(350, 66 + i * 28, 14, 14, lines[i].kind);
        out.text(374, 78 + i * 28, lines[i].words);
    }
    const char* const words[] = {"Thread (x, y) loads word (x, y) of the tile, counted from its upper left",
                                 "corner, and the words 8 to the right, 8 down, and both.",
                                 "",
                                 "So columns 5, 6 and 7 of the tile (framed), which the blue threads",
                                 "read, are loaded by the orange ones. These may leave after the",
                                 "barrier, and not before."};
    for (int i = 0; i < 6; ++i) out.text(350, 178 + i * 21, words[i], "soft");
    out.text(20, 402,
             "Drawn with 8 x 8 threads and radius 2; the rung has 16 x 16 threads, and a radius up to 8.",
             "soft");
    return out.svg();
}

// ---------------------------------------------------------------------------------------------------------------
// Sectors

std::string sector_figure() {
    constexpr double left = 24, width = 60, height = 18;
    Drawing out(
        820, 392, "One load of a warp: which sectors of 32 bytes hold what its lanes want",
        "neighbouring floats: 4 sectors; one field of structures of 12 bytes: 12 sectors; a column of a "
        "matrix: 32 sectors");
    const auto sectors = [&](double y, int count, int used, const char* kind) {
        for (int s = 0; s < count; ++s) {
            const double x = left + s % 12 * (width + 4), at = y + s / 12 * (height + 5);
            out.box(x, at, width, height, "pale");
            for (int word = 0; word < 8; ++word) {
                const bool wanted = used == 8 || (used == 1 ? word == 0 : (s * 8 + word) % 3 == 0);
                if (wanted) out.box(x + word * width / 8 + 1, at + 2, width / 8 - 2, height - 4, kind);
            }
        }
    };
    out.text(left, 62, "x[i], floats in a row: 4 sectors, all of them used");
    sectors(72, 4, 8, "done");
    out.text(left, 130, "particles[i].position, structures of 12 bytes: 12 sectors, a third of them used");
    sectors(140, 12, 3, "on");
    out.text(left, 198, "out[column * rows + row], one lane a row: 32 sectors, an eighth of them used");
    sectors(208, 32, 1, "warm");
    out.text(left, 310,
             "A box is a sector, a mark a float that one of the 32 lanes wants. Memory moves whole sectors.",
             "soft");
    out.text(left, 331, "Four sectors in a row, from a multiple of 128 bytes on, are a line.", "soft");
    out.text(left, 366,
             "Count them yourself: ./rungs explain 00/10 --solution, column S; ./rungs see 00/10 draws them.",
             "soft");
    return out.svg();
}

// ---------------------------------------------------------------------------------------------------------------
// Banks

std::string bank_figure() {
    constexpr int banks = 8;
    constexpr double cell = 32, top = 92;
    Drawing out(
        820, 410, "A column of a tile, without and with padding (8 banks drawn of 32)",
        "without padding all words of a column lie in one bank; with one word more in each row they lie in "
        "eight different banks");
    const auto draw = [&](double left, int row_words, const std::string& name) {
        out.text(left, 62, name, "code");
        for (int bank = 0; bank < banks; ++bank) {
            out.text(left + bank * cell + cell / 2, 84, std::to_string(bank), "mid small soft");
        }
        for (int word = 0; word < banks * row_words; ++word) {
            const int row = word / row_words, column = word % row_words;
            const char* kind = column == banks ? "off"
                               : column == 2   ? (row_words == banks ? "warm" : "done")
                                               : "pale";
            out.cell(left + word % banks * cell, top + word / banks * cell, cell - 3, cell - 3, kind,
                     column == banks ? "" : std::to_string(row) + "," + std::to_string(column));
        }
    };
    draw(24, banks, "float tile[8][8]");
    draw(440, banks + 1, "float tile[8][9]");
    out.text(
        24, 398,
        "Below each other: words of one bank. Marked: column 2. Left, its 8 words take 8 turns; right, one. "
        "Empty: padding.",
        "soft");
    return out.svg();
}

/// The picture that rung 13 draws.
void scene(const std::filesystem::path& folder) {
    constexpr std::size_t side = 480;
    const first_kernels::Values channels = first_kernels::picture(side, side, first_kernels::Order::highest);
    std::vector<rungs::Rgb> pixels;
    for (std::size_t k = 0; k < channels.size(); k += 4) {
        const auto channel = [&](std::size_t c) { return static_cast<std::uint8_t>(channels[k + c]); };
        pixels.push_back({channel(0), channel(1), channel(2)});
    }
    rungs::write_png(folder / "spheres.png", pixels, side, side);
}

}  // namespace

int main(int argc, char** argv) {
    return rungs::draw_figures(argc, argv,
                               {{"thread_number.svg", index_figure},
                                {"row_major.svg", rows_figure},
                                {"tile_halo.svg", halo_figure},
                                {"warp_sectors.svg", sector_figure},
                                {"transpose_banks.svg", bank_figure}},
                               {"ladder.svg", "How fast each rung is.", "GB/s"}, scene);
}
