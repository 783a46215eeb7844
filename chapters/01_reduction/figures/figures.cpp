// Draws the pictures of the lesson from the numbers that they show: FOLDER/*.svg
// and FOLDER/summation.csv, see rungs/figure.hpp.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "rungs/atomic_file.hpp"
#include "rungs/csv.hpp"
#include "rungs/figure.hpp"
#include "rungs/norms.hpp"
#include "rungs/random.hpp"
#include "rungs/svg.hpp"

namespace {

class Drawing : public rungs::Drawing {
  public:
    using rungs::Drawing::Drawing;

    /// From a cell in one row to one in the next: leaves and arrives vertically.
    void drop(double x1, double y1, double x2, double y2, const std::string& kind = "edge") {
        const double middle = (y1 + y2) / 2;
        out_ << "<path d=\"M" << x1 << ' ' << y1 << 'C' << x1 << ' ' << middle << ' ' << x2 << ' ' << middle
             << ' ' << x2 << ' ' << y2 << "\" class=\"" << kind << "\"/>\n";
    }
};

// ---------------------------------------------------------------------------------------------------------------
// The two trees, for a block of 16 threads in warps of 4

/// One tree in a column of its own. `works(thread, stride)` tells who adds; the partner is `stride` further.
template <class Works>
void draw_tree(Drawing& out, double left, const std::string& name, const std::vector<int>& strides,
               const Works& works) {
    constexpr int threads = 16, warp = 4;
    constexpr double width = 20, height = 20, step = 62, top = 104;
    const double cells = left + 54;
    const auto x_of = [&](int thread) { return cells + thread * width + (thread / warp) * 5; };
    out.text(left, 62, name);
    for (int w = 0; w < threads / warp; ++w) {
        out.text(x_of(w * warp) + 2 * width, 88, "warp " + std::to_string(w), "mid small soft");
    }
    int issued = 0;
    for (std::size_t row = 0; row <= strides.size(); ++row) {
        const double y = top + static_cast<double>(row) * step;
        const int stride = row < strides.size() ? strides[row] : 0;
        int warps = 0;
        for (int w = 0; w < threads / warp && stride; ++w) {
            bool busy = false;
            for (int lane = 0; lane < warp; ++lane) busy |= works(w * warp + lane, stride);
            if (busy) out.box(x_of(w * warp) - 2, y - 3, warp * width + 2, height + 6, "pale");
            warps += busy;
        }
        issued += warps;
        for (int thread = 0; thread < threads; ++thread) {
            const bool works_now = stride && works(thread, stride);
            const bool result = !stride && thread == 0;
            out.cell(x_of(thread), y, width - 2, height,
                     works_now ? "on"
                     : result  ? "done"
                               : "off",
                     std::to_string(thread));
            if (!works_now) continue;
            const double centre = x_of(thread) + width / 2 - 1;
            out.line(centre, y + height, centre, y + step, "edge");
            out.drop(x_of(thread + stride) + width / 2 - 1, y + height, centre, y + step, "edge");
        }
        if (stride) {
            out.text(left, y + 9, "stride " + std::to_string(stride), "small");
            out.text(left, y + 23, std::to_string(warps) + (warps == 1 ? " warp" : " warps"), "small soft");
        }
    }
    out.text(left, top + static_cast<double>(strides.size()) * step + height + 22,
             "In all " + std::to_string(issued) + " instructions of 4-lane warps for 15 additions.");
}

std::string tree_figure() {
    Drawing out(
        840, 420, "Who works in which step: 16 threads, in warps of 4 lanes instead of 32",
        "two trees that add 16 values, drawn with warps of 4 lanes: interleaved addressing keeps every warp "
        "half awake, sequential addressing leaves whole warps without work");
    draw_tree(out, 20, "Rung 04, interleaved: threads 0, 2, 4, ... then 0, 4, 8, ...", {1, 2, 4, 8},
              [](int thread, int stride) { return thread % (2 * stride) == 0; });
    draw_tree(out, 432, "Rung 03, sequential: threads 0 to 7, then 0 to 3, ...", {8, 4, 2, 1},
              [](int thread, int stride) { return thread < stride; });
    return out.svg();
}

// ---------------------------------------------------------------------------------------------------------------
// Bank conflicts of the detour: packed threads, interleaved words

std::string bank_figure() {
    constexpr int threads = 256, warp = 32;
    constexpr double left = 150, width = 17;
    Drawing out(820, 338, "Packing the threads moves the trouble into the banks",
                "with index = 2 * stride * thread the first warp's lanes meet in fewer and fewer of the 32 "
                "banks, so that one access takes up to eight turns");
    out.text(20, 52, "Lane i of warp 0 reads word 2 * stride * i. A bank serves one word per turn.", "soft");
    for (int bank = 0; bank < warp; bank += 8) {
        out.text(left + bank * width + width / 2, 80, std::to_string(bank), "mid small soft");
    }
    out.text(left + 31 * width + width / 2, 80, "31", "mid small soft");
    out.text(left - 12, 80, "bank", "end small soft");
    double y = 92;
    for (int stride = 1; stride <= 16; stride *= 2) {
        std::vector<int> lanes(warp, 0);
        const int active = std::min(warp, threads / (2 * stride));
        for (int lane = 0; lane < active; ++lane) ++lanes[static_cast<std::size_t>(2 * stride * lane % warp)];
        const int turns = *std::max_element(lanes.begin(), lanes.end());
        for (int bank = 0; bank < warp; ++bank) {
            const int hits = lanes[static_cast<std::size_t>(bank)];
            out.cell(left + bank * width, y, width - 2, 30,
                     hits > 1   ? "warm"
                     : hits > 0 ? "on"
                                : "off",
                     hits ? std::to_string(hits) : "");
        }
        out.text(20, y + 14, "stride " + std::to_string(stride));
        out.text(20, y + 28, std::to_string(active) + " lanes", "small soft");
        out.text(left + warp * width + 10, y + 20, std::to_string(turns) + " turns");
        y += 42;
    }
    out.text(20, y + 16,
             "Numbers are lanes that want the same bank. Sequential addressing reads 32 neighbouring words: "
             "one turn, always.",
             "soft");
    return out.svg();
}

// ---------------------------------------------------------------------------------------------------------------
// Grid-stride loop

std::string grid_stride_figure() {
    constexpr int blocks = 3, threads = 4, n = 31;
    constexpr double left = 20, width = 31, height = 26, top = 98;
    Drawing out(820, 270, "A grid-stride loop",
                "12 threads walk over 31 elements in three trips; neighbouring threads read neighbouring "
                "elements in every trip, and the last trip is short");
    out.text(
        20, 54,
        "31 elements, 3 blocks of 4 threads. The number in a cell is the thread of the grid that adds it.",
        "soft");
    const char* kinds[blocks] = {"on", "warm", "done"};
    for (int b = 0; b < blocks; ++b) {
        out.box(20 + b * 110, 66, 14, 14, kinds[b]);
        out.text(40 + b * 110, 78, "block " + std::to_string(b), "small");
    }
    const int grid = blocks * threads;
    for (int trip = 0; trip * grid < n; ++trip) {
        const double y = top + trip * 44;
        out.text(left, y + 17, "trip " + std::to_string(trip), "small soft");
        for (int thread = 0; thread < grid; ++thread) {
            const int i = trip * grid + thread;
            const double x = left + 60 + thread * (width + 2) + (thread / threads) * 8;
            if (i < n) {
                out.cell(x, y, width, height, kinds[thread / threads], std::to_string(thread));
            } else {
                out.cell(x, y, width, height, "off", "");
            }
        }
        const int first = trip * grid;
        const int last = std::min(n, first + grid) - 1;
        out.text(left + 60 + grid * (width + 2) + 34, y + 17,
                 "elements " + std::to_string(first) + " to " + std::to_string(last), "small soft");
    }
    out.text(20, top + 3 * 44 + 22,
             "Each thread keeps its sum in a register; only then does the tree begin: once a block, not once "
             "for every 256 elements.");
    return out.svg();
}

// ---------------------------------------------------------------------------------------------------------------
// Shuffles

std::string shuffle_figure() {
    constexpr int lanes = 8;
    constexpr double width = 40, height = 24, step = 66, top = 92;
    Drawing out(
        840, 376, "Two ways to add up a warp (8 lanes drawn of 32)",
        "with shuffle down, lane 0 ends with the sum; with the exclusive-or butterfly, every lane does");
    const auto draw = [&](double left, const char* name, bool butterfly) {
        out.text(left, 62, name, "code");
        std::vector<int> held(lanes, 1);  // how many lanes' values each lane holds, 0: garbage
        int offset = lanes / 2;
        for (int row = 0; row <= 3; ++row, offset /= 2) {
            const double y = top + row * step;
            const auto centre = [&](int lane) { return left + lane * (width + 5) + width / 2; };
            for (int lane = 0; lane < lanes; ++lane) {
                const int count = held[static_cast<std::size_t>(lane)];
                const char* kind = count == lanes ? "done" : count ? "on" : "off";
                out.cell(left + lane * (width + 5), y, width, height, kind,
                         count ? std::to_string(count) : "");
            }
            if (row == 3) break;
            std::vector<int> next(lanes, 0);
            for (int lane = 0; lane < lanes; ++lane) {
                const int from = butterfly ? lane ^ offset : lane + offset;
                const bool counts = butterfly || lane < offset;
                if (from >= lanes || !counts) continue;
                next[static_cast<std::size_t>(lane)] = 2 * held[static_cast<std::size_t>(lane)];
                out.line(centre(lane), y + height, centre(lane), y + step, "edge");
                out.drop(centre(from), y + height, centre(lane), y + step, "edge");
            }
            held = next;
            if (butterfly) {
                out.text(left - 36, y + height + 24, "offset " + std::to_string(offset), "mid small soft");
            }
        }
    };
    draw(20, "__shfl_down_sync", false);
    draw(448, "__shfl_xor_sync", true);
    out.text(20, 358,
             "A number says how many lanes' values a lane holds. Left, the other lanes hold numbers that "
             "nobody needs.",
             "soft");
    return out.svg();
}

// ---------------------------------------------------------------------------------------------------------------
// Last block

std::string last_block_figure() {
    constexpr double left = 90, top = 60, row = 46, height = 26;
    Drawing out(840, 306, "One block finishes for all: one launch, one order",
                "four blocks draw a ticket when they start, add up their part and leave it behind; the block "
                "with the last ticket collects the parts in the order of their index");
    struct Block {
        double begin;
        double end;  ///< when its own part is added up
        int ticket;
    };
    const Block blocks[] = {{100, 300, 1}, {90, 430, 0}, {132, 350, 3}, {112, 390, 2}};
    for (int b = 0; b < 4; ++b) {
        const double y = top + b * row;
        const Block& block = blocks[b];
        const bool last = block.ticket == 3;
        out.text(20, y + 17, "block " + std::to_string(b));
        out.cell(block.begin, y, 58, height, last ? "warm" : "off", "ticket " + std::to_string(block.ticket));
        out.cell(block.begin + 62, y, block.end - block.begin, height, "on", "adds up its part");
        out.cell(block.end + 66, y, 54, height, "off", "part[" + std::to_string(b) + "]");
        if (last) {
            out.cell(block.end + 126, y, 110, height, "pale", "");
            out.text(block.end + 181, y + 17, "waits for part[1]", "mid small");
            out.cell(block.end + 240, y, 140, height, "done", "adds parts 0, 1, 2, 3");
        } else {
            out.text(block.end + 128, y + 17, "leaves", "small soft");
        }
    }
    out.line(left, top + 4 * row + 4, 820, top + 4 * row + 4, "rule");
    out.text(820, top + 4 * row - 2, "time", "end small soft");
    out.text(20, top + 4 * row + 28,
             "The block that draws the last ticket knows that all others have started, so its wait must end. "
             "The parts are");
    out.text(20, top + 4 * row + 47,
             "always added in the order of their index, so the rounding, and every bit, stays the same.");
    return out.svg();
}

// ---------------------------------------------------------------------------------------------------------------
// Rounding error against length

/// Sums in float, one element at a time, in the order that the name says.
struct InARow {
    float sum = 0;
    void add(float value) { sum += value; }
    double result() { return sum; }
};

/// Blocks of 256 by a tree, then the blocks in a row: rungs 03 to 06.
struct Blocks {
    static constexpr std::size_t size = 256;
    float block[size];
    std::size_t held = 0;
    float sum = 0;
    void add(float value) {
        block[held++] = value;
        if (held == size) finish();
    }
    void finish() {
        std::fill(block + held, block + size, 0.0f);
        for (std::size_t stride = size / 2; stride > 0; stride /= 2) {
            for (std::size_t i = 0; i < stride; ++i) block[i] += block[i + stride];
        }
        sum += block[0];
        held = 0;
    }
    double result() {
        finish();
        return sum;
    }
};

/// By halves all the way: partial sums of 2^k elements wait for their equal.
struct Pairwise {
    float waiting[64];
    std::uint64_t count = 0;
    void add(float value) {
        std::size_t level = 0;
        for (std::uint64_t bits = count++; bits & 1; bits >>= 1) value = waiting[level++] + value;
        waiting[level] = value;
    }
    double result() {
        float sum = 0;
        for (std::size_t level = 0; level < 64; ++level) {
            if (count >> level & 1) sum += waiting[level];
        }
        return sum;
    }
};

/// W. Kahan, "Further remarks on reducing truncation errors", CACM 8, 1965: what an addition drops is added
/// to the next summand.
struct Compensated {
    float sum = 0;
    float dropped = 0;
    void add(float value) {
        const float summand = value - dropped;
        const float total = sum + summand;
        dropped = (total - sum) - summand;
        sum = total;
    }
    double result() { return sum; }
};

/// Accumulated in double, rounded to float at the end.
struct InDouble {
    double sum = 0;
    void add(float value) { sum += value; }
    double result() { return static_cast<float>(sum); }
};

/// Root mean square over the seeds of |error| / sum |v|, v uniform in [0, 1), for n = 2^8, 2^10, ... 2^26.
void summation(const std::filesystem::path& folder) {
    constexpr int seeds = 8, first = 8, last = 26, methods = 5;
    const char* names[methods] = {"in a row", "blocks of 256", "pairwise", "compensated", "in double"};
    std::vector<std::vector<double>> squares(methods, std::vector<double>(last / 2 + 1, 0.0));
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        InARow row;
        Blocks blocks;
        Pairwise pairwise;
        Compensated compensated;
        InDouble in_double;
        rungs::CompensatedSum exact;
        std::vector<float> chunk(1 << first);
        std::uint64_t done = 0;
        for (int exponent = first; exponent <= last; exponent += 2) {
            while (done < std::uint64_t{1} << exponent) {
                rungs::fill(std::span<float>(chunk), seed, rungs::Uniform{}, done);
                for (const float value : chunk) {
                    row.add(value);
                    blocks.add(value);
                    pairwise.add(value);
                    compensated.add(value);
                    in_double.add(value);
                    exact.add(value);
                }
                done += chunk.size();
            }
            const double sums[methods] = {row.result(), blocks.result(), pairwise.result(),
                                          compensated.result(), in_double.result()};
            for (std::size_t m = 0; m < methods; ++m) {
                const double error = (sums[m] - exact.value()) / exact.value();
                squares[m][static_cast<std::size_t>(exponent / 2)] += error * error / seeds;
            }
        }
    }
    rungs::Csv table({"n", "in a row", "blocks of 256", "pairwise", "compensated", "in double"});
    rungs::LinePlot plot;
    plot.title = "Rounding error of float sums";
    plot.description =
        "One accumulator loses digits from the start and collapses beyond 2^24 elements; blocks, pairwise, "
        "compensated and double sums stay near one rounding.";
    plot.x_label = "number of elements n, uniform in [0, 1)";
    plot.y_label = "error / sum |v|";
    plot.x_scale = rungs::Scale::log2;
    plot.y_scale = rungs::Scale::log10;
    plot.height = 460;
    for (std::size_t m = 0; m < methods; ++m) plot.series.push_back({names[m], {}, {}});
    for (int exponent = first; exponent <= last; exponent += 2) {
        const double n = std::ldexp(1.0, exponent);
        double errors[methods];
        for (std::size_t m = 0; m < methods; ++m) {
            errors[m] = std::sqrt(squares[m][static_cast<std::size_t>(exponent / 2)]);
            plot.series[m].x.push_back(n);
            plot.series[m].y.push_back(errors[m]);
        }
        table.row(std::int64_t{1} << exponent, errors[0], errors[1], errors[2], errors[3], errors[4]);
    }
    table.write(folder / "summation.csv");
    rungs::write_file(folder / "summation.svg", rungs::on_ground(plot.svg()));
}

}  // namespace

int main(int argc, char** argv) {
    return rungs::draw_figures(
        argc, argv,
        {{"trees.svg", tree_figure},
         {"banks.svg", bank_figure},
         {"grid_stride.svg", grid_stride_figure},
         {"shuffles.svg", shuffle_figure},
         {"last_block.svg", last_block_figure}},
        {"reduction_ladder.svg",
         "How fast each rung reads its input, beside the library and the memory's limit.", "GB/s"},
        summation);
}
