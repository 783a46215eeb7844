#include "judge/likely/mutants.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "cu2cpp/lexer.h"

namespace rungs::judge {
namespace {

using cu2cpp::Token;
using cu2cpp::TokenKind;
using Words = std::set<std::string_view>;

/// A range of tokens, the last one not included.
struct Range {
    std::size_t first = 0, last = 0;
    std::size_t size() const { return last - first; }
    auto operator<=>(const Range&) const = default;
};

/// What one mutant makes of a slot.
struct Alternative {
    std::size_t mutant;
    std::string text;
};

/// What a mutant may replace: an expression, a whole condition, an expression statement, or a launch.
enum class SlotKind { expression, condition, statement, launch };

struct Slot {
    SlotKind kind;
    std::vector<Alternative> alternatives;
};

constexpr const char* chosen = "rungs_mutant";

const Words openers = {"(", "[", "{"}, closers = {")", "]", "}"};
const Words assignments = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="};
const Words comparisons = {"<", "<=", ">", ">=", "==", "!="};
const Words logical = {"&&", "||"};
const Words additive = {"+", "-"};
const Words multiplicative = {"*", "/", "%"};
const Words no_expression = {"return", "break",  "continue", "if",      "else",   "for",    "while",
                             "do",     "switch", "case",     "using",   "static", "extern", "constexpr",
                             "const",  "auto",   "goto",     "throw",   "try",    "struct", "typedef",
                             "delete", "new",    "default",  "template"};
/// Heads of parentheses that hold no expression of the program's.
const Words not_run = {"sizeof",        "alignof",           "alignas",   "decltype",  "constexpr",
                       "static_assert", "__launch_bounds__", "__align__", "CUDA_CHECK"};
const Words always_known = {"threadIdx", "blockIdx",      "blockDim", "gridDim", "x",         "y",
                            "z",         "warpSize",      "i",        "j",       "k",         "n",
                            "T",         "__syncthreads", "float",    "double",  "atomicAdd", "int",
                            "min",       "max",           "size_t",   "std",     "unsigned"};

class Mutator {
  public:
    Mutator(const std::string& reference, const std::set<std::string>& launchers,
            const std::set<std::size_t>& left_out)
        : source_(reference),
          launchers_(launchers),
          left_out_(left_out),
          lexed_(cu2cpp::lex(reference)),
          tokens_(lexed_.tokens),
          match_(tokens_.size(), 0) {
        match_brackets();
        find_regions();
        for (std::size_t i = 0; i < tokens_.size(); ++i)
            if (tokens_[i].is_identifier() && !region_of(i)) known_.emplace(tokens_[i].text);
    }

    Schemata run() {
        find_bodies();
        for (const Body& body : bodies_) mutate_body(body);
        number_by_rank();
        write();
        return std::move(schemata_);
    }

  private:
    // -- the program's structure

    void match_brackets() {
        std::vector<std::size_t> open;
        for (std::size_t i = 0; i < tokens_.size(); ++i) {
            if (openers.contains(tokens_[i].text)) {
                open.push_back(i);
            } else if (closers.contains(tokens_[i].text) && !open.empty()) {
                match_[i] = open.back();
                match_[open.back()] = i;
                open.pop_back();
            }
        }
    }

    /// What a student has to write, and the number of the task that comes before it.
    void find_regions() {
        std::size_t at = 0;
        std::string task;
        std::optional<std::size_t> begin;
        while (at < source_.size()) {
            const std::size_t end = std::min(source_.find('\n', at), source_.size());
            const std::string_view text = std::string_view(source_).substr(at, end - at);
            if (const std::size_t todo = text.find("// TODO "); todo != std::string_view::npos) {
                const std::size_t number = todo + 8, stop = text.find_first_not_of("0123456789.", number);
                task = "TODO " + std::string(text.substr(number, stop - number));
                while (task.ends_with('.')) task.pop_back();
            }
            if (text.find("// BEGIN SOLUTION") != std::string_view::npos) begin = end;
            if (text.find("// END SOLUTION") != std::string_view::npos && begin) {
                regions_.push_back({*begin, at, task});
                begin.reset();
            }
            at = end + 1;
        }
    }

    struct Region {
        std::size_t begin, end;
        std::string task;
    };

    const Region* region_of(std::size_t token) const {
        for (const Region& region : regions_)
            if (tokens_[token].begin >= region.begin && tokens_[token].end <= region.end) return &region;
        return nullptr;
    }

    struct Body {
        Range block, parameters;
    };

    void find_bodies() {
        for (std::size_t i = 1; i < tokens_.size(); ++i) {
            if (!tokens_[i].is("{") || match_[i] <= i) continue;
            std::size_t before = i - 1;
            while (before > 0 && tokens_[before].is("const")) --before;
            if (!tokens_[before].is(")")) continue;
            bodies_.push_back({{i + 1, match_[i]}, {match_[before] + 1, before}});
            if (const std::size_t name = match_[before];
                name > 0 && launchers_.contains(std::string(tokens_[name - 1].text)))
                launcher_bodies_.insert(i);
            i = match_[i];
        }
    }

