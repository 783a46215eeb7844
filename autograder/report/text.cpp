#include "text.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>

namespace rungs {
namespace {

constexpr char32_t replacement = 0xFFFD;

/// Takes one code point from the front of `text`; `replacement` for a maximal ill-formed sequence
/// (Unicode 3.9, U+FFFD substitution of maximal subparts).
char32_t take(std::string_view& text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char lead = byte(0);
    std::size_t length = 0;
    unsigned char low = 0x80, high = 0xBF;  // allowed range of the second byte
    char32_t value = 0;
    if (lead < 0x80) {
        text.remove_prefix(1);
        return lead;
    } else if (lead >= 0xC2 && lead <= 0xDF) {
        length = 2, value = lead & 0x1F;
    } else if (lead >= 0xE0 && lead <= 0xEF) {
        length = 3, value = lead & 0x0F;
        if (lead == 0xE0) low = 0xA0;   // overlong
        if (lead == 0xED) high = 0x9F;  // surrogates
    } else if (lead >= 0xF0 && lead <= 0xF4) {
        length = 4, value = lead & 0x07;
        if (lead == 0xF0) low = 0x90;   // overlong
        if (lead == 0xF4) high = 0x8F;  // above U+10FFFF
    } else {
        text.remove_prefix(1);
        return replacement;
    }
    for (std::size_t i = 1; i < length; ++i) {
        if (i >= text.size() || byte(i) < low || byte(i) > high) {
            text.remove_prefix(i);
            return replacement;
        }
        value = (value << 6) | (byte(i) & 0x3F);
        low = 0x80, high = 0xBF;
    }
    text.remove_prefix(length);
    return value;
}

bool is_harmful(char32_t c) {
    if (c == '\n' || c == '\t') return false;
    if (c < 0x20 || (c >= 0x7F && c < 0xA0)) return true;
    return (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0x200E || c == 0x200F ||
           c == 0x2028 || c == 0x2029;
}

void append(std::string& out, char32_t c) {
    if (c < 0x80) {
        out += static_cast<char>(c);
    } else if (c < 0x800) {
        out += static_cast<char>(0xC0 | (c >> 6));
        out += static_cast<char>(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
        out += static_cast<char>(0xE0 | (c >> 12));
        out += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
        out += static_cast<char>(0x80 | (c & 0x3F));
    } else {
        out += static_cast<char>(0xF0 | (c >> 18));
        out += static_cast<char>(0x80 | ((c >> 12) & 0x3F));
        out += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
        out += static_cast<char>(0x80 | (c & 0x3F));
    }
}

template <class Use>
void each_clean(std::string_view text, Use use) {
    while (!text.empty()) {
        // A CR before LF is only a line end from elsewhere.
        if (text.size() > 1 && text[0] == '\r' && text[1] == '\n') text.remove_prefix(1);
        const char32_t c = take(text);
        use(is_harmful(c) ? replacement : c);
    }
}

std::string with_unit(double value, const char* const* units, double step) {
    if (!std::isfinite(value)) return "?";
    while (value >= 999.5 && units[1]) value /= step, ++units;
    return fmt::format("{:.{}f} {}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, *units);
}

}  // namespace

std::string clean_utf8(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    each_clean(text, [&](char32_t c) { append(out, c); });
    return out;
}

std::string escape_html(std::string_view text) {
    std::string out;
    out.reserve(text.size() + text.size() / 8);
    each_clean(text, [&](char32_t c) {
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
                append(out, c);
        }
    });
    return out;
}

std::string to_ascii(std::string_view text) {
    std::string out;
    each_clean(text, [&](char32_t c) {
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
    });
    return out;
}

std::string one_line(std::string_view text, std::size_t columns) {
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
        append(out, take(rest));
        ++count;
    }
    return out;
}

std::string bandwidth_text(double bytes_per_second) {
    static constexpr const char* units[] = {"B/s", "kB/s", "MB/s", "GB/s", "TB/s", nullptr};
    return with_unit(bytes_per_second, units, 1000);
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

std::string ratio_text(double value) { return fmt::format("{:.3g}", value); }

std::string number_text(double value) { return fmt::format("{:.4g}", value); }

}  // namespace rungs
