#include "rungs/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>

namespace rungs {
namespace {

const char* advice(const std::filesystem::path& path, int error, const std::string& doing) {
    std::error_code unknown;
    const bool reads = doing == "could not read" || doing == "could not list the folder";
    if (reads && (error == EACCES || error == EPERM))
        return "you may not read it: its owner, or the group that it is shared with, may";
    switch (error) {
        case ENOSPC:
            return "the disk is full: free some space, or name a folder on another disk";
        case EDQUOT:
            return "your disk quota is used up: delete files, or name a folder on another disk";
        case EFBIG:
            return "the file is larger than this system allows (see `ulimit -f`)";
        case EACCES:
        case EPERM:
            return "you may not write there: change the permissions, or name another folder";
        case EROFS:
            return "this file system is read-only: name another folder";
        case ENOENT:
            if (std::filesystem::is_directory(std::filesystem::absolute(path, unknown).parent_path(),
                                              unknown))
                return "there is no such file: check the spelling";
            return "the folder does not exist: create it, or check the spelling";
        case ENOTDIR:
            return "a part of the path is a file, not a folder";
        case EISDIR:
            return "this is a folder: name a file";
        case EMFILE:
        case ENFILE:
            return "too many files are open (see `ulimit -n`)";
        case EIO:
            return "the disk reports an error: look at `dmesg`, and write elsewhere";
        default:
            return "";
    }
}

std::string explain(const std::filesystem::path& path, int error, const std::string& doing) {
    std::string text = path.string() + ": " + doing;
    if (error == 0) return text;
    text += std::string(": ") + std::strerror(error);
    const std::string hint = advice(path, error, doing);
    return hint.empty() ? text : text + "\n  hint: " + hint;
}

/// Bytes that a disk should have left before there is anything to write.
constexpr std::size_t enough = 1 << 20;

/// An open descriptor that closes itself.
class Descriptor {
  public:
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (number_ >= 0) ::close(number_);
    }
    int get() const { return number_; }
    bool valid() const { return number_ >= 0; }

