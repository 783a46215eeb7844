#include "program/starter.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <sstream>

#include <fmt/format.h>

#include "rungs/atomic_file.hpp"

namespace rungs {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view begin_marker = "// BEGIN SOLUTION";
constexpr std::string_view end_marker = "// END SOLUTION";
constexpr std::string_view stub_marker = "//~";
constexpr std::string_view unchecked_marker = "// unchecked: ";

std::vector<std::string_view> views_of_lines(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        lines.push_back(text.substr(0, end));
        if (end == std::string_view::npos) break;
        text.remove_prefix(end + 1);
    }
    return lines;
}

std::string_view trimmed(std::string_view line) {
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return line.substr(first, line.find_last_not_of(" \t") + 1 - first);
}

bool starts_with(std::string_view text, std::string_view prefix) {
    return text.substr(0, prefix.size()) == prefix;
}

bool is_numbered(const std::string& name) {
    return name.size() > 3 && std::isdigit(static_cast<unsigned char>(name[0])) &&
           std::isdigit(static_cast<unsigned char>(name[1])) && name[2] == '_';
}

}  // namespace

std::string make_starter(std::string_view solution, const std::string& name) {
    const auto refuse = [&](std::size_t line, const std::string& why) {
        throw StarterError(name + ":" + std::to_string(line) + ": " + why);
    };
    const std::vector<std::string_view> lines = views_of_lines(solution);

    // A TODO may run over several comment lines: the block of comments directly above the region is searched.
    // One at the top of the file, in a comment of its own, speaks for all regions: where a fault is to be
    // found, none may point at it.
    const bool todo_on_top = [&] {
        bool todo = false;
        for (const std::string_view line : lines) {
            if (!starts_with(trimmed(line), "//")) return todo && trimmed(line).empty();
            todo = todo || line.find("TODO") != std::string_view::npos;
        }
        return false;
    }();
    const auto has_todo_above = [&](std::size_t index) {
        if (todo_on_top) return true;
        while (index-- > 0) {
            const std::string_view above = trimmed(lines[index]);
            if (!starts_with(above, "//") || above == end_marker) return false;
            if (above.find("TODO") != std::string_view::npos) return true;
        }
        return false;
    };

    std::string out;
    std::size_t begin = 0;  // 1-based line of the open region
    bool empty = true;
    int regions = 0;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const std::string_view line = lines[i];
        const std::size_t number = i + 1;
        if (!line.empty() && line.back() == '\r') {
            refuse(number, "the line ends with CR LF; save the file with LF line ends");
        }
        if (line.find('\0') != std::string_view::npos)
            refuse(number, "a NUL byte; this is not a source file");
        const std::string_view word = trimmed(line);
        if (word == begin_marker) {
            if (begin) refuse(number, "BEGIN SOLUTION inside the region of line " + std::to_string(begin));
            if (!has_todo_above(i)) {
                refuse(
                    number,
                    "no TODO in the comment directly above the region, and none at the top of the file; tell "
                    "the student what to do");
            }
            begin = number;
            empty = true;
            ++regions;
        } else if (word == end_marker) {
            if (!begin) refuse(number, "END SOLUTION without a BEGIN SOLUTION above it");
            if (empty) refuse(number, "the region of line " + std::to_string(begin) + " holds no answer");
            begin = 0;
        } else if (word.find("BEGIN SOLUTION") != std::string_view::npos ||
                   word.find("END SOLUTION") != std::string_view::npos) {
            // A misspelt marker would publish the answer.
            refuse(number,
                   "not quite a marker; a marker is exactly '// BEGIN SOLUTION' or '// END SOLUTION'");
        } else if (starts_with(word, stub_marker)) {
            if (!begin) refuse(number, "a stub line (//~) outside a region");
            const std::size_t indent = line.find(stub_marker);
            std::string_view code = line.substr(indent + stub_marker.size());
            if (!code.empty() && code.front() == ' ') code.remove_prefix(1);
            if (!trimmed(code).empty()) out.append(line.substr(0, indent)).append(code);
            out += '\n';
        } else if (begin) {
            if (!word.empty()) empty = false;
        } else if (!starts_with(word, unchecked_marker)) {
            out.append(line) += '\n';
        }
    }
    if (begin) refuse(begin, "BEGIN SOLUTION without an END SOLUTION below it");
    if (regions == 0) refuse(1, "no // BEGIN SOLUTION region: the starter would be the whole answer");
    return out;
}

std::string call_in_words(const Question& question) {
    const TimedCase& which = question.which;
    std::string text = question.answer
                           ? "from the lesson"
                           : fmt::format("one call of {}: {}, size {}, kind {}", question.rung, which.problem,
                                         fmt::join(which.sizes, " x "), which.kind);
    if (!question.choices.empty()) text += fmt::format("; one of {}", fmt::join(question.choices, ", "));
    if (question.tolerance > 0) text += fmt::format("; within {:g} %", 100 * question.tolerance);
    return text;
}

