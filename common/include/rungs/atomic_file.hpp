#pragma once
// Files that are either the old ones or the new ones, never half of them: not on a full disk, not on Ctrl-C,
// not when two programs write at once.

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

namespace rungs {

/// A file that could not be written or read: which, why, what to do. `what()` says all three.
class FileError : public std::runtime_error {
  public:
    FileError(const std::filesystem::path& path, int error, const std::string& doing);

    const std::filesystem::path& path() const { return path_; }
    int error() const { return error_; }  ///< errno, or 0 when the contents are at fault

  private:
    std::filesystem::path path_;
    int error_;
};

/// What becomes of a name that is a symbolic link, a device or a pipe: it is used, or refused.
enum class Special { use, refuse };

/// Writes `contents` to a temporary file beside `path`, flushes it to the disk, renames it, and flushes the
/// folder: a reader sees the old file or the new one, and after the return the new one, even if the power
/// fails. With Special::use a symbolic link is followed, and a device or pipe (/dev/stdout) is written
/// directly. Folders are not made. @throws FileError; the old file is then unchanged.
void write_file(const std::filesystem::path& path, std::string_view contents, Special special = Special::use);

/// Writes `contents` to a file that is not there yet, whole and flushed as by write_file(). Of several
/// writers one succeeds, whatever machines they are on. @returns false where the name is taken; nothing has
/// changed then. @throws FileError
bool write_new_file(const std::filesystem::path& path, std::string_view contents);

/// Makes a folder and those above it, all of them flushed to the disk. @throws FileError
void make_folder(const std::filesystem::path& path);

/// Flushes the names in a folder to the disk, where its file system can. @throws FileError
void sync_folder(const std::filesystem::path& path);

/// What write_file() would meet, as far as that can be told before there is anything to write.
/// @throws FileError
void check_writable(const std::filesystem::path& path, Special special = Special::use);

/// The whole file. @throws FileError
std::string read_file(const std::filesystem::path& path);

/// The whole file, if it is one: no link, no device, no pipe, and at most
/// `most_bytes` long. @throws FileError
std::string read_regular_file(const std::filesystem::path& path, std::size_t most_bytes);

}  // namespace rungs
