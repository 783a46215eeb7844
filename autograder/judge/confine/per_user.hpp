#pragma once
// What a host lets a process do, which is found out by trying: once for each user that the process has been.
// What root may make, such as a control group, whoever root has become may not.

#include <unistd.h>

#include <map>
#include <mutex>

namespace rungs::judge {

template <class Found>
class PerUser {
  public:
    /// What `find` returned for the user who runs this process now.
    template <class Find>
    const Found& get(Find find) {
        const std::lock_guard lock(one_at_a_time_);
        const uid_t user = geteuid();
        auto known = known_.find(user);
        if (known == known_.end()) known = known_.emplace(user, find()).first;
        return known->second;
    }

  private:
    std::mutex one_at_a_time_;
    std::map<uid_t, Found> known_;
};

}  // namespace rungs::judge
