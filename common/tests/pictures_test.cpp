// PNG and SVG: decoded again, measured for even colours, and checked for what screen readers
// and parsers need.

#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "rungs/catch.hpp"
#include "rungs/image.hpp"
#include "rungs/random.hpp"
#include "rungs/svg.hpp"
#include "rungs/temporary_folder.hpp"

#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_PNG
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb/stb_image.h>
#pragma GCC diagnostic pop

using namespace rungs;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr double nan_d = std::numeric_limits<double>::quiet_NaN();
constexpr double unbounded = std::numeric_limits<double>::infinity();

struct Decoded {
    int width = 0;
    int height = 0;
    std::vector<Rgb> pixels;
};

Decoded decode(const std::filesystem::path& path) {
    Decoded image;
    int channels = 0;
    unsigned char* data = stbi_load(path.c_str(), &image.width, &image.height, &channels, 3);
    REQUIRE(data != nullptr);
    CHECK(channels == 3);
    for (int i = 0; i < image.width * image.height; ++i) {
        image.pixels.push_back({data[3 * i], data[3 * i + 1], data[3 * i + 2]});
    }
    stbi_image_free(data);
    return image;
}

struct Lab {
    double lightness, a, b;
};

/// sRGB to OKLab: the way back from what image.cpp does.
Lab lab(Rgb c) {
    const auto linear = [](std::uint8_t v) {
        const double x = v / 255.0;
        return x <= 0.04045 ? x / 12.92 : std::pow((x + 0.055) / 1.055, 2.4);
    };
    const double r = linear(c.r), g = linear(c.g), b = linear(c.b);
    const double l = std::cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
    const double m = std::cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
    const double s = std::cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
    return {0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
            1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
            0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s};
}

/// The shortest and longest of the steps between colours `step` places apart, among colours `begin` to `end`.
std::pair<double, double> steps(ColourMap map, int step, int begin, int end) {
    double shortest = 1e9, longest = 0;
    for (int i = begin; i + step <= end; ++i) {
        const Lab p = lab(colour_of(map, i / 255.0)), q = lab(colour_of(map, (i + step) / 255.0));
        const double d = std::hypot(p.lightness - q.lightness, p.a - q.a, p.b - q.b);
        shortest = std::min(shortest, d);
        longest = std::max(longest, d);
    }
    return {shortest, longest};
}

/// How often `part` occurs.
std::size_t count(const std::string& text, const std::string& part) {
    std::size_t n = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
    return n;
}

/// Tags are nested and closed, attributes are quoted, entities are known. Enough to catch what a
/// writer gets wrong.
bool well_formed(const std::string& xml) {
    std::vector<std::string> open;
    for (std::size_t i = 0; i < xml.size(); ++i) {
        if (xml[i] == '&') {
            const std::string entity = xml.substr(i, xml.find(';', i) - i + 1);
            if (entity != "&amp;" && entity != "&lt;" && entity != "&gt;" && entity != "&quot;") return false;
        }
        if (xml[i] == '>') return false;  // every tag's own is skipped below
        if (xml[i] != '<') continue;
        const std::size_t end = xml.find('>', i);
        if (end == std::string::npos) return false;
        const std::string tag = xml.substr(i + 1, end - i - 1);
        if (tag.find('<') != std::string::npos || std::count(tag.begin(), tag.end(), '"') % 2 != 0)
            return false;
        const std::string name = tag.substr(0, tag.find_first_of(" /", 1));
        if (tag[0] == '/') {
            if (open.empty() || "/" + open.back() != tag) return false;
            open.pop_back();
        } else if (tag.back() != '/') {
            open.push_back(name);
        }
        i = end;
    }
    return open.empty();
}

void check_svg(const std::string& svg) {
    CHECK(well_formed(svg));
    CHECK_THAT(svg, ContainsSubstring("role=\"img\""));
    CHECK(count(svg, "<title") == 1);
    CHECK(count(svg, "<desc") == 1);
    CHECK_THAT(svg, ContainsSubstring("prefers-color-scheme:dark"));
    for (const char* bad : {"nan", "inf\"", "http://", "https://", "<script", "\"-nan"}) {
        CAPTURE(bad);
        CHECK(count(svg, bad) == (std::string(bad) == "http://" ? 1 : 0));  // the one is the name space
    }
    // A stricter judge where there is one.
    if (std::system("command -v xmllint >/dev/null 2>&1") == 0) {
        const rungs::TemporaryFolder folder;
        write_file(folder / "a.svg", svg);
        CHECK(std::system(("xmllint --noout '" + (folder / "a.svg").string() + "'").c_str()) == 0);
    }
}

