#pragma once
// Which system calls a confined process may make: a seccomp filter, put together by libseccomp.

#include <linux/filter.h>

#include <vector>

#include "judge/confine/sandbox.hpp"

namespace rungs::judge {

/// Whether this kernel filters system calls at all.
bool has_call_filters();

/// Made before a fork, because that takes memory; installed behind it.
class CallFilter {
  public:
    CallFilter() = default;  ///< refuses nothing
    /// @throws std::system_error
    explicit CallFilter(const Confinement& how);

    /// For the calling process and all it starts, from now on: none of them may have set-user-ID rights any
    /// more. Async-signal-safe.
    Failure install();

  private:
    std::vector<sock_filter> program_;
};

}  // namespace rungs::judge
