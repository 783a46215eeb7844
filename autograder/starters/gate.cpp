#include "starters/gate.hpp"

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "program/starter.hpp"
#include "rungs/atomic_file.hpp"
#include "starters/before_build.hpp"
#include "starters/lesson.hpp"

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

/// What a reference lacks of all the points that students are promised; empty: nothing. A judge that could
/// not model its time asks for no points for it; here it must, except in a build without check mode.
std::string lacking(const judge::RungResult& result, const RungEntry& rung, Backend backend) {
    const bool modelled = backend == Backend::cpu && result.checks.done;
    const double all = modelled ? judge::max_points(rung, backend) : result.max_points;
    if (result.verdict != Verdict::ok) return "it has to be OK";
    if (result.points >= all - 1e-9) return "";
    return fmt::format("it has {:.4g} of {:.4g} points, and has to have all{}{}", result.points, all,
                       result.modelled.why_not.empty() ? "" : ": ", result.modelled.why_not);
}

/// Lines of a rung that passed and that no check case reached, except those whose source says why; and those
/// that say so and were reached.
void check_reached(const judge::RungResult& result, const std::string& name, const std::string& source,
                   std::vector<GateFinding>& found) {
    if (!result.checks.done || result.checks.cases != result.checks.of) return;
    const std::vector<Lines> marked = unchecked_lines(source);
    judge::ChecksResult missing;
    missing.unchecked = unexplained(result.checks.unchecked_by_cases, source);
    if (!result.checks.unread.empty())
        found.push_back({fmt::format("{}: {}", name, judge::unchecked_text(result.checks))});
    if (!missing.unchecked.empty()) {
        found.push_back(
            {fmt::format("{}: {}; add one to chapter.toml, or say why there is none: // unchecked: ...", name,
                         judge::unchecked_text(missing))});
    }
    const std::vector<Barrier> barriers = barriers_of(source);
    for (const Lines& range : marked) {
        const auto within = [&](unsigned line) { return range.first <= line && line <= range.last; };
        const auto& missed = result.checks.unchecked_by_cases;
        if (std::any_of(missed.begin(), missed.end(), within) ||
            std::any_of(barriers.begin(), barriers.end(), [&](const auto& one) { return within(one.line); }))
            continue;  // gate 6 looks at what is said of barriers
        found.push_back(
            {fmt::format("{}:{} is reached by a check case: it is not 'unchecked'", name, range.first)});
    }
}

/// Lines with code on them, without comments and indentation.
std::vector<std::string> code_lines(const std::string& source) {
    std::vector<std::string> lines;
    std::istringstream in(source);
    for (std::string line; std::getline(in, line);) {
        line = line.substr(0, line.find("//"));
        const std::size_t first = line.find_first_not_of(" \t\r");
        if (first == std::string::npos) continue;
        lines.push_back(line.substr(first, line.find_last_not_of(" \t\r") + 1 - first));
    }
    return lines;
}

/// Code lines of `solution` that are not in `starter`: those outside a longest common subsequence.
std::vector<std::string> own_lines(const std::vector<std::string>& starter,
                                   const std::vector<std::string>& solution) {
    std::vector<std::vector<unsigned>> longest(starter.size() + 1,
                                               std::vector<unsigned>(solution.size() + 1));
    for (std::size_t i = starter.size(); i-- > 0;) {
        for (std::size_t j = solution.size(); j-- > 0;) {
            longest[i][j] = starter[i] == solution[j] ? longest[i + 1][j + 1] + 1
                                                      : std::max(longest[i + 1][j], longest[i][j + 1]);
        }
    }
    std::vector<std::string> own;
    std::size_t i = 0;
    for (std::size_t j = 0; j < solution.size();) {
        if (i < starter.size() && starter[i] == solution[j]) {
            ++i, ++j;
        } else if (i < starter.size() && longest[i + 1][j] >= longest[i][j + 1]) {
            ++i;
        } else {
            own.push_back(solution[j++]);
        }
    }
    return own;
}

/// Which of a chapter's rungs a slice of the gates tries.
std::vector<bool> in_slice(const std::string& kind, const Manifest& manifest,
                           const std::vector<RungEntry>& rungs, const Slice& slice) {
    std::vector<Slice::Case> cases;
    for (const RungEntry& rung : rungs)
        cases.push_back({rung.name, {"solutions/" + manifest.chapter + "/" + rung.file()}});
    return slice.choose(kind + " of " + manifest.chapter, cases);
}

