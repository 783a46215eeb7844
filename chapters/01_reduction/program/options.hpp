#pragma once
// The command line of the chapter's program.

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace reduction {

/// What the program was asked for.
struct Options {
    std::size_t n = 1 << 20;  ///< elements
    std::uint64_t seed = 1;   ///< which random numbers
    bool dot = false;         ///< the dot product instead of the sum
    bool help = false;
    std::string rung;     ///< only this one: "03_shared_tree" or "03"; empty: all
    std::string picture;  ///< the SVG file to draw; empty: none
};

inline constexpr std::string_view usage =
    "usage: reduction [options]\n"
    "  --n N            how many numbers to add up (1048576)\n"
    "  --seed S         which random numbers (1)\n"
    "  --dot            the dot product of two vectors instead of the sum of one\n"
    "  --rung NAME      only this rung: 03_shared_tree, or 03\n"
    "  --picture FILE   draw the rounding errors against n, as SVG\n";

/// Reads the command line. @throws std::invalid_argument that names what is wrong, and what is possible.
inline Options parse_options(int count, char** words) {
    const auto refuse = [](const std::string& why) {
        throw std::invalid_argument(why + "\n" + std::string(usage));
    };
    const auto whole = [&](const std::string& flag, const std::string& text, std::uint64_t least) {
        std::uint64_t value = 0;
        const char* const end = text.data() + text.size();
        const auto read = std::from_chars(text.data(), end, value);
        if (read.ec != std::errc() || read.ptr != end || value < least) {
            refuse(flag + " takes a whole number from " + std::to_string(least) + " up, not '" + text + "'");
        }
        return value;
    };
    Options options;
    for (int i = 1; i < count; ++i) {
        const std::string flag = words[i];
        if (flag == "--dot") {
            options.dot = true;
        } else if (flag == "--help") {
            options.help = true;
        } else if (flag != "--n" && flag != "--seed" && flag != "--rung" && flag != "--picture") {
            refuse("unknown option '" + flag + "'");
        } else if (++i == count) {
            refuse(flag + " needs a value");
        } else if (flag == "--n") {
            options.n = whole(flag, words[i], 1);
        } else if (flag == "--seed") {
            options.seed = whole(flag, words[i], 0);
        } else if (flag == "--rung") {
            options.rung = words[i];
        } else {
            options.picture = words[i];
        }
    }
    return options;
}

}  // namespace reduction
