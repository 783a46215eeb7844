#pragma once
// The numbers on the command line of a chapter's program.

#include <charconv>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace rungs {

/// The number that `flag` was given as `text`, from `least` to `most`.
/// @throws std::invalid_argument that names what is possible, followed by `usage`
template <class T>
T option_number(const std::string& flag, std::string_view text, T least, T most, std::string_view usage) {
    T value{};
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value);
    if (read.ec != std::errc() || read.ptr != end || !(value >= least && value <= most)) {
        std::ostringstream why;
        why << flag << " takes a number from " << least << " to " << most << ", not '" << text << "'\n"
            << usage;
        throw std::invalid_argument(why.str());
    }
    return value;
}

}  // namespace rungs
