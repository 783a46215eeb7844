// rungs export: the grades of a class in the forms that others read, from the records alone.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "class/export.hpp"
#include "class/sharing.hpp"
#include "program/verbs.hpp"
#include "report/text.hpp"
#include "rungs/atomic_file.hpp"

namespace rungs {
namespace {

namespace fs = std::filesystem;
using namespace classroom;

Detail detail_of(const std::string& name) {
    return name == "points" ? Detail::points : name == "reasons" ? Detail::reasons : Detail::all;
}

/// One sign for each rung, and what it comes to.
void show_table(const Gradebook& book, Terminal& out) {
    const int rungs = static_cast<int>(book.assignment.rungs.size());
    const int name_width = std::max(16, std::min(40, out.width() - rungs - 44));
    out.line(out.paint(
        Style::bold, fmt::format("{}, {}, {} points", title_of(book),
                                 count_text(book.students.size(), "student"), points_text(book.max_score))));
    for (const Student& student : book.students) {
        const Attempt* const attempt = counted_attempt(student);
        std::string signs;
        for (int i = 0; i < rungs; ++i) {
            const Outcome outcome =
                attempt ? outcome_of(attempt->rungs[static_cast<std::size_t>(i)]) : Outcome::missing;
            signs += outcome == Outcome::passed   ? out.paint(Style::good, out.tick())
                     : outcome == Outcome::failed ? out.paint(Style::bad, out.cross())
                     : outcome == Outcome::open   ? out.paint(Style::warn, "?")
                                                  : out.paint(Style::dim, out.open());
        }
        const Person& person = student.person;
        const std::string name = out.cut(
            clean_name(person.name.empty() ? person.id : person.name + " (" + person.id + ")"), name_width);
        std::string line = fmt::format("  {:<{}}  {}  {:>8}  {}", name, name_width, signs,
                                       student.score ? points_text(*student.score) : "-", state_of(student));
        if (attempt && attempt->minutes_late.value_or(0) > 0)
            line += fmt::format(", {:.0f} min late", *attempt->minutes_late);
        const auto count = [&](const auto& is) {
            return attempt ? std::count_if(attempt->rungs.begin(), attempt->rungs.end(), is) : 0;
        };
        if (const auto decided = count([](const GradedRung& rung) { return rung.decision.has_value(); });
            decided > 0)
            line += fmt::format(", {} decided", decided);
        if (const auto stale = count([](const GradedRung& rung) { return rung.stale; }); stale > 0)
            line += fmt::format(", {} on an older verdict", stale);
        out.line(line);
    }
}

/// Makes the folders above a file, and writes it.
void write_below(const fs::path& file, const std::string& bytes) {
    std::error_code error;
    if (file.has_parent_path()) fs::create_directories(file.parent_path(), error);
    if (error) throw FileError(file.parent_path(), error.value(), "could not make the folder");
    write_file(file, bytes);
}

std::string pretty(const nlohmann::ordered_json& json) { return json.dump(2) + '\n'; }

/// Students whose grades are not in what was written, each in a line.
void list(const char* what, const std::vector<std::string>& students, Terminal& out) {
    if (students.empty()) return;
    out.line(fmt::format("{} {}:", students.size(), what));
    for (const std::string& student : students) out.line("  " + student);
}

class Exporter {
  public:
    Exporter(const ExportOptions& options, Terminal& out)
        : options_(options),
          out_(out),
          book_(read_gradebook(options.folder)),
          detail_(detail_of(options.detail)) {}

    int run() {
        const Form& form = form_called(options_.to);
        const bool is_below = form.place.starts_with("exports/");
        place_ = options_.out;
        if (place_.empty() && is_below) place_ = fs::path(options_.folder) / form.place;
        (this->*form.write)();
        const std::size_t open = open_count(book_);
        if (open > 0) {
            out_.line(fmt::format("{} of {} without a score yet; ./rungs review {} says why", open,
                                  count_text(book_.students.size(), "student"), options_.folder));
        }
        return open > 0 ? 3 : lost_ ? 1 : 0;
    }

  private:
    struct Form {
        std::string_view name;
        void (Exporter::*write)();
        std::string_view place;
    };
    static const Form& form_called(const std::string& name);

    void show_table() {
        Terminal table(stdout);
        rungs::show_table(book_, table);
    }

    void write_csv() { write_text(to_csv(book_, detail_)); }

    void write_junit() { write_text(to_junit(book_, detail_)); }

    void write_text(const std::string& text) {
        if (place_.empty() || place_ == "-") {
            Terminal(stdout).write(text);
        } else {
            write_file(place_, text);
            out_.line("written: " + out_.paint(Style::link, place_.string()));
        }
    }

