/// @file
/// A kernel that may become loops over lanes.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cu2cpp/lanes/statements.h"
#include "cu2cpp/unit.h"

namespace cu2cpp::lanes {

/// A variable of the kernel's.
struct Variable {
    std::string name;
    std::size_t token = npos;
    Range scope;           ///< where it can be named
    bool between = false;  ///< declared between regions, or in one but not inside a statement of it
    bool uniform = false;  ///< one for all lanes
    bool fixed = false;    ///< shared memory, or a constant
    bool group = false;    ///< the block's, of cooperative groups
    bool parameter = false;
    bool reference = false;
    bool array = false;
    bool known_type = true;
    Range initialiser;
    std::string type;                ///< of what it holds; of a reference, of what that names
    std::size_t declared_at = npos;  ///< first token of its statement
    bool changed = false;            ///< after its declaration
    bool shuffled = false;
    bool kept = false;  ///< lanes have a LaneVariable of it, or make it anew: from its region's end on
};

class Kernel {
  public:
    Kernel(Unit& unit, const Sequence& seq, const std::vector<Directive>& directives, Range head);
    void translate();

  private:
    /// `x += __shfl_down_sync(mask, x, d);`: one call, of a variable, which the statement cannot come past.
    struct Shuffle {
        std::size_t name = npos, open = npos, close = npos;
    };
    /// What is between two waits.
    struct Region {
        std::vector<const Statement*> nodes;
        std::vector<Range> text;   ///< with what stands around a shuffle
        std::size_t open = npos;   ///< offset where the loop begins
        std::string lead;          ///< what is to be done first
        std::size_t close = npos;  ///< offset of its end
        std::size_t end = npos;    ///< token behind it
    };

    bool is_possible();
    bool give_up(const std::string& why);

    // ---- Declarations (declarations.cpp) ----

    void template_parameters();
    void parameters();
    void declare(const Statement& node, Range scope, bool between);
    void inner(std::size_t token, Range scope);
    void declare_names(std::size_t begin, std::size_t end, Range scope, bool between, bool fixed);
    /// What the name at token `k` stands for; nullptr: none of the kernel's variables.
    [[nodiscard]] Variable* resolve(std::size_t k);

    // ---- Uniform names (uniformity.cpp) ----

    /// True when the value of `range` is the same for all lanes.
    bool is_uniform(Range range);
    /// Behind the name at `k`, and the members and elements that follow it. @param element an element follows
    std::size_t past_operand(std::size_t k, bool& element) const;
    /// The name at `k` may be changed there, or its address taken.
    bool is_changed(std::size_t k);
    void find_uniform();
    /// `d /= 2`, `++d`, `d += n`: apart from that change, uniform.
    bool is_uniform_change(Range statement);
    /// The variable that `d /= 2` or `++d` changes; nullptr: an element of one, or none of the kernel's.
    Variable* changed_by(Range statement);
    /// The three parts of a loop's head; of a loop over a range one.
    [[nodiscard]] std::vector<Range> parts_of(Range head) const;
    void allowed_changes(const Statement& node, std::vector<std::pair<Variable*, Range>>& changes);
    /// A statement that changes a uniform variable: executed once.
    bool is_for_all(Range range);

    // ---- What has to hold (legality.cpp) ----

    /// No macro of the kernel's hides a statement, a wait, or one of its variables.
    bool is_plain_macro(std::string_view name, std::size_t depth = 0);
    /// What is said of the block as a group: behind the last token of that at `k`; `k`: nothing is.
    std::size_t past_words_of_groups(std::size_t k);
    bool is_understood();
    /// What a call of a name that is no variable's may do.
    [[nodiscard]] Exports::Body call_of(std::string_view word) const;
    bool is_known_call(std::size_t k);
    /// The way to each wait, and out of each loop around one, is the same for all lanes.
    bool may_split(const Statement& node);
    /// `cg::sync(block);` or `block.sync();`, of the whole block.
    bool is_group_barrier(Range statement);
    bool is_barrier_statement(const Statement& node);
    Shuffle shuffle_of(const Statement& node);
    bool is_shuffle(const Statement& node);

    // ---- Regions (planning.cpp) ----

    bool is_between(const Statement& node);
    /// Finds the regions, and what lanes keep from one to another; false where that cannot be kept.
    bool plan(const Statement& node);
    /// The variables kept so far that `text` names, and what these are made of, as they are declared.
    std::vector<Variable*> named_in(const std::vector<Range>& text);
    /// It cannot fail: it touches lanes' own variables, and calls nothing but mathematics.
    bool is_alone(Range range);
    /// Made of the lane's place and of what never changes: a region that names it makes it anew.
    bool is_derived(const Variable& v, std::size_t depth = 0);
    /// Another variable between regions has the name: where that is in force, text means another thing.
    [[nodiscard]] bool is_hidden(const Variable& v) const;
    bool named_later(const Variable& v, std::size_t from);
    /// Somebody may keep a pointer to the place that the variable has in the loop that declares it.
    bool address_escapes(const Variable& v);

    // ---- Writing (writing.cpp) ----

    void write();
    void visit(const Statement& node, bool writes);
    /// The declaration by which a loop names what its lane has kept, or makes it anew.
    std::string renewal(const Variable& v);
    void finish(const Region& region, bool writes);
    /// What begins the region's loop. If its statements can fail only after an `if`, it says which lane runs.
    std::string loop_of(const Region& region);
    void shuffle(const Statement& node, Region& region, bool writes);

    Unit& unit_;
    const Sequence& seq_;
    Range head_, body_;
    Statement root_;
    std::string flaw_;
    std::deque<Variable> variables_;
    std::vector<std::string_view> types_;
    std::size_t labels_ = 0;
    std::vector<std::pair<std::size_t, std::string>> late_;
};

}  // namespace cu2cpp::lanes
