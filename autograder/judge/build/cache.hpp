#pragma once
// The folder of built workers, and of what builds leave and use. Any number of processes may share it, on any
// number of hosts, but one user: whoever writes there decides what is run. So each file ends with a code of
// its name and content, under a key that no worker can read, and one without the right code is not there.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace rungs::judge {

/// @throws InfraError that says what to do
[[noreturn]] void cache_failed(const std::filesystem::path& path, const std::string& what);

/// Whether next to nothing can be written there.
bool nearly_full(const std::filesystem::path& folder);

/// Writes a file that one build alone uses. @throws InfraError
void write_working_file(const std::filesystem::path& file, const std::string& text);

/// A folder of its own for one build, below the cache; it goes with the object.
class WorkFolder {
  public:
    /// @throws InfraError
    explicit WorkFolder(const std::filesystem::path& cache);
    ~WorkFolder();
    WorkFolder(const WorkFolder&) = delete;
    WorkFolder& operator=(const WorkFolder&) = delete;
    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

/// Once a process: removes what killed processes left and what nobody has used for long. Losing a race
/// against another process that does the same is harmless.
/// @throws InfraError where the folder belongs to another user, or others may write there
void prune(const std::filesystem::path& cache);

/// A file two levels below the cache, such as an executable.
/// @returns whether it is there, as into_cache() left it; if so it counts as used now. What follows an
/// executable's or an object's own end is read by nobody.
bool in_cache(const std::filesystem::path& file);

/// The content of such a file, if in_cache().
std::optional<std::string> from_cache(const std::filesystem::path& file);

/// Moves a file that a build has made to its place, two levels below the cache, whole or not at all. What
/// is there already, in_cache(), stays unless it is `outdated`: somebody else may be reading it, and a
/// sandbox that was told of that file keeps out any other of its name.
/// @throws InfraError
void into_cache(const std::filesystem::path& made, const std::filesystem::path& file, bool outdated = false);

/// Removes the files in `folder` that nobody has used for longest, until the others have at most
/// `most_bytes` or were used within the last ten minutes. "Used" is the time of the last write: the cache
/// sets it at every use.
void remove_least_used(const std::filesystem::path& folder, std::uintmax_t most_bytes);

}  // namespace rungs::judge
