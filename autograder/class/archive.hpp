#pragma once
// Reads archives that students have packed. libarchive runs in a program of its own that is held like a
// worker (reader/archive_reader.cpp): it has the archive and a pipe, and neither files, network nor other
// processes. What to make of what comes out of the pipe is decided here.

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>

#include "judge/confine/held_reader.hpp"

namespace rungs::classroom {

/// What has been read of a hand-in, which may be several archives and files beside them.
struct Unpacked {
    std::size_t files = 0, bytes = 0;
    double seconds = 0;
};

struct ArchiveLimits {
    std::size_t files = 10'000;
    std::size_t file_bytes = 1U << 20;     ///< of each file that is taken
    std::size_t total_bytes = 256U << 20;  ///< of all that it unpacks to, taken or not
    double ratio = 200;                    ///< unpacked to packed, once that is more than 16 MiB
    double seconds = 60;

    /// Why so many files or bytes are refused; empty: they are not.
    std::string exceeded_by(const Unpacked& all) const;
    /// Why a file of that size is refused; empty: it is not.
    std::string exceeded_by(const std::string& path, std::size_t bytes) const;
};

/// What the names of archives end with that are read, for messages: ".zip, .tar, ...".
std::string archive_endings();

/// Whether a file's name says that it is one of these.
bool is_archive(const std::filesystem::path& file);

/// Reads archives: autograder/reader/archive_reader.cpp.
judge::Reader archive_reader();

/// Hands every regular file whose name `wanted` likes to `take`, with its path in the archive: relative,
/// without "." and "..", valid UTF-8 without control characters, no two the same but for their case.
/// @param before  what has been read of the same hand-in, which counts for all limits but the ratio; with
///                this archive afterwards. Null: nothing
/// @param spares  asked about a wanted file that is too large: true leaves that file out, and false refuses
///                the archive. Null: false
/// @returns why the archive is refused, in which case some files may have been handed over; empty: it is not.
/// @throws judge::InfraError where the child cannot be started
std::string read_archive(const std::filesystem::path& file, const ArchiveLimits& limits,
                         const std::function<bool(const std::string& path)>& wanted,
                         const std::function<void(const std::string& path, std::string bytes)>& take,
                         Unpacked* before = nullptr, judge::Reader reader = archive_reader(),
                         const std::function<bool(const std::string& path)>& spares = nullptr);

}  // namespace rungs::classroom
