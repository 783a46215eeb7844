#include "judge/result/clean_text.hpp"

#include <algorithm>
#include <array>

#include "judge/result/defences.hpp"

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

struct Range {
    char32_t first, last;
};

/// Controls, and what cannot be seen but changes what is: joiners, marks of direction, tags, fillers.
constexpr std::array harmful{Range{0x00, 0x08},     Range{0x0B, 0x1F},      Range{0x7F, 0x9F},
                             Range{0xAD, 0xAD},     Range{0x061C, 0x061C},  Range{0x115F, 0x1160},
                             Range{0x180B, 0x180F}, Range{0x200B, 0x200F},  Range{0x2028, 0x202E},
                             Range{0x2060, 0x206F}, Range{0x3164, 0x3164},  Range{0xFDD0, 0xFDEF},
                             Range{0xFE00, 0xFE0F}, Range{0xFEFF, 0xFEFF},  Range{0xFFA0, 0xFFA0},
                             Range{0xFFF0, 0xFFFB}, Range{0xE0000, 0xE0FFF}};

bool is_harmful(char32_t c) {
    const bool is_character = (c & 0xFFFE) != 0xFFFE;
    return !is_character || std::any_of(harmful.begin(), harmful.end(), [&](const Range& range) {
        return range.first <= c && c <= range.last;
    });
}

}  // namespace

char32_t take_clean(std::string_view& text) {
    // A CR before LF is only a line end from elsewhere.
    if (text.size() > 1 && text[0] == '\r' && text[1] == '\n') text.remove_prefix(1);
    const char32_t c = take(text);
    return is_harmful(c) && judge::is_on(judge::Defence::clean_text) ? replacement : c;
}

void append_utf8(std::string& out, char32_t c) {
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

std::string clean_utf8(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) append_utf8(out, take_clean(text));
    return out;
}

std::string clean_name(std::string_view name) {
    std::string out;
    for (std::string_view rest = name; !rest.empty();) {
        const char32_t c = take_clean(rest);
        const bool space = c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x202F ||
                           c == 0x205F || c == 0x3000 || c == ' ';
        if (!space) {
            append_utf8(out, c == '\n' || c == '\t' ? replacement : c);
        } else if (out.empty() || out.back() != ' ') {
            out += ' ';
        }
    }
    return out;
}

std::string trimmed(const std::string& text) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r\n") + 1 - first);
}

std::string folded(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return text;
}

std::string shell_quoted(const std::string& text) {
    std::string word = "'";
    for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return word + "'";
}

}  // namespace rungs
