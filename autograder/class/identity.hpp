#pragma once
// Whose a hand-in is, and what the records call its student. Two names that look alike once they are made fit
// for a folder are still two students: a hash at the end stands for what was lost of a name.

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "class/intake.hpp"

namespace rungs::classroom {

/// Before the name of a student who is not on the roster, so that it is nobody's id.
extern const std::string unlisted;

/// The roster's students for each of whom a hand-in of Canvas or Moodle counts, since a group has handed it
/// in; none where it is one student's, or where the roster's column `group` does not tell.
std::vector<const Person*> team_of(const HandIn& hand_in, const Assignment& assignment);

/// Where a roster's column says which hand-in of a platform is a student's: its heading. Empty: it is no
/// platform.
std::string column_of(const HandIn& hand_in);

/// Who is who, once all hand-ins are known: a name that two students of a platform have is neither's.
class Senders {
  public:
    explicit Senders(const Assignment& assignment) : assignment_(assignment) {}
    void add(const HandIn& hand_in);

    /// Null: nobody on the roster.
    const Person* of(const HandIn& hand_in) const;
    /// What the records call the student: as the roster does, or, with nobody there, by a name of its own.
    std::string id_of(const HandIn& hand_in) const;
    /// Whether the roster's student of that name is not believed to have sent it, since others have that name
    /// as well.
    bool is_ambiguous(const HandIn& hand_in) const;

  private:
    const Assignment& assignment_;
    std::map<std::pair<std::string, std::string>, std::set<std::string>>
        keys_;  ///< of each platform and student
};

}  // namespace rungs::classroom