/// What holds in a chapter whose rungs state their kinds.
void check_kinds(const fs::path& root, const Manifest& manifest, std::vector<GateFinding>& found) {
    constexpr std::size_t most_starter = 100, most_solution = 120, steps = 4;
    constexpr double least_of_chapter = 0.40, least_of_rung = 0.25;
    const std::string toml = shown(root, manifest.folder / "chapter.toml");
    const auto add = [&](const std::string& file, const std::string& what) {
        found.push_back({file + ": " + what});
    };
    std::map<Kind, int> count;
    std::string written;
    double all = 0, own = 0;
    for (const RungEntry& rung : manifest.rungs) {
        ++count[rung.kind];
        if (rung.given()) continue;
        const auto lacks = [&](const std::string& what) { add(toml, "[rungs." + rung.name + "] " + what); };
        if (rung.minutes == 0) lacks("has no 'minutes': how long does a student need?");
        if (rung.difficulty == 0) lacks("has no 'difficulty' from 1 to 5");
        if (rung.hints.size() != steps) {
            lacks(
                fmt::format("has {} hints; there are {}: a question, a small case or picture, the method, "
                            "the first line of code",
                            rung.hints.size(), steps));
        }
        if (rung.kind == Kind::repair && !manifest.check.required)
            lacks("is to be repaired, but [check] has required = false: its fault would cost nothing");
        if (rung.kind == Kind::predict) continue;
        const fs::path file = root / "solutions" / manifest.chapter / rung.file();
        const fs::path place = manifest.folder / rung.file();
        std::string solution, starter;
        try {
            solution = read_file(file);
            starter = make_starter(solution, shown(root, file));
        } catch (const std::runtime_error&) {
            continue;  // told elsewhere
        }
        const auto size = [](const std::string& text) {
            return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
        };
        if (size(starter) > most_starter) {
            add(shown(root, place), fmt::format("{} lines; a starter has at most {}: move what is not the "
                                                "idea into a header of the chapter",
                                                size(starter), most_starter));
        }
        if (rung.kind != Kind::summit && size(solution) > most_solution) {
            add(shown(root, file), fmt::format("{} lines; a solution has at most {}, except a summit's: make "
                                               "two rungs of it, or move what is not the idea into a header",
                                               size(solution), most_solution));
        }
        if (starter.find("TODO") == std::string::npos) {
            add(shown(root, place), "no TODO: what is the student to do?");
        }
        if (rung.kind == Kind::repair) continue;
        const std::vector<std::string> lines = code_lines(solution),
                                       mine = own_lines(code_lines(starter), lines);
        for (const std::string& line : mine) written += line + '\n';
        if (rung.kind == Kind::summit || lines.empty()) continue;
        all += static_cast<double>(lines.size());
        own += static_cast<double>(mine.size());
        if (static_cast<double>(mine.size()) < least_of_rung * static_cast<double>(lines.size())) {
            add(shown(root, file),
                fmt::format("{} of {} code lines are the student's; at least {:.0f} % have to be: leave more "
                            "to write, or move what is given into a header",
                            mine.size(), lines.size(), 100 * least_of_rung));
        }
    }
    if (own < least_of_chapter * all) {
        add(toml,
            fmt::format("{} of {} code lines of its solutions are the student's; at least {:.0f} % have "
                        "to be: leave more to write",
                        own, all, 100 * least_of_chapter));
    }
    // The on-ramp ends below the summits.
    const bool on_ramp = manifest.chapter.substr(0, 2) == "00";
    for (const auto& [kind, least] : {std::pair(Kind::write, 2),
                                      {Kind::repair, 1},
                                      {Kind::predict, 1},
                                      {Kind::summit, on_ramp ? 0 : 1}}) {
        if (count[kind] >= least) continue;
        add(toml, fmt::format("rungs of kind {}: {}; a chapter has at least {}", name_of(kind), count[kind],
                              least));
    }
    for (const char* word : {"__global__", "<<<", "__shared__"}) {
        if (written.find(word) != std::string::npos) continue;
        add(toml, fmt::format("nowhere does a student write {}: leave it to one of the starters", word));
    }
}

