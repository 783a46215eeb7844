#include "judge/confine/control_group.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "judge/confine/per_user.hpp"

namespace rungs::judge {
namespace {

namespace fs = std::filesystem;

constexpr const char* name_start = "rungs-";

/// 0, or the errno of what failed.
int write_to(const std::string& file, const std::string& text) {
    const Descriptor opened(open(file.c_str(), O_WRONLY | O_CLOEXEC));
    if (!opened) return errno;
    return write(opened.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : errno;
}

bool bounds_both(const fs::path& folder, const char* file) {
    std::ifstream in(folder / file);
    bool memory = false, processes = false;
    for (std::string name; in >> name;) {
        memory = memory || name == "memory";
        processes = processes || name == "pids";
    }
    return memory && processes;
}

/// Where this process is in the hierarchy of version 2, and where that is mounted.
std::pair<fs::path, fs::path> own_group() {
    for (const char* mounted : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
        struct statfs what {};
        if (statfs(mounted, &what) != 0 || what.f_type != CGROUP2_SUPER_MAGIC) continue;
        std::ifstream in("/proc/self/cgroup");
        for (std::string line; std::getline(in, line);) {
            if (line.rfind("0::/", 0) == 0)
                return {mounted, line.size() > 4 ? mounted + line.substr(3) : mounted};
        }
    }
    return {};
}

/// Removes the groups of processes that are gone: they may have been killed.
void remove_left_behind(const fs::path& folder) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
        const std::string name = entry.path().filename().string();
        if (name.rfind(name_start, 0) != 0) continue;
        const int owner = std::atoi(name.c_str() + std::strlen(name_start));
        if (owner <= 0 || ::kill(owner, 0) == 0 || errno != ESRCH) continue;
        kill_group(entry.path().c_str());
        rmdir(entry.path().c_str());
    }
}

GroupFolder find_folder() {
    const auto [mounted, own] = own_group();
    const std::string delegate =
        "systemd-run --user --pty --same-dir -p Delegate=yes -p DelegateSubgroup=judge ./rungs ...; or start "
        "Rungs as root on the host";
    const std::string unify = "use a host with cgroup v2 alone: boot with systemd.unified_cgroup_hierarchy=1";
    if (own.empty()) return {"", "no control groups of version 2 are mounted", unify};
    if (!bounds_both(mounted, "cgroup.controllers"))
        return {"", "the control groups of version 2 bound neither memory nor processes here", unify};
    // A group with processes in it cannot bound others, unless it is the first one of the host.
    std::string why = "nothing above " + own.string() + " may be written to";
    for (const fs::path& folder : {own, own == mounted ? own : own.parent_path()}) {
        if (access(folder.c_str(), W_OK) != 0) continue;
        if (!bounds_both(folder, "cgroup.subtree_control") &&
            write_to(folder / "cgroup.subtree_control", "+memory +pids") != 0) {
            why = folder.string() + " has processes of its own, so that groups below it cannot be bounded";
            continue;
        }
        remove_left_behind(folder);
        return {folder.string(), "", delegate};
    }
    return {"", why, delegate};
}

}  // namespace

const GroupFolder& group_folder() {
    static PerUser<GroupFolder> folder;
    return folder.get(find_folder);
}

ControlGroup::ControlGroup(const Limits& limits) {
    static std::atomic<unsigned> count{0};
    folder =
        group_folder().path + "/" + name_start + std::to_string(getpid()) + "-" + std::to_string(count++);
    if (mkdir(folder.c_str(), 0700) != 0) fail_with_errno("a control group");
    const std::size_t memory = limits.resident ? limits.resident : limits.address_space;
    int failed = 0;
    if (memory) failed = write_to(folder + "/memory.max", std::to_string(memory));
    // Where the host has swap at all.
    if (memory && !failed && access((folder + "/memory.swap.max").c_str(), F_OK) == 0)
        failed = write_to(folder + "/memory.swap.max", "0");
    if (limits.processes && !failed)
        failed = write_to(folder + "/pids.max", std::to_string(limits.processes));
    if (!failed) {
        processes = Descriptor(open((folder + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
        failed = processes ? 0 : errno;
    }
    if (failed) {
        rmdir(folder.c_str());
        throw std::system_error(failed, std::generic_category(), "a control group");
    }
}

void kill_group(const char* folder) {
    const int opened = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    const int order = opened < 0 ? -1 : openat(opened, "cgroup.kill", O_WRONLY | O_CLOEXEC);
    if (order >= 0) (void)!write(order, "1", 1);
    close(order);
    close(opened);
}

}  // namespace rungs::judge
