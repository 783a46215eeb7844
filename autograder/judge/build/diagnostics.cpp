#include "judge/build/diagnostics.hpp"

#include <algorithm>
#include <cstring>
#include <set>
#include <sstream>

#include "judge/result/clean_text.hpp"

namespace rungs::judge {
namespace {

void replace_all(std::string& text, const std::string& what, const std::string& with) {
    if (what.empty()) return;
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size()) {
        text.replace(at, what.size(), with);
    }
}

bool starts_with_any(const std::string& line, std::initializer_list<const char*> starts) {
    return std::any_of(starts.begin(), starts.end(),
                       [&](const char* start) { return line.rfind(start, 0) == 0; });
}

/// Lines about headers: "/usr/include/x.h:3: ...", "common/simt/include/...:9:  required from ...", and how
/// the compiler came there.
bool is_foreign(const std::string& line) {
    if (line.find("undefined reference") != std::string::npos) return false;
    std::size_t at = 0;
    for (const char* start : {"In file included from ", "from "}) {
        if (const std::size_t found = line.find(start); found != std::string::npos && found < 24) {
            at = found + std::strlen(start);
        }
    }
    return line.compare(at, 1, "/") == 0 || line.compare(at, 7, "common/") == 0 ||
           line.find(": In instantiation of ") != std::string::npos;
}

/// How the compiler came to the line that it complains about, through templates and inlined functions.
bool is_route(const std::string& line) {
    return line.find(":   required from ") != std::string::npos || line.rfind("    inlined from ", 0) == 0 ||
           line.find("In function 'void simt::") != std::string::npos ||
           (line.rfind("In function '", 0) == 0 && line.back() == ',');
}

/// The compiler refuses what a `__shared__` array of variable size has been translated to, and quotes that:
/// what the translator says of such arrays where their size shows it.
std::string in_words_of_the_source(const std::string& line) {
    const std::string call = "no matching function for call to 'shared<simt_type_";
    const std::size_t at = line.find(call);
    if (at == std::string::npos) return line;
    return line.substr(0, at) + "the size of `__shared__` array '" +
           line.substr(at + call.size(), line.find('>', at) - at - call.size()) +
           "' is known only at run time; write a constant; or declare `extern __shared__ float name[];` "
           "and give the size in bytes as the launch's third argument";
}

/// What the compiler adds to that.
bool is_of_translation(const std::string& line) {
    return line.find("is a variably modified type") != std::string::npos ||
           line.find("trying to instantiate 'template<class T> T& simt::shared(") != std::string::npos ||
           line.find(": In substitution of 'template<class T> T& simt::shared(") != std::string::npos;
}

/// "   12 |  code" and "      |  ^~~~": quotes that belong to the message above.
bool is_quote(const std::string& line) {
    const std::size_t bar = line.find_first_not_of(" 0123456789");
    return bar != std::string::npos && bar > 0 && (line[bar] == '|' || line[bar] == '+');
}

}  // namespace

std::string one_line(std::string_view text, std::size_t most) {
    std::string line = clean_utf8(text);
    std::replace(line.begin(), line.end(), '\n', ' ');
    std::replace(line.begin(), line.end(), '\t', ' ');
    while (!line.empty() && line.back() == ' ') line.pop_back();
    if (line.size() > most) {
        std::size_t cut = most - 3;
        while (cut > 0 && (static_cast<unsigned char>(line[cut]) & 0xC0U) == 0x80) --cut;
        line = line.substr(0, cut) + "...";
    }
    return line;
}

std::string trim_diagnostics(const std::string& text,
                             const std::vector<std::pair<std::string, std::string>>& prefixes,
                             std::size_t most) {
    std::string shortened = clean_utf8(text);
    for (const auto& [prefix, replacement] : prefixes) replace_all(shortened, prefix, replacement);
    std::istringstream lines(shortened);
    std::string kept, line;
    std::size_t count = 0, dropped = 0;
    bool dropping = false;
    std::set<std::string> said;
    while (std::getline(lines, line)) {
        // A message about a header of the system's or ours, with its quotes: the student's own line is
        // reported as well.
        // And what is said again of the next instance of a template.
        const bool message = line.find(": error: ") != std::string::npos ||
                             line.find(": warning: ") != std::string::npos ||
                             line.find(": note: ") != std::string::npos;
        line = in_words_of_the_source(line);
        if (is_foreign(line) || is_of_translation(line) || (message && !said.insert(line).second)) {
            dropping = true;
            continue;
        }
        if (is_route(line)) continue;
        if (dropping && is_quote(line)) continue;
        dropping = false;
        if (starts_with_any(line, {"compilation terminated", "collect2:"}) || line.empty()) continue;
        if (count < most) {
            kept += clean_utf8(line.substr(0, 400)) + "\n";  // whole characters
            ++count;
        } else {
            ++dropped;
        }
    }
    if (dropped) kept += "(" + std::to_string(dropped) + " more lines)\n";
    return kept;
}

std::string messages_about(const std::string& diagnostics, const std::string& name) {
    std::istringstream lines(diagnostics);
    std::string kept;
    bool about = false;
    for (std::string line; std::getline(lines, line);) {
        if (!is_quote(line)) about = line.rfind(name + ":", 0) == 0;
        if (about) kept += line + "\n";
    }
    return kept;
}

std::string first_error(const std::string& diagnostics) {
    std::istringstream lines(diagnostics);
    for (std::string line; std::getline(lines, line);) {
        for (const char* words : {"error:", "undefined reference", "multiple definition"}) {
            if (line.find(words) != std::string::npos) return one_line(line);
        }
    }
    return "";
}

}  // namespace rungs::judge
