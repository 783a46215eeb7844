// The public JSON: the fields of a result, and what follows from them.
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "judge/result/result_json.hpp"
#include "report/advice.hpp"
#include "report/report.hpp"
#include "report/text.hpp"

namespace rungs {
namespace {

using Json = nlohmann::ordered_json;

/// Puts what follows from other fields behind the field `before`, where readers of the text find it; at the
/// beginning if `before` is empty.
void add_behind(Json& json, std::string_view before,
                const std::vector<std::pair<const char*, Json>>& derived) {
    Json whole = Json::object();
    const auto add = [&] {
        for (const auto& [name, value] : derived) whole[name] = value;
    };
    if (before.empty()) add();
    for (auto& [name, value] : json.items()) {
        whole[name] = std::move(value);
        if (name == before) add();
    }
    json = std::move(whole);
}

}  // namespace

Json to_json(const Machine& machine) {
    Json gpu = nullptr;
    if (machine.gpu.present) {
        gpu = {{"name", clean_utf8(machine.gpu.name)},
               {"driver", machine.gpu.driver},
               {"capability", machine.gpu.capability},
               {"uuid", clean_utf8(machine.gpu.uuid)},
               {"clock_mhz", machine.gpu.clock_mhz},
               {"memory_clock_mhz", machine.gpu.memory_clock_mhz},
               {"ecc", machine.gpu.ecc},
               {"memory_bytes", static_cast<long long>(machine.gpu.memory)},
               {"count", machine.gpu.count}};
    }
    return {{"system", clean_utf8(machine.system)},
            {"kernel", clean_utf8(machine.kernel)},
            {"processor", clean_utf8(machine.processor)},
            {"cores", machine.cores},
            {"memory_bytes", static_cast<long long>(machine.memory)},
            {"gpu", gpu}};
}

namespace {

/// Requests to one kind of memory.
Json memory_json(const simt::check::MemoryCounters& sum, simt::check::Space space) {
    Json json = {{"requests", sum.requests}, {"lanes_per_request", sum.lanes_per_request()}};
    if (space == simt::check::Space::shared) {
        json["wavefronts"] = sum.wavefronts;
        json["wavefronts_per_request"] = sum.wavefronts_per_request();
        json["bank_conflicts"] = sum.bank_conflicts();
    } else {
        json["sectors"] = sum.sectors;
        json["sectors_per_request"] = sum.sectors_per_request();
        json["bytes_useful"] = sum.useful_bytes;
        json["bytes_moved"] = sum.moved_bytes();
    }
    return json;
}

Json line_json(const simt::check::SiteCounters& site) {
    static constexpr const char* spaces[] = {"global", "shared", "constant", "texture"};
    static constexpr const char* accesses[] = {"read", "write", "atomic"};
    Json json = {{"file", clean_utf8(site.place.file)},
                 {"line", site.place.line},
                 {"array", clean_utf8(site.array)},
                 {"space", spaces[static_cast<int>(site.space)]},
                 {"access", accesses[static_cast<int>(site.access)]},
                 {"width", site.width}};
    json.update(memory_json(site, site.space));
    json["serial_steps"] = site.serial_steps;
    return json;
}

Json tally_json(const judge::Tally& tally) {
    using simt::check::Access;
    using simt::check::Space;
    constexpr std::size_t most_lines = 50;
    std::uint64_t warps = 0, threads = 0, shuffles = 0, grid_barriers = 0;
    bool exact = true;
    for (const simt::check::LaunchCounters& launch : tally.launches) {
        warps += launch.warps;
        threads += launch.threads;
        shuffles += launch.shuffles + launch.votes;
        grid_barriers += launch.grid_barriers;
        exact = exact && launch.exact;
    }
    const simt::check::MemoryCounters atomics = tally.total(Space::global, Access::atomic);
    Json lines = Json::array();
    for (const simt::check::SiteCounters& site : tally.lines()) {
        if (lines.size() == most_lines) break;
        lines.push_back(line_json(site));
    }
    return {{"launches", tally.host.launches},
            {"copies", tally.host.copies},
            {"fills", tally.host.fills},
            {"bytes_by_kernels", tally.moved_by_kernels()},
            {"bytes_to_host", tally.seen_by_host()},
            {"warps", warps},
            {"threads", threads},
            {"simt_efficiency", tally.simt_efficiency()},
            {"barriers", tally.barriers()},
            {"grid_barriers", grid_barriers},
            {"shuffles_and_votes", shuffles},
            {"global", memory_json(tally.total(Space::global), Space::global)},
            {"global_read", memory_json(tally.total(Space::global, Access::read), Space::global)},
            {"global_write", memory_json(tally.total(Space::global, Access::write), Space::global)},
            {"shared", memory_json(tally.total(Space::shared), Space::shared)},
            {"texture", memory_json(tally.total(Space::texture), Space::texture)},
            {"atomics", {{"lanes", atomics.lanes}, {"serial_steps", atomics.serial_steps}}},
            {"exact", exact},
            {"lines", lines}};
}

/// What was counted, summed up, and what can be done about it.
void add_sums(Json& json, const judge::Counters& counters) {
    const judge::Tally* reference = counters.reference ? &*counters.reference : nullptr;
    Json advice = Json::array();
    for (const Advice& one : advise(counters.rung, reference)) {
        advice.push_back(
            {{"rule", one.rule}, {"file", clean_utf8(one.file)}, {"line", one.line}, {"text", one.text}});
    }
    json["rung"] = tally_json(counters.rung);
    json["reference"] = reference ? tally_json(*reference) : Json(nullptr);
    json["advice"] = std::move(advice);
}

}  // namespace

Json to_json(const judge::Counters& counters) {
    Json json = judge::fields_json(counters, judge::Fields::open);
    if (counters.done) add_sums(json, counters);
    return json;
}

Json to_json(const RungReport& rung) {
    const judge::RungResult& result = rung.result;
    Json json = judge::fields_json(result, judge::Fields::open);
    add_behind(json, "rung", {{"idea", clean_utf8(rung.idea)}, {"file", clean_utf8(rung.file)}});
    add_behind(json, "given", {{"kind", rung.kind}, {"kept", rung.kept}});
    add_behind(json, "verdict", {{"status", status_of(result)}});
    add_behind(json, "max_points", {{"reason", clean_utf8(result.reason())}});
    if (result.checks.done) {
        Json& findings = json.at("checks").at("findings");
        for (std::size_t i = 0; i < findings.size(); ++i)
            add_behind(findings[i], "",
                       {{"verdict", judge::name_of(judge::verdict_of(result.checks.findings[i]))}});
    }
    if (result.counters.done) add_sums(json.at("counters"), result.counters);
    if (result.speed.judged)
        add_behind(json.at("speed"), "fma_roof", {{"limit", judge::name_of(result.speed.limit())}});
    return json;
}

Json to_json(const Report& report) {
    Json rungs = Json::array();
    for (const RungReport& rung : report.rungs) rungs.push_back(to_json(rung));
    return {{"schema", "rungs.result/1"},
            {"program", {{"name", "rungs"}, {"version", report.version}}},
            {"what", clean_utf8(report.what)},
            {"backend", name_of(report.backend)},
            {"toolchain", clean_utf8(report.toolchain)},
            {"sandbox", clean_utf8(report.sandbox)},
            {"machine", to_json(report.machine)},
            {"started", report.started},
            {"seconds", report.seconds},
            {"seed", seed_text(report.seed)},
            {"finished", report.finished},
            {"score", report.score() ? Json(*report.score()) : Json(nullptr)},
            {"max_score", report.max_score()},
            {"undecided", report.undecided()},
            {"rungs", rungs}};
}

std::string json_text(const Report& report) { return to_json(report).dump(2) + '\n'; }

}  // namespace rungs
