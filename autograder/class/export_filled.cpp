// Scores in a gradebook that Canvas or Moodle has exported: they know their students by their own export
// alone.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "class/export.hpp"
#include "class/spreadsheet.hpp"
#include "report/text.hpp"

namespace rungs::classroom {
namespace {

using Row = std::vector<CsvCell>;
using Values = std::vector<std::string>;

std::string plain(std::string_view text) { return trimmed(std::string(text)); }

/// "7.5", "7,5"; nothing for what is no number.
std::optional<double> number_in(std::string text) {
    std::replace(text.begin(), text.end(), ',', '.');
    double value = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || rest != text.data() + text.size()) return std::nullopt;
    return value;
}

/// A column that tells who a row is.
struct Identity {
    std::size_t column;
    std::string heading;
    /// What the roster says it has to be; empty: the roster does not say.
    std::function<Values(const Person&, const std::string& cell)> told;
};

/// The values of a roster's columns of that heading.
Values roster_has(const Person& person, std::initializer_list<const char*> headings) {
    Values values;
    for (const auto& [heading, value] : person.columns) {
        for (const char* wanted : headings) {
            if (folded(plain(heading)) == wanted && !plain(value).empty()) values.push_back(plain(value));
        }
    }
    return values;
}

/// A login, or the address that stands in for one.
Values login_of(const Person& person, const std::string& cell) {
    const bool address = cell.find('@') != std::string::npos;
    Values values;
    for (const std::string& one : {person.login, person.email}) {
        if (!one.empty() && (one.find('@') != std::string::npos) == address) values.push_back(one);
    }
    return values;
}

/// How identity columns are headed, and what they are compared with.
std::vector<Identity> identities_of(const Row& heading, const FillOptions& options) {
    std::vector<Identity> found;
    for (std::size_t i = 0; i < heading.size(); ++i) {
        const std::string name = folded(plain(heading[i].text));
        Identity one{i, plain(heading[i].text), {}};
        if (!options.match.empty()) {
            if (name != folded(options.match)) continue;
            one.told = [name](const Person& person, const std::string& cell) {
                Values values = roster_has(person, {name.c_str()});
                if (values.empty()) values = login_of(person, cell);
                return values;
            };
        } else if (name == "id" || name == "identifier" || name == "integration id") {
            // Numbers of the platform's own. Where the roster has no such column they may be its ids; its
            // column "id" is its own and says nothing of Canvas's.
            one.told = [name](const Person& person, const std::string&) {
                return name == "id" ? roster_has(person, {"canvas id"})
                                    : roster_has(person, {name.c_str(), "participant"});
            };
        } else if (name == "sis user id" || name == "id number") {
            one.told = [](const Person& person, const std::string&) {
                return roster_has(person, {"sis user id", "sis id", "sis_id", "id number"});
            };
        } else if (name == "sis login id" || name == "username") {
            one.told = [](const Person& person, const std::string& cell) { return login_of(person, cell); };
        } else if (name == "email address" || name == "email") {
            one.told = [](const Person& person, const std::string&) {
                return person.email.empty() ? Values() : Values{person.email};
            };
        } else {
            continue;
        }
        found.push_back(std::move(one));
    }
    return found;
}

/// "Participant 123" names what the roster calls 123.
std::string without_word(const std::string& cell) {
    const std::size_t blank = cell.find_last_of(' ');
    const std::string last = blank == std::string::npos ? cell : cell.substr(blank + 1);
    const bool number = std::all_of(last.begin(), last.end(), [](char c) { return c >= '0' && c <= '9'; });
    return number && !last.empty() ? last : cell;
}

/// Whether a row may be a person's, and whether something in it says that it is not.
struct Match {
    bool yes = false;
    std::string no;  ///< the column that says no
};

Match match(const Row& row, const std::vector<Identity>& identities, const Person& person) {
    Match match;
    for (const Identity& identity : identities) {
        if (identity.column >= row.size()) continue;
        const std::string cell = plain(row[identity.column].text);
        if (cell.empty()) continue;
        Values values = identity.told(person, cell);
        const bool told = !values.empty();
        if (!told) values.push_back(person.id);
        const bool same = std::any_of(values.begin(), values.end(), [&](const std::string& value) {
            return folded(value) == folded(cell) || folded(value) == folded(without_word(cell));
        });
        if (same) match.yes = true;
        if (!same && told) match.no = identity.heading;
    }
    return match;
}

/// What differs between the exports of two platforms.
struct Layout {
    std::size_t first_row = 1;
    std::size_t column = 0;  ///< to fill
    std::vector<Identity> identities;
    std::function<bool(const Row&)> is_student;
    std::function<std::optional<std::string>(const Row&)> most;  ///< the cell with the column's maximum
    std::function<bool(const std::string&)> keeps;               ///< what a cell says that has to stay
};

/// A student in a list of them: one line, whatever the name.
std::string who(const Person& person) {
    if (person.name.empty()) return clean_name(person.id);
    return fmt::format("{} ({})", first_line(clean_name(person.name), 40), clean_name(person.id));
}

class Filler {
  public:
    Filler(const Gradebook& book, const CsvFile& file, const FillOptions& options, const Layout& layout)
        : book_(book), file_(file), options_(options), layout_(layout), row_of_(book.students.size()) {}

