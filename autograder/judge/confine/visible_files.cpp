#include "judge/confine/visible_files.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdint>
#include <cstring>

#include "judge/result/defences.hpp"

namespace rungs::judge {
namespace {

// By numbers: the headers of older distributions lack these calls, while their kernels have them.
constexpr long landlock_create_ruleset = 444, landlock_add_rule = 445, landlock_restrict_self = 446;
constexpr long open_a_tree = 428, move_a_mount = 429, set_mount_attributes = 442;
constexpr unsigned clone_the_tree = 1, with_submounts = 0x8000, from_the_descriptor = 4;
constexpr std::uint64_t may_execute = 1, may_write = 2, may_read = 4, may_list = 8, may_truncate = 1 << 14,
                        may_control = 1 << 15;
constexpr std::uint64_t programs = may_execute | may_read | may_list;
constexpr std::uint64_t a_device = may_read | may_write | may_control;

struct Place {
    const char* path;
    std::uint64_t access;
    enum For { all, worker, tool, gpu } who = all;
};

/// What of the system's is seen, where it exists. A worker sees nothing below /usr but programs and
/// libraries: a workbook may lie there as well.
constexpr Place seen_places[] = {
    {"/usr/bin", programs, Place::worker},
    {"/usr/lib", programs, Place::worker},
    {"/usr/lib32", programs, Place::worker},
    {"/usr/lib64", programs, Place::worker},
    {"/usr/local/lib", programs, Place::worker},
    {"/usr/local/lib64", programs, Place::worker},
    {"/usr", programs, Place::tool},
    {"/lib", programs},
    {"/lib32", programs},
    {"/lib64", programs},
    {"/bin", programs},
    {"/etc/ld.so.cache", may_read},
    {"/etc/alternatives", may_read | may_list, Place::tool},
    // Where systems keep compilers that are not their own.
    {"/opt", programs, Place::tool},
    {"/nix", programs, Place::tool},
    {"/gnu", programs, Place::tool},
    {"/snap", programs, Place::tool},
    {"/proc/self", may_read | may_list},
    {"/proc/meminfo", may_read},
    {"/proc/cpuinfo", may_read},
    {"/sys/devices/system", may_read | may_list},
    {"/sys/fs/cgroup/memory.max", may_read},
    {"/sys/fs/cgroup/memory/memory.limit_in_bytes", may_read},
    {"/dev/null", may_read | may_write},
    {"/dev/zero", may_read},
    {"/dev/urandom", may_read},
    // What CUDA looks at when it starts. It gives a thread a name, and gives up if it cannot.
    {"/proc/self/task", may_read | may_list | may_write | may_truncate, Place::gpu},
    {"/proc/devices", may_read, Place::gpu},
    {"/proc/driver/nvidia", may_read | may_list, Place::gpu},
    {"/proc/sys/vm/mmap_min_addr", may_read, Place::gpu},
    {"/sys/module/nvidia/initstate", may_read, Place::gpu},
    {"/sys/module/nvidia_uvm/initstate", may_read, Place::gpu},
    {"/dev/nvidiactl", a_device, Place::gpu},
    {"/dev/nvidia-uvm", a_device, Place::gpu},
    {"/dev/nvidia-caps", a_device | may_list, Place::gpu},
    {"/dev/dxg", a_device, Place::gpu}};  // WSL

bool is_for(const Place& place, const Confinement& how) {
    if (place.who == Place::gpu) return how.gpu;
    return place.who == Place::all || (place.who == Place::tool) == how.tool;
}

/// Calls `use`, which returns a Failure, for all that `how` lets see, until one fails.
template <class Use>
Failure for_each_place(const Confinement& how, const Use& use) {
    Failure failed;
    for (const Place& place : seen_places) {
        if (!failed && is_for(place, how)) failed = use(place);
    }
    constexpr int most_gpus = 16;
    for (int gpu = 0; how.gpu && gpu < most_gpus && !failed; ++gpu) {
        char path[16] = "/dev/nvidia";
        std::to_chars(path + std::strlen(path), path + sizeof path - 1, gpu);
        failed = use(Place{path, a_device, Place::gpu});
    }
    return failed;
}

// -- a root of one's own

/// Where the new root is put together: no file that has to be shown lies beneath it.
constexpr const char* new_root = "/proc";

/// `path` in the new root, while that is put together.
struct Target {
    explicit Target(const char* path) {
        const std::size_t length = std::strlen(path);
        fits = length + sizeof "/proc" <= sizeof text;
        if (!fits) return;
        std::memcpy(text, new_root, sizeof "/proc" - 1);
        std::memcpy(text + sizeof "/proc" - 1, path, length + 1);
    }

