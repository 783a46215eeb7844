#include "report/advice.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/text.hpp"

namespace rungs {
namespace {

using judge::Tally;
using simt::check::Access;
using simt::check::LaunchCounters;
using simt::check::SiteCounters;
using simt::check::Space;

double real(std::uint64_t value) { return static_cast<double>(value); }

/// Lines that are worth a word: those with at least so large a share of all sectors or wavefronts.
constexpr double worth = 0.05;

bool off_chip(const SiteCounters& site) {
    return site.space == Space::global || site.space == Space::texture;
}

/// How the lanes of a line that asks for more sectors than it needs lie in memory.
Advice about_sectors(const SiteCounters& site) {
    const double have = site.sectors_per_request(), need = ideal_per_request(site);
    const double lanes = site.lanes_per_request();
    Advice advice{"", site.place.file, site.place.line, ""};
    const std::string numbers =
        fmt::format("{} sectors per request where {} would do", ratio_text(have), ratio_text(need));
    if (have >= 0.9 * lanes && lanes > 4) {
        advice.rule = "stride";
        advice.text =
            numbers + fmt::format(
                          ": every lane touches a sector of its own. Let neighbouring threads access "
                          "neighbouring elements: threadIdx.x belongs to the index that runs fastest. Where "
                          "the data lie otherwise, transpose them through shared memory.");
    } else if (have - need <= 1.05) {
        advice.rule = "misaligned";
        advice.text =
            numbers +
            ": the warp starts in the middle of a sector. Start at an address that is a multiple of 32 "
            "bytes: pad rows to a multiple of 8 floats, and treat the odd elements at the ends separately.";
    } else {
        advice.rule = "gaps";
        advice.text =
            numbers + fmt::format(
                          ": of every sector only a part is used, {:.0f} % of the bytes. Does a warp cover "
                          "pieces of several rows? Let its 32 lanes run along one, and start rows at "
                          "multiples of 32 bytes. Does a lane read one member of a struct, or every k-th "
                          "element? Keep one array for each member, or read the whole struct at once "
                          "(float2, float4).",
                          100 * site.useful_share());
    }
    return advice;
}

void about_line(const SiteCounters& site, std::vector<Advice>& all) {
    if (site.requests == 0) return;
    const double have = cost_per_request(site), need = ideal_per_request(site);
    if (site.access == Access::atomic) {
        const double steps = real(site.serial_steps) / real(site.requests);
        if (steps < 2) return;
        all.push_back(
            {"atomics", site.place.file, site.place.line,
             fmt::format(
                 "{} lanes of a request meet at one address and go one after the other. Add up within the "
                 "warp first (__shfl_down_sync, or shared memory), then let one lane do the atomic.",
                 ratio_text(steps))});
    } else if (off_chip(site)) {
        if (have > 1.15 * need) all.push_back(about_sectors(site));
    } else if (site.space == Space::shared && have > 1.15 * need) {
        all.push_back(
            {"bank conflict", site.place.file, site.place.line,
             fmt::format("{} wavefronts per request where {} would do: lanes meet in a bank with different "
                         "words. Pad the rows by one word ([32][33]), or change which thread takes which "
                         "element, so that a warp's words lie in different banks.",
                         ratio_text(have), ratio_text(need))});
    }
}

/// Atomics that single threads make: one a request looks cheap in each line, and is not in sum.
void about_atomics(const Tally& mine, const Tally* reference, std::vector<Advice>& all) {
    const double atomics = real(mine.total(Space::global, Access::atomic).lanes);
    const double best = reference ? real(reference->total(Space::global, Access::atomic).lanes) : 0;
    if (!reference || atomics < 64 || atomics < 4 * std::max(best, 1.0)) return;
    all.push_back({"atomics", "", 0,
                   fmt::format("{} atomics on global memory; the reference makes {}. Let each thread and "
                               "each block do more before it adds.",
                               number_text(atomics), number_text(best))});
}

void about_lanes(const Tally& mine, const Tally* reference, std::vector<Advice>& all) {
    if (reference && mine.simt_efficiency() > 0.95 * reference->simt_efficiency()) return;  // it has to be
    for (const LaunchCounters& launch : mine.launches) {
        const double share = launch.simt_efficiency();
        if (share >= 0.8 || launch.warps == 0) continue;
        const std::string text = fmt::format(
            "{:.0f} % of the lanes are active on average in {}: the others wait while their warp goes "
            "through a branch that is not theirs. Let whole warps take the same branch, for example "
            "threadIdx.x "
            "< k instead of threadIdx.x % k == 0.",
            100 * share, launch.kernel);
        const auto same = [&](const Advice& advice) { return advice.text == text; };
        if (std::none_of(all.begin(), all.end(), same)) all.push_back({"divergence", "", 0, text});
    }
}

void about_structure(const Tally& mine, const Tally& reference, std::vector<Advice>& all) {
    const double moved = real(mine.total(Space::global).moved_bytes());
    const double best = real(reference.total(Space::global).moved_bytes());
    if (best > 0 && moved > 1.3 * best) {
        all.push_back({"traffic", "", 0,
                       fmt::format("{} moved between the multiprocessors and L2; the reference moves {}. "
                                   "Keep what is used again in registers or shared memory.",
                                   bytes_text(moved), bytes_text(best))});
    }
    const double asked = real(mine.total(Space::shared).requests),
                 its_asked = real(reference.total(Space::shared).requests);
    if (its_asked > 0 && asked > 1.3 * its_asked) {
        const std::vector<SiteCounters> lines = mine.lines();
        const auto most = std::max_element(lines.begin(), lines.end(), [](const auto& a, const auto& b) {
            const auto requests = [](const SiteCounters& site) {
                return site.space == Space::shared ? site.requests : 0;
            };
            return requests(a) < requests(b);
        });
        all.push_back(
            {"shared requests", most->place.file, most->place.line,
             fmt::format("{:.0f} requests to shared memory, of which {:.0f} are made here; the reference "
                         "makes {:.0f}. Read what is used again into a variable, before the loop that "
                         "uses it.",
                         asked, real(most->requests), its_asked)});
    }
    const double mine_barriers = real(mine.barriers()), its_barriers = real(reference.barriers());
    if (mine_barriers >= (its_barriers > 1 ? 1.9 * its_barriers : 3)) {
        all.push_back({"barriers", "", 0,
                       fmt::format("{} block barriers; the reference has {}. Which two accesses does each of "
                                   "them keep apart? Inside a warp, shuffles need none, and if there are "
                                   "fewer blocks that each do more, there are fewer barriers.",
                                   number_text(mine_barriers), number_text(its_barriers))});
    }
    const auto threads = [](const Tally& tally) {
        double sum = 0;
        for (const auto& launch : tally.launches) sum += real(launch.threads);
        return sum;
    };
    if (threads(reference) > 0 && threads(mine) > 1.9 * threads(reference)) {
        all.push_back({"threads", "", 0,
                       fmt::format("{} threads in {} blocks; the reference starts {} in {}. Has each of them "
                                   "something to do, or do blocks start that own nothing? If each has, let "
                                   "one thread do more.",
                                   number_text(threads(mine)), number_text(real(mine.blocks())),
                                   number_text(threads(reference)), number_text(real(reference.blocks())))});
    }
    const double launches = real(mine.host.launches), its_launches = real(reference.host.launches);
    if (launches == 0 && its_launches > 0)
        all.push_back({"launches", "", 0, "No kernel was launched: the GPU has nothing to do here."});
    if (launches > its_launches) {
        all.push_back({"launches", "", 0,
                       fmt::format("{} launches; the reference needs {}. Each costs a few microseconds: fuse "
                                   "kernels that read what another has just written.",
                                   number_text(launches), number_text(its_launches))});
    }
    const auto requests = [](const Tally& tally) {
        return real(tally.total(Space::global, Access::read).requests);
    };
    const auto width = [](const Tally& tally) {
        const auto sum = tally.total(Space::global, Access::read);
        return sum.lanes == 0 ? 0.0 : real(sum.requested_bytes) / real(sum.lanes);
    };
    if (width(reference) > 1.9 * width(mine) && requests(mine) > 1.9 * requests(reference)) {
        all.push_back({"width", "", 0,
                       fmt::format("{} bytes per lane and load; the reference loads {}. Wider loads (float2, "
                                   "float4) bring more bytes with fewer instructions.",
                                   ratio_text(width(mine)), ratio_text(width(reference)))});
    }
}

}  // namespace

double cost_per_request(const SiteCounters& site) {
    return off_chip(site) ? site.sectors_per_request() : site.wavefronts_per_request();
}

double ideal_per_request(const SiteCounters& site) {
    if (site.requests == 0) return 0;
    return real(off_chip(site) ? site.ideal_sectors : site.ideal_wavefronts) / real(site.requests);
}

std::string access_text(const SiteCounters& site) {
    static constexpr const char* spaces[] = {"global", "shared", "constant", "texture"};
    static constexpr const char* accesses[] = {"read", "write", "atomic"};
    return fmt::format("{} {}, {} {} per lane", spaces[static_cast<int>(site.space)],
                       accesses[static_cast<int>(site.access)], site.width,
                       site.width == 1 ? "byte" : "bytes");
}

std::vector<CounterRow> compare(const Tally& mine, const Tally* reference) {
    std::vector<CounterRow> rows;
    const auto add = [&](const char* what, auto value) {
        const std::string left = value(mine), right = reference ? value(*reference) : "";
        if (left == "0" && (right.empty() || right == "0")) return;
        rows.push_back({what, left, right});
    };
    const auto whole = [](std::uint64_t value) { return fmt::format("{}", value); };
    add("launches", [&](const Tally& t) { return whole(t.host.launches); });
    add("blocks", [&](const Tally& t) { return whole(t.blocks()); });
    add("lanes active", [](const Tally& t) { return fmt::format("{:.0f} %", 100 * t.simt_efficiency()); });
    add("barriers of blocks", [&](const Tally& t) { return whole(t.barriers()); });
    add("sectors per global request",
        [](const Tally& t) { return ratio_text(t.total(Space::global).sectors_per_request()); });
    add("global bytes moved",
        [](const Tally& t) { return bytes_text(real(t.total(Space::global).moved_bytes())); });
    add("of these useful",
        [](const Tally& t) { return fmt::format("{:.0f} %", 100 * t.total(Space::global).useful_share()); });
    add("atomics on global memory",
        [&](const Tally& t) { return whole(t.total(Space::global, Access::atomic).lanes); });
    add("requests to shared memory", [&](const Tally& t) { return whole(t.total(Space::shared).requests); });
    add("wavefronts of shared memory",
        [&](const Tally& t) { return whole(t.total(Space::shared).wavefronts); });
    add("bank conflicts", [&](const Tally& t) { return whole(t.total(Space::shared).bank_conflicts()); });
    return rows;
}

std::vector<Advice> advise(const Tally& mine, const Tally* reference) {
    std::vector<Advice> all;
    const std::vector<SiteCounters> lines = mine.lines();
    double sectors = 0, wavefronts = 0;
    for (const SiteCounters& site : lines) {
        sectors += real(site.sectors);
        wavefronts += real(site.wavefronts);
    }
    for (const SiteCounters& site : lines) {
        const bool much = real(site.sectors) >= worth * sectors && site.sectors > 0;
        const bool often = real(site.wavefronts) >= worth * wavefronts && site.wavefronts > 0;
        if (much || often) about_line(site, all);
    }
    about_atomics(mine, reference, all);
    about_lanes(mine, reference, all);
    if (reference) about_structure(mine, *reference, all);
    return all;
}

}  // namespace rungs
