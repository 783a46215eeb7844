#include "rungs/svg.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>

namespace rungs {
namespace {

// Seven hues, each at one lightness for white paper and one for black. Dashes tell the lines apart in grey.
constexpr const char* plot_style =
    "<style>"
    ".rp{font:13px system-ui,sans-serif}.rp text{fill:#1f2328}.rp .soft{fill:#59636e}"
    ".rp .title{font-size:16px;font-weight:600}.rp .grid{stroke:#d1d9e0;fill:none}"
    ".rp .axis{stroke:#59636e;fill:none}.rp .limit{stroke:#59636e;stroke-dasharray:2 3}"
    ".rp .line{fill:none;stroke-width:2;stroke-linejoin:round}.rp .dot{stroke:none}"
    ".rp .s0{stroke:#1769aa}.rp .f0{fill:#1769aa}"
    ".rp .s1{stroke:#b8470f;stroke-dasharray:8 4}.rp .f1{fill:#b8470f}"
    ".rp .s2{stroke:#277a48;stroke-dasharray:2 3}.rp .f2{fill:#277a48}"
    ".rp .s3{stroke:#7d42a8;stroke-dasharray:10 3 2 3}.rp .f3{fill:#7d42a8}"
    ".rp .s4{stroke:#86650a;stroke-dasharray:14 4}.rp .f4{fill:#86650a}"
    ".rp .s5{stroke:#59636e;stroke-dasharray:6 3 2 3 2 3}.rp .f5{fill:#59636e}"
    ".rp .s6{stroke:#b03a78;stroke-dasharray:3 6}.rp .f6{fill:#b03a78}"
    "@media(prefers-color-scheme:dark){.rp text{fill:#f0f6fc}.rp .soft{fill:#9198a1}.rp .grid{stroke:#3d444d}"
    ".rp .axis,.rp .limit{stroke:#9198a1}"
    ".rp .s0{stroke:#6cb6f5}.rp .f0{fill:#6cb6f5}.rp .s1{stroke:#ff9b6a}.rp .f1{fill:#ff9b6a}"
    ".rp .s2{stroke:#67cf8d}.rp .f2{fill:#67cf8d}.rp .s3{stroke:#cda2f2}.rp .f3{fill:#cda2f2}"
    ".rp .s4{stroke:#dcb94c}.rp .f4{fill:#dcb94c}.rp .s5{stroke:#9198a1}.rp .f5{fill:#9198a1}"
    ".rp .s6{stroke:#f294c0}.rp .f6{fill:#f294c0}}"
    "</style>";
constexpr std::size_t styles = 7;

/// Text for XML; characters that XML 1.0 does not allow are dropped.
std::string escaped(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (c == '&')
            out += "&amp;";
        else if (c == '<')
            out += "&lt;";
        else if (c == '>')
            out += "&gt;";
        else if (c == '"')
            out += "&quot;";
        else if (static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t')
            out += c;
    }
    return out;
}

/// A coordinate: a tenth of a pixel is enough. Not printf: its decimal point depends on the locale.
std::string at(double value) {
    char digits[40];
    const auto end = std::to_chars(digits, digits + sizeof digits, std::round(10 * value) / 10).ptr;
    return std::string(digits, end);
}

/// A value for people: three significant digits, and thousands without an exponent.
std::string pretty(double value) {
    if (std::isnan(value)) return "–";
    char digits[40];
    const double size = std::abs(value);
    const bool plain = size == 0 || (size >= 1e-3 && size < 1e6);
    const int decimals = size >= 100 || size == 0 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 4;
    auto end =
        plain ? std::to_chars(digits, digits + sizeof digits, value, std::chars_format::fixed, decimals).ptr
              : std::to_chars(digits, digits + sizeof digits, value, std::chars_format::scientific, 2).ptr;
    std::string text(digits, end);
    if (plain && decimals > 0) {
        text.erase(text.find_last_not_of('0') + 1);
        if (text.back() == '.') text.pop_back();
    }
    return text;
}

std::string superscript(int exponent) {
    static constexpr const char* digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    std::string text = exponent < 0 ? "⁻" : "";
    for (const char c : std::to_string(std::abs(exponent))) text += digits[c - '0'];
    return text;
}

std::string text_at(double x, double y, const char* anchor, const std::string& text, const char* kind = "") {
    return "<text x=\"" + at(x) + "\" y=\"" + at(y) + "\" text-anchor=\"" + anchor + "\" class=\"" + kind +
           "\">" + escaped(text) + "</text>\n";
}

std::string line_at(double x1, double y1, double x2, double y2, const char* kind) {
    return "<path class=\"" + std::string(kind) + "\" d=\"M" + at(x1) + " " + at(y1) + "L" + at(x2) + " " +
           at(y2) + "\"/>\n";
}

/// Letters are about this wide on average at 13 pixels; there is no font to ask.
double width_of(const std::string& text) {
    return 7.8 * static_cast<double>(
                     std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

/// Several pictures in one page need ids of their own: a hash (FNV-1a) of what the picture says.
std::string id_of(const std::string& title, const std::string& description) {
    std::uint32_t hash = 2166136261u;
    for (const char c : title + "\n" + description) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
    return "rp" + std::to_string(hash);
}

std::string head(const std::string& title, const std::string& description, int width, double height) {
    const std::string name = id_of(title, description);
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"rp\" viewBox=\"0 0 " + std::to_string(width) +
           " " + at(height) + "\" width=\"" + std::to_string(width) +
           "\" role=\"img\" style=\"max-width:100%;height:auto\" aria-labelledby=\"" + name + "t " + name +
           "d\">\n<title id=\"" + name + "t\">" + escaped(title) + "</title>\n<desc id=\"" + name + "d\">" +
           escaped(description) + "</desc>\n" + plot_style + "\n";
}

struct Tick {
    double place;  ///< in the axis's own measure: the value, or its logarithm
    std::string label;
};

/// From values to places on a line of pixels.
struct Axis {
    Scale scale = Scale::linear;
    double low = 0;
    double high = 1;
    double begin = 0;  ///< pixel of `low`
    double end = 1;    ///< pixel of `high`

    double measure(double value) const {
        if (scale == Scale::linear) return value;
        if (!(value > 0)) return std::numeric_limits<double>::quiet_NaN();
        return scale == Scale::log2 ? std::log2(value) : std::log10(value);
    }
    double pixel_of_measure(double m) const { return begin + (m - low) / (high - low) * (end - begin); }
    double pixel(double value) const { return pixel_of_measure(measure(value)); }

    /// Sets `low` and `high` so that all values that can be shown fit.
    void fit(const std::vector<Series>& series, std::vector<double> Series::*values) {
        low = HUGE_VAL;
        high = -HUGE_VAL;
        for (const Series& one : series) {
            for (const double value : one.*values) {
                const double m = measure(value);
                if (!std::isfinite(m)) continue;
                low = std::min(low, m);
                high = std::max(high, m);
            }
        }
        if (low > high) low = 0, high = 1;
        if (scale == Scale::linear && low > 0 && low < 0.4 * high) low = 0;  // show zero where it is near
        if (high - low <= 1e-12 * std::max(std::abs(low), std::abs(high))) low -= 0.5, high += 0.5;
    }

    std::vector<Tick> ticks(double pixels_between) const {
        const double wanted = std::max(1.0, std::abs(end - begin) / pixels_between);
        std::vector<Tick> all;
        if (scale != Scale::linear && high - low >= 1) {  // whole powers
            const double step = std::max(1.0, std::ceil((high - low) / wanted));
            for (double m = std::ceil(low - 1e-9); m <= high + 1e-9; m += step) {
                const int power = static_cast<int>(m);
                const bool small = power >= 0 && power <= (scale == Scale::log2 ? 9 : 3);
                all.push_back({m, small ? pretty(scale == Scale::log2 ? std::exp2(m) : std::pow(10, m))
                                        : (scale == Scale::log2 ? "2" : "10") + superscript(power)});
            }
            return all;
        }
        const auto value = [&](double m) {
            return scale == Scale::linear ? m : scale == Scale::log2 ? std::exp2(m) : std::pow(10, m);
        };
        const double first = value(low);
        const double last = value(high);
        const double raw = (last - first) / wanted;
        const double power = std::pow(10, std::floor(std::log10(raw)));
        const double step = raw <= power       ? power
                            : raw <= 2 * power ? 2 * power
                            : raw <= 5 * power ? 5 * power
                                               : 10 * power;
        for (double v = std::ceil(first / step - 1e-9) * step; v <= last + 1e-9 * step; v += step) {
            const double clean = std::abs(v) < 1e-9 * step ? 0 : v;
            all.push_back({measure(clean), pretty(clean)});
        }
        return all;
    }
};

/// A label at the end of a line, and the height it would like to have.
struct EndLabel {
    double y;
    std::size_t series;
};

}  // namespace

std::string LinePlot::svg() const {
    for (const Series& one : series) {
        if (one.x.size() == one.y.size()) continue;
        throw std::invalid_argument("LinePlot: series '" + one.label + "' has " +
                                    std::to_string(one.x.size()) + " x and " + std::to_string(one.y.size()) +
                                    " y");
    }
    double room = 16;  // for the labels to the right of the lines
    for (const Series& one : series) room = std::max(room, 24 + width_of(one.label));
    Axis x{x_scale, 0, 1, 64, width - std::min(room, width / 2.0)};
    Axis y{y_scale, 0, 1, height - 52.0, 60};
    x.fit(series, &Series::x);
    y.fit(series, &Series::y);

    std::string out = head(title, description, width, height);
    out += text_at(16, 26, "start", title, "title") + text_at(16, 46, "start", y_label, "soft");
    for (const Tick& tick : y.ticks(48)) {
        const double place = y.pixel_of_measure(tick.place);
        out += line_at(x.begin, place, x.end, place, "grid") +
               text_at(x.begin - 8, place + 4, "end", tick.label, "soft");
    }
    for (const Tick& tick : x.ticks(72)) {
        const double place = x.pixel_of_measure(tick.place);
        out += line_at(place, y.begin, place, y.begin + 5, "axis") +
               text_at(place, y.begin + 20, "middle", tick.label, "soft");
    }
    out += line_at(x.begin, y.begin, x.end, y.begin, "axis");
    out += text_at((x.begin + x.end) / 2, height - 12, "middle", x_label, "soft");

    std::vector<EndLabel> labels;
    for (std::size_t s = 0; s < series.size(); ++s) {
        const std::string number = std::to_string(s % styles);
        std::string path;
        std::string dots;
        double last = std::numeric_limits<double>::quiet_NaN();
        bool pen_down = false;
        for (std::size_t i = 0; i < series[s].x.size(); ++i) {
            const double px = x.pixel(series[s].x[i]);
            const double py = y.pixel(series[s].y[i]);
            if (!std::isfinite(px) || !std::isfinite(py)) {
                pen_down = false;
                continue;
            }
            path += (pen_down ? "L" : "M") + at(px) + " " + at(py);
            pen_down = true;
            last = py;
            if (series[s].x.size() <= 40) {  // points that can be told apart are shown
                dots += "<circle class=\"dot f" + number + "\" cx=\"" + at(px) + "\" cy=\"" + at(py) +
                        "\" r=\"3\"/>\n";
            }
        }
        if (!path.empty()) out += "<path class=\"line s" + number + "\" d=\"" + path + "\"/>\n" + dots;
        if (std::isfinite(last)) labels.push_back({last, s});
    }
    if (labels.empty())
        out += text_at((x.begin + x.end) / 2, (y.begin + y.end) / 2, "middle", "no data", "soft");

    // Names are next to the ends of their lines, pushed apart where they would overlap.
    std::sort(labels.begin(), labels.end(), [](const EndLabel& a, const EndLabel& b) { return a.y < b.y; });
    for (std::size_t i = 1; i < labels.size(); ++i) labels[i].y = std::max(labels[i].y, labels[i - 1].y + 17);
    for (std::size_t i = labels.size(); i-- > 0;) {
        const double below = i + 1 < labels.size() ? labels[i + 1].y - 17 : y.begin;
        labels[i].y = std::min(labels[i].y, below);
        const std::string kind = "f" + std::to_string(labels[i].series % styles);
        out += "<circle class=\"dot " + kind + "\" cx=\"" + at(x.end + 10) + "\" cy=\"" + at(labels[i].y) +
               "\" r=\"3.5\"/>\n" +
               text_at(x.end + 18, labels[i].y + 4, "start", series[labels[i].series].label);
    }
    return out + "</svg>\n";
}

std::string LadderChart::svg() const {
    constexpr double row = 30;
    constexpr double top = 62;
    double label_room = 40;
    double value_room = 40;
    double largest = limit;
    for (const Bar& bar : bars) {
        label_room = std::max(label_room, 24 + width_of(bar.label));
        value_room = std::max(value_room, 24 + width_of(pretty(bar.value) + " · " + bar.note));
        if (std::isfinite(bar.value)) largest = std::max(largest, bar.value);
    }
    label_room = std::min(label_room, width * 0.4);
    const Axis x{Scale::linear, 0, largest > 0 ? largest : 1, label_room,
                 width - std::min(value_room, width * 0.35)};
    const double bottom = top + row * static_cast<double>(bars.size());

    std::string out = head(title, description, width, bottom + 42);
    const std::string hatch = id_of(title, description) + "h";
    out += "<defs><pattern id=\"" + hatch +
           "\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
           "patternTransform=\"rotate(45)\"><rect class=\"f5\" width=\"3\" height=\"6\"/></pattern></defs>\n";
    out += text_at(16, 26, "start", title, "title");
    for (const Tick& tick : x.ticks(90)) {
        const double place = x.pixel_of_measure(tick.place);
        out += line_at(place, top - 4, place, bottom, "grid") +
               text_at(place, bottom + 18, "middle", tick.label, "soft");
    }
    out += text_at((x.begin + x.end) / 2, bottom + 36, "middle", unit, "soft");
    for (std::size_t i = 0; i < bars.size(); ++i) {
        const Bar& bar = bars[i];
        const double y = top + row * static_cast<double>(i);
        const bool shown = std::isfinite(bar.value) && bar.value > 0;
        const double end = shown ? x.pixel(bar.value) : x.begin;
        out += text_at(x.begin - 8, y + 16, "end", bar.label);
        if (shown) {
            out += "<rect x=\"" + at(x.begin) + "\" y=\"" + at(y + 2) + "\" width=\"" +
                   at(std::max(1.0, end - x.begin)) + "\" height=\"20\" rx=\"2\" " +
                   (bar.reference ? "fill=\"url(#" + hatch + ")\"" : "class=\"f0\"") + "/>\n";
        }
        const std::string note = bar.note.empty() ? "" : " · " + bar.note;
        out += text_at(x.end + 14, y + 16, "start", pretty(bar.value) + note);
    }
    out += line_at(x.begin, top - 4, x.begin, bottom, "axis");
    if (limit > 0) {
        const double place = x.pixel(limit);
        out += line_at(place, top - 8, place, bottom, "limit") +
               text_at(place, top - 12, "end", limit_label, "soft");
    }
    return out + "</svg>\n";
}

std::string on_ground(std::string svg) {
    const std::string ground =
        "<style>.bg{fill:#ffffff}@media(prefers-color-scheme:dark){.bg{fill:#0d1117}}</style>"
        "<rect class=\"bg\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n";
    const std::string mark = "</style>";
    return svg.insert(svg.find(mark) + mark.size(), ground);
}

}  // namespace rungs
