#include "judge/result/kept.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <vector>

#include <nlohmann/json.hpp>

#include "judge/build/build.hpp"
#include "judge/build/cache.hpp"
#include "judge/build/edition.hpp"
#include "judge/build/hash.hpp"
#include "judge/build/source.hpp"
#include "judge/confine/sandbox.hpp"
#include "judge/judge.hpp"
#include "rungs/atomic_file.hpp"

namespace nlohmann {

template <class T>
struct adl_serializer<std::optional<T>> {
    static void to_json(json& out, const std::optional<T>& value) {
        if (value) {
            out = *value;
        } else {
            out = nullptr;
        }
    }
    static void from_json(const json& in, std::optional<T>& value) {
        if (in.is_null()) {
            value.reset();
        } else {
            value = in.get<T>();
        }
    }
};

template <>
struct adl_serializer<rungs::judge::Profile> {
    static void to_json(json& out, const rungs::judge::Profile& value) {
        for (std::size_t i = 0; i < rungs::judge::parts; ++i)
            out.push_back(value.seconds(static_cast<rungs::judge::Part>(i)));
    }
    static void from_json(const json& in, rungs::judge::Profile& value) {
        value = {};
        for (std::size_t i = 0; i < rungs::judge::parts; ++i)
            value.add(static_cast<rungs::judge::Part>(i), in.at(i));
    }
};

template <>
struct adl_serializer<uint3> {
    static void to_json(json& out, const uint3& value) { out = {value.x, value.y, value.z}; }
    static void from_json(const json& in, uint3& value) { value = {in.at(0), in.at(1), in.at(2)}; }
};

template <>
struct adl_serializer<dim3> {
    static void to_json(json& out, const dim3& value) { out = {value.x, value.y, value.z}; }
    static void from_json(const json& in, dim3& value) { value = dim3(in.at(0), in.at(1), in.at(2)); }
};

}  // namespace nlohmann

// Every field of a verdict, by type. What is not listed here is lost; kept_test.cpp compares whole reports.
namespace simt::check {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Place, file, line, column, function, caller_file, caller_line)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Side, place, access, thread, block, kernel, operation, stream)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SiteCounters, requests, lanes, sectors, lines, ideal_sectors, wavefronts,
                                   ideal_wavefronts, requested_bytes, useful_bytes, addresses, serial_steps,
                                   place, array, space, access, width)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ArrayCounters, array, space, on_host, bytes, read_sectors, written_sectors,
                                   touched_sectors)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Arithmetic, floats, doubles, fusable, special, divisions, wide_divisions,
                                   integers, branches)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LaunchCounters, kernel, grid, block, static_shared, dynamic_shared, blocks,
                                   warps, threads, cooperative, barriers, max_barriers, grid_barriers,
                                   warp_syncs, shuffles, votes, basic_blocks, active_lanes,
                                   max_warp_basic_blocks, max_warp_requests, arithmetic, sites, arrays, exact)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(HostCounters, launches, copies, copied_bytes, bytes_to_host, fills,
                                   filled_bytes, waits)

}  // namespace simt::check

namespace simt::model {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LaunchProfile, kernel, blocks, threads, shared_bytes, grid_barriers,
                                   instructions, doubles, special, requests, lines, wavefronts, shuffles,
                                   barriers, sectors, block_sectors, written_sectors, dram_read_sectors,
                                   dram_write_sectors, atomics, atomics_same, load_rounds, l2_rounds,
                                   dram_rounds, shared_rounds, sync_rounds, block_barriers,
                                   block_instructions)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CallProfile, launches, fills, filled_bytes, copies, copied_bytes, waits)

}  // namespace simt::model

namespace rungs {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Mismatch, index, got, expected, ulp, where, unwritten)

