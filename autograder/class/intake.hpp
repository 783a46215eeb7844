#pragma once
// What a class handed in, from a folder or an archive as instructors get them: a folder or an archive for
// each student, or the downloads of Gradescope, Canvas and Moodle; or from a git repository for each student.
// Only rung files are taken, and put where nobody but the instructor writes.

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "class/assignment.hpp"

namespace rungs::classroom {

/// A hand-in, as it came.
struct HandIn {
    std::string key;                 ///< what the platform or the folder calls the student
    std::string name, email, login;  ///< as far as the platform tells
    std::string from;                ///< "folder", "archive", "git", "gradescope", "canvas", "moodle"
    std::string origin;              ///< name of folder, archive or commit, for messages
    std::optional<Time> handed_in;
    bool marked_late = false;
    std::map<std::string, std::string> files;  ///< "01_reduction/03_shared_tree.cu" and its bytes
    std::vector<std::string> ignored;          ///< files like rungs that are none of the assignment's
    std::string refused;                       ///< why nothing was taken; empty: it was taken
};

struct Intake {
    std::vector<HandIn> hand_ins;
    std::vector<std::string> problems;  ///< a line each: what is no hand-in
};

/// Reads all hand-ins in `place`, a folder or an archive. `work`: a folder to unpack into, of this process
/// alone. @throws ClassError where that is neither; judge::InfraError
Intake read_class(const std::filesystem::path& place, const Assignment& assignment,
                  const std::filesystem::path& work);

/// Reads the repositories that the roster names: at the column `commit`, a commit or a time; without one, the
/// last commit before it is due.
Intake read_repositories(const Assignment& assignment, const std::filesystem::path& work);

/// The files of an assignment that are in `all` (paths and bytes): CHAPTER/RUNG or RUNG, in whatever folder,
/// but not in solutions/, edition/ or kept/. What is nearest to the top counts. Sets files, ignored and
/// refused.
void take_rungs(const std::map<std::string, std::string>& all, const Assignment& assignment, HandIn& hand_in);

/// Whether a file of that path could be one of the assignment's.
bool may_be_rung(const std::string& path, const Assignment& assignment);

/// The student who sent it; null: nobody on the roster.
const Person* sender(const HandIn& hand_in, const Assignment& assignment);

/// Puts hand-ins into OUT/hand-ins, unless they are there already, and says in `problems` who is unknown or
/// missing and what was refused or ignored. @throws FileError
void store(const std::filesystem::path& out, const Assignment& assignment, Intake& intake);

}  // namespace rungs::classroom
