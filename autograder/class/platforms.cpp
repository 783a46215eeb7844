// Downloads of Gradescope, Canvas and Moodle: whose each file is, by its name or by the platform's list.
#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "class/brought.hpp"
#include "class/file_names.hpp"
#include "class/identity.hpp"
#include "judge/result/clean_text.hpp"
#include "rungs/atomic_file.hpp"

namespace rungs::classroom {
namespace {

namespace fs = std::filesystem;

HandIn canvas_hand_in(const CanvasName& name) {
    HandIn hand_in;
    hand_in.from = "canvas";
    hand_in.key = name.number;
    hand_in.name = clean_name(name.who);
    hand_in.origin = name.who == name.number ? hand_in.name : fmt::format("{}_{}", hand_in.name, hand_in.key);
    return hand_in;
}

/// A file's name as its student knows it.
std::string canvas_file(const CanvasName& name, const Assignment& assignment) {
    const std::string again = without_count(name.file);
    return may_be_rung(again, assignment) ? again : name.file;
}

/// Of several ways to read a name the one that fits: a number that the roster has, a name that it has, then a
/// file that can be a rung. Where two fit alike, nobody is named: `file` is empty.
CanvasName canvas_reading(const std::vector<CanvasName>& readings, const Assignment& assignment) {
    const auto has_number = [](const CanvasName& one, const Person& person) {
        return person.column("canvas") == one.number;
    };
    const std::function<bool(const CanvasName&)> tests[] = {
        // The number's student has that name, or is in the group of that name.
        [&](const CanvasName& one) {
            HandIn named = canvas_hand_in(one);
            named.key.clear();
            const Person* const person = sender(named, assignment);
            const std::vector<const Person*> team = team_of(named, assignment);
            return (person && has_number(one, *person)) ||
                   std::any_of(team.begin(), team.end(),
                               [&](const Person* of) { return has_number(one, *of); });
        },
        [&](const CanvasName& one) {
            return std::any_of(assignment.people.begin(), assignment.people.end(),
                               [&](const Person& person) { return has_number(one, person); });
        },
        [&](const CanvasName& one) {
            const HandIn hand_in = canvas_hand_in(one);
            return sender(hand_in, assignment) || !team_of(hand_in, assignment).empty();
        },
        [&](const CanvasName& one) { return may_be_rung(canvas_file(one, assignment), assignment); }};
    for (const auto& test : tests) {
        std::vector<CanvasName> fitting;
        std::copy_if(readings.begin(), readings.end(), std::back_inserter(fitting), test);
        if (fitting.size() == 1) return fitting.front();
        if (fitting.size() > 1 && &test == &tests[1]) return {fitting[0].who, fitting[0].number, "", false};
    }
    return readings.front();
}

/// A student or a group of a platform whose download is files side by side, and each with its name there.
struct Loose {
    HandIn hand_in;
    std::vector<std::pair<fs::path, std::string>> files;
};

/// What a hand-in is filed under at a platform: its number there, and its name.
using LooseKey = std::pair<std::string, std::string>;

/// Copies a hand-in for each student of the group that has handed it in.
void add_for_team(const HandIn& hand_in, const Assignment& assignment, Intake& intake) {
    const std::vector<const Person*> team = team_of(hand_in, assignment);
    if (team.empty()) {
        intake.hand_ins.push_back(hand_in);
        return;
    }
    std::vector<std::string> ids;
    for (const Person* person : team) {
        intake.hand_ins.push_back(hand_in);
        intake.hand_ins.back().member = person->id;
        ids.push_back(person->id);
    }
    intake.problems.push_back(
        fmt::format("{}: a group's hand-in; it counts for {}", hand_in.origin, fmt::join(ids, ", ")));
}

void read_loose(std::map<LooseKey, Loose>& students, const Setting& here, Intake& intake) {
    for (auto& [key, loose] : students) {
        Brought brought(here.assignment);
        for (const auto& [place, name] : loose.files) {
            std::error_code unknown;
            if (fs::is_directory(fs::symlink_status(place, unknown))) {
                brought.add_folder(place);
            } else if (is_archive(place)) {
                brought.add_archive(place, clean_name(place.filename().string()));
            } else if (brought.wanted(name)) {
                brought.add_file(place, name);
            } else {
                brought.add_other(name, clean_name(place.filename().string()));
            }
        }
        take_rungs(brought, here, loose.hand_in);
        const auto same = [&](const auto& other) { return other.first.first == key.first; };
        if (std::count_if(students.begin(), students.end(), same) > 1) {
            loose.hand_in.files.clear();
            loose.hand_in.refused = fmt::format(
                "the number {} is there with several names, of which this is '{}'; it is not clear whose "
                "it is",
                key.first, key.second);
        }
        add_for_team(loose.hand_in, here.assignment, intake);
    }
}

}  // namespace

bool is_moodles(const std::string& name) { return moodle_name(name).has_value(); }

/// Canvas has no folders.
bool is_canvas(const std::string& name, bool folder) {
    return !folder && !is_moodles(name) && !canvas_readings(name).empty();
}

std::string platform_of(const std::vector<std::string>& names) {
    std::size_t moodle = 0, canvas = 0, submissions = 0;
    bool metadata = false;
    for (const std::string& name : names) {
        const bool folder = name.ends_with('/');
        const std::string plain = folder ? name.substr(0, name.size() - 1) : name;
        moodle += is_moodles(plain);
        canvas += is_canvas(plain, folder);
        submissions += folder && is_gradescope_submission(plain);
        metadata = metadata || name == "submission_metadata.yml";
    }
    if (metadata && submissions > 0) return "Gradescope";
    if (2 * moodle > names.size()) return "Moodle";
    if (2 * canvas > names.size()) return "Canvas";
    return "";
}

void read_gradescope(const fs::path& place, const Setting& here, Intake& intake) {
    const fs::path metadata = place / "submission_metadata.yml";
    YAML::Node all;
    try {
        all = YAML::Load(read_file(metadata));
        if (!all.IsMap()) throw ClassError(metadata.string() + ": expected 'submission_NNN:' at its top");
        for (const auto& pair : all) {
            const std::string folder = pair.first.as<std::string>();
            const YAML::Node& about = pair.second;
            HandIn first;
            first.from = "gradescope";
            first.origin = clean_name(folder);
            if (const YAML::Node created = about[":created_at"]) {
                first.handed_in = parse_time(created.as<std::string>());
                if (!first.handed_in)
                    intake.problems.push_back(
                        fmt::format("{}: ':created_at' is not a time that is known here", first.origin));
            }
            if (!is_gradescope_submission(folder) || !fs::is_directory(fs::symlink_status(place / folder))) {
                first.refused = "the export has no folder of that name";
            } else {
                read_place(place / folder, here, first);
            }
            const YAML::Node senders = about[":submitters"];
            if (!senders || !senders.IsSequence() || senders.size() == 0) {
                intake.problems.push_back(
                    first.origin +
                    ": submission_metadata.yml names no sender; it is kept as an unknown hand-in");
                first.key = folder;
                intake.hand_ins.push_back(first);
                continue;
            }
            for (const YAML::Node& sender : senders) {
                HandIn one = first;
                const auto field = [&](const char* name) {
                    const YAML::Node value = sender[name];
                    return value && value.IsScalar() ? clean_name(value.as<std::string>()) : std::string();
                };
                one.name = field(":name");
                one.email = field(":email");
                one.key = field(":sid");
                if (one.key.empty()) one.key = one.email.empty() ? folder : one.email;
                intake.hand_ins.push_back(std::move(one));
            }
        }
    } catch (const YAML::Exception& error) {
        throw ClassError(fmt::format("{}: {}", metadata.string(), error.what()));
    }
}

void read_canvas(const std::vector<fs::path>& entries, const Setting& here, Intake& intake) {
    std::map<LooseKey, Loose> students;
    for (const fs::path& entry : entries) {
        const std::string name = entry.filename().string();
        const std::vector<CanvasName> readings = canvas_readings(name);
        if (readings.empty()) {
            intake.problems.push_back(clean_name(name) + ": its name is not that of a Canvas hand-in");
            continue;
        }
        const CanvasName parts = canvas_reading(readings, here.assignment);
        if (parts.file.empty()) {
            HandIn unclear = canvas_hand_in(parts);
            unclear.key = name;
            unclear.name = unclear.origin = clean_name(name);
            unclear.refused =
                "its name can be read as two students' of the roster; it is not clear whose it is";
            intake.hand_ins.push_back(std::move(unclear));
            continue;
        }
        Loose& loose = students[{parts.number, clean_name(parts.who)}];
        const bool late = loose.hand_in.marked_late || parts.late;
        loose.hand_in = canvas_hand_in(parts);
        loose.hand_in.marked_late = late;
        loose.files.emplace_back(entry, canvas_file(parts, here.assignment));
    }
    read_loose(students, here, intake);
}

void read_moodle(const std::vector<fs::path>& entries, const Setting& here, Intake& intake) {
    std::map<LooseKey, Loose> students;
    for (const fs::path& entry : entries) {
        const std::string name = entry.filename().string();
        const std::optional<MoodleName> parts = moodle_name(name);
        if (!parts) {
            intake.problems.push_back(clean_name(name) + ": its name is not that of a Moodle hand-in");
            continue;
        }
        if (parts->typed) {
            intake.problems.push_back(clean_name(name) + ": text typed into Moodle is not graded");
            continue;
        }
        Loose& loose = students[{parts->number, clean_name(parts->who)}];
        HandIn& hand_in = loose.hand_in;
        hand_in.from = "moodle";
        hand_in.key = parts->number;
        hand_in.name = clean_name(parts->who);
        hand_in.origin = clean_name(name);
        loose.files.emplace_back(entry, parts->file);
    }
    read_loose(students, here, intake);
}

}  // namespace rungs::classroom