  private:
    int number_;
};

/// 0 or errno.
int write_all(int descriptor, std::string_view contents) {
    while (!contents.empty()) {
        const ssize_t written = ::write(descriptor, contents.data(), contents.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return errno;
        contents.remove_prefix(static_cast<std::size_t>(written));
    }
    return 0;
}

/// A name beside `target` that no other writer uses, nor one on another machine that shares the folder, nor
/// one that was killed and had the same process number.
std::filesystem::path temporary_name(const std::filesystem::path& target) {
    static std::atomic<unsigned> counter{0};
    static const std::string mine = std::to_string(std::random_device{}());
    const std::string suffix =
        "." + std::to_string(::getpid()) + "-" + mine + "-" + std::to_string(counter++) + ".tmp";
    // 255 bytes is what file systems allow: a long name must leave room for the suffix.
    return target.parent_path() / ("." + target.filename().string().substr(0, 200) + suffix);
}

/// A new file without a name, so that nothing is left behind whenever the process dies; where the file system
/// cannot do that, one with the name `temporary`.
int open_temporary(const std::filesystem::path& temporary, bool& named) {
    const std::filesystem::path folder = temporary.parent_path();
    named = false;
#ifdef O_TMPFILE
    const int nameless =
        ::open(folder.empty() ? "." : folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    if (nameless >= 0) return nameless;
#endif
    named = true;
    return ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

/// Where a file is going to be.
struct Target {
    std::filesystem::path path;
    bool exists = false;
    bool regular = true;
    mode_t mode = 0;
};

/// @throws FileError where nothing can be written
Target find_target(const std::filesystem::path& path, Special special, const std::string& doing) {
    struct stat status {};
    const bool use = special == Special::use;
    const bool exists = (use ? ::stat(path.c_str(), &status) : ::lstat(path.c_str(), &status)) == 0;
    if (path.empty()) throw FileError(path, ENOENT, doing);
    if (path.filename().empty() || (exists && S_ISDIR(status.st_mode))) throw FileError(path, EISDIR, doing);
    if (exists && !S_ISREG(status.st_mode)) {
        if (!use) {
            const char* what = S_ISLNK(status.st_mode) ? "link" : "device or pipe";
            throw FileError(
                path, 0, doing + ": it is a " + what + ", which is not used here\n  hint: name another file");
        }
        return {path, true, false, status.st_mode};
    }
    std::error_code ignored;
    const Target target{exists && use ? std::filesystem::canonical(path, ignored) : path, exists, true,
                        status.st_mode};
    if (exists && ::access(target.path.c_str(), W_OK) != 0) throw FileError(path, errno, doing);
    return target;
}

/// Writes a new file, flushed to the disk; what cannot be written leaves none. @returns 0 or errno
int write_temporary(const std::filesystem::path& temporary, std::string_view contents, const Target& target) {
    bool named = false;
    const Descriptor file(open_temporary(temporary, named));
    if (!file.valid()) return errno;
    int error = write_all(file.get(), contents);
    if (error == 0 && ::fsync(file.get()) != 0 && errno != EINVAL && errno != EROFS) error = errno;
    if (error == 0 && target.exists) static_cast<void>(::fchmod(file.get(), target.mode & 07777));
    if (error == 0 && !named) {
        const std::string self = "/proc/self/fd/" + std::to_string(file.get());
        if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, temporary.c_str(), AT_SYMLINK_FOLLOW) != 0)
            error = errno;
    }
    if (error != 0 && named) ::unlink(temporary.c_str());
    return error;
}

}  // namespace

FileError::FileError(const std::filesystem::path& path, int error, const std::string& doing)
    : std::runtime_error(explain(path, error, doing)), path_(path), error_(error) {}

void write_file(const std::filesystem::path& path, std::string_view contents, Special special) {
    const std::string doing = "could not write " + std::to_string(contents.size()) + " bytes";
    const Target target = find_target(path, special, doing);
    if (!target.regular) {  // a rename would replace the device by a file
        const Descriptor device(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
        const int error = device.valid() ? write_all(device.get(), contents) : errno;
        if (error != 0) throw FileError(path, error, doing);
        return;
    }
    const std::filesystem::path temporary = temporary_name(target.path);
    int error = write_temporary(temporary, contents, target);
    if (error == 0 && ::rename(temporary.c_str(), target.path.c_str()) != 0) {
        error = errno;
        ::unlink(temporary.c_str());
    }
    if (error != 0) throw FileError(path, error, doing);
    sync_folder(target.path.parent_path());
}

bool write_new_file(const std::filesystem::path& path, std::string_view contents) {
    const std::string doing = "could not write " + std::to_string(contents.size()) + " bytes";
    struct stat status {};
    if (::lstat(path.c_str(), &status) == 0) return false;
    const std::filesystem::path temporary = temporary_name(path);
    int error = write_temporary(temporary, contents, {});
    if (error != 0) throw FileError(path, error, doing);
    // Unlike a rename it fails where the name is there, on a file server too, whose answer may get lost.
    if (::link(temporary.c_str(), path.c_str()) != 0) {
        error = errno;
        if (::stat(temporary.c_str(), &status) == 0 && status.st_nlink == 2) error = 0;
    }
    // Some file systems have one name for each file.
    if (error == EPERM || error == EOPNOTSUPP)
        error = ::renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) == 0
                    ? 0
                    : errno;
    ::unlink(temporary.c_str());
    if (error == EEXIST) return false;
    if (error != 0) throw FileError(path, error, doing);
    sync_folder(path.parent_path());
    return true;
}

void sync_folder(const std::filesystem::path& path) {
    const Descriptor folder(::open(path.empty() ? "." : path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    // A folder may be open to writers alone.
    if (!folder.valid() && errno == EACCES) return;
    if (!folder.valid() || (::fsync(folder.get()) != 0 && errno != EINVAL && errno != EROFS))
        throw FileError(path, errno, "could not flush the folder");
}

void make_folder(const std::filesystem::path& path) {
    if (path.empty() || std::filesystem::is_directory(path)) return;
    make_folder(path.parent_path());
    if (::mkdir(path.c_str(), 0777) != 0 && errno != EEXIST)
        throw FileError(path, errno, "could not make the folder");
    sync_folder(path.parent_path());
}

void check_writable(const std::filesystem::path& path, Special special) {
    const std::string doing = "could not write";
    const Target target = find_target(path, special, doing);
    int error = 0;
    if (!target.regular) {
        if (::access(path.c_str(), W_OK) != 0) error = errno;
        if (error == 0 && S_ISCHR(target.mode)) {  // opening a pipe would wake its reader
            const Descriptor device(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
            if (!device.valid() || ::write(device.get(), "", 0) != 0) error = errno;  // of /dev/full
        }
    } else {
        const std::filesystem::path temporary = temporary_name(target.path);
        bool named = false;
        const Descriptor file(open_temporary(temporary, named));
        error = file.valid() ? write_all(file.get(), std::string(enough, '\0')) : errno;
        if (file.valid() && named) ::unlink(temporary.c_str());
    }
    if (error != 0) throw FileError(path, error, doing);
}

namespace {

std::string read_all(const Descriptor& file, const std::filesystem::path& path, const std::string& doing,
                     std::size_t most_bytes) {
    std::string contents;
    char chunk[1 << 16];
    while (true) {
        const ssize_t count = ::read(file.get(), chunk, sizeof chunk);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) throw FileError(path, errno, doing);
        if (count == 0) return contents;
        contents.append(chunk, static_cast<std::size_t>(count));
        if (contents.size() > most_bytes)
            throw FileError(path, 0, "this file is larger than any that is read here");
    }
}

}  // namespace

std::string read_file(const std::filesystem::path& path) {
    const std::string doing = "could not read";
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.valid()) throw FileError(path, errno, doing);
    return read_all(file, path, doing, std::numeric_limits<std::size_t>::max());
}

std::string read_regular_file(const std::filesystem::path& path, std::size_t most_bytes) {
    const std::string doing = "could not read";
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!file.valid() && errno == ELOOP) throw FileError(path, 0, "this is a link, and links are not read");
    if (!file.valid()) throw FileError(path, errno, doing);
    struct stat about {};
    if (::fstat(file.get(), &about) != 0) throw FileError(path, errno, doing);
    if (!S_ISREG(about.st_mode)) throw FileError(path, 0, "this is not a regular file");
    return read_all(file, path, doing, most_bytes);
}

}  // namespace rungs
