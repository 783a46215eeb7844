#include "counters/requests.h"

#include <algorithm>
#include <bit>

namespace simt::check {
namespace {

constexpr unsigned sector = 32, line = 128;

template <class F>
void each_lane(std::uint32_t lanes, F f) {
    for (; lanes != 0; lanes &= lanes - 1) f(static_cast<unsigned>(std::countr_zero(lanes)));
}

unsigned distinct(std::uintptr_t* values, unsigned n) {
    std::sort(values, values + n);
    return static_cast<unsigned>(std::unique(values, values + n) - values);
}

/// Distinct pieces of `piece` bytes that the lanes access.
unsigned pieces_of(const Request& request, unsigned piece) {
    std::uintptr_t list[32 * 2];
    unsigned n = 0, more = 0;
    each_lane(request.lanes, [&](unsigned i) {
        const std::uintptr_t first = request.addresses[i] / piece;
        const std::uintptr_t last = (request.addresses[i] + request.width - 1) / piece;
        if (n == 0 || list[n - 1] != first) list[n++] = first;
        if (last != first) {
            list[n++] = last;
            // Only copies of many bytes span more than two.
            more += static_cast<unsigned>(last - first - 1);
        }
    });
    return distinct(list, n) + more;
}

unsigned distinct_bytes(const Request& request) {
    std::uintptr_t starts[32];
    unsigned n = 0;
    bool ascending = true;
    each_lane(request.lanes, [&](unsigned i) {
        ascending &= n == 0 || starts[n - 1] <= request.addresses[i];
        starts[n++] = request.addresses[i];
    });
    if (!ascending) std::sort(starts, starts + n);
    std::uintptr_t bytes = 0, end = 0;
    for (unsigned k = 0; k < n; ++k) {
        const std::uintptr_t from = std::max(starts[k], end), to = starts[k] + request.width;
        if (to > from) bytes += to - from;
        end = std::max(end, to);
    }
    return static_cast<unsigned>(bytes);
}

unsigned sectors_of(const Request& request) { return pieces_of(request, sector); }

/// An atomic passes through a sector as often as lanes meet at one of its words.
unsigned sectors_of_atomic(const Request& request) {
    std::uintptr_t list[32];
    unsigned n = 0, passes = 0;
    each_lane(request.lanes, [&](unsigned i) { list[n++] = request.addresses[i]; });
    std::sort(list, list + n);
    for (unsigned i = 0; i < n;) {
        unsigned most = 0;
        const std::uintptr_t here = list[i] / sector;
        while (i < n && list[i] / sector == here) {
            unsigned j = i;
            while (j < n && list[j] == list[i]) ++j;
            most = std::max(most, j - i);
            i = j;
        }
        passes += most;
    }
    return passes;
}

/// Distinct addresses, and the most lanes at one of them.
void count_addresses(const Request& request, MemoryCounters& sum) {
    std::uintptr_t list[32];
    unsigned n = 0;
    each_lane(request.lanes, [&](unsigned i) { list[n++] = request.addresses[i]; });
    std::sort(list, list + n);
    unsigned most = 0;
    for (unsigned i = 0; i < n;) {
        unsigned j = i;
        while (j < n && list[j] == list[i]) ++j;
        ++sum.addresses;
        most = std::max(most, j - i);
        i = j;
    }
    sum.serial_steps += most;
}

/// All lanes of `lanes` have the address of their neighbour at distance `distance`, if that takes part.
bool pairs_agree(std::uint32_t lanes, const std::uint32_t offsets[32], unsigned distance) {
    bool agree = true;
    each_lane(lanes, [&](unsigned i) {
        if (lanes >> (i ^ distance) & 1) agree &= offsets[i] == offsets[i ^ distance];
    });
    return agree;
}

/// Wavefronts of one group: words of its busiest bank.
unsigned busiest_bank(unsigned width, std::uint32_t lanes, const std::uint32_t offsets[32]) {
    std::uint32_t words[32 * 4];
    unsigned n = 0;
    each_lane(lanes, [&](unsigned i) {
        const std::uint32_t first = offsets[i] / 4, last = (offsets[i] + width - 1) / 4;
        for (std::uint32_t w = first; w <= last && n < 128; ++w) words[n++] = w;
    });
    std::sort(words, words + n);
    unsigned load[32] = {}, most = 0;
    for (unsigned k = 0; k < n; ++k)
        if (k == 0 || words[k] != words[k - 1]) most = std::max(most, ++load[words[k] % 32]);
    return most;
}

}  // namespace

Wavefronts shared_wavefronts(unsigned width, std::uint32_t lanes, const std::uint32_t offsets[32],
                             bool load) {
    if (lanes == 0) return {0, 0};
    if (width <= 4) return {busiest_bank(width, lanes, offsets), 1};
    if (width > 16) {  // a copy of many bytes: at best all banks at once
        const unsigned words = static_cast<unsigned>(std::popcount(lanes)) * ((width + 3) / 4);
        const unsigned count = (words + 31) / 32;
        return {count, count};
    }
    // Groups, joined two by two where they agree: the halves of the warp, or the quarters of a half.
    const unsigned group = width <= 8 ? 16 : 8;
    Wavefronts result{0, 0};
    for (unsigned first = 0; first < 32; first += 2 * group) {
        const std::uint32_t low = ((1u << group) - 1) << first, high = low << group;
        const std::uint32_t both = lanes & (low | high);
        if (both == 0) continue;
        if (load && (pairs_agree(both, offsets, 1) || pairs_agree(both, offsets, 2))) {
            result.count += busiest_bank(width, both, offsets);
            ++result.ideal;
            continue;
        }
        for (const std::uint32_t half : {lanes & low, lanes & high})
            if (half != 0) result.count += busiest_bank(width, half, offsets), ++result.ideal;
    }
    return result;
}

void add_request(const Request& request, MemoryCounters& sum) {
    const auto lanes = static_cast<unsigned>(std::popcount(request.lanes));
    const unsigned useful = distinct_bytes(request);
    sum.lanes += lanes;
    sum.requested_bytes += std::uint64_t{lanes} * request.width;
    if (request.space != Space::texture) sum.useful_bytes += useful;
    switch (request.space) {
        case Space::shared: {
            ++sum.requests;
            std::uint32_t offsets[32];
            each_lane(request.lanes,
                      [&](unsigned i) { offsets[i] = static_cast<std::uint32_t>(request.addresses[i]); });
            const Wavefronts w =
                shared_wavefronts(request.width, request.lanes, offsets, request.access == Access::read);
            sum.wavefronts += w.count;
            sum.ideal_wavefronts += w.ideal;
            break;
        }
        case Space::texture:
            for (unsigned first = 0; first < 32; first += request.lanes_together) {
                Request part = request;
                part.lanes &= ((1u << request.lanes_together) - 1) << first;
                if (part.lanes == 0) continue;
                const unsigned bytes = distinct_bytes(part);
                ++sum.requests;
                sum.sectors += sectors_of(part);
                sum.ideal_sectors += (bytes + sector - 1) / sector;
                sum.useful_bytes += bytes;
            }
            break;
        case Space::constant:
            // One address at a time: the constant cache broadcasts.
            ++sum.requests;
            count_addresses(request, sum);
            break;
        case Space::global:
            ++sum.requests;
            sum.lines += pieces_of(request, line);
            sum.sectors +=
                request.access == Access::atomic ? sectors_of_atomic(request) : sectors_of(request);
            sum.ideal_sectors += (useful + sector - 1) / sector;
            break;
    }
    if (request.access == Access::atomic) count_addresses(request, sum);
}

}  // namespace simt::check
