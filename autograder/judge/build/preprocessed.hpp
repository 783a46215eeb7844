#pragma once
// What a rung says once its macros are expanded: words that macros have put together are plain to see there.

#include <cstddef>
#include <functional>
#include <set>
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

/// The line of the first condition of `text`, which has no hidden one, that names a macro of compilers: what
/// nvcc makes of it for a GPU may be another program than check mode sees. 0: there is none.
std::size_t compiler_condition(std::string_view text);

/// Whether `text` names one of `macros`, or could: it pastes names together.
bool could_name(std::string_view text, const std::set<std::string, std::less<>>& macros);

/// What a rung must not say in its own lines: assembly other than an empty one, an attribute against
/// instrumentation, instructions of this processor. In words for a student, "03_shared_tree.cu:12: ...";
/// empty if it says none of them.
/// @param text  what `g++ -E` made of it. The rung has no #line directive, so that the places in `text` are
///              the preprocessor's
/// @param own   the names of the rung's files, without folders; the first is the one that a student knows
std::string objection_to_words(std::string_view text, const std::vector<std::string>& own);

/// Sums `text` up for difference(): one hash of all that counts, and one of each line of the rung's, by which
/// a place is found.
/// @param whole  false: of `text` only the rung's own tokens count
std::string summary(std::string_view text, const std::vector<std::string>& own, bool whole);

/// Whether two summaries are of the same text, and if not, where the rung's own lines differ.
struct Difference {
    bool found = false;
    unsigned long line = 0;  ///< 0: in none of the rung's lines
};
Difference difference(const std::string& one, const std::string& other);

}  // namespace rungs::judge
