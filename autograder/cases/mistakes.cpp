#include "cases/mistakes.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

#include <fmt/format.h>

#include "rungs/atomic_file.hpp"
#include "rungs/toml.hpp"

namespace rungs {
namespace {

namespace fs = std::filesystem;

/// One list, as it is read.
class Reader {
  public:
    Reader(const fs::path& root, const std::string& chapter)
        : root_(root), chapter_(chapter), file_(root / "chapters" / chapter / "exam/mistakes.toml") {}

    std::vector<Mistake> read() const {
        std::vector<Mistake> mistakes;
        if (!fs::exists(file_)) return mistakes;
        try {
            const toml::table table = toml::parse(read_file(file_));
            const toml::array* const list = table["mistake"].as_array();
            if (!list || table.size() != 1)
                refuse(table, "[[mistake]] entries are expected, and nothing else");
            std::set<std::string> names;
            for (const toml::node& node : *list) {
                const toml::table* const entry = node.as_table();
                if (!entry) refuse(node, "[[mistake]] is expected");
                mistakes.push_back(mistake(*entry));
                if (!names.insert(mistakes.back().title()).second)
                    refuse(node, "another mistake has this name");
            }
        } catch (const toml::parse_error& error) {
            refuse(error.source(), std::string(error.description()));
        }
        return mistakes;
    }

  private:
    [[noreturn]] void refuse(const toml::source_region& where, const std::string& why) const {
        throw std::runtime_error(fmt::format("{}:{}: {}", file_.string(), where.begin.line, why));
    }
    [[noreturn]] void refuse(const toml::node& node, const std::string& why) const {
        refuse(node.source(), why);
    }

    /// A text that is not empty: the empty one is in every text.
    std::string text(const toml::node& node) const {
        const std::string value = node.value_or("");
        if (value.empty()) refuse(node, "a text is expected");
        return value;
    }

    std::string text(const toml::table& entry, const char* key) const {
        const toml::node* const node = entry.get(key);
        if (!node) refuse(entry, fmt::format("'{}' is missing", key));
        return text(*node);
    }

    const toml::array& array(const toml::node& node) const {
        if (!node.as_array()) refuse(node, "a list is expected");
        return *node.as_array();
    }

    /// The reference of a rung, or the file of a given one, as a student would hand it in under another
    /// rung's name: with that one's launchers.
    std::string code_of(const std::string& from, const std::string& rung) const {
        const fs::path solution = root_ / "solutions" / chapter_ / (from + ".cu");
        std::string code =
            read_file(fs::exists(solution) ? solution : root_ / "chapters" / chapter_ / (from + ".cu"));
        const std::string theirs = "::" + from.substr(3) + "(", ours = "::" + rung.substr(3) + "(";
        for (std::size_t at = 0; (at = code.find(theirs, at)) != std::string::npos; at += ours.size())
            code.replace(at, theirs.size(), ours);
        return code;
    }

    void change(std::string& source, const toml::node& node) const {
        const toml::array& pair = array(node);
        if (pair.size() != 2 || !pair[1].is_string()) refuse(node, "a text and what it becomes are expected");
        const std::string from = text(pair[0]);
        const std::size_t at = source.find(from);
        if (at == std::string::npos) refuse(node, "the reference does not have: " + from);
        source.replace(at, from.size(), pair[1].value_or(""));
    }

    Mistake mistake(const toml::table& entry) const {
        static const std::set<std::string_view> known{"rung",    "name", "code_of", "change",
                                                      "verdict", "told", "why"};
        for (const auto& [key, node] : entry) {
            if (known.count(key.str()) == 0) refuse(node, fmt::format("there is no key '{}'", key.str()));
        }
        Mistake made;
        made.chapter = chapter_;
        made.rung = text(entry, "rung");
        made.name = text(entry, "name");
        made.verdict = text(entry, "verdict");
        try {
            judge::verdict_of(made.verdict);
        } catch (const std::invalid_argument& error) {
            refuse(entry, error.what());
        }
        made.source = code_of(entry["code_of"].value_or(made.rung), made.rung);
        if (const toml::node* const changes = entry.get("change"))
            for (const toml::node& one : array(*changes)) change(made.source, one);
        if (const toml::node* const told = entry.get("told")) {
            for (const toml::node& words : array(*told)) {
                made.told.emplace_back();
                if (!words.is_array()) {
                    made.told.back().push_back(text(words));
                } else {
                    for (const toml::node& one : *words.as_array()) made.told.back().push_back(text(one));
                }
            }
        }
        made.why = entry["why"].value_or("");
        if (made.told.empty() == made.why.empty())
            refuse(entry, "either 'told' says what names its cause, or 'why' says why nothing does");
        return made;
    }

    fs::path root_;
    std::string chapter_;
    fs::path file_;
};

/// All that the report of a verdict says of its cause.
std::string words_of(const judge::RungResult& result) {
    std::string words;
    for (const judge::Cause& cause : result.causes) words += cause.text + '\n' + cause.likely + '\n';
    for (const auto& finding : result.checks.findings)
        words += finding.message + '\n' + finding.advice + '\n';
    return words;
}

}  // namespace

std::string Mistake::title() const { return chapter.substr(0, 2) + "/" + rung.substr(0, 2) + " " + name; }

std::vector<Mistake> read_mistakes(const fs::path& root, const std::string& chapter) {
    return Reader(root, chapter).read();
}

std::vector<Mistake> in_slice(std::vector<Mistake> mistakes, const std::string& chapter, const Slice& slice) {
    std::vector<Slice::Case> cases;
    for (const Mistake& mistake : mistakes)
        cases.push_back({chapter + "/" + mistake.rung + ": " + mistake.name,
                         {"solutions/" + chapter + "/" + mistake.rung + ".cu", "mistake: " + mistake.name}});
    const std::vector<bool> tried = slice.choose("mistakes in " + chapter, cases);
    std::size_t at = 0;
    std::erase_if(mistakes, [&](const Mistake&) { return !tried[at++]; });
    return mistakes;
}

std::string fault_of(const Mistake& mistake, const judge::RungResult& result) {
    const std::string words = words_of(result);
    const auto said = [&](const std::string& text) { return fmt::format("{}; it says:\n{}", text, words); };
    if (name_of(result.verdict) != mistake.verdict)
        return said(fmt::format("the verdict is {}, expected {}", name_of(result.verdict), mistake.verdict));
    const bool keeps_some = mistake.verdict == "OK" || mistake.verdict == "SLOW";
    if (keeps_some ? mistake.verdict == "SLOW" && result.points >= result.max_points : result.points != 0)
        return fmt::format("it has {} of {} points", result.points, result.max_points);
    for (const std::vector<std::string>& told : mistake.told) {
        if (std::none_of(told.begin(), told.end(),
                         [&](const std::string& one) { return words.find(one) != std::string::npos; }))
            return said(fmt::format("it does not say '{}'", fmt::join(told, "' or '")));
    }
    return "";
}

}  // namespace rungs
