#include "class/intake.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <set>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>
#include <nlohmann/json.hpp>

#include "class/archive.hpp"
#include "class/file_names.hpp"
#include "class/policy.hpp"
#include "class/repository.hpp"
#include "judge/clean_text.hpp"
#include "judge/hash.hpp"
#include "judge/process.hpp"
#include "rungs/atomic_file.hpp"

namespace rungs::classroom {
namespace {

namespace fs = std::filesystem;
using judge::Descriptor;

constexpr int most_depth = 8;
constexpr int most_outer = 3;  // folders in which all of a class is packed, one in the other
constexpr std::size_t most_ignored = 20;
/// Before the name of who is not on the roster, so that it is nobody's id.
const std::string unlisted = "unknown ";
/// A file that is lost on the way is nobody's wish to withdraw it.
constexpr const char* gone_but_counts = "no longer in CLASS; what was taken in before still counts";

std::string file_of(const AskedRung& rung) { return rung.rung + (rung.kind == "predict" ? ".toml" : ".cu"); }

bool like_a_rung(const std::string& path) {
    const fs::path file(path);
    return (file.extension() == ".cu" || file.extension() == ".toml") && file.filename() != "chapter.toml";
}

/// Folders in which nothing is handed in: a version's history, what macOS adds, the workbook's solutions, a
/// student edition's starters and what an update has put away.
bool skipped(const fs::path& path) {
    static const std::set<std::string> folders{".git", "__MACOSX", "solutions", "edition", "kept"};
    return std::any_of(path.begin(), path.end(), [](const fs::path& part) {
        return folders.count(part.string()) > 0 || part.string().compare(0, 2, "._") == 0;
    });
}

/// Whether a file of that path could be one of the assignment's.
bool may_be_rung(const std::string& path, const Assignment& assignment) {
    const std::string name = fs::path(path).filename().string();
    return std::any_of(assignment.rungs.begin(), assignment.rungs.end(),
                       [&](const AskedRung& rung) { return file_of(rung) == name; });
}

/// A file of a hand-in that is like a rung.
struct Candidate {
    std::string upload;  ///< the archive or file that was handed in by itself; empty: it was not
    std::string path;    ///< in that
    std::string shown;   ///< for messages
    std::string bytes;   ///< none where it cannot be one of the assignment's
};

/// What one hand-in brings, in a folder, in archives and in files: one set of limits holds for all of it.
class Brought {
  public:
    explicit Brought(const Assignment& assignment) : assignment_(assignment) {}

    const std::vector<Candidate>& files() const { return files_; }
    /// Names of what else is in it, the first ones: a rung may be misspelt.
    const std::vector<std::string>& others() const { return others_; }
    /// Why nothing is taken; empty: it is taken. What is added afterwards is not looked at.
    const std::string& refused() const { return refused_; }

