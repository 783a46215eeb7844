// Runs generated kernels in several orders and prints what check mode finds, a line a finding:
// case seed tool array line other-line
#include "check/tests/fuzz/driver.h"

#include <cstdio>
#include <cstdlib>

#include "simt/inspect/check.h"
#include "simt/inspect/control.h"

int main(int count, char** arguments) {
    const int seeds = count > 1 ? std::atoi(arguments[1]) : 3;
    simt::set_quiet(true);
    simt::set_time_limit(20);
    for (const fuzz::Case& c : fuzz::cases) {
        for (int seed = 0; seed < seeds; ++seed) {
            simt::set_seed(static_cast<std::uint64_t>(seed));
            simt::check::clear();
            c.run();
            for (const simt::check::Finding& f : simt::check::findings())
                std::printf("%d %d %s %s %u %u\n", c.number, seed, f.kind.c_str(),
                            f.array.empty() ? "-" : f.array.c_str(), f.side.place.line,
                            f.has_other ? f.other.place.line : 0);
            cudaDeviceReset();
        }
        std::printf("%d done\n", c.number);
    }
}
