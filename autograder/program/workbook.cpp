#include "program/workbook.hpp"

#include <algorithm>
#include <cstdlib>

#include "judge/build/edition.hpp"

#ifndef RUNGS_BUILD
#define RUNGS_BUILD ""
#endif

namespace rungs {
namespace {

namespace fs = std::filesystem;

/// "; did you mean a or b?", or nothing.
std::string suggestion(const std::string& word, const std::vector<std::string>& candidates) {
    const std::vector<std::string> near = nearest(word, candidates);
    std::string text;
    for (std::size_t i = 0; i < near.size(); ++i) {
        text += (i == 0 ? "; did you mean " : i + 1 == near.size() ? " or " : ", ") + near[i];
    }
    return text.empty() ? text : text + "?";
}

bool means_chapter(const Manifest& chapter, const std::string& word) {
    return word == chapter.chapter || word == chapter.chapter.substr(0, 2) ||
           word == chapter.chapter.substr(3);
}

const Manifest* find_chapter(const Workbook& workbook, const std::string& word) {
    for (const Manifest& chapter : workbook.chapters) {
        if (means_chapter(chapter, word)) return &chapter;
    }
    return nullptr;
}

std::vector<std::string> chapter_words(const Workbook& workbook) {
    std::vector<std::string> words;
    for (const Manifest& chapter : workbook.chapters) {
        words.push_back(chapter.chapter.substr(0, 2));
        words.push_back(chapter.chapter.substr(3));
        words.push_back(chapter.chapter);
    }
    return words;
}

[[noreturn]] void unknown_rung(const Manifest& chapter, const std::string& name, const std::string& word) {
    std::vector<std::string> words;
    const std::string number = chapter.chapter.substr(0, 2);
    for (const RungEntry& rung : chapter.rungs) {
        words.push_back(rung.name.substr(0, 2));
        words.push_back(rung.launcher());
        words.push_back(rung.name);
    }
    std::string near = suggestion(word, words);
    if (near.empty()) {
        near = "; its rungs are";
        for (const RungEntry& rung : chapter.rungs) near += " " + rung.name;
    } else {
        // Suggestions as they have to be typed.
        near = "; did you mean";
        const std::vector<std::string> list = nearest(word, words);
        for (std::size_t i = 0; i < list.size(); ++i) {
            near += (i == 0 ? " " : i + 1 == list.size() ? " or " : ", ") + number + "/" + list[i];
        }
        near += "?";
    }
    throw UsageError("unknown rung '" + name + "' in chapter " + chapter.chapter + near);
}

/// "3" is what people type for "03".
std::string two_digits(const std::string& word) {
    return word.size() == 1 && word[0] >= '0' && word[0] <= '9' ? "0" + word : word;
}

/// What a name means: a chapter, and a rung of it or none for all.
std::pair<const Manifest*, const RungEntry*> meaning(const Workbook& workbook, const std::string& name) {
    // A path of a rung file, from wherever the student types.
    const fs::path path(name);
    if (path.extension() == ".cu" || path.extension() == ".toml") {
        std::error_code error;
        const fs::path whole = fs::weakly_canonical(fs::absolute(path), error);
        const Manifest* chapter = find_chapter(workbook, whole.parent_path().filename().string());
        if (!chapter) {
            throw UsageError("'" + name +
                             "' is not in a chapter's folder; expected a path such as chapters/" +
                             (workbook.chapters.empty() ? "01_topic" : workbook.chapters.front().chapter) +
                             "/01_technique.cu, or a name such as 01/03");
        }
        for (const RungEntry& rung : chapter->rungs) {
            if (rung.file() == path.filename()) return {chapter, &rung};
        }
        unknown_rung(*chapter, name, path.stem().string());
    }
    std::string word = name;
    if (word.rfind("chapters/", 0) == 0) word.erase(0, 9);
    while (!word.empty() && word.back() == '/') word.pop_back();

    const std::size_t slash = word.find('/');
    const std::string head = two_digits(word.substr(0, slash));
    const Manifest* chapter = find_chapter(workbook, head);
    if (!chapter) {
        // Perhaps it is a rung whose chapter was left out.
        for (const Manifest& each : workbook.chapters) {
            const RungEntry* rung = slash == std::string::npos ? each.find(head) : nullptr;
            if (rung && !means_chapter(each, head)) {
                throw UsageError("unknown chapter '" + name + "'; did you mean " + each.chapter.substr(0, 2) +
                                 "/" + head + "?");
            }
        }
        std::string near = suggestion(head, chapter_words(workbook));
        if (near.empty()) {
            near = workbook.chapters.empty() ? "; there is no chapter at all" : "; the chapters are";
            for (const Manifest& each : workbook.chapters) near += " " + each.chapter;
        }
        throw UsageError("unknown chapter '" + name + "'" + near);
    }
    if (slash == std::string::npos) return {chapter, nullptr};
    const std::string tail = two_digits(word.substr(slash + 1));
    const RungEntry* rung = chapter->find(tail);
    if (!rung) unknown_rung(*chapter, name, tail);
    return {chapter, rung};
}

}  // namespace

std::string Workbook::shown(const fs::path& file) const {
    const fs::path relative = fs::absolute(file).lexically_normal().lexically_relative(root());
    if (relative.empty() || *relative.begin() == "..") return file.string();
    return relative.string();
}

fs::path source_of(const Workbook& workbook, const Chosen& chosen, judge::Whose whose,
                   const fs::path& submission) {
    return judge::source_of(*chosen.chapter, *chosen.rung, workbook.root(), whose, submission);
}

fs::path build_folder() {
    if (const char* folder = std::getenv("RUNGS_BUILD"); folder && *folder) return folder;
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    if (!error) {
        const fs::path build = program.parent_path().parent_path();
        if (fs::exists(build / "toolchain.json", error)) return build;
    }
    return RUNGS_BUILD;
}

Workbook open_workbook() {
    Workbook workbook;
    workbook.toolchain = judge::read_toolchain(build_folder() / "toolchain.json");
    workbook.chapters = read_manifests(workbook.root() / "chapters");
    return workbook;
}

void require_file(const Workbook& workbook, const Chosen& chosen) {
    const fs::path file = source_of(workbook, chosen, judge::Whose::student);
    std::error_code error;
    if (fs::exists(file, error)) return;
    throw CannotCheck(workbook.shown(file) + " is missing; to restore its starter: ./rungs reset " +
                      chosen.short_name());
}

void require_solution(const Workbook& workbook, const Chosen& chosen) {
    if (chosen.rung->given() || !judge::is_edition(workbook.root())) return;
    throw UsageError("this is a student edition, which has no solution of " + chosen.short_name() +
                     "; without --solution it takes yours");
}

void require_kernel(const Chosen& chosen) {
    if (chosen.rung->kind != Kind::predict) return;
    throw UsageError(chosen.rung->name + " asks for numbers and has no kernel: ./rungs predict " +
                     chosen.short_name());
}

std::string Chosen::short_name() const {
    return chapter->chapter.substr(0, 2) + "/" + rung->name.substr(0, 2);
}

std::string Chosen::long_name() const { return chapter->chapter + "/" + rung->name; }

std::vector<Chosen> choose(const Workbook& workbook, const std::vector<std::string>& names) {
    std::vector<std::pair<const Manifest*, const RungEntry*>> wanted;
    for (const std::string& name : names) wanted.push_back(meaning(workbook, name));
    std::vector<Chosen> chosen;
    for (const Manifest& chapter : workbook.chapters) {
        for (const RungEntry& rung : chapter.rungs) {
            const bool asked =
                names.empty() || std::any_of(wanted.begin(), wanted.end(), [&](const auto& want) {
                    return want.first == &chapter && (!want.second || want.second == &rung);
                });
            if (asked) chosen.push_back({&chapter, &rung});
        }
    }
    return chosen;
}

Chosen choose_rung(const Workbook& workbook, const std::string& name) {
    const auto [chapter, rung] = meaning(workbook, name);
    if (!rung) {
        const auto& all = chapter->rungs;
        const auto first =
            std::find_if(all.begin(), all.end(), [](const RungEntry& one) { return !one.given(); });
        throw UsageError("'" + name + "' is a chapter; name one rung of it, such as " +
                         chapter->chapter.substr(0, 2) + "/" +
                         (first == all.end() ? all.front() : *first).name.substr(0, 2));
    }
    return {chapter, rung};
}

const Manifest& choose_chapter(const Workbook& workbook, const std::string& name) {
    return *meaning(workbook, name).first;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
    // Optimal string alignment (Damerau 1964): three rows of the table are enough.
    std::vector<std::size_t> before(b.size() + 1), previous(b.size() + 1), row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) previous[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({previous[j] + 1, row[j - 1] + 1, previous[j - 1] + (a[i - 1] != b[j - 1])});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = std::min(row[j], before[j - 2] + 1);
            }
        }
        std::swap(before, previous);
        std::swap(previous, row);
    }
    return previous[b.size()];
}

std::vector<std::string> nearest(const std::string& word, const std::vector<std::string>& candidates) {
    std::vector<std::pair<std::size_t, std::string>> ranked;
    for (const std::string& candidate : candidates) {
        const std::size_t distance = edit_distance(word, candidate);
        // Two-digit numbers are all near each other: only one wrong digit counts.
        const std::size_t limit = std::max<std::size_t>(1, std::max(word.size(), candidate.size()) / 3);
        if (distance <= limit) ranked.emplace_back(distance, candidate);
    }
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const auto& x, const auto& y) { return x.first < y.first; });
    std::vector<std::string> near;
    for (const auto& [distance, candidate] : ranked) {
        if (near.size() < 3) near.push_back(candidate);
    }
    return near;
}

}  // namespace rungs