namespace judge {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Cause, kind, text, limited, source, place, which, likely)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Correctness, cases, passed, failing_case, smallest_case, error, tolerance,
                                   measure, wrong, of, things, first, cause, unwritten, varies, certain)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(QuotedFinding, tool, severity, kind, kernel, side, has_other, other, array,
                                   index, element, extent, message, advice, count, source, other_source)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ChecksResult, done, why_not, tool, cases, of, orders, findings, found_in,
                                   seconds, unchecked, unread)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TraceStep, place, array, space, access, width, phase, lanes, offsets)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(WarpTrace, kernel, block, warp, cut, steps, requests)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Tally, launches, host, profile, trace, allocations)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Counters, done, why_not, which, least_bytes, rung, reference, beyond)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Modelled, done, why_not, machine, which, baseline, speedup, of_reference,
                                   seconds, baseline_seconds, reference_seconds, limit, beats_reference,
                                   points, max_points, zero, full, elsewhere, worse)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RawTimes, rung, baseline, reference, baseline_alone, reference_alone)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Conditions, least_mhz, most_mhz, slowed_by, load)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Speed, judged, why_not, needs_gpu, speedup, low, high, of_reference,
                                   of_reference_low, of_reference_high, beats_reference, pairs, decided,
                                   seconds, baseline_seconds, reference_seconds, bandwidth, roof, floor,
                                   flops, fma_roof, baseline, trust, points, max_points, zero, full, times,
                                   conditions)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Prediction, name, ask, answer, right)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RungResult, chapter, rung, given, verdict, judged, points, max_points,
                                   causes, correctness, checks, counters, modelled, speed, predictions,
                                   diagnostics, profile, seconds, build_seconds, cached, sandbox, seed)

namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t most_kept_bytes = 64U << 20;

fs::path kept_file(const fs::path& cache, const std::string& key) { return cache / "verdicts" / key; }

}  // namespace

std::optional<std::string> verdict_key(const Manifest& manifest, const RungEntry& rung,
                                       const fs::path& source, const JudgeOptions& options) {
    if (rung.kind == Kind::predict || options.backend != Backend::cpu || !options.toolchain.check)
        return std::nullopt;
    Sha256 hash;
    const auto add_large = [&](const fs::path& file) {
        hash.add(std::to_string(fs::file_size(file)))
            .add(std::to_string(fs::last_write_time(file).time_since_epoch().count()));
    };
    try {
        for (const Mode mode : {Mode::run, Mode::check})
            hash.add(worker_key(manifest, rung, source, options.toolchain, options.backend, mode));
        add_large("/proc/self/exe");
        add_large(exam_module(manifest));
        hash.add(sandbox_level(options.backend).name).add_file(manifest.folder / "chapter.toml");
        const fs::path& root = options.toolchain.root;
        for (const RungEntry& other : manifest.rungs) {
            const bool recorded = is_edition(root) && !other.given() && other.kind != Kind::predict;
            hash.add_file(recorded ? edition_counts(root, manifest, other)
                                   : source_of(manifest, other, root, Whose::solution));
        }
    } catch (const std::runtime_error&) {  // a file cannot be read: whoever judges it says more
        return std::nullopt;
    }
    return hash.hex();
}

std::optional<RungResult> kept_verdict(const fs::path& cache, const std::string& key) {
    const std::optional<std::string> kept = from_cache(kept_file(cache, key));
    if (!kept) return std::nullopt;
    try {
        return result_of(*kept);
    } catch (const nlohmann::json::exception&) {  // another judge's
        return std::nullopt;
    }
}

void keep_verdict(const fs::path& cache, const std::string& key, const RungResult& result) {
    const bool limited = std::any_of(result.causes.begin(), result.causes.end(),
                                     [](const Cause& cause) { return cause.limited; });
    const bool by_clock = result.verdict == Verdict::timeout || result.verdict == Verdict::deadlock ||
                          result.verdict == Verdict::oom;
    if (!result.judged || limited || by_clock || !result.checks.unread.empty()) return;
    // How long judging took is no part of a verdict.
    RungResult lasting = result;
    lasting.profile = {};
    lasting.seconds = lasting.build_seconds = 0;
    lasting.cached = false;
    try {
        const WorkFolder work(cache);
        write_working_file(work.path() / "verdict", bytes_of(lasting));
        into_cache(work.path() / "verdict", kept_file(cache, key), true);
        remove_least_used(cache / "verdicts", most_kept_bytes);
    } catch (const std::runtime_error&) {
    }
}

std::string bytes_of(const RungResult& result) {
    const std::vector<std::uint8_t> bytes = nlohmann::json::to_cbor(nlohmann::json(result));
    return {bytes.begin(), bytes.end()};
}

RungResult result_of(const std::string& bytes) { return nlohmann::json::from_cbor(bytes).get<RungResult>(); }

}  // namespace judge
}  // namespace rungs
