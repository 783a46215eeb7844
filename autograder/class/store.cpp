// Hand-ins in the folder of a class: each student's attempts, as they were taken in.
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "class/brought.hpp"
#include "class/identity.hpp"
#include "class/record.hpp"
#include "class/sharing.hpp"
#include "judge/build/hash.hpp"
#include "judge/result/clean_text.hpp"
#include "rungs/atomic_file.hpp"

namespace rungs::classroom {
namespace {

namespace fs = std::filesystem;

/// A hand-in that has disappeared was not withdrawn: nobody has decided that.
constexpr const char* gone_but_counts = "no longer in CLASS; what was taken in before still counts";

/// What a hand-in is told apart by: when it came, and its bytes.
std::string digest_of(const HandIn& hand_in) {
    judge::Sha256 hash;
    hash.add(hand_in.handed_in ? time_text(*hand_in.handed_in) : "").add(hand_in.marked_late ? "late" : "");
    hash.add(hand_in.refused);
    for (const auto& [path, file] : hand_in.files) hash.add(path).add(read_own_file(file));
    for (const LookAlike& one : hand_in.alike)
        hash.add(one.name).add(one.file.empty() ? std::string() : read_own_file(one.file));
    return hash.hex();
}

nlohmann::ordered_json student_of(const HandIn& hand_in, const Senders& senders) {
    const Person* const person = senders.of(hand_in);
    return {{"id", senders.id_of(hand_in)},
            {"name", clean_name(person ? person->name : hand_in.name)},
            {"email", clean_name(person ? person->email : hand_in.email)},
            {"login", clean_name(person ? person->login : hand_in.login)}};
}

/// What another roster may find the sender by. Null where that cannot be written down as it is: a name that
/// was cleaned may be somebody else's.
nlohmann::ordered_json sender_json(const HandIn& hand_in) {
    for (const std::string& text : {hand_in.key, hand_in.name, hand_in.email, hand_in.login}) {
        if (clean_name(text) != text) return nullptr;
    }
    return {{"key", hand_in.key},
            {"name", hand_in.name},
            {"email", hand_in.email},
            {"login", hand_in.login},
            {"member", hand_in.member}};
}

/// The sender of what was taken in as `about`, in the folder `home`. Without a key: that is not known.
HandIn sender_in(const nlohmann::ordered_json& about, const std::string& home) {
    HandIn hand_in;
    hand_in.from = about.at("from");
    if (const auto found = about.find("sender"); found == about.end()) {
        // Taken in when that was not written down yet. A platform's number is only a part of the name then.
        if (hand_in.from != "canvas" && hand_in.from != "moodle")
            hand_in.key =
                home.compare(0, unlisted.size(), unlisted) == 0 ? home.substr(unlisted.size()) : home;
    } else if (!found->is_null()) {
        hand_in.key = found->at("key");
        hand_in.name = found->at("name");
        hand_in.email = found->at("email");
        hand_in.login = found->at("login");
        hand_in.member = found->value("member", "");
    }
    return hand_in;
}

/// Numbers of the attempts in a student's folder. What begins with a dot is not whole.
std::set<int> attempts_in(const fs::path& home) {
    std::set<int> numbers;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(home, none)) {
        const std::string name = entry.path().filename().string();
        if (name.front() != '.') numbers.insert(std::atoi(name.c_str()));
    }
    return numbers;
}

/// A hand-in that was taken in before, and where it is.
struct Stored {
    std::string home;
    int number;
    HandIn hand_in;  ///< its sender
};

std::vector<Stored> stored_in(const fs::path& out) {
    std::vector<Stored> all;
    std::error_code none;
    std::set<std::string> homes;
    for (const auto& entry : fs::directory_iterator(out / "hand-ins", none))
        homes.insert(entry.path().filename().string());
    for (const std::string& home : homes) {
        for (const int number : attempts_in(out / "hand-ins" / home)) {
            const fs::path file = out / "hand-ins" / home / std::to_string(number) / "hand-in.json";
            all.push_back(
                {home, number, sender_in(nlohmann::ordered_json::parse(read_own_file(file)), home)});
        }
    }
    return all;
}

/// Moves what was taken in before to the student whose it is by the present roster, with its records and
/// decisions: otherwise a student would be there twice, once for each roster.
void follow_roster(const fs::path& out, const Senders& senders, const std::vector<Stored>& stored) {
    make_folder(out);
    const DecisionLock no_decision_meanwhile(out);
    for (const Stored& move : stored) {
        const std::string to = move.hand_in.key.empty() ? move.home : senders.id_of(move.hand_in);
        if (to == move.home) continue;
        const std::set<int> there = attempts_in(out / "hand-ins" / to);
        const int number = std::max(move.number, there.empty() ? 1 : *there.rbegin() + 1);
        const fs::path file = out / "hand-ins" / move.home / std::to_string(move.number) / "hand-in.json";
        nlohmann::ordered_json about = nlohmann::ordered_json::parse(read_own_file(file));
        about["student"] = student_of(move.hand_in, senders);
        about["attempt"] = number;
        write_file(file, about.dump(2) + '\n');
        // The hand-in comes last: until it is there, another start does what is left.
        for (const char* top : {"decisions", "takes", "records", "hand-ins"}) {
            const fs::path was = out / top / move.home, is = out / top / to;
            std::error_code unknown;
            if (!fs::exists(was / std::to_string(move.number), unknown)) continue;
            make_folder(is);
            fs::rename(was / std::to_string(move.number), is / std::to_string(number));
            sync_folder(is);
            sync_folder(was);
            fs::remove(was, unknown);  // only if it is empty
        }
    }
    std::error_code none;
    std::set<std::string> homes;
    for (const auto& entry : fs::directory_iterator(out / "hand-ins", none))
        homes.insert(entry.path().filename().string());
    // An empty folder would be a student who has handed in nothing.
    for (const std::string& home : homes) {
        fs::remove_all(out / "hand-ins" / home / ".part", none);
        fs::remove(out / "hand-ins" / home, none);
    }
}

/// Adds what an instructor should know about one hand-in, a line each.
void add_problems(const HandIn& hand_in, const Senders& senders, const Assignment& assignment,
                  std::vector<std::string>& problems) {
    const std::string id = senders.id_of(hand_in);
    if (!senders.of(hand_in) && !assignment.people.empty()) {
        const std::string column = column_of(hand_in);
        problems.push_back(
            senders.is_ambiguous(hand_in)
                ? fmt::format(
                      "{}: several senders have that name, so it is not assigned to {}; the roster's column "
                      "'{}' tells them apart; it is graded as '{}'",
                      hand_in.origin, sender(hand_in, assignment)->id, column, id)
            : column.empty()
                ? fmt::format("{}: not on the roster; it is graded as '{}'", hand_in.origin, id)
                : fmt::format("{}: not on the roster, which has neither '{}' in a column '{}' nor that "
                              "name; it is graded as '{}'",
                              hand_in.origin, clean_name(hand_in.key), column, id));
    }
    const std::string which = hand_in.origin == id ? "the hand-in" : hand_in.origin;
    if (!hand_in.refused.empty())
        problems.push_back(
            fmt::format("{}: {} is refused: {}{}", id, which, hand_in.refused, hand_in.expected));
    std::map<std::string, std::vector<std::string>> meant;
    for (const LookAlike& one : hand_in.alike)
        meant[one.name].push_back(one.rung.substr(0, 2) + "/" +
                                  fs::path(one.rung).filename().string().substr(0, 2));
    for (const auto& [name, rungs] : meant)
        problems.push_back(fmt::format("{}: {} may be meant as {}; ./rungs review shows how to take it", id,
                                       name, fmt::join(rungs, " or ")));
    for (const std::string& name : hand_in.ignored)
        problems.push_back(fmt::format("{}: {} is not an exercise of this assignment", id, name));
    if (hand_in.refused.empty() && hand_in.files.empty())
        problems.push_back(fmt::format("{}: {} is empty and earns no points", id, which));
}

/// Writes a hand-in as a student's attempt: all of it or nothing, a folder that is renamed when it is whole.
void write_attempt(const fs::path& home, int number, const HandIn& hand_in, const std::string& digest,
                   const Senders& senders) {
    const fs::path part = home / ".part";
    fs::remove_all(part);
    make_folder(part);
    const auto put = [&](const fs::path& path, const fs::path& file, nlohmann::ordered_json about) {
        const std::string bytes = read_own_file(file);
        make_folder((part / path).parent_path());
        write_file(part / path, bytes);
        about.update(
            {{"path", path.string()}, {"sha256", judge::Sha256::of(bytes)}, {"bytes", bytes.size()}});
        return about;
    };
    nlohmann::ordered_json files = nlohmann::ordered_json::array(), alike = files;
    for (const auto& [path, file] : hand_in.files)
        files.push_back(put(path, file, nlohmann::ordered_json::object()));
    for (const LookAlike& one : hand_in.alike) {
        const nlohmann::ordered_json about = {{"rung", one.rung}, {"name", one.name}};
        const fs::path place =
            fs::path("alike") / std::to_string(alike.size()) / fs::path(one.rung).filename();
        alike.push_back(one.file.empty() ? about : put(place, one.file, about));
    }
    const nlohmann::ordered_json about = {
        {"schema", "rungs.hand-in/1"},
        {"student", student_of(hand_in, senders)},
        {"sender", sender_json(hand_in)},
        {"attempt", number},
        {"from", hand_in.from},
        {"origin", hand_in.origin},
        {"handed_in", hand_in.handed_in ? nlohmann::ordered_json(time_text(*hand_in.handed_in))
                                        : nlohmann::ordered_json(nullptr)},
        {"marked_late", hand_in.marked_late},
        {"refused", hand_in.refused + hand_in.expected},
        {"digest", digest},
        {"files", files},
        {"alike", alike},
        {"ignored", hand_in.ignored}};
    write_file(part / "hand-in.json", about.dump(2) + '\n');
    fs::rename(part, home / std::to_string(number));
    sync_folder(home);
}

}  // namespace