/// Holds that a generated file is what `make` makes of its sources, or writes it.
template <class Make>
void hold(const fs::path& root, const fs::path& file, const char* rewritten, const Make& make, bool write,
          const Say& say, std::vector<GateFinding>& found) {
    try {
        const std::string expected = make();
        const bool exists = fs::exists(file);
        const std::string now = exists ? read_file(file) : std::string();
        if (exists && now == expected) return;
        if (write) {
            write_file(file, expected);
            if (say) say(shown(root, file) + (exists ? rewritten : " is new"));
            return;
        }
        if (!exists) {
            found.push_back({shown(root, file) + " is missing; write it: rungs_starters --write"});
            return;
        }
        const Difference difference = first_difference(expected, now);
        found.push_back(
            {fmt::format("{}:{} is stale: expected \"{}\", found \"{}\"; write it: rungs_starters --write",
                         shown(root, file), difference.line, difference.expected, difference.found)});
    } catch (const StarterError& error) {
        found.push_back({error.what()});
    } catch (const FileError& error) {
        found.push_back({error.what()});
    }
}

}  // namespace

std::vector<GateFinding> check_starters(const fs::path& root, bool write, const Say& say) {
    std::vector<GateFinding> found;
    std::vector<StarterPair> pairs;
    try {
        pairs = starter_pairs(root);
    } catch (const StarterError& error) {
        return {{error.what()}};
    }
    for (const StarterPair& pair : pairs) {
        hold(
            root, pair.starter, " is the starter again",
            [&] { return make_starter(read_file(pair.solution), shown(root, pair.solution)); }, write, say,
            found);
    }
    for (const Manifest& manifest : read_manifests(root / "chapters")) {
        for (const RungEntry& rung : manifest.rungs) {
            if (rung.kind != Kind::predict) continue;
            hold(
                root, manifest.folder / rung.file(), " is the starter again",
                [&] { return make_answers(manifest, rung); }, write, say, found);
        }
    }
    return found;
}

std::vector<GateFinding> check_before_build(const fs::path& root, bool write, const Say& say) {
    std::vector<GateFinding> found;
    hold(
        root, root / before_build_file, " is current again", [&] { return before_build(root); }, write, say,
        found);
    return found;
}

std::vector<GateFinding> check_lessons(const fs::path& root, bool write, const Say& say) {
    std::vector<GateFinding> found;
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

std::vector<GateFinding> check_written(const fs::path& root) {
    constexpr std::string_view mark = "WRITE: ";
    const std::set<std::string> kinds{".cu", ".cuh", ".cpp", ".hpp", ".toml", ".md"};
    std::vector<fs::path> files{root / "README.md"};
    for (const char* const folder : {"chapters", "solutions"}) {
        for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
            const fs::path& file = entry.path();
            const fs::path place = file.lexically_relative(root / "chapters");
            const bool answers = file.extension() == ".toml" && file.filename() != "chapter.toml" &&
                                 std::distance(place.begin(), place.end()) == 2;
            const bool generated = answers || (file.extension() == ".cu" && *place.begin() != ".." &&
                                               fs::exists(root / "solutions" / place));
            if (entry.is_regular_file() && kinds.count(file.extension()) && !generated) files.push_back(file);
        }
    }
    std::sort(files.begin(), files.end());
    std::vector<GateFinding> found;
    for (const fs::path& file : files) {
        if (!fs::exists(file)) continue;
        std::istringstream in(read_file(file));
        bool generated = false;  // a region of a lesson
        int number = 0;
        for (std::string line; std::getline(in, line);) {
            ++number;
            if (line.rfind("<!-- ", 0) == 0) generated = line != "<!-- end -->";
            const std::size_t at = line.find(mark);
            if (generated || at == std::string::npos) continue;
            std::string what = line.substr(at + mark.size());
            what.erase(std::min({what.find('"'), what.find("</"), what.find_last_not_of(". ") + 1}));
            found.push_back({fmt::format("{}:{}: still to write: {}", shown(root, file), number, what)});
        }
    }
    return found;
}

