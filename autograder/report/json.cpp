#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/advice.hpp"
#include "report/report.hpp"
#include "report/text.hpp"

namespace rungs {
namespace {

using Json = nlohmann::ordered_json;

/// JSON has no NaN and no infinity; a reader that meets them must see them all the same.
Json number(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return value;
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

Json correctness_json(const judge::Correctness& found) {
    Json first = Json::array();
    for (const Mismatch& mismatch : found.first) {
        Json row = {{"index", mismatch.index},
                    {"got", number(mismatch.got)},
                    {"expected", number(mismatch.expected)},
                    {"ulp", nullptr}};
        if (mismatch.ulp != ulp_undefined) row["ulp"] = mismatch.ulp;
        if (!mismatch.where.empty()) row["where"] = clean_utf8(mismatch.where);
        first.push_back(row);
    }
    return {{"cases", found.cases},
            {"passed", found.passed},
            {"failing_case", clean_utf8(found.failing_case)},
            {"smallest_case", clean_utf8(found.smallest_case)},
            {"error", number(found.error)},
            {"tolerance", number(found.tolerance)},
            {"measure", clean_utf8(found.measure)},
            {"wrong", found.wrong},
            {"of", found.of},
            {"first_mismatches", first},
            {"cause", clean_utf8(found.cause)}};
}

Json side_json(const simt::check::Side& side, const std::string& source, bool on_device) {
    Json json = {{"file", clean_utf8(side.place.file)},
                 {"line", side.place.line},
                 {"column", side.place.column},
                 {"function", clean_utf8(side.place.function)},
                 {"access", clean_utf8(side.access)},
                 {"caller_file", clean_utf8(side.place.caller_file)},
                 {"caller_line", side.place.caller_line},
                 {"source", clean_utf8(source)},
                 {"thread", nullptr},
                 {"block", nullptr}};
    if (on_device) {
        json["thread"] = {side.thread.x, side.thread.y, side.thread.z};
        json["block"] = {side.block.x, side.block.y, side.block.z};
    }
    return json;
}

Json finding_json(const judge::QuotedFinding& finding) {
    const bool on_device = !finding.kernel.empty();
    Json json = {{"verdict", judge::name_of(judge::verdict_of(finding))},
                 {"tool", judge::name_of(finding.tool)},
                 {"severity", judge::name_of(finding.severity)},
                 {"kind", clean_utf8(finding.kind)},
                 {"kernel", clean_utf8(finding.kernel)},
                 {"side", side_json(finding.side, finding.source, on_device)},
                 {"other", nullptr},
                 {"array", nullptr},
                 {"message", clean_utf8(finding.message)},
                 {"advice", clean_utf8(finding.advice)},
                 {"count", finding.count}};
    if (finding.has_other) json["other"] = side_json(finding.other, finding.other_source, on_device);
    if (!finding.array.empty()) {
        json["array"] = {{"name", clean_utf8(finding.array)},
                         {"index", finding.index},
                         {"element_bytes", finding.element},
                         {"elements", finding.extent}};
    }
    return json;
}

Json checks_json(const judge::ChecksResult& checks) {
    if (!checks.done) return {{"done", false}, {"why_not", clean_utf8(checks.why_not)}};
    Json findings = Json::array();
    for (const judge::QuotedFinding& finding : checks.findings) findings.push_back(finding_json(finding));
    Json json = {
        {"done", true},         {"tool", clean_utf8(checks.tool)}, {"cases", checks.cases},
        {"of", checks.of},      {"orders", checks.orders},         {"found_in", clean_utf8(checks.found_in)},
        {"findings", findings}, {"unchecked", checks.unchecked},   {"seconds", checks.seconds}};
    if (!checks.unread.empty()) json["unread"] = clean_utf8(checks.unread);
    return json;
}

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

Json counters_json(const judge::Counters& counters) {
    if (!counters.done) return {{"done", false}, {"why_not", clean_utf8(counters.why_not)}};
    const judge::Tally* reference = counters.reference ? &*counters.reference : nullptr;
    Json advice = Json::array();
    for (const Advice& one : advise(counters.rung, reference)) {
        advice.push_back(
            {{"rule", one.rule}, {"file", clean_utf8(one.file)}, {"line", one.line}, {"text", one.text}});
    }
    return {{"done", true},
            {"case", clean_utf8(counters.which)},
            {"least_bytes", counters.least_bytes},
            {"rung", tally_json(counters.rung)},
            {"reference", reference ? tally_json(*reference) : Json(nullptr)},
            {"advice", advice}};
}

Json modelled_json(const judge::Modelled& modelled) {
    if (!modelled.done) return {{"done", false}, {"why_not", clean_utf8(modelled.why_not)}};
    return {{"done", true},
            {"machine", clean_utf8(modelled.machine)},
            {"case", clean_utf8(modelled.which)},
            {"baseline", modelled.baseline},
            {"speedup", number(modelled.speedup)},
            {"of_reference", number(modelled.of_reference)},
            {"seconds", number(modelled.seconds)},
            {"baseline_seconds", number(modelled.baseline_seconds)},
            {"reference_seconds", number(modelled.reference_seconds)},
            {"limit", modelled.limit},
            {"beats_reference", modelled.beats_reference},
            {"elsewhere", clean_utf8(modelled.elsewhere)},
            {"worse", number(modelled.worse)},
            {"points", modelled.points},
            {"max_points", modelled.max_points}};
}

/// To the nanosecond: a clock tells no more.
Json times_json(const std::vector<float>& microseconds) {
    Json times = Json::array();
    for (const float one : microseconds) times.push_back(number(std::round(1e3 * double{one}) / 1e3));
    return times;
}

Json speed_json(const judge::Speed& speed) {
    if (!speed.judged) return {{"judged", false}, {"why_not", clean_utf8(speed.why_not)}};
    return {{"judged", true},
            {"baseline", clean_utf8(speed.baseline)},
            {"speedup", number(speed.speedup)},
            {"interval", {number(speed.low), number(speed.high)}},
            {"of_reference", number(speed.of_reference)},
            {"of_reference_interval", {number(speed.of_reference_low), number(speed.of_reference_high)}},
            {"beats_reference", speed.beats_reference},
            {"pairs", speed.pairs},
            {"decided", speed.decided},
            {"seconds", number(speed.seconds)},
            {"baseline_seconds", number(speed.baseline_seconds)},
            {"reference_seconds", number(speed.reference_seconds)},
            {"bandwidth", number(speed.bandwidth)},
            {"roof", speed.roof > 0 ? number(speed.roof) : Json(nullptr)},
            {"floor", speed.floor > 0 ? number(speed.floor) : Json(nullptr)},
            {"flops", number(speed.flops)},
            {"fma_roof", speed.fma_roof > 0 ? number(speed.fma_roof) : Json(nullptr)},
            {"limit", judge::name_of(speed.limit())},
            {"trust", clean_utf8(speed.trust)},
            {"conditions",
             {{"least_mhz", speed.conditions.least_mhz},
              {"most_mhz", speed.conditions.most_mhz},
              {"slowed_by", speed.conditions.slowed_by},
              {"load", number(speed.conditions.load)}}},
            {"microseconds",
             {{"rung", times_json(speed.times.rung)},
              {"baseline", times_json(speed.times.baseline)},
              {"reference", times_json(speed.times.reference)},
              {"baseline_alone", times_json(speed.times.baseline_alone)},
              {"reference_alone", times_json(speed.times.reference_alone)}}}};
}

Json predictions_json(const std::vector<judge::Prediction>& predictions) {
    Json all = Json::array();
    for (const judge::Prediction& one : predictions) {
        all.push_back({{"name", one.name},
                       {"ask", clean_utf8(one.ask)},
                       {"answer", one.answer ? number(*one.answer) : Json(nullptr)},
                       {"right", one.right}});
    }
    return all;
}

Json cause_json(const judge::Cause& cause) {
    return {{"source", judge::name_of(cause.source)}, {"kind", judge::name_of(cause.kind)},
            {"file", clean_utf8(cause.place.file)},   {"line", cause.place.line},
            {"case", clean_utf8(cause.which)},        {"text", clean_utf8(cause.text)},
            {"likely", clean_utf8(cause.likely)}};
}

}  // namespace

Json to_json(const RungReport& rung) {
    const judge::RungResult& result = rung.result;
    Json causes = Json::array();
    for (const judge::Cause& cause : result.causes) causes.push_back(cause_json(cause));
    Json profile = Json::object();
    for (std::size_t i = 0; i < judge::parts; ++i) {
        const auto part = static_cast<judge::Part>(i);
        if (result.profile.seconds(part) > 0) profile[judge::name_of(part)] = result.profile.seconds(part);
    }
    return {{"chapter", clean_utf8(result.chapter)},
            {"rung", clean_utf8(result.rung)},
            {"idea", clean_utf8(rung.idea)},
            {"file", clean_utf8(rung.file)},
            {"given", result.given},
            {"kind", rung.kind},
            {"kept", rung.kept},
            {"seed", seed_text(result.seed)},
            {"sandbox", result.sandbox.empty() ? Json(nullptr) : Json(result.sandbox)},
            {"verdict", judge::name_of(result.verdict)},
            {"status", status_of(result)},
            // Points of a rung that could not be judged are not zero: they are not known.
            {"points", result.judged ? Json(result.points) : Json(nullptr)},
            {"max_points", result.max_points},
            {"reason", clean_utf8(result.reason())},
            {"causes", causes},
            {"correctness", correctness_json(result.correctness)},
            {"checks", checks_json(result.checks)},
            {"counters", counters_json(result.counters)},
            {"modelled", modelled_json(result.modelled)},
            {"speed", speed_json(result.speed)},
            {"predictions", predictions_json(result.predictions)},
            {"compile",
             {{"seconds", result.build_seconds},
              {"cached", result.cached},
              {"diagnostics", clean_utf8(result.diagnostics)}}},
            {"seconds", result.seconds},
            {"profile", profile}};
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

Json to_json(const judge::Counters& counters) { return counters_json(counters); }

std::string json_text(const Report& report) { return to_json(report).dump(2) + '\n'; }

}  // namespace rungs
