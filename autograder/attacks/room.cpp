#include "room.hpp"

#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "rungs/atomic_file.hpp"

namespace rungs::attacks {
namespace {

namespace fs = std::filesystem;

constexpr const char* name_start = "rungs_attacks_";  ///< of every room

/// A service of this machine, for everybody: by a path, or by a name that begins with '@' and no file has.
int listen_at(const std::string& name) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    name.copy(address.sun_path, sizeof address.sun_path - 1);
    if (name[0] == '@') address.sun_path[0] = 0;
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    const int service = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (bind(service, reinterpret_cast<const sockaddr*>(&address), size) != 0 || listen(service, 8) != 0)
        throw std::system_error(errno, std::generic_category(), name);
    if (name[0] != '@') fs::permissions(name, fs::perms{0777});
    return service;
}

void replace_all(std::string& text, const std::string& what, const std::string& with) {
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
        text.replace(at, what.size(), with);
}

/// Number and times: nobody can change a file, and keep them.
std::string version_of(const struct stat& now) {
    return fmt::format("{} {}.{:09} {}.{:09}", now.st_ino, now.st_mtim.tv_sec, now.st_mtim.tv_nsec,
                       now.st_ctim.tv_sec, now.st_ctim.tv_nsec);
}

std::string mode_of(const struct stat& now) {
    return fmt::format("{:o} {}:{} {}", now.st_mode, now.st_uid, now.st_gid, now.st_size);
}

/// Of a file that nobody has a reason to change; empty: there is none.
std::string state_of(const fs::path& file) {
    struct stat now {};
    return lstat(file.c_str(), &now) == 0 ? mode_of(now) + " " + version_of(now) : "";
}

/// Of a file in a cache, which is touched by whoever uses it: what counts is its content. A cache has
/// hundreds of megabytes, and every control reads all of it: no attack aims at a hash that is fast.
std::string state_in_cache(const fs::path& file) {
    static std::map<fs::path, std::pair<std::string, std::string>> known;  // version, content
    struct stat now {};
    if (lstat(file.c_str(), &now) != 0) return "";
    auto& [version, content] = known[file];
    if (const std::string newest = version_of(now); version != newest) {
        version = newest;
        content = S_ISREG(now.st_mode) ? std::to_string(std::hash<std::string>{}(read_file(file))) : "";
    }
    return mode_of(now) + " " + content;
}

/// What is in it now. Where another room has put something, others than that do not look.
std::map<fs::path, std::string> states_in_cache(const fs::path& cache, const std::string& room) {
    std::map<fs::path, std::string> states;
    std::error_code none_yet;
    for (const char* kind : {"objects", "workers", "warnings", "counts"}) {
        for (const auto& entry : fs::directory_iterator(cache / kind, none_yet)) {
            const std::string name = entry.path().filename();
            if (name.rfind(name_start, 0) != 0 || name == room)
                states[entry.path()] = state_in_cache(entry.path());
        }
    }
    return states;
}

/// Who owns the object number `id` in one of the kernel's lists of System V objects, which
/// have a column "uid".
uid_t owner_in(const char* list, int id) {
    std::ifstream in(list);
    std::string line;
    std::getline(in, line);
    std::istringstream heads(line);
    const std::vector<std::string> names(std::istream_iterator<std::string>(heads), {});
    const auto column = std::find(names.begin(), names.end(), "uid") - names.begin();
    while (std::getline(in, line)) {
        std::istringstream cells(line);
        const std::vector<std::string> row(std::istream_iterator<std::string>(cells), {});
        if (static_cast<std::ptrdiff_t>(row.size()) > column && row[1] == std::to_string(id))
            return static_cast<uid_t>(std::stoul(row[static_cast<std::size_t>(column)]));
    }
    return geteuid();
}

/// Removes a System V object, if there is one. Its owner may do that; another's root needs CAP_SYS_ADMIN,
/// which a container's root lacks, and so becomes its owner. @returns whether there was one
template <class Remove>
bool take_away(int id, const char* list, Remove remove) {
    if (id < 0) return false;
    if (remove(id) == 0) return true;
    const uid_t owner = owner_in(list, id);
    const pid_t child = fork();
    if (child == 0) _exit(setresuid(owner, owner, owner) == 0 && remove(id) == 0 ? 0 : 1);
    while (child > 0 && waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
    return true;
}

}  // namespace

void know(const fs::path& cache) { states_in_cache(cache, ""); }

void plant(const fs::path& cache) {
    fs::create_directories(cache);
    // One that is there stays as it is: somebody else may be trying attacks as well.
    if (!fs::exists(cache / "planted")) std::ofstream(cache / "planted") << planted << '\n';
}

Room::Room(const std::string& file, std::string text, const fs::path& cache) : cache_(cache) {
    std::string name = (fs::temp_directory_path() / name_start).string() + "XXXXXX";
    if (!mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
    path_ = name;
    fs::permissions(path_, fs::perms{0755});
    for (const char* secret :
         {"other_student/03_shared_tree.cu", "solutions/03_shared_tree.cu", "results.json"}) {
        fs::create_directories((path_ / secret).parent_path());
        std::ofstream(path_ / secret) << planted << '\n';
        fs::permissions(path_ / secret, fs::perms{0666});
    }
    std::ofstream(path_ / "other_student" / "helper.hpp")
        << "inline const char* whose() { return \"" << planted << "\"; }\n";
    // What holds an attack must not be that a folder is its owner's.
    fs::permissions(path_ / "other_student", fs::perms{0777});
    fs::create_directories(path_ / "student");
    copy(file, std::move(text));
    services_[0] = listen_at((path_ / "socket").string());
    services_[1] = listen_at("@" + path_.string());
    fs::create_directories(cache_ / "warnings");
    std::ofstream(in_cache()) << planted << '\n';
    fs::permissions(in_cache(), fs::perms{0666});
    left_objects();  // of an earlier room, whose file had the same number
    before_ = snapshot();
    cached_ = states_in_cache(cache_, path_.filename());
}

Room::~Room() {
    for (const int service : services_) close(service);
    std::error_code ignored;
    fs::remove_all(path_, ignored);
    fs::remove("/dev/shm" / path_.filename(), ignored);
    fs::remove(in_cache(), ignored);
}

bool Room::left_objects() const {
    const key_t key = ftok((path_ / "results.json").c_str(), 'r');
    const std::string queue = path_.filename().string();
    const bool queues = syscall(SYS_mq_unlink, queue.c_str()) == 0;
    const bool memory = take_away(shmget(key, 0, 0), "/proc/sysvipc/shm",
                                  [](int id) { return shmctl(id, IPC_RMID, nullptr); });
    const bool messages =
        take_away(msgget(key, 0), "/proc/sysvipc/msg", [](int id) { return msgctl(id, IPC_RMID, nullptr); });
    const bool semaphores =
        take_away(semget(key, 0, 0), "/proc/sysvipc/sem", [](int id) { return semctl(id, 0, IPC_RMID); });
    return queues || memory || messages || semaphores;
}

bool Room::called() const {
    return std::any_of(std::begin(services_), std::end(services_), [](int service) {
        const int caller = accept(service, nullptr, nullptr);
        if (caller >= 0) close(caller);
        return caller >= 0;
    });
}

void Room::copy(const std::string& file, std::string text) const {
    replace_all(text, "#include \"honest.cuh\"\n",
                read_file(fs::path(RUNGS_ROOT) / "autograder/attacks/honest.cuh"));
    replace_all(text, "RUNGS_ROOM", path_.string());
    replace_all(text, "RUNGS_CACHE", cache_.string());
    std::ofstream(path_ / "student" / file, std::ios::binary) << text;
}

std::map<fs::path, std::string> Room::snapshot() const {
    std::map<fs::path, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(path_))
        files[entry.path()] = state_of(entry.path());
    files[cache_ / "planted"] = state_of(cache_ / "planted");
    for (const char* place :
         {"/tmp/proof_of_", "/var/tmp/proof_of_", "/dev/shm/", "/proof_of_", "./proof_of_"}) {
        const std::string file = place + path_.filename().string();
        files[file] = state_of(file);
    }
    return files;
}

std::string Room::changed() const {
    const std::map<fs::path, std::string> now = snapshot();
    for (const auto* files : {&before_, &now}) {
        for (const auto& [file, state] : *files) {
            const auto before = before_.find(file), after = now.find(file);
            if (before == before_.end() || after == now.end() || before->second != after->second)
                return file.string();
        }
    }
    // Others may add to the cache at any time, and use what is there.
    for (const auto& [file, state] : cached_) {
        if (state_in_cache(file) != state) return file.string();
    }
    return "";
}

}  // namespace rungs::attacks
