#include "starters/lesson.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <regex>
#include <set>
#include <sstream>

#include "rungs/atomic_file.hpp"

namespace rungs {
namespace {

namespace fs = std::filesystem;

constexpr const char* end_region = "<!-- end -->";

std::vector<std::string> lines_of(std::string_view text) {
    std::vector<std::string> lines;
    std::istringstream in{std::string(text)};
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

std::string trimmed(const std::string& line) {
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string::npos) return {};
    return line.substr(first, line.find_last_not_of(" \t\r") + 1 - first);
}

[[noreturn]] void refuse(const std::string& name, std::size_t line, const std::string& why) {
    throw LessonError(name + ":" + std::to_string(line) + ": " + why);
}

/// "ladder", or "snippet: FILE MARK", of a line that opens a region; empty for any other line.
std::string opening(const std::string& line) {
    const std::string text = trimmed(line);
    if (text.size() < 9 || text.substr(0, 5) != "<!-- " || text.substr(text.size() - 4) != " -->") return {};
    const std::string inside = text.substr(5, text.size() - 9);
    return inside == "ladder" || inside.rfind("snippet", 0) == 0 ? inside : std::string();
}

std::string filled(const std::string& region, const Manifest& manifest, const fs::path& root,
                   const std::string& name, std::size_t line) {
    if (region == "ladder") return ladder_table(manifest);
    std::istringstream words(region);
    std::string keyword, file, mark, more;
    words >> keyword >> file >> mark;
    if (keyword != "snippet:" || mark.empty() || words >> more) {
        refuse(name, line, "expected <!-- snippet: FILE MARK -->");
    }
    const fs::path source = manifest.folder / file;
    if (fs::exists(root / "solutions" / manifest.chapter / file)) {
        refuse(name, line, file + " is an exercise; a lesson quotes given rungs and headers only");
    }
    if (!fs::is_regular_file(source)) refuse(name, line, "there is no file " + file + " beside the lesson");
    const std::string language = source.extension() == ".toml" ? "toml" : "cpp";
    return "```" + language + "\n" + snippet(read_file(source), mark, source.string()) + "```\n";
}

std::string points_of(const RungEntry& rung) {
    if (rung.given()) return "given";
    std::string text = fmt::format("{:g}", rung.points);
    if (rung.speed) text += fmt::format(" + {:g} for speed", rung.speed->points);
    return text;
}

/// A table cell: a bar would end it.
std::string cell(const std::string& text) {
    std::string out;
    for (const char c : text) out += c == '|' ? "\\|" : std::string(1, c);
    return out;
}

}  // namespace

std::string ladder_table(const Manifest& manifest) {
    std::string table = "| rung | idea | points |\n|:--|:--|:--|\n";
    for (const RungEntry& rung : manifest.rungs) {
        table += fmt::format("| [{0}]({0}.cu) | {1} | {2} |\n", rung.name, cell(rung.idea), points_of(rung));
    }
    return table;
}

std::string snippet(std::string_view source, const std::string& mark, const std::string& name) {
    const std::string wanted = "// [" + mark + "]";
    std::vector<std::string> inside;
    std::size_t number = 0, first = 0, last = 0;
    for (const std::string& line : lines_of(source)) {
        ++number;
        const std::string text = trimmed(line);
        if (text == wanted) {
            if (last) refuse(name, number, "a third " + wanted + "; a snippet stands between exactly two");
            (first ? last : first) = number;
        } else if (first && !last) {
            const bool other_mark = text.rfind("// [", 0) == 0 && text.back() == ']';
            if (!other_mark) inside.push_back(line);
        }
    }
    if (!first) refuse(name, 1, "no mark " + wanted);
    if (!last) refuse(name, first, "only one mark " + wanted + "; a snippet stands between two");

    std::size_t indent = std::string::npos;
    for (const std::string& line : inside) indent = std::min(indent, line.find_first_not_of(' '));
    std::string out;
    for (const std::string& line : inside)
        out += (line.empty() ? line : line.substr(std::min(indent, line.size()))) + '\n';
    return out;
}

std::string fill_lesson(std::string_view lesson, const Manifest& manifest, const fs::path& root,
                        const std::string& name) {
    std::string out;
    std::size_t number = 0, begin = 0;
    bool in_code = false;  // a fenced block may show what a region looks like
    for (const std::string& line : lines_of(lesson)) {
        ++number;
        if (!begin && trimmed(line).rfind("```", 0) == 0) in_code = !in_code;
        const std::string region = in_code ? std::string() : opening(line);
        if (!region.empty()) {
            if (begin) refuse(name, number, fmt::format("a region inside the region of line {}", begin));
            begin = number;
            out += line + '\n' + filled(region, manifest, root, name, number);
        } else if (!in_code && trimmed(line) == end_region) {
            if (!begin) refuse(name, number, "<!-- end --> without a region above it");
            begin = 0;
            out += line + '\n';
        } else if (!begin) {
            out += line + '\n';
        }
    }
    if (begin) refuse(name, begin, "this region has no <!-- end -->");
    return out;
}

std::vector<std::string> contradictions(std::string_view lesson, const Manifest& manifest,
                                        const fs::path& root, const std::string& name) {
    std::vector<std::string> found;
    const auto add = [&](std::size_t line, const std::string& what) {
        found.push_back(name + ":" + std::to_string(line) + ": " + what);
    };
    const std::string number = manifest.chapter.substr(0, 2);
    double all_points = 0;
    for (const RungEntry& rung : manifest.rungs) {
        all_points += rung.points + (rung.speed ? rung.speed->points : 0);
    }

    static const std::regex heading(R"(^##+ +(\d\d) +([a-z][a-z0-9_]*)\b)");
    static const std::regex rung_name(R"(\b(\d\d_[a-z][a-z0-9_]*))");
    static const std::regex command(R"(rungs +(?:check|hint|reset|watch|run|bench) +(\d\d)(?:/(\d\d))?)");
    static const std::regex points(R"((\d+(?:\.\d+)?) points?\b)");
    static const std::regex todo(R"(TODO (\d+\.\d+))");

    // Snippets quote code and tables quote the manifest: only prose can disagree, but headings are
    // looked for everywhere.
    std::set<std::string> with_heading;
    const RungEntry* section = nullptr;
    std::string section_source;
    std::size_t line_number = 0;
    bool title_seen = false;
    for (const std::string& line : lines_of(lesson)) {
        ++line_number;
        std::smatch match;
        if (line.rfind("# ", 0) == 0 && !title_seen) {
            title_seen = true;
            if (line.find(manifest.title) == std::string::npos) {
                add(line_number, "the title does not contain the manifest's \"" + manifest.title + "\"");
            }
        }
        if (std::regex_search(line, match, heading)) {
            const std::string wanted = match[1].str() + "_" + match[2].str();
            section = nullptr;
            for (const RungEntry& rung : manifest.rungs) {
                if (rung.name == wanted) section = &rung;
            }
            if (!section) {
                add(line_number, "a heading for " + wanted + ", which the manifest does not have");
                continue;
            }
            if (!with_heading.insert(wanted).second) add(line_number, "a second heading for " + wanted);
            const fs::path source = root / "solutions" / manifest.chapter / (section->name + ".cu");
            section_source = fs::is_regular_file(source) ? read_file(source) : std::string();
        } else if (line.rfind("## ", 0) == 0) {
            section = nullptr;
        }
        for (std::sregex_iterator it(line.begin(), line.end(), rung_name), end; it != end; ++it) {
            const std::string word = (*it)[1];
            const bool known = word == manifest.chapter || manifest.find(word) != nullptr;
            // Another chapter's name is fine when that chapter exists.
            if (!known && !fs::is_directory(root / "chapters" / word)) {
                add(line_number, "'" + word + "' is neither a rung nor a chapter");
            }
        }
        for (std::sregex_iterator it(line.begin(), line.end(), command), end; it != end; ++it) {
            if ((*it)[1] != number || !(*it)[2].matched) continue;
            if (!manifest.find((*it)[2])) {
                add(line_number, "the command names rung " + (*it)[2].str() + ", which does not exist");
            } else if (section && section->name.substr(0, 2) != (*it)[2].str()) {
                add(line_number, "the section of " + section->name + " names rung " + (*it)[2].str());
            }
        }
        for (std::sregex_iterator it(line.begin(), line.end(), points), end; it != end; ++it) {
            const double value = std::stod((*it)[1]);
            std::set<double> right{all_points};
            if (section) {
                const double speed = section->speed ? section->speed->points : 0;
                right = {section->points, speed, section->points + speed};
            }
            if (!right.count(value)) {
                add(line_number, fmt::format("says {:g} points; the manifest does not", value));
            }
        }
        for (std::sregex_iterator it(line.begin(), line.end(), todo), end; it != end; ++it) {
            if (section && !section_source.empty() &&
                section_source.find("TODO " + (*it)[1].str()) == std::string::npos) {
                add(line_number, "TODO " + (*it)[1].str() + " is not in " + section->name + ".cu");
            }
        }
    }
    if (!title_seen) add(1, "no title; expected '# " + number + " " + manifest.title + "'");
    for (const RungEntry& rung : manifest.rungs) {
        if (!with_heading.count(rung.name)) {
            add(1, "no heading '## " + rung.name.substr(0, 2) + " " + rung.launcher() + "'");
        }
    }
    return found;
}

}  // namespace rungs
