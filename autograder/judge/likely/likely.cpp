#include "judge/likely/likely.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "judge/build/build.hpp"
#include "judge/build/cache.hpp"
#include "judge/build/edition.hpp"
#include "judge/build/hash.hpp"
#include "judge/build/source.hpp"
#include "judge/likely/mutants.hpp"
#include "judge/session.hpp"

namespace rungs::judge {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr double most_seconds = 6;          ///< for all mutants on one call
constexpr double most_call_seconds = 0.3;   ///< of processor time, for a call of a mutant
constexpr double reference_seconds = 3;     ///< for a call of the reference
constexpr std::size_t most_mutants = 1500;  ///< a reference that has more takes too long to compile
constexpr int most_rounds = 6;              ///< of leaving out what does not compile

/// The mutants of a rung, compiled.
struct Compiled {
    std::vector<Mutant> mutants;
    std::set<std::size_t> left_out;
    fs::path executable;  ///< empty: they cannot be compiled
};

/// Lines of the rung that the compiler complains of.
std::vector<std::size_t> lines_with_errors(const std::string& diagnostics, const std::string& file) {
    std::vector<std::size_t> lines;
    for (std::size_t at = 0; (at = diagnostics.find(file + ":", at)) != std::string::npos;) {
        at += file.size() + 1;
        const std::size_t end = diagnostics.find('\n', at);
        const std::string_view rest = std::string_view(diagnostics).substr(at, end - at);
        if (rest.find(" error: ") != std::string_view::npos)
            lines.push_back(std::strtoull(rest.data(), nullptr, 10));
    }
    return lines;
}

/// What this cache remembers of mutants that do not compile.
class LeftOut {
  public:
    LeftOut(const BackendTools& tools, const fs::path& cache, const std::string& text)
        : cache_(cache), file_(cache / "mutants" / Sha256::of(text + tools.describe)) {
        const std::string known = from_cache(file_).value_or("");
        hopeless_ = known.starts_with("all");
        for (std::size_t at = 0; !hopeless_ && at < known.size(); at = known.find('\n', at) + 1)
            numbers_.insert(std::strtoull(known.c_str() + at, nullptr, 10));
    }

    const std::set<std::size_t>& numbers() const { return numbers_; }
    bool hopeless() const { return hopeless_; }  ///< not even without them

    /// @returns whether there are more than before
    bool add(const std::vector<std::size_t>& numbers) {
        const std::size_t before = numbers_.size();
        numbers_.insert(numbers.begin(), numbers.end());
        return numbers_.size() > before;
    }
    void give_up() { hopeless_ = true; }

    void keep() const {
        const WorkFolder work(cache_);
        std::string text = hopeless_ ? "all" : "";
        for (const std::size_t number : numbers_)
            if (!hopeless_) text += fmt::format("{}\n", number);
        write_working_file(work.path() / "left_out", text);
        into_cache(work.path() / "left_out", file_, true);
    }

  private:
    fs::path cache_, file_;
    std::set<std::size_t> numbers_;
    bool hopeless_ = false;
};

/// The mutants of a line that does not compile.
std::vector<std::size_t> suspects(const Schemata& schemata, const std::string& diagnostics,
                                  const std::string& file) {
    std::vector<std::size_t> all;
    for (const std::size_t line : lines_with_errors(diagnostics, file)) {
        if (line == 0 || line > schemata.suspects.size()) continue;
        all.insert(all.end(), schemata.suspects[line - 1].begin(), schemata.suspects[line - 1].end());
    }
    return all;
}

Compiled compile(const Trial& trial) {
    const RungEntry& rung = trial.rung;
    const Toolchain& toolchain = trial.options.toolchain;
    const BackendTools* const tools = toolchain.tools(Backend::cpu);
    if (!tools) return {};
    const std::string reference = read_rung(trial.reference().source);
    const std::set<std::string> launchers = {rung.launcher()};
    Schemata schemata = mutate(reference, launchers);
    if (schemata.mutants.empty() || schemata.mutants.size() > most_mutants) return {};
    LeftOut left_out(*tools, toolchain.cache, schemata.text);
    const std::size_t known = left_out.numbers().size();
    const WorkFolder work(toolchain.cache);
    Build build;
    for (int round = 0; round < most_rounds && !left_out.hopeless(); ++round) {
        if (!left_out.numbers().empty()) schemata = mutate(reference, launchers, left_out.numbers());
        const fs::path source = work.path() / rung.file();
        write_working_file(source, schemata.text);
        build = build_worker({trial.manifest, rung, source, trial.exam, trial.options}, Backend::cpu);
        if (!build.executable.empty() || build.limited) break;
        if (!left_out.add(suspects(schemata, build.diagnostics, rung.file()))) left_out.give_up();
    }
    if (build.executable.empty() && !build.limited) left_out.give_up();
    if (left_out.numbers().size() > known || left_out.hopeless()) left_out.keep();
    return {std::move(schemata.mutants), left_out.numbers(), build.executable};
}

/// Calls of mutants, one after the other on one worker as long as it survives them.
class Mutants {
  public:
    Mutants(const fs::path& executable, const JudgeOptions& options)
        : executable_(executable), options_(options) {}

    /// What a mutant leaves; nothing: it failed, or did not end. @throws Stopped, InfraError
    std::optional<std::vector<Array>> run(std::size_t number, const WrongCall& call, const Layout& layout,
                                          double seconds = most_call_seconds) {
        if (!session_ || number != next_) {
            WorkerOptions how;
            how.cpu_seconds = 60;
            how.stop = options_.stop;
            how.order_seed = number;  // where the mutants count from
            session_.emplace(executable_, how, 5);
        }
        next_ = number + 1;
        std::optional<Cause> failed = session_->prepare(call.which.problem, *call.task, layout);
        if (!failed) failed = session_->run(protocol::all_steps, seconds);
        if (failed) {
            session_.reset();
            return std::nullopt;
        }
        return outputs_in(*call.task, layout, session_->worker().out() + protocol::reply_bytes);
    }