    FilledIn fill() {
        if (layout_.identities.empty()) {
            refuse(options_.match.empty()
                       ? "no column identifies the students; name one with --match"
                       : fmt::format("there is no column '{}'; its columns: {}", options_.match, headings()));
        }
        for (std::size_t i = layout_.first_row; i < file_.rows.size(); ++i) {
            if (layout_.is_student(file_.rows[i])) find(i);
        }
        if (!problems_.empty()) list_problems();
        FilledIn filled;
        std::vector<CsvFile::Change> changes;
        for (std::size_t s = 0; s < book_.students.size(); ++s) {
            const Student& student = book_.students[s];
            if (!row_of_[s]) {
                if (student.score) filled.without.push_back(who(student.person));
                continue;
            }
            const Row& row = file_.rows[*row_of_[s]];
            const CsvCell& cell = row[layout_.column];
            if (!student.score || layout_.keeps(plain(cell.text))) {
                filled.kept.push_back(who(student.person) + ": " +
                                      (student.score ? clean_name(plain(cell.text)) : state_of(student)));
                continue;
            }
            changes.push_back({&cell, points_in(row, *student.score)});
            ++filled.filled;
        }
        filled.bytes = file_.with(std::move(changes));
        return filled;
    }

  private:
    [[noreturn]] void refuse(const std::string& why) const {
        throw ClassError(fmt::format("{}: {}", clean_name(options_.file), clean_utf8(why)));
    }

    std::string headings() const {
        std::string text;
        for (const CsvCell& cell : file_.rows.front())
            text += (text.empty() ? "" : ", ") + clean_name(cell.text);
        return text;
    }

    std::string row_text(std::size_t row) const {
        std::string text;
        for (std::size_t i = 0; i < file_.rows[row].size() && i < layout_.column && i < 4; ++i)
            text += (i == 0 ? "" : ", ") + clean_name(file_.rows[row][i].text);
        return fmt::format("  row {}: {}", row + 1, text);
    }

