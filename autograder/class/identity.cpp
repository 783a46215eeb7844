#include "class/identity.hpp"

#include <algorithm>
#include <cctype>
#include <functional>
#include <string_view>

#include <fmt/format.h>

#include "class/policy.hpp"
#include "judge/build/hash.hpp"
#include "judge/result/clean_text.hpp"

namespace rungs::classroom {
namespace {

/// Letters and digits of any script, in small letters as far as they are ASCII's.
std::string word_form(const std::string& text) {
    std::string form;
    for (const char c : folded(text)) {
        if (std::isalnum(static_cast<unsigned char>(c)) || static_cast<unsigned char>(c) >= 0x80) form += c;
    }
    return form;
}

/// A name as Canvas writes it: the family name first, small letters and digits alone.
std::string canvas_form(const std::string& name) {
    const std::size_t blank = name.rfind(' ');
    return word_form(blank == std::string::npos ? name : name.substr(blank + 1) + name.substr(0, blank));
}

/// A name as Moodle writes it into a file's: without what file systems refuse, and underscores as blanks.
std::string moodle_form(const std::string& name) {
    std::string form;
    for (const char c : clean_name(name)) {
        if (std::string_view("&<>\"`|':\\/").find(c) != std::string_view::npos) continue;
        const char kept = c == '_' ? ' ' : c;
        if (kept != ' ' || (!form.empty() && form.back() != ' ')) form += kept;
    }
    return trimmed(form);
}

bool ends_with_name(const std::string& text, const std::string& name) {
    return !name.empty() && text.ends_with("-" + name);
}

/// The one student for whom that holds; null: none or several.
const Person* only_one(const Assignment& assignment, const std::function<bool(const Person&)>& fits) {
    const Person* found = nullptr;
    for (const Person& person : assignment.people) {
        if (!fits(person)) continue;
        if (found) return nullptr;
        found = &person;
    }
    return found;
}

/// By the platform's own number, which nobody shares.
const Person* by_number(const HandIn& hand_in, const Assignment& assignment) {
    if (hand_in.key.empty()) return nullptr;
    return only_one(assignment, [&](const Person& person) {
        const std::string number = person.column(hand_in.from);
        return number == hand_in.key || (!number.empty() && "anon_" + number == hand_in.key);
    });
}

const Person* by_platforms_name(const HandIn& hand_in, const Assignment& assignment) {
    if (hand_in.name.empty()) return nullptr;
    if (hand_in.from == "canvas") {
        const std::string form = word_form(hand_in.name);
        return only_one(assignment, [&](const Person& one) {
            return !form.empty() && (canvas_form(one.name) == form || word_form(one.name) == form);
        });
    }
    const std::string form = moodle_form(hand_in.name);
    if (const Person* one = only_one(assignment, [&](const Person& person) {
            return !form.empty() && moodle_form(person.name) == form;
        }))
        return one;
    // "Group A-Ada Lovelace": a student cannot choose what stands at the end.
    return only_one(assignment,
                    [&](const Person& one) { return ends_with_name(form, moodle_form(one.name)); });
}

struct FoundSender {
    const Person* person = nullptr;
    bool by_name = false;  ///< a platform's: others may have it as well
};

FoundSender find_sender(const HandIn& hand_in, const Assignment& assignment) {
    const std::string& key = hand_in.key;
    const auto has_address = [](const Person& person, const std::string& address) {
        return !person.email.empty() && folded(person.email) == folded(address);
    };
    if (!hand_in.member.empty())
        return {only_one(assignment, [&](const Person& person) { return person.id == hand_in.member; })};
    const Person* person = by_number(hand_in, assignment);
    if (!person && column_of(hand_in).empty()) {
        person = only_one(assignment, [&](const Person& one) {
            return one.id == key || (!one.login.empty() && one.login == key) || has_address(one, key);
        });
    }
    if (!hand_in.email.empty()) {
        const Person* const by_email =
            only_one(assignment, [&](const Person& one) { return has_address(one, hand_in.email); });
        // A number that a student may have typed, and another's address.
        if (person && by_email && person != by_email) return {};
        if (!person) person = by_email;
    }
    if (person || column_of(hand_in).empty()) return {person};
    return {by_platforms_name(hand_in, assignment), true};
}

/// Whether a name has marks that join the letter before: another name looks the same then.
bool has_joining_marks(std::string_view name) {
    while (!name.empty()) {
        const char32_t c = take_clean(name);
        if ((c >= 0x300 && c <= 0x36F) || (c >= 0x1AB0 && c <= 0x1AFF) || (c >= 0x1DC0 && c <= 0x1DFF) ||
            (c >= 0x20D0 && c <= 0x20FF) || (c >= 0xFE20 && c <= 0xFE2F))
            return true;
    }
    return false;
}

/// `text` up to a whole character.
std::string cut_to(std::string text, std::size_t most) {
    if (text.size() <= most) return text;
    while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
    return trimmed(text.substr(0, most));
}

/// A name that can be a folder's, for a student who is on no roster: the sender's own, or, where that cannot
/// be kept as it is, what can be kept, with a hash of all of it. No name has the tilde by itself (good_id).
std::string folder_name(const HandIn& hand_in) {
    const bool numbered = !column_of(hand_in).empty();
    const std::string name = !hand_in.member.empty() ? hand_in.member
                             : numbered              ? fmt::format("{} {}", hand_in.name, hand_in.key)
                                                     : hand_in.key;
    if (good_id(name) && !has_joining_marks(name)) return name;
    std::string id;
    for (const char c : clean_name(name))
        id += good_id(std::string("a") + c + "a") || static_cast<unsigned char>(c) >= 0x80 ? c : '_';
    while (!id.empty() && !good_id(id.substr(0, 1)) && static_cast<unsigned char>(id[0]) < 0x80)
        id.erase(0, 1);
    id = cut_to(trimmed(id), 80);
    return fmt::format("{}~{}", good_id(id) ? id : "student", judge::Sha256::of(name).substr(0, 16));
}

}  // namespace

const std::string unlisted = "unknown ";

std::string column_of(const HandIn& hand_in) {
    return hand_in.from == "canvas" || hand_in.from == "moodle" ? hand_in.from : "";
}

std::vector<const Person*> team_of(const HandIn& hand_in, const Assignment& assignment) {
    if (column_of(hand_in).empty()) return {};
    const bool canvas = hand_in.from == "canvas";
    const std::string form = canvas ? word_form(hand_in.name) : moodle_form(hand_in.name);
    std::set<std::string> groups;
    for (const Person& person : assignment.people) {
        const std::string group = person.column("group");
        const std::string name = canvas ? word_form(group) : moodle_form(group);
        if (!name.empty() && (form == name || (!canvas && form.starts_with(name + "-"))))
            groups.insert(group);
    }
    // Whoever is known to have handed it in says which of them it is: a group can be called as others like.
    const Person* const sender = find_sender(hand_in, assignment).person;
    const bool known = by_number(hand_in, assignment) != nullptr;
    std::string group;
    if (sender && groups.count(sender->column("group")) > 0) {
        group = sender->column("group");
    } else if (!known && !sender && groups.size() == 1) {
        group = *groups.begin();
    }
    std::vector<const Person*> team;
    for (const Person& person : assignment.people) {
        if (!group.empty() && person.column("group") == group) team.push_back(&person);
    }
    return team;
}

const Person* sender(const HandIn& hand_in, const Assignment& assignment) {
    return find_sender(hand_in, assignment).person;
}

void Senders::add(const HandIn& hand_in) {
    const Person* const person = sender(hand_in, assignment_);
    if (person && hand_in.member.empty()) keys_[{hand_in.from, person->id}].insert(hand_in.key);
}

bool Senders::is_ambiguous(const HandIn& hand_in) const {
    const FoundSender found = find_sender(hand_in, assignment_);
    if (!found.person || !found.by_name) return false;
    const auto keys = keys_.find({hand_in.from, found.person->id});
    return keys != keys_.end() && keys->second.size() > 1;
}

const Person* Senders::of(const HandIn& hand_in) const {
    return is_ambiguous(hand_in) ? nullptr : sender(hand_in, assignment_);
}

std::string Senders::id_of(const HandIn& hand_in) const {
    const Person* const person = of(hand_in);
    return person ? person->id : (assignment_.people.empty() ? "" : unlisted) + folder_name(hand_in);
}

}  // namespace rungs::classroom
