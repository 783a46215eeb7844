#pragma once

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "cu2cpp/translator.h"

/// What the translator's tests have in common.
namespace cu2cpp_tools {

/// Runs of blanks and line ends become one blank, so that expectations need not count padding.
inline std::string squeezed(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (std::isspace(static_cast<unsigned char>(c)) == 0) {
            out += c;
        } else if (!out.empty() && out.back() != ' ') {
            out += ' ';
        }
    }
    while (!out.empty() && out.back() == ' ') out.pop_back();
    return out;
}

/// The translation of `text`, also when parts of it were refused.
inline std::string raw_translation(std::string_view text, const cu2cpp::TranslateOptions& options = {}) {
    return cu2cpp::apply(text, cu2cpp::translate(text, "t.cu", options).edits);
}

inline std::string translation(std::string_view text, const cu2cpp::TranslateOptions& options = {}) {
    return squeezed(raw_translation(text, options));
}

/// All refusals as `line:column: message`.
inline std::vector<std::string> refusals(std::string_view text) {
    std::vector<std::string> out;
    for (const cu2cpp::Diagnostic& d : cu2cpp::translate(text, "t.cu").diagnostics) {
        out.push_back(std::to_string(d.line) + ":" + std::to_string(d.column) + ": " + d.message);
    }
    return out;
}

/// The only refusal, or a text that no expectation matches.
inline std::string refusal(std::string_view text) {
    const auto all = refusals(text);
    return all.size() == 1 ? all[0] : "<" + std::to_string(all.size()) + " refusals>";
}

inline bool starts_with(std::string_view text, std::string_view front) {
    return text.substr(0, front.size()) == front;
}

inline auto count_lines(std::string_view text) { return std::count(text.begin(), text.end(), '\n'); }

/// How a launch of `kernel` is written for the runtime.
inline std::string launch(const std::string& kernel, const std::string& configuration,
                          std::string name = {}) {
    if (name.empty()) {
        std::copy_if(kernel.begin(), kernel.end(), std::back_inserter(name), [](char c) { return c != ' '; });
    }
    return "::simt::kernel(\"" + name + "\",[=](auto&&... simt_args){ " + kernel +
           "(simt_args...); })[::simt::cfg(" + configuration + ")]";
}

}  // namespace cu2cpp_tools