    /// Whose row it is.
    void find(std::size_t row) {
        const Row& cells = file_.rows[row];
        if (cells.size() <= layout_.column) {
            problems_.push_back(row_text(row) + ": it has too few cells");
            return;
        }
        std::vector<std::size_t> found, doubtful;
        std::string no;
        for (std::size_t s = 0; s < book_.students.size(); ++s) {
            const Match one = match(cells, layout_.identities, book_.students[s].person);
            if (!one.yes) continue;
            (one.no.empty() ? found : doubtful).push_back(s);
            if (!one.no.empty()) no = one.no;
        }
        // A number of the platform's may be somebody else's in the roster.
        if (found.empty()) {
            found = doubtful;
        } else {
            no.clear();
        }
        std::string names;
        for (const std::size_t s : found)
            names += (names.empty() ? "" : ", ") + who(book_.students[s].person);
        if (found.empty()) {
            problems_.push_back(row_text(row) + ": no student of the class");
        } else if (found.size() > 1) {
            problems_.push_back(row_text(row) + ": it could be any of " + names);
        } else if (!no.empty()) {
            problems_.push_back(fmt::format("{}: it is {} except for '{}'", row_text(row), names, no));
        } else if (row_of_[found.front()]) {
            problems_.push_back(
                fmt::format("{}: {} already has row {}", row_text(row), names, *row_of_[found.front()] + 1));
        } else {
            row_of_[found.front()] = row;
        }
    }

    [[noreturn]] void list_problems() const {
        constexpr std::size_t most = 50;
        std::string text = fmt::format(
            "{} of its rows do not match exactly one student of the class, so nothing was written:",
            problems_.size());
        for (std::size_t i = 0; i < problems_.size() && i < most; ++i) text += '\n' + problems_[i];
        if (problems_.size() > most) text += fmt::format("\n  and {} more", problems_.size() - most);
        refuse(text + "\nRemove them from the export, or add the values of its columns to the roster.");
    }

    /// A score as this export writes numbers, in its column's points.
    std::string points_in(const Row& row, double score) const {
        const std::optional<std::string> cell = layout_.most(row);
        const bool comma = file_.separator == ';' && cell && cell->find(',') != std::string::npos;
        if (cell && !plain(*cell).empty()) {
            const std::optional<double> most = number_in(plain(*cell));
            if (!most || *most <= 0)
                refuse(fmt::format("the column's maximum is '{}', which is not a number of points",
                                   plain(*cell)));
            if (options_.scale && book_.max_score > 0) {
                score *= *most / book_.max_score;
            } else if (std::abs(*most - book_.max_score) > 1e-6) {
                refuse(fmt::format(
                    "the column's maximum is {}, and the class's is {}; change the column's, or scale the "
                    "points with --scale",
                    points_text(*most), points_text(book_.max_score)));
            }
        } else if (options_.scale) {
            refuse("--scale: the export does not contain the column's maximum");
        }
        std::string text = points_text(score);
        if (comma) std::replace(text.begin(), text.end(), '.', ',');
        return text;
    }

    const Gradebook& book_;
    const CsvFile& file_;
    const FillOptions& options_;
    const Layout& layout_;
    std::vector<std::optional<std::size_t>> row_of_;  ///< of each student
    std::vector<std::string> problems_;
};

CsvFile read_export(std::string bytes, const FillOptions& options) {
    try {
        CsvFile file = read_csv(std::move(bytes));
        if (file.rows.empty()) throw CsvError("it is empty");
        return file;
    } catch (const CsvError& error) {
        throw ClassError(clean_name(options.file) + ": " + error.what());
    }
}

/// The one column of `candidates` whose heading is `wanted`, as `is` says.
std::size_t choose_column(const Row& heading, std::size_t first, const std::string& wanted,
                          const FillOptions& options, const std::function<bool(const std::string&)>& is) {
    std::vector<std::size_t> found;
    std::string names;
    for (std::size_t i = first; i < heading.size(); ++i) {
        names += (names.empty() ? "" : ", ") + clean_name(plain(heading[i].text));
        if (is(plain(heading[i].text))) found.push_back(i);
    }
    if (found.size() == 1) return found.front();
    throw ClassError(fmt::format("{}: {} '{}'; name one with --column: {}", clean_name(options.file),
                                 found.empty() ? "there is no column" : "there are several columns",
                                 clean_name(wanted), names));
}

/// "Reduction (12345)" -> "Reduction", "12345"
std::pair<std::string, std::string> title_and_id(const std::string& heading) {
    const std::size_t open = heading.rfind(" (");
    if (open == std::string::npos || heading.back() != ')') return {heading, ""};
    return {heading.substr(0, open), heading.substr(open + 2, heading.size() - open - 3)};
}

}  // namespace

