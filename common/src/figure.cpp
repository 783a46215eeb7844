#include "rungs/figure.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <stdexcept>

#include "rungs/atomic_file.hpp"

namespace rungs {

Drawing::Drawing(double width, double height, const std::string& title, const std::string& description,
                 const std::string& style, int rounding)
    : rounding_(rounding) {
    const double shown = std::min(width, 840.0);  // as wide as a page of text
    out_ << "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"fig\" viewBox=\"0 0 " << width << ' ' << height
         << "\" width=\"" << shown << "\" height=\"" << std::round(height * shown / width)
         << "\" role=\"img\" aria-label=\"" << title << ": " << description << "\">\n"
         << style << "<rect class=\"bg\" width=\"" << width << "\" height=\"" << height << "\" rx=\"6\"/>\n";
    text(20, 28, title, "title");
}

void Drawing::text(double x, double y, const std::string& words, const std::string& kind) {
    out_ << "<text x=\"" << x << "\" y=\"" << y << "\" class=\"" << kind << "\">" << words << "</text>\n";
}

void Drawing::box(double x, double y, double width, double height, const std::string& kind) {
    out_ << "<rect x=\"" << x << "\" y=\"" << y << "\" width=\"" << width << "\" height=\"" << height
         << "\" rx=\"" << rounding_ << "\" class=\"" << kind << "\"/>\n";
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

LadderChart read_ladder(const std::filesystem::path& file, const std::string& description,
                        const std::string& unit) {
    std::istringstream lines(read_file(file));
    LadderChart chart;
    std::getline(lines, chart.title);
    chart.description = description;
    chart.unit = unit;
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

int draw_figures(int count, char** words, void (*draw)(const std::filesystem::path& folder)) try {
    if (count != 2 || !std::filesystem::is_directory(words[1])) {
        std::fprintf(stderr, "usage: %s FOLDER   (an existing folder for the pictures)\n", words[0]);
        return 2;
    }
    draw(words[1]);
    return 0;
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}

}  // namespace rungs
