// JUnit XML, as continuous integration reads it: a suite for each student, a case for each rung.
#include <optional>
#include <sstream>
#include <string_view>

#include <fmt/format.h>
#include <pugixml.hpp>

#include "class/export.hpp"
#include "judge/result/clean_text.hpp"
#include "report/text.hpp"

namespace rungs::classroom {
namespace {

/// Characters that XML 1.0 has no way to write are among those that clean_utf8() replaces.
void set(pugi::xml_node node, const char* name, const std::string& value) {
    node.append_attribute(name).set_value(clean_utf8(value).c_str());
}

struct Tally {
    int tests = 0, failures = 0, errors = 0;
    double seconds = 0;

    void write(pugi::xml_node node) const {
        set(node, "tests", std::to_string(tests));
        set(node, "failures", std::to_string(failures));
        set(node, "errors", std::to_string(errors));
        // Jenkins' schema allows it on a suite only.
        if (std::string_view(node.name()) == "testsuite") set(node, "skipped", "0");
        set(node, "time", fmt::format("{:.3f}", seconds));
    }
};

double seconds_of(const GradedRung& rung) {
    const std::optional<judge::RungResult> result = rung.result();
    return result ? result->seconds : 0;
}

/// One rung; null where nothing was handed in.
void add_case(pugi::xml_node suite, const Student& student, const AskedRung& asked, const GradedRung* rung,
              Detail detail, Tally& tally) {
    pugi::xml_node node = suite.append_child("testcase");
    // Readers take the first of two with the same names, so the student is part of them.
    set(node, "classname", student.person.id + "." + asked.chapter);
    set(node, "name", asked.rung);
    const double seconds = rung ? seconds_of(*rung) : 0;
    set(node, "time", fmt::format("{:.3f}", seconds));
    ++tally.tests;
    tally.seconds += seconds;
    const Outcome outcome = rung ? outcome_of(*rung) : Outcome::missing;
    if (outcome == Outcome::passed) {
        if (!rung->decision) return;
        std::string text = fmt::format("{}: {} of {} points", decided_text(*rung), points_text(*rung->points),
                                       points_text(rung->max_points));
        if (detail != Detail::points) text += ": " + rung->decision->because;
        node.append_child("system-out").append_child(pugi::node_pcdata).set_value(clean_utf8(text).c_str());
        return;
    }
    const bool open = outcome == Outcome::open;
    ++(open ? tally.errors : tally.failures);
    pugi::xml_node problem = node.append_child(open ? "error" : "failure");
    set(problem, "type", rung ? rung->told_verdict() : "MISSING");
    set(problem, "message",
        !rung                      ? "nothing was handed in"
        : open                     ? "not graded yet: " + for_student(rung->reason)
        : detail == Detail::points ? points_text(*rung->points) + " points"
        : rung->decision           ? decided_text(*rung) + ": " + rung->decision->because
        : rung->reason.empty()     ? rung->told_verdict()
                                   : for_student(rung->reason));
    if (detail != Detail::all || !rung) return;
    std::string text;
    for (const std::string& part : details_for_student(*rung)) text += part + '\n';
    problem.append_child(pugi::node_pcdata).set_value(text.c_str());
}

}  // namespace

std::string to_junit(const Gradebook& book, Detail detail) {
    pugi::xml_document document;
    pugi::xml_node declaration = document.append_child(pugi::node_declaration);
    declaration.append_attribute("version") = "1.0";
    declaration.append_attribute("encoding") = "UTF-8";
    pugi::xml_node suites = document.append_child("testsuites");
    set(suites, "name", book.assignment.title);
    Tally all;
    for (const Student& student : book.students) {
        pugi::xml_node suite = suites.append_child("testsuite");
        set(suite, "name", student.person.id);
        const Attempt* const attempt = counted_attempt(student);
        Tally tally;
        pugi::xml_node properties = suite.append_child("properties");
        const auto property = [&](const char* name, const std::string& value) {
            pugi::xml_node node = properties.append_child("property");
            set(node, "name", name);
            set(node, "value", value);
        };
        property("student", student.person.name);
        property("state", state_of(student));
        if (student.score) property("score", points_text(*student.score));
        property("max_score", points_text(book.max_score));
        for (std::size_t i = 0; i < book.assignment.rungs.size(); ++i) {
            add_case(suite, student, book.assignment.rungs[i], attempt ? &attempt->rungs[i] : nullptr, detail,
                     tally);
        }
        tally.write(suite);
        all.tests += tally.tests;
        all.failures += tally.failures;
        all.errors += tally.errors;
        all.seconds += tally.seconds;
    }
    all.write(suites);
    std::ostringstream out;
    document.save(out, "  ", pugi::format_indent, pugi::encoding_utf8);
    return out.str();
}

}  // namespace rungs::classroom
