#pragma once
// Names of files as students, platforms, browsers and the workbook give them. No regular expressions:
// std::regex needs stack in proportion to a name that a student may have chosen.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rungs::classroom {

/// Whether all of it, and at least one character, is a digit.
bool is_number(std::string_view text);

/// "03_shared_tree", "03_shared_tree.cu": what begins as chapters and rungs do.
bool begins_like_a_rung(std::string_view name);

/// "03_shared_tree.cu", "07_traffic.toml": what a rung's file can be called.
bool is_rung_file(std::string_view name);

/// "03_shared_tree.cu.bak-1", "07_traffic.toml.new": what `reset` and `update` of the workbook put beside a
/// rung.
bool is_put_beside(std::string_view name);

/// "hw.tar-1.gz" and "hw.tar (1).gz", as Canvas and browsers call a second one, as "hw.tar.gz".
std::string without_copy_number(const std::string& name);

/// Whether `name` is `original` with what browsers and file managers add to a copy: "hw", "hw (1)", "hw-2",
/// "hw - Copy".
bool is_copy_of(std::string_view name, std::string_view original);

// ------------------------------------------------------------------------------- Gradescope

/// `submission_123`: a hand-in's folder in an export.
bool is_gradescope_submission(std::string_view name);

/// `assignment_123_export`: the folder of an export.
bool is_gradescope_export(std::string_view name);

/// What an archive of it is called, without its ending: `assignment_123_export`, perhaps with more behind.
bool is_gradescope_download(std::string_view name);

// ----------------------------------------------------------------------------------- Canvas

/// What an archive of a class is called, without its ending: `submissions`, perhaps with more behind.
bool is_canvas_download(std::string_view name);

/// `lovelaceada_LATE_12345_67890_03_shared_tree-1.cu`: the student or the group, late, the student's number,
/// the file's number, its name. LATE_ may come first instead. `anon_x7Kq_67890_03_shared_tree.cu`: of a
/// student without a name, whose number is `anon_x7Kq`.
struct CanvasName {
    std::string who, number, file;
    bool late = false;
};

/// The ways to read a name as Canvas's, of which only the first may be one where names have no underscore.
/// Canvas writes no `_12_` into what a student or a group is called, but `_12` may be at its end.
std::vector<CanvasName> canvas_readings(std::string_view name);

/// "a.cu" for "a-1.cu", as Canvas calls a file that was handed in again; else the name itself.
std::string without_count(const std::string& file);

// ----------------------------------------------------------------------------------- Moodle

/// What an archive of a class is called, without its ending: `COURSE-ASSIGNMENT-123`, perhaps with a
/// browser's ` (1)` behind.
bool is_moodle_download(std::string_view name);

/// `Ada Lovelace_12345_assignsubmission_file_`: a folder, or what a file's name begins with. A group's name
/// and a hyphen may be before it.
struct MoodleName {
    std::string who, number, file;
    bool typed = false;  ///< a text that was typed into Moodle
};
std::optional<MoodleName> moodle_name(std::string_view name);

}  // namespace rungs::classroom