    // -- text

    std::string text_of(Range range) const {
        std::string text;
        for (std::size_t i = range.first; i < range.last; ++i) {
            if (i > range.first && tokens_[i].begin != tokens_[i - 1].end) text += ' ';
            text += tokens_[i].text;
        }
        return text;
    }

    /// Whether a student has seen the name.
    bool is_known(std::size_t i) const {
        return known_.contains(std::string(tokens_[i].text)) || always_known.contains(tokens_[i].text);
    }

    static constexpr std::size_t short_range = 5;  ///< tokens that are quoted whole

    /// The same as a student may read it: from a long range, names that only the reference has are left out.
    std::string quoted(Range range) const {
        std::string text;
        for (std::size_t i = range.first; i < range.last; ++i) {
            if (i > range.first && tokens_[i].begin != tokens_[i - 1].end) text += ' ';
            const bool hidden = range.size() > short_range && tokens_[i].is_identifier() && !is_known(i);
            text += hidden ? "…" : tokens_[i].text;
        }
        return "`" + text + "`";
    }

    bool says_something(Range range) const {
        if (range.size() <= short_range) return true;
        for (std::size_t i = range.first; i < range.last; ++i)
            if (tokens_[i].is_identifier() && is_known(i)) return true;
        return false;
    }

    /// As quoted(), or `otherwise` if nothing in it is known to a student.
    std::string named(Range range, const std::string& otherwise) const {
        return says_something(range) ? quoted(range) : otherwise;
    }

    bool spaced(std::size_t i) const {
        return i > 0 && i + 1 < tokens_.size() && tokens_[i - 1].end < tokens_[i].begin &&
               tokens_[i].end < tokens_[i + 1].begin;
    }

    bool is_binary(std::size_t i, const Words& operators) const {
        return operators.contains(tokens_[i].text) && spaced(i) && tokens_[i].kind == TokenKind::punctuator;
    }

    // -- mutants

    /// Adds the mutant in which `what` of a slot's tokens is `text` instead.
    void add(Range slot, SlotKind kind, Range what, const std::string& text, std::string says, int rank) {
        if (slot.size() == 0) return;
        const std::size_t at = what.first < tokens_.size() ? what.first : slot.first;
        const Region* const region = region_of(std::min(at, slot.last - 1));
        if (!region || !region_of(slot.first) || !region_of(slot.last - 1)) return;
        Mutant mutant;
        mutant.what = std::move(says);
        mutant.where = region->task;
        mutant.begin = tokens_[what.first].begin;
        mutant.end = what.size() ? tokens_[what.last - 1].end : mutant.begin;
        mutant.line =
            1 + static_cast<int>(std::count(
                    source_.begin(), source_.begin() + static_cast<std::ptrdiff_t>(mutant.begin), '\n'));
        mutant.rank = rank;
        schemata_.mutants.push_back(std::move(mutant));
        const std::size_t number = schemata_.mutants.size();
        const std::string before = text_of({slot.first, what.first}), after = text_of({what.last, slot.last});
        Slot& place = slots_.try_emplace(slot, Slot{kind, {}}).first->second;
        place.alternatives.push_back({number, before + " " + text + " " + after});
    }

    /// The plainest mistakes come first: there may be no time for all.
    void number_by_rank() {
        std::vector<std::size_t> order(schemata_.mutants.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            return schemata_.mutants[a].rank < schemata_.mutants[b].rank;
        });
        std::vector<Mutant> sorted;
        std::vector<std::size_t> number_of(order.size() + 1);
        for (const std::size_t old : order) {
            sorted.push_back(std::move(schemata_.mutants[old]));
            number_of[old + 1] = sorted.size();
        }
        schemata_.mutants = std::move(sorted);
        for (auto& [range, slot] : slots_) {
            for (Alternative& one : slot.alternatives) one.mutant = number_of[one.mutant];
            std::erase_if(slot.alternatives,
                          [&](const Alternative& one) { return left_out_.contains(one.mutant); });
        }
        std::erase_if(slots_, [](const auto& place) { return place.second.alternatives.empty(); });
    }

    void mutate_body(const Body& body) {
        names_.clear();
        read_parameters(body.parameters, body.block);
        read_locals(body.block);
        mutate_block(body.block);
    }

    /// The statements of a block, one after the other.
    void mutate_block(Range block) {
        std::size_t i = block.first;
        while (i < block.last) i = mutate_statement(i, block.last);
    }

