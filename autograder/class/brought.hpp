#pragma once
// What one hand-in brings, in a folder, in archives and in files, and which of it are the assignment's rungs.

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "class/archive.hpp"
#include "class/intake.hpp"

namespace rungs::classroom {

/// Whether a file of that path could be one of the assignment's.
bool may_be_rung(const std::string& path, const Assignment& assignment);

enum class Likeness {
    none,
    some,  ///< misspelt, a part of a longer name, or the number alone
    same,  ///< the rung's name, with what browsers, editors and file managers add, or with another ending
};

/// Whether a file of that name is perhaps meant as `rung`.
Likeness likeness(const std::string& name, const AskedRung& rung);

/// A file of a hand-in that is like a rung.
struct Candidate {
    std::string upload;  ///< the archive or file that was handed in by itself; empty: it was not
    std::string path;    ///< in that archive, or in the hand-in
    std::string shown;   ///< for messages
    std::string bytes;   ///< none where it cannot be one of the assignment's
};

/// One set of limits holds for all of a hand-in.
class Brought {
  public:
    explicit Brought(const Assignment& assignment) : assignment_(assignment) {}

    const std::vector<Candidate>& files() const { return files_; }
    /// Names of other files in it, of many the first ones: one of them may be a misspelt rung.
    const std::vector<std::string>& others() const { return others_; }
    /// Names of files that nobody has looked into, and in which a rung may be: archives in archives, and what
    /// is perhaps a rung and no text.
    const std::vector<std::string>& unread() const { return unread_; }
    /// Why nothing is taken; empty: it is taken. What is added afterwards is not looked at.
    const std::string& refused() const { return refused_; }

    void add_folder(const std::filesystem::path& place);
    /// `upload`: the archive's name; empty: it is all of the hand-in.
    void add_archive(const std::filesystem::path& place, const std::string& upload);
    /// A file that was handed in by itself, as `path`.
    void add_file(const std::filesystem::path& place, const std::string& path);
    /// A file that is not read.
    void add_other(const std::string& path, const std::string& shown);

    /// Whether a file of that path is read.
    bool wanted(const std::string& path) const;

  private:
    void add(Candidate file);
    Likeness best_likeness(const std::string& path) const;
    /// Whether a file of that size is read: one that only looks like a rung is none to refuse a hand-in for.
    bool fits(off_t size) const { return size <= static_cast<off_t>(limits_.file_bytes); }
    std::string read_folder(int folder, const std::string& path, int depth);
    std::string read_regular(int folder, const std::string& name, Candidate file);

    const Assignment& assignment_;
    const ArchiveLimits limits_;
    Unpacked all_;
    std::vector<Candidate> files_;
    std::vector<std::string> others_, unread_;
    std::string refused_;
};

/// What all hand-ins are read with.
struct Setting {
    const Assignment& assignment;
    const std::filesystem::path& work;
    const std::function<void()>& heed;
};

/// Takes the assignment's files, CHAPTER/RUNG or RUNG, in whatever folder: with the chapter's folder before
/// without it, then the nearest to the top. What was handed in by itself is as near as any other.
void take_rungs(const Brought& brought, const Setting& here, HandIn& hand_in);

/// Reads a student's folder or archive into `hand_in`.
void read_place(const std::filesystem::path& place, const Setting& here, HandIn& hand_in);

/// Packed in a way that is not read here. Whoever hands that in means it.
bool packed_otherwise(const std::filesystem::path& file);

/// Folders in which nothing is handed in: a version's history, what macOS adds, the workbook's solutions, a
/// student edition's starters and what an update has put away.
bool skipped(const std::filesystem::path& path);

// Downloads of platforms (platforms.cpp).

/// Reads an export of Gradescope: submission_metadata.yml names the senders and the time of each
/// `submission_NNN`.
void read_gradescope(const std::filesystem::path& place, const Setting& here, Intake& intake);
void read_canvas(const std::vector<std::filesystem::path>& entries, const Setting& here, Intake& intake);
void read_moodle(const std::vector<std::filesystem::path>& entries, const Setting& here, Intake& intake);

/// Whether an entry of a folder is named as the platform names a hand-in.
bool is_moodles(const std::string& name);
bool is_canvas(const std::string& name, bool folder);

/// The platform of whose download the names at the top of a folder or an archive are; folders among them end
/// with a slash. Empty: none.
std::string platform_of(const std::vector<std::string>& names);

}  // namespace rungs::classroom
