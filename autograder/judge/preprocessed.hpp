#pragma once
// What a rung says once its macros are expanded: words that macros have put together are plain to see there.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rungs::judge {

/// The line of the first `#line` directive of `text`, in any spelling; 0: it has none. A comment or a raw
/// string that spells one on a line of its own counts as well.
std::size_t line_directive(std::string_view text);

/// The line of the first condition of `text` whose meaning is not plain to see, or not its author's: it calls
/// a macro, or names one that the file defines as anything but a number, which could ask for files of this
/// machine; or it names one of the compiler's or of ours, which could tell check mode. 0: there is none.
std::size_t hidden_condition(std::string_view text);

/// What a rung must not say in its own lines: assembly other than an empty one, an attribute against
/// instrumentation, instructions of this processor. In words for a student, "03_shared_tree.cu:12: ...";
/// empty if it says none of them.
/// @param text  what `g++ -E` made of it. The rung has no #line directive, so that the places in `text` are
///              the preprocessor's
/// @param own   the names of the rung's files, without folders; the first is the one that a student knows
std::string objection_to_words(std::string_view text, const std::vector<std::string>& own);

}  // namespace rungs::judge