    void add_folder(const fs::path& place) {
        if (!refused_.empty()) return;
        const Descriptor folder(open(place.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        refused_ = folder ? read_folder(folder.get(), "", most_depth)
                          : std::string("it cannot be read: ") + std::strerror(errno);
        if (!refused_.empty()) return;
        // A student packs an archive, and the platform keeps that as one of the files.
        std::error_code unknown;
        std::vector<fs::path> archives;
        for (const auto& entry : fs::directory_iterator(place, unknown)) {
            if (is_archive(entry.path()) && !skipped(entry.path().filename()))
                archives.push_back(entry.path());
        }
        std::sort(archives.begin(), archives.end());
        for (const fs::path& archive : archives)
            add_archive(archive, clean_name(archive.filename().string()));
    }

    /// `upload`: the archive's name; empty: it is all of the hand-in.
    void add_archive(const fs::path& place, const std::string& upload) {
        if (!refused_.empty()) return;
        const auto shown = [&](const std::string& path) {
            return upload.empty() ? path : upload + "/" + path;
        };
        refused_ = read_archive(
            place, limits_,
            [&](const std::string& path) {
                if (wanted(path)) return true;
                add_other(path, shown(path));
                return false;
            },
            [&](const std::string& path, std::string bytes) {
                add({upload, path, shown(path), std::move(bytes)});
            },
            &all_);
        if (!refused_.empty() && !upload.empty()) refused_ = upload + ": " + refused_;
    }

    /// A file that was handed in by itself, as `path`.
    void add_file(const fs::path& place, const std::string& path) {
        if (!refused_.empty()) return;
        const std::string name = clean_name(place.filename().string());
        ++all_.files;
        refused_ = read_regular(AT_FDCWD, place.string(), {name, path, name, ""});
    }

    /// A file that cannot be a rung's.
    void add_other(const std::string& path, const std::string& shown) {
        const fs::path file(path);
        const bool hidden = std::any_of(file.begin(), file.end(), [](const fs::path& part) {
            return part.string().starts_with('.') || part == "__MACOSX";
        });
        if (!hidden && others_.size() < most_ignored) others_.push_back(shown);
    }

    static bool wanted(const std::string& path) { return like_a_rung(path) && !skipped(path); }

  private:
    void add(Candidate file) {
        if (!may_be_rung(file.path, assignment_)) std::string().swap(file.bytes);  // frees them
        files_.push_back(std::move(file));
    }

    /// All in a folder that is wanted, never through a link. @returns why it is refused
    std::string read_folder(int folder, const std::string& path, int depth) {
        DIR* const listing = fdopendir(dup(folder));
        if (!listing) return fmt::format("'{}' cannot be read: {}", path, std::strerror(errno));
        std::vector<std::string> names;
        std::string many;
        for (const dirent* entry = nullptr; many.empty() && (entry = readdir(listing));) {
            const std::string name = entry->d_name;
            if (name == "." || name == "..") continue;
            names.push_back(name);
            ++all_.files;
            many = limits_.exceeded_by(all_);
        }
        closedir(listing);
        if (!many.empty()) return many;
        std::sort(names.begin(), names.end());
        for (const std::string& name : names) {
            const std::string inner = path.empty() ? name : path + "/" + name;
            if (clean_name(name) != name) {
                if (!like_a_rung(name)) {
                    add_other(clean_name(name), clean_name(inner));
                    continue;
                }
                return fmt::format("'{}': the name is not UTF-8, or holds control characters",
                                   clean_name(inner));
            }
            if (skipped(name)) {
                add_other(inner, inner);
                continue;
            }
            struct stat status {};
            if (fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
            std::string refused;
            if (S_ISDIR(status.st_mode)) {
                if (depth == 0) {
                    add_other(inner, inner);
                    continue;
                }
                const Descriptor next(
                    openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
                refused = next ? read_folder(next.get(), inner, depth - 1)
                               : fmt::format("'{}' cannot be read: {}", inner, std::strerror(errno));
            } else if (wanted(inner)) {
                refused = read_regular(folder, name, {"", inner, inner, ""});
            } else if (!path.empty() || !is_archive(name)) {
                add_other(inner, inner);
            }
            if (!refused.empty()) return refused;
        }
        return "";
    }

    /// A file in a folder, which is no link. @returns why it is refused
    std::string read_regular(int folder, const std::string& name, Candidate file) {
        const auto unreadable = [&] {
            return fmt::format("'{}' cannot be read: {}", file.shown, std::strerror(errno));
        };
        struct stat status {};
        if (fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return unreadable();
        if (S_ISLNK(status.st_mode)) return fmt::format("'{}' is a link", file.shown);
        if (!S_ISREG(status.st_mode)) return fmt::format("'{}' is a device, a pipe or a socket", file.shown);
        const Descriptor opened(openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
        if (!opened) return unreadable();
        std::string& bytes = file.bytes;
        bytes.resize(limits_.file_bytes + 1);
        std::size_t size = 0;
        for (ssize_t got = 1; got != 0 && size < bytes.size();) {
            got = read(opened.get(), bytes.data() + size, bytes.size() - size);
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) return unreadable();
            size += static_cast<std::size_t>(got);
        }
        bytes.resize(size);
        bytes.shrink_to_fit();
        all_.bytes += size;
        std::string refused = limits_.exceeded_by(file.shown, size);
        if (refused.empty()) refused = limits_.exceeded_by(all_);
        if (refused.empty()) add(std::move(file));
        return refused;
    }

    const Assignment& assignment_;
    const ArchiveLimits limits_;
    Unpacked all_;
    std::vector<Candidate> files_;
    std::vector<std::string> others_;
    std::string refused_;
};

/// What all hand-ins are read with.
struct Setting {
    const Assignment& assignment;
    const fs::path& work;
    const std::function<void()>& heed;
};

/// Puts bytes where they wait for store(): a class may have more than this machine has memory.
fs::path put_aside(const std::string& bytes, const fs::path& work) {
    const fs::path file = work / "taken" / judge::Sha256::of(bytes);
    if (fs::exists(file)) return file;
    fs::create_directories(file.parent_path());
    std::ofstream out(file, std::ios::binary);
    if (!out.write(bytes.data(), static_cast<std::streamsize>(bytes.size())).flush())
        throw FileError(file, errno, "could not write");
    return file;
}

/// "a, b, c", of many the first ones.
std::string some_of(std::vector<std::string> names) {
    constexpr std::size_t most = 6;
    const bool more = names.size() > most;
    if (more) names.resize(most);
    return fmt::format("{}{}", fmt::join(names, ", "), more ? ", ..." : "");
}

/// Refuses a hand-in that has files, and none that is asked for: their names may be misspelt. One without any
/// earns nothing.
void refuse_others(const Brought& brought, const Assignment& assignment, HandIn& hand_in) {
    std::vector<std::string> found, expected;
    for (const Candidate& file : brought.files()) found.push_back(file.shown);
    found.insert(found.end(), brought.others().begin(), brought.others().end());
    if (found.empty()) return;
    for (const AskedRung& rung : assignment.rungs) expected.push_back(rung.chapter + "/" + file_of(rung));
    hand_in.refused =
        "no file of it is an exercise of this assignment; there are: " + some_of(std::move(found));
    hand_in.expected = "; expected: " + some_of(std::move(expected));
}

/// Takes the assignment's files, CHAPTER/RUNG or RUNG, in whatever folder: with the chapter's folder before
/// without it, then the nearest to the top. What was handed in by itself is as near as any other.
void take_rungs(const Brought& brought, const Setting& here, HandIn& hand_in) {
    here.heed();
    hand_in.refused = brought.refused();
    if (!hand_in.refused.empty()) return;
    std::vector<const Candidate*> all;
    for (const Candidate& file : brought.files()) all.push_back(&file);
    std::sort(all.begin(), all.end(),
              [](const Candidate* a, const Candidate* b) { return a->shown < b->shown; });
    std::set<const Candidate*> used;
    for (const AskedRung& rung : here.assignment.rungs) {
        const std::string name = file_of(rung);
        const bool unique =
            std::count_if(here.assignment.rungs.begin(), here.assignment.rungs.end(),
                          [&](const AskedRung& other) { return file_of(other) == name; }) == 1;
        using Rank = std::pair<int, long>;
        std::vector<std::pair<const Candidate*, Rank>> fitting;
        std::map<std::string, Rank> nearest;  // in each upload
        for (const Candidate* candidate : all) {
            const fs::path file(candidate->path);
            if (file.filename() != name) continue;
            const std::string folder = file.parent_path().filename().string();
            const bool in_chapter = folder == rung.chapter;
            if (!in_chapter && !unique) continue;
            // In the folder of another chapter it is that chapter's.
            if (!in_chapter && begins_like_a_rung(folder)) continue;
            used.insert(candidate);
            const Rank rank{in_chapter ? 0 : 1, std::distance(file.begin(), file.end())};
            fitting.emplace_back(candidate, rank);
            Rank& least = nearest.emplace(candidate->upload, rank).first->second;
            least = std::min(least, rank);
        }
        const Candidate* taken = nullptr;
        for (const auto& [candidate, rank] : fitting) {
            if (rank != nearest[candidate->upload]) continue;
            if (taken && candidate->bytes != taken->bytes) {
                hand_in.refused = fmt::format("there are two files for {}: {} and {}", rung.short_name(),
                                              taken->shown, candidate->shown);
                hand_in.files.clear();
                return;
            }
            if (!taken) taken = candidate;
        }
        if (taken) hand_in.files[rung.chapter + "/" + name] = put_aside(taken->bytes, here.work);
    }
    if (hand_in.files.empty()) {
        refuse_others(brought, here.assignment, hand_in);
        return;
    }
    for (const Candidate* candidate : all) {
        // A whole workbook has the files of all chapters: only what could be a misspelt exercise is named.
        const fs::path file(candidate->path);
        const bool whole_workbook = std::find(file.begin(), file.end(), fs::path("chapters")) != file.end();
        if (!used.count(candidate) && !whole_workbook && hand_in.ignored.size() < most_ignored)
            hand_in.ignored.push_back(candidate->shown);
    }
}

/// Reads a student's folder or archive into `hand_in`.
void read_place(const fs::path& place, const Setting& here, HandIn& hand_in) {
    Brought brought(here.assignment);
    std::error_code unknown;
    if (fs::is_directory(fs::symlink_status(place, unknown))) {
        brought.add_folder(place);
    } else {
        brought.add_archive(place, "");
    }
    take_rungs(brought, here, hand_in);
}

// ------------------------------------------------------------------------------------- platforms

/// The metadata of a Gradescope export: the senders and the time of each `submission_NNN` folder.
void read_gradescope(const fs::path& place, const Setting& here, Intake& intake) {
    const fs::path metadata = place / "submission_metadata.yml";
    YAML::Node all;
    try {
        all = YAML::Load(read_file(metadata));
        if (!all.IsMap()) throw ClassError(metadata.string() + ": expected 'submission_NNN:' at its top");
        for (const auto& pair : all) {
            const std::string folder = pair.first.as<std::string>();
            const YAML::Node& about = pair.second;
            HandIn first;
            first.from = "gradescope";
            first.origin = clean_name(folder);
            if (const YAML::Node created = about[":created_at"]) {
                first.handed_in = parse_time(created.as<std::string>());
                if (!first.handed_in)
                    intake.problems.push_back(
                        fmt::format("{}: ':created_at' is not a time that is known here", first.origin));
            }
            constexpr std::string_view start = "submission_";
            const bool plain =
                folder.starts_with(start) && is_number(std::string_view(folder).substr(start.size()));
            if (!plain || !fs::is_directory(fs::symlink_status(place / folder))) {
                first.refused = "the export has no folder of that name";
            } else {
                read_place(place / folder, here, first);
            }
            const YAML::Node senders = about[":submitters"];
            if (!senders || !senders.IsSequence() || senders.size() == 0) {
                intake.problems.push_back(
                    first.origin +
                    ": submission_metadata.yml names no sender; it is kept as an unknown hand-in");
                first.key = folder;
                intake.hand_ins.push_back(first);
                continue;
            }
            for (const YAML::Node& sender : senders) {
                HandIn one = first;
                const auto field = [&](const char* name) {
                    const YAML::Node value = sender[name];
                    return value && value.IsScalar() ? clean_name(value.as<std::string>()) : std::string();
                };
                one.name = field(":name");
                one.email = field(":email");
                one.key = field(":sid");
                if (one.key.empty()) one.key = one.email.empty() ? folder : one.email;
                intake.hand_ins.push_back(std::move(one));
            }
        }
    } catch (const YAML::Exception& error) {
        throw ClassError(fmt::format("{}: {}", metadata.string(), error.what()));
    }
}

bool is_moodles(const fs::path& entry) { return moodle_name(entry.filename().string()).has_value(); }
/// Canvas has no folders.
bool is_canvas(const fs::path& entry) {
    std::error_code unknown;
    return !fs::is_directory(entry, unknown) && !is_moodles(entry) &&
           canvas_name(entry.filename().string()).has_value();
}

/// A student of a platform whose download is files side by side, and each with its name there.
struct Loose {
    HandIn hand_in;
    std::vector<std::pair<fs::path, std::string>> files;
};

void read_loose(const std::map<std::string, Loose>& students, const Setting& here, Intake& intake) {
    for (const auto& [number, loose] : students) {
        Brought brought(here.assignment);
        for (const auto& [place, name] : loose.files) {
            std::error_code unknown;
            if (fs::is_directory(fs::symlink_status(place, unknown))) {
                brought.add_folder(place);
            } else if (is_archive(place)) {
                brought.add_archive(place, clean_name(place.filename().string()));
            } else if (Brought::wanted(name)) {
                brought.add_file(place, name);
            } else {
                brought.add_other(name, clean_name(place.filename().string()));
            }
        }
        intake.hand_ins.push_back(loose.hand_in);
        take_rungs(brought, here, intake.hand_ins.back());
    }
}

void read_canvas(const std::vector<fs::path>& entries, const Setting& here, Intake& intake) {
    std::map<std::string, Loose> students;
    for (const fs::path& entry : entries) {
        const std::string name = entry.filename().string();
        const std::optional<CanvasName> parts = canvas_name(name);
        if (!parts) {
            intake.problems.push_back(clean_name(name) + ": this is not named as Canvas names a hand-in");
            continue;
        }
        Loose& loose = students[parts->number];
        HandIn& hand_in = loose.hand_in;
        hand_in.from = "canvas";
        hand_in.key = parts->number;
        hand_in.name = clean_name(parts->who);
        hand_in.origin = fmt::format("{}_{}", hand_in.name, hand_in.key);
        hand_in.marked_late = hand_in.marked_late || parts->late;
        std::string file = parts->file;
        const std::string again = without_count(file);
        if (again != file && may_be_rung(again, here.assignment)) file = again;
        loose.files.emplace_back(entry, file);
    }
    read_loose(students, here, intake);
}

void read_moodle(const std::vector<fs::path>& entries, const Setting& here, Intake& intake) {
    std::map<std::string, Loose> students;
    for (const fs::path& entry : entries) {
        const std::string name = entry.filename().string();
        const std::optional<MoodleName> parts = moodle_name(name);
        if (!parts) {
            intake.problems.push_back(clean_name(name) + ": this is not named as Moodle names a hand-in");
            continue;
        }
        if (parts->typed) {
            intake.problems.push_back(clean_name(name) + ": a text that was typed into Moodle is not graded");
            continue;
        }
        Loose& loose = students[parts->number];
        HandIn& hand_in = loose.hand_in;
        hand_in.from = "moodle";
        hand_in.key = parts->number;
        hand_in.name = clean_name(parts->who);
        hand_in.origin = clean_name(name);
        loose.files.emplace_back(entry, parts->file);
    }
    read_loose(students, here, intake);
}

/// Packed in a way that is not read here. Whoever hands that in means it.
bool packed_otherwise(const fs::path& file) {
    static const std::set<std::string> endings{".7z",   ".bz2", ".cab", ".gz", ".lz",  ".lz4",
                                               ".lzma", ".rar", ".xz",  ".z",  ".zst", ".zipx"};
    return endings.count(folded(file.extension().string())) > 0;
}

/// The name of a folder, an archive or a file without what it ends with.
std::string without_ending(const fs::path& file) {
    const fs::path stem = file.stem();
    return (stem.extension() == ".tar" ? stem.stem() : stem).string();
}

bool is_read(const fs::path& entry) {
    std::error_code unknown;
    return fs::symlink_status(entry, unknown).type() == fs::file_type::directory || is_archive(entry);
}

/// A folder or an archive for a student, or for an attempt, by its name: `ada`,
/// `ada@2026-01-31T12:00:00Z.zip`. What a student seems to have meant as one is refused, and is no zero.
std::optional<HandIn> plain_hand_in(const fs::path& entry, const Assignment& assignment) {
    std::string name = entry.filename().string();
    std::error_code unknown;
    HandIn hand_in;
    hand_in.origin = clean_name(name);
    const fs::file_type type = fs::symlink_status(entry, unknown).type();
    if (type == fs::file_type::directory) {
        hand_in.from = "folder";
    } else if (type == fs::file_type::regular) {
        hand_in.from = is_archive(entry) || packed_otherwise(entry) ? "archive" : "file";
        name = without_ending(name);
    } else {
        return std::nullopt;
    }
    hand_in.key = name;
    if (const std::size_t at = name.rfind('@'); at != std::string::npos) {
        const std::string when = name.substr(at + 1);
        const bool like_a_date = when.size() >= 5 && is_number(when.substr(0, 4)) && when[4] == '-';
        hand_in.handed_in = parse_time(when);
        // An address may begin like a date; without a time a hand-in would be punctual.
        const bool misread = !hand_in.handed_in && like_a_date && !sender(hand_in, assignment);
        if (hand_in.handed_in || misread) hand_in.key = name.substr(0, at);
        if (misread)
            hand_in.refused = fmt::format(
                "'{}' is no time with its offset, such as 2026-01-31T23:59:00+01:00", clean_name(when));
    }
    if (type == fs::file_type::regular && !is_archive(entry)) {
        // A rung's name is no student's: then it is a hand-in that was taken for a class.
        const bool anybodys =
            assignment.people.empty() && entry.extension() == ".cu" && !begins_like_a_rung(hand_in.origin);
        if (hand_in.from == "file" && !anybodys && !sender(hand_in, assignment)) return std::nullopt;
        hand_in.refused =
            fmt::format("it is neither a folder nor an archive that is read here ({})", archive_endings());
    }
    return hand_in;
}

void read_plain(const std::vector<fs::path>& entries, const Setting& here, Intake& intake) {
    const auto who = [&](const HandIn& hand_in) {
        const Person* const person = sender(hand_in, here.assignment);
        return person ? person->id : hand_in.key;
    };
    const std::vector<Person>& people = here.assignment.people;
    std::set<std::string> have_handed_in;
    for (const Person& person : people)
        if (!person.column("repository").empty()) have_handed_in.insert(person.id);
    std::vector<std::optional<HandIn>> all;
    for (const fs::path& entry : entries) {
        all.push_back(plain_hand_in(entry, here.assignment));
        if (all.back() && is_read(entry)) have_handed_in.insert(who(*all.back()));
    }
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const fs::path& entry = entries[i];
        std::optional<HandIn>& hand_in = all[i];
        // Beside a hand-in it may be a note about it, or what was unpacked; or it is the instructor's own.
        const auto only_a_note = [&] {
            return !is_read(entry) && !hand_in->handed_in &&
                   (have_handed_in.count(who(*hand_in)) ||
                    (!people.empty() && !sender(*hand_in, here.assignment)));
        };
        if (!hand_in || only_a_note()) {
            intake.problems.push_back(fmt::format("{}: neither a folder nor an archive; it is not a hand-in",
                                                  clean_name(entry.filename().string())));
            continue;
        }
        if (hand_in->refused.empty()) read_place(entry, here, *hand_in);
        intake.hand_ins.push_back(std::move(*hand_in));
    }
}

/// What is in a folder, in order, but for the instructor's own files and what file managers leave.
std::vector<fs::path> entries_of(const fs::path& folder) {
    std::vector<fs::path> entries;
    for (const auto& entry : fs::directory_iterator(folder)) {
        const fs::path& path = entry.path();
        if (path.filename().string().front() == '.' || path.filename() == "assignment.toml" ||
            path.extension() == ".csv" || path.filename() == "__MACOSX")
            continue;
        entries.push_back(path);
    }
    std::sort(entries.begin(), entries.end());
    return entries;
}

/// The only thing in a folder, if that is a folder as well: so platforms pack a class, and so does tar with a
/// folder. Empty: there is more, or none.
fs::path only_folder_in(const fs::path& folder) {
    const std::vector<fs::path> entries = entries_of(folder);
    return entries.size() == 1 && fs::is_directory(entries[0]) ? entries[0] : fs::path();
}

/// Whether a folder holds a class, and is not itself what a student handed in.
bool is_class(const fs::path& folder, const Assignment& assignment) {
    const auto is_student = [&](const fs::path& entry) {
        const std::optional<HandIn> hand_in = plain_hand_in(entry, assignment);
        return hand_in && sender(*hand_in, assignment);
    };
    const auto is_platforms = [](const fs::path& entry) { return is_moodles(entry) || is_canvas(entry); };
    if (is_student(folder) || is_platforms(folder)) return false;
    if (fs::exists(folder / "submission_metadata.yml")) return true;
    const std::vector<fs::path> entries = entries_of(folder);
    if (!assignment.people.empty()) {
        return std::any_of(entries.begin(), entries.end(),
                           [&](const fs::path& entry) { return is_student(entry) || is_platforms(entry); });
    }
    // Without a roster: several folders or archives, of which none is a chapter's.
    const auto is_chapter = [](const std::string& name) {
        return name == "chapters" || begins_like_a_rung(name);
    };
    return entries.size() > 1 && std::all_of(entries.begin(), entries.end(), [&](const fs::path& entry) {
               const std::optional<HandIn> hand_in = plain_hand_in(entry, assignment);
               return is_platforms(entry) ||
                      (hand_in && hand_in->from != "file" && !is_chapter(entry.filename().string()));
           });
}

/// Unpacks the download of a whole class; what students have packed stays packed.
void unpack_class(const fs::path& archive, const fs::path& folder, const std::function<void()>& heed) {
    ArchiveLimits limits;
    limits.files = 100'000;
    limits.file_bytes = 64U << 20;
    limits.total_bytes = 2U << 30;
    limits.ratio = 1000;
    limits.seconds = 600;
    fs::create_directories(folder);
    const std::string refused = read_archive(
        archive, limits,
        [](const std::string& path) { return fs::path(path).filename().string().compare(0, 2, "._") != 0; },
        [&](const std::string& path, const std::string& bytes) {
            heed();
            const fs::path file = folder / path;
            fs::create_directories(file.parent_path());
            write_file(file, bytes);
        });
    if (!refused.empty()) throw ClassError(fmt::format("{}: {}", archive.string(), refused));
}

/// A name as Canvas writes it: the family name first, small letters and digits alone.
std::string canvas_form(const std::string& name) {
    const std::size_t blank = name.rfind(' ');
    const std::string turned =
        blank == std::string::npos ? name : name.substr(blank + 1) + name.substr(0, blank);
    std::string form;
    for (const char c : folded(turned)) {
        if (std::isalnum(static_cast<unsigned char>(c)) || static_cast<unsigned char>(c) >= 0x80) form += c;
    }
    return form;
}

/// A name that can be a folder's, for who is on no roster.
std::string folder_name(const HandIn& hand_in) {
    std::string id;
    for (const char c : clean_name(hand_in.from == "moodle" || hand_in.from == "canvas"
                                       ? fmt::format("{} {}", hand_in.name, hand_in.key)
                                       : hand_in.key)) {
        id += good_id(std::string("a") + c + "a") || static_cast<unsigned char>(c) >= 0x80 ? c : '_';
    }
    while (!id.empty() && !good_id(id.substr(0, 1)) && static_cast<unsigned char>(id[0]) < 0x80)
        id.erase(0, 1);
    id = trimmed(id);
    return good_id(id) ? id : "student " + judge::Sha256().add(hand_in.key).hex().substr(0, 12);
}

/// What a hand-in is told apart by: when it came, and its bytes.
std::string digest_of(const HandIn& hand_in) {
    judge::Sha256 hash;
    hash.add(hand_in.handed_in ? time_text(*hand_in.handed_in) : "").add(hand_in.marked_late ? "late" : "");
    hash.add(hand_in.refused);
    for (const auto& [path, file] : hand_in.files) hash.add(path).add(read_file(file));
    return hash.hex();
}

/// What the records call a hand-in's student: as the roster does, or, with nobody there, by its own name.
std::string id_of(const HandIn& hand_in, const Assignment& assignment) {
    const Person* const person = sender(hand_in, assignment);
    return person ? person->id : (assignment.people.empty() ? "" : unlisted) + folder_name(hand_in);
}

nlohmann::ordered_json student_of(const HandIn& hand_in, const Assignment& assignment) {
    const Person* const person = sender(hand_in, assignment);
    return {{"id", id_of(hand_in, assignment)},
            {"name", clean_name(person ? person->name : hand_in.name)},
            {"email", clean_name(person ? person->email : hand_in.email)},
            {"login", clean_name(person ? person->login : hand_in.login)}};
}

/// What another roster may find the sender by. Null where that cannot be written down as it is: a name that
/// was cleaned may be somebody else's.
nlohmann::ordered_json sender_json(const HandIn& hand_in) {
    for (const std::string& text : {hand_in.key, hand_in.name, hand_in.email, hand_in.login}) {
        if (clean_name(text) != text) return nullptr;
    }
    return {{"key", hand_in.key}, {"name", hand_in.name}, {"email", hand_in.email}, {"login", hand_in.login}};
}

/// The sender of what was taken in as `about`, in the folder `home`. Without a key: that is not known.
HandIn sender_in(const nlohmann::ordered_json& about, const std::string& home) {
    HandIn hand_in;
    hand_in.from = about.at("from");
    if (const auto found = about.find("sender"); found == about.end()) {
        // Taken in when that was not written down yet. A platform's number is only a part of the name then.
        if (hand_in.from != "canvas" && hand_in.from != "moodle")
            hand_in.key =
                home.compare(0, unlisted.size(), unlisted) == 0 ? home.substr(unlisted.size()) : home;
    } else if (!found->is_null()) {
        hand_in.key = found->at("key");
        hand_in.name = found->at("name");
        hand_in.email = found->at("email");
        hand_in.login = found->at("login");
    }
    return hand_in;
}

/// Numbers of the attempts in a student's folder. What begins with a dot is not whole.
std::set<int> attempts_in(const fs::path& home) {
    std::set<int> numbers;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(home, none)) {
        const std::string name = entry.path().filename().string();
        if (name.front() != '.') numbers.insert(std::atoi(name.c_str()));
    }
    return numbers;
}

/// Puts what was taken in before where the roster of now says, with its records and decisions: else a student
/// would be there twice, as the one roster and as the other has them.
void follow_roster(const fs::path& out, const Assignment& assignment) {
    struct Move {
        std::string from;
        int number;
        HandIn hand_in;
    };
    std::vector<Move> moves;
    std::vector<std::string> homes;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(out / "hand-ins", none))
        homes.push_back(entry.path().filename().string());
    std::sort(homes.begin(), homes.end());
    for (const std::string& home : homes) {
        for (const int number : attempts_in(out / "hand-ins" / home)) {
            const fs::path file = out / "hand-ins" / home / std::to_string(number) / "hand-in.json";
            const HandIn hand_in = sender_in(nlohmann::ordered_json::parse(read_file(file)), home);
            if (!hand_in.key.empty() && id_of(hand_in, assignment) != home)
                moves.push_back({home, number, hand_in});
        }
    }
    for (const Move& move : moves) {
        const std::string to = id_of(move.hand_in, assignment);
        const std::set<int> there = attempts_in(out / "hand-ins" / to);
        const int number = std::max(move.number, there.empty() ? 1 : *there.rbegin() + 1);
        const fs::path file = out / "hand-ins" / move.from / std::to_string(move.number) / "hand-in.json";
        nlohmann::ordered_json about = nlohmann::ordered_json::parse(read_file(file));
        about["student"] = student_of(move.hand_in, assignment);
        about["attempt"] = number;
        write_file(file, about.dump(2) + '\n');
        // The hand-in comes last: until it is there, another start does what is left.
        for (const char* top : {"decisions", "records", "hand-ins"}) {
            const fs::path was = out / top / move.from, is = out / top / to;
            std::error_code unknown;
            if (!fs::exists(was / std::to_string(move.number), unknown)) continue;
            make_folder(is);
            fs::rename(was / std::to_string(move.number), is / std::to_string(number));
            sync_folder(is);
            sync_folder(was);
            fs::remove(was, unknown);  // where it is empty
        }
    }
    // An empty folder would be a student who has handed in nothing.
    for (const std::string& home : homes) {
        fs::remove_all(out / "hand-ins" / home / ".part", none);
        fs::remove(out / "hand-ins" / home, none);
    }
}

}  // namespace

const Person* sender(const HandIn& hand_in, const Assignment& assignment) {
    const Person* found = nullptr;
    const auto only = [&](const std::function<bool(const Person&)>& fits) {
        found = nullptr;
        int count = 0;
        for (const Person& person : assignment.people) {
            if (!fits(person)) continue;
            found = &person;
            ++count;
        }
        return count == 1;
    };
    const std::string key = hand_in.key;
    // A platform's own number first: nobody shares it.
    if (only([&](const Person& person) { return !key.empty() && person.column(hand_in.from) == key; }))
        return found;
    const bool number_of_platform = hand_in.from == "canvas" || hand_in.from == "moodle";
    if (!number_of_platform && only([&](const Person& person) {
            return person.id == key || (!person.login.empty() && person.login == key) ||
                   (!person.email.empty() && folded(person.email) == folded(key));
        }))
        return found;
    if (!hand_in.email.empty() &&
        only([&](const Person& person) { return folded(person.email) == folded(hand_in.email); }))
        return found;
    if (hand_in.name.empty() || hand_in.from == "gradescope") return nullptr;
    if (only([&](const Person& person) {
            return hand_in.from == "canvas" ? canvas_form(person.name) == hand_in.name
                                            : person.name == hand_in.name;
        }))
        return found;
    return nullptr;
}

fs::path ClassFolder::policy() const {
    std::error_code unknown;
    if (fs::exists(path / "assignment.toml", unknown)) return path / "assignment.toml";
    fs::path inner = unpacked ? only_folder_in(path) : fs::path();
    for (int depth = 0; depth < most_outer && !inner.empty(); ++depth, inner = only_folder_in(inner)) {
        if (!fs::exists(inner / "assignment.toml", unknown)) continue;
        throw ClassError(fmt::format(
            "'{}/assignment.toml' is in a folder without the archive's name, which may be a student's: pack "
            "the class without that folder, give the archive its name, or use --assignment",
            clean_name(inner.lexically_relative(path).string())));
    }
    return {};
}

ClassFolder open_class(const fs::path& place, const fs::path& work, const std::function<void()>& heed) {
    std::error_code unknown;
    if (fs::is_directory(place, unknown)) return {place, false};
    if (!fs::is_regular_file(place, unknown) || !is_archive(place)) {
        throw ClassError(fmt::format("{}: neither a folder nor an archive ({})", clean_name(place.string()),
                                     archive_endings()));
    }
    const fs::path all = work / "class";
    unpack_class(place, all, heed);
    const fs::path inner = only_folder_in(all);
    return {!inner.empty() && inner.filename() == without_ending(place.filename()) ? inner : all, true};
}

Intake read_class(const ClassFolder& in, const Assignment& assignment, const fs::path& work,
                  const std::function<void()>& heed) {
    const Setting here{assignment, work, heed};
    std::error_code unknown;
    fs::path folder = in.path;
    for (int depth = 0; in.unpacked && depth < most_outer; ++depth) {
        const fs::path inner = only_folder_in(folder);
        // Beside the instructor's file, and with nobody on a roster, that is a student.
        const bool student = assignment.people.empty() && fs::exists(folder / "assignment.toml", unknown);
        if (student || inner.empty() || !is_class(inner, assignment)) break;
        folder = inner;
    }
    Intake intake;
    if (fs::exists(folder / "submission_metadata.yml", unknown)) {
        read_gradescope(folder, here, intake);
        return intake;
    }
    const std::vector<fs::path> entries = entries_of(folder);
    const auto canvas = static_cast<std::size_t>(std::count_if(entries.begin(), entries.end(), is_canvas));
    const auto moodle = static_cast<std::size_t>(std::count_if(entries.begin(), entries.end(), is_moodles));
    if (2 * moodle > entries.size()) {
        read_moodle(entries, here, intake);
    } else if (2 * canvas > entries.size()) {
        read_canvas(entries, here, intake);
    } else {
        read_plain(entries, here, intake);
    }
    return intake;
}

Intake read_repositories(const Assignment& assignment, const fs::path& work,
                         const std::function<void()>& heed) {
    Intake intake;
    for (const Person& person : assignment.people) {
        const std::string repository = person.column("repository");
        if (repository.empty()) continue;
        HandIn hand_in;
        hand_in.key = person.id;
        hand_in.from = "git";
        hand_in.origin = without_login(clean_name(repository));
        const fs::path folder = work / ("git-" + judge::Sha256().add(person.id).hex().substr(0, 16));
        try {
            const Exported exported = export_commit(repository, person.column("commit"),
                                                    person.due ? person.due : assignment.due, folder, heed);
            // The time of a commit is its author's to choose: it says nothing about being late.
            hand_in.origin += " at " + exported.commit;
            read_place(exported.archive, {assignment, work, heed}, hand_in);
        } catch (const ClassError& error) {
            hand_in.refused = error.what();
        }
        fs::remove_all(folder);
        intake.hand_ins.push_back(std::move(hand_in));
    }
    return intake;
}

void store(const fs::path& out, const Assignment& assignment, Intake& intake) {
    follow_roster(out, assignment);
    std::map<std::string, std::vector<const HandIn*>> students;
    std::size_t without_time = 0;
    for (const HandIn& hand_in : intake.hand_ins) {
        const Person* person = sender(hand_in, assignment);
        // Canvas marks what is late, and a repository is taken as it was when it was due.
        const bool is_timed = hand_in.handed_in || hand_in.from == "canvas" || hand_in.from == "git" ||
                              (person && parse_time(person->column("handed_in")));
        if (!is_timed && hand_in.refused.empty() && (assignment.due || (person && person->due)))
            ++without_time;
        const std::string id = id_of(hand_in, assignment);
        if (!person && !assignment.people.empty())
            intake.problems.push_back(
                fmt::format("{}: nobody on the roster; it is graded as '{}'", hand_in.origin, id));
        const std::string which = hand_in.origin == id ? "the hand-in" : hand_in.origin;
        if (!hand_in.refused.empty())
            intake.problems.push_back(
                fmt::format("{}: {} is refused: {}{}", id, which, hand_in.refused, hand_in.expected));
        for (const std::string& name : hand_in.ignored)
            intake.problems.push_back(fmt::format("{}: {} is not an exercise of this assignment", id, name));
        if (hand_in.refused.empty() && hand_in.files.empty())
            intake.problems.push_back(fmt::format("{}: {} is empty, and earns nothing", id, which));
        students[id].push_back(&hand_in);
    }
    // First, so that no number of others hides it.
    if (without_time > 0) {
        intake.problems.insert(
            intake.problems.begin(),
            fmt::format("{} without a time, taken as punctual: name them STUDENT@TIME, or give the roster "
                        "'handed_in'",
                        without_time == 1 ? "1 hand-in" : fmt::format("{} hand-ins", without_time)));
    }
    for (auto& [id, hand_ins] : students) {
        std::stable_sort(hand_ins.begin(), hand_ins.end(), [](const HandIn* a, const HandIn* b) {
            return a->handed_in.value_or(0) < b->handed_in.value_or(0);
        });
        const fs::path home = out / "hand-ins" / id;
        std::set<std::string> known, in_class;
        std::map<int, std::string> attempts;
        int last = 0;
        std::error_code none;
        for (const auto& entry : fs::directory_iterator(home, none)) {
            const std::string name = entry.path().filename().string();
            if (name.front() == '.') continue;
            const std::string digest =
                nlohmann::json::parse(read_file(entry.path() / "hand-in.json")).at("digest");
            known.insert(digest);
            attempts[std::atoi(name.c_str())] = digest;
            last = attempts.rbegin()->first;
        }
        for (const HandIn* hand_in : hand_ins) {
            const std::string digest = digest_of(*hand_in);
            in_class.insert(digest);
            if (!known.insert(digest).second) continue;
            // All of it or nothing: a folder that is renamed when it is whole.
            const fs::path part = home / ".part";
            fs::remove_all(part);
            nlohmann::ordered_json files = nlohmann::ordered_json::array();
            for (const auto& [path, file] : hand_in->files) {
                const std::string bytes = read_file(file);
                make_folder((part / path).parent_path());
                write_file(part / path, bytes);
                files.push_back(
                    {{"path", path}, {"sha256", judge::Sha256::of(bytes)}, {"bytes", bytes.size()}});
            }
            make_folder(part);
            const nlohmann::ordered_json about = {
                {"schema", "rungs.hand-in/1"},
                {"student", student_of(*hand_in, assignment)},
                {"sender", sender_json(*hand_in)},
                {"attempt", last + 1},
                {"from", hand_in->from},
                {"origin", hand_in->origin},
                {"handed_in", hand_in->handed_in ? nlohmann::ordered_json(time_text(*hand_in->handed_in))
                                                 : nlohmann::ordered_json(nullptr)},
                {"marked_late", hand_in->marked_late},
                {"refused", hand_in->refused + hand_in->expected},
                {"digest", digest},
                {"files", files},
                {"ignored", hand_in->ignored}};
            write_file(part / "hand-in.json", about.dump(2) + '\n');
            fs::rename(part, home / std::to_string(++last));
            attempts[last] = digest;
            sync_folder(home);
        }
        for (const auto& [number, digest] : attempts) {
            const bool may_count = assignment.counts != Counts::last || number == last;
            if (may_count && !in_class.count(digest))
                intake.problems.push_back(fmt::format("{}: attempt {} is {}", id, number, gone_but_counts));
        }
    }
    std::error_code none;
    std::set<std::string> gone;
    for (const auto& home : fs::directory_iterator(out / "hand-ins", none)) {
        for (const auto& attempt : fs::directory_iterator(home.path(), none)) {
            const std::string id = home.path().filename().string();
            if (attempt.path().filename().string().front() != '.' && !students.count(id)) gone.insert(id);
        }
    }
    for (const std::string& id : gone) intake.problems.push_back(fmt::format("{}: {}", id, gone_but_counts));
    if (!assignment.people.empty()) {
        for (const Person& person : assignment.people) {
            if (!fs::exists(out / "hand-ins" / person.id))
                intake.problems.push_back(fmt::format("{}: nothing was handed in", person.id));
        }
    }
}

}  // namespace rungs::classroom
