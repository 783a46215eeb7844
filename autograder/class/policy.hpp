#pragma once
// What an instructor writes: assignment.toml, and the roster as a table.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "class/assignment.hpp"

namespace rungs::classroom {

/// A chapter or rung as it was written.
struct NamedRung {
    std::string name;   ///< "01", "03/04"
    std::string where;  ///< "assignment.toml:3:10"
};

/// assignment.toml, with names of chapters and rungs as they were written there.
struct Policy {
    Assignment assignment;         ///< without rungs, weights and people
    std::vector<NamedRung> rungs;  ///< empty: all
    std::map<std::string, double> weights;
    std::filesystem::path roster;  ///< empty: there is none
};

/// @throws ClassError that names file, line and column
Policy read_policy(const std::filesystem::path& file);

/// The students of a roster: a table with the columns `id`, `name`, `email`, `login`, `extension` (minutes,
/// or a time with its offset), `handed_in` (a time), `canvas`, `moodle`, `group`, `repository`, `commit`, of
/// which `id` alone is needed, and others that exports use.
/// @throws ClassError that names file and line
std::vector<Person> read_roster(const std::filesystem::path& file, const Assignment& assignment);

/// Whether a student can be called that: the name becomes a folder's. Letters and digits of any script,
/// `. _ @ + -` and blanks within; not at its beginning.
bool good_id(const std::string& id);

}  // namespace rungs::classroom