    /// @returns the first token behind the statement
    std::size_t mutate_statement(std::size_t first, std::size_t end) {
        const std::string_view word = tokens_[first].text;
        if (word == "{") {
            mutate_block({first + 1, match_[first]});
            return match_[first] + 1;
        }
        if (word == ";" || word == "else" || word == "do") return first + 1;
        if (word == "if" || word == "while" || word == "for") {
            std::size_t open = first + 1;
            const bool constant = tokens_[open].is("constexpr");
            if (constant) ++open;
            if (open >= end || !tokens_[open].is("(")) return first + 1;
            if (!constant) mutate_header(word, {open + 1, match_[open]});
            return match_[open] + 1;
        }
        std::size_t last = first;
        while (last < end && !tokens_[last].is(";")) {
            if (openers.contains(tokens_[last].text) && match_[last] > last) {
                if (tokens_[last].is("{") && last > first &&
                    (tokens_[last - 1].is(")") || tokens_[last - 1].is("]"))) {
                    mutate_block({last + 1, match_[last]});  // of a lambda
                }
                last = match_[last];
            }
            ++last;
        }
        mutate_simple({first, std::min(last, end)});
        return std::min(last, end) + 1;
    }

    void mutate_header(std::string_view word, Range header) {
        std::size_t first = header.first, part = 0;
        for (std::size_t i = header.first; i <= header.last; ++i) {
            if (i < header.last && openers.contains(tokens_[i].text)) i = match_[i];
            if (i < header.last && !tokens_[i].is(";")) continue;
            const Range range{first, i};
            const bool condition = word != "for" || part == 1;
            if (condition) mutate_condition(range, word);
            if (word == "for" && part == 0) mutate_simple(range);
            if (word == "for" && part == 2) mutate_expressions(range);
            first = i + 1;
            ++part;
        }
    }

    void mutate_condition(Range range, std::string_view word) {
        if (range.size() == 0) return;
        for (std::size_t i = range.first; i < range.last; ++i)
            if (tokens_[i].is("=")) return mutate_expressions(range);
        if (word == "if") {
            add(range, SlotKind::condition, range, "false",
                fmt::format("the condition {} never holds", quoted(range)), 2);
            add(range, SlotKind::condition, range, "true",
                fmt::format("the condition {} is missing", quoted(range)), 1);
        }
        mutate_expressions(range);
    }

    /// A declaration, a return statement or an expression statement, without its semicolon.
    void mutate_simple(Range statement) {
        if (statement.size() == 0) return;
        const std::string_view word = tokens_[statement.first].text;
        if (word == "__shared__" || word == "extern" || word == "using" || word == "template" ||
            word == "struct")
            return;
        for (std::size_t i = statement.first; i < statement.last && i < statement.first + 3; ++i)
            if (tokens_[i].is("constexpr") || tokens_[i].is("__shared__")) return;
        const auto launch = std::find_if(tokens_.begin() + static_cast<std::ptrdiff_t>(statement.first),
                                         tokens_.begin() + static_cast<std::ptrdiff_t>(statement.last),
                                         [](const Token& token) { return token.is("<<<"); });
        if (launch != tokens_.begin() + static_cast<std::ptrdiff_t>(statement.last)) {
            mutate_launch(statement);
        } else if (is_expression(statement)) {
            for (const Range& part : parts(statement)) mutate_statement_part(part);
        } else if (!no_expression.contains(word) || word == "const" || word == "auto") {
            // Of a declaration, what is behind the first name: numbers in brackets before it are constants.
            while (statement.first < statement.last && !tokens_[statement.first].is("=") &&
                   !tokens_[statement.first].is("("))
                ++statement.first;
            if (statement.first < statement.last && tokens_[statement.first].is("=")) ++statement.first;
        }
        mutate_expressions(statement);
    }

    void mutate_launch(Range statement) {
        add(statement, SlotKind::launch, statement, "",
            fmt::format("the launch of {} is missing",
                        named({statement.first, statement.first + 1}, "a kernel")),
            2);
        const std::size_t close = statement.last - 1;
        if (!tokens_[close].is(")")) return;
        const std::vector<Range> arguments = parts({match_[close] + 1, close});
        for (const Range& argument : arguments) {
            if (argument.size() == 1 && tokens_[argument.first].kind == TokenKind::number) continue;
            add(argument, SlotKind::expression, argument, "rungs_one(" + text_of(argument) + ")",
                fmt::format("the argument {} of the kernel is 1", quoted(argument)), 1);
        }
        for (std::size_t i = 0; i + 1 < arguments.size(); ++i) {
            const Range both{arguments[i].first, arguments[i + 1].last};
            if (text_of(arguments[i]) == text_of(arguments[i + 1]) || !alike(arguments[i], arguments[i + 1]))
                continue;
            add(statement, SlotKind::launch, both, text_of(arguments[i + 1]) + ", " + text_of(arguments[i]),
                fmt::format("the arguments {} and {} of the kernel are exchanged", quoted(arguments[i]),
                            quoted(arguments[i + 1])),
                3);
        }
    }

    /// Whether two arguments may have one type: variables that do, or expressions of one form.
    bool alike(Range one, Range other) const {
        if (one.size() != other.size()) return false;
        if (one.size() == 1) {
            const Name *const a = name_at(one.first), *const b = name_at(other.first);
            return a && b && a->type == b->type;
        }
        for (std::size_t i = 0; i < one.size(); ++i) {
            const Token &a = tokens_[one.first + i], &b = tokens_[other.first + i];
            if (a.kind != b.kind || (a.kind == TokenKind::punctuator && a.text != b.text)) return false;
        }
        return true;
    }

