#pragma once
// The command line of the chapter's program.

#include <charconv>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include "rungs/options.hpp"

namespace jacobi {

/// What the program was asked for.
struct Options {
    int nx = 33;  ///< sites, boundary included
    int ny = 33;  ///< @copydoc nx
    double charge =
        0;  ///< q: 0 solves Laplace's equation with a hot top edge, else Poisson's with a cold boundary
    double eps = 1e-4;   ///< where to stop
    int most = 100'000;  ///< sweeps at most
    bool help = false;
    std::string rung;      ///< only this one: "05_shared_halo" or "05"; empty: all
    std::string pictures;  ///< what the pictures' names begin with; empty: none
};

inline constexpr std::string_view usage =
    "usage: jacobi [options]\n"
    "  --nx N, --ny N   sites of the lattice, boundary included (33)\n"
    "  --charge Q       a point charge in the middle of a cold boundary, instead of a hot top edge\n"
    "  --eps E          stop when the norm of the update is at most this (1e-4)\n"
    "  --most N         sweeps at most (100000)\n"
    "  --rung NAME      only this rung: 05_shared_halo, or 05\n"
    "  --pictures NAME  write NAME-field.png, the potential, with field lines where there is a charge, and\n"
    "                   NAME-convergence.svg, the norm of the update beside what theory predicts\n";

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
        if (flag == "--nx") {
            options.nx = number(flag, value, 3, 1 << 15);
        } else if (flag == "--ny") {
            options.ny = number(flag, value, 3, 1 << 15);
        } else if (flag == "--charge") {
            options.charge = number(flag, value, -1e6, 1e6);
        } else if (flag == "--eps") {
            options.eps = number(flag, value, 0., 1e6);
        } else if (flag == "--most") {
            options.most = number(flag, value, 1, 1 << 30);
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

}  // namespace jacobi
