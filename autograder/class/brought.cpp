#include "class/brought.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "class/file_names.hpp"
#include "judge/build/hash.hpp"
#include "judge/confine/process.hpp"
#include "judge/result/clean_text.hpp"
#include "rungs/atomic_file.hpp"

namespace rungs::classroom {
namespace {

namespace fs = std::filesystem;
using judge::Descriptor;

constexpr int most_depth = 8;
constexpr std::size_t most_ignored = 20;
constexpr std::size_t most_alike = 10;  // files that may be meant as one rung

bool like_a_rung(const std::string& path) {
    const fs::path file(path);
    return (file.extension() == ".cu" || file.extension() == ".toml") && file.filename() != "chapter.toml";
}

bool hidden(const std::string& path) {
    const fs::path file(path);
    return std::any_of(file.begin(), file.end(), [](const fs::path& part) {
        return part.string().starts_with('.') || part == "__MACOSX";
    });
}

/// What a name ends with, as far as that is letters and digits: "cu" of "x.cu (1)"; empty: it has no ending.
std::string ending_of(const std::string& name) {
    const std::size_t dot = name.rfind('.');
    if (dot == std::string::npos) return "";
    std::size_t end = dot + 1;
    while (end < name.size() && std::isalnum(static_cast<unsigned char>(name[end]))) ++end;
    return folded(name.substr(dot + 1, end - dot - 1));
}

/// Whether a file's name promises a source. A file without an ending may be what a compiler has made of one.
bool promises_source(const std::string& name) {
    static const std::set<std::string> of_source{"cu",  "cuh", "cpp", "cxx",  "cc", "c",
                                                 "hpp", "hxx", "h",   "toml", "tml"};
    return of_source.count(ending_of(name)) > 0;
}

/// Whether it promises any text, notes and logs included.
bool promises_text(const std::string& name) {
    static const std::set<std::string> of_text{"txt", "text", "bak", "old", "orig", "tmp"};
    return promises_source(name) || of_text.count(ending_of(name)) > 0;
}

/// A name's runs of letters and of digits, in small letters.
struct NameWords {
    std::vector<std::string> words;
    std::vector<std::string> numbers;

    explicit NameWords(const std::string& name) {
        const auto kind = [](char c) {
            const auto byte = static_cast<unsigned char>(c);
            return std::isdigit(byte) ? 1 : std::isalpha(byte) || byte >= 0x80 ? 2 : 0;
        };
        const std::string text = folded(name);
        for (std::size_t at = 0; at < text.size();) {
            std::size_t end = at + 1;
            while (end < text.size() && kind(text[end]) == kind(text[at])) ++end;
            if (kind(text[at]) != 0)
                (kind(text[at]) == 1 ? numbers : words).push_back(text.substr(at, end - at));
            at = end;
        }
    }

    /// What others add to a name, or put in its place, without meaning another file. Takes that away.
    /// @returns whether one of them says that a number is the exercise's
    bool drop_added() {
        static const std::set<std::string> added{
            "cu",      "cuh",  "cpp",      "cxx",        "cc",       "c",        "hpp",   "hxx",
            "h",       "txt",  "text",     "toml",       "tml",      "bak",      "old",   "orig",
            "tmp",     "zip",  "pdf",      "docx",       "copy",     "of",       "kopie", "von",
            "copie",   "de",   "copia",    "final",      "new",      "fixed",    "my",    "v",
            "version", "done", "solution", "submission", "untitled", "download", "edited"};
        static const std::set<std::string> numbered{"rung",    "exercise", "ex",   "task",
                                                    "problem", "kernel",   "part", "q"};
        bool counts = false;
        std::erase_if(words, [&](const std::string& word) {
            counts = counts || numbered.count(word) > 0;
            return added.count(word) > 0 || numbered.count(word) > 0;
        });
        return counts;
    }

    std::string letters() const {
        std::string all;
        for (const std::string& word : words) all += word;
        return all;
    }
};

/// How many letters have to be changed, put in or left out to make the one of the other.
std::size_t edits_between(const std::string& a, const std::string& b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t k = 0; k <= b.size(); ++k) row[k] = k;
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t corner = row[0]++;
        for (std::size_t k = 0; k < b.size(); ++k) {
            const std::size_t changed = corner + (a[i] != b[k]);
            corner = row[k + 1];
            row[k + 1] = std::min({changed, row[k] + 1, corner + 1});
        }
    }
    return row.back();
}

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
    for (const AskedRung& rung : assignment.rungs) expected.push_back(rung.chapter + "/" + rung.file());
    hand_in.refused =
        "no file of it is an exercise of this assignment; there are: " + some_of(std::move(found));
    hand_in.expected = "; expected: " + some_of(std::move(expected));
}

