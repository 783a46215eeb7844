#include "class/file_names.hpp"

#include <algorithm>

#include "judge/result/clean_text.hpp"

namespace rungs::classroom {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_ascii_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool is_alphanumeric(std::string_view text) {
    return !text.empty() &&
           std::all_of(text.begin(), text.end(), [](char c) { return is_digit(c) || is_ascii_letter(c); });
}

/// Whether a name holds a line break, which no platform writes into one.
bool has_line_end(std::string_view name) { return name.find_first_of("\r\n") != std::string_view::npos; }

bool skip(std::string_view& rest, std::string_view start) {
    if (!rest.starts_with(start)) return false;
    rest.remove_prefix(start.size());
    return true;
}

bool skip_end(std::string_view& rest, std::string_view end) {
    if (!rest.ends_with(end)) return false;
    rest.remove_suffix(end.size());
    return true;
}

/// Takes a number and the underscore behind it.
std::optional<std::string_view> take_number(std::string_view& rest) {
    const std::size_t end = rest.find('_');
    if (end == std::string_view::npos || !is_number(rest.substr(0, end))) return std::nullopt;
    const std::string_view number = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    return number;
}

/// Takes digits at the end. @returns how many
std::size_t take_last_digits(std::string_view& rest) {
    const std::size_t before = rest.size();
    while (!rest.empty() && is_digit(rest.back())) rest.remove_suffix(1);
    return before - rest.size();
}

/// Takes "(1)" or " (1)" at the end; else nothing. @returns how many digits it has
std::size_t take_count_in_parentheses(std::string_view& rest) {
    std::string_view left = rest;
    if (!skip_end(left, ")")) return 0;
    const std::size_t digits = take_last_digits(left);
    if (digits == 0 || !skip_end(left, "(")) return 0;
    skip_end(left, " ");
    rest = left;
    return digits;
}

/// Whether a name begins with `start`, and the word ends there.
bool begins_with_word(std::string_view name, std::string_view start) {
    return skip(name, start) &&
           (name.empty() || !(is_alphanumeric(name.substr(0, 1)) || name.front() == '_'));
}

/// Whether it is `start` and a number. Takes both.
bool skip_numbered(std::string_view& rest, std::string_view start) {
    if (!skip(rest, start)) return false;
    const std::size_t end = std::min(rest.find_first_not_of("0123456789"), rest.size());
    rest.remove_prefix(end);
    return end > 0;
}

/// `LATE_12345_67890_FILE`, with or without the first word.
std::optional<CanvasName> canvas_upload(std::string_view rest) {
    CanvasName name;
    name.late = skip(rest, "LATE_");
    const std::optional<std::string_view> number = take_number(rest);
    if (!number || !take_number(rest) || rest.empty()) return std::nullopt;
    name.number = *number;
    name.file = rest;
    return name;
}

std::optional<CanvasName> anonymous_canvas_name(std::string_view rest) {
    CanvasName name;
    const bool late = skip(rest, "LATE_");
    const std::size_t start = std::string_view("anon_").size(), end = rest.find('_', start);
    if (!rest.starts_with("anon_") || end == std::string_view::npos ||
        !is_alphanumeric(rest.substr(start, end - start)))
        return std::nullopt;
    name.who = name.number = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    name.late = skip(rest, "LATE_") || late;
    if (!take_number(rest) || rest.empty()) return std::nullopt;
    name.file = rest;
    return name;
}

/// `WHO_LATE_12345_67890_FILE`, with the shortest possible WHO.
std::optional<CanvasName> named_canvas_name(std::string_view name) {
    for (std::size_t end = name.find('_', 1); end != std::string_view::npos; end = name.find('_', end + 1)) {
        std::optional<CanvasName> parts = canvas_upload(name.substr(end + 1));
        if (!parts) continue;
        parts->who = name.substr(0, end);
        return parts;
    }
    return std::nullopt;
}

/// `team_12_LATE_12345_67890_FILE`: the first number belongs to the group's name.
std::optional<CanvasName> numbered_canvas_name(std::string_view name) {
    for (std::size_t end = name.find('_', 1); end != std::string_view::npos; end = name.find('_', end + 1)) {
        std::string_view rest = name.substr(end + 1);
        const std::optional<std::string_view> number = take_number(rest);
        std::optional<CanvasName> parts = number ? canvas_upload(rest) : std::nullopt;
        if (!parts) continue;
        parts->who = name.substr(0, end + 1 + number->size());
        return parts;
    }
    return std::nullopt;
}

/// Whether it holds a number between two underscores.
bool has_inner_number(std::string_view who) {
    for (std::size_t at = who.find('_'); at != std::string_view::npos; at = who.find('_', at + 1)) {
        std::string_view rest = who.substr(at + 1);
        if (take_number(rest)) return true;
    }
    return false;
}

}  // namespace

