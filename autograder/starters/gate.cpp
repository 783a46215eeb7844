#include "gate.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "lesson.hpp"
#include "rungs/atomic_file.hpp"
#include "starter.hpp"

namespace rungs {
namespace {

namespace fs = std::filesystem;
using judge::Verdict;

std::string shown(const fs::path& root, const fs::path& file) {
    return file.lexically_relative(root).string();
}

/// Verdicts that say "not written yet". A starter that does not compile stops a student before the start, one
/// that only looks odd or could not be run says nothing.
bool is_honest_failure(Verdict verdict) {
    switch (verdict) {
        case Verdict::wrong:
        case Verdict::timeout:
        case Verdict::deadlock:
        case Verdict::out_of_bounds:
        case Verdict::race:
        case Verdict::uninit:
        case Verdict::barrier:
        case Verdict::runtime_error:
        case Verdict::runtime_signal:
            return true;
        default:
            return false;
    }
}

/// A chapter's tests name a rung by its tag, or register what every row of the contract's table promises.
bool has_test(const fs::path& chapter, const std::string& rung) {
    std::error_code error;
    for (fs::directory_iterator it(chapter, error), end; !error && it != end; it.increment(error)) {
        const std::string name = it->path().filename().string();
        if (name.size() < 9 || name.substr(name.size() - 9) != "_test.cpp") continue;
        const std::string text = read_file(it->path());
        if (text.find("[" + rung + "]") != std::string::npos ||
            text.find("register_promises<") != std::string::npos)
            return true;
    }
    return false;
}

}  // namespace

std::vector<Finding> check_starters(const fs::path& root, bool write, const Say& say) {
    std::vector<Finding> found;
    std::vector<StarterPair> pairs;
    try {
        pairs = starter_pairs(root);
    } catch (const StarterError& error) {
        return {{error.what()}};
    }
    for (const StarterPair& pair : pairs) {
        try {
            const std::string expected = make_starter(read_file(pair.solution), shown(root, pair.solution));
            const bool exists = fs::exists(pair.starter);
            const std::string now = exists ? read_file(pair.starter) : std::string();
            if (exists && now == expected) continue;
            if (write) {
                write_file(pair.starter, expected);
                if (say) say(shown(root, pair.starter) + (exists ? " is the starter again" : " is new"));
                continue;
            }
            if (!exists) {
                found.push_back(
                    {shown(root, pair.starter) + " is missing; write it: rungs_starters --write"});
                continue;
            }
            const Difference difference = first_difference(expected, now);
            found.push_back({fmt::format(
                "{}:{} is stale: expected \"{}\", found \"{}\"; write it: rungs_starters --write",
                shown(root, pair.starter), difference.line, difference.expected, difference.found)});
        } catch (const StarterError& error) {
            found.push_back({error.what()});
        } catch (const FileError& error) {
            found.push_back({error.what()});
        }
    }
    return found;
}

std::vector<Finding> check_lessons(const fs::path& root, bool write, const Say& say) {
    std::vector<Finding> found;
    for (const Manifest& manifest : read_manifests(root / "chapters")) {
        const fs::path file = manifest.folder / "README.md";
        const std::string name = shown(root, file);
        if (!fs::exists(file)) {
            found.push_back({name + " is missing: every chapter has a lesson"});
            continue;
        }
        try {
            std::string lesson = read_file(file);
            const std::string filled = fill_lesson(lesson, manifest, root, name);
            if (filled != lesson && write) {
                write_file(file, filled);
                if (say) say(name + " is current again");
                lesson = filled;
            } else if (filled != lesson) {
                const Difference difference = first_difference(filled, lesson);
                found.push_back({fmt::format(
                    "{}:{} is stale: expected \"{}\", found \"{}\"; write it: rungs_starters --write", name,
                    difference.line, difference.expected, difference.found)});
            }
            if (lesson.find("<!-- ladder -->") == std::string::npos) {
                found.push_back(
                    {name + ": no ladder; put <!-- ladder --> and <!-- end --> where the table belongs"});
            }
            for (const std::string& text : contradictions(lesson, manifest, root, name))
                found.push_back({text});
        } catch (const LessonError& error) {
            found.push_back({error.what()});
        } catch (const FileError& error) {
            found.push_back({error.what()});
        }
    }
    return found;
}

std::vector<Finding> check_exercises(const fs::path& root) {
    std::vector<Finding> found;
    std::set<std::string> solved;
    try {
        for (const StarterPair& pair : starter_pairs(root)) solved.insert(pair.chapter + "/" + pair.rung);
    } catch (const StarterError& error) {
        return {{error.what()}};
    }
    for (const Manifest& manifest : read_manifests(root / "chapters")) {
        for (const RungEntry& rung : manifest.rungs) {
            const std::string name = manifest.chapter + "/" + rung.name;
            const bool has_solution = solved.erase(name) > 0;
            if (rung.given()) {
                if (has_solution)
                    found.push_back({"solutions/" + name +
                                     ".cu: the manifest gives this rung no points, so it is given"});
                continue;
            }
            if (!has_solution)
                found.push_back({"solutions/" + name + ".cu is missing: an exercise has a solution"});
            if (rung.hints.empty()) found.push_back({name + " has no hint in chapter.toml"});
            if (!has_test(manifest.folder, rung.name)) {
                found.push_back(
                    {fmt::format("{} has no test: no *_test.cpp in {} carries the tag [{}] or registers "
                                 "what every rung promises",
                                 name, shown(root, manifest.folder), rung.name)});
            }
            const fs::path starter = manifest.folder / (rung.name + ".cu");
            if (fs::exists(starter) && read_file(starter).find("TODO") == std::string::npos) {
                found.push_back({shown(root, starter) + " has no TODO: what is the student to do?"});
            }
        }
    }
    for (const std::string& name : solved) {
        found.push_back({"solutions/" + name + ".cu: the manifest has no rung of that name"});
    }
    return found;
}

std::vector<Finding> check_verdicts(const fs::path& root, const std::string& chapter, const fs::path& scratch,
                                    const std::vector<Backend>& backends, const JudgeFunction& judge,
                                    const CompileFunction& compile, const Say& say) {
    std::vector<Finding> found;
    const auto sentence = [](const std::string& who, const judge::RungResult& result, Backend backend) {
        return fmt::format("{} is {} on the {} backend{}{}", who, judge::name_of(result.verdict),
                           name_of(backend), result.reason.empty() ? "" : ": ", result.reason);
    };
    for (const Manifest& manifest : read_manifests(root / "chapters")) {
        if (!chapter.empty() && manifest.chapter != chapter) continue;
        for (const RungEntry& rung : manifest.rungs) {
            const std::string file = manifest.chapter + "/" + rung.name + ".cu";
            const fs::path right = root / (rung.given() ? "chapters" : "solutions") / file;
            const std::string who = "the starter of " + manifest.chapter + "/" + rung.name;
            const fs::path starter = rung.given() ? fs::path() : scratch / file;
            if (!starter.empty()) {
                try {
                    fs::create_directories(starter.parent_path());
                    write_file(starter, make_starter_from(right));
                } catch (const std::runtime_error& error) {
                    found.push_back({error.what()});
                    continue;
                }
            }
            for (const Backend backend : backends) {
                const judge::RungResult result = judge(manifest, rung, right, backend);
                say(sentence(shown(root, right), result, backend));
                if (!result.passed()) {
                    found.push_back({sentence(shown(root, right), result, backend) + "; it has to pass",
                                     judge::owner_of(result.verdict) == judge::Owner::ours});
                }
                if (starter.empty()) continue;
                const judge::RungResult pristine = judge(manifest, rung, starter, backend);
                say(sentence(who, pristine, backend));
                if (pristine.passed()) {
                    found.push_back({sentence(who, pristine, backend) + "; a starter that passes is a bug"});
                } else if (!is_honest_failure(pristine.verdict)) {
                    found.push_back({sentence(who, pristine, backend) +
                                         "; a starter has to compile and to fail with an honest verdict",
                                     judge::owner_of(pristine.verdict) == judge::Owner::ours});
                }
            }
            if (!compile || starter.empty()) continue;
            const std::string message = compile(manifest, starter);
            say(who + (message.empty() ? " compiles" : " does not compile") + " with nvcc");
            if (!message.empty()) found.push_back({who + " does not compile with nvcc:\n" + message});
        }
    }
    return found;
}

}  // namespace rungs
