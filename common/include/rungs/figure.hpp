#pragma once
// What the pictures of all lessons have in common: the ground they stand on, boxes with words, and the ladder
// as it was measured.

#include <filesystem>
#include <sstream>
#include <string>

#include "rungs/svg.hpp"

namespace rungs {

/// A picture in the making. Coordinates are pixels from the top left; a kind is a class of
/// the picture's style.
class Drawing {
  public:
    /// @param width,height  pixels
    /// @param title  stands in the picture
    /// @param description  what the picture shows, for readers who do not see it
    /// @param style  an SVG style element, for both themes; its class `bg` is the ground
    /// @param rounding  radius of a box's corners
    Drawing(double width, double height, const std::string& title, const std::string& description,
            const std::string& style, int rounding = 3);

    void text(double x, double y, const std::string& words, const std::string& kind = "");
    void box(double x, double y, double width, double height, const std::string& kind);
    /// A box with a word in it: white on the strong kinds (on, warm, done, red, black), soft on all others.
    void cell(double x, double y, double width, double height, const std::string& kind,
              const std::string& word = "");
    void line(double x1, double y1, double x2, double y2, const std::string& kind = "edge");
    std::string svg() const { return out_.str() + "</svg>\n"; }

  protected:
    std::ostringstream out_;

  private:
    int rounding_;
};

/// The ladder as it was measured. The first line of the file is the title, with machine and case; each
/// further line is NAME,SPEED for a rung, NAME,SPEED,library for something to compare with, or
/// NAME,SPEED,roof for the limit. @throws std::runtime_error with file and line for anything else
LadderChart read_ladder(const std::filesystem::path& file, const std::string& description,
                        const std::string& unit);

/// The main() of a lesson's pictures: calls draw(folder) with the existing folder that the
/// command line names.
/// @returns the program's exit status: 2 for wrong use, 1 for an exception
int draw_figures(int count, char** words, void (*draw)(const std::filesystem::path& folder));

}  // namespace rungs
