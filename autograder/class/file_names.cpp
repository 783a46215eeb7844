#include "class/file_names.hpp"

#include <algorithm>

namespace rungs::classroom {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Takes what is before the next underscore, and that; nothing where there is none.
std::optional<std::string> take_word(std::string_view& rest) {
    const std::size_t end = rest.find('_');
    if (end == std::string_view::npos) return std::nullopt;
    std::string word(rest.substr(0, end));
    rest.remove_prefix(end + 1);
    return word;
}

bool skip(std::string_view& rest, std::string_view start) {
    if (!rest.starts_with(start)) return false;
    rest.remove_prefix(start.size());
    return true;
}

}  // namespace

bool is_number(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

bool begins_like_a_rung(std::string_view name) {
    return name.size() >= 3 && is_digit(name[0]) && is_digit(name[1]) && name[2] == '_';
}

std::optional<CanvasName> canvas_name(const std::string& name) {
    std::string_view rest = name;
    CanvasName parts;
    const std::optional<std::string> who = take_word(rest);
    if (!who || who->empty()) return std::nullopt;
    parts.who = *who;
    parts.late = skip(rest, "LATE_");
    const std::optional<std::string> number = take_word(rest), file_number = take_word(rest);
    if (!number || !is_number(*number) || !file_number || !is_number(*file_number) || rest.empty())
        return std::nullopt;
    parts.number = *number;
    parts.file = rest;
    return parts;
}

std::string without_count(const std::string& file) {
    const std::size_t ending = file.rfind('.'), dash = file.rfind('-', ending);
    if (ending == std::string::npos || ending + 1 == file.size() || dash == std::string::npos ||
        !is_number(std::string_view(file).substr(dash + 1, ending - dash - 1)))
        return file;
    return file.substr(0, dash) + file.substr(ending);
}

std::optional<MoodleName> moodle_name(const std::string& name) {
    constexpr std::string_view mark = "_assignsubmission_";
    // The first place where a number stands before it: whoever has such a name has chosen it.
    for (std::size_t at = name.find(mark); at != std::string::npos; at = name.find(mark, at + 1)) {
        const std::size_t before = at == 0 ? std::string::npos : name.rfind('_', at - 1);
        if (before == std::string::npos || before == 0) continue;
        MoodleName parts{name.substr(0, before), name.substr(before + 1, at - before - 1), ""};
        std::string_view rest = std::string_view(name).substr(at + mark.size());
        parts.typed = skip(rest, "onlinetext");
        if (!is_number(parts.number) || !(parts.typed || skip(rest, "file"))) continue;
        skip(rest, "_");
        parts.file = rest;
        return parts;
    }
    return std::nullopt;
}

}  // namespace rungs::classroom