LinePlot example() {
    LinePlot plot;
    plot.title = "Bandwidth";
    plot.description = "Two rungs over size";
    plot.x_label = "elements";
    plot.y_label = "GB/s";
    plot.x_scale = Scale::log2;
    plot.series = {{"naive", {1024, 2048, 4096}, {10, 20, 30}}, {"tiled", {1024, 2048, 4096}, {20, 40, 60}}};
    return plot;
}

}  // namespace

TEST_CASE("an animation holds every frame", "[common][image]") {
    const std::size_t width = 5, height = 3;
    const rungs::TemporaryFolder folder;
    Animation animation(width, height);
    CHECK_THROWS_AS(animation.write(folder / "none.png"), std::invalid_argument);
    std::vector<std::vector<Rgb>> frames;
    for (std::uint8_t f = 0; f < 3; ++f) {
        frames.emplace_back();
        for (std::uint8_t i = 0; i < width * height; ++i)
            frames.back().push_back({i, f, static_cast<std::uint8_t>(7 * i)});
        animation.add(frames.back(), 40);
    }
    CHECK_THROWS_AS(animation.add(std::vector<Rgb>(4), 40), std::invalid_argument);
    CHECK_THROWS_AS(Animation(0, 3), std::invalid_argument);
    CHECK(animation.frames() == 3);
    animation.write(folder / "all.png");
    CHECK(decode(folder / "all.png").pixels == frames[0]);  // what a reader of plain PNG sees

    // Taken apart: in order of the file, with sequence numbers from 0, and each frame a PNG of its own.
    const std::string file = read_file(folder / "all.png");
    const auto number = [&](std::size_t at) {
        std::size_t value = 0;
        for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(file[at + i]);
        return value;
    };
    std::string types;
    std::size_t sequence = 0, shown = 0;
    for (std::size_t at = 8; at < file.size(); at += 12 + number(at)) {
        const std::string type = file.substr(at + 4, 4);
        types += type + ' ';
        if (type == "acTL") CHECK(number(at + 8) == 3);
        if (type == "fcTL" || type == "fdAT") CHECK(number(at + 8) == sequence++);
        if (type != "fdAT") continue;
        // The data are a zlib stream: stb can read it.
        int size = 0;
        char* raw = stbi_zlib_decode_malloc(file.data() + at + 12, static_cast<int>(number(at) - 4), &size);
        REQUIRE(raw != nullptr);
        CHECK(size == static_cast<int>(height * (1 + 3 * width)));
        stbi_image_free(raw);
        ++shown;
    }
    CHECK(types == "IHDR acTL fcTL IDAT fcTL fdAT fcTL fdAT IEND ");
    CHECK(shown == 2);
}

TEST_CASE("colour maps go in even steps", "[common][image]") {
    struct Part {
        ColourMap map;
        int begin, end;  // white, in the middle of the symmetric map, is a corner that a chord would cut
    };
    for (const Part& part : {Part{ColourMap::sequential, 0, 255}, Part{ColourMap::symmetric, 0, 127},
                             Part{ColourMap::symmetric, 128, 255}}) {
        const auto [shortest, longest] = steps(part.map, 24, part.begin, part.end);
        CAPTURE(part.begin, shortest, longest);
        CHECK(longest / shortest < 1.06);
        const auto [least, most] = steps(part.map, 1, part.begin, part.end);
        CHECK(least > 0);
        CHECK(most < 0.016);  // about what an eye can tell apart side by side
    }
}

TEST_CASE("lightness alone tells the order", "[common][image]") {
    double before = -1;
    for (int i = 0; i < 256; i += 3) {
        const double lightness = lab(colour_of(ColourMap::sequential, i / 255.0)).lightness;
        CHECK(lightness > before);
        before = lightness;
    }
    for (int i = 0; i < 127; ++i) {
        const double left = lab(colour_of(ColourMap::symmetric, i / 255.0)).lightness;
        const double right = lab(colour_of(ColourMap::symmetric, 1 - i / 255.0)).lightness;
        CHECK(std::abs(left - right) < 0.01);
        if (i >= 3) CHECK(left > lab(colour_of(ColourMap::symmetric, (i - 3) / 255.0)).lightness);
    }
    const Rgb middle = colour_of(ColourMap::symmetric, 0.5);
    CHECK(std::min({middle.r, middle.g, middle.b}) > 235);
}

