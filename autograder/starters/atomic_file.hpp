#pragma once
// Files that are either whole or not there.

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

namespace rungs {

/// A file could not be read or written: what() is `path: what happened; what to do`.
class FileError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Replaces `file` by `content`, or leaves it as it was: a temporary file in the same folder is written,
/// flushed to the disk and renamed. Missing folders are made, a symbolic link keeps pointing where it did,
/// and the mode of a file that was there is kept.
/// @throws FileError when anything fails (full disk, no permission, file size limit); no temporary file
/// stays.
void write_atomically(const std::filesystem::path& file, std::string_view content);

/// The whole of a file. @throws FileError when it cannot be read, or is a folder or larger than `limit`
/// bytes.
std::string read_file(const std::filesystem::path& file, std::size_t limit = std::size_t{64} << 20);

}  // namespace rungs