    bool is_expression(Range statement) const {
        const Token& first = tokens_[statement.first];
        if (no_expression.contains(first.text)) return false;
        if (!first.is_identifier()) return first.is("*") || first.is("++") || first.is("--") || first.is("(");
        std::size_t i = statement.first + 1;
        while (i + 1 < statement.last && tokens_[i].is("::")) i += 2;
        if (i >= statement.last) return false;
        if (tokens_[i].is_identifier()) return false;                                    // a type and a name
        if (tokens_[i].is("<") && tokens_[i - 1].end == tokens_[i].begin) return false;  // a type's arguments
        return !((tokens_[i].is("*") || tokens_[i].is("&")) && !spaced(i));
    }

    /// The parts of a range between its own commas.
    std::vector<Range> parts(Range range) const {
        std::vector<Range> all;
        std::size_t first = range.first;
        for (std::size_t i = range.first; i < range.last; ++i) {
            if (openers.contains(tokens_[i].text) && match_[i] > i) i = match_[i];
            if (i < range.last && tokens_[i].is(",")) {
                all.push_back({first, i});
                first = i + 1;
            }
        }
        if (first < range.last) all.push_back({first, range.last});
        return all;
    }

    void mutate_statement_part(Range part) {
        if (tokens_[part.first].is("CUDA_CHECK")) return;
        const bool barrier = text_of(part).find("sync") != std::string::npos;
        add(part, SlotKind::statement, part, "",
            barrier ? fmt::format("a barrier, {}, is missing", quoted(part))
                    : fmt::format("{} is left out", named(part, "a statement")),
            1);
        for (std::size_t i = part.first; i < part.last; ++i) {
            if (openers.contains(tokens_[i].text) && match_[i] > i) {
                i = match_[i];
                continue;
            }
            if (!assignments.contains(tokens_[i].text)) continue;
            mutate_assignment(part, i);
            break;
        }
    }

    void mutate_assignment(Range part, std::size_t at) {
        const Range left{part.first, at}, right{at + 1, part.last}, op{at, at + 1};
        const std::string name = named(left, "a variable"), word(tokens_[at].text);
        if (word == "=") {
            if (is_value(right))
                add(part, SlotKind::statement, part,
                    fmt::format("rungs_add({}, {})", text_of(left), text_of(right)),
                    fmt::format("{} is added to, not replaced", name), 2);
            return;
        }
        add(part, SlotKind::statement, op, "=",
            fmt::format("{} is replaced, where the new value should be combined with the old", name), 1);
        if (word == "+=" || word == "-=") {
            add(part, SlotKind::statement, op,
                word == "+=" ? "-=" : "+=", fmt::format("what changes {} has the wrong sign", name), 1);
            const std::string target = text_of(left);
            add(part, SlotKind::statement, part,
                fmt::format("{} = static_cast<std::remove_reference_t<decltype({})>>(static_cast<long "
                            "long>({} {} ({})))",
                            target, target, target, word.substr(0, 1), text_of(right)),
                fmt::format("{} is an integer, which cuts off fractions", name), 1);
        }
    }

    // -- expressions

    /// All expressions in a range: its own parts between separators, and what is in brackets.
    void mutate_expressions(Range range) {
        std::size_t first = range.first;
        for (std::size_t i = range.first; i <= range.last; ++i) {
            const bool end = i == range.last;
            const std::string_view text = end ? ";" : tokens_[i].text;
            const bool separates = end || text == "," || text == ";" || text == "?" || text == ":" ||
                                   text == "return" || text == "<<<" || assignments.contains(text);
            if (separates) {
                if (!assignments.contains(text))
                    mutate_expression({first, i});  // what is assigned to is no value
                first = i + 1;
                continue;
            }
            if (openers.contains(text) && match_[i] > i) {
                const bool runs = i == 0 || !not_run.contains(tokens_[i - 1].text);
                const bool block = text == "{" && i > range.first && tokens_[i - 1].is(")");
                if (runs && !block) mutate_expressions({i + 1, match_[i]});
                i = match_[i];
            }
        }
    }

    /// One expression without commas, assignments and conditions of its own.
    void mutate_expression(Range slot) {
        if (slot.size() == 0 || slot.last > tokens_.size() || !is_value(slot)) return;
        std::vector<std::size_t> operators;
        for (std::size_t i = slot.first; i < slot.last; ++i) {
            if (openers.contains(tokens_[i].text) && match_[i] > i) {
                i = match_[i];
                continue;
            }
            if (is_binary(i, comparisons) || is_binary(i, logical) || is_binary(i, additive) ||
                is_binary(i, multiplicative))
                operators.push_back(i);
        }
        for (const std::size_t i : operators) {
            if (is_binary(i, logical)) mutate_logical(slot, operators, i);
            if (is_binary(i, comparisons)) mutate_comparison(slot, operators, i);
            if (is_binary(i, additive)) mutate_sum(slot, operators, i);
            if (is_binary(i, multiplicative)) mutate_product(slot, operators, i);
        }
        mutate_words(slot);
    }

