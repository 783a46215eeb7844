#include "class/archive.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "class/file_names.hpp"
#include "judge/build/build.hpp"
#include "judge/confine/process.hpp"
#include "judge/result/clean_text.hpp"
#include "protocol/archive_frame.hpp"

namespace rungs::classroom {
namespace {

namespace fs = std::filesystem;
using judge::Descriptor;
using judge::InfraError;
using protocol::ArchiveFrame;
using protocol::ArchiveSays;

constexpr std::size_t longest_path = 1024;
constexpr std::string_view endings[] = {".zip",    ".tar", ".tar.gz",  ".tgz",
                                        ".tar.xz", ".txz", ".tar.zst", ".tar.bz2"};
constexpr const char* reader_failed = "it made the reader of archives fail";

/// Why a path is refused; empty: it is fine.
std::string bad_path(const std::string& path) {
    if (path.empty()) return "a file has no name";
    if (path.size() > longest_path) return "a path is longer than 1024 bytes";
    if (clean_name(path) != path)
        return fmt::format("'{}': the name is not UTF-8, or holds control characters", clean_name(path));
    if (path.front() == '/' || path.find('\\') != std::string::npos)
        return fmt::format("'{}' leads out of the hand-in", path);
    for (const fs::path& part : fs::path(path)) {
        if (part == "..") return fmt::format("'{}' leads out of the hand-in", path);
    }
    return "";
}

/// Decides on what the reader says, in whose place a fault of libarchive may have put somebody else.
class Listener {
  public:
    using Wanted = std::function<bool(const std::string&)>;
    using Take = std::function<void(const std::string&, std::string)>;

    Listener(double packed, const ArchiveLimits& limits, const Wanted& wanted, const Take& take,
             const Unpacked& before, const Wanted& spares)
        : packed_(packed),
          limits_(limits),
          wanted_(wanted),
          take_(take),
          spares_(spares),
          before_(before),
          all_(before) {}

    /// Files and bytes, those of before included.
    const Unpacked& all() const { return all_; }

    /// @returns nothing: there is more to come; why the archive is refused; empty: it has been read
    std::optional<std::string> hear(const ArchiveFrame& frame, const std::string& text) {
        const std::string much = too_much(frame);
        switch (frame.says) {
            case ArchiveSays::bytes:
                return much.empty() ? content(text) : much;
            case ArchiveSays::unknown:
                return "it is not an archive that can be read: " + message(text);
            case ArchiveSays::damaged:
                return (in_file_ ? fmt::format("'{}' is damaged: ", path_) : "it is damaged: ") +
                       message(text);
            case ArchiveSays::end:
                end_file();
                return all_.files == before_.files ? "it is empty" : much;
            default:
                end_file();
                return much.empty() ? entry(frame.says, text) : much;
        }
    }

  private:
    static std::string message(const std::string& text) {
        return clean_name(text.empty() ? "unknown error" : text).substr(0, 200);
    }

    std::optional<std::string> entry(ArchiveSays kind, std::string path) {
        ++all_.files;
        if (const std::string much = limits_.exceeded_by(all_); !much.empty()) return much;
        while (path.size() > 1 && path.back() == '/') path.pop_back();
        while (path.compare(0, 2, "./") == 0) path.erase(0, 2);
        if (kind == ArchiveSays::folder && (path.empty() || path == ".")) return std::nullopt;
        if (const std::string bad = bad_path(path); !bad.empty()) return bad;
        switch (kind) {
            case ArchiveSays::folder:
                return std::nullopt;
            case ArchiveSays::link:
                return fmt::format("'{}' is a link", path);
            case ArchiveSays::encrypted:
                return fmt::format("'{}' is encrypted", path);
            case ArchiveSays::file:
                break;
            default:
                return fmt::format("'{}' is a device, a pipe or a socket", path);
        }
        if (!paths_.insert(folded(path)).second)
            return fmt::format("'{}' is there twice, perhaps in capitals and small letters", path);
        in_file_ = true;
        is_wanted_ = wanted_(path);
        path_ = std::move(path);
        return std::nullopt;
    }

    /// What nobody wants is read as well: its size counts.
    std::optional<std::string> content(const std::string& more) {
        if (!in_file_) return reader_failed;
        if (!is_wanted_) return std::nullopt;
        bytes_ += more;
        const std::string large = limits_.exceeded_by(path_, bytes_.size());
        if (large.empty()) return std::nullopt;
        if (!spares_ || !spares_(path_)) return large;
        is_wanted_ = false;
        bytes_.clear();
        return std::nullopt;
    }

    void end_file() {
        if (std::exchange(in_file_, false) && is_wanted_) take_(path_, std::exchange(bytes_, {}));
    }