  private:
    const fs::path& executable_;
    const JudgeOptions& options_;
    std::optional<Session> session_;
    std::size_t next_ = 0;
};

/// How far outputs are from those of a mutant and of the reference, in sums of squares.
struct Distance {
    double from_mutant = 0, from_reference = 0, rounding = 0;
    double most_from_mutant = 0, most_from_reference = 0;  ///< of one element
    bool odd = false;    ///< a value is no number where the reference has one, and the mutant has the same
    bool other = false;  ///< they differ in what is no number

    bool explained() const {
        return !other && from_mutant <= 1e-4 * from_reference + rounding &&
               most_from_mutant <= 0.01 * most_from_reference + std::sqrt(rounding);
    }
    bool wrong() const { return odd || from_reference > 16 * rounding; }
};

template <class T>
Distance distance(std::span<const T> got, std::span<const T> mutant, std::span<const T> reference) {
    Distance sum;
    double size = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
        const auto own = static_cast<double>(got[i]), other = static_cast<double>(mutant[i]),
                   right = static_cast<double>(reference[i]);
        if (!std::isfinite(own) || !std::isfinite(other) || !std::isfinite(right)) {
            const bool same = own == other || (std::isnan(own) && std::isnan(other));
            if (!same) sum.other = true;
            if (same && std::isfinite(right)) sum.odd = true;
            continue;
        }
        sum.from_mutant += (own - other) * (own - other);
        sum.from_reference += (own - right) * (own - right);
        sum.most_from_mutant = std::max(sum.most_from_mutant, std::abs(own - other));
        sum.most_from_reference = std::max(sum.most_from_reference, std::abs(own - right));
        size += own * own;
    }
    if constexpr (std::is_floating_point_v<T>) {
        const double unit = 64.0 * static_cast<double>(std::numeric_limits<T>::epsilon());
        sum.rounding = unit * unit * size;
    }
    return sum;
}

Distance distance(const Array& got, const Array& mutant, const Array& reference) {
    switch (got.element) {
        case Element::f32:
            return distance(got.as<float>(), mutant.as<float>(), reference.as<float>());
        case Element::f64:
            return distance(got.as<double>(), mutant.as<double>(), reference.as<double>());
        case Element::i32:
            return distance(got.as<std::int32_t>(), mutant.as<std::int32_t>(), reference.as<std::int32_t>());
        default:
            return distance(got.as<std::int64_t>(), mutant.as<std::int64_t>(), reference.as<std::int64_t>());
    }
}

/// Whether the outputs are those of the mutant and not those of the reference.
bool explains(const std::vector<Array>& got, const std::vector<Array>& mutant,
              const std::vector<Array>& reference) {
    bool wrong = false;
    for (std::size_t i = 0; i < got.size(); ++i) {
        const Distance apart = distance(got[i], mutant[i], reference[i]);
        if (!apart.explained()) return false;
        wrong = wrong || apart.wrong();
    }
    return wrong;
}

/// Numbers of the mutants that explain a call. @param candidates  numbers to try, ascending
std::vector<std::size_t> explaining(const Compiled& compiled, const JudgeOptions& options,
                                    const WrongCall& call, const std::vector<std::size_t>& candidates) {
    const auto end = Clock::now() +
                     std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(most_seconds));
    Mutants mutants(compiled.executable, options);
    const Layout layout = lay_out(*call.task);
    const auto reference = mutants.run(0, call, layout, reference_seconds);
    if (!reference) return candidates;  // too large a call to compare with
    std::vector<std::size_t> found;
    for (const std::size_t number : candidates) {
        if (Clock::now() > end) break;
        const auto outputs = mutants.run(number, call, layout);
        if (outputs && explains(call.outputs, *outputs, *reference)) found.push_back(number);
    }
    return found;
}

/// The plainest of the mistakes that give the same. If many do, what came out says little, and any of them
/// would be a guess.
std::string sentence(const std::vector<Mutant>& mutants, const std::vector<std::size_t>& found) {
    constexpr std::size_t most_ways = 4;
    std::vector<std::string> ways;
    for (const std::size_t number : found) {  // the plainest first
        const Mutant& mutant = mutants[number - 1];
        const std::string way = mutant.what + (mutant.where.empty() ? "" : " (" + mutant.where + ")");
        if (std::find(ways.begin(), ways.end(), way) == ways.end()) ways.push_back(way);
    }
    if (ways.empty() || ways.size() > most_ways) return "";
    return "the same values come out if " + ways[0] + (ways.size() == 2 ? ", or if " + ways[1] : "");
}

}  // namespace

std::string likely_mistake(const Trial& trial, const std::vector<WrongCall>& calls) {
    const RungEntry& rung = trial.rung;
    const JudgeOptions& options = trial.options;
    if (calls.empty() || rung.given() || rung.kind == Kind::predict || rung.kind == Kind::summit ||
        rung.kind == Kind::repair || is_edition(options.toolchain.root))
        return "";
    const Compiled compiled = compile(trial);
    if (compiled.executable.empty()) return "";
    std::vector<std::size_t> found;
    for (std::size_t number = 1; number <= compiled.mutants.size(); ++number)
        if (!compiled.left_out.contains(number)) found.push_back(number);
    const std::size_t all = found.size();
    for (const WrongCall& call : calls) {
        found = explaining(compiled, options, call, found);
        if (found.empty()) break;
    }
    if (found.size() == all) return "";
    return sentence(compiled.mutants, found);
}

}  // namespace rungs::judge
