#pragma once
// Compares the launches of run mode and of check mode: nobody has seen what a kernel does that no check has
// run.

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "judge/confine/process.hpp"
#include "protocol/protocol.hpp"
#include "rungs/exam.hpp"

namespace rungs::judge {

/// Kinds of launches that a worker has told of.
class LaunchKinds {
  public:
    /// Adds those that a call of `which` was the first to make.
    void note(const protocol::Reply& reply, const Case& which);

    /// Their names, which are the same in all programs made of one source, each with its first case.
    /// `executable`: the worker's. @throws Rejected, InfraError, Stopped
    std::map<std::string, Case> named(const std::filesystem::path& executable,
                                      const std::atomic<bool>* stop) const;

    /// Whether there are more than can be told: then some are not among them.
    bool too_many() const { return too_many_; }

  private:
    std::map<protocol::LaunchKind, Case> first_;
    bool too_many_ = false;
};

/// Such a name in words for a person: the kernel, or where it was launched, and the shape of its blocks.
std::string kernel_of(const std::string& name);

}  // namespace rungs::judge
