#pragma once
// What all pages have in common: look, head, foot, tables. Self-contained, without scripts, light and dark.

#include <string>
#include <vector>

namespace rungs {

/// A page up to its heading, which follows: <header> is open.
std::string page_head(const std::string& title, const std::string& version);

/// The rest of a page after its sections: <main> is open.
std::string page_foot(const std::string& version);

/// One line of a list of facts, <dl class="rows">; nothing for an empty value.
void row(std::string& html, const char* term, const std::string& value);

struct Column {
    const char* heading;
    const char* kind;  ///< class of its cells: "number", "mono" or ""
};

/// A table in a box that scrolls: a group, as a page may have only one region of a name. The first cell of
/// each row heads it. Caption and cells are HTML.
std::string table(const char* label, const std::string& caption, const std::vector<Column>& columns,
                  const std::vector<std::vector<std::string>>& rows);

}  // namespace rungs
