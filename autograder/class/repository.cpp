#include "class/repository.hpp"

#include <pwd.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <sstream>
#include <vector>

#include <fmt/format.h>

#include "class/archive.hpp"
#include "judge/build/build.hpp"
#include "judge/confine/process.hpp"
#include "judge/confine/visible_files.hpp"
#include "judge/result/clean_text.hpp"
#include "rungs/atomic_file.hpp"

namespace rungs::classroom {
namespace {

namespace fs = std::filesystem;
using judge::InfraError;

constexpr const char* git_program = "/usr/bin/git";
constexpr std::size_t git_cpu_seconds = 60;
constexpr double git_seconds = 300;  // a network takes its time
constexpr std::size_t git_memory = 2ULL << 30;
constexpr std::size_t git_file_bytes = ArchiveLimits{}.total_bytes;
constexpr std::size_t git_processes = 64;
constexpr std::size_t git_disk_bytes = 3 * git_file_bytes;

/// Where a repository is.
struct Origin {
    std::string place;  ///< as git is told
    bool remote = false;
    bool by_ssh = false;
};

Origin origin_of(const std::string& repository) {
    const auto begins_with = [&](const std::string& start) { return repository.rfind(start, 0) == 0; };
    if (begins_with("/") || begins_with("file:///")) {
        const std::string path = begins_with("/") ? repository : repository.substr(std::strlen("file://"));
        const fs::path place = fs::path(path).lexically_normal();
        return {(place.has_filename() ? place : place.parent_path()).string()};
    }
    if (begins_with("https://")) return {repository, true, false};
    // "host:path" is another way to write "ssh://host/path".
    const std::size_t colon = repository.find(':');
    const bool short_ssh = colon != std::string::npos && colon < repository.find('/') &&
                           std::isalnum(static_cast<unsigned char>(repository[0])) &&
                           colon + 1 < repository.size() && repository[colon + 1] != ':';
    const bool has_scheme = repository.find("://") != std::string::npos;
    if (begins_with("ssh://") || (!has_scheme && short_ssh)) return {repository, true, true};
    throw ClassError(fmt::format("'{}' is neither an absolute path nor a URL with https: or ssh:",
                                 without_login(clean_name(repository))));
}

/// A repository on this machine may be in its student's folder, and a link there lead to another student's.
/// @throws ClassError where a part of its path is a link, or one that git would follow from there
void refuse_links(const std::string& place) {
    std::vector<fs::path> parts;
    fs::path path;
    for (const fs::path& part : fs::path(place)) parts.push_back(path /= part);
    // Where git looks for a repository of that name.
    for (const char* end : {"/.git", ".git", ".git/.git"}) parts.emplace_back(place + end);
    for (const fs::path& part : parts) {
        std::error_code unknown;
        if (fs::symlink_status(part, unknown).type() != fs::file_type::symlink) continue;
        throw ClassError(
            fmt::format("'{}' is a link to '{}', which may be another student's; give the roster the path "
                        "without links",
                        clean_name(part.string()), clean_name(fs::read_symlink(part, unknown).string())));
    }
}

/// What a program needs to find a host, to know whether it is the right one, and to log in there.
std::vector<std::string> files_for(const Origin& origin) {
    std::vector<std::string> files{"/etc/resolv.conf", "/etc/hosts",         "/etc/host.conf",
                                   "/etc/gai.conf",    "/etc/nsswitch.conf", "/etc/services"};
    if (origin.by_ssh) {
        const passwd* const user = getpwuid(geteuid());
        if (user) files.push_back(std::string(user->pw_dir) + "/.ssh");
        for (const char* file :
             {"/etc/passwd", "/etc/ssh/ssh_known_hosts", "/var/lib/sss/mc", "/var/lib/sss/pipes"})
            files.push_back(file);
    } else {
        for (const char* file : {"/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/pki/tls/certs",
                                 "/etc/pki/tls/openssl.cnf", "/etc/pki/ca-trust", "/etc/ca-certificates",
                                 "/etc/crypto-policies", "/var/lib/ca-certificates"})
            files.push_back(file);
    }
    return files;
}

/// The room that a folder takes, about: while others write there, and of files that are too many.
std::size_t room_of(const fs::path& folder) {
    constexpr std::size_t block = 4096;
    std::size_t room = 0;
    std::error_code gone;
    for (fs::recursive_directory_iterator entry(folder, gone), end; !gone && entry != end;
         entry.increment(gone)) {
        std::error_code unknown;
        const std::uintmax_t size = entry->is_regular_file(unknown) ? entry->file_size(unknown) : 0;
        room += unknown ? block : std::max<std::size_t>(size, block);
        if (room > git_disk_bytes) break;
    }
    return room;
}

/// What git says in the end: the line that begins with "fatal:", else the first one.
std::string last_words(const std::string& text) {
    std::istringstream lines(text);
    std::string first, line;
    for (bool is_first = true; std::getline(lines, line); is_first = false) {
        if (is_first) first = line;
        if (line.rfind("fatal:", 0) == 0) return without_login(clean_name(line));
    }
    return without_login(clean_name(first));
}

class Git {
  public:
    /// `folder`: all that it may change; made here. `heed`: called while git runs.
    Git(const fs::path& folder, const std::function<void()>& heed) : folder_(folder), heed_(heed) {
        fs::remove_all(folder);
        fs::create_directories(folder / "template/info");
        // A repository of somebody else's is what it is here for. One thread, whatever the machine: memory is
        // bounded.
        write_file(folder / ".gitconfig", "[safe]\n\tdirectory = *\n[pack]\n\tthreads = 1\n");
        // Stronger than what a commit says of itself.
        write_file(folder / "template/info/attributes",
                   "* -text -ident -filter -working-tree-encoding -export-subst -export-ignore\n");
    }

