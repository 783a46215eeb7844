#pragma once
// A graded class on the terminal: what grade, review and replay have in common.

#include "class/changes.hpp"
#include "program/terminal.hpp"

namespace rungs {

/// How much of a class is there.
struct Presence {
    std::size_t listed = 0;   ///< on the roster
    std::size_t found = 0;    ///< of those, whoever has handed in something
    std::size_t unknown = 0;  ///< others who have
    bool has_roster = false;

    /// Whether most hand-ins are of nobody on the roster: perhaps they were not recognised.
    bool is_suspicious() const { return has_roster && unknown > found; }
    /// Whether of most on the roster nothing is there.
    bool is_thin() const { return 2 * found < listed; }
};
Presence presence_of(const classroom::Gradebook& book);

/// Whose points another judging has changed; of many the first ones, unless `all` are asked for.
/// `out_folder` as it was given.
void show_changes(const std::vector<classroom::Change>& changes, const std::string& out_folder, Terminal& out,
                  bool all = false);

/// A row for each student, and what is open.
/// `out_folder` as it was given.
void show_class(const classroom::Gradebook& book, const std::string& out_folder, Terminal& out);

}  // namespace rungs
