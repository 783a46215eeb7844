#pragma once
// What the pictures of all lessons have in common: one style, boxes with words, and the ladder
// as it was measured.

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "rungs/svg.hpp"

namespace rungs {

/// A picture in the making. Coordinates are pixels from the top left; a kind is one or more classes of the
/// style, which has both themes:
/// - boxes: on (works), off (idle, or not there), warm (in vain, wrong, or foreign), done (result),
///   pale (second rank), red and black (the two colours), frame;
/// - lines: edge, also with warm or off, and rule;
/// - words: title, soft (second rank), small, white, code, and mid or end for their anchor.
class Drawing {
  public:
    /// @param width,height  pixels
    /// @param title  of the picture, in it
    /// @param description  what the picture shows, for readers who do not see it
    /// @param classes  rules that this picture adds to the style
    Drawing(double width, double height, const std::string& title, const std::string& description,
            const std::string& classes = "");

    void text(double x, double y, const std::string& words, const std::string& kind = "");
    void box(double x, double y, double width, double height, const std::string& kind);
    /// A box with a word in it: white on the strong kinds (on, warm, done, red, black), soft on all others.
    void cell(double x, double y, double width, double height, const std::string& kind,
              const std::string& word = "");
    void line(double x1, double y1, double x2, double y2, const std::string& kind = "edge");
    std::string svg() const { return out_.str() + "</svg>\n"; }

  protected:
    std::ostringstream out_;
};

/// A picture of a lesson.
struct Figure {
    const char* file;       ///< its name in the lesson's folder
    std::string (*draw)();  ///< what it holds
};

/// The ladder as it was measured, drawn from a file measured.csv. Its first line is the title, with machine
/// and case; each further line is NAME,SPEED for a rung, NAME,SPEED,library for something to compare with, or
/// NAME,SPEED,roof for the limit.
struct LadderFigure {
    const char* file;         ///< its name in the lesson's folder
    const char* description;  ///< what the chart shows, in a sentence
    const char* unit;         ///< of the speeds
};

/// The main() of a lesson's pictures: draws them into the existing folder that the command line names.
/// @param count,words  of main()
/// @param figures  the pictures that need nothing but their code
/// @param ladder  drawn if the folder has a file measured.csv
/// @param more  draws what else there is into the folder
/// @returns the program's exit status: 2 for wrong use, 1 for an exception
int draw_figures(int count, char** words, const std::vector<Figure>& figures, const LadderFigure& ladder,
                 void (*more)(const std::filesystem::path& folder) = nullptr);

}  // namespace rungs
