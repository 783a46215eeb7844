#pragma once
// Reads archives that students have packed. libarchive runs in a child process that is held like a worker:
// it has the archive and a pipe, and neither files, network nor other processes. What comes out of the pipe
// is checked again here.

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>

namespace rungs::classroom {

struct ArchiveLimits {
    std::size_t files = 10'000;
    std::size_t file_bytes = 1U << 20;     ///< of each file that is taken
    std::size_t total_bytes = 256U << 20;  ///< of all that it unpacks to, taken or not
    double ratio = 200;                    ///< unpacked to packed, once that is more than 16 MiB
    double seconds = 60;
};

/// Whether a file's name says that it is an archive: .zip, .tar, .tar.gz, .tgz, .tar.xz, .tar.zst, .tar.bz2.
bool is_archive(const std::filesystem::path& file);

/// Hands every regular file whose name `wanted` likes to `take`, with its path in the archive: relative,
/// without "." and "..", valid UTF-8 without control characters, no two the same but for their case.
/// @returns why the archive is refused, in which case some files may have been handed over; empty: it is not.
/// @throws judge::InfraError where the child cannot be started
std::string read_archive(const std::filesystem::path& file, const ArchiveLimits& limits,
                         const std::function<bool(const std::string& path)>& wanted,
                         const std::function<void(const std::string& path, std::string bytes)>& take);

}  // namespace rungs::classroom
