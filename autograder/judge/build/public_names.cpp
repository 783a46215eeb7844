#include "judge/build/public_names.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <iterator>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "judge/build/diagnostics.hpp"

namespace rungs::judge {
namespace {

/// What a mangled name begins with (Itanium C++ ABI, 5.1).
struct NamedEntity {
    std::vector<std::string>
        path;              ///< "simt", "check", "clear"; empty: the standard library's, or an operator
    bool is_type = false;  ///< something that belongs to the type `path` as a whole: a constructor, a
                           ///< table of virtual functions, its description at run time
};

bool take(std::string_view& text, std::string_view start) {
    if (!text.starts_with(start)) return false;
    text.remove_prefix(start.size());
    return true;
}

NamedEntity entity_of(std::string_view name) {
    NamedEntity entity;
    if (!take(name, "_Z")) {
        entity.path.emplace_back(name);
        return entity;
    }
    if (take(name, "TV") || take(name, "TI") || take(name, "TS") || take(name, "TT")) {
        entity.is_type = true;
    } else {
        // Functions that initialise a thread_local variable, and find it.
        static_cast<void>(take(name, "TW") || take(name, "TH"));
    }
    const bool nested = take(name, "N");
    while (nested && !name.empty() && std::string_view("rVKRO").find(name[0]) != std::string_view::npos)
        name.remove_prefix(1);
    while (!name.empty() && std::isdigit(static_cast<unsigned char>(name[0]))) {
        std::size_t size = 0;
        const char* const end = std::from_chars(name.data(), name.data() + name.size(), size).ptr;
        name.remove_prefix(static_cast<std::size_t>(end - name.data()));
        if (size > name.size()) return {};
        entity.path.emplace_back(name.substr(0, size));
        name.remove_prefix(size);
        if (!nested) break;
    }
    static constexpr std::string_view special[] = {"C1", "C2", "C3", "CI", "D0", "D1", "D2"};
    if (std::any_of(std::begin(special), std::end(special),
                    [&](std::string_view start) { return name.starts_with(start); }))
        entity.is_type = true;
    return entity;
}

bool is_global(const Symbol& symbol) {
    return symbol.name.find_first_of(" :[") == std::string::npos &&
           std::string_view("TDBRCAGSWVui").find(symbol.type) != std::string_view::npos;
}

/// A copy that everybody has of an inline function or a template of the standard library.
bool is_copy_of_library(const Symbol& symbol, const NamedEntity& entity) {
    const bool weak = std::string_view("WVu").find(symbol.type) != std::string_view::npos;
    return weak && symbol.name.starts_with("_Z") &&
           (entity.path.empty() || entity.path.front() == "__gnu_cxx" || entity.path.front() == "std");
}

}  // namespace

NameQuestion::NameQuestion(const std::vector<std::string>& headers, const std::vector<Symbol>& symbols) {
    for (const std::string& header : headers) headers_ = ask(fmt::format("#include <{}>", header));
    std::set<std::string> known;
    for (const Symbol& symbol : symbols) {
        if (!is_global(symbol) || !known.insert(symbol.name).second) continue;
        const NamedEntity entity = entity_of(symbol.name);
        if (is_copy_of_library(symbol, entity)) continue;
        Asked asked{symbol.name, {}};
        if (!entity.path.empty()) {
            const std::string name = fmt::format("::{}", fmt::join(entity.path, "::"));
            const std::size_t number = asked_.size();
            if (entity.is_type) {
                asked.lines.push_back(ask(fmt::format("static_assert(sizeof({}) > 0);", name)));
            } else {
                asked.lines.push_back(ask(fmt::format("namespace asked_{} {{ using {}; }}", number, name)));
                if (const std::string label = "::simt_"; name.starts_with(label)) {
                    // A function of the C library to which check mode gives another name.
                    asked.lines.push_back(ask(fmt::format("namespace asked_as_{} {{ using ::{}; }}", number,
                                                          name.substr(label.size()))));
                }
                if (entity.path.size() > 1) {
                    const std::string type = name.substr(0, name.size() - entity.path.back().size() - 2);
                    asked.lines.push_back(
                        ask(fmt::format("struct asked_in_{} : {} {{ using {}; }};", number, type, name)));
                }
            }
        }
        asked_.push_back(std::move(asked));
    }
}

std::size_t NameQuestion::ask(const std::string& line) {
    text_ += line + '\n';
    return ++lines_;
}

std::vector<std::string> NameQuestion::undeclared(std::string_view messages, const std::string& file) const {
    std::set<std::size_t> wrong;
    for (std::size_t begin = 0, end; begin < messages.size(); begin = end + 1) {
        end = std::min(messages.find('\n', begin), messages.size());
        std::string_view line = messages.substr(begin, end - begin);
        const std::size_t error = std::min(line.find(": error: "), line.find(": fatal error: "));
        if (error == std::string_view::npos) continue;
        std::string_view place = line.substr(0, error);
        static_cast<void>(take(place, "./"));
        std::size_t number = 0;
        if (take(place, file + ":")) std::from_chars(place.data(), place.data() + place.size(), number);
        if (number <= headers_) throw std::runtime_error(one_line(std::string(line)));
        wrong.insert(number);
    }
    std::vector<std::string> names;
    for (const Asked& asked : asked_) {
        if (std::all_of(asked.lines.begin(), asked.lines.end(),
                        [&](std::size_t line) { return wrong.count(line) > 0; }))
            names.push_back(asked.name);
    }
    return names;
}

}  // namespace rungs::judge
