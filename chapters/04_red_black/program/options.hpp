#pragma once
// The command line of the chapter's program.

#include <charconv>
#include <stdexcept>
#include <string>
#include <string_view>

namespace red_black {

/// What the program was asked for.
struct Options {
    int n = 0;                ///< points along an edge; 0: as many as suit the backend
    double tolerance = 1e-3;  ///< of the residual, relative to that of u = 0
    bool help = false;
    std::string rung;      ///< only this one: "06_sor" or "06"; empty: all
    std::string pictures;  ///< the folder to draw into; empty: none
};

inline constexpr std::string_view usage =
    "usage: red_black [options]\n"
    "  --n N             points along an edge of the cube (64 on a GPU, 12 on the CPU backend)\n"
    "  --tolerance T     stop at this residual, relative to that of u = 0 (0.001)\n"
    "  --rung NAME       only this rung: 06_sor, or 06\n"
    "  --pictures FOLDER draw slices of the solution and of errors, and the residuals against iterations\n";

/// Reads the command line. @throws std::invalid_argument that names what is wrong, and what is possible.
inline Options parse_options(int count, char** words) {
    const auto refuse = [](const std::string& why) {
        throw std::invalid_argument(why + "\n" + std::string(usage));
    };
    Options options;
    for (int i = 1; i < count; ++i) {
        const std::string flag = words[i];
        if (flag == "--help") {
            options.help = true;
            continue;
        }
        if (flag != "--n" && flag != "--tolerance" && flag != "--rung" && flag != "--pictures") {
            refuse("unknown option '" + flag + "'");
        }
        if (++i == count) refuse(flag + " needs a value");
        const std::string_view text = words[i];
        const char* const end = text.data() + text.size();
        if (flag == "--n") {
            const auto read = std::from_chars(text.data(), end, options.n);
            if (read.ec != std::errc() || read.ptr != end || options.n < 1 || options.n > 1024) {
                refuse("--n takes a whole number from 1 to 1024, not '" + std::string(text) + "'");
            }
        } else if (flag == "--tolerance") {
            const auto read = std::from_chars(text.data(), end, options.tolerance);
            if (read.ec != std::errc() || read.ptr != end ||
                !(options.tolerance >= 1e-12 && options.tolerance < 1)) {
                refuse("--tolerance takes a number from 1e-12 to 1, not '" + std::string(text) + "'");
            }
        } else {
            (flag == "--rung" ? options.rung : options.pictures) = text;
        }
    }
    return options;
}

}  // namespace red_black
