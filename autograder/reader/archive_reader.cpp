// Reads an archive that a student has packed: all that libarchive does happens here. The class's intake runs
// it held like a worker (judge/confine/held_reader.hpp) and decides what to make of
// what it says (class/archive.hpp).
//   rungs_archive_reader
// Descriptors: 3 the archive, 4 a pipe for frames (protocol/archive_frame.hpp).

#include <archive.h>
#include <archive_entry.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <clocale>
#include <cstdlib>
#include <cstring>

#include "protocol/archive_frame.hpp"

namespace {

using rungs::protocol::archive_frame_bytes;
using rungs::protocol::ArchiveFrame;
using rungs::protocol::ArchiveSays;

constexpr int archive_file = 3, pipe_end = 4;

void write_all(const void* from, std::size_t size) {
    for (std::size_t done = 0; done < size;) {
        const ssize_t wrote = write(pipe_end, static_cast<const char*>(from) + done, size - done);
        if (wrote < 0 && errno != EINTR) std::_Exit(1);
        if (wrote > 0) done += static_cast<std::size_t>(wrote);
    }
}

void say(archive* in, ArchiveSays what, const void* bytes, std::size_t size) {
    size = std::min<std::size_t>(size, archive_frame_bytes);
    const ArchiveFrame frame{what, static_cast<std::uint32_t>(size),
                             static_cast<std::uint64_t>(archive_filter_bytes(in, 0))};
    write_all(&frame, sizeof frame);
    write_all(bytes, size);
}

void say(archive* in, ArchiveSays what, const char* text) {
    say(in, what, text ? text : "", text ? std::strlen(text) : 0);
}

ArchiveSays kind_of(archive_entry* entry) {
    const auto kind = archive_entry_filetype(entry);
    if (archive_entry_hardlink(entry) || kind == AE_IFLNK) return ArchiveSays::link;
    if (kind == AE_IFDIR) return ArchiveSays::folder;
    if (kind != AE_IFREG) return ArchiveSays::special;
    return archive_entry_is_encrypted(entry) ? ArchiveSays::encrypted : ArchiveSays::file;
}

/// Says what a file holds. @returns false: it is damaged
bool say_content(archive* in) {
    static char buffer[archive_frame_bytes];
    for (;;) {
        const la_ssize_t got = archive_read_data(in, buffer, sizeof buffer);
        if (got < 0) return false;
        if (got == 0) return true;
        say(in, ArchiveSays::bytes, buffer, static_cast<std::size_t>(got));
    }
}

/// Says what there is. @returns false: it is damaged
bool say_entries(archive* in) {
    for (archive_entry* entry = nullptr;;) {
        const int got = archive_read_next_header(in, &entry);
        if (got == ARCHIVE_EOF) return true;
        if (got < ARCHIVE_WARN) return false;
        const char* path = archive_entry_pathname_utf8(entry);
        if (!path) path = archive_entry_pathname(entry);
        const ArchiveSays kind = kind_of(entry);
        say(in, kind, path);
        if (kind == ArchiveSays::file && !say_content(in)) return false;
    }
}

}  // namespace

int main() {
    setlocale(LC_CTYPE, "C.UTF-8");  // of names
    archive* const in = archive_read_new();
    for (auto* support :
         {archive_read_support_filter_gzip, archive_read_support_filter_xz, archive_read_support_filter_zstd,
          archive_read_support_filter_bzip2, archive_read_support_format_zip, archive_read_support_format_tar,
          archive_read_support_format_gnutar}) {
        support(in);
    }
    if (archive_read_open_fd(in, archive_file, archive_frame_bytes) != ARCHIVE_OK) {
        say(in, ArchiveSays::unknown, archive_error_string(in));
    } else if (say_entries(in)) {
        say(in, ArchiveSays::end, nullptr);
    } else {
        say(in, ArchiveSays::damaged, archive_error_string(in));
    }
}