    /// Whether a range is a value and no declaration: `const dim3 block` is none.
    bool is_value(Range slot) const {
        for (std::size_t i = slot.first; i < slot.last; ++i)
            if (tokens_[i].is("{") || tokens_[i].is(";")) return false;  // a lambda, or a list
        for (std::size_t i = slot.first; i < slot.last; ++i) {
            if (no_expression.contains(tokens_[i].text)) return false;
            if (openers.contains(tokens_[i].text) && match_[i] > i) i = match_[i];
            if (i > slot.first && i < slot.last && tokens_[i].is_identifier() &&
                tokens_[i - 1].is_identifier())
                return false;
        }
        return !tokens_[slot.first].is("[") && !tokens_[slot.first].is("{");
    }

    /// The operand beside an operator: as far as the next operator that binds no more than `level` does.
    Range operand(Range slot, const std::vector<std::size_t>& operators, std::size_t at, bool behind,
                  int level) const {
        Range range = behind ? Range{at + 1, slot.last} : Range{slot.first, at};
        for (const std::size_t other : operators) {
            if (level_of(other) > level) continue;
            if (behind && other > at) {
                range.last = other;
                break;
            }
            if (!behind && other < at) range.first = other + 1;
        }
        return range;
    }

    int level_of(std::size_t i) const {
        if (is_binary(i, logical)) return tokens_[i].is("||") ? 0 : 1;
        if (is_binary(i, comparisons)) return 2;
        return is_binary(i, additive) ? 3 : 4;
    }

    void mutate_logical(Range slot, const std::vector<std::size_t>& operators, std::size_t at) {
        const Range before = operand(slot, operators, at, false, level_of(at)),
                    behind = operand(slot, operators, at, true, level_of(at));
        add(slot, SlotKind::expression, {before.first, at + 1}, "",
            fmt::format("the condition {} is missing", quoted(before)), 0);
        add(slot, SlotKind::expression, {at, behind.last}, "",
            fmt::format("the condition {} is missing", quoted(behind)), 0);
    }

    void mutate_comparison(Range slot, const std::vector<std::size_t>& operators, std::size_t at) {
        static const std::map<std::string_view, std::vector<const char*>> others = {
            {"<", {"<=", ">"}}, {"<=", {"<", ">"}}, {">", {">=", "<"}},
            {">=", {">", "<"}}, {"==", {"!="}},     {"!=", {"=="}}};
        const Range before = operand(slot, operators, at, false, 2),
                    behind = operand(slot, operators, at, true, 2);
        const std::string whole = quoted({before.first, behind.last});
        for (const char* other : others.at(tokens_[at].text)) {
            add(slot, SlotKind::expression, {at, at + 1}, other,
                fmt::format("`{}` in {} is `{}`", tokens_[at].text, whole, other),
                std::string_view(other).substr(0, 1) == tokens_[at].text.substr(0, 1) ? 0 : 2);
        }
        add(slot, SlotKind::expression, {at, at + 1}, std::string(tokens_[at].text) + " -1 +",
            fmt::format("the bound in {} is one too small", whole), 1);
    }

    void mutate_sum(Range slot, const std::vector<std::size_t>& operators, std::size_t at) {
        const Range before = operand(slot, operators, at, false, 3),
                    behind = operand(slot, operators, at, true, 3);
        const bool plus = tokens_[at].is("+");
        add(slot, SlotKind::expression, {at, behind.last}, "",
            fmt::format("{} is not {}", named(behind, "a term"), plus ? "added" : "subtracted"), 0);
        add(slot, SlotKind::expression, {at, at + 1}, plus ? "-" : "+",
            fmt::format("the sign of {} is reversed", named(behind, "a term")), 0);
        const bool first = before.first == slot.first || level_of(before.first - 1) < 3;
        if (!first || is_pointer(before)) return;
        add(slot, SlotKind::expression, {before.first, plus ? at + 1 : at}, "",
            fmt::format("{} is left out of a sum", named(before, "a term")), 0);
        add(slot, SlotKind::expression, before, "rungs_minus(" + text_of(before) + ")",
            fmt::format("the sign of {} is reversed", named(before, "a term")), 1);
        const Range all{before.first, behind.last};
        add(slot, SlotKind::expression, all, "rungs_minus(" + text_of(all) + ")",
            fmt::format("the sign of {} is reversed", named(all, "a sum")), 1);
    }

    bool is_pointer(Range range) const {
        if (range.size() != 1) return false;
        const Name* const name = name_at(range.first);
        return name && name->type.ends_with("* ");
    }