TEST_CASE("values outside the range take the ends, NaN a colour of its own", "[common][image]") {
    for (const ColourMap map : {ColourMap::sequential, ColourMap::symmetric}) {
        CHECK(colour_of(map, -1) == colour_of(map, 0));
        CHECK(colour_of(map, -unbounded) == colour_of(map, 0));
        CHECK(colour_of(map, 2) == colour_of(map, 1));
        CHECK(colour_of(map, unbounded) == colour_of(map, 1));
        for (int i = 0; i < 256; ++i) CHECK_FALSE(colour_of(map, i / 255.0) == colour_of(map, nan_d));
    }
}

TEST_CASE("a PNG decodes to the pixels that were written", "[common][image]") {
    const rungs::TemporaryFolder folder;
    for (const auto& [width, height] :
         std::vector<std::pair<std::size_t, std::size_t>>{{1, 1}, {1, 7}, {7, 1}, {64, 48}, {301, 211}}) {
        std::vector<std::uint32_t> words(width * height);
        random_words(words, width);
        std::vector<Rgb> pixels;
        for (const std::uint32_t w : words)
            pixels.push_back({std::uint8_t(w), std::uint8_t(w >> 8), std::uint8_t(w >> 16)});
        write_png(folder / "a.png", pixels, width, height);
        const Decoded image = decode(folder / "a.png");
        CHECK(image.width == static_cast<int>(width));
        CHECK(image.height == static_cast<int>(height));
        CHECK(image.pixels == pixels);
    }
}

TEST_CASE("a field is drawn in its own range, row by row", "[common][image]") {
    const rungs::TemporaryFolder folder;
    const std::vector<float> field = {-2, 0, 1, 4, nan_d, 2};
    const std::span<const float> view(field);
    write_field_png(folder / "a.png", view, 3, 2, {ColourMap::sequential, {}, 2});
    const Decoded image = decode(folder / "a.png");
    REQUIRE(image.width == 6);
    REQUIRE(image.height == 4);
    const auto pixel = [&](int row, int col) {
        return image.pixels[static_cast<std::size_t>(6 * row + col)];
    };
    CHECK(pixel(0, 0) == colour_of(ColourMap::sequential, 0));
    CHECK(pixel(1, 1) == pixel(0, 0));
    CHECK(pixel(0, 4) == colour_of(ColourMap::sequential, 0.5));
    CHECK(pixel(2, 0) == colour_of(ColourMap::sequential, 1));
    CHECK(pixel(3, 3) == colour_of(ColourMap::sequential, nan_d));

    const auto symmetric = draw_field(view, 3, 2, {ColourMap::symmetric, {}, 1, true});
    CHECK(symmetric[0] == colour_of(ColourMap::symmetric, 1));  // first row at the bottom
    CHECK(symmetric[4] == colour_of(ColourMap::symmetric, 0.5));
    CHECK(symmetric[3] == colour_of(ColourMap::symmetric, 0.25));
    CHECK(draw_field(view, 3, 2, {ColourMap::sequential, ValueRange{0, 2}})[2] ==
          colour_of(ColourMap::sequential, 0.5));
    const std::vector<double> flat(4, 3.0);
    CHECK(draw_field(std::span<const double>(flat), 2, 2)[3] == colour_of(ColourMap::sequential, 0.5));
    const std::vector<double> none(4, nan_d);
    CHECK(draw_field(std::span<const double>(none), 2, 2)[3] == colour_of(ColourMap::sequential, nan_d));
    const std::vector<double> infinite = {-unbounded, unbounded, 0, 1};
    CHECK(draw_field(std::span<const double>(infinite), 2, 2)[0] == colour_of(ColourMap::sequential, 0));
    CHECK(draw_field(std::span<const double>(infinite), 2, 2)[1] == colour_of(ColourMap::sequential, 1));
}

TEST_CASE("impossible pictures are refused", "[common][image]") {
    const std::vector<Rgb> pixels(6);
    CHECK_THROWS_AS(write_png("/dev/null", pixels, 3, 3), std::invalid_argument);
    CHECK_THROWS_AS(write_png("/dev/null", {}, 0, 0), std::invalid_argument);
    CHECK_THROWS_AS(write_png("/dev/full", pixels, 3, 2), FileError);
    const std::vector<float> field(6);
    CHECK_THROWS_AS(draw_field(std::span<const float>(field), 4, 2), std::invalid_argument);
    CHECK_THROWS_AS(draw_field(std::span<const float>(field), 3, 2, {ColourMap::sequential, {}, 0}),
                    std::invalid_argument);
}

