// Counting launches: from requests to sums a line, to text.
#include "simt/counters.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <tuple>

#include "requests.h"
#include "state.h"

namespace simt::check {

MemoryCounters& MemoryCounters::operator+=(const MemoryCounters& o) {
    requests += o.requests;
    lanes += o.lanes;
    sectors += o.sectors;
    lines += o.lines;
    ideal_sectors += o.ideal_sectors;
    wavefronts += o.wavefronts;
    ideal_wavefronts += o.ideal_wavefronts;
    requested_bytes += o.requested_bytes;
    useful_bytes += o.useful_bytes;
    addresses += o.addresses;
    serial_steps += o.serial_steps;
    return *this;
}

MemoryCounters LaunchCounters::total(Space space, Access access) const {
    MemoryCounters sum;
    for (const SiteCounters& site : sites)
        if (site.space == space && site.access == access) sum += site;
    return sum;
}

MemoryCounters LaunchCounters::total(Space space) const {
    MemoryCounters sum;
    for (const SiteCounters& site : sites)
        if (site.space == space) sum += site;
    return sum;
}

namespace {

auto identity(const SiteCounters& s) {
    return std::tie(s.place.file, s.place.line, s.array, s.space, s.access, s.width);
}

/// Sorts by identity and adds up what is the same.
std::vector<SiteCounters> merge(std::vector<SiteCounters> sites) {
    std::stable_sort(sites.begin(), sites.end(),
                     [](const SiteCounters& a, const SiteCounters& b) { return identity(a) < identity(b); });
    std::vector<SiteCounters> merged;
    for (SiteCounters& site : sites) {
        if (!merged.empty() && identity(merged.back()) == identity(site))
            merged.back() += site;
        else
            merged.push_back(std::move(site));
    }
    return merged;
}

using SiteKey = std::tuple<const void*, std::uintptr_t, Space, Access, unsigned>;

struct Sum : MemoryCounters {
    std::string array;
};

}  // namespace

struct Counting::State : Observer {
    bool running = false;
    std::vector<LaunchCounters> launches;
    HostCounters host;

    // Of the running launch and block. Requests are matched by place in the code and occurrence between two
    // barriers of the block.
    std::map<SiteKey, Sum> sums;
    std::map<std::tuple<unsigned, const void*, unsigned>, std::pair<SiteKey, Request>> open;
    std::map<std::tuple<unsigned, unsigned, const void*>, unsigned> occurrences;
    std::uint64_t block_barriers = 0;

    void launch_begins(const char* kernel, dim3 grid, dim3 block) override {
        LaunchCounters launch;
        launch.kernel = kernel;
        launch.grid = grid;
        launch.block = block;
        launch.blocks = std::uint64_t{grid.x} * grid.y * grid.z;
        const std::uint64_t lanes = std::uint64_t{block.x} * block.y * block.z;
        launch.warps = launch.blocks * ((lanes + 31) / 32);
        launch.threads = launch.blocks * lanes;
        launches.push_back(std::move(launch));
        ++host.launches;
    }

    void flush() {
        for (auto& [key, entry] : open) add_request(entry.second, sums[entry.first]);
        open.clear();
        occurrences.clear();
    }

    void block_begins(std::uint64_t) override {
        flush();
        block_barriers = 0;
    }

    void access(const Event& e) override {
        const unsigned k = occurrences[{e.warp, e.lane, e.pc}]++;
        const SiteKey key{e.pc, e.origin, e.space, e.access, static_cast<unsigned>(e.size)};
        sums[key].array = e.array;
        auto& [site, request] = open[{e.warp, e.pc, k}];
        site = key;
        request.space = e.space;
        request.access = e.access;
        request.width = static_cast<unsigned>(e.size);
        request.lanes |= 1u << e.lane;
        request.addresses[e.lane] = e.address - (e.space == Space::shared ? state.shared_begin : 0);
    }

    void block_synchronised(std::uint64_t) override {
        flush();
        LaunchCounters& launch = launches.back();
        ++launch.barriers;
        launch.max_barriers = std::max(launch.max_barriers, ++block_barriers);
    }

