#pragma once
// The command line of the chapter's program.

#include <charconv>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include "rungs/options.hpp"

namespace btcs {

/// What the program was asked for.
struct Options {
    int n = 127;      ///< points of the rod
    double r = 0.52;  ///< conductivity times time step / spacing^2
    int steps = 100;  ///< time steps of the pictures
    bool help = false;
    std::string rung;      ///< only this one: "05_partitioned" or "05"; empty: all
    std::string pictures;  ///< what the pictures' names begin with; empty: none
};

inline constexpr std::string_view usage =
    "usage: btcs [options]\n"
    "  --n N            points of the rod (127)\n"
    "  --r R            conductivity x time step / spacing^2 (0.52: a little too much for FTCS)\n"
    "  --steps S        time steps (100)\n"
    "  --rung NAME      only this rung: 05_partitioned, or 05\n"
    "  --pictures NAME  write NAME-rods.png, the rod through time by FTCS, BTCS and Crank-Nicolson;\n"
    "                   NAME-stability.svg, what a step does to waves; NAME-order.svg, errors against "
    "steps;\n"
    "                   NAME-insulated.png, a rod of several materials with ends that let no heat out\n";

/// Reads the command line. @throws std::invalid_argument that names what is wrong, and what is possible.
inline Options parse_options(int count, char** words) {
    const auto refuse = [](const std::string& why) {
        throw std::invalid_argument(why + "\n" + std::string(usage));
    };
    const auto number = [](const std::string& flag, const std::string& text, auto least, auto most) {
        return rungs::option_number(flag, text, least, most, usage);
    };
    Options options;
    for (int i = 1; i < count; ++i) {
        const std::string flag = words[i];
        if (flag == "--help") {
            options.help = true;
            continue;
        }
        if (i + 1 == count) refuse("unknown option or missing value: '" + flag + "'");
        const std::string value = words[++i];
        if (flag == "--n") {
            options.n = number(flag, value, 3, 8192);
        } else if (flag == "--r") {
            options.r = number(flag, value, 0., 1e6);
        } else if (flag == "--steps") {
            options.steps = number(flag, value, 1, 10'000);
        } else if (flag == "--rung") {
            options.rung = value;
        } else if (flag == "--pictures") {
            options.pictures = value;
        } else {
            refuse("unknown option '" + flag + "'");
        }
    }
    return options;
}

}  // namespace btcs
