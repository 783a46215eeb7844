#include "class/intake.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include <fmt/format.h>

#include "class/brought.hpp"
#include "class/file_names.hpp"
#include "class/identity.hpp"
#include "class/repository.hpp"
#include "judge/build/hash.hpp"
#include "judge/result/clean_text.hpp"
#include "rungs/atomic_file.hpp"

namespace rungs::classroom {
namespace {

namespace fs = std::filesystem;

constexpr int most_outer = 3;  // folders in which all of a class is packed, one in the other
constexpr ArchiveLimits of_a_class{
    .files = 100'000, .file_bytes = 64U << 20, .total_bytes = 2U << 30, .ratio = 1000, .seconds = 600};

/// The name of a folder, an archive or a file without what it ends with.
std::string without_ending(const fs::path& file) {
    const fs::path stem = fs::path(without_copy_number(file.filename().string())).stem();
    return (stem.extension() == ".tar" ? stem.stem() : stem).string();
}

/// Whether that is the instructor's own file, or what file managers leave.
bool is_no_entry(const std::string& name) {
    return name.empty() || name.front() == '.' || name == "assignment.toml" ||
           fs::path(name).extension() == ".csv" || name == "__MACOSX";
}

/// What is in a folder, in order.
std::vector<fs::path> entries_of(const fs::path& folder) {
    std::vector<fs::path> entries;
    for (const auto& entry : fs::directory_iterator(folder)) {
        if (!is_no_entry(entry.path().filename().string())) entries.push_back(entry.path());
    }
    std::sort(entries.begin(), entries.end());
    return entries;
}

/// The names at the top of a folder or an archive, or in the only folder there; those of folders end with a
/// slash.
std::vector<std::string> names_at_top(const fs::path& place, const ArchiveLimits& limits) {
    std::map<std::string, std::set<std::string>> tops;  // what is in each folder
    const auto add = [&](const fs::path& path) {
        auto part = path.begin();
        const std::string top = part->string();
        if (is_no_entry(top)) return;
        const bool more = ++part != path.end();
        std::set<std::string>& inner = tops[more ? top + "/" : top];
        if (more && !is_no_entry(part->string()))
            inner.insert(part->string() + (std::next(part) != path.end() ? "/" : ""));
    };
    std::error_code unknown;
    if (fs::is_directory(fs::symlink_status(place, unknown))) {
        fs::recursive_directory_iterator entry(place, unknown);
        for (const fs::recursive_directory_iterator end; !unknown && entry != end; entry.increment(unknown)) {
            const bool folder = fs::is_directory(entry->symlink_status(unknown));
            if (entry.depth() == 1) entry.disable_recursion_pending();
            const fs::path path = entry->path().lexically_relative(place);
            add(folder ? path / "x" : path);
        }
    } else {
        read_archive(
            place, limits,
            [&](const std::string& path) {
                add(path);
                return false;
            },
            [](const std::string&, const std::string&) {});
    }
    if (tops.size() == 1 && tops.begin()->first.ends_with('/'))
        return {tops.begin()->second.begin(), tops.begin()->second.end()};
    std::vector<std::string> names;
    for (const auto& [name, inner] : tops) names.push_back(name);
    return names;
}

/// The platform whose download of a whole class that is; empty: it is none.
std::string download_in(const fs::path& place, const ArchiveLimits& limits) {
    const std::vector<std::string> names = names_at_top(place, limits);
    const std::string platform = platform_of(names);
    // One file of a student may be called like that.
    return platform == "Canvas" && names.size() < 2 ? "" : platform;
}

/// Whether an archive is called as the platform calls its downloads.
bool is_named_by(const std::string& platform, const fs::path& archive) {
    if (!is_archive(archive)) return false;
    const std::string name = without_ending(archive);
    return (platform == "Gradescope" && is_gradescope_download(name)) ||
           (platform == "Moodle" && is_moodle_download(name)) ||
           (platform == "Canvas" && is_canvas_download(name));
}

std::string is_a_download(const std::string& platform, const fs::path& place) {
    return fmt::format(
        "it looks like a download of {} for a whole class; that is graded by: ./rungs grade {} "
        "--assignment FILE --out DIR",
        platform, shell_quoted(clean_name(place.string())));
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
        if (hand_in->refused.empty() && is_read(entry)) {
            const std::string platform = sender(*hand_in, here.assignment) ? "" : download_in(entry, {});
            if (!platform.empty()) hand_in->refused = is_a_download(platform, entry);
        }
        if (hand_in->refused.empty()) read_place(entry, here, *hand_in);
        intake.hand_ins.push_back(std::move(*hand_in));
    }
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
    const auto is_platforms = [](const fs::path& entry) {
        std::error_code unknown;
        const std::string name = entry.filename().string();
        return is_moodles(name) || is_canvas(name, fs::is_directory(entry, unknown));
    };
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
    fs::create_directories(folder);
    const std::string refused = read_archive(
        archive, of_a_class,
        [](const std::string& path) { return fs::path(path).filename().string().compare(0, 2, "._") != 0; },
        [&](const std::string& path, const std::string& bytes) {
            heed();
            const fs::path file = folder / path;
            fs::create_directories(file.parent_path());
            write_file(file, bytes);
        });
    if (!refused.empty()) throw ClassError(fmt::format("{}: {}", archive.string(), refused));
}

/// @throws ClassError where submission_metadata.yml at the top of an archive may be a student's
void check_metadata(const ClassFolder& in, const Assignment& assignment) {
    const std::string archive = clean_name(in.archive.string());
    if (in.in_folder) {
        throw ClassError(
            fmt::format("{}: '{}/submission_metadata.yml' may be a student's; unpack the archive and grade "
                        "the folder, or pack the Gradescope export unchanged",
                        archive, clean_name(in.path.filename().string())));
    }
    const std::vector<fs::path> entries = entries_of(in.path);
    const std::optional<HandIn> whole = plain_hand_in(in.archive, assignment);
    const bool is_whole =
        entries.size() > 1 && std::all_of(entries.begin(), entries.end(), [](const fs::path& entry) {
            const std::string name = entry.filename().string();
            return name == "submission_metadata.yml" || is_gradescope_submission(name);
        });
    if (!is_whole || (whole && sender(*whole, assignment))) {
        throw ClassError(
            archive +
            ": it contains submission_metadata.yml but is not an export of Gradescope, which has only that "
            "file and folders submission_NNN");
    }
}

/// The folder of hand-ins, of an archive perhaps the only one in it. Nobody may say whose the work of others
/// is: a folder that may be a student's is not looked into for that.
fs::path hand_ins_of(const ClassFolder& in, const Assignment& assignment) {
    if (in.archive.empty()) return in.path;
    std::error_code unknown;
    const fs::path inner = only_folder_in(in.path);
    if (!inner.empty() && is_gradescope_export(inner.filename().string())) return inner;
    // Beside the instructor's file, and with nobody on a roster, that is a student.
    const bool student = assignment.people.empty() && fs::exists(in.path / "assignment.toml", unknown);
    if (!student && !inner.empty() && is_class(inner, assignment)) {
        throw ClassError(
            fmt::format("{}: all of it is in the folder '{}', which may be a student's; give the archive the "
                        "name of that folder, or unpack it and grade the folder",
                        clean_name(in.archive.string()), clean_name(inner.filename().string())));
    }
    if (fs::exists(in.path / "submission_metadata.yml", unknown) &&
        !is_gradescope_export(in.path.filename().string()))
        check_metadata(in, assignment);
    return in.path;
}

}  // namespace

fs::path ClassFolder::policy() const {
    std::error_code unknown;
    if (fs::exists(path / "assignment.toml", unknown)) return path / "assignment.toml";
    fs::path inner = archive.empty() ? fs::path() : only_folder_in(path);
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
    if (fs::is_directory(place, unknown)) return {place};
    if (!fs::is_regular_file(place, unknown) || !is_archive(place)) {
        throw ClassError(fmt::format("{}: neither a folder nor an archive ({})", clean_name(place.string()),
                                     archive_endings()));
    }
    const fs::path all = work / "class";
    unpack_class(place, all, heed);
    const fs::path inner = only_folder_in(all);
    const bool in_folder = !inner.empty() && is_copy_of(without_ending(place), inner.filename().string());
    return {in_folder ? inner : all, place, in_folder};
}

Intake read_class(const ClassFolder& in, const Assignment& assignment, const fs::path& work,
                  const std::function<void()>& heed) {
    const Setting here{assignment, work, heed};
    std::error_code unknown;
    const fs::path folder = hand_ins_of(in, assignment);
    Intake intake;
    const std::vector<fs::path> entries = entries_of(folder);
    std::vector<std::string> names;
    std::vector<fs::path> read;
    for (const fs::path& entry : entries) {
        names.push_back(entry.filename().string() + (fs::is_directory(entry, unknown) ? "/" : ""));
        if (is_read(entry)) read.push_back(entry);
    }
    const std::string platform = platform_of(names);
    // Beside assignment.toml a download is nobody's hand-in.
    const auto platform_in = [&](const fs::path& entry) -> std::string {
        const std::optional<HandIn> hand_in = plain_hand_in(entry, assignment);
        if (!hand_in || sender(*hand_in, assignment)) return "";
        const std::string inner = download_in(entry, of_a_class);
        if (inner.empty() || (is_named_by(inner, entry) && !assignment.people.empty())) return inner;
        throw ClassError(clean_name(entry.string()) + ": " + is_a_download(inner, entry));
    };
    if (fs::exists(folder / "submission_metadata.yml", unknown)) {
        read_gradescope(folder, here, intake);
    } else if (platform == "Moodle") {
        read_moodle(entries, here, intake);
    } else if (platform == "Canvas") {
        read_canvas(entries, here, intake);
    } else if (const std::string inner = read.size() == 1 ? platform_in(read[0]) : ""; !inner.empty()) {
        intake = read_class(open_class(read[0], work / "download", heed), assignment, work, heed);
        intake.problems.insert(intake.problems.begin(),
                               fmt::format("{}: taken as the class; it is a download of {}",
                                           clean_name(read[0].filename().string()), inner));
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
        hand_in.key = hand_in.member = person.id;
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

}  // namespace rungs::classroom