    fs::path repository() const { return folder_ / "repository"; }
    fs::path archive() const { return folder_ / "commit.tar"; }

    /// Copies by asking for objects, as from another machine: one file that has an end.
    void clone(const Origin& origin) const {
        run({"clone", "--quiet", "--bare", "--no-local", "--template=" + (folder_ / "template").string(),
             "--", origin.place, repository().string()},
            &origin);
    }

    /// In the copy. @returns the first line that it prints
    std::string in_copy(std::vector<std::string> arguments) const {
        arguments.insert(arguments.begin(), "--git-dir=" + repository().string());
        return run(arguments, nullptr);
    }

  private:
    /// @throws ClassError with what it said, InfraError where it could not be run
    std::string run(const std::vector<std::string>& arguments, const Origin* origin) const {
        judge::Command command;
        command.arguments = {git_program, "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"};
        command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
        command.environment = {
            "PATH=/usr/bin:/bin",       "LC_ALL=C",
            "HOME=" + folder_.string(), "GIT_CONFIG_NOSYSTEM=1",
            "GIT_ATTR_NOSYSTEM=1",      "GIT_TERMINAL_PROMPT=0",
            "GIT_NO_LAZY_FETCH=1",      "GIT_SSH_COMMAND=ssh -oBatchMode=yes -oControlPath=none",
            "MALLOC_ARENA_MAX=1"};
        judge::Confinement& how = command.confinement;
        how.tool = true;
        how.limits.address_space = git_memory;
        how.limits.cpu_seconds = git_cpu_seconds;
        how.limits.file_size = git_file_bytes;
        how.limits.processes = git_processes;
        command.writable = folder_.string();
        if (origin && origin->remote) {
            how.network = true;
            command.readable = files_for(*origin);
            command.environment.push_back("GIT_ALLOW_PROTOCOL=https:ssh");
        } else if (origin) {
            command.readable = {origin->place, origin->place + ".git"};
            command.environment.push_back("GIT_ALLOW_PROTOCOL=file");
            // Other students' may lie beside it, where tools see all.
            const std::string beside = fs::path(origin->place).parent_path().string();
            if (!judge::is_below(git_program, beside.c_str()) && beside != "/") command.hidden = beside;
        }
        judge::Process process(command);
        bool in_time = false, fits = true;
        // A server without git's own protocol hands over file after file, each of them within its bound.
        for (const auto deadline = judge::in_seconds(git_seconds);
             fits && !in_time && judge::Clock::now() < deadline;) {
            heed_();
            const auto look_again = std::min(deadline, judge::in_seconds(0.2));
            in_time = process.wait(-1, look_again) == judge::Process::Event::ended;
            fits = room_of(folder_) <= git_disk_bytes;
        }
        process.kill();
        const judge::End& end = process.end();
        if (end.kind == judge::End::Kind::not_started || (in_time && end.kind == judge::End::Kind::lost))
            throw InfraError(fmt::format("git could not be run: {}", judge::why_not_started(end)));
        if (in_time && end.kind == judge::End::Kind::exited && end.code == 0) {
            const std::string text = process.output().text();
            return trimmed(text.substr(0, text.find('\n')));
        }
        if (!fits) throw ClassError(too_large());
        throw ClassError(why(process, in_time, origin ? "clone" : arguments.at(1)));
    }