    void mutate_product(Range slot, const std::vector<std::size_t>& operators, std::size_t at) {
        const Range before = operand(slot, operators, at, false, 4),
                    behind = operand(slot, operators, at, true, 4);
        const bool times = tokens_[at].is("*");
        const std::string missing = tokens_[at].is("%") ? "the remainder of the division by {} is not taken"
                                    : times             ? "the factor {} is missing"
                                                        : "the division by {} is missing";
        add(slot, SlotKind::expression, {at, behind.last}, "",
            fmt::format(fmt::runtime(missing), named(behind, "of a product")), 0);
        if (times) {
            // In a / b * c the operator before it belongs to b.
            if (before.first == slot.first || level_of(before.first - 1) < 4)
                add(slot, SlotKind::expression, {before.first, at + 1}, "",
                    fmt::format("the factor {} is missing", named(before, "of a product")), 0);
            if (text_of(before) == text_of(behind)) {
                const std::string value = text_of(before);
                add(slot, SlotKind::expression, {before.first, behind.last},
                    fmt::format("({} < 0 ? -({}) : {})", value, value, value),
                    fmt::format("the magnitude of {} is taken, not its square", named(before, "a value")), 0);
            }
        }
        if (!tokens_[at].is("/")) return;
        add(slot, SlotKind::expression, {at, at + 1}, "*",
            fmt::format("{} multiplies instead of dividing", named(behind, "a divisor")), 1);
        // (a + b) / c, term by term: another thing for integers.
        if (before.size() < 3 || !tokens_[before.last - 1].is(")") || match_[before.last - 1] != before.first)
            return;
        std::string terms;
        for (std::size_t i = before.first + 1; i < before.last - 1; ++i) {
            if (openers.contains(tokens_[i].text)) {
                terms += text_of({i, match_[i] + 1});
                i = match_[i];
            } else if (is_binary(i, additive)) {
                terms += " / " + text_of(behind) + " " + std::string(tokens_[i].text) + " ";
            } else {
                terms += std::string(tokens_[i].text) + " ";
            }
        }
        add(slot, SlotKind::expression, {before.first, behind.last},
            "(" + terms + " / " + text_of(behind) + ")",
            fmt::format("each term is divided by {} before they are added, which loses digits",
                        named(behind, "the divisor")),
            0);
    }

    /// Names, numbers and calls in an expression.
    void mutate_words(Range slot) {
        for (std::size_t i = slot.first; i < slot.last; ++i) {
            const Token& token = tokens_[i];
            if (openers.contains(token.text) && match_[i] > i) {
                i = match_[i];  // these are slots of their own
                continue;
            }
            const Range here{i, i + 1};
            if (token.kind == TokenKind::number) mutate_number(slot, i);
            if (token.is("!") && i + 1 < slot.last) {
                const bool group = tokens_[i + 1].is("(");
                const std::size_t end = group ? match_[i + 1] + 1 : i + 2;
                add(slot, SlotKind::expression, here, "",
                    fmt::format("{} is not negated", quoted({i + 1, end})), 1);
            }
            if (!token.is_identifier()) continue;
            const bool member = i > 0 && (tokens_[i - 1].is(".") || tokens_[i - 1].is("->"));
            const bool call = i + 1 < tokens_.size() && tokens_[i + 1].is("(");
            if (member) {
                mutate_axis(slot, i);
            } else if (call) {
                mutate_call(slot, i);
            } else {
                mutate_name(slot, i);
            }
        }
    }

    void mutate_number(Range slot, std::size_t at) {
        const std::string text(tokens_[at].text);
        const Range here{at, at + 1};
        if (text.find_first_not_of("0123456789") == std::string::npos && text.size() < 7) {
            const long value = std::stol(text);
            for (const long other : {value + 1, value - 1}) {
                if (other < 0) continue;
                add(slot, SlotKind::expression, here, std::to_string(other),
                    slot.size() == 1 ? fmt::format("a number is {} instead of {}", other, value)
                                     : fmt::format("the number {} in {} is {}", value, quoted(slot), other),
                    1);
            }
        } else if (text.find('.') != std::string::npos &&
                   std::isdigit(static_cast<unsigned char>(text.back()))) {
            add(slot, SlotKind::expression, here, text + "f",
                fmt::format("the constant `{}` is a float", text), 3);
        }
    }

    void mutate_axis(Range slot, std::size_t at) {
        static const Words axes = {"x", "y", "z"};
        if (!axes.contains(tokens_[at].text) || at < 2) return;
        for (const std::string_view other : axes) {
            if (other == tokens_[at].text) continue;
            add(slot, SlotKind::expression, {at, at + 1}, std::string(other),
                tokens_[at - 2].is_identifier()
                    ? fmt::format("`{0}.{1}` is used for `{0}.{2}`", tokens_[at - 2].text, other,
                                  tokens_[at].text)
                    : fmt::format("`{}` is used for `{}`", other, tokens_[at].text),
                2);
        }
    }

    void mutate_call(Range slot, std::size_t at) {
        const std::string_view name = tokens_[at].text;
        const std::size_t close = match_[at + 1];
        if (close >= slot.last) return;
        if (name == "min" || name == "max") {
            const char* const other = name == "min" ? "max" : "min";
            add(slot, SlotKind::expression, {at, at + 1}, other,
                fmt::format("`{}` is taken where `{}` should be", other, name), 0);
        }
        static const Words plain = {"sqrt",   "sqrtf", "fabs", "fabsf", "abs",
                                    "rsqrtf", "rsqrt", "exp",  "expf"};
        std::size_t first = at;
        while (first >= slot.first + 2 && tokens_[first - 1].is("::")) first -= 2;
        if (plain.contains(name))
            add(slot, SlotKind::expression, {first, close + 1}, text_of({at + 1, close + 1}),
                fmt::format("`{}` is missing", name), 0);
    }