bool is_number(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

bool begins_like_a_rung(std::string_view name) {
    return name.size() >= 3 && is_digit(name[0]) && is_digit(name[1]) && name[2] == '_';
}

bool is_rung_file(std::string_view name) {
    if (!begins_like_a_rung(name) || !(skip_end(name, ".cu") || skip_end(name, ".toml"))) return false;
    return name.size() > 3 && std::all_of(name.begin() + 3, name.end(), [](char c) {
               return is_digit(c) || (c >= 'a' && c <= 'z') || c == '_';
           });
}

bool is_put_beside(std::string_view name) {
    if (name.ends_with(".cu.new") || name.ends_with(".toml.new")) return true;
    return name.find(".cu.bak-") != std::string_view::npos ||
           name.find(".toml.bak-") != std::string_view::npos;
}

std::string without_copy_number(const std::string& name) {
    constexpr std::size_t most_digits = 4;
    const std::size_t ending = name.rfind('.');
    if (ending == std::string::npos || !is_alphanumeric(std::string_view(name).substr(ending + 1)))
        return name;
    std::string_view stem = std::string_view(name).substr(0, ending);
    std::size_t digits = take_count_in_parentheses(stem);
    if (digits == 0) {
        digits = take_last_digits(stem);
        if (!skip_end(stem, "-")) return name;
    }
    const bool is_tar = stem.size() >= 4 && folded(std::string(stem.substr(stem.size() - 4))) == ".tar";
    if (digits == 0 || digits > most_digits || !is_tar) return name;
    return std::string(stem) + name.substr(ending);
}

bool is_copy_of(std::string_view name, std::string_view original) {
    constexpr std::size_t most_digits = 4;
    if (!skip(name, original)) return false;
    if (name.empty()) return true;
    const std::size_t word = std::min(name.find_first_not_of(" _-"), name.size());
    if (word > 0 && folded(std::string(name.substr(word))) == "copy") return true;
    if (std::string_view(" _.-").find(name.front()) != std::string_view::npos) name.remove_prefix(1);
    skip(name, "(");
    skip_end(name, ")");
    return is_number(name) && name.size() <= most_digits;
}

bool is_gradescope_submission(std::string_view name) {
    return skip_numbered(name, "submission_") && name.empty();
}

bool is_gradescope_export(std::string_view name) {
    return skip_numbered(name, "assignment_") && name == "_export";
}

bool is_gradescope_download(std::string_view name) {
    return skip_numbered(name, "assignment_") && begins_with_word(name, "_export");
}

bool is_canvas_download(std::string_view name) { return begins_with_word(name, "submissions"); }

std::vector<CanvasName> canvas_readings(std::string_view name) {
    if (has_line_end(name)) return {};
    if (std::optional<CanvasName> anonymous = anonymous_canvas_name(name)) return {std::move(*anonymous)};
    std::string_view punctual = name;
    std::optional<CanvasName> named;
    if (skip(punctual, "LATE_")) named = named_canvas_name(punctual);
    if (named) named->late = true;
    if (!named) named = named_canvas_name(name);
    std::optional<CanvasName> numbered = numbered_canvas_name(name);
    if (numbered && (has_inner_number(numbered->who) || (named && named->who == numbered->who)))
        numbered.reset();
    std::vector<CanvasName> readings;
    if (named) readings.push_back(std::move(*named));
    if (numbered) readings.push_back(std::move(*numbered));
    return readings;
}

std::string without_count(const std::string& file) {
    const std::size_t ending = file.rfind('.'), dash = file.rfind('-', ending);
    if (ending == std::string::npos || ending + 1 == file.size() || dash == std::string::npos ||
        !is_number(std::string_view(file).substr(dash + 1, ending - dash - 1)))
        return file;
    return file.substr(0, dash) + file.substr(ending);
}

bool is_moodle_download(std::string_view name) {
    take_count_in_parentheses(name);
    return take_last_digits(name) > 0 && name.ends_with('-');
}

std::optional<MoodleName> moodle_name(std::string_view name) {
    constexpr std::string_view mark = "_assignsubmission_";
    if (has_line_end(name)) return std::nullopt;
    // The first place where a number stands before it: whoever has such a name has chosen it.
    for (std::size_t at = name.find(mark); at != std::string_view::npos; at = name.find(mark, at + 1)) {
        const std::size_t before = at == 0 ? std::string_view::npos : name.rfind('_', at - 1);
        if (before == std::string_view::npos || before == 0) continue;
        const std::string_view number = name.substr(before + 1, at - before - 1);
        std::string_view rest = name.substr(at + mark.size());
        const bool typed = skip(rest, "onlinetext");
        if (!is_number(number) || !(typed || skip(rest, "file"))) continue;
        skip(rest, "_");
        return MoodleName{std::string(name.substr(0, before)), std::string(number), std::string(rest), typed};
    }
    return std::nullopt;
}

}  // namespace rungs::classroom
