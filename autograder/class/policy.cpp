#include "class/policy.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "class/csv.hpp"
#include "class/identity.hpp"
#include "judge/result/clean_text.hpp"
#include "rungs/atomic_file.hpp"
#include "rungs/toml.hpp"

namespace rungs::classroom {
namespace {

namespace fs = std::filesystem;

/// How many budgets a hand-in may use up, unless the instructor says: more than an honest one needs on a slow
/// machine with much else to do.
constexpr double budgets_at_most = 12;

/// assignment.toml: knows how to say where something is wrong.
class Reader {
  public:
    explicit Reader(const fs::path& file) : file_(file.string()) {}

    std::string place(const toml::source_region& where) const {
        return fmt::format("{}:{}:{}", file_, where.begin.line, where.begin.column);
    }

    [[noreturn]] void refuse(const toml::source_region& where, const std::string& what) const {
        throw ClassError(place(where) + ": " + what);
    }

    /// A misspelt key would silently change a grade, so every key must be known.
    void only(const toml::table& table, const std::set<std::string>& known) const {
        for (const auto& [key, value] : table) {
            if (!known.count(std::string(key.str()))) {
                refuse(key.source(), fmt::format("unknown key '{}'; expected one of: {}", key.str(),
                                                 fmt::join(known, ", ")));
            }
        }
    }

    std::string text(const toml::node& node, const std::string& what) const {
        const auto value = node.value_exact<std::string>();
        if (!value || value->empty()) refuse(node.source(), what + " must be a text in quotes");
        return *value;
    }

    double number(const toml::node& node, const std::string& what, double least, double most) const {
        const auto value = node.value<double>();
        if (!value || !node.is_number() || !(*value >= least && *value <= most))
            refuse(node.source(), fmt::format("{} must be a number from {} to {}", what, least, most));
        return *value;
    }

    /// The number at `key`, if it is there.
    void number(const toml::table& table, const char* key, double most, double& value) const {
        if (const toml::node* node = table.get(key)) value = number(*node, fmt::format("'{}'", key), 0, most);
    }

    const toml::table* table(const toml::table& parent, const char* key) const {
        const toml::node* node = parent.get(key);
        if (node && !node->is_table())
            refuse(node->source(), fmt::format("'{0}' must be a table: [{0}]", key));
        return node ? node->as_table() : nullptr;
    }

