#pragma once
// Text from outside (compilers, submissions, manifests) made safe to show.

#include <string>
#include <string_view>

#include "judge/result/clean_text.hpp"

namespace rungs {

/// clean_utf8(), with & < > " ' as entities: safe as HTML text and inside quoted attributes.
std::string escape_html(std::string_view text);

/// clean_utf8() in ASCII: common punctuation by its nearest look-alike, everything else as '?'.
std::string to_ascii(std::string_view text);

/// The first line, cut to `columns` code points with "..." at the end when something was cut.
std::string first_line(std::string_view text, std::size_t columns);

/// "3.21 TB/s", "870 GB/s": bytes a second with three digits.
std::string bandwidth_text(double bytes_per_second);
std::string flops_text(double operations_per_second);

/// "4.19 MB", "512 B": bytes with three digits.
std::string bytes_text(double bytes);

/// "12.3 us", "4.56 ms", "1.20 s": three digits.
std::string seconds_text(double seconds);

/// "1 case", "2 cases".
std::string count_text(std::size_t count, const char* what);

/// A ratio in three significant digits: "11.5", "0.089".
std::string ratio_text(double value);

/// Up to four significant digits without trailing zeros.
std::string number_text(double value);

/// "13.33", "5": hundredths without trailing zeros.
std::string points_text(double points);

}  // namespace rungs
