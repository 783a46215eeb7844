// From counters to the numbers of the model.

#include "simt/inspect/profile.h"

#include <algorithm>
#include <ostream>
#include <stdexcept>

#include "model/fields.h"

namespace simt::model {

using check::Access;
using check::LaunchCounters;
using check::SiteCounters;
using check::Space;

namespace {

double real(std::uint64_t n) { return static_cast<double>(n); }

/// Instructions that take as long as a division of integers by a number that is not known to the compiler:
/// calibrate.cu's issue_division (0.121 a cycle on an H200) and issue_wide_division (0.114), of four a cycle.
constexpr double division = 33, wide_division = 35;

/// Instructions of warps, from what is counted. The factors are rounded from a fit to the instructions that
/// ncu counted for the golden set, the same for all kernels (docs/model.md). Integers count little: most of
/// what the CPU computes of addresses, the GPU has in its instructions.
double instructions_of(const LaunchCounters& c, double requests) {
    const check::Arithmetic& a = c.arithmetic;
    const double warps = real(c.warps), barriers = real(c.barriers) * warps / std::max(real(c.blocks), 1.0);
    return 10 * warps + 1.5 * requests + real(a.floats + a.doubles - a.fusable) + 2.5 * real(a.special) +
           division * real(a.divisions) + wide_division * real(a.wide_divisions) + 0.25 * real(a.integers) +
           0.5 * real(a.branches) + real(c.shuffles + c.votes) + 2 * barriers;
}

}  // namespace

CallProfile profile(check::Counting& counting, const Traffic& traffic) {
    const std::vector<LaunchCounters>& counted = counting.launches();
    const std::vector<Traffic::Launch>& watched = traffic.launches();
    if (counted.size() != watched.size()) {
        throw std::logic_error("modelled time: " + std::to_string(counted.size()) +
                               " launches were counted, " + std::to_string(watched.size()) +
                               " watched: start both together");
    }
    CallProfile call;
    call.fills = real(counting.host().fills);
    call.filled_bytes = real(counting.host().filled_bytes);
    call.copies = real(counting.host().copies);
    call.copied_bytes = real(counting.host().copied_bytes);
    call.waits = real(counting.host().waits);
    for (std::size_t i = 0; i < counted.size(); ++i) {
        const LaunchCounters& c = counted[i];
        const Traffic::Launch& t = watched[i];
        LaunchProfile p;
        p.kernel = c.kernel;
        p.blocks = real(c.blocks);
        p.threads = real(std::uint64_t{c.block.x} * c.block.y * c.block.z);
        p.shared_bytes = real(c.static_shared + c.dynamic_shared);
        p.grid_barriers = real(c.grid_barriers);
        p.shuffles = real(c.shuffles + c.votes);
        p.barriers = real(c.barriers);
        double all_requests = 0;
        for (const SiteCounters& site : c.sites) {
            all_requests += real(site.requests);
            if (site.space == Space::shared) {
                p.wavefronts += real(site.wavefronts);
            } else if (site.space != Space::constant) {
                p.requests += real(site.requests);
                p.lines += real(site.lines);
                if (site.access == Access::write) p.written_sectors += real(site.sectors);
                if (site.access == Access::read) p.sectors += real(site.sectors);
            }
        }
        p.block_sectors = real(t.block_sectors);
        p.dram_read_sectors = real(t.dram_read_sectors);
        p.dram_write_sectors = real(t.dram_write_sectors);
        p.atomics = real(t.atomics);
        p.atomics_same = real(t.atomics_same);
        p.load_rounds = t.load_rounds;
        p.l2_rounds = t.l2_rounds;
        p.dram_rounds = t.dram_rounds;
        p.shared_rounds = t.shared_rounds;
        p.sync_rounds = t.sync_rounds;
        p.block_barriers = c.blocks == 0 ? 0 : p.barriers / p.blocks;
        const double warps = std::max(real(c.warps), 1.0);
        p.instructions = instructions_of(c, all_requests);
        p.doubles = real(c.arithmetic.doubles);
        p.special = real(c.arithmetic.special);
        p.block_instructions = p.instructions / warps;
        call.launches.push_back(std::move(p));
    }
    return call;
}

void write(std::ostream& out, const CallProfile& call) {
    out.imbue(std::locale::classic());
    out.precision(17);
    out << "call " << call.fills << ' ' << call.filled_bytes << ' ' << call.copies << ' ' << call.copied_bytes
        << ' ' << call.waits << ' ' << call.launches.size() << '\n';
    for (const LaunchProfile& launch : call.launches) {
        for (const Field& field : fields) out << launch.*field.value << ' ';
        out << launch.kernel << '\n';
    }
}

}  // namespace simt::model