    void launch_ends() override {
        flush();
        std::vector<const void*> pcs;
        for (const auto& [key, sum] : sums) pcs.push_back(std::get<0>(key));
        locate_all(pcs);
        std::vector<SiteCounters> sites;
        for (const auto& [key, sum] : sums) {
            SiteCounters site;
            static_cast<MemoryCounters&>(site) = sum;
            site.place = locate(std::get<0>(key));
            site.array = sum.array;
            site.space = std::get<2>(key);
            site.access = std::get<3>(key);
            site.width = std::get<4>(key);
            sites.push_back(std::move(site));
        }
        launches.back().sites = merge(std::move(sites));
        sums.clear();
    }
};

Counting::Counting() : state_(std::make_unique<State>()) { start(); }
Counting::~Counting() { stop(); }

void Counting::start() {
    if (!state_->running) add_observer(*state_);
    state_->running = true;
}
void Counting::stop() {
    if (state_->running) remove_observer(*state_);
    state_->running = false;
}
void Counting::clear() {
    state_->launches.clear();
    state_->host = {};
}

const std::vector<LaunchCounters>& Counting::launches() { return state_->launches; }
const HostCounters& Counting::host() const { return state_->host; }

std::vector<SiteCounters> merge_sites(const std::vector<LaunchCounters>& launches) {
    std::vector<SiteCounters> all;
    for (const LaunchCounters& launch : launches)
        all.insert(all.end(), launch.sites.begin(), launch.sites.end());
    all = merge(std::move(all));
    std::stable_sort(all.begin(), all.end(), [](const SiteCounters& a, const SiteCounters& b) {
        return a.sectors + a.wavefronts > b.sectors + b.wavefronts;
    });
    return all;
}

const char* to_string(Space space) {
    static const char* const names[] = {"global", "shared", "constant", "texture"};
    return names[static_cast<int>(space)];
}
const char* to_string(Access access) {
    static const char* const names[] = {"read", "write", "atomic"};
    return names[static_cast<int>(access)];
}

// ---- Text -------------------------------------------------------------------------------------------------

namespace {

std::string extent(dim3 v) {
    std::string text = std::to_string(v.x);
    if (v.y != 1 || v.z != 1) text += "x" + std::to_string(v.y);
    if (v.z != 1) text += "x" + std::to_string(v.z);
    return text;
}

std::string json_triple(dim3 v) {
    return "[" + std::to_string(v.x) + ", " + std::to_string(v.y) + ", " + std::to_string(v.z) + "]";
}

/// Members of a JSON object, one after the other.
class Members {
  public:
    template <class T>
    Members& add(const char* name, T value) {
        return raw(name, std::to_string(value));
    }
    Members& add(const char* name, const std::string& value) { return raw(name, json_text(value)); }
    Members& add(const char* name, const char* value) { return raw(name, json_text(value)); }
    Members& add(const char* name, bool value) { return raw(name, value ? "true" : "false"); }
    Members& raw(const char* name, const std::string& value) {
        text_ += std::string(text_.empty() ? "\"" : ", \"") + name + "\": " + value;
        return *this;
    }
    std::string object() const { return "{" + text_ + "}"; }