    // -- names of one type

    struct Name {
        std::string type, name;
        std::size_t at, end;  ///< where it is declared, and where its scope ends
    };

    /// The name that is meant by a token; null: it is none that was noted.
    const Name* name_at(std::size_t token) const {
        for (auto one = names_.rbegin(); one != names_.rend(); ++one)
            if (one->at < token && token < one->end && one->name == tokens_[token].text) return &*one;
        return nullptr;
    }

    void read_parameters(Range list, Range body) {
        for (const Range& one : parts(list)) {
            std::size_t last = one.last;
            for (std::size_t i = one.first; i < one.last; ++i)
                if (tokens_[i].is("=")) last = i;
            if (last < one.first + 2 || !tokens_[last - 1].is_identifier()) continue;
            note_name({one.first, last - 1}, last - 1);
            names_.back().end = body.last;
        }
    }

    void note_name(Range type, std::size_t name) {
        std::string text;
        const bool points = type.size() > 0 && tokens_[type.last - 1].is("*");
        for (std::size_t i = type.first; i < type.last; ++i)
            if (!tokens_[i].is("static") && !(tokens_[i].is("const") && !points))
                text += std::string(tokens_[i].text) + " ";
        names_.push_back({text, std::string(tokens_[name].text), name, scope_end(name)});
    }

    std::size_t scope_end(std::size_t token) const {
        std::size_t inner = 0;
        bool found = false;
        for (std::size_t i = token; i-- > 0 && !found;) {
            if (match_[i] <= token) continue;
            // What is declared in a loop's header, or is a lambda's parameter, lives as long as the body.
            const bool loop =
                i > 0 && tokens_[i].is("(") && (tokens_[i - 1].is("for") || tokens_[i - 1].is("]"));
            if (!loop && !tokens_[i].is("{")) continue;
            inner = match_[i];
            found = true;
            if (!loop) continue;
            std::size_t end = inner + 1;
            if (tokens_[end].is("{")) return match_[end];
            while (end < tokens_.size() && !tokens_[end].is(";")) end = std::max(end, match_[end]) + 1;
            return end;
        }
        return found ? inner : tokens_.size();
    }

    void read_locals(Range body) {
        static const Words begins = {"{", "}", ";", "(", ")", "else"};
        for (std::size_t i = body.first; i < body.last; ++i) {
            if (i == 0 || !begins.contains(tokens_[i - 1].text)) continue;
            std::size_t type = i;
            while (type < body.last && (tokens_[type].is("const") || tokens_[type].is("static"))) ++type;
            std::size_t end = type;
            if (!tokens_[end].is_identifier() ||
                (no_expression.contains(tokens_[end].text) && !tokens_[end].is("auto")))
                continue;
            ++end;
            while (end + 1 < body.last && tokens_[end].is("::")) end += 2;
            if (tokens_[end].is("<") && tokens_[end - 1].end == tokens_[end].begin) {
                while (end < body.last && !tokens_[end].is(">")) ++end;
                ++end;
            }
            while (end < body.last && (tokens_[end].is("*") || tokens_[end].is("const"))) ++end;
            if (end + 1 >= body.last || !tokens_[end].is_identifier()) continue;
            const std::string_view next = tokens_[end + 1].text;
            if (next != "=" && next != ";" && next != "," && next != "(" && next != "{") continue;
            note_name({type, end}, end);
            for (std::size_t j = end + 1; j < body.last && !tokens_[j].is(";"); ++j) {
                if (openers.contains(tokens_[j].text) && match_[j] > j) {
                    j = match_[j];
                } else if (closers.contains(tokens_[j].text)) {
                    break;
                } else if (tokens_[j].is(",") && tokens_[j + 1].is_identifier() &&
                           !tokens_[j + 2].is_identifier() && !tokens_[j + 2].is("*") &&
                           !tokens_[j + 2].is("&")) {
                    note_name({type, end}, j + 1);
                }
            }
        }
    }

    void mutate_name(Range slot, std::size_t at) {
        const std::string name(tokens_[at].text);
        const Name* const own = name_at(at);
        if (!own || own->type.find("auto") != std::string::npos || tokens_[at - 1].is("++") ||
            tokens_[at - 1].is("--") || tokens_[at - 1].is("&") || tokens_[at + 1].is("++"))
            return;
        const int most = own->type == "int " ? 2 : 3;
        int count = 0;
        for (auto other = names_.rbegin(); other != names_.rend() && count < most; ++other) {
            if (other->name == name || other->at > at || other->end < at) continue;
            if (other->type != own->type && "const " + other->type != own->type) continue;
            add(slot, SlotKind::expression, {at, at + 1}, other->name,
                fmt::format("`{}` is used where `{}` should be", other->name, name), 4);
            ++count;
        }
    }

    // -- the mutated text

