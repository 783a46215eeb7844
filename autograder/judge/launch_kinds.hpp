#pragma once
// Launches of run mode and of check mode, compared: a kernel that no check has run may do there what it
// likes.

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "judge/process.hpp"
#include "protocol/protocol.hpp"
#include "rungs/exam.hpp"

namespace rungs::judge {

/// Kinds of launches that a worker has told of.
class LaunchKinds {
  public:
    /// Those that a call of `which` was the first to make, or the first to be able to tell of.
    void note(const protocol::Reply& reply, const Case& which);

    /// They by names that are the same in all programs made of one source, and the case of each.
    /// `executable`: the worker's. @throws Rejected, InfraError, Stopped
    std::map<std::string, Case> named(const std::filesystem::path& executable,
                                      const std::atomic<bool>* stop) const;

    /// Whether there are more than can be told: then some are not among them.
    bool too_many() const { return too_many_; }

  private:
    std::map<protocol::LaunchKind, Case> first_;
    bool too_many_ = false;
};

/// The kernel of such a name, as a person knows it: "shared_tree_kernel", or a place of a launch.
std::string kernel_of(const std::string& name);

}  // namespace rungs::judge
