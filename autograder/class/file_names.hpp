#pragma once
// Names of files as platforms give them to what students hand in. No regular expressions: std::regex needs
// stack in proportion to a name that a student may have chosen.

#include <optional>
#include <string>
#include <string_view>

namespace rungs::classroom {

/// Whether all of it, and at least one character, is a digit.
bool is_number(std::string_view text);

/// "03_shared_tree", "03_shared_tree.cu": what begins as chapters and rungs do.
bool begins_like_a_rung(std::string_view name);

/// `lovelaceada_LATE_12345_67890_03_shared_tree-1.cu`: who, late, the student's number, the file's number,
/// its name.
struct CanvasName {
    std::string who, number, file;
    bool late = false;
};
std::optional<CanvasName> canvas_name(const std::string& name);

/// "a.cu" for "a-1.cu", as Canvas calls a file that was handed in again; else the name itself.
std::string without_count(const std::string& file);

/// `Ada Lovelace_12345_assignsubmission_file_`: a folder, or what a file's name begins with.
struct MoodleName {
    std::string who, number, file;
    bool typed = false;  ///< a text that was typed into Moodle
};
std::optional<MoodleName> moodle_name(const std::string& name);

}  // namespace rungs::classroom
