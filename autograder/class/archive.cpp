#include "class/archive.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <clocale>
#include <cstdint>
#include <cstring>
#include <optional>
#include <set>
#include <system_error>

#include <fmt/format.h>

#include "judge/build.hpp"
#include "judge/clean_text.hpp"
#include "judge/held_reader.hpp"
#include "judge/process.hpp"

namespace rungs::classroom {
namespace {

namespace fs = std::filesystem;
using judge::Descriptor;
using judge::InfraError;

/// What the child says: a kind, the lengths of a text and of bytes, then both.
struct Frame {
    char kind;  // 'f' a file, 'r' the archive is refused, 'e' its end was reached
    std::uint32_t text, bytes;
};

constexpr std::size_t longest_path = 1024;
constexpr std::size_t reader_memory = 4ULL << 30;  ///< filters may ask for much, and use little

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

/// The child's part: all that libarchive does happens here.
class Unpacker {
  public:
    Unpacker(int archive, int pipe, const ArchiveLimits& limits,
             const std::function<bool(const std::string&)>& wanted, const Unpacked& before)
        : input_(archive), pipe_(pipe), limits_(limits), wanted_(wanted), before_(before), all_(before) {}

    void unpack() {
        struct stat status {};
        fstat(input_, &status);
        packed_ = static_cast<double>(status.st_size);
        archive* const in = archive_read_new();
        for (auto* support : {archive_read_support_filter_gzip, archive_read_support_filter_xz,
                              archive_read_support_filter_zstd, archive_read_support_filter_bzip2,
                              archive_read_support_format_zip, archive_read_support_format_tar,
                              archive_read_support_format_gnutar}) {
            support(in);
        }
        std::string refused;
        if (archive_read_open_fd(in, input_, 1 << 16) != ARCHIVE_OK) {
            refused = "it is not an archive that can be read: " + message(in);
        } else {
            refused = entries(in);
        }
        say(refused.empty() ? 'e' : 'r', refused,
            std::string(reinterpret_cast<const char*>(&all_), sizeof all_));
    }

  private:
    std::string message(archive* in) const {
        const char* text = archive_error_string(in);
        return clean_name(text ? text : "unknown error").substr(0, 200);
    }

    std::string entries(archive* in) {
        std::set<std::string> paths;
        for (;;) {
            archive_entry* entry = nullptr;
            const int got = archive_read_next_header(in, &entry);
            if (got == ARCHIVE_EOF) return all_.files == before_.files ? "it is empty" : too_much(in);
            if (got < ARCHIVE_WARN) return "it is damaged: " + message(in);
            ++all_.files;
            if (const std::string much = too_much(in); !much.empty()) return much;
            const char* name = archive_entry_pathname_utf8(entry);
            if (!name) name = archive_entry_pathname(entry);
            std::string path = name ? name : "";
            while (path.size() > 1 && path.back() == '/') path.pop_back();
            while (path.compare(0, 2, "./") == 0) path.erase(0, 2);
            const auto kind = archive_entry_filetype(entry);
            if (kind == AE_IFDIR && (path.empty() || path == ".")) continue;
            if (const std::string bad = bad_path(path); !bad.empty()) return bad;
            if (archive_entry_hardlink(entry) || kind == AE_IFLNK) return fmt::format("'{}' is a link", path);
            if (kind == AE_IFDIR) continue;
            if (kind != AE_IFREG) return fmt::format("'{}' is a device, a pipe or a socket", path);
            if (archive_entry_is_encrypted(entry)) return fmt::format("'{}' is encrypted", path);
            if (!paths.insert(folded(path)).second)
                return fmt::format("'{}' is there twice, perhaps in capitals and small letters", path);
            const std::string refused = content(in, path);
            if (!refused.empty()) return refused;
        }
    }

    /// Reads one file. What nobody wants is read as well: its size counts.
    std::string content(archive* in, const std::string& path) {
        const bool take = wanted_(path);
        std::string bytes;
        static char buffer[1 << 16];
        for (;;) {
            const la_ssize_t got = archive_read_data(in, buffer, sizeof buffer);
            if (got < 0) return fmt::format("'{}' is damaged: {}", path, message(in));
            if (got == 0) break;
            unpacked_ += static_cast<std::size_t>(got);
            if (const std::string much = too_much(in); !much.empty()) return much;
            if (!take) continue;
            bytes.append(buffer, static_cast<std::size_t>(got));
            if (const std::string large = limits_.exceeded_by(path, bytes.size()); !large.empty())
                return large;
        }
        if (take) say('f', path, bytes);
        return "";
    }

