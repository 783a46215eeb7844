#include "new/new.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "judge/result/clean_text.hpp"
#include "program/starter.hpp"
#include "rungs/atomic_file.hpp"
#include "starters/before_build.hpp"
#include "starters/lesson.hpp"

namespace rungs {
namespace {

namespace fs = std::filesystem;
using Values = std::map<std::string, std::string>;

constexpr const char* templates = "autograder/new/templates";

/// `text` with the values of all @names@.
std::string filled_in(std::string text, const Values& values) {
    for (const auto& [name, value] : values) {
        const std::string mark = "@" + name + "@";
        for (std::size_t at = text.find(mark); at != std::string::npos;
             at = text.find(mark, at + value.size()))
            text.replace(at, mark.size(), value);
    }
    return text;
}

/// The lines between `@for each signature@` and `@end@` once for each.
std::string repeated(std::string text, const std::vector<Signature>& signatures) {
    const std::string begin = "@for each signature@\n", end = "@end@\n";
    const std::size_t first = text.find(begin);
    if (first == std::string::npos) return text;
    const std::size_t last = text.find(end, first), from = first + begin.size();
    const std::string body = text.substr(from, last - from);
    std::string all;
    for (std::size_t i = 0; i < signatures.size(); ++i) {
        all += filled_in(body, {{"parameters", signatures[i].parameters},
                                {"stream", signatures[i].stream()},
                                {"count", std::to_string(i + 2)}});
    }
    return text.replace(first, last + end.size() - first, all);
}

/// Two digits, an underscore, and small letters, digits and underscores, of which C++ makes a name.
bool is_name(const std::string& name) {
    static const std::set<std::string> taken{
        "alignas",  "alignof",  "and",      "asm",      "auto",    "bool",      "break",     "case",
        "catch",    "char",     "class",    "concept",  "const",   "consteval", "constexpr", "constinit",
        "continue", "decltype", "default",  "delete",   "do",      "double",    "else",      "enum",
        "explicit", "export",   "extern",   "false",    "float",   "for",       "friend",    "goto",
        "if",       "inline",   "int",      "long",     "mutable", "namespace", "new",       "noexcept",
        "not",      "nullptr",  "or",       "operator", "private", "public",    "register",  "requires",
        "return",   "rungs",    "short",    "signed",   "sizeof",  "static",    "std",       "struct",
        "switch",   "template", "this",     "throw",    "true",    "try",       "typedef",   "typeid",
        "typename", "union",    "unsigned", "using",    "virtual", "void",      "volatile",  "while",
        "xor"};
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    const auto small = [](char c) { return c >= 'a' && c <= 'z'; };
    return name.size() > 3 && digit(name[0]) && digit(name[1]) && name[2] == '_' && small(name[3]) &&
           std::all_of(name.begin() + 3, name.end(),
                       [&](char c) { return digit(c) || small(c) || c == '_'; }) &&
           !taken.count(name.substr(3));
}

/// "8" of "08_scan".
std::string number_of(const std::string& name) { return std::to_string(std::stoi(name.substr(0, 2))); }

/// The files that are to be written. None of them is there until all are known.
class Plan {
  public:
    explicit Plan(const fs::path& root) : root_(root) {}

    std::string from_template(const std::string& name) const {
        return read_file(root_ / templates / (name + ".in"));
    }

    /// A template of a kind of rung, or the one of all exercises.
    std::string of_kind(const std::string& kind, const std::string& extension) const {
        const std::string own = "rung/" + kind + extension;
        return from_template(fs::exists(root_ / templates / (own + ".in")) ? own
                                                                           : "rung/exercise" + extension);
    }

    void add(const std::string& file, const std::string& text) {
        if (fs::exists(fs::symlink_status(root_ / file)))
            throw NewError(file + " exists already; nothing was written");
        files_.emplace_back(file, text);
    }

    void change(const std::string& file, const std::string& text) { files_.emplace_back(file, text); }

    void write() const {
        for (const auto& [file, text] : files_) {
            make_folder((root_ / file).parent_path());
            write_file(root_ / file, text);
        }
    }

    std::vector<std::string> names() const {
        std::vector<std::string> all;
        for (const auto& [file, text] : files_) all.push_back(file);
        return all;
    }