    static std::string too_large() { return ArchiveLimits().exceeded_by(Unpacked{0, git_file_bytes + 1}); }

    static std::string why(const judge::Process& process, bool in_time, const std::string& verb) {
        const judge::End& end = process.end();
        const std::string text = process.errors().text();
        const auto says = [&](const char* words) { return text.find(words) != std::string::npos; };
        const bool killed = end.kind == judge::End::Kind::signalled;
        if (!in_time) return fmt::format("git takes more than {} s", git_seconds);
        if (says("File too large") || (killed && end.code == SIGXFSZ)) return too_large();
        if (end.cpu_seconds > 0.99 * git_cpu_seconds)
            return fmt::format("git takes more than {} s", git_cpu_seconds);
        if (says("ut of memory") || says("Cannot allocate memory") || killed)
            return fmt::format("git needs more than {} GiB of memory", git_memory >> 30);
        return fmt::format("git {}: {}", verb, last_words(text));
    }

    fs::path folder_;
    const std::function<void()>& heed_;
};

}  // namespace

std::string without_login(const std::string& text) {
    constexpr std::string_view scheme = "://";
    std::string shown;
    std::size_t done = 0;
    for (std::size_t at = text.find(scheme); at != std::string::npos; at = text.find(scheme, at + 1)) {
        const std::size_t begin = at + scheme.size(), end = text.find_first_of("/@' \t\n\v\f\r", begin);
        if (begin < done || end == std::string::npos || text[end] != '@') continue;
        shown += text.substr(done, begin - done);
        done = end + 1;
    }
    return shown + text.substr(done);
}

Exported export_commit(const std::string& repository, const std::string& asked,
                       const std::optional<Time>& due, const fs::path& folder,
                       const std::function<void()>& heed) {
    const Origin origin = origin_of(repository);
    if (!origin.remote) refuse_links(origin.place);
    const Git git(folder, heed);
    git.clone(origin);
    // Its student may have put one there meanwhile.
    if (!origin.remote) refuse_links(origin.place);
    const std::optional<Time> before = asked.empty() ? due : parse_time(asked);
    const bool is_hash = asked.size() >= 7 && asked.size() <= 64 &&
                         asked.find_first_not_of("0123456789abcdef") == std::string::npos;
    std::string commit;
    if (before) {
        commit = git.in_copy({"rev-list", "-1", "--first-parent", "--before=" + time_text(*before), "HEAD"});
        if (commit.empty()) throw ClassError("it has no commit before " + time_text(*before));
    } else if (asked.empty()) {
        commit = git.in_copy({"rev-parse", "HEAD"});
    } else if (is_hash) {
        commit = git.in_copy({"rev-parse", "--verify", "--end-of-options", asked + "^{commit}"});
    } else {
        throw ClassError(
            fmt::format("'{}' is neither a commit nor a time with its offset", clean_name(asked)));
    }
    git.in_copy({"archive", "--format=tar", "--output=" + git.archive().string(), commit});
    return {commit, git.archive()};
}

}  // namespace rungs::classroom