    /// Both what came out of the filter, such as gzip, and what files hold: a zip has no filter.
    std::string too_much(archive* in) {
        const std::size_t size = std::max(unpacked_, static_cast<std::size_t>(archive_filter_bytes(in, 0)));
        all_.bytes = before_.bytes + size;
        if (const std::string much = limits_.exceeded_by(all_); !much.empty()) return much;
        if (size > (16 << 20) && static_cast<double>(size) > limits_.ratio * packed_)
            return fmt::format("it unpacks to more than {} times its size", limits_.ratio);
        return "";
    }

    void say(char kind, const std::string& text, const std::string& bytes) const {
        const Frame frame{kind, static_cast<std::uint32_t>(text.size()),
                          static_cast<std::uint32_t>(bytes.size())};
        std::string all(reinterpret_cast<const char*>(&frame), sizeof frame);
        all += text;
        all += bytes;
        for (std::size_t done = 0; done < all.size();) {
            const ssize_t wrote = write(pipe_, all.data() + done, all.size() - done);
            if (wrote < 0 && errno != EINTR) _exit(1);
            if (wrote > 0) done += static_cast<std::size_t>(wrote);
        }
    }

    int input_, pipe_;
    const ArchiveLimits& limits_;
    const std::function<bool(const std::string&)>& wanted_;
    const Unpacked before_;
    Unpacked all_;
    double packed_ = 0;
    std::size_t unpacked_ = 0;
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

bool is_archive(const fs::path& file) {
    const std::string name = folded(file.filename().string());
    for (const std::string end :
         {".zip", ".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.zst", ".tar.bz2"}) {
        if (name.size() > end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0)
            return true;
    }
    return false;
}

std::string read_archive(const fs::path& file, const ArchiveLimits& limits,
                         const std::function<bool(const std::string&)>& wanted,
                         const std::function<void(const std::string&, std::string)>& take, Unpacked* before) {
    Unpacked all = before ? *before : Unpacked();
    const Descriptor archive(open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat status {};
    if (!archive || fstat(archive.get(), &status) != 0 || !S_ISREG(status.st_mode))
        return "it is not a regular file";
    judge::Pipe pipe;
    constexpr int from = 3, to = 4;
    judge::Command command = judge::held_reader(
        [&] {
            setlocale(LC_CTYPE, "C.UTF-8");  // names in UTF-8, whatever this process speaks
            Unpacker(from, to, limits, wanted, all).unpack();
            return 0;
        },
        limits.seconds, reader_memory);
    command.descriptors = {{archive.get(), from}, {pipe.write.get(), to}};
    std::optional<judge::Process> child;
    try {
        child.emplace(command);
    } catch (const std::system_error& error) {
        throw InfraError(fmt::format("the reader of archives cannot be started: {}", error.what()));
    }
    pipe.write.close();
    const auto start = judge::Clock::now();
    const auto deadline = judge::in_seconds(limits.seconds - all.seconds);
    std::string refused = "it made the reader of archives fail";
    for (Frame frame{}; read_all(pipe.read.get(), &frame, sizeof frame, deadline);) {
        std::string text(std::min<std::size_t>(frame.text, longest_path + 200), '\0');
        if (text.size() != frame.text || frame.bytes > limits.file_bytes) break;
        std::string bytes(frame.bytes, '\0');
        if (!read_all(pipe.read.get(), text.data(), text.size(), deadline) ||
            !read_all(pipe.read.get(), bytes.data(), bytes.size(), deadline)) {
            break;
        }
        // From a process that a fault of libarchive may have given to somebody else.
        if (frame.kind == 'r') refused = clean_name(text);
        if (Unpacked told; frame.kind == 'e' && bytes.size() == sizeof told) {
            std::memcpy(&told, bytes.data(), sizeof told);
            if (told.files < all.files || told.bytes < all.bytes || !limits.exceeded_by(told).empty()) break;
            all.files = told.files;
            all.bytes = told.bytes;
            refused = "";
        }
        if (frame.kind != 'f' || !bad_path(text).empty() || !wanted(text)) break;
        ++all.files;
        all.bytes += bytes.size();
        if (!limits.exceeded_by(all).empty()) break;
        take(text, std::move(bytes));
    }
    if (judge::Clock::now() > deadline)
        refused = fmt::format("it takes more than {} s to unpack", limits.seconds);
    all.seconds += std::chrono::duration<double>(judge::Clock::now() - start).count();
    if (before) *before = all;
    child->kill();
    if (child->end().kind == judge::End::Kind::not_started) {
        throw InfraError(
            fmt::format("the reader of archives cannot be confined on this machine ({}): see ./rungs doctor",
                        judge::why_not_started(child->end())));
    }
    return refused;
}

}  // namespace rungs::classroom
