#pragma once
// Which names of ours a rung may use: those declared by a header that a rung may include. All others that the
// worker's and the backend's libraries define belong to the grader. There is no list to maintain: the
// compiler is asked about each name.

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "judge/build/object_gate.hpp"

namespace rungs::judge {

/// A source file that makes a compiler tell which of some names are declared by the headers it includes: each
/// of its lines is an error if a name is not.
class NameQuestion {
  public:
    /// @param headers  as they stand between < and >
    /// @param symbols  what libraries of ours define
    NameQuestion(const std::vector<std::string>& headers, const std::vector<Symbol>& symbols);

    const std::string& text() const { return text_; }

    /// The names that no header declares, by what the compiler says of `file`, which holds text().
    /// @throws std::runtime_error where it says of a header that it is wrong: then it has not seen all of it
    std::vector<std::string> undeclared(std::string_view messages, const std::string& file) const;

  private:
    struct Asked {
        std::string name;
        std::vector<std::size_t> lines;  ///< one of them is no error if the name is declared
    };

    std::size_t ask(const std::string& line);

    std::string text_;
    std::size_t lines_ = 0, headers_ = 0;
    std::vector<Asked> asked_;
};

}  // namespace rungs::judge
