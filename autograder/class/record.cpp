#include "class/record.hpp"

#include <algorithm>
#include <charconv>
#include <set>

#include <fmt/format.h>

#include "rungs/atomic_file.hpp"

namespace rungs::classroom {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Json parse(const fs::path& file) {
    try {
        return Json::parse(read_file(file));
    } catch (const Json::exception&) {
        throw ClassError(file.string() +
                         ": this is not what rungs has written; restore it, or delete it and grade again");
    }
}

/// The names in a folder, sorted; none where there is no folder.
std::vector<std::string> names_in(const fs::path& folder) {
    std::vector<std::string> names;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(folder, none)) {
        // Temporary files of a writer that was killed begin with a dot.
        if (entry.path().filename().string().front() != '.')
            names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

/// The highest N of the files NAME.N.json in `folder`; 0: there is none.
int last_of(const std::vector<std::string>& names, const std::string& name) {
    int last = 0;
    for (const std::string& one : names) {
        if (one.size() <= name.size() + 6 || one.compare(0, name.size() + 1, name + ".") != 0) continue;
        int number = 0;
        const char* const end = one.data() + one.size() - 5;
        const auto [rest, error] = std::from_chars(one.data() + name.size() + 1, end, number);
        if (error == std::errc() && rest == end && one.compare(one.size() - 5, 5, ".json") == 0)
            last = std::max(last, number);
    }
    return last;
}

std::optional<Decision> decision_of(const fs::path& folder, const std::string& rung) {
    const int number = last_of(names_in(folder), rung);
    if (number == 0) return std::nullopt;
    const fs::path file = folder / fmt::format("{}.{}.json", rung, number);
    const Json json = parse(file);
    try {
        return Decision{number, json.at("points"), json.at("because"), json.at("by"), json.at("when")};
    } catch (const Json::exception& error) {
        throw ClassError(file.string() + ": " + error.what());
    }
}

GradedRung read_rung(const fs::path& out, const std::string& student, int attempt, const AskedRung& asked) {
    const fs::path place = fs::path(student) / std::to_string(attempt) / asked.chapter;
    GradedRung rung;
    rung.asked = asked;
    rung.max_points = asked.max_points;
    rung.decision = decision_of(out / "decisions" / place, asked.rung);
    const fs::path folder = out / "records" / place;
    rung.judging = last_of(names_in(folder), asked.rung);
    if (rung.judging > 0) {
        const fs::path file = folder / fmt::format("{}.{}.json", asked.rung, rung.judging);
        rung.record = parse(file);
        try {
            const Json& result = rung.record.at("result");
            rung.verdict = result.at("verdict");
            rung.status = result.at("status");
            if (!result.at("points").is_null()) rung.judged = result.at("points").get<double>();
            rung.max_points = result.at("max_points");
            rung.reason = result.at("reason");
            rung.sandbox = rung.record.at("sandbox");
        } catch (const Json::exception& error) {
            throw ClassError(file.string() + ": " + error.what());
        }
    }
    rung.points = rung.decision ? std::optional<double>(rung.decision->points) : rung.judged;
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
    const bool has_due = person.due || assignment.due;
    if (attempt.handed_in || !has_due)
        attempt.minutes_late = attempt.handed_in ? minutes_late(assignment, person, *attempt.handed_in) : 0;
    attempt.late_factor = attempt.minutes_late  ? late_factor(assignment.late, *attempt.minutes_late)
                          : attempt.marked_late ? 0
                                                : 1;
    double points = 0, open = 0;
    bool all = true;
    for (const AskedRung& asked : assignment.rungs) {
        GradedRung rung = read_rung(out, person.id, number, asked);
        const double weight = assignment.weight_of(asked.chapter);
        points += weight * rung.points.value_or(0);
        if (rung.open()) open += weight * rung.max_points;
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
    if (student.attempts.empty()) {
        student.score = 0;
        return;
    }
    if (assignment.counts == Counts::last) {
        student.counted = student.attempts.size() - 1;
        student.score = student.attempts.back().score;
        return;
    }
    for (std::size_t i = 0; i < student.attempts.size(); ++i) {
        const Attempt& attempt = student.attempts[i];
        if (attempt.score && (!student.score || *attempt.score >= *student.score)) {
            student.counted = i;
            student.score = attempt.score;
        }
    }
    if (!student.counted) student.counted = student.attempts.size() - 1;
    for (const Attempt& attempt : student.attempts) {
        // It may turn out to be the best one.
        if (student.score && !attempt.score && attempt.at_most > *student.score) student.score.reset();
    }
}

}  // namespace

const Json& GradedRung::result() const {
    static const Json none = nullptr;
    return record.is_null() ? none : record.at("result");
}

Gradebook read_gradebook(const fs::path& out) {
    Gradebook book;
    const fs::path file = out / "assignment.json";
    try {
        book.assignment = assignment_of(nlohmann::json(parse(file)));
    } catch (const FileError&) {
        throw ClassError(out.string() +
                         ": no class has been graded here; ./rungs grade CLASS --out DIR does that");
    }
    for (const AskedRung& rung : book.assignment.rungs)
        book.max_score += book.assignment.weight_of(rung.chapter) * rung.max_points;
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
                std::string cause = "-";
                if (const Json& result = rung.result(); !result.is_null() && !result.at("causes").empty()) {
                    const Json& first = result.at("causes").front();
                    cause = fmt::format("{}:{}", first.at("source").get<std::string>(),
                                        first.at("kind").get<std::string>());
                }
                lines.push_back(fmt::format("{}\t{}\t{}/{}\t{}\t{}\t{}\n", student.person.id, attempt.number,
                                            rung.asked.chapter, rung.asked.rung, rung.verdict, cause,
                                            rung.points ? fmt::format("{:.4g}", *rung.points) : "-"));
            }
        }
    }
    std::sort(lines.begin(), lines.end());
    std::string text;
    for (const std::string& line : lines) text += line;
    return text;
}

}  // namespace rungs::classroom
