#include "lesser_host.hpp"

#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <system_error>

namespace rungs::attacks {

void become_lesser_host(const std::string& level) {
    if (level != "S0" && level != "S1" && level != "S2")
        throw std::runtime_error("a host can be made to give S0, S1 or S2, and not " + level);
    const std::unique_ptr<void, void (*)(scmp_filter_ctx)> rules(seccomp_init(SCMP_ACT_ALLOW),
                                                                 seccomp_release);
    int failed = rules ? 0 : -ENOMEM;
    const auto refuse = [&](int error, long call, const scmp_arg_cmp* compared) {
        if (failed != 0) return;
        failed = seccomp_rule_add_array(rules.get(), SCMP_ACT_ERRNO(static_cast<std::uint32_t>(error)),
                                        static_cast<int>(call), compared ? 1 : 0, compared);
    };
    // What the judge asks for; of what attacks may ask for, no more than that.
    const scmp_arg_cmp of_processes{0, SCMP_CMP_MASKED_EQ, CLONE_NEWPID, CLONE_NEWPID};
    refuse(EPERM, SYS_unshare, &of_processes);
    if (level < "S2") refuse(ENOSYS, 444 /* landlock_create_ruleset */, nullptr);
    if (level < "S1") {
        const scmp_arg_cmp filters{0, SCMP_CMP_EQ, PR_SET_SECCOMP, 0};
        refuse(EINVAL, SYS_prctl, &filters);
        refuse(ENOSYS, SYS_seccomp, nullptr);
    }
    if (failed == 0) failed = seccomp_load(rules.get());
    if (failed != 0) throw std::system_error(-failed, std::generic_category(), "a filter for system calls");
}

}  // namespace rungs::attacks
