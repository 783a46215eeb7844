#include "atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

namespace rungs {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& file, const char* doing, int error) {
    const char* advice = "";
    if (error == ENOSPC || error == EDQUOT) advice = "; free some space and try again";
    if (error == EACCES || error == EPERM || error == EROFS)
        advice = "; choose a folder that you may write to";
    if (error == EFBIG) advice = "; the limit on file sizes is too low (ulimit -f)";
    throw FileError(file.string() + ": cannot " + doing + ": " + std::strerror(error) + advice);
}

/// Over the file size limit the kernel sends SIGXFSZ, which would end the program before it could explain
/// itself.
class IgnoreFileSizeSignal {
  public:
    IgnoreFileSizeSignal() : before_(std::signal(SIGXFSZ, SIG_IGN)) {}
    ~IgnoreFileSizeSignal() { std::signal(SIGXFSZ, before_); }
    IgnoreFileSizeSignal(const IgnoreFileSizeSignal&) = delete;
    IgnoreFileSizeSignal& operator=(const IgnoreFileSizeSignal&) = delete;

  private:
    void (*before_)(int);
};

/// Owns the temporary file until it has become the real one.
class Temporary {
  public:
    explicit Temporary(const fs::path& file) : name_(file.string() + ".tmp-XXXXXX") {
        descriptor_ = mkostemp(name_.data(), O_CLOEXEC);
        if (descriptor_ < 0) fail(file, "write", errno);
    }
    ~Temporary() {
        if (descriptor_ >= 0) close(descriptor_);
        if (!name_.empty()) unlink(name_.c_str());
    }
    Temporary(const Temporary&) = delete;
    Temporary& operator=(const Temporary&) = delete;

    int descriptor() const { return descriptor_; }

    int close_checked() {
        const int result = close(descriptor_);
        descriptor_ = -1;
        return result;
    }

    int rename_to(const fs::path& file) {
        if (std::rename(name_.c_str(), file.c_str()) != 0) return -1;
        name_.clear();
        return 0;
    }

  private:
    std::string name_;
    int descriptor_ = -1;
};

}  // namespace

void write_atomically(const fs::path& target, std::string_view content) {
    std::error_code error;
    // Renaming onto a link would replace the link; what it points to is what should change.
    fs::path file = fs::is_symlink(target, error) ? fs::weakly_canonical(target, error) : target;
    if (file.empty() || error) file = target;
    if (fs::is_directory(file, error)) fail(target, "write", EISDIR);
    if (fs::exists(file, error) && !fs::is_regular_file(file, error)) {
        // A device or a pipe (/dev/full, /dev/stdout, a process substitution) cannot be renamed onto: write
        // to it.
        const int out = open(file.c_str(), O_WRONLY | O_CLOEXEC);
        if (out < 0) fail(target, "write", errno);
        while (!content.empty()) {
            const ssize_t done = write(out, content.data(), content.size());
            if (done < 0 && errno == EINTR) continue;
            if (done < 0) {
                const int reason = errno;
                close(out);
                fail(target, "write", reason);
            }
            content.remove_prefix(static_cast<std::size_t>(done));
        }
        if (close(out) != 0) fail(target, "write", errno);
        return;
    }
    const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
    fs::create_directories(folder, error);
    if (error) fail(folder, "make this folder", error.value());

    const IgnoreFileSizeSignal guard;
    Temporary temporary(file);
    while (!content.empty()) {
        const ssize_t done = write(temporary.descriptor(), content.data(), content.size());
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) fail(target, "write", errno);
        content.remove_prefix(static_cast<std::size_t>(done));
    }
    struct stat before = {};
    mode_t mode = 0;
    if (stat(file.c_str(), &before) == 0) {
        mode = before.st_mode & 07777;
    } else {
        const mode_t mask = umask(0);  // umask can only be read by setting it
        umask(mask);
        mode = 0666 & ~mask;
    }
    if (fchmod(temporary.descriptor(), mode) != 0) fail(target, "write", errno);
    if (fsync(temporary.descriptor()) != 0) fail(target, "write", errno);
    if (temporary.close_checked() != 0) fail(target, "write", errno);
    if (temporary.rename_to(file) != 0) fail(target, "write", errno);
    // The new name must survive a power cut as well; a file system that cannot do this has done what it can.
    if (const int parent = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); parent >= 0) {
        fsync(parent);
        close(parent);
    }
}

std::string read_file(const fs::path& file, std::size_t limit) {
    const int in = open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (in < 0) fail(file, "read", errno);
    std::string content;
    char buffer[1 << 16];
    for (;;) {
        const ssize_t got = read(in, buffer, sizeof buffer);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            const int reason = errno;
            close(in);
            fail(file, "read", reason);
        }
        if (got == 0) break;
        content.append(buffer, static_cast<std::size_t>(got));
        if (content.size() > limit) {
            close(in);
            throw FileError(file.string() + ": is larger than " + std::to_string(limit) +
                            " bytes; that is not a source file");
        }
    }
    close(in);
    return content;
}

}  // namespace rungs
