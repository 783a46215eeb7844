#include "judge/build/assembly.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include <fmt/format.h>

#include "judge/build/diagnostics.hpp"

namespace rungs::judge {
namespace {

constexpr std::string_view separators = " \t\r";

std::string_view without_blanks(std::string_view line) {
    const std::size_t begin = std::min(line.find_first_not_of(separators), line.size());
    line.remove_prefix(begin);
    return line.substr(0, line.find_last_not_of(separators) + 1);
}

/// Directives that g++ writes for any source. (In their strings it escapes all but letters.)
bool is_of_compilers(std::string_view directive) {
    static constexpr std::array<std::string_view, 36> known{
        ".2byte",   ".4byte",    ".8byte", ".align", ".ascii",   ".balign",  ".base64",    ".bss",
        ".byte",    ".comm",     ".data",  ".dword", ".file",    ".globl",   ".global",    ".hidden",
        ".hword",   ".internal", ".loc",   ".local", ".long",    ".p2align", ".protected", ".quad",
        ".section", ".set",      ".short", ".size",  ".sleb128", ".string",  ".text",      ".type",
        ".uleb128", ".value",    ".weak",  ".zero"};
    // For 64-bit ARM.
    static constexpr std::array<std::string_view, 4> more{".word", ".xword", ".arch", ".variant_pcs"};
    return directive.starts_with(".cfi_") ||
           std::find(known.begin(), known.end(), directive) != known.end() ||
           std::find(more.begin(), more.end(), directive) != more.end();
}

/// Whether g++ chooses such a section by itself. Behind these beginnings there may be a function's name.
bool is_usual_section(std::string_view name) {
    static constexpr std::array<std::string_view, 13> known{
        ".text", ".rodata", ".data",       ".bss",        ".tbss",  ".tdata", ".debug_",
        ".eh_",  ".gcc_",   ".init_array", ".fini_array", ".note.", ".rela"};
    return std::any_of(known.begin(), known.end(),
                       [&](std::string_view start) { return name.starts_with(start); });
}

/// Whether an asm statement is one of the rung's: g++ writes `# 12 "file" 1` before each.
bool is_from(std::string_view marker, const std::vector<std::string>& own) {
    const std::size_t open = marker.find('"'), close = marker.rfind('"');
    if (open == std::string_view::npos || open == close) return true;
    std::string_view name = marker.substr(open + 1, close - open - 1);
    name.remove_prefix(name.rfind('/') + 1);
    return std::find(own.begin(), own.end(), name) != own.end();
}

/// <iostream> of GCC 13 and later has this statement outside of functions, where g++ writes no marker.
bool is_of_iostream(std::string_view line) { return line == ".globl _ZSt21ios_base_library_initv"; }

/// What g++ writes of string literals, perhaps before it says that such a statement has ended.
bool is_of_literals(std::string_view line) {
    const std::string_view word = line.substr(0, line.find_first_of(separators));
    const std::string_view rest = without_blanks(line.substr(word.size()));
    if (word == ".section") return rest.starts_with(".rodata.") && rest.find_first_of(";#") == rest.npos;
    if (word == ".align") return rest.find_first_not_of("0123456789") == rest.npos;
    if (word == ".string" || word == ".ascii") {
        std::size_t end = 1;
        while (end < rest.size() && rest[end] != '"') end += rest[end] == '\\' ? 2 : 1;
        return rest.starts_with('"') && end + 1 == rest.size();
    }
    return word.size() > 4 && word.starts_with(".LC") && word == line && word.ends_with(':') &&
           word.substr(3).find_first_not_of("0123456789") == word.size() - 4;
}

}  // namespace

std::string objection_to_assembly(std::string_view text, const std::vector<std::string>& own) {
    const auto refuse = [&](std::string_view line) {
        return fmt::format(
            "{}: '{}' would go to the assembler, and a rung is CUDA C++: remove what puts it there",
            own.front(), one_line(std::string(line), 60));
    };
    bool inside = false;  // an asm statement of some source
    bool marked = false;  // that statement is one of a function
    bool theirs = false;  // that statement is a header's
    for (std::size_t begin = 0, end; begin < text.size(); begin = end + 1) {
        end = std::min(text.find('\n', begin), text.size());
        const std::string_view line = without_blanks(text.substr(begin, end - begin));
        if (line.empty()) continue;
        if (line[0] == '#') {
            if (line == "#APP" || line == "#NO_APP") {
                inside = line == "#APP";
                marked = theirs = false;
            } else if (inside) {
                marked = true;
                theirs = !is_from(line, own);
            }
            continue;
        }
        if (inside && (theirs || (!marked && (is_of_iostream(line) || is_of_literals(line))))) continue;
        if (inside) return refuse(line);
        const std::string_view word = line.substr(0, line.find_first_of(separators));
        if (word[0] != '.' || word.back() == ':') continue;  // an instruction, a label
        if (!is_of_compilers(word)) return refuse(line);
        if (word == ".section" && !is_usual_section(without_blanks(line.substr(word.size()))))
            return refuse(line);
    }
    return "";
}

}  // namespace rungs::judge