    /// Both what came out of the filter, such as gzip, and what files hold: a zip has no filter.
    std::string too_much(const ArchiveFrame& frame) {
        if (frame.says == ArchiveSays::bytes) held_ += frame.size;
        const std::size_t size = std::max<std::size_t>(held_, frame.unpacked);
        all_.bytes = before_.bytes + size;
        if (const std::string much = limits_.exceeded_by(all_); !much.empty()) return much;
        if (size > (16 << 20) && static_cast<double>(size) > limits_.ratio * packed_)
            return fmt::format("it unpacks to more than {} times its size", limits_.ratio);
        return "";
    }

    const double packed_;  ///< bytes
    const ArchiveLimits& limits_;
    const Wanted& wanted_;
    const Take& take_;
    const Wanted& spares_;
    const Unpacked before_;
    Unpacked all_;
    std::size_t held_ = 0;  ///< bytes in files
    std::set<std::string> paths_;
    // Of the file that is being read:
    bool in_file_ = false, is_wanted_ = false;
    std::string path_, bytes_;
};

/// Reads exactly `size` bytes until `deadline`; false: the child has ended, or takes too long.
bool read_all(int pipe, void* into, std::size_t size, judge::Clock::time_point deadline) {
    for (std::size_t done = 0; done < size;) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(deadline - judge::Clock::now()).count();
        pollfd ready{pipe, POLLIN, 0};
        if (left <= 0) return false;
        if (poll(&ready, 1, static_cast<int>(left)) <= 0) continue;
        const ssize_t got = read(pipe, static_cast<char*>(into) + done, size - done);
        if (got == 0 || (got < 0 && errno != EINTR)) return false;
        if (got > 0) done += static_cast<std::size_t>(got);
    }
    return true;
}

}  // namespace

std::string ArchiveLimits::exceeded_by(const Unpacked& all) const {
    if (all.files > files) return fmt::format("it has more than {} files", files);
    if (all.bytes > total_bytes) return fmt::format("it unpacks to more than {} MiB", total_bytes >> 20);
    return "";
}

std::string ArchiveLimits::exceeded_by(const std::string& path, std::size_t bytes) const {
    return bytes > file_bytes ? fmt::format("'{}' is larger than {} KiB", path, file_bytes >> 10) : "";
}

std::string archive_endings() { return fmt::format("{}", fmt::join(endings, ", ")); }

bool is_archive(const fs::path& file) {
    const std::string name = folded(without_copy_number(file.filename().string()));
    return std::any_of(std::begin(endings), std::end(endings),
                       [&](std::string_view end) { return name.size() > end.size() && name.ends_with(end); });
}

judge::Reader archive_reader() {
    return {.program = RUNGS_ARCHIVE_READER,
            .memory = 4ULL << 30};  // filters may ask for much, and use little
}

std::string read_archive(const fs::path& file, const ArchiveLimits& limits,
                         const std::function<bool(const std::string&)>& wanted,
                         const std::function<void(const std::string&, std::string)>& take, Unpacked* before,
                         judge::Reader reader, const std::function<bool(const std::string&)>& spares) {
    Unpacked all = before ? *before : Unpacked();
    const Descriptor archive(open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat status {};
    if (!archive || fstat(archive.get(), &status) != 0 || !S_ISREG(status.st_mode))
        return "it is not a regular file";
    judge::Pipe pipe;
    reader.cpu_seconds = limits.seconds;
    std::unique_ptr<judge::Process> process;
    try {
        process = judge::start_held(reader, {{archive.get(), 3}, {pipe.write.get(), 4}});
    } catch (const std::system_error& error) {
        throw InfraError(fmt::format("the reader of archives cannot be started: {}", error.what()));
    }
    pipe.write.close();
    const auto start = judge::Clock::now();
    const auto deadline = judge::in_seconds(limits.seconds - all.seconds);
    Listener listener(static_cast<double>(status.st_size), limits, wanted, take, all, spares);
    std::optional<std::string> said;
    for (ArchiveFrame frame{}; !said && read_all(pipe.read.get(), &frame, sizeof frame, deadline);) {
        std::string text(std::min(frame.size, protocol::archive_frame_bytes), '\0');
        if (text.size() != frame.size || !read_all(pipe.read.get(), text.data(), text.size(), deadline))
            break;
        said = listener.hear(frame, text);
    }
    std::string refused = said.value_or(reader_failed);
    if (judge::Clock::now() > deadline)
        refused = fmt::format("it takes more than {} s to unpack", limits.seconds);
    all = listener.all();
    all.seconds += std::chrono::duration<double>(judge::Clock::now() - start).count();
    if (before) *before = all;
    process->kill();
    if (process->end().kind == judge::End::Kind::not_started) {
        throw InfraError(
            fmt::format("the reader of archives cannot be confined on this machine ({}): see ./rungs doctor",
                        judge::why_not_started(process->end())));
    }
    return refused;
}

}  // namespace rungs::classroom