FilledIn fill_canvas(const Gradebook& book, std::string bytes, const FillOptions& options) {
    const CsvFile file = read_export(std::move(bytes), options);
    const Row& heading = file.rows.front();
    const auto section = std::find_if(heading.begin(), heading.end(),
                                      [](const CsvCell& cell) { return plain(cell.text) == "Section"; });
    const std::string first = plain(heading.front().text);
    if (heading.size() < 4 || (first != "Student" && first != "LastName") || section == heading.end()) {
        throw ClassError(
            clean_name(options.file) +
            ": it is not a gradebook exported by Canvas, whose first line begins with Student, ID and has a "
            "column Section");
    }
    const auto after = static_cast<std::size_t>(section - heading.begin()) + 1;
    const std::string wanted = options.column.empty() ? book.assignment.title : options.column;
    Layout layout;
    layout.column = choose_column(heading, after, wanted, options, [&](const std::string& name) {
        const auto [title, id] = title_and_id(name);
        return name == wanted || title == wanted || (!id.empty() && id == wanted);
    });
    layout.identities = identities_of(heading, options);
    const Row* points_possible = nullptr;
    for (const Row& row : file.rows) {
        if (plain(row.front().text).find("Points Possible") != std::string::npos) points_possible = &row;
    }
    layout.is_student = [&](const Row& row) {
        const std::string name = plain(row.front().text);
        // The student that an instructor can look at the course as. And a row says which assignments are not
        // posted.
        if (&row == points_possible || name == "Student, Test" || name == "Test Student") return false;
        return !std::all_of(row.begin(), row.end(), [](const CsvCell& cell) {
            const std::string text = folded(plain(cell.text));
            return text.empty() || text == "muted" || text.starts_with("manual posting");
        });
    };
    layout.most = [&](const Row&) -> std::optional<std::string> {
        if (!points_possible || points_possible->size() <= layout.column) return std::nullopt;
        return (*points_possible)[layout.column].text;
    };
    if (const auto most = layout.most(heading); most && most->find("read only") != std::string::npos) {
        throw ClassError(fmt::format("{}: Canvas accepts no changes to the column '{}', which is read only",
                                     clean_name(options.file), clean_name(wanted)));
    }
    // Excused, and not assigned to this student.
    layout.keeps = [](const std::string& cell) { return folded(cell) == "ex" || folded(cell) == "n/a"; };
    return Filler(book, file, options, layout).fill();
}

FilledIn fill_moodle(const Gradebook& book, std::string bytes, const FillOptions& options) {
    const CsvFile file = read_export(std::move(bytes), options);
    const Row& heading = file.rows.front();
    const auto has = [&](const std::string& name) {
        return std::any_of(heading.begin(), heading.end(),
                           [&](const CsvCell& cell) { return plain(cell.text) == name; });
    };
    const std::string wanted = !options.column.empty() ? options.column
                               : has("Grade")          ? "Grade"
                                                       : "Assignment: " + book.assignment.title + " (Real)";
    Layout layout;
    layout.column =
        choose_column(heading, 0, wanted, options, [&](const std::string& name) { return name == wanted; });
    layout.identities = identities_of(heading, options);
    layout.is_student = [](const Row&) { return true; };
    const auto most = std::find_if(heading.begin(), heading.end(), [](const CsvCell& cell) {
        return folded(plain(cell.text)) == "maximum grade";
    });
    layout.most = [&](const Row& row) -> std::optional<std::string> {
        const auto column = static_cast<std::size_t>(most - heading.begin());
        if (column >= row.size()) return std::nullopt;
        return row[column].text;
    };
    layout.keeps = [](const std::string&) { return false; };
    return Filler(book, file, options, layout).fill();
}

}  // namespace rungs::classroom
