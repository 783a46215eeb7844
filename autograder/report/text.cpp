#include "report/text.hpp"

#include <fmt/format.h>

#include <cmath>

#include "judge/result/points.hpp"

namespace rungs {
namespace {

std::string with_unit(double value, const char* const* units, double step) {
    if (!std::isfinite(value)) return "?";
    while (value >= 999.5 && units[1]) value /= step, ++units;
    return fmt::format("{:.{}f} {}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, *units);
}

}  // namespace

std::string escape_html(std::string_view text) {
    std::string out;
    out.reserve(text.size() + text.size() / 8);
    for (const char c : clean_utf8(text)) {
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            case '\'':
                out += "&#39;";
                break;
            default:
                out += c;
        }
    }
    return out;
}

std::string to_ascii(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const char32_t c = take_clean(text);
        switch (c) {
            case 0x2018:
            case 0x2019:
                out += '\'';
                break;
            case 0x201C:
            case 0x201D:
                out += '"';
                break;
            case 0x2013:
            case 0x2014:
            case 0x2212:
            case 0x2500:
                out += '-';
                break;
            case 0x2026:
                out += "...";
                break;
            case 0x2192:
                out += "->";
                break;
            case 0x2264:
                out += "<=";
                break;
            case 0x2265:
                out += ">=";
                break;
            case 0x00D7:
                out += 'x';
                break;
            case 0x00B7:
            case 0x2022:
                out += '-';
                break;
            case 0x00B5:
            case 0x03BC:
                out += 'u';
                break;
            case 0x2713:
            case 0x2714:
                out += '+';
                break;
            case 0x2717:
            case 0x2718:
                out += 'x';
                break;
            case 0x00A0:
                out += ' ';
                break;
            default:
                out += c < 0x80 ? static_cast<char>(c) : '?';
        }
    }
    return out;
}

std::string first_line(std::string_view text, std::size_t columns) {
    const std::string clean = clean_utf8(text.substr(0, text.find('\n')));
    std::size_t count = 0;
    std::string_view rest = clean;
    std::string out;
    while (!rest.empty()) {
        if (count == columns) {
            // Make room for the three dots.
            for (int drop = 0; drop < 3 && !out.empty(); ++drop) {
                while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0xC0) == 0x80)
                    out.pop_back();
                if (!out.empty()) out.pop_back();
            }
            return out + "...";
        }
        append_utf8(out, take_clean(rest));
        ++count;
    }
    return out;
}

std::string bandwidth_text(double bytes_per_second) {
    static constexpr const char* units[] = {"B/s", "kB/s", "MB/s", "GB/s", "TB/s", nullptr};
    return with_unit(bytes_per_second, units, 1000);
}

std::string flops_text(double operations_per_second) {
    static constexpr const char* units[] = {"FLOP/s", "kFLOP/s", "MFLOP/s", "GFLOP/s", "TFLOP/s", nullptr};
    return with_unit(operations_per_second, units, 1000);
}

std::string bytes_text(double bytes) {
    if (std::isfinite(bytes) && bytes < 1000) return fmt::format("{:.0f} B", bytes);
    static constexpr const char* units[] = {"B", "kB", "MB", "GB", "TB", nullptr};
    return with_unit(bytes, units, 1000);
}

std::string seconds_text(double seconds) {
    if (!std::isfinite(seconds)) return "?";
    if (seconds >= 0.9995)
        return fmt::format("{:.{}f} s", seconds, seconds < 9.95 ? 2 : seconds < 99.5 ? 1 : 0);
    static constexpr const char* units[] = {"ns", "us", "ms", nullptr};
    return with_unit(seconds * 1e9, units, 1000);
}

std::string count_text(std::size_t count, const char* what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string ratio_text(double value) { return fmt::format("{:.3g}", value); }

std::string number_text(double value) { return fmt::format("{:.4g}", value); }

std::string points_text(double points) {
    std::string text = fmt::format("{:.2f}", judge::hundredths(points));
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
    return text == "-0" ? "0" : text;
}

}  // namespace rungs
