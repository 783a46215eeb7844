#pragma once
// Where an attack is tried: a folder with a copy of it, and beside it what it would like to find, to change,
// or to talk to. Rooms do not meet, so that attacks can be tried side by side.

#include <filesystem>
#include <map>
#include <string>

namespace rungs::attacks {

/// The content of files that a rung must not read; it must be in no result.
inline constexpr const char* planted = "planted-secret-5b1f3c";

/// Puts a secret beside the folders that compilers work in, for a rung to name as "../../planted".
void plant(const std::filesystem::path& cache);

/// Reads what is new in a cache, so that the rooms of forks of this process need not.
void know(const std::filesystem::path& cache);

class Room {
  public:
    /// A copy of a submission, in a file of that name: in its text RUNGS_ROOM becomes the name of the room,
    /// RUNGS_CACHE that of the cache, and the line #include "honest.cuh" that file's text.
    Room(const std::string& file, std::string text, const std::filesystem::path& cache);
    ~Room();
    Room(const Room&) = delete;
    Room& operator=(const Room&) = delete;

    std::filesystem::path folder() const { return path_ / "student"; }

    /// A file here, in the cache, or where attacks litter that is not as it was; empty: there is none.
    std::string changed() const;

    /// Removes what outlives a process without being a file. @returns whether there was any
    bool left_objects() const;

    /// Has anybody connected to what listens here?
    bool called() const;

  private:
    /// A file among builds, as if another's: its content may change without its size.
    std::filesystem::path in_cache() const { return cache_ / "warnings" / path_.filename(); }
    void copy(const std::string& file, std::string text) const;
    std::map<std::filesystem::path, std::string> snapshot() const;

    std::filesystem::path path_;
    std::filesystem::path cache_;
    int services_[2] = {-1, -1};
    std::map<std::filesystem::path, std::string> before_;
    std::map<std::filesystem::path, std::string> cached_;  ///< what was in the cache
};

}  // namespace rungs::attacks