std::vector<GateFinding> check_exercises(const fs::path& root) {
    std::vector<GateFinding> found;
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
            if (rung.kind == Kind::predict) {
                if (has_solution)
                    found.push_back({"solutions/" + name +
                                     ".cu: the counters are the solution of what is to be predicted"});
                continue;
            }
            if (!has_solution)
                found.push_back({"solutions/" + name + ".cu is missing: an exercise has a solution"});
            if (rung.hints.empty()) found.push_back({name + " has no hint in chapter.toml"});
            const fs::path starter = manifest.folder / rung.file();
            if (fs::exists(starter) && read_file(starter).find("TODO") == std::string::npos) {
                found.push_back({shown(root, starter) + " has no TODO: what is the student to do?"});
            }
        }
        if (manifest.kinds) check_kinds(root, manifest, found);
    }
    for (const std::string& name : solved) {
        found.push_back({"solutions/" + name + ".cu: the manifest has no rung of that name"});
    }
    return found;
}

std::vector<GateFinding> check_verdicts(const fs::path& root, const std::string& chapter,
                                        const fs::path& scratch, const std::vector<Backend>& backends,
                                        const JudgeFunction& judge, const CompileFunction& compile,
                                        const Say& say, const Slice& slice) {
    std::vector<GateFinding> found;
    const auto sentence = [](const std::string& who, const judge::RungResult& result, Backend backend) {
        return fmt::format("{} is {} on the {} backend{}{}", who, judge::name_of(result.verdict),
                           name_of(backend), result.causes.empty() ? "" : ": ", result.reason());
    };
    for (const Manifest& manifest : read_manifests(root / "chapters")) {
        if (!chapter.empty() && manifest.chapter != chapter) continue;
        const std::vector<bool> judged = in_slice("solutions", manifest, manifest.rungs, slice);
        for (std::size_t at = 0; at < manifest.rungs.size(); ++at) {
            const RungEntry& rung = manifest.rungs[at];
            const std::string file = manifest.chapter + "/" + rung.file();
            const bool asks = rung.kind == Kind::predict;
            const fs::path right = asks ? manifest.folder / "chapter.toml"
                                        : root / (rung.given() ? "chapters" : "solutions") / file;
            const std::string who = "the starter of " + manifest.chapter + "/" + rung.name;
            const fs::path starter = rung.given() ? fs::path() : scratch / file;
            if (!starter.empty()) {
                try {
                    fs::create_directories(starter.parent_path());
                    write_file(starter, asks ? make_answers(manifest, rung) : make_starter_from(right));
                } catch (const std::runtime_error& error) {
                    found.push_back({error.what()});
                    continue;
                }
            }
            const auto judge_right = [&](Backend backend) {
                const judge::RungResult result = judge(manifest, rung, right, backend);
                say(sentence(shown(root, right), result, backend));
                if (const std::string lacks = lacking(result, rung, backend); !lacks.empty()) {
                    found.push_back({sentence(shown(root, right), result, backend) + "; " + lacks,
                                     judge::owner_of(result.verdict) == judge::Owner::ours});
                }
                if (result.passed()) check_reached(result, shown(root, right), read_file(right), found);
            };
            for (const Backend backend : backends) {
                if (judged[at]) judge_right(backend);
                if (starter.empty()) continue;
                const judge::RungResult pristine = judge(manifest, rung, starter, backend);
                say(sentence(who, pristine, backend));
                if (pristine.passed()) {
                    found.push_back({sentence(who, pristine, backend) + "; a starter that passes is a bug"});
                } else if (!is_honest_failure(pristine.verdict)) {
                    found.push_back({sentence(who, pristine, backend) +
                                         "; a starter has to compile and to fail with an honest verdict",
                                     judge::owner_of(pristine.verdict) == judge::Owner::ours});
                } else if (rung.kind == Kind::repair && backend == Backend::cpu &&
                           pristine.correctness.passed == 0) {  // on a GPU, a race shows when it likes
                    found.push_back(
                        {sentence(who, pristine, backend) +
                         "; it passes no case: a fault that is to be found must show late, so plant "
                         "another, or put the cases that it passes first in chapter.toml"});
                }
            }
            if (!compile || !judged[at] || starter.empty() || asks) continue;
            const std::string message = compile(manifest, starter);
            say(who + (message.empty() ? " compiles" : " does not compile") + " with nvcc");
            if (!message.empty()) found.push_back({who + " does not compile with nvcc:\n" + message});
        }
    }
    return found;
}