/// A whole workbook has the files of all chapters, in chapters/.
bool in_workbook(const fs::path& file) {
    return std::find(file.begin(), file.end(), fs::path("chapters")) != file.end();
}

/// Whether what lies at `path` may be meant as `rung`. If the rung's own file is there, only another file of
/// that name may.
bool is_alike(const fs::path& path, const AskedRung& rung, bool has_file) {
    const std::string name = path.filename().string(), folder = path.parent_path().filename().string();
    if (folder != rung.chapter && begins_like_a_rung(folder))
        return name == rung.file() && !in_workbook(path);
    const Likeness like = likeness(name, rung);
    return like == Likeness::same || (like == Likeness::some && !has_file);
}

/// What is perhaps meant as a rung, of the files that are no rung's: a human decides.
void add_alike(const Brought& brought, const std::vector<const Candidate*>& all,
               const std::set<const Candidate*>& used, const Setting& here, HandIn& hand_in) {
    for (const AskedRung& rung : here.assignment.rungs) {
        const std::string file = rung.chapter + "/" + rung.file();
        const bool has_file = hand_in.files.count(file) > 0;
        std::vector<LookAlike> alike;
        for (const Candidate* candidate : all) {
            if (!used.count(candidate) && alike.size() < most_alike &&
                is_alike(candidate->path, rung, has_file))
                alike.push_back({file, candidate->shown, put_aside(candidate->bytes, here.work)});
        }
        for (const std::string& shown : brought.unread()) {
            // An archive that was not opened may hold any rung that is missing.
            const bool archive = is_archive(shown) || packed_otherwise(shown);
            if (!has_file && alike.size() < most_alike && (archive || is_alike(shown, rung, has_file)))
                alike.push_back({file, shown, {}});
        }
        hand_in.alike.insert(hand_in.alike.end(), alike.begin(), alike.end());
    }
}

}  // namespace

bool skipped(const fs::path& path) {
    static const std::set<std::string> folders{".git", "__MACOSX", "solutions", "edition", "kept"};
    return std::any_of(path.begin(), path.end(), [](const fs::path& part) {
        return folders.count(part.string()) > 0 || part.string().compare(0, 2, "._") == 0;
    });
}

bool packed_otherwise(const fs::path& file) {
    static const std::set<std::string> others{".7z",   ".bz2", ".cab", ".gz", ".lz",  ".lz4",
                                              ".lzma", ".rar", ".xz",  ".z",  ".zst", ".zipx"};
    return others.count(folded(file.extension().string())) > 0;
}

bool may_be_rung(const std::string& path, const Assignment& assignment) {
    const std::string name = fs::path(path).filename().string();
    return std::any_of(assignment.rungs.begin(), assignment.rungs.end(),
                       [&](const AskedRung& rung) { return rung.file() == name; });
}

Likeness likeness(const std::string& name, const AskedRung& rung) {
    if (name.empty() || name.size() > 255 || name.front() == '.' || is_put_beside(name))
        return Likeness::none;
    if (name == rung.file()) return Likeness::same;
    NameWords meant(rung.rung), found(name);
    const bool says_number = found.drop_added();
    const std::string wanted = meant.letters(), letters = found.letters(), number = rung.rung.substr(0, 2);
    if (letters == wanted) return Likeness::same;
    // By its name it is another rung's.
    if (is_rung_file(name) && name.compare(0, 2, number) != 0) return Likeness::none;
    constexpr std::size_t short_word = 4;
    if (wanted.size() >= short_word && letters.find(wanted) != std::string::npos) return Likeness::some;
    if (wanted.size() >= short_word &&
        edits_between(letters, wanted) <= std::max<std::size_t>(1, wanted.size() / 5))
        return Likeness::some;
    const bool same_number =
        std::any_of(found.numbers.begin(), found.numbers.end(), [&](const std::string& one) {
            return one == number || (says_number && one.size() == 1 && "0" + one == number);
        });
    if (!same_number) return Likeness::none;
    // A rung's file by its number alone, or with another name behind it.
    const bool is_named = name.compare(0, 2, number) == 0 && promises_text(name);
    return letters.empty() || is_named ? Likeness::some : Likeness::none;
}

