#include "rungs/figure.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <stdexcept>

#include "rungs/atomic_file.hpp"

namespace rungs {
namespace {

constexpr const char* figure_style =
    ".fig{font:13px system-ui,sans-serif}.fig text{fill:#1f2328}.fig .soft{fill:#59636e}"
    ".fig .title{font-size:16px;font-weight:600}.fig .small{font-size:11px}.fig .mid{text-anchor:middle}"
    ".fig .end{text-anchor:end}.fig .code{font-family:ui-monospace,monospace}.bg{fill:#ffffff}"
    ".fig rect.on{fill:#1769aa}.fig rect.off{fill:none;stroke:#b7c0c9}.fig rect.warm{fill:#b8470f}"
    ".fig .done{fill:#277a48}.fig rect.pale{fill:#dbeaf7}.fig rect.red{fill:#c8372d}"
    ".fig rect.black{fill:#3d444d}.fig rect.frame{fill:none;stroke:#1769aa}.fig text.white{fill:#ffffff}"
    ".fig .edge{stroke:#1769aa;fill:none;stroke-width:1.5}.fig .edge.warm{stroke:#b8470f;stroke-width:2}"
    ".fig .edge.off{stroke:#b7c0c9}.fig .rule{stroke:#b7c0c9;fill:none}"
    "@media(prefers-color-scheme:dark){.fig text{fill:#f0f6fc}.fig .soft{fill:#9198a1}.bg{fill:#0d1117}"
    ".fig rect.on{fill:#6cb6f5}.fig rect.off{stroke:#59636e}.fig rect.warm{fill:#ff9b6a}"
    ".fig .done{fill:#67cf8d}.fig rect.pale{fill:#1b3247}.fig rect.red{fill:#e5645c}"
    ".fig rect.black{fill:#8b949e}.fig rect.frame{stroke:#6cb6f5}.fig text.white{fill:#0d1117}"
    ".fig .edge{stroke:#6cb6f5}.fig .edge.warm{stroke:#ff9b6a}.fig .edge.off,.fig .rule{stroke:#59636e}}";

/// @throws std::runtime_error with file and line for what cannot be read
LadderChart read_ladder(const std::filesystem::path& file, const LadderFigure& ladder) {
    std::istringstream lines(read_file(file));
    LadderChart chart;
    std::getline(lines, chart.title);
    chart.description = ladder.description;
    chart.unit = ladder.unit;
    for (std::string line; std::getline(lines, line);) {
        std::istringstream cells(line);
        std::string name, speed, what;
        std::getline(cells, name, ',');
        std::getline(cells, speed, ',');
        std::getline(cells, what);
        double value = 0;
        if (std::sscanf(speed.c_str(), "%lf", &value) != 1) {
            throw std::runtime_error(file.string() + ": '" + line + "' is not NAME,SPEED or NAME,SPEED,KIND");
        }
        if (what == "roof") {
            chart.limit = value;
            chart.limit_label = name;
        } else {
            chart.bars.push_back({name, value, "", what == "library"});
        }
    }
    return chart;
}

}  // namespace

Drawing::Drawing(double width, double height, const std::string& title, const std::string& description,
                 const std::string& classes) {
    const double shown = std::min(width, 840.0);  // as wide as a page of text
    out_ << "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"fig\" viewBox=\"0 0 " << width << ' ' << height
         << "\" width=\"" << shown << "\" height=\"" << std::round(height * shown / width)
         << "\" role=\"img\" aria-label=\"" << title << ": " << description << "\">\n<style>" << figure_style
         << classes << "</style>\n<rect class=\"bg\" width=\"" << width << "\" height=\"" << height
         << "\" rx=\"6\"/>\n";
    text(20, 28, title, "title");
}

void Drawing::text(double x, double y, const std::string& words, const std::string& kind) {
    out_ << "<text x=\"" << x << "\" y=\"" << y << "\" class=\"" << kind << "\">" << words << "</text>\n";
}

void Drawing::box(double x, double y, double width, double height, const std::string& kind) {
    out_ << "<rect x=\"" << x << "\" y=\"" << y << "\" width=\"" << width << "\" height=\"" << height
         << "\" rx=\"2\" class=\"" << kind << "\"/>\n";
}

void Drawing::cell(double x, double y, double width, double height, const std::string& kind,
                   const std::string& word) {
    box(x, y, width, height, kind);
    if (word.empty()) return;
    const bool strong = kind == "on" || kind == "warm" || kind == "done" || kind == "red" || kind == "black";
    text(x + width / 2, y + height / 2 + 4, word, strong ? "mid small white" : "mid small soft");
}

void Drawing::line(double x1, double y1, double x2, double y2, const std::string& kind) {
    out_ << "<path d=\"M" << x1 << ' ' << y1 << 'L' << x2 << ' ' << y2 << "\" class=\"" << kind << "\"/>\n";
}

int draw_figures(int count, char** words, const std::vector<Figure>& figures, const LadderFigure& ladder,
                 void (*more)(const std::filesystem::path& folder)) try {
    if (count != 2 || !std::filesystem::is_directory(words[1])) {
        std::fprintf(stderr, "usage: %s FOLDER   (an existing folder for the pictures)\n", words[0]);
        return 2;
    }
    const std::filesystem::path folder = words[1], measured = folder / "measured.csv";
    for (const Figure& figure : figures) write_file(folder / figure.file, figure.draw());
    if (more) more(folder);
    if (std::filesystem::exists(measured))
        write_file(folder / ladder.file, on_ground(read_ladder(measured, ladder).svg()));
    return 0;
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}

}  // namespace rungs