  private:
    std::string text_;
};

std::string json(const SiteCounters& s) {
    return Members()
        .add("file", s.place.file)
        .add("line", s.place.line)
        .add("function", s.place.function)
        .add("array", s.array)
        .add("space", to_string(s.space))
        .add("access", to_string(s.access))
        .add("width", s.width)
        .add("requests", s.requests)
        .add("lanes", s.lanes)
        .add("sectors", s.sectors)
        .add("lines", s.lines)
        .add("ideal_sectors", s.ideal_sectors)
        .add("sectors_per_request", s.sectors_per_request())
        .add("wavefronts", s.wavefronts)
        .add("ideal_wavefronts", s.ideal_wavefronts)
        .add("bank_conflicts", s.bank_conflicts())
        .add("requested_bytes", s.requested_bytes)
        .add("useful_bytes", s.useful_bytes)
        .add("moved_bytes", s.moved_bytes())
        .add("addresses", s.addresses)
        .add("serial_steps", s.serial_steps)
        .object();
}

std::string json(const ArrayCounters& a) {
    return Members()
        .add("array", a.array)
        .add("space", to_string(a.space))
        .add("bytes", a.bytes)
        .add("read_sectors", a.read_sectors)
        .add("written_sectors", a.written_sectors)
        .add("touched_sectors", a.touched_sectors)
        .object();
}

std::string json(const LaunchCounters& launch);

template <class T>
std::string json_list(const std::vector<T>& list, const char* indent) {
    std::string text = "[";
    for (std::size_t i = 0; i < list.size(); ++i)
        text += std::string(i ? "," : "") + "\n" + indent + json(list[i]);
    return text + "]";
}

std::string json(const LaunchCounters& l) {
    return Members()
        .add("kernel", l.kernel)
        .raw("grid", json_triple(l.grid))
        .raw("block", json_triple(l.block))
        .add("cooperative", l.cooperative)
        .add("static_shared", l.static_shared)
        .add("dynamic_shared", l.dynamic_shared)
        .add("blocks", l.blocks)
        .add("warps", l.warps)
        .add("threads", l.threads)
        .add("barriers", l.barriers)
        .add("max_barriers", l.max_barriers)
        .add("grid_barriers", l.grid_barriers)
        .add("warp_syncs", l.warp_syncs)
        .add("shuffles", l.shuffles)
        .add("votes", l.votes)
        .add("basic_blocks", l.basic_blocks)
        .add("active_lanes", l.active_lanes)
        .add("simt_efficiency", l.simt_efficiency())
        .add("max_warp_basic_blocks", l.max_warp_basic_blocks)
        .add("max_warp_requests", l.max_warp_requests)
        .add("exact", l.exact)
        .raw("sites", json_list(l.sites, "   "))
        .raw("arrays", json_list(l.arrays, "   "))
        .object();
}

}  // namespace

std::string to_text(const LaunchCounters& l) {
    char line[512];
    std::string text =
        "kernel " + l.kernel + ", grid " + extent(l.grid) + ", block " + extent(l.block) + "\n";
    const auto print = [&](const char* format, auto... values) {
        std::snprintf(line, sizeof line, format, values...);
        text += line;
    };
    const auto number = [](std::uint64_t n) { return static_cast<unsigned long long>(n); };
    print("  %llu warps, %.1f %% of lanes active, %llu barriers (at most %llu a block)\n", number(l.warps),
          100 * l.simt_efficiency(), number(l.barriers), number(l.max_barriers));
    if (l.warp_syncs + l.shuffles + l.votes + l.grid_barriers != 0)
        print("  %llu warp synchronisations, %llu shuffles, %llu votes, %llu grid barriers\n",
              number(l.warp_syncs), number(l.shuffles), number(l.votes), number(l.grid_barriers));
    if (!l.exact) text += "  too long to follow: the counts are too low\n";
    if (l.sites.empty()) return text;
    print("  %-22s %-20s %-16s %10s %10s %8s %10s %8s %7s\n", "line", "array", "access", "requests",
          "sectors", "per req", "wavefronts", "conflict", "useful");
    for (const SiteCounters& s : l.sites) {
        const std::string place = s.place.file + ":" + std::to_string(s.place.line);
        const std::string access =
            std::string(to_string(s.space)) + " " + to_string(s.access) + " " + std::to_string(s.width);
        const bool banks = s.space == Space::shared;
        print("  %-22s %-20s %-16s %10llu %10llu %8.2f %10llu %8llu", place.c_str(), s.array.c_str(),
              access.c_str(), number(s.requests), number(s.sectors),
              banks ? s.wavefronts_per_request() : s.sectors_per_request(), number(s.wavefronts),
              number(s.bank_conflicts()));
        if (s.sectors != 0) print(" %5.0f %%", 100 * s.useful_share());
        text += "\n";
    }
    for (const ArrayCounters& a : l.arrays)
        print("  %-22s %llu of %llu sectors read, %llu written\n",
              (a.array.empty() ? "an array without a name" : a.array).c_str(), number(a.read_sectors),
              number((a.bytes + 31) / 32), number(a.written_sectors));
    return text;
}

std::string to_json(const std::vector<LaunchCounters>& launches) { return json_list(launches, " ") + "\n"; }

}  // namespace simt::check