Likeness Brought::best_likeness(const std::string& path) const {
    const std::string name = fs::path(path).filename().string();
    Likeness best = Likeness::none;
    for (const AskedRung& rung : assignment_.rungs) best = std::max(best, likeness(name, rung));
    return best;
}

bool Brought::wanted(const std::string& path) const {
    if (skipped(path)) return false;
    if (like_a_rung(path)) return true;
    const std::string name = fs::path(path).filename().string();
    if (hidden(path) || !promises_text(name)) return false;
    return best_likeness(path) >= (promises_source(name) ? Likeness::some : Likeness::same);
}

void Brought::add_folder(const fs::path& place) {
    if (!refused_.empty()) return;
    const Descriptor folder(open(place.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    refused_ = folder ? read_folder(folder.get(), "", most_depth)
                      : std::string("it cannot be read: ") + std::strerror(errno);
    if (!refused_.empty()) return;
    // A student packs an archive, and the platform keeps that as one of the files.
    std::error_code unknown;
    std::vector<fs::path> archives;
    for (const auto& entry : fs::directory_iterator(place, unknown)) {
        if (is_archive(entry.path()) && !skipped(entry.path().filename())) archives.push_back(entry.path());
    }
    std::sort(archives.begin(), archives.end());
    for (const fs::path& archive : archives) add_archive(archive, clean_name(archive.filename().string()));
}

void Brought::add_archive(const fs::path& place, const std::string& upload) {
    if (!refused_.empty()) return;
    const auto shown = [&](const std::string& path) { return upload.empty() ? path : upload + "/" + path; };
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
        &all_, archive_reader(),
        [&](const std::string& path) {
            if (like_a_rung(path)) return false;
            add_other(path, shown(path));
            return true;
        });
    if (!refused_.empty() && !upload.empty()) refused_ = upload + ": " + refused_;
}

void Brought::add_file(const fs::path& place, const std::string& path) {
    if (!refused_.empty()) return;
    const std::string name = clean_name(place.filename().string());
    struct stat status {};
    if (!like_a_rung(path) && lstat(place.c_str(), &status) == 0 && !fits(status.st_size)) {
        add_other(path, name);
        return;
    }
    ++all_.files;
    refused_ = read_regular(AT_FDCWD, place.string(), {name, path, name, ""});
}

void Brought::add_other(const std::string& path, const std::string& shown) {
    if (hidden(path)) return;
    if (others_.size() < most_ignored) others_.push_back(shown);
    const bool archive = is_archive(path) || packed_otherwise(path);
    if (!skipped(path) && unread_.size() < most_ignored && (archive || best_likeness(path) != Likeness::none))
        unread_.push_back(shown);
}

void Brought::add(Candidate file) {
    if (!may_be_rung(file.path, assignment_) && best_likeness(file.path) == Likeness::none)
        std::string().swap(file.bytes);  // frees them
    files_.push_back(std::move(file));
}

/// All in a folder that is wanted, never through a link. @returns why it is refused
std::string Brought::read_folder(int folder, const std::string& path, int depth) {
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
            return fmt::format("'{}': the name is not UTF-8, or holds control characters", clean_name(inner));
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
        } else if (wanted(inner) && (like_a_rung(inner) || fits(status.st_size))) {
            refused = read_regular(folder, name, {"", inner, inner, ""});
        } else if (!path.empty() || !is_archive(name)) {
            add_other(inner, inner);
        }
        if (!refused.empty()) return refused;
    }
    return "";
}

/// A file in a folder, which is no link. @returns why it is refused
std::string Brought::read_regular(int folder, const std::string& name, Candidate file) {
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
        const std::string name = rung.file();
        const bool unique = std::count_if(here.assignment.rungs.begin(), here.assignment.rungs.end(),
                                          [&](const AskedRung& other) { return other.file() == name; }) == 1;
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
    add_alike(brought, all, used, here, hand_in);
    if (hand_in.files.empty()) {
        refuse_others(brought, here.assignment, hand_in);
        return;
    }
    const auto is_told = [&](const Candidate* candidate) {
        return std::any_of(hand_in.alike.begin(), hand_in.alike.end(),
                           [&](const LookAlike& one) { return one.name == candidate->shown; });
    };
    for (const Candidate* candidate : all) {
        // Of a whole workbook only what could be a misspelt exercise is named.
        if (!used.count(candidate) && !in_workbook(candidate->path) && !is_told(candidate) &&
            hand_in.ignored.size() < most_ignored)
            hand_in.ignored.push_back(candidate->shown);
    }
}

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

}  // namespace rungs::classroom
