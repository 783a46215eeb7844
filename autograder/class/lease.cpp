#include "class/lease.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "class/assignment.hpp"
#include "report/text.hpp"
#include "rungs/atomic_file.hpp"

namespace rungs::classroom {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

std::string first_line_of(const fs::path& file) {
    try {
        const std::string text = read_file(file);
        return text.substr(0, text.find('\n'));
    } catch (const FileError&) {
        return "";
    }
}

std::string host_name() {
    char name[256] = "";
    gethostname(name, sizeof name - 1);
    return name;
}

/// A field of a process's stat, from the third on; empty where that is not told.
std::string field_of(const std::string& process, int which) {
    const std::string line = first_line_of("/proc/" + process + "/stat");
    std::size_t at = line.rfind(')');  // behind its name, which may hold anything
    for (int field = 2; at != std::string::npos && field < which; ++field) at = line.find(' ', at + 1);
    return at == std::string::npos ? "" : line.substr(at + 1, line.find(' ', at + 1) - at - 1);
}

/// When a process began, in ticks of its kernel.
std::string start_of(const std::string& process) { return field_of(process, 22); }

/// Whether it has ended, and nobody has asked for its status: not every container's first process does.
bool is_left_over(const std::string& process) { return field_of(process, 3) == "Z"; }

std::string this_process() {
    const std::string process = std::to_string(getpid());
    const char* const job = std::getenv("SLURM_JOB_ID");
    return Json{
               {"host", host_name()},
               {"process", process},
               {"started", time_text(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now()))},
               {"boot", judge::boot_id()},
               {"namespace", judge::process_namespace()},
               {"began", start_of(process)},
               {"job", job ? job : ""}}
               .dump() +
           '\n';
}

/// What a lease's file is at a moment.
struct Seen {
    dev_t device = 0;
    ino_t number = 0;
    timespec touched{};
    Json text;  ///< null: it is empty

    bool same_file(const struct stat& status) const {
        return device == status.st_dev && number == status.st_ino;
    }
    std::string field(const char* name) const {
        return text.contains(name) && text.at(name).is_string() ? clean_name(text.at(name).get<std::string>())
                                                                : std::string();
    }
};

/// Opens it, since a file server's clients then ask the server. @returns nothing where there is no file
std::optional<Seen> look(const fs::path& file) {
    const judge::Descriptor opened(open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    // Taken away between the two, on a file server.
    if (!opened && (errno == ENOENT || errno == ESTALE)) return std::nullopt;
    struct stat status {};
    char text[2048];
    const ssize_t size =
        opened && fstat(opened.get(), &status) == 0 ? read(opened.get(), text, sizeof text) : -1;
    if (size < 0) {
        if (errno == ESTALE) return std::nullopt;
        throw FileError(file, errno, "could not read the lock");
    }
    Seen seen{status.st_dev, status.st_ino, status.st_mtim, nullptr};
    if (size == 0) return seen;
    seen.text = Json::parse(std::string(text, static_cast<std::size_t>(size)), nullptr, false);
    if (!seen.text.is_object() || seen.field("process").empty())
        throw ClassError(file.string() +
                         ": this is not what rungs has written; if nobody grades here, delete it");
    return seen;
}

enum class Life { here, gone, unknown };

/// What can be told without waiting.
Life life_of(const Seen& seen) {
    if (seen.text.is_null()) return Life::gone;
    const bool same_kernel = seen.field("boot") == judge::boot_id();
    if (!same_kernel) return seen.field("host") == host_name() ? Life::gone : Life::unknown;  // restarted
    if (seen.field("namespace") != judge::process_namespace()) return Life::unknown;
    const std::string process = seen.field("process");
    const int number = std::atoi(process.c_str());
    if (number <= 0 || (kill(number, 0) != 0 && errno == ESRCH)) return Life::gone;
    if (is_left_over(process)) return Life::gone;
    const std::string start = start_of(process);
    return start.empty() || start == seen.field("began") ? Life::here : Life::gone;
}

Holder holder(const Seen& seen) {
    return {seen.field("process"), seen.field("host"), seen.field("started"), seen.field("job")};
}

/// Watches a file until it is touched or another, or there is none (true), or `pace.patience` has passed.
bool is_touched(const fs::path& file, const Seen& before, const Meanwhile& meanwhile, const Pace& pace) {
    const auto end = Clock::now() + pace.patience;
    const auto step = std::min<std::chrono::milliseconds>(pace.touch / 4, std::chrono::seconds(1));
    while (Clock::now() < end) {
        if (meanwhile) meanwhile(holder(before));
        std::this_thread::sleep_for(step);
        const std::optional<Seen> now = look(file);
        if (!now || now->number != before.number || now->device != before.device ||
            now->touched.tv_sec != before.touched.tv_sec || now->touched.tv_nsec != before.touched.tv_nsec)
            return true;
    }
    return false;
}

/// As long as it is that one: what somebody else has put there meanwhile goes back.
void take_away(const fs::path& file, const Seen& seen) {
    const fs::path aside =
        file.parent_path() / fmt::format(".{}.{}-{}", file.filename().string(), host_name(), getpid());
    if (rename(file.c_str(), aside.c_str()) != 0) {
        if (errno == ENOENT) return;
        throw FileError(file, errno, "could not take over the lock");
    }
    struct stat status {};
    std::error_code taken;  // a third one has come first
    if (lstat(aside.c_str(), &status) == 0 && !seen.same_file(status))
        fs::create_hard_link(aside, file, taken);
    unlink(aside.c_str());
}

/// The file as somebody holds it, or the one to take away, or nothing.
struct Found {
    std::optional<Seen> seen;
    bool alive = false;
};

Found find(const fs::path& file, const Meanwhile& meanwhile, const Pace& pace) {
    for (;;) {
        const std::optional<Seen> seen = look(file);
        if (!seen) return {};
        const Life life = life_of(*seen);
        if (life != Life::unknown) return {seen, life == Life::here};
        if (!is_touched(file, *seen, meanwhile, pace)) return {seen, false};
        const std::optional<Seen> now = look(file);
        if (now && now->device == seen->device && now->number == seen->number) return {now, true};
    }
}

}  // namespace

