// A table for spreadsheets: a line for each student.
#include <fmt/format.h>

#include "class/export.hpp"
#include "class/spreadsheet.hpp"
#include "report/text.hpp"

namespace rungs::classroom {

std::string to_csv(const Gradebook& book, Detail detail) {
    std::vector<std::string> heading = {"id",          "name",    "email",     "login",
                                        "state",       "attempt", "handed in", "minutes late",
                                        "late factor", "score",   "max score"};
    for (const AskedRung& rung : book.assignment.rungs) {
        heading.push_back(rung.short_name());
        if (detail == Detail::points) continue;
        heading.push_back(rung.short_name() + " verdict");
        heading.push_back(rung.short_name() + " reason");
        heading.push_back(rung.short_name() + " decided");
        if (detail == Detail::all) heading.push_back(rung.short_name() + " decision");
    }
    std::string csv = csv_line(heading);
    for (const Student& student : book.students) {
        const Person& person = student.person;
        const Attempt* const attempt = counted_attempt(student);
        std::vector<std::string> line = {person.id, person.name, person.email, person.login,
                                         state_of(student)};
        line.push_back(attempt ? std::to_string(attempt->number) : "");
        line.push_back(attempt && attempt->handed_in ? time_text(*attempt->handed_in) : "");
        line.push_back(attempt && attempt->minutes_late ? points_text(*attempt->minutes_late) : "");
        line.push_back(attempt ? factor_text(attempt->late_factor) : "");
        line.push_back(student.score ? points_text(*student.score) : "");
        line.push_back(points_text(book.max_score));
        for (std::size_t i = 0; i < book.assignment.rungs.size(); ++i) {
            const GradedRung* const rung = attempt ? &attempt->rungs[i] : nullptr;
            line.push_back(rung && rung->points ? points_text(*rung->points) : "");
            if (detail == Detail::points) continue;
            line.push_back(rung ? rung->told_verdict() : "");
            line.push_back(rung ? reason_for(*rung, detail) : "");
            line.push_back(rung ? decided_text(*rung) : "");
            if (detail == Detail::all) line.push_back(rung && rung->decision ? rung->decision->because : "");
        }
        csv += csv_line(line);
    }
    return csv;
}

}  // namespace rungs::classroom
