#pragma once
// What the reader of archives (reader/archive_reader.cpp) says through its pipe: frames, each with so many
// bytes behind it.

#include <cstdint>

namespace rungs::protocol {

enum class ArchiveSays : std::uint32_t {
    file,       ///< a regular file begins; its path as the archive has it
    folder,     ///< a path, as for the next three
    link,       ///< of either kind
    special,    ///< a device, a pipe, a socket
    encrypted,  ///< a file that cannot be read
    bytes,      ///< of the file that began last
    end,        ///< that was all
    unknown,    ///< it is no archive; why
    damaged,    ///< it ends here; why
};

struct ArchiveFrame {
    ArchiveSays says;
    std::uint32_t size;      ///< of what follows: at most archive_frame_bytes
    std::uint64_t unpacked;  ///< bytes that came out of the filter, such as gzip, so far
};

constexpr std::uint32_t archive_frame_bytes = 1 << 16;

}  // namespace rungs::protocol
