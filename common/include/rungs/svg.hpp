#pragma once
// Diagrams as SVG text: line plots and ladder charts that follow the reader's light or dark theme, stay
// readable without colour (every line has its dashes and its name beside it), and tell screen readers what
// they show. Write one with rungs::write_file(path, rungs::on_ground(plot.svg())), or put the text into an
// HTML page: styles and ids are its own.

#include <string>
#include <vector>

namespace rungs {

/// How an axis is divided.
enum class Scale {
    linear,
    log2,   ///< ticks at powers of two: sizes
    log10,  ///< ticks at powers of ten: errors, times
};

/// One line of a plot. Points that cannot be shown (NaN, or not positive on a logarithmic axis)
/// interrupt the line.
struct Series {
    std::string label;
    std::vector<double> x;
    std::vector<double> y;  ///< as many as x
};

/// Lines over a common axis.
struct LinePlot {
    std::string title;
    std::string description;  ///< what the picture shows, in a sentence, for readers who do not see it
    std::string x_label;
    std::string y_label;
    Scale x_scale = Scale::linear;
    Scale y_scale = Scale::linear;
    std::vector<Series> series;
    int width = 760;   ///< pixels at normal size; the picture scales
    int height = 420;  ///< pixels

    /// @throws std::invalid_argument when a series has not as many x as y.
    std::string svg() const;
};

/// One bar of a ladder chart.
struct Bar {
    std::string label;
    double value = 0;        ///< NaN: not measured
    std::string note = {};   ///< after the value, for example "41 % of peak" or "wrong"
    bool reference = false;  ///< drawn hatched: something to compare with, such as a library
};

/// Rungs of a ladder, one bar below the other.
struct LadderChart {
    std::string title;
    std::string description;
    std::string unit;       ///< "GB/s"
    std::vector<Bar> bars;  ///< from the first rung to the last
    double limit = 0;       ///< a line at this value, such as the peak of the hardware; 0: none
    std::string limit_label = {};
    int width = 760;

    std::string svg() const;
};

/// A picture for a file of its own: on a ground, light or dark as its colours are. Without one, a viewer's
/// white shows behind colours meant for the dark. A page has its own ground.
/// @param svg  one with a style element, as the plots here have
std::string on_ground(std::string svg);

}  // namespace rungs
