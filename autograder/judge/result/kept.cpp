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
#include "judge/result/result_json.hpp"
#include "rungs/atomic_file.hpp"

namespace rungs::judge {
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
    } catch (const nlohmann::json::exception&) {
        return std::nullopt;
    } catch (const FieldError&) {  // another judge's
        return std::nullopt;
    }
}

void keep_verdict(const fs::path& cache, const std::string& key, const RungResult& result) {
    const bool limited = std::any_of(result.causes.begin(), result.causes.end(),
                                     [](const Cause& cause) { return cause.limited; });
    const bool by_clock = result.verdict == Verdict::timeout || result.verdict == Verdict::deadlock ||
                          result.verdict == Verdict::oom;
    if (!result.judged || limited || by_clock || !result.checks.unread.empty()) return;
    // A verdict does not include how long judging took.
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
    std::string bytes;
    nlohmann::ordered_json::to_cbor(fields_json(result, Fields::all), bytes);
    return bytes;
}

RungResult result_of(const std::string& bytes) {
    return read_result(nlohmann::ordered_json::from_cbor(bytes), Fields::all);
}

}  // namespace rungs::judge