  private:
    fs::path root_;
    std::vector<std::pair<std::string, std::string>> files_;
};

/// Formats sources as the gate wants them, where the formatter is there. @returns whether it was
bool format(const fs::path& root, const std::vector<std::string>& files) {
    std::string command = "clang-format --version 2>/dev/null | grep -q 'version 14\\.' && clang-format -i";
    for (const std::string& file : files) command += " " + shell_quoted((root / file).string());
    return std::system((command + " 2>/dev/null").c_str()) == 0;
}

/// Puts an entry into a manifest: before the rung above, with the comment above it, or at the end.
std::string with_entry(const std::string& manifest, const std::string& rung, const std::string& entry) {
    std::istringstream in(manifest);
    std::string out, comment;
    bool done = false;
    for (std::string line; std::getline(in, line);) {
        const bool is_rung = line.rfind("[rungs.", 0) == 0;
        if (is_rung && !done && line.substr(7, line.find(']') - 7) > rung) {
            out += entry + '\n';
            done = true;
        }
        if (!line.empty() && line[0] == '#') {
            comment += line + '\n';
            continue;
        }
        out += comment + line + '\n';
        comment.clear();
    }
    return done ? out + comment : out + comment + '\n' + entry;
}

/// How many '#' a heading has; 0: the line is none.
std::size_t level_of(const std::string& line) {
    const std::size_t level = line.find_first_not_of('#');
    return level == std::string::npos || level == 0 || line[level] != ' ' ? 0 : level;
}

/// Puts a section into a lesson: behind that of the rung below.
std::string with_section(const std::string& lesson, const Manifest& manifest, const std::string& rung,
                         std::string section) {
    std::istringstream in(lesson);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    std::size_t level = 2, place = lines.size();
    bool in_code = false, inside = false;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (lines[i].rfind("```", 0) == 0) in_code = !in_code;
        const std::size_t here = in_code ? 0 : level_of(lines[i]);
        if (here == 0) continue;
        if (inside && here <= level) {
            place = i;
            inside = false;
        }
        const std::string words = lines[i].substr(here);
        for (const RungEntry& entry : manifest.rungs) {
            if (words.rfind(" " + entry.name.substr(0, 2) + " " + entry.launcher(), 0) != 0) continue;
            if (entry.name < rung) {
                level = here;
                place = lines.size();
                inside = true;
            } else if (place == lines.size()) {
                place = i;
                level = here;
            }
        }
    }
    section = filled_in(std::move(section), {{"level", std::string(level, '#')}});
    std::string out;
    for (std::size_t i = 0; i < place; ++i) out += lines[i] + '\n';
    if (place == lines.size()) return out + '\n' + section;
    out += section + '\n';
    for (std::size_t i = place; i < lines.size(); ++i) out += lines[i] + '\n';
    return out;
}

/// The function types that a rung has, each once.
std::vector<Signature> signatures_of(const Manifest& manifest, const std::vector<std::string>& problems,
                                     const std::string& contract) {
    std::vector<Signature> all;
    for (const ProblemEntry& problem : manifest.problems) {
        const bool asked =
            problems.empty() || std::find(problems.begin(), problems.end(), problem.name) != problems.end();
        if (asked && std::none_of(all.begin(), all.end(),
                                  [&](const Signature& one) { return one.type == problem.signature; }))
            all.push_back(signature_of(contract, problem.signature));
    }
    return all;
}

/// The rung whose row in the contract's table that of a new one is made from: the nearest that solves the
/// same, below or above, else the nearest.
const RungEntry& like(const Manifest& manifest, const std::string& rung, std::vector<std::string> problems) {
    if (problems.empty())
        for (const ProblemEntry& problem : manifest.problems) problems.push_back(problem.name);
    const RungEntry *same = nullptr, *any = nullptr;
    for (const RungEntry& entry : manifest.rungs) {
        if (entry.kind == Kind::predict) continue;
        if (entry.name < rung || !any) any = &entry;
        if (entry.problems == problems && (entry.name < rung || !same)) same = &entry;
    }
    if (!any) throw NewError(manifest.chapter + " has no rung that another could be made from");
    return same ? *same : *any;
}

/// What is asked for, looked up; every name is one that may be used.
struct Asked {
    Manifest manifest;
    std::string rung;
    std::string kind;
    std::vector<std::string> problems;
};

Manifest chapter_called(const fs::path& root, const std::string& word) {
    std::string chapters;
    for (Manifest& manifest : read_manifests(root / "chapters")) {
        const std::string& name = manifest.chapter;
        if (word == name || word == name.substr(0, 2) || word == name.substr(3)) return std::move(manifest);
        chapters += " " + name;
    }
    throw NewError("there is no chapter '" + word + "'; the chapters are" + chapters);
}

Asked look_up(const fs::path& root, const NewRung& rung) {
    const std::size_t slash = rung.name.find('/');
    Asked asked{chapter_called(root, rung.name.substr(0, slash)), rung.name.substr(slash + 1), rung.kind,
                rung.problems};
    const std::string& name = asked.rung;
    const std::string& chapter = asked.manifest.chapter;
    if (!is_name(name) || name.substr(0, 2) == "00") {
        throw NewError("'" + name +
                       "' is no name for a rung; expected two digits, an underscore and small "
                       "letters that are no word of C++, as in 12_two_level");
    }
    static const std::vector<std::string> kinds{"given", "fill", "write", "repair", "predict", "summit"};
    if (std::find(kinds.begin(), kinds.end(), rung.kind) == kinds.end())
        throw NewError(
            fmt::format("'{}' is no kind of rung; the kinds are {}", rung.kind, fmt::join(kinds, ", ")));
    for (const RungEntry& entry : asked.manifest.rungs) {
        if (entry.name.substr(0, 2) == name.substr(0, 2)) {
            throw NewError(chapter + " has a rung " + entry.name +
                           "; choose a number that is free, because no rung is renumbered");
        }
        if (entry.launcher() == name.substr(3))
            throw NewError(chapter + " has a rung " + entry.name + "; choose another name");
    }
    for (const std::string& problem : rung.problems) {
        const auto& all = asked.manifest.problems;
        if (std::none_of(all.begin(), all.end(), [&](const auto& one) { return one.name == problem; })) {
            std::string names;
            for (const ProblemEntry& one : all) names += " " + one.name;
            throw NewError(chapter + " has no problem '" + problem + "'; its problems are" + names);
        }
    }
    return asked;
}

/// Fills in what is generated from a rung's files, and so was not known before they were there.
void generate(const fs::path& root, const Asked& asked, const std::string& lesson, Written& written) {
    const Manifest manifest = read_manifest(asked.manifest.folder);
    const RungEntry& rung = *manifest.find(asked.rung);
    if (rung.kind == Kind::predict) write_file(manifest.folder / rung.file(), make_answers(manifest, rung));
    write_file(root / lesson, fill_lesson(read_file(root / lesson), manifest, root, lesson));
    write_file(root / before_build_file, before_build(root));
    written.files.push_back(before_build_file);
}

/// The commands by which a rung or a chapter is finished.
std::vector<std::string> next_steps(const std::string& chapter, const std::string& where, bool formatted) {
    std::vector<std::string> steps;
    if (!formatted) steps.push_back("format the sources above with clang-format 14");
    steps.push_back("write what is marked: grep -rn WRITE: " + where);
    steps.push_back("ninja -C build/default rungs_starters");
    steps.push_back("build/default/bin/rungs_starters --root . --write");
    steps.push_back("build/default/bin/rungs_starters --root . --gate --chapter " + chapter);
    return steps;
}

/// The workbook's README with a row in its table of chapters.
std::string with_row(const std::string& readme, const std::string& chapter, const std::string& row) {
    const std::string link = "](chapters/";
    std::size_t place = std::string::npos;
    for (std::size_t at = readme.find("\n| ["); at != std::string::npos; at = readme.find("\n| [", at + 1)) {
        const std::size_t end = readme.find('\n', at + 1), target = readme.find(link, at);
        if (target > end) continue;
        if (readme.substr(target + link.size(), chapter.size()) > chapter && place != std::string::npos)
            break;
        place = end;
    }
    if (place == std::string::npos) throw NewError("README.md has no table of chapters");
    return std::string(readme).insert(place + 1, row);
}

}  // namespace

