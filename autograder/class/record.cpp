#include "class/record.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "judge/result/points.hpp"
#include "judge/result/result_json.hpp"
#include "report/report.hpp"
#include "report/text.hpp"
#include "rungs/atomic_file.hpp"

namespace rungs::classroom {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Json parse(const fs::path& file) {
    try {
        return Json::parse(read_own_file(file));
    } catch (const Json::exception&) {
        throw ClassError(file.string() +
                         ": this is not what rungs has written; restore it, or delete it and grade again");
    }
}

/// The names in a folder, sorted; none where there is no folder.
std::vector<std::string> names_in(const fs::path& folder) {
    std::vector<std::string> names;
    std::error_code none;
    const fs::directory_iterator entries(folder, none);
    // A folder that cannot be read is not an empty one.
    if (none && none != std::errc::no_such_file_or_directory && none != std::errc::not_a_directory)
        throw FileError(folder, none.value(), "could not list the folder");
    for (const auto& entry : entries) {
        // Temporary files of a writer that was killed begin with a dot.
        if (entry.path().filename().string().front() != '.')
            names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

std::optional<Decision> decision_of(const fs::path& folder, const std::string& rung) {
    const int number = last_judging(folder, rung);
    if (number == 0) return std::nullopt;
    const fs::path file = folder / fmt::format("{}.{}.json", rung, number);
    const Json json = parse(file);
    try {
        Decision decision{number, judge::hundredths(json.at("points").get<double>()), json.at("because"),
                          json.at("by"), json.at("when")};
        if (const auto on = json.find("on"); on != json.end()) {
            decision.verdict = on->at("verdict");
            if (!on->at("points").is_null()) decision.judged = on->at("points").get<double>();
            decision.max_points = on->at("max_points");
            decision.take = on->value("take", 0);
        }
        return decision;
    } catch (const Json::exception& error) {
        throw ClassError(file.string() + ": " + error.what());
    }
}

std::optional<Withdrawal> withdrawal_of(const fs::path& folder) {
    const int number = last_judging(folder, "hand-in");
    if (number == 0) return std::nullopt;
    const fs::path file = folder / fmt::format("hand-in.{}.json", number);
    const Json json = parse(file);
    try {
        return Withdrawal{json.at("withdrawn"), json.at("because"), json.at("by"), json.at("when")};
    } catch (const Json::exception& error) {
        throw ClassError(file.string() + ": " + error.what());
    }
}

std::optional<Take> take_of(const fs::path& folder, const std::string& rung) {
    const int number = last_judging(folder, rung);
    if (number == 0) return std::nullopt;
    const fs::path file = folder / fmt::format("{}.{}.json", rung, number);
    const Json json = parse(file);
    try {
        return Take{number, json.at("name"), json.at("because"), json.at("by"), json.at("when")};
    } catch (const Json::exception& error) {
        throw ClassError(file.string() + ": " + error.what());
    }
}

/// The rung's file, those that may be meant as it, and which of them has been taken. `about`: hand-in.json,
/// in `home`.
void read_files(const fs::path& home, const Json& about, GradedRung& rung) try {
    const std::string name = rung.asked.chapter + "/" + rung.asked.file();
    std::error_code unknown;
    if (fs::exists(home / name, unknown)) rung.source = home / name;
    for (const Json& file : about.at("files")) {
        if (file.at("path") == name) rung.bytes = file.value("sha256", "");
    }
    for (const Json& file : about.value("alike", Json::array())) {
        if (file.at("rung") != name) continue;
        const std::string path = file.value("path", "");
        rung.alike.push_back(
            {file.at("name"), path.empty() ? fs::path() : home / path, file.value("sha256", "")});
        if (rung.take && rung.take->name == rung.alike.back().name) {
            rung.source = rung.alike.back().file;
            rung.bytes = rung.alike.back().bytes;
        }
    }
} catch (const Json::exception& error) {
    throw ClassError((home / "hand-in.json").string() + ": " + error.what());
}

/// "'a' and 'b'"
std::string names_of(const std::vector<AlikeFile>& files) {
    std::string names;
    for (const AlikeFile& file : files)
        names += (names.empty() ? "'" : &file == &files.back() ? " and '" : ", '") + file.name + "'";
    return names;
}

/// A decision stands in place of the judge's points. Without one, points wait where it is not clear which
/// file is the rung's, or where that has not been judged.
void settle(GradedRung& rung, const std::string& judged_bytes) {
    rung.points = rung.decision ? std::optional<double>(rung.decision->points) : rung.judged;
    if (const std::optional<Decision>& decision = rung.decision; decision && !decision->verdict.empty()) {
        const auto differ = [](double a, double b) { return std::abs(a - b) > 1e-9; };
        rung.stale = decision->verdict != rung.verdict ||
                     decision->judged.has_value() != rung.judged.has_value() ||
                     differ(decision->judged.value_or(0), rung.judged.value_or(0)) ||
                     differ(decision->max_points, rung.max_points);
    }
    if (rung.decision || rung.file.empty()) return;
    if (rung.take && judged_bytes != rung.bytes) {
        rung.reason = fmt::format("'{}' was taken as its file and has not been judged yet: grade again",
                                  rung.take->name);
    } else if (!rung.alike.empty() && !rung.take && rung.status != "passed") {
        const std::string may_be =
            fmt::format("{} may be meant as this rung; a human has to decide", names_of(rung.alike));
        rung.reason = rung.missing          ? "no file has its name, but " + may_be
                      : rung.reason.empty() ? may_be
                                            : may_be + "; " + rung.reason;
    } else {
        return;
    }
    rung.points.reset();
    rung.status = "review";
}

/// What the judge found, as a record has it. `file`: the record's.
judge::RungResult result_in(const Json& record, const fs::path& file) try {
    return judge::read_result(record.at("result"), judge::Fields::open);
} catch (const judge::FieldError& error) {
    throw ClassError(file.string() + ": " + error.what());
}

GradedRung read_rung(const fs::path& out, const std::string& student, int attempt, const AskedRung& asked,
                     const Json& about) {
    const fs::path place = fs::path(student) / std::to_string(attempt) / asked.chapter;
    GradedRung rung;
    rung.asked = asked;
    rung.max_points = asked.max_points;
    rung.decision = decision_of(out / "decisions" / place, asked.rung);
    rung.take = take_of(out / "takes" / place, asked.rung);
    if (rung.take && rung.decision && rung.decision->take < rung.take->number) rung.decision.reset();
    read_files(out / "hand-ins" / student / std::to_string(attempt), about, rung);
    std::string judged_bytes;
    const fs::path folder = out / "records" / place;
    rung.judging = last_judging(folder, asked.rung);
    if (rung.judging > 0) {
        const fs::path file = folder / fmt::format("{}.{}.json", asked.rung, rung.judging);
        rung.file = file;
        const Json record = parse(file);
        try {
            const judge::RungResult result = result_in(record, file);
            rung.verdict = judge::name_of(result.verdict);
            rung.status = status_of(result);
            if (result.judged) rung.judged = judge::hundredths(result.points);
            rung.max_points = judge::hundredths(result.max_points);
            rung.reason = result.reason();
            rung.sandbox = record.at("sandbox");
            judged_bytes = record.at("bytes");
            rung.missing = rung.judged && judged_bytes.empty();
            if (!result.causes.empty()) {
                const judge::Cause& first = result.causes.front();
                rung.cause = fmt::format("{}:{}", judge::name_of(first.source), judge::name_of(first.kind));
            }
            rung.unchecked = result.passed() && asked.kind != "predict" && !result.checks.done;
            if (result.passed()) rung.unreached = result.checks.unchecked;
        } catch (const Json::exception& error) {
            throw ClassError(file.string() + ": " + error.what());
        }
    }
    settle(rung, judged_bytes);
    return rung;
}

Attempt read_attempt(const fs::path& out, const Assignment& assignment, Person& person, int number) {
    const fs::path file = out / "hand-ins" / person.id / std::to_string(number) / "hand-in.json";
    const Json json = parse(file);
    Attempt attempt;
    attempt.number = number;
    try {
        attempt.from = json.at("from");
        attempt.origin = json.at("origin");
        if (!json.at("handed_in").is_null()) attempt.handed_in = parse_time(json.at("handed_in"));
        // What the platform does not tell, the roster may.
        if (!attempt.handed_in) attempt.handed_in = parse_time(person.column("handed_in"));
        attempt.marked_late = json.at("marked_late");
        attempt.refused = json.at("refused");
        if (!person.known) {
            const Json& who = json.at("student");
            person.name = who.at("name");
            person.email = who.at("email");
            person.login = who.at("login");
        }
    } catch (const Json::exception& error) {
        throw ClassError(file.string() + ": " + error.what());
    }
    attempt.withdrawal = withdrawal_of(out / "decisions" / person.id / std::to_string(number));
    const bool has_due = person.due || assignment.due;
    if (attempt.handed_in || !has_due)
        attempt.minutes_late = attempt.handed_in ? minutes_late(assignment, person, *attempt.handed_in) : 0;
    attempt.late_factor = attempt.minutes_late  ? late_factor(assignment.late, *attempt.minutes_late)
                          : attempt.marked_late ? 0
                                                : 1;
    double points = 0, open = 0;
    bool all = true;
    for (const AskedRung& asked : assignment.rungs) {
        GradedRung rung = read_rung(out, person.id, number, asked, json);
        if (rung.file.empty()) rung.reason = attempt.refused;
        points += assignment.weighted(asked, rung.points.value_or(0));
        if (rung.open()) open += assignment.weighted(asked, rung.max_points);
        all = all && !rung.open();
        attempt.rungs.push_back(std::move(rung));
    }
    // Whether it was late, and by how much, is then for a human to say: an extension in the roster.
    const bool unknown = attempt.marked_late && !attempt.minutes_late;
    attempt.at_most = rounded(assignment, (unknown ? 1 : attempt.late_factor) * (points + open));
    if (all && !unknown) attempt.score = rounded(assignment, attempt.late_factor * points);
    return attempt;
}

/// Which attempt counts, and the score.
void count(const Assignment& assignment, Student& student) {
    if (student.missing()) student.score = 0;
    for (const std::size_t i : that_may_count(assignment, student)) {
        const Attempt& attempt = student.attempts[i];
        if (!student.counted) student.counted = i;
        if (attempt.score && (!student.score || *attempt.score >= *student.score)) {
            student.counted = i;
            student.score = attempt.score;
        }
    }
    for (const std::size_t i : that_may_count(assignment, student)) {
        const Attempt& attempt = student.attempts[i];
        // It may turn out to be the best one.
        if (student.score && !attempt.score && attempt.at_most > *student.score) student.score.reset();
    }
}

}  // namespace

Json GradedRung::record() const { return file.empty() ? Json(nullptr) : parse(file); }

std::optional<judge::RungResult> GradedRung::result() const {
    if (file.empty()) return std::nullopt;
    return result_in(record(), file);
}

int last_judging(const fs::path& folder, const std::string& rung) {
    int last = 0;
    for (const std::string& name : names_in(folder)) {
        if (name.size() <= rung.size() + 6 || name.compare(0, rung.size() + 1, rung + ".") != 0) continue;
        int number = 0;
        const char* const end = name.data() + name.size() - 5;
        const auto [rest, error] = std::from_chars(name.data() + rung.size() + 1, end, number);
        if (error == std::errc() && rest == end && name.compare(name.size() - 5, 5, ".json") == 0)
            last = std::max(last, number);
    }
    return last;
}

std::vector<std::size_t> that_may_count(const Assignment& assignment, const Student& student) {
    std::vector<std::size_t> taken;  // not too late to get any points
    std::optional<std::size_t> last;
    for (std::size_t i = 0; i < student.attempts.size(); ++i) {
        if (student.attempts[i].withdrawn()) continue;
        if (student.attempts[i].late_factor > 0 || student.attempts[i].marked_late) taken.push_back(i);
        last = i;
    }
    if (taken.empty() && last) taken.push_back(*last);
    if (assignment.counts == Counts::last && !taken.empty()) taken.erase(taken.begin(), taken.end() - 1);
    return taken;
}

std::string read_own_file(const fs::path& file) {
    constexpr std::size_t most_bytes = 256U << 20;
    return read_regular_file(file, most_bytes);
}

Gradebook read_gradebook(const fs::path& out) {
    Gradebook book;
    const fs::path file = out / "assignment.json";
    try {
        book.assignment = assignment_of(nlohmann::json(parse(file)));
    } catch (const FileError& error) {
        if (error.error() != ENOENT && error.error() != ENOTDIR) throw;
        throw ClassError(out.string() +
                         ": no class has been graded here; ./rungs grade CLASS --out DIR does that");
    }
    for (const AskedRung& rung : book.assignment.rungs)
        book.max_score += book.assignment.weighted(rung, rung.max_points);
    book.max_score = judge::hundredths(book.max_score);
    std::vector<Person> people = book.assignment.people;
    std::set<std::string> listed;
    for (const Person& person : people) listed.insert(person.id);
    for (const std::string& id : names_in(out / "hand-ins")) {
        if (listed.count(id)) continue;
        Person person;
        person.id = id;
        person.known = book.assignment.people.empty();
        people.push_back(person);
    }
    for (Person& person : people) {
        Student student;
        const bool from_hand_in = !listed.count(person.id);
        const bool known = person.known;
        person.known = !from_hand_in;
        std::vector<int> numbers;
        for (const std::string& name : names_in(out / "hand-ins" / person.id)) {
            if (std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; }))
                numbers.push_back(std::stoi(name));
        }
        std::sort(numbers.begin(), numbers.end());
        for (const int number : numbers)
            student.attempts.push_back(read_attempt(out, book.assignment, person, number));
        person.known = known;
        student.person = person;
        count(book.assignment, student);
        book.students.push_back(std::move(student));
    }
    return book;
}

std::string projection(const Gradebook& book) {
    std::vector<std::string> lines;
    for (const Student& student : book.students) {
        for (const Attempt& attempt : student.attempts) {
            for (const GradedRung& rung : attempt.rungs) {
                lines.push_back(fmt::format("{}\t{}\t{}/{}\t{}\t{}\t{}\n", student.person.id, attempt.number,
                                            rung.asked.chapter, rung.asked.rung, rung.verdict,
                                            rung.cause.empty() ? "-" : rung.cause,
                                            attempt.withdrawn() ? "withdrawn"
                                            : rung.points       ? points_text(*rung.points)
                                                                : "-"));
            }
        }
    }
    std::sort(lines.begin(), lines.end());
    std::string text;
    for (const std::string& line : lines) text += line;
    return text;
}

}  // namespace rungs::classroom