void store(const fs::path& out, const Assignment& assignment, Intake& intake) {
    const std::vector<Stored> stored = stored_in(out);
    Senders senders(assignment);
    for (const Stored& one : stored) senders.add(one.hand_in);
    for (const HandIn& hand_in : intake.hand_ins) senders.add(hand_in);
    follow_roster(out, senders, stored);
    std::map<std::string, std::vector<const HandIn*>> students;
    std::size_t without_time = 0;
    for (const HandIn& hand_in : intake.hand_ins) {
        const Person* person = senders.of(hand_in);
        // Canvas marks what is late, and a repository is taken as it was when it was due.
        const bool is_timed = hand_in.handed_in || hand_in.from == "canvas" || hand_in.from == "git" ||
                              (person && parse_time(person->column("handed_in")));
        if (!is_timed && hand_in.refused.empty() && (assignment.due || (person && person->due)))
            ++without_time;
        add_problems(hand_in, senders, assignment, intake.problems);
        students[senders.id_of(hand_in)].push_back(&hand_in);
    }
    // First, so that no number of others hides it.
    if (without_time > 0) {
        intake.problems.insert(
            intake.problems.begin(),
            fmt::format("{} without a time, treated as punctual: name them STUDENT@TIME, or add 'handed_in' "
                        "to the roster",
                        without_time == 1 ? "1 hand-in" : fmt::format("{} hand-ins", without_time)));
    }
    for (auto& [id, hand_ins] : students) {
        std::stable_sort(hand_ins.begin(), hand_ins.end(), [](const HandIn* a, const HandIn* b) {
            return a->handed_in.value_or(0) < b->handed_in.value_or(0);
        });
        const fs::path home = out / "hand-ins" / id;
        std::set<std::string> known, in_class;
        std::map<int, std::string> attempts;
        int last = 0;
        std::error_code none;
        for (const auto& entry : fs::directory_iterator(home, none)) {
            const std::string name = entry.path().filename().string();
            if (name.front() == '.') continue;
            const std::string digest =
                nlohmann::json::parse(read_own_file(entry.path() / "hand-in.json")).at("digest");
            known.insert(digest);
            attempts[std::atoi(name.c_str())] = digest;
            last = attempts.rbegin()->first;
        }
        for (const HandIn* hand_in : hand_ins) {
            const std::string digest = digest_of(*hand_in);
            in_class.insert(digest);
            if (!known.insert(digest).second) continue;
            write_attempt(home, ++last, *hand_in, digest, senders);
            attempts[last] = digest;
        }
        for (const auto& [number, digest] : attempts) {
            const bool may_count = assignment.counts != Counts::last || number == last;
            if (may_count && !in_class.count(digest))
                intake.problems.push_back(fmt::format("{}: attempt {} is {}", id, number, gone_but_counts));
        }
    }
    std::error_code none;
    std::set<std::string> gone;
    for (const auto& home : fs::directory_iterator(out / "hand-ins", none)) {
        for (const auto& attempt : fs::directory_iterator(home.path(), none)) {
            const std::string id = home.path().filename().string();
            if (attempt.path().filename().string().front() != '.' && !students.count(id)) gone.insert(id);
        }
    }
    for (const std::string& id : gone) intake.problems.push_back(fmt::format("{}: {}", id, gone_but_counts));
    if (!assignment.people.empty()) {
        for (const Person& person : assignment.people) {
            if (!fs::exists(out / "hand-ins" / person.id))
                intake.problems.push_back(fmt::format("{}: nothing was handed in", person.id));
        }
    }
}

}  // namespace rungs::classroom
