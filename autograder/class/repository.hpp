#pragma once
// Commits of students' git repositories. git reads what a student has written, a repository's configuration
// included, so it is held as compilers are (judge/confine/sandbox.hpp): it sees that repository and a folder
// of its own, has no network unless the repository is elsewhere, and none of the instructor's configuration.

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "class/assignment.hpp"

namespace rungs::classroom {

/// A commit, and its files as an archive. They are as they were committed, whatever attributes say.
struct Exported {
    std::string commit;
    std::filesystem::path archive;
};

/// Copies `repository`, an absolute path or a URL, and packs one of its commits.
/// @param commit  its hash, or a time, for the last one before that; empty: the last one before `due`
/// @param folder  where to work and to leave the archive: made here, and nobody else's
/// @param heed    called several times a second, and what it throws ends it
/// @throws ClassError that says why it is refused; judge::InfraError
Exported export_commit(const std::string& repository, const std::string& commit,
                       const std::optional<Time>& due, const std::filesystem::path& folder,
                       const std::function<void()>& heed);

/// What is told of a repository: its place without a user's name and password, or token, of its URL.
std::string without_login(const std::string& text);

}  // namespace rungs::classroom