  private:
    std::string file_;
};

Time time_of(const Reader& in, const toml::node& node) {
    if (const auto* written = node.as_date_time()) {
        const toml::date_time value = written->get();
        if (!value.offset)
            in.refuse(node.source(), "'due' needs an offset, such as +01:00 or Z: whose midnight is it?");
        std::ostringstream text;
        text << value;
        if (const std::optional<Time> time = parse_time(text.str())) return *time;
    }
    in.refuse(node.source(), "'due' must be a date with time and offset: 2026-01-31T23:59:00+01:00");
}

}  // namespace

Policy read_policy(const fs::path& file) {
    const Reader in(file);
    toml::table table;
    try {
        table = toml::parse(read_file(file), file.string());
    } catch (const toml::parse_error& error) {
        in.refuse(error.source(), std::string(error.description()));
    } catch (const std::logic_error& error) {
        throw ClassError(file.string() + ": " + error.what());
    }
    in.only(table, {"title", "due", "rungs", "attempts", "roster", "round_to", "least_sandbox",
                    "budget_minutes", "most_minutes", "late", "weights"});
    Policy policy;
    Assignment& assignment = policy.assignment;
    if (const toml::node* node = table.get("title")) assignment.title = in.text(*node, "'title'");
    if (const toml::node* node = table.get("due")) assignment.due = time_of(in, *node);
    if (const toml::node* node = table.get("rungs")) {
        const toml::array* names = node->as_array();
        if (!names || names->empty())
            in.refuse(node->source(), "'rungs' must be a list: [\"01\", \"03/04\"]");
        for (const toml::node& name : *names)
            policy.rungs.push_back({in.text(name, "an entry of 'rungs'"), in.place(name.source())});
    }
    if (const toml::node* node = table.get("attempts")) {
        const std::string which = in.text(*node, "'attempts'");
        if (which != "best" && which != "last")
            in.refuse(node->source(), "'attempts' must be \"best\" or \"last\": which one counts?");
        assignment.counts = which == "best" ? Counts::best : Counts::last;
    }
    if (const toml::node* node = table.get("roster"))
        policy.roster = file.parent_path() / in.text(*node, "'roster'");
    if (const toml::node* node = table.get("least_sandbox")) {
        assignment.least_sandbox = in.text(*node, "'least_sandbox'");
        static const std::set<std::string> levels{"S0", "S1", "S2", "S3", "S4"};
        if (!levels.count(assignment.least_sandbox))
            in.refuse(node->source(), "'least_sandbox' must be one of \"S0\" to \"S4\"");
    }
    in.number(table, "round_to", 1000, assignment.round_to);
    double minutes = assignment.budget_seconds / 60;
    in.number(table, "budget_minutes", 24 * 60, minutes);
    assignment.budget_seconds = 60 * minutes;
    double most = budgets_at_most * minutes;
    in.number(table, "most_minutes", 7 * 24 * 60, most);
    assignment.most_seconds = 60 * most;
    if (const toml::table* late = in.table(table, "late")) {
        in.only(*late, {"grace_minutes", "percent_per_day", "most_days"});
        in.number(*late, "grace_minutes", 1e6, assignment.late.grace_minutes);
        in.number(*late, "percent_per_day", 100, assignment.late.percent_per_day);
        in.number(*late, "most_days", 1e4, assignment.late.most_days);
        if (!assignment.due) in.refuse(late->source(), "[late] needs to know when it is 'due'");
    }
    if (const toml::table* weights = in.table(table, "weights")) {
        for (const auto& [chapter, weight] : *weights) {
            policy.weights[std::string(chapter.str())] = in.number(weight, "the weight of a chapter", 0, 1e6);
        }
    }
    return policy;
}

bool good_id(const std::string& id) {
    if (id.empty() || id.size() > 100 || clean_name(id) != id) return false;
    return std::string(".-@+_ ").find(id.front()) == std::string::npos && id.back() != ' ' &&
           id.find_first_of("/\\:*?\"<>|'`$;&(){}[]!#%^~=,") == std::string::npos;
}

std::vector<Person> read_roster(const fs::path& file, const Assignment& assignment) {
    const std::vector<CsvRow> rows = parse_csv(read_file(file), file.string());
    const auto refuse = [&](const CsvRow& row, const std::string& what) {
        throw ClassError(fmt::format("{}:{}: {}", file.string(), row.line, what));
    };
    if (rows.empty())
        throw ClassError(file.string() + ": the roster is empty; its first line names the columns");
    const std::vector<std::string>& columns = rows[0].cells;
    const std::set<std::string> names(columns.begin(), columns.end());
    if (names.size() != columns.size()) refuse(rows[0], "a column occurs twice");
    if (!names.count("id")) {
        std::string what =
            "no column 'id'; the columns are: " + clean_name(fmt::format("{}", fmt::join(columns, ", ")));
        if (rows[0].cells.size() == 1 && columns[0].find_first_of(";\t") != std::string::npos)
            what += "; commas have to separate them";  // spreadsheets of many countries write others
        refuse(rows[0], what);
    }
    std::vector<Person> people;
    std::map<std::string, std::string> ids;  // in small letters, and as they are
    for (std::size_t i = 1; i < rows.size(); ++i) {
        const CsvRow& row = rows[i];
        Person person;
        for (std::size_t k = 0; k < columns.size(); ++k) {
            if (clean_utf8(row.cells[k]) != row.cells[k])
                refuse(row, fmt::format("'{}' is not UTF-8, or holds control characters", columns[k]));
            person.columns[columns[k]] = row.cells[k];
        }
        person.id = person.column("id");
        person.name = person.column("name");
        person.email = person.column("email");
        person.login = person.column("login");
        if (!good_id(person.id))
            refuse(row, fmt::format(
                            "the id '{}' cannot be the name of a folder; use letters, digits and . _ - @ +",
                            clean_name(person.id)));
        if (folded(person.id).starts_with(unlisted))
            refuse(row,
                   fmt::format("the id '{}' begins like the names for students who are not on the roster",
                               person.id));
        if (const auto [other, fresh] = ids.emplace(folded(person.id), person.id); !fresh) {
            refuse(row,
                   other->second == person.id
                       ? fmt::format("the id '{}' occurs twice", person.id)
                       : fmt::format("the ids '{}' and '{}' differ only in case, and so would their files",
                                     other->second, person.id));
        }
        if (const std::string extension = person.column("extension"); !extension.empty()) {
            long long minutes = 0;
            const auto [rest, error] =
                std::from_chars(extension.data(), extension.data() + extension.size(), minutes);
            const bool number = error == std::errc() && rest == extension.data() + extension.size();
            if (number && assignment.due && minutes >= 0 && minutes < 10'000'000) {
                person.due = *assignment.due + 60 * minutes;
            } else {
                person.due = parse_time(extension);
            }
            if (!person.due) {
                refuse(row, fmt::format(
                                "the extension '{}' is neither minutes{} nor a time with its offset, such as "
                                "2026-01-31T23:59:00+01:00",
                                extension, assignment.due ? "" : " (there is no 'due' to extend)"));
            }
        }
        // A time that is not understood would be none, and so punctual.
        if (const std::string time = person.column("handed_in"); !time.empty() && !parse_time(time)) {
            refuse(row, fmt::format("'handed_in' is '{}', which is not a time with its offset, such as "
                                    "2026-01-31T23:59:00+01:00",
                                    time));
        }
        people.push_back(std::move(person));
    }
    return people;
}

}  // namespace rungs::classroom