    void write() {
        put("#include <cstdlib>\n#include <type_traits>\n");
        put(fmt::format("static int rungs_next_mutant = -1;\nstatic __managed__ int {};\n", chosen));
        // A launcher that another one calls is part of the same call.
        put(
            fmt::format("static int rungs_launchers = 0;\n"
                        "struct RungsCall {{\n"
                        "    RungsCall() {{\n"
                        "        if (rungs_launchers++ > 0) return;\n"
                        "        if (rungs_next_mutant < 0) "
                        "rungs_next_mutant = std::atoi(std::getenv(\"RUNGS_SIMT_SEED\"));\n"
                        "        {} = rungs_next_mutant++;\n"
                        "    }}\n"
                        "    ~RungsCall() {{ --rungs_launchers; }}\n"
                        "}};\n",
                        chosen));
        put("template <class T> __host__ __device__ inline auto rungs_minus(const T& value) {\n"
            "    if constexpr (requires { -value; }) return -value; else return value;\n}\n"
            "template <class T> __host__ __device__ inline T rungs_one(const T& value) {\n"
            "    if constexpr (std::is_floating_point_v<T>) return T(1); else return value;\n}\n"
            "template <class T, class U> __host__ __device__ inline void rungs_add(T& value, const U& more) "
            "{\n"
            "    if constexpr (requires { value += more; }) value += more; else value = more;\n}\n");
        write_range(0, source_.size());
    }

    void put(std::string_view text) {
        schemata_.text += text;
        for (const char c : text)
            if (c == '\n') schemata_.suspects.push_back(suspects_);
    }

    std::size_t begin_of(const Range& range) const { return tokens_[range.first].begin; }
    std::size_t end_of(const Range& range) const { return tokens_[range.last - 1].end; }

    /// Bytes of the source, with the slots in them.
    void write_range(std::size_t begin, std::size_t end) {
        std::size_t at = begin;
        while (at < end) {
            const Range* next = nullptr;
            for (const auto& [range, slot] : slots_) {
                if (open_.contains(range) || begin_of(range) < at || end_of(range) > end) continue;
                if (!next || begin_of(range) < begin_of(*next) ||
                    (begin_of(range) == begin_of(*next) && end_of(range) > end_of(*next)))
                    next = &range;
            }
            const std::size_t until = next ? begin_of(*next) : end;
            write_plain(at, until);
            if (!next) return;
            write_slot(*next);
            at = end_of(*next);
        }
    }

    /// Text of the source in which a launcher chooses the mutant.
    void write_plain(std::size_t begin, std::size_t end) {
        for (const std::size_t body : launcher_bodies_) {
            const std::size_t at = tokens_[body].end;
            if (at <= begin || at > end) continue;
            put(std::string_view(source_).substr(begin, at - begin));
            put("\n    const RungsCall rungs_call;");
            begin = at;
        }
        put(std::string_view(source_).substr(begin, end - begin));
    }

    void write_slot(const Range& range) {
        const Slot& slot = slots_.at(range);
        open_.insert(range);
        std::vector<std::size_t> around = std::move(suspects_);
        suspects_.clear();
        for (const Alternative& one : slot.alternatives) suspects_.push_back(one.mutant);
        if (slot.kind == SlotKind::launch) {
            put("{\n");
            for (const Alternative& one : slot.alternatives)
                own_line(one, fmt::format("if ({} == {}) {{ {}; }} else\n", chosen, one.mutant, one.text));
            put("{ ");
            write_range(begin_of(range), end_of(range));
            put("; } }");
        } else {
            const bool statement = slot.kind == SlotKind::statement;
            put("(\n");
            for (const Alternative& one : slot.alternatives)
                own_line(one, fmt::format("{} == {} ? {}({}) :\n", chosen, one.mutant,
                                          statement ? "void" : "", one.text));
            put(statement ? "void(" : slot.kind == SlotKind::condition ? "bool(" : "(");
            write_range(begin_of(range), end_of(range));
            put("))");
        }
        open_.erase(range);
        suspects_ = std::move(around);
    }

    void own_line(const Alternative& one, const std::string& text) {
        put(text);
        schemata_.suspects.back() = {one.mutant};
    }

    const std::string& source_;
    const std::set<std::string>& launchers_;
    const std::set<std::size_t>& left_out_;
    const cu2cpp::Lexed lexed_;
    const std::vector<Token>& tokens_;
    std::vector<std::size_t> match_;
    std::set<std::string> known_;
    std::vector<Region> regions_;
    std::vector<Body> bodies_;
    std::set<std::size_t> launcher_bodies_;
    std::vector<Name> names_;
    std::map<Range, Slot> slots_;
    std::set<Range> open_;  ///< slots that are being written
    Schemata schemata_;
    std::vector<std::size_t> suspects_;  ///< the mutants of the slot that is being written
};

}  // namespace

Schemata mutate(const std::string& reference, const std::set<std::string>& launchers,
                const std::set<std::size_t>& left_out) {
    return Mutator(reference, launchers, left_out).run();
}

}  // namespace rungs::judge