TEST_CASE("a line plot has its lines, names, ticks and texts", "[common][svg]") {
    const std::string svg = example().svg();
    check_svg(svg);
    CHECK(count(svg, "class=\"line s") == 2);
    CHECK(count(svg, "class=\"dot f") == 2 * 4);  // three points and the mark beside the name
    for (const char* text : {">Bandwidth</title>", ">Two rungs over size</desc>", ">naive<", ">tiled<",
                             ">elements<", ">GB/s<", ">2¹⁰<", ">2¹²<", ">0<", ">60<"}) {
        CHECK_THAT(svg, ContainsSubstring(text));
    }
}

TEST_CASE("plots survive what data can be", "[common][svg]") {
    const Scale scale = GENERATE(Scale::linear, Scale::log2, Scale::log10);
    for (const std::vector<double>& y : {std::vector<double>{},
                                         {1},
                                         {0, 0, 0},
                                         {-1, 0, 1},
                                         {1, nan_d, 3},
                                         {unbounded, 1, -unbounded},
                                         {1e-300, 1, 1e300},
                                         {5, 5, 5},
                                         {nan_d, nan_d},
                                         {1e-12, 2e-12},
                                         {0.1, 0.2, 0.30000001}}) {
        LinePlot plot = example();
        std::vector<double> x;
        for (std::size_t i = 0; i < y.size(); ++i) x.push_back(static_cast<double>(i));
        plot.series = {{"one", x, y}};
        plot.x_scale = plot.y_scale = scale;
        const std::string svg = plot.svg();
        CHECK(well_formed(svg));
        CHECK(count(svg, "nan") == 0);
        CHECK(svg.size() < 20'000);
    }
    LinePlot empty = example();
    empty.series.clear();
    check_svg(empty.svg());
    CHECK_THAT(empty.svg(), ContainsSubstring("no data"));
}

TEST_CASE("points that cannot be shown interrupt a line", "[common][svg]") {
    LinePlot plot = example();
    plot.series = {{"one", {1, 2, 4, 8, 16}, {1, 2, nan_d, 3, 4}}};
    const std::string svg = plot.svg();
    const std::string path = svg.substr(svg.find("class=\"line s0\""), 200);
    CHECK(count(path.substr(0, path.find("/>")), "M") == 2);
}

TEST_CASE("names of lines that end together do not overlap", "[common][svg]") {
    LinePlot plot = example();
    plot.series.clear();
    for (int i = 0; i < 8; ++i) plot.series.push_back({"line " + std::to_string(i), {1, 2}, {1, 5}});
    const std::string svg = plot.svg();
    std::vector<double> heights;
    for (int i = 0; i < 8; ++i) {
        const std::size_t text = svg.find(">line " + std::to_string(i) + "<");
        const std::size_t y = svg.rfind(" y=\"", text);
        heights.push_back(std::stod(svg.substr(y + 4)));
    }
    std::sort(heights.begin(), heights.end());
    for (std::size_t i = 1; i < heights.size(); ++i) CHECK(heights[i] - heights[i - 1] >= 16.9);
    CHECK(heights.front() > 20);
    CHECK(heights.back() < plot.height);
}

TEST_CASE("texts are escaped", "[common][svg]") {
    LinePlot plot = example();
    plot.title = "a<b> & \"c\" \x01 é";
    plot.series[0].label = "<script>alert(1)</script>";
    check_svg(plot.svg());
    CHECK_THAT(plot.svg(), ContainsSubstring("a&lt;b&gt; &amp; &quot;c&quot;  é"));
}

TEST_CASE("different lengths are refused", "[common][svg]") {
    LinePlot plot = example();
    plot.series[1].y.pop_back();
    CHECK_THROWS_AS(plot.svg(), std::invalid_argument);
}

TEST_CASE("a ladder chart has a bar for each measured rung", "[common][svg]") {
    LadderChart chart;
    chart.title = "The ladder";
    chart.description = "Bandwidth of each rung";
    chart.unit = "GB/s";
    chart.bars = {{"01 atomic", 12.3, "0.3 %"},
                  {"02 tree", 1900},
                  {"03 next", nan_d, "wrong"},
                  {"CUB", 4210, "88 %", true}};
    chart.limit = 4800;
    chart.limit_label = "peak 4800";
    const std::string svg = chart.svg();
    check_svg(svg);
    CHECK(count(svg, "class=\"f0\"") == 2);
    CHECK(count(svg, "fill=\"url(#") == 1);
    for (const char* text :
         {">01 atomic<", ">12.3 · 0.3 %<", ">1900<", ">– · wrong<", ">peak 4800<", ">GB/s<"}) {
        CHECK_THAT(svg, ContainsSubstring(text));
    }
    chart.bars.clear();
    chart.limit = 0;
    check_svg(chart.svg());
    chart.bars = {{"zero", 0}, {"negative", -5}, {"infinite", unbounded}};
    check_svg(chart.svg());
}
