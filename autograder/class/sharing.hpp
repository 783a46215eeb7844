#pragma once
// The folder of a class that several people of one group work in, and decisions that several of them make at
// once.

#include <chrono>
#include <filesystem>
#include <string>

#include "judge/build/toolchain.hpp"
#include "judge/confine/process.hpp"

namespace rungs::classroom {

/// Gives a folder of grades, with all that is in it, to a group: its members can grade and decide there, and
/// nobody else can enter. @throws ClassError where there is no such group, or it cannot be done
void share_with(const std::filesystem::path& out, const std::string& group);

/// Whether a folder of grades is a group's: its mode says so, group and set-group-ID (2770).
bool is_shared(const std::filesystem::path& out);

/// Lets what this process makes from now on be the group's as well, where `out` is.
void follow_sharing(const std::filesystem::path& out);

/// Has hand-ins built in "OUT/cache", or, in a shared folder, in one for each user: builds are nobody else's.
/// What no hand-in has part in is taken from the workbook's cache, if that is this user's own.
void use_cache_in(const std::filesystem::path& out, judge::Toolchain& toolchain);

/// Held while a decision is written, and while hand-ins get another place: for moments, so everybody waits
/// for their turn. The kernel lets go of it when a process ends.
class DecisionLock {
  public:
    /// @throws ClassError where it cannot be had within `patience`; FileError
    explicit DecisionLock(const std::filesystem::path& out,
                          std::chrono::milliseconds patience = std::chrono::seconds(60));

  private:
    judge::Descriptor file_;
};

}  // namespace rungs::classroom