std::vector<Barrier> barriers_of(const std::string& source) {
    static const std::regex barrier(R"((__sync(threads|warp)|__threadfence(_block|_system)?)\([^()]*\);)"
                                    R"(|[A-Za-z_][A-Za-z_0-9:]*(\(\))?\.(sync|wait)\(\);)");
    std::vector<Barrier> all;
    unsigned number = 0;
    for (std::size_t begin = 0; begin < source.size();) {
        const std::size_t end = std::min(source.find('\n', begin), source.size());
        const std::string line = source.substr(begin, end - begin);
        const std::string code = line.substr(0, line.find("//"));
        ++number;
        for (std::sregex_iterator it(code.begin(), code.end(), barrier), last; it != last; ++it) {
            const auto length = static_cast<std::size_t>(it->length()) - 1;  // the semicolon stays
            all.push_back(
                {number, begin + static_cast<std::size_t>(it->position()), it->str().substr(0, length)});
        }
        begin = end + 1;
    }
    return all;
}

std::string with_switched_barriers(const std::string& source) {
    std::string text = source;
    const std::vector<Barrier> barriers = barriers_of(source);
    // The last one first: those before it stay where they are.
    for (std::size_t i = barriers.size(); i-- > 0;) {
        const Barrier& one = barriers[i];
        text.replace(one.at, one.call.size(),
                     fmt::format("(barrier_left_out == {} ? static_cast<void>(0) : {})", i, one.call));
    }
    // No line shall move: findings name them.
    const std::size_t include = ("\n" + text).rfind("\n#include"), end = text.find('\n', include);
    if (include == std::string::npos || end == std::string::npos || text.compare(end + 1, 1, "#") == 0)
        throw std::runtime_error("has no line for a variable behind its #include lines");
    return text.insert(end + 1,
                       fmt::format("__device__ unsigned long long barrier_left_out = {:#x}; ", no_barrier));
}

std::vector<GateFinding> check_barriers(const fs::path& root, const std::string& chapter,
                                        const fs::path& scratch, const FaultFunction& fault, const Say& say,
                                        const Slice& slice) {
    std::vector<GateFinding> found;
    for (const Manifest& manifest : read_manifests(root / "chapters")) {
        if (!chapter.empty() && manifest.chapter != chapter) continue;
        std::vector<RungEntry> written;
        for (const RungEntry& rung : manifest.rungs)
            if (!rung.given() && rung.kind != Kind::predict) written.push_back(rung);
        const std::vector<bool> tried = in_slice("solutions without a barrier", manifest, written, slice);
        for (std::size_t at = 0; at < written.size(); ++at) {
            if (!tried[at]) continue;
            const RungEntry& rung = written[at];
            const std::string file = manifest.chapter + "/" + rung.file();
            const fs::path solution = root / "solutions" / file, changed = scratch / file;
            try {
                const std::string source = read_file(solution);
                const std::vector<Lines> marked = unchecked_lines(source);
                const std::vector<Barrier> barriers = barriers_of(source);
                if (barriers.empty()) continue;
                fs::create_directories(changed.parent_path());
                write_file(changed, with_switched_barriers(source));
                // Else what is found without one of them would say nothing.
                const std::string whole = fault(manifest, rung, changed, barriers.size());
                if (!whole.empty()) {
                    found.push_back({shown(root, solution) + " with all of its barriers: " + whole});
                    continue;
                }
                for (std::size_t i = 0; i < barriers.size(); ++i) {
                    const Barrier& one = barriers[i];
                    const std::string who =
                        fmt::format("{}:{} without {}", shown(root, solution), one.line, one.call);
                    const std::string why = fault(manifest, rung, changed, i);
                    say(who + ": " + (why.empty() ? "nothing is found" : why));
                    const Lines* const said = find(marked, one.line);
                    const bool excused = said && said->first == one.line;
                    if (why.empty() && !excused) {
                        found.push_back({who + " passes check mode; add a case that needs it to "
                                               "chapter.toml, or say why there is none: // unchecked: ..."});
                    } else if (!why.empty() && excused) {
                        found.push_back({who + " is found: it is not 'unchecked'"});
                    }
                }
            } catch (const std::runtime_error& error) {
                found.push_back({shown(root, solution) + ": " + error.what(), true});
            }
        }
    }
    return found;
}

}  // namespace rungs
