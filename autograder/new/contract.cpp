#include "new/contract.hpp"

#include <algorithm>
#include <regex>

namespace rungs {
namespace {

constexpr std::size_t none = std::string::npos;

/// Blanks and line ends as one blank each.
std::string in_one_line(const std::string& text) { return std::regex_replace(text, std::regex("\\s+"), " "); }

/// Where the line of the first or the last declaration of a launcher begins.
std::size_t declaration_of(const std::string& contract, const std::string& launcher, bool last) {
    const std::regex declaration("\\n[A-Za-z_]\\w* " + launcher + ";");
    std::size_t at = none;
    for (std::sregex_iterator it(contract.begin(), contract.end(), declaration), end; it != end; ++it) {
        at = static_cast<std::size_t>(it->position()) + 1;
        if (!last) break;
    }
    return at;
}

/// The row of a rung in the contract's table, from brace to brace.
std::pair<std::size_t, std::size_t> row_of(const std::string& contract, const std::string& rung) {
    const std::size_t name = contract.find('"' + rung + '"');
    if (name == none) return {none, none};
    const std::size_t begin = contract.rfind('{', name);
    int depth = 0;
    for (std::size_t at = begin; at < contract.size(); ++at) {
        depth += contract[at] == '{' ? 1 : contract[at] == '}' ? -1 : 0;
        if (depth == 0) return {begin, at + 1};
    }
    return {none, none};
}

/// A row with another rung's name and launcher. What is in quotes stays, except the name.
std::string row_like(const std::string& row, const RungEntry& like, const std::string& rung) {
    const std::regex launcher("\\b" + like.launcher() + "\\b");
    std::string out;
    for (std::size_t at = 0; at < row.size();) {
        if (row[at] == '"') {
            const std::size_t end = row.find('"', at + 1) + 1;
            const std::string word = row.substr(at, end - at);
            out += word == '"' + like.name + '"' ? '"' + rung + '"' : word;
            at = end;
        } else {
            const std::size_t end = std::min(row.find('"', at), row.size());
            out += std::regex_replace(row.substr(at, end - at), launcher, rung.substr(3));
            at = end;
        }
    }
    return out;
}

/// The rung below `rung` that `has` says yes to; where there is none, the one above. Null: neither.
template <class Has>
const RungEntry* neighbour(const Manifest& manifest, const std::string& rung, const Has& has) {
    const RungEntry* nearest = nullptr;
    for (const RungEntry& entry : manifest.rungs) {
        if (!has(entry)) continue;
        if (entry.name < rung || !nearest) nearest = &entry;
    }
    return nearest;
}

}  // namespace

std::string Signature::stream() const {
    const std::size_t blank = parameters.find_last_of(" *&");
    return blank == none ? parameters : parameters.substr(blank + 1);
}

Signature signature_of(const std::string& contract, const std::string& type) {
    std::smatch found;
    if (std::regex_search(contract, found, std::regex("using " + type + " = void\\(([^;]*)\\);")))
        return {type, in_one_line(found[1])};
    std::smatch base;
    if (std::regex_search(contract, found, std::regex("using " + type + " = (\\w+)<(\\w+)>;")) &&
        std::regex_search(
            contract, base,
            std::regex("template <class (\\w+)>\\s*using " + found[1].str() + " = void\\(([^;]*)\\);"))) {
        const std::regex parameter("\\b" + base[1].str() + "\\b");
        return {type, std::regex_replace(in_one_line(base[2]), parameter, found[2].str())};
    }
    throw NewError("the contract has no 'using " + type + " = void(...);', which the manifest names");
}

std::string with_rung(const std::string& contract, const Manifest& manifest, const std::string& rung,
                      const std::vector<Signature>& signatures, const RungEntry& like) {
    std::string text = contract, declarations;
    for (const Signature& one : signatures) {
        declarations += one.type + " " + rung.substr(3) + ";  ///< " + rung.substr(0, 2) +
                        (declarations.empty() ? ": WRITE: the idea" : "") + "\n";
    }
    const RungEntry* beside = neighbour(manifest, rung, [&](const RungEntry& entry) {
        return declaration_of(text, entry.launcher(), true) != none;
    });
    if (!beside) throw NewError(manifest.contract + " declares no rung that another could be put beside");
    const bool below = beside->name < rung;
    const std::size_t line = declaration_of(text, beside->launcher(), below);
    text.insert(below ? text.find('\n', line) + 1 : line, declarations);

    const auto [begin, end] = row_of(text, like.name);
    if (begin == none) throw NewError(manifest.contract + " has no row for " + like.name + " in its table");
    const std::string row = row_like(text.substr(begin, end - begin), like, rung) + ",";
    beside = neighbour(manifest, rung,
                       [&](const RungEntry& entry) { return row_of(text, entry.name).first != none; });
    const auto [first, behind] = row_of(text, beside->name);
    if (beside->name < rung) {
        text.insert(text.find(',', behind) + 1, "\n    " + row);
    } else {
        text.insert(first, row + "\n    ");
    }
    return text;
}

}  // namespace rungs
