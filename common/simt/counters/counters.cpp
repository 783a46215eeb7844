// Counting launches: from requests to sums a line, to text.
#include "simt/inspect/counters.h"

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <tuple>

#include "check/state.h"
#include "check/trace.h"

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

MemoryCounters MemoryCounters::operator*(std::uint64_t times) const {
    MemoryCounters m = *this;
    for (std::uint64_t* field :
         {&m.requests, &m.lanes, &m.sectors, &m.lines, &m.ideal_sectors, &m.wavefronts, &m.ideal_wavefronts,
          &m.requested_bytes, &m.useful_bytes, &m.addresses, &m.serial_steps})
        *field *= times;
    return m;
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

/// Looks up the places of sites, and merges those of one line.
std::vector<SiteCounters> name_sites(const std::vector<RawSite>& raw) {
    std::vector<SiteCounters> sites;
    for (const RawSite& from : raw) {
        SiteCounters site;
        static_cast<MemoryCounters&>(site) = from;
        site.place = locate(from.pc);
        site.array = from.array;
        site.space = from.space;
        site.access = from.access;
        site.width = from.width;
        sites.push_back(std::move(site));
    }
    return merge(std::move(sites));
}

}  // namespace

struct Counting::State {
    bool running = false;
    std::vector<RawLaunch> raw;
    std::vector<LaunchCounters> launches;  ///< of the first entries of `raw`, which are empty
    HostCounters host;
};

HostCounters* host_counters = nullptr;

namespace {
/// The running operation; what it moves is counted to it.
std::uint64_t HostCounters::*bytes_of_operation = nullptr;
}  // namespace

void count_operation(const char* name) {
    bytes_of_operation = nullptr;
    if (!host_counters || !name) return;
    const std::string_view operation = name;
    if (operation.rfind("cudaMemcpy", 0) == 0) {
        ++host_counters->copies;
        bytes_of_operation = &HostCounters::copied_bytes;
    } else if (operation.rfind("cudaMemset", 0) == 0) {
        ++host_counters->fills;
        bytes_of_operation = &HostCounters::filled_bytes;
    }
}

void count_wait() {
    if (host_counters) ++host_counters->waits;
}

void count_bytes(std::size_t bytes, bool to_host) {
    if (!host_counters || !bytes_of_operation) return;
    host_counters->*bytes_of_operation += bytes;
    if (to_host) host_counters->bytes_to_host += bytes;
}

Counting::Counting() : state_(std::make_unique<State>()) { start(); }
Counting::~Counting() { stop(); }

void Counting::start() {
    if (!state_->running) count_into(&state_->raw);
    host_counters = &state_->host;
    state_->running = true;
}
void Counting::stop() {
    if (state_->running) {
        count_into(nullptr);
        host_counters = nullptr;
    }
    state_->running = false;
}
void Counting::clear() {
    state_->raw.clear();
    state_->launches.clear();
    state_->host = {};
}

const std::vector<LaunchCounters>& Counting::launches() {
    auto& [running, raw, launches, host] = *state_;
    // One look-up for everything that is new.
    std::vector<const void*> pcs;
    for (std::size_t i = launches.size(); i < raw.size(); ++i)
        for (const RawSite& site : raw[i].sites) pcs.push_back(site.pc);
    locate_all(pcs);
    for (std::size_t i = launches.size(); i < raw.size(); ++i) {
        raw[i].counters.sites = name_sites(raw[i].sites);
        raw[i].sites.clear();
        launches.push_back(std::move(raw[i].counters));
    }
    return launches;
}
const HostCounters& Counting::host() const {
    state_->host.launches = state_->raw.size();
    return state_->host;
}

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
        .add("on_host", a.on_host)
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
