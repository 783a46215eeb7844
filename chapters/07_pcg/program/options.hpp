#pragma once
// The command line of the chapter's program.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

#include "rungs/options.hpp"

#include "pcg.cuh"

namespace pcg {

/// What the program was asked for.
struct Options {
    int d = 3;
    int side = 0;  ///< 0: as large as suits the backend
    std::uint64_t seed = 1;
    int limit = 5000;
    double tolerance = 1e-10;
    double float_tolerance = 1e-4;
    bool help = false;
    std::string rung;      ///< only this one: "04_cg" or "04"; empty: all
    std::string picture;   ///< the SVG file for ||r|| against iterations; empty: none
    std::string roofline;  ///< the SVG file for the roofline; empty: none
};

inline constexpr std::string_view usage =
    "usage: pcg [options]\n"
    "  --d D            dimensions, 1 to 6 (3)\n"
    "  --side L         cells along each axis (127 on a GPU, 15 on the CPU backend)\n"
    "  --seed S         which random right-hand side (1)\n"
    "  --limit M        the most iterations (5000)\n"
    "  --tolerance T    relative residual at which a solve in double stops (1e-10); in float at 1e-4 or "
    "this\n"
    "  --rung NAME      only this rung: 04_cg, or 04\n"
    "  --picture FILE   draw ||r|| against the iterations, as SVG\n"
    "  --roofline FILE  measure the device's roofs, and draw where the rungs stand, as SVG (on a GPU)\n";

/// Reads the command line. @throws std::invalid_argument that names what is wrong, and what is possible.
inline Options parse_options(int count, char** words) {
    const auto refuse = [](const std::string& why) {
        throw std::invalid_argument(why + "\n" + std::string(usage));
    };
    const auto number = [](const std::string& flag, const char* text, double least, double most) {
        return rungs::option_number(flag, text, least, most, usage);
    };
    Options options;
    for (int i = 1; i < count; ++i) {
        const std::string flag = words[i];
        if (flag == "--help") {
            options.help = true;
            continue;
        }
        constexpr std::string_view known[] = {"--d",         "--side", "--seed",    "--limit",
                                              "--tolerance", "--rung", "--picture", "--roofline"};
        if (std::find(std::begin(known), std::end(known), flag) == std::end(known)) {
            refuse("unknown option '" + flag + "'");
        }
        if (++i == count) refuse(flag + " needs a value");
        if (flag == "--d") options.d = static_cast<int>(number(flag, words[i], 1, most_dimensions));
        if (flag == "--side") options.side = static_cast<int>(number(flag, words[i], 1, 1e7));
        if (flag == "--seed") options.seed = static_cast<std::uint64_t>(number(flag, words[i], 0, 1e15));
        if (flag == "--limit") options.limit = static_cast<int>(number(flag, words[i], 0, 1e6));
        if (flag == "--tolerance") options.tolerance = number(flag, words[i], 0, 1);
        if (flag == "--rung") options.rung = words[i];
        if (flag == "--picture") options.picture = words[i];
        if (flag == "--roofline") options.roofline = words[i];
    }
    options.float_tolerance = std::max(options.tolerance, options.float_tolerance);
    return options;
}

}  // namespace pcg