Written write_new_rung(const fs::path& root, const NewRung& new_rung) {
    const Asked asked = look_up(root, new_rung);
    const Manifest& manifest = asked.manifest;
    const std::string &chapter = manifest.chapter, &rung = asked.rung, &kind = asked.kind;
    const std::string folder = "chapters/" + chapter + "/", contract = folder + manifest.contract,
                      lesson = folder + "README.md", mistakes = folder + "exam/mistakes.toml",
                      solution = "solutions/" + chapter + "/" + rung + ".cu";
    const bool is_given = kind == "given", asks = kind == "predict";
    Plan plan(root);
    std::string problems;
    if (!asked.problems.empty())
        problems = fmt::format("problems = [\"{}\"]\n", fmt::join(asked.problems, "\", \""));
    const Values values = {{"rung", rung},
                           {"launcher", rung.substr(3)},
                           {"digits", rung.substr(0, 2)},
                           {"number", number_of(rung)},
                           {"short", chapter.substr(0, 2) + "/" + rung.substr(0, 2)},
                           {"kind", kind},
                           {"contract", manifest.contract},
                           {"namespace", manifest.name_space},
                           {"problems", problems}};
    std::vector<std::string> sources;
    if (asks) {
        plan.add(folder + rung + ".toml", "");
    } else {
        const std::string text = read_file(root / contract);
        const std::vector<Signature> signatures = signatures_of(manifest, asked.problems, text);
        sources = {is_given ? folder + rung + ".cu" : solution, contract};
        plan.add(sources[0], filled_in(repeated(plan.of_kind(kind, ".cu"), signatures), values));
        if (!is_given) plan.add(folder + rung + ".cu", "");
        plan.change(contract,
                    with_rung(text, manifest, rung, signatures, like(manifest, rung, asked.problems)));
    }
    const std::string entry = filled_in(plan.of_kind(kind, ".toml"), values);
    plan.change(folder + "chapter.toml", with_entry(read_file(root / folder / "chapter.toml"), rung, entry));
    const std::string section = filled_in(plan.of_kind(kind, ".md"), values);
    plan.change(lesson, with_section(read_file(root / lesson), manifest, rung, section));
    if (!is_given && !asks) {
        const std::string listed = fs::exists(root / mistakes) ? read_file(root / mistakes) + '\n' : "";
        plan.change(mistakes, listed + filled_in(plan.from_template("rung/mistake.toml"), values));
    }
    plan.write();
    const bool formatted = asks || format(root, sources);
    if (!is_given && !asks)
        write_file(root / folder / (rung + ".cu"), make_starter(read_file(root / solution), solution));
    Written written{plan.names(), next_steps(chapter, folder + " solutions/" + chapter, formatted)};
    generate(root, asked, lesson, written);
    return written;
}

