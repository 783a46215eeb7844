#pragma once
// The command line of the chapter's program.

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "rungs/options.hpp"

namespace nbody {

/// What the program was asked for.
struct Options {
    int n = 2048;            ///< bodies
    std::uint64_t seed = 1;  ///< which ones
    int frames = 60;         ///< pictures from time 0 to 1, but for the first
    int steps = 32;          ///< of the leapfrog, between two pictures
    float softening = 0.02f;
    std::string rung;  ///< only this one: "03_unrolled" or "03"; empty: all are tried, the fastest is used
    std::filesystem::path out = "nbody-out";  ///< the folder for everything that is written
    bool fresh = false;                       ///< forget what the folder holds
    bool help = false;

    float dt() const { return 1.0f / static_cast<float>(frames * steps); }

    /// What decides where the bodies go: a run is continued only with the same.
    std::string physics() const {
        char text[160];
        std::snprintf(text, sizeof text, "bodies %d, seed %llu, frames %d, steps %d, softening %.9g\n", n,
                      static_cast<unsigned long long>(seed), frames, steps, static_cast<double>(softening));
        return text;
    }
};

inline constexpr std::string_view usage =
    "usage: nbody [options]\n"
    "Lets bodies fall together from time 0 to 1, two of them 200 times as heavy as the others, and draws\n"
    "pictures, an animation, energy and momentum. Interrupted and called again, it goes on where it was.\n"
    "  --bodies N       how many bodies (2048)\n"
    "  --seed S         which ones (1)\n"
    "  --frames F       how many pictures after the first (60)\n"
    "  --steps K        steps of the leapfrog between two pictures (32)\n"
    "  --softening E    the softening length (0.02)\n"
    "  --rung NAME      the force to use: 03_unrolled, or 03 (the fastest that is right)\n"
    "  --out FOLDER     where to write (nbody-out)\n"
    "  --fresh          begin anew, whatever the folder holds\n";

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
        if (flag == "--fresh") {
            options.fresh = true;
        } else if (flag == "--help") {
            options.help = true;
        } else if (flag != "--bodies" && flag != "--seed" && flag != "--frames" && flag != "--steps" &&
                   flag != "--softening" && flag != "--rung" && flag != "--out") {
            refuse("unknown option '" + flag + "'");
        } else if (++i == count) {
            refuse(flag + " needs a value");
        } else if (flag == "--bodies") {
            options.n = number(flag, words[i], 1, 1 << 22);
        } else if (flag == "--seed") {
            options.seed = number(flag, words[i], std::uint64_t{0}, ~std::uint64_t{0});
        } else if (flag == "--frames") {
            options.frames = number(flag, words[i], 1, 9999);
        } else if (flag == "--steps") {
            options.steps = number(flag, words[i], 1, 100'000);
        } else if (flag == "--softening") {
            options.softening = number(flag, words[i], 1e-6f, 1.0f);
        } else if (flag == "--rung") {
            options.rung = words[i];
        } else {
            options.out = words[i];
        }
    }
    return options;
}

}  // namespace nbody