    /// Makes the folders above it. What is there already stays; that something is missing is found out later.
    void make_parents() {
        for (char* slash = text + sizeof "/proc"; (slash = std::strchr(slash, '/')); ++slash) {
            *slash = 0;
            mkdir(text, 0755);
            *slash = '/';
        }
    }

    char text[PATH_MAX];
    bool fits;
};

/// `flags` of mount(2), for what is mounted at `path`, or for `tree` and all that is mounted in it.
bool set_attributes(int tree, const char* path, unsigned long flags) {
    // MOUNT_ATTR_RDONLY and the like are the same bits.
    const struct { std::uint64_t set, clear, propagation, users; } wanted{flags, 0, 0, 0};
    const unsigned where = *path ? 0 : AT_EMPTY_PATH | with_submounts;
    return syscall(set_mount_attributes, tree, path, where, &wanted, sizeof wanted) == 0;
}

/// Shows `path`, and all that is mounted there, if it exists.
Failure show(const char* path, unsigned long flags) {
    const int tree =
        static_cast<int>(syscall(open_a_tree, AT_FDCWD, path, clone_the_tree | with_submounts | O_CLOEXEC));
    if (tree < 0 && (errno == ENOENT || errno == ENOTDIR || errno == EACCES)) return {};
    if (tree < 0) return {"a view of a folder", errno};
    struct stat what {};
    Target target(path);
    Failure failed;
    if (!target.fits) {
        failed = {"a view of a folder", ENAMETOOLONG};
    } else if (fstat(tree, &what) != 0 || !set_attributes(tree, "", flags)) {
        failed = {"the attributes of a mount", errno};
    } else {
        target.make_parents();
        if (S_ISDIR(what.st_mode)) {
            mkdir(target.text, 0755);
        } else {
            close(open(target.text, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644));
        }
        if (syscall(move_a_mount, tree, "", AT_FDCWD, target.text, from_the_descriptor) != 0)
            failed = {"mounting a folder", errno};
    }
    close(tree);
    return failed;
}

/// Shows one of the system's places as it is: /bin may be a link.
Failure show(const Place& place) {
    if (is_below(place.path, "/proc")) return {};
    char link[256];
    const ssize_t length = readlink(place.path, link, sizeof link - 1);
    if (length < 0) {
        const bool device = is_below(place.path, "/dev");
        return show(place.path, MS_RDONLY | MS_NOSUID | (device ? 0 : MS_NODEV));
    }
    link[length] = 0;
    Target target(place.path);
    target.make_parents();
    return symlink(link, target.text) == 0 ? Failure{} : Failure{"a link", errno};
}

}  // namespace

long landlock_version() {
    const long version = syscall(landlock_create_ruleset, nullptr, 0, 1U /* ask for the version */);
    return version > 0 ? version : 0;
}

Failure restrict_access(const Confinement& how, int program) {
    const bool files = how.tool ? is_on(Defence::tool_files) : how.hide_files && is_on(Defence::files);
    const long version = landlock_version();
    if (version == 0 || (version < 6 && !files)) return {};
    // Version 1 knows 13 kinds of access, 2 adds moving between folders, 3 truncating, 5 device controls.
    const int kinds = version == 1 ? 13 : version == 2 ? 14 : version < 5 ? 15 : 16;
    struct {
        std::uint64_t files, network, scopes;
    } const handled{
        files ? (std::uint64_t{1} << kinds) - 1 : 0, 0,
        version < 6 || !is_on(Defence::scopes) ? 0 : std::uint64_t{3} /* names of sockets, signals */};
    const int rules = static_cast<int>(syscall(landlock_create_ruleset, &handled, sizeof handled, 0));
    if (rules < 0) return {"Landlock", errno};
    const auto allow = [&](int descriptor, std::uint64_t access) {
        struct {
            std::uint64_t access;
            std::int32_t descriptor;
        } __attribute__((packed)) const rule{access, descriptor};
        return syscall(landlock_add_rule, rules, 1 /* what is beneath a path */, &rule, 0) == 0;
    };
    const auto allow_path = [&](const char* path, std::uint64_t access) {
        const int descriptor = open(path, O_PATH | O_CLOEXEC);
        if (descriptor < 0) return;
        access &= handled.files;  // older kernels hold fewer kinds
        if (!allow(descriptor, access)) allow(descriptor, access & ~may_list);  // a file is not listed
        close(descriptor);
    };
    if (files) {
        for_each_place(how, [&](const Place& place) {
            allow_path(place.path, place.access);
            return Failure{};
        });
        for (const char* const* path = how.readable; path && *path; ++path) allow_path(*path, programs);
        if (how.writable) allow_path(how.writable, handled.files);
    }
    if (files && program >= 0) allow(program, may_execute | may_read);
    Failure failed;
    if (syscall(landlock_restrict_self, rules, 0) != 0) failed = {"Landlock", errno};
    close(rules);
    return failed;
}

Failure change_root(const Confinement& how) {
    constexpr unsigned long safe = MS_NOSUID | MS_NODEV;
    constexpr const char* small = "size=1m,nr_inodes=4k,mode=755";
    if (unshare(CLONE_NEWNS) != 0) return {"a mount namespace", errno};
    // Nothing of what follows is to be seen outside.
    if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return {"private mounts", errno};
    if (mount("tmpfs", new_root, "tmpfs", safe, small) != 0) return {"an empty root", errno};
    const Failure not_shown = for_each_place(how, [](const Place& place) { return show(place); });
    if (not_shown) return not_shown;
    const Target hidden(how.hidden ? how.hidden : "");
    const bool covers = how.hidden && hidden.fits && access(hidden.text, F_OK) == 0;
    if (covers && mount("tmpfs", hidden.text, "tmpfs", safe, small) != 0) return {"hiding a folder", errno};
    for (const char* const* path = how.readable; path && *path; ++path) {
        if (is_below(*path, "/proc") || is_below(*path, "/dev")) continue;
        if (const Failure failed = show(*path, safe | MS_RDONLY)) return failed;
    }
    if (how.writable) {
        if (const Failure failed = show(how.writable, safe | MS_NOEXEC)) return failed;
    }
    if (covers && !set_attributes(AT_FDCWD, hidden.text, MS_RDONLY)) return {"hiding a folder", errno};
    // Read-only: settings of the kernel stand there, too, and root owns them. With a GPU Landlock sees to
    // that.
    const Target proc("/proc");
    mkdir(proc.text, 0755);
    if (mount("proc", proc.text, "proc", safe | MS_NOEXEC | (how.gpu ? 0 : MS_RDONLY), "hidepid=4") != 0)
        return {"mounting /proc", errno};
    // The old root comes to lie on the new one, and goes.
    if (chdir(new_root) != 0 || syscall(SYS_pivot_root, ".", ".") != 0 || umount2(".", MNT_DETACH) != 0 ||
        chdir("/") != 0) {
        return {"changing the root", errno};
    }
    if (!set_attributes(AT_FDCWD, "/", MS_RDONLY)) return {"a root that is read-only", errno};
    return {};
}

bool is_below(const char* path, const char* folder) {
    const std::size_t length = std::strlen(folder);
    return std::strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == 0);
}

}  // namespace rungs::judge
