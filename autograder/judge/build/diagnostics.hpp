#pragma once
// Makes foreign text fit to be shown: compilers' and workers' messages.

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rungs::judge {

/// clean_utf8() in one line of at most `most` bytes: newlines become spaces.
std::string one_line(std::string_view text, std::size_t most = 300);

/// Compiler messages as a student needs them: `prefixes` shortened (longest first), what compilers say about
/// system headers left out, at most `most` lines.
std::string trim_diagnostics(const std::string& text,
                             const std::vector<std::pair<std::string, std::string>>& prefixes,
                             std::size_t most = 40);

/// Of trimmed messages those about the file `name`, with what they quote of it.
std::string messages_about(const std::string& diagnostics, const std::string& name);

/// The first line that reports an error; empty: none does.
std::string first_error(const std::string& diagnostics);

}  // namespace rungs::judge