std::string Holder::text() const {
    return fmt::format("process {} on {}{} since {}", process, host, job.empty() ? "" : " (job " + job + ")",
                       started);
}

std::optional<Holder> holder_of(const fs::path& file, const Meanwhile& meanwhile, const Pace& pace) {
    const Found found = find(file, meanwhile, pace);
    return found.alive ? std::optional<Holder>(holder(*found.seen)) : std::nullopt;
}

Lease::Lease(const fs::path& file, const Meanwhile& meanwhile, const Pace& pace) : file_(file) {
    while (!write_new_file(file, this_process())) {
        const Found found = find(file, meanwhile, pace);
        if (!found.seen) continue;
        if (found.alive) {
            throw ClassError(fmt::format("{} is being graded by {}; wait for it, or name another folder",
                                         file.parent_path().string(), holder(*found.seen).text()));
        }
        take_away(file, *found.seen);
        if (found.seen->text.is_null()) continue;
        taken_over_ =
            fmt::format("process {}, which had graded here since {}, was interrupted{}; its records are kept",
                        found.seen->field("process"), found.seen->field("started"),
                        found.seen->field("host") != host_name() ? " (on " + found.seen->field("host") + ")"
                        : found.seen->field("boot") != judge::boot_id() ? " (the machine has been restarted)"
                                                                        : "");
    }
    held_ = judge::Descriptor(open(file.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
    if (!held_) throw FileError(file, errno, "could not open the lock");
    toucher_ = std::thread([this, pace] {
        std::unique_lock lock(mutex_);
        while (!ends_.wait_for(lock, pace.touch, [this] { return ending_; })) {
            // It takes no room, so that a full disk does not look like death.
            if (futimens(held_.get(), nullptr) != 0 && errno == ESTALE) lost_ = true;
            if (!is_ours()) lost_ = true;
        }
    });
}

Lease::~Lease() {
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
    }
    ends_.notify_all();
    toucher_.join();
    if (is_ours()) unlink(file_.c_str());
}

bool Lease::is_ours() const {
    struct stat now {
    }, mine{};
    if (lstat(file_.c_str(), &now) != 0)
        return errno != ENOENT;  // a server that does not answer decides nothing
    return fstat(held_.get(), &mine) == 0 && now.st_dev == mine.st_dev && now.st_ino == mine.st_ino;
}

}  // namespace rungs::classroom
