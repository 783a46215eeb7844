#pragma once
// What a class handed in, from a folder or an archive as instructors get them: a folder or an archive for
// each student, or the downloads of Gradescope, Canvas and Moodle; or from a git repository for each student.
// Only rung files are taken, and put where nobody but the instructor writes.

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "class/assignment.hpp"

namespace rungs::classroom {

/// A file that is perhaps meant as a rung, and lies under another name.
struct LookAlike {
    std::string rung;  ///< "01_reduction/03_shared_tree.cu"
    std::string name;  ///< as it was handed in: "03_shared_tree (1).cu"
    std::filesystem::path
        file;  ///< its bytes, in `work`; empty: they were not read, as of an archive in an archive
};

/// A hand-in, as it came.
struct HandIn {
    std::string key;                 ///< what the platform or the folder calls the student
    std::string name, email, login;  ///< as far as the platform tells
    std::string member;              ///< the roster's id, of a group's hand-in that counts for each of it
    std::string from;                ///< "folder", "archive", "file", "git", "gradescope", "canvas", "moodle"
    std::string origin;              ///< name of folder, archive or commit, for messages
    std::optional<Time> handed_in;
    bool marked_late = false;
    std::string expected;  ///< what a message says behind `refused`; no part of what tells attempts apart
    /// "01_reduction/03_shared_tree.cu", and where its bytes were put aside, in `work`.
    std::map<std::string, std::filesystem::path> files;
    std::vector<LookAlike> alike;      ///< for a human to decide
    std::vector<std::string> ignored;  ///< files like rungs that are none of the assignment's
    std::string refused;               ///< why nothing was taken; empty: it was taken
};

struct Intake {
    std::vector<HandIn> hand_ins;
    std::vector<std::string> problems;  ///< a line each: what is no hand-in
};

/// Where a class lies that can be read.
struct ClassFolder {
    std::filesystem::path path;
    std::filesystem::path archive = {};  ///< that it was unpacked from; empty: it was not
    bool in_folder = false;              ///< all of the archive is in one folder, which `path` is

    /// The instructor's assignment.toml in it; empty: there is none.
    std::filesystem::path policy() const;
};

/// Unpacks `place` where it is an archive. `work`: a folder of this process alone, which has to stay until
/// store(). `heed`: called between steps, and what it throws ends it.
/// @throws ClassError where it is neither a folder nor an archive; judge::InfraError
ClassFolder open_class(
    const std::filesystem::path& place, const std::filesystem::path& work,
    const std::function<void()>& heed = [] {});

/// Reads all hand-ins of a class: of each one the assignment's files, CHAPTER/RUNG or RUNG, in whatever
/// folder but solutions/, edition/ and kept/. `work`, `heed`: as above. @throws ClassError, judge::InfraError
Intake read_class(
    const ClassFolder& folder, const Assignment& assignment, const std::filesystem::path& work,
    const std::function<void()>& heed = [] {});

/// Reads the repositories that the roster names: at the column `commit`, a commit or a time; without one, the
/// last commit before it is due. `heed`: as above.
Intake read_repositories(
    const Assignment& assignment, const std::filesystem::path& work,
    const std::function<void()>& heed = [] {});

/// The student who sent it; null: nobody on the roster.
const Person* sender(const HandIn& hand_in, const Assignment& assignment);

/// Puts hand-ins into OUT/hand-ins, unless they are there already, and what was there under the name that
/// another roster gave it under that of this one, with its records and decisions. Says in `problems` who is
/// unknown, missing or no longer there, what was refused or ignored, and how many tell no time. @throws
/// FileError
void store(const std::filesystem::path& out, const Assignment& assignment, Intake& intake);

}  // namespace rungs::classroom