std::string make_answers(const Manifest& manifest, const RungEntry& rung) {
    const std::string name = manifest.chapter.substr(0, 2) + "/" + rung.name.substr(0, 2);
    std::string out;
    const auto comment = [&](const std::string& text) {
        constexpr std::size_t width = 100;
        std::istringstream words(text);
        std::string line = "#";
        for (std::string word; words >> word;) {
            if (line.size() + 1 + word.size() > width) out += line + '\n', line = "#";
            line += ' ' + word;
        }
        out += line + '\n';
    };
    comment(fmt::format("{}: {}.", rung.name, rung.idea));
    comment(fmt::format(
        "Replace each \"?\" by a number. ./rungs predict {0} asks for them one by one, then shows the "
        "counters; ./rungs check {0} grades them. The first complete set of answers that is graded counts.",
        name));
    for (const Question& question : rung.questions) {
        out += '\n';
        comment(question.ask);
        comment("(" + call_in_words(question) + ")");
        out += question.name + " = \"?\"\n";
    }
    return out;
}

std::vector<Lines> unchecked_lines(std::string_view source) {
    const std::vector<std::string_view> lines = views_of_lines(source);
    std::vector<Lines> marked;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (!starts_with(trimmed(lines[i]), unchecked_marker)) continue;
        Lines range{static_cast<unsigned>(i + 2), static_cast<unsigned>(i + 2)};
        int depth = 0;
        for (std::size_t j = i + 1; j < lines.size(); ++j) {
            const std::string_view code = trimmed(lines[j].substr(0, lines[j].find("//")));
            for (const char c : code) depth += c == '{' || c == '(' ? 1 : c == '}' || c == ')' ? -1 : 0;
            range.last = static_cast<unsigned>(j + 1);
            if (depth <= 0 && !code.empty() && (code.back() == ';' || code.back() == '}')) break;
        }
        marked.push_back(range);
    }
    return marked;
}

const Lines* find(const std::vector<Lines>& ranges, unsigned line) {
    const auto range = std::find_if(ranges.begin(), ranges.end(),
                                    [&](const Lines& one) { return one.first <= line && line <= one.last; });
    return range == ranges.end() ? nullptr : &*range;
}

std::vector<unsigned> unexplained(const std::vector<unsigned>& lines, std::string_view source) {
    const std::vector<Lines> marked = unchecked_lines(source);
    std::vector<unsigned> others;
    std::copy_if(lines.begin(), lines.end(), std::back_inserter(others),
                 [&](unsigned line) { return !find(marked, line); });
    return others;
}

std::string make_starter_from(const fs::path& solution) {
    try {
        return make_starter(read_file(solution), solution.string());
    } catch (const FileError& error) {
        throw StarterError(error.what());
    }
}

std::vector<StarterPair> starter_pairs(const fs::path& root) {
    std::vector<StarterPair> pairs;
    const fs::path solutions = root / "solutions";
    if (!fs::is_directory(solutions)) throw StarterError(solutions.string() + ": no such folder");
    for (const auto& chapter : fs::directory_iterator(solutions)) {
        const std::string name = chapter.path().filename().string();
        if (name == "README.md") continue;
        if (!chapter.is_directory() || !is_numbered(name)) {
            throw StarterError(chapter.path().string() +
                               ": expected only README.md and chapter folders (NN_topic) here");
        }
        if (!fs::is_directory(root / "chapters" / name)) {
            throw StarterError(chapter.path().string() + ": there is no chapters/" + name +
                               " that it belongs to");
        }
        for (const auto& file : fs::directory_iterator(chapter.path())) {
            const fs::path& path = file.path();
            if (!file.is_regular_file() || path.extension() != ".cu" || !is_numbered(path.stem().string())) {
                throw StarterError(path.string() + ": expected only rung files (NN_technique.cu) here");
            }
            pairs.push_back({path, root / "chapters" / name / path.filename(), name, path.stem().string()});
        }
    }
    std::sort(pairs.begin(), pairs.end(),
              [](const StarterPair& a, const StarterPair& b) { return a.solution < b.solution; });
    return pairs;
}

Difference first_difference(std::string_view expected, std::string_view text) {
    if (expected == text) return {};
    const std::vector<std::string_view> want = views_of_lines(expected), got = views_of_lines(text);
    const auto line_at = [](const std::vector<std::string_view>& lines, std::size_t i) {
        return i < lines.size() ? std::string(lines[i]) : std::string("(the file ends here)");
    };
    for (std::size_t i = 0; i < std::max(want.size(), got.size()); ++i) {
        if (i >= want.size() || i >= got.size() || want[i] != got[i]) {
            return {static_cast<int>(i) + 1, line_at(want, i), line_at(got, i)};
        }
    }
    // Same lines, different bytes: only the newline at the very end is left.
    return {static_cast<int>(want.size()), line_at(want, want.size() - 1) + " and a newline",
            "no newline at the end"};
}

}  // namespace rungs
