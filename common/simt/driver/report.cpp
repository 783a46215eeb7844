// Linked into what `simt++ --check` makes: says at the end of the program what it did wrong.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "simt/inspect/check.h"

namespace {

void tell(int status, void*) {
    using namespace simt::check;
    const auto all = findings();
    std::size_t errors = 0;
    std::fflush(nullptr);
    for (const Finding& finding : all) {
        errors += finding.severity == Severity::error ? 1 : 0;
        std::fprintf(stderr, "%s\n", to_text(finding).c_str());
    }
    std::fprintf(stderr, "simt: %zu findings, %zu of them errors\n", all.size(), errors);
    if (errors > 0 && status == 0) _exit(1);
}

[[maybe_unused]] const int registered = ::on_exit(tell, nullptr);

}  // namespace
