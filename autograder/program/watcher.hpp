#pragma once
// Notices saved files, however an editor saves: in place, or by a new file under the old name.

#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace rungs {

/// Watches files in some folders (not below them). Uses inotify; where the system has none left, or `poll` is
/// set (network drives, some containers), looks at the files from time to time.
class Watcher {
  public:
    /// @throws FileError for a folder that cannot be watched at all.
    Watcher(std::vector<std::filesystem::path> folders, bool poll);
    ~Watcher();
    Watcher(const Watcher&) = delete;
    Watcher& operator=(const Watcher&) = delete;

    bool polls() const { return descriptor_ < 0; }

    /// To wait for with poll(2); -1 when polls(): then call changed() every poll_interval.
    int descriptor() const { return descriptor_; }

    static constexpr std::chrono::milliseconds poll_interval{300};

    /// Files that were written, created or moved to their place since the last call, whose content differs
    /// from what it was then. Waits for a short time of quiet first, because one save is often several
    /// events. Never blocks for longer than a second.
    std::set<std::filesystem::path> changed();

  private:
    struct Stamp {
        std::filesystem::file_time_type time;
        std::uintmax_t size = 0;
        std::string content;
        bool operator==(const Stamp&) const = default;
    };
    static bool is_source(const std::filesystem::path& file);
    std::map<std::filesystem::path, Stamp> look() const;

    std::vector<std::filesystem::path> folders_;
    std::map<std::filesystem::path, Stamp> known_;
    int descriptor_ = -1;
};

}  // namespace rungs
