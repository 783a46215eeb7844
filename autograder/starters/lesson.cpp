#include "starters/lesson.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <regex>
#include <set>
#include <sstream>

#include "judge/result/clean_text.hpp"
#include "rungs/atomic_file.hpp"

namespace rungs {
namespace {

namespace fs = std::filesystem;

constexpr const char* end_region = "<!-- end -->";
constexpr std::size_t most_words = 3000;

std::vector<std::string> lines_of(std::string_view text) {
    std::vector<std::string> lines;
    std::istringstream in{std::string(text)};
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

[[noreturn]] void refuse(const std::string& name, std::size_t line, const std::string& why) {
    throw LessonError(name + ":" + std::to_string(line) + ": " + why);
}

/// "ladder", "snippet: FILE MARK", ... of a line that opens a region; empty for any other line.
std::string opening(const std::string& line) {
    const std::string text = trimmed(line);
    if (text.size() < 9 || text.substr(0, 5) != "<!-- " || text.substr(text.size() - 4) != " -->") return {};
    const std::string inside = text.substr(5, text.size() - 9);
    const std::string keyword = inside.substr(0, inside.find_first_of(": "));
    const std::set<std::string> regions{"ladder", "snippet", "hints", "measured"};
    return regions.count(keyword) ? inside : std::string();
}

std::string filled(const std::string& region, const Manifest& manifest, const fs::path& root,
                   const std::string& name, std::size_t line) {
    if (region == "ladder") return ladder_table(manifest);
    std::istringstream words(region);
    std::string keyword, file, mark, more;
    words >> keyword >> file >> mark;
    if (keyword == "hints:") {
        const RungEntry* const rung = mark.empty() ? manifest.find(file) : nullptr;
        if (!rung) refuse(name, line, "expected <!-- hints: NN --> with the number of a rung");
        if (rung->hints.empty()) refuse(name, line, rung->name + " has no hints in chapter.toml");
        return folded_hints(*rung);
    }
    if (keyword == "measured:") {
        const fs::path measured = manifest.folder / file;
        if (!mark.empty() || file.empty()) refuse(name, line, "expected <!-- measured: bench/FILE.csv -->");
        if (!fs::is_regular_file(measured)) refuse(name, line, "there is no file " + file);
        return measured_table(read_file(measured), measured.lexically_relative(root).string());
    }
    if (keyword != "snippet:" || mark.empty() || words >> more) {
        refuse(
            name, line,
            "expected <!-- snippet: FILE MARK -->, <!-- hints: NN --> or <!-- measured: bench/FILE.csv -->");
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

/// Cells of one line of comma-separated values (RFC 4180, but a cell is never broken over lines).
std::vector<std::string> cells_of(const std::string& line) {
    std::vector<std::string> cells(1);
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
            cells.back() += line[++i];
        } else if (line[i] == '"') {
            quoted = !quoted;
        } else if (line[i] == ',' && !quoted) {
            cells.emplace_back();
        } else {
            cells.back() += line[i];
        }
    }
    for (std::string& text : cells) text = trimmed(text);
    return cells;
}

std::string table_row(const std::vector<std::string>& cells) {
    std::string row = "|";
    for (const std::string& text : cells) row += " " + cell(text) + " |";
    return row + '\n';
}

/// A hint within HTML: Markdown is not looked for there.
std::string as_html(const std::string& hint) {
    std::string out;
    bool code = false;
    for (const char c : hint) {
        if (c == '`') {
            out += code ? "</code>" : "<code>";
            code = !code;
        } else {
            out += c == '<'    ? "&lt;"
                   : c == '>'  ? "&gt;"
                   : c == '&'  ? "&amp;"
                   : c == '\n' ? " "
                               : std::string(1, c);
        }
    }
    return out + (code ? "</code>" : "");
}

}  // namespace

std::string ladder_table(const Manifest& manifest) {
    const auto some = [&](int RungEntry::*value) {
        return std::any_of(manifest.rungs.begin(), manifest.rungs.end(),
                           [&](const RungEntry& rung) { return rung.*value > 0; });
    };
    const bool minutes = some(&RungEntry::minutes), difficulty = some(&RungEntry::difficulty);
    std::string table = "| rung | idea |", rule = "|:--|:--|";
    const auto column = [&](bool there, const char* title, const char* line) {
        if (there) table += title, rule += line;
    };
    column(manifest.kinds, " kind |", ":--|");
    column(minutes, " minutes |", "--:|");
    column(difficulty, " difficulty |", "--:|");
    column(true, " points |", ":--|");
    table += '\n' + rule + '\n';
    for (const RungEntry& rung : manifest.rungs) {
        std::vector<std::string> row{fmt::format("[{}]({})", rung.name, rung.file()), rung.idea};
        const auto number = [](int value) { return value > 0 ? std::to_string(value) : std::string(); };
        if (manifest.kinds) row.emplace_back(name_of(rung.kind));
        if (minutes) row.push_back(number(rung.minutes));
        if (difficulty) row.push_back(rung.difficulty > 0 ? number(rung.difficulty) + " of 5" : "");
        row.push_back(rung.given() ? (manifest.kinds ? "" : "given") : points_of(rung));
        table += table_row(row);
    }
    return table;
}

std::string folded_hints(const RungEntry& rung) {
    const std::vector<std::string> steps{
        "a question", "a small case or a picture", "the method",
        rung.kind == Kind::predict ? "the first step" : "the first line of code"};
    std::string out;
    for (std::size_t i = 0; i < rung.hints.size(); ++i) {
        const std::string step = rung.hints.size() == steps.size()
                                     ? fmt::format("Hint {}: {}", i + 1, steps[i])
                                     : fmt::format("Hint {} of {}", i + 1, rung.hints.size());
        std::string text = trimmed(rung.hints[i]);
        // The fourth is code, and Markdown would take its underscores and stars for emphasis.
        const bool code = i + 1 == steps.size() && rung.hints.size() == steps.size() &&
                          rung.kind != Kind::predict && text.find('`') == std::string::npos;
        if (code) text = '`' + text + '`';
        out += fmt::format("<details><summary>{}</summary>{}</details>\n", step, as_html(text));
    }
    return out;
}

std::string measured_table(std::string_view csv, const std::string& name) {
    std::string machine, date, command, how, table;
    std::size_t number = 0, columns = 0;
    for (const std::string& line : lines_of(csv)) {
        ++number;
        if (trimmed(line).empty()) continue;
        if (line[0] == '#') {
            const std::size_t colon = line.find(':');
            const std::string key = trimmed(line.substr(1, colon - 1));
            std::string* const value = key == "machine"   ? &machine
                                       : key == "date"    ? &date
                                       : key == "command" ? &command
                                       : key == "how"     ? &how
                                                          : nullptr;
            if (columns > 0) refuse(name, number, "a comment among the numbers; it belongs above them");
            if (value && colon != std::string::npos) *value = trimmed(line.substr(colon + 1));
            continue;
        }
        const std::vector<std::string> cells = cells_of(line);
        if (columns == 0) {
            columns = cells.size();
            table = table_row(cells) + "|:--|";
            for (std::size_t i = 1; i < columns; ++i) table += "--:|";
            table += '\n';
            continue;
        }
        if (cells.size() != columns) {
            refuse(name, number, fmt::format("{} cells under {} columns", cells.size(), columns));
        }
        table += table_row(cells);
    }
    for (const auto& [key, value] : {std::pair("machine", machine), {"date", date}, {"command", command}}) {
        if (value.empty()) refuse(name, 1, fmt::format("no line '# {}: ...': where is this measured?", key));
    }
    if (columns == 0) refuse(name, number, "no line with the names of the columns");
    const std::string source = how.empty() ? "Measured on" : how + " The measured numbers are from";
    return fmt::format("{}\n{} {}, {}, with `{}`.\n", table, source, machine, date, command);
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

std::size_t words_of(std::string_view lesson) {
    const auto count = [](const std::string& text, const std::string& tag) {
        int times = 0;
        for (std::size_t at = text.find(tag); at != std::string::npos; at = text.find(tag, at + 1)) ++times;
        return times;
    };
    std::size_t words = 0;
    bool in_code = false, in_region = false;
    int folds = 0;
    for (const std::string& line : lines_of(lesson)) {
        const std::string text = trimmed(line);
        if (in_region || (!in_code && !opening(line).empty())) {
            in_region = text != end_region;
            continue;
        }
        const bool fence = text.rfind("```", 0) == 0;
        if (fence) in_code = !in_code;
        if (fence || in_code) continue;
        const bool folded = folds > 0 || count(text, "<details>") > 0;
        folds += count(text, "<details>") - count(text, "</details>");
        if (folded) continue;
        std::istringstream in(text);
        for (std::string word; in >> word;) {
            words += std::any_of(word.begin(), word.end(), [](unsigned char c) { return std::isalnum(c); });
        }
    }
    return words;
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
    static const std::regex command(
        R"(rungs +(?:check|hint|reset|watch|run|bench|predict) +(\d\d)(?:/(\d\d))?)");
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
            const fs::path source = root / "solutions" / manifest.chapter / section->file();
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
                add(line_number, "TODO " + (*it)[1].str() + " is not in " + section->file());
            }
        }
    }
    if (const std::size_t words = words_of(lesson); words > most_words) {
        add(1, fmt::format("{} words outside of folds, code and generated parts; at most {}: shorten the "
                           "lesson, or fold what not every reader needs",
                           words, most_words));
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