Written write_new_chapter(const fs::path& root, const std::string& name) {
    if (!is_name(name)) {
        throw NewError("'" + name +
                       "' is no name for a chapter or a rung; expected two digits, an underscore and "
                       "small letters that are no word of C++, as in 08_scan or 01/12_two_level");
    }
    for (const Manifest& manifest : read_manifests(root / "chapters")) {
        if (manifest.chapter.substr(0, 2) == name.substr(0, 2) ||
            manifest.chapter.substr(3) == name.substr(3))
            throw NewError("there is a chapter " + manifest.chapter + "; choose another number and name");
    }
    const std::string topic = name.substr(3), folder = "chapters/" + name + "/";
    std::string title = topic, type;
    for (bool first = true; char& c : title) {
        if (c == '_') c = ' ';
        if (first) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
        first = false;
    }
    for (bool first = true; const char c : topic) {
        if (c != '_') type += first ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
        first = c == '_';
    }
    const Values values = {{"chapter", name},           {"topic", topic}, {"namespace", topic},
                           {"number", number_of(name)}, {"title", title}, {"type", type}};
    Plan plan(root);
    std::vector<std::string> sources;
    for (const char* file :
         {"contract.cuh", "chapter.toml", "README.md", "01_naive.cu", "exam/exam.cpp", "exam/reference.hpp",
          "exam/reference.cpp", "exam/exam_test.cpp", "program/main.cu"}) {
        const std::string to = folder + (file == std::string("contract.cuh") ? topic + ".cuh" : file);
        plan.add(to, filled_in(plan.from_template(std::string("chapter/") + file), values));
        const std::string extension = fs::path(to).extension();
        if (extension != ".toml" && extension != ".md") sources.push_back(to);
    }
    plan.change("README.md", with_row(read_file(root / "README.md"), name,
                                      filled_in(plan.from_template("chapter/row.md"), values)));
    plan.write();
    Written written{plan.names(), {}};
    const bool formatted = format(root, sources);
    written.next = next_steps(name, "README.md " + folder, formatted);
    written.next.insert(written.next.begin(),
                        "./rungs check " + name.substr(0, 2) + "   # builds it; its rung is right");
    Asked asked{read_manifest(root / "chapters" / name), "01_naive", "given", {}};
    generate(root, asked, folder + "README.md", written);
    return written;
}

}  // namespace rungs