    void write_autograder() {
        write_below(place_, autograder_zip(book_, open_workbook().root(), detail_, options_.visibility));
        out_.line("written: " + out_.paint(Style::link, place_.string()));
        warn_of_containers();
    }

    /// Gradescope's have no CAP_SYS_ADMIN, and so no namespaces.
    void warn_of_containers() {
        const std::string& asked = book_.assignment.least_sandbox;
        if (asked <= "S2") return;
        out_.line(out_.paint(Style::warn, fmt::format("least_sandbox is {}, but Gradescope's containers "
                                                      "reach at most S2: setup.sh would fail there",
                                                      asked)));
        out_.line("  set least_sandbox = \"S2\" in assignment.toml, then grade and export again. At S2 a");
        out_.line(
            "  hand-in can find out whether a file exists and how large it is; it still reads only the");
        out_.line("  system's files, writes none, and has no network");
    }

    void fill_canvas() { fill("Canvas", classroom::fill_canvas); }

    void fill_moodle() { fill("Moodle", classroom::fill_moodle); }

    void fill(const char* platform, FilledIn (*fill_in)(const Gradebook&, std::string, const FillOptions&)) {
        if (options_.from.empty()) {
            throw UsageError(fmt::format("--to {} needs --from FILE: a gradebook that {} has exported",
                                         options_.to, platform));
        }
        const FillOptions how{options_.from, options_.column, options_.match, options_.scale};
        const FilledIn filled = fill_in(book_, read_file(options_.from), how);
        write_text(filled.bytes);
        out_.line(fmt::format("{} scores filled in", filled.filled));
        list("cells unchanged", filled.kept, out_);
        list("students with a score but no row", filled.without, out_);
        lost_ = !filled.without.empty();
    }

    /// What `review --similar` has found; null: nobody has asked.
    nlohmann::ordered_json similar_hand_ins() const {
        const fs::path file = fs::path(options_.folder) / "similarity.json";
        std::error_code unknown;
        if (!fs::exists(file, unknown)) return nullptr;
        const auto json = nlohmann::ordered_json::parse(read_own_file(file), nullptr, false);
        return json.is_discarded() ? nlohmann::ordered_json::object() : json;
    }

    void write_pages() {
        for (const Student& student : book_.students) {
            write_below(place_ / "students" / (student.person.id + ".html"),
                        student_page(book_, student, detail_, RUNGS_VERSION));
        }
        write_below(place_ / "index.html", class_page(book_, RUNGS_VERSION, similar_hand_ins()));
        out_.line("for you:      " + out_.paint(Style::link, (place_ / "index.html").string()));
        out_.line("for students: " + out_.paint(Style::link, (place_ / "students").string()));
    }

    void write_gradescope() {
        for (const Student& student : book_.students) {
            write_below(place_ / "results" / student.person.id / "results.json",
                        pretty(to_gradescope(book_, student, detail_, options_.visibility)));
        }
        write_below(place_ / "graded.zip", graded_zip(book_, detail_, options_.visibility));
        out_.line("written: " + out_.paint(Style::link, place_.string()));
    }

    void write_classroom50() {
        for (const Student& student : book_.students) {
            const fs::path file = place_ / student.person.id / "result.json";
            if (const nlohmann::ordered_json result = to_classroom50(book_, student); !result.is_null()) {
                write_below(file, pretty(result));
            } else {
                fs::remove(file);  // of an earlier export: there is no score any more
            }
        }
        if (whole_scale(book_) > 1)
            out_.line(
                fmt::format("points are whole numbers there: {} of them make one point", whole_scale(book_)));
        out_.line("written: " + out_.paint(Style::link, place_.string()));
    }

    const ExportOptions& options_;
    Terminal& out_;
    const Gradebook book_;
    const Detail detail_;
    fs::path place_;     ///< file or folder; empty or "-": standard output
    bool lost_ = false;  ///< a score has found no place
};

const Exporter::Form& Exporter::form_called(const std::string& name) {
    static const Form forms[] = {
#define EXPORT_FORM(name, writer, place, what) {name, &Exporter::writer, place},
#include "class/export_forms.def"
    };
    for (const Form& form : forms)
        if (form.name == name) return form;
    throw UsageError("there is no form '" + name + "'; see --help");
}

}  // namespace

int export_class(const ExportOptions& options) {
    follow_sharing(options.folder);
    const bool to_stdout = options.out.empty() || options.out == "-";
    Terminal out(to_stdout ? stderr : stdout);
    try {
        return Exporter(options, out).run();
    } catch (const ClassError& error) {
        throw CannotCheck(error.what());
    }
}

}  // namespace rungs
