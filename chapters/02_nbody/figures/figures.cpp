// Draws the pictures of the lesson from the numbers that they show: FOLDER/*.svg, see rungs/figure.hpp.
// moments.png beside them is one of the pictures that `./rungs run 02 --solution` writes.

#include <string>

#include "rungs/figure.hpp"
#include "rungs/svg.hpp"

namespace {

using rungs::Drawing;

std::string barrier_figure() {
    Drawing out(820, 250, "A barrier that only one block sees",
                "block 0 waits for its own threads and then reads bodies that block 1 has not moved yet");
    out.text(20, 52, "Time runs to the right. __syncthreads() waits for its own block only.", "soft");
    const auto lane = [&](int y, const std::string& name, int start) {
        out.text(20, y + 24, name);
        if (start > 0) out.cell(100, y, start - 6, 38, "off", "waits for a place");
        out.cell(100 + start, y, 110, 38, "on", "moves bodies");
        out.cell(216 + start, y, 14, 38, "done", "");
        out.cell(236 + start, y, 230, 38, "pale", "reads all bodies for the force");
    };
    lane(80, "block 0", 0);
    lane(150, "block 1", 210);
    out.line(380, 119, 360, 149, "edge warm");
    out.text(396, 140, "block 0 reads while block 1 moves: old places or new ones?");
    out.box(20, 214, 14, 18, "done");
    out.text(42, 228, "__syncthreads()", "small");
    out.text(170, 228, "The end of a kernel waits for all blocks; nothing inside it does.", "small soft");
    return out.svg();
}

std::string tile_figure() {
    Drawing out(820, 330, "A tile of bodies serves a whole block",
                "a block walks along all bodies in tiles; each thread fetches one body of a tile and "
                "reads all of it");
    constexpr int left = 150, size = 26, tile = 4, tiles = 5;
    out.text(20, 52, "Here blocks of 4 threads; in the rung, of 256. Each square is one interaction.",
             "soft");
    out.text(left, 84, "bodies that pull: a tile at a time, in shared memory", "small soft");
    for (int t = 0; t < tiles; ++t) {
        for (int j = 0; j < tile; ++j) {
            const int x = left + t * (tile * size + 12) + j * size;
            out.cell(x, 92, size - 3, size - 3, t == 1 ? "done" : "off", std::to_string(t * tile + j));
            for (int i = 0; i < tile; ++i) {
                out.box(x, 134 + i * size, size - 3, size - 3, t == 0 ? "pale" : t == 1 ? "on" : "off");
            }
        }
    }
    for (int i = 0; i < tile; ++i) {
        out.text(left - 16, 150 + i * size, "thread " + std::to_string(i), "end small");
    }
    out.text(left, 268, "done", "small soft");
    out.text(left + tile * size + 12, 268, "now: 4 loads, 16 interactions", "small");
    out.text(20, 300,
             "A barrier before a tile is overwritten, because others still read; one after, because "
             "others wrote.");
    return out.svg();
}

std::string blocking_figure() {
    Drawing out(820, 240, "One load, four interactions",
                "with one body per thread each body loaded from shared memory meets one body; with four, "
                "it meets four");
    const auto half = [&](int left, const std::string& name, int owned, const std::string& sum) {
        out.text(left, 62, name);
        out.cell(left, 80, 70, 26, "done", owned == 1 ? "2 for j" : "1 for j");
        for (int r = 0; r < owned; ++r) {
            out.cell(left + r * 92, 134, 84, 26, "on", "13 for i" + std::to_string(r));
            out.line(left + 35, 107, left + r * 92 + 42, 133, "edge");
        }
        out.text(left, 194, sum);
    };
    half(20, "one body per thread", 1, "15 instructions for one interaction");
    half(400, "four bodies per thread", 4, "53 for four: 13.25 for one");
    out.text(20, 222,
             "The four are independent: while one waits for its reciprocal root, the others compute.",
             "soft");
    return out.svg();
}

std::string split_figure() {
    Drawing out(820, 300, "The grid has two directions",
                "each block adds up one part of the pulls on its bodies; rows of partial sums are added "
                "up at the end");
    constexpr int left = 190, top = 92, wide = 84, high = 30;
    out.text(20, 52,
             "4 blocks for the bodies alone would leave most of the GPU empty; times 6 parts, they are 24.",
             "soft");
    out.text(left, 80, "parts of the bodies that pull: blockIdx.y", "small soft");
    for (int b = 0; b < 4; ++b) {
        out.text(left - 14, top + 20 + b * (high + 6), "bodies of block " + std::to_string(b), "end small");
        for (int p = 0; p < 6; ++p) {
            out.cell(left + p * wide, top + b * (high + 6), wide - 6, high, "on", "row " + std::to_string(p));
        }
        out.line(left + 6 * wide, top + 15 + b * (high + 6), left + 6 * wide + 22, top + 15 + b * (high + 6),
                 "edge");
        out.cell(left + 6 * wide + 26, top + b * (high + 6), 60, high, "done", "sum");
    }
    out.text(20, 268,
             "A second kernel adds up the rows of each body, from the first to the last: the same bits "
             "in every run.");
    return out.svg();
}

std::string rotation_figure() {
    constexpr int lanes = 8, left = 130, wide = 78, top = 92, high = 26;
    Drawing out(
        820, 360, "The visitors rotate, and their sums with them",
        "in step k lane l meets visitor l plus k, so that no two lanes ever add to the same visitor's sum");
    out.text(
        20, 52,
        "Here 8 lanes; in the rung, 32. A row is a step, a column a lane, a cell the visitor that it meets.",
        "soft");
    for (int lane = 0; lane < lanes; ++lane) {
        out.text(left + lane * wide + (wide - 8) / 2, top - 8, "lane " + std::to_string(lane),
                 "mid small soft");
    }
    for (int k = 0; k < lanes; ++k) {
        out.text(20, top + 18 + k * (high + 4), "step " + std::to_string(k), "small");
        for (int lane = 0; lane < lanes; ++lane) {
            const int visitor = (lane + k) % lanes;
            out.cell(left + lane * wide, top + k * (high + 4), wide - 8, high, visitor == 5 ? "warm" : "off",
                     std::to_string(visitor));
        }
    }
    out.text(20, 350,
             "Visitor 5 goes down the lanes and takes its sum along; after the last step it would be in "
             "lane 5 again.");
    return out.svg();
}

std::string tournament_figure() {
    constexpr int strips = 8, left = 150, wide = 70, top = 92, high = 28;
    Drawing out(820, 300, "A tournament of eight strips",
                "strip i receives strip i plus k for k from 0 to 4; of the meetings half a round away only "
                "half are held");
    out.text(20, 52,
             "A cell is a block: the strip at home (column) and its guest (number). 36 meetings, each once.",
             "soft");
    for (int home = 0; home < strips; ++home) {
        out.text(left + home * wide + (wide - 8) / 2, top - 8, "strip " + std::to_string(home),
                 "mid small soft");
    }
    for (int away = 0; away <= strips / 2; ++away) {
        out.text(20, top + 18 + away * (high + 5),
                 away == 0 ? "with itself" : std::to_string(away) + " further on", "small");
        for (int home = 0; home < strips; ++home) {
            const bool held = 2 * away != strips || home < away;
            out.cell(left + home * wide, top + away * (high + 5), wide - 8, high,
                     !held       ? "off"
                     : away == 0 ? "pale"
                                 : "on",
                     held ? std::to_string((home + away) % strips) : "leaves");
        }
    }
    out.text(20, 286,
             "A strip with itself computes both sides of each of its pairs: 8 of these 36 blocks do twice "
             "what they need.",
             "soft");
    return out.svg();
}

}  // namespace

int main(int argc, char** argv) {
    return rungs::draw_figures(
        argc, argv,
        {{"barrier.svg", barrier_figure},
         {"tiles.svg", tile_figure},
         {"blocking.svg", blocking_figure},
         {"split.svg", split_figure},
         {"rotation.svg", rotation_figure},
         {"tournament.svg", tournament_figure}},
        {"nbody_ladder.svg", "Teraflops of each rung, counting 20 operations per interaction", "TFLOP/s"});
}
