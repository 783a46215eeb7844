#include "judge/predict.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <functional>
#include <future>
#include <map>
#include <sstream>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "judge/build/build.hpp"
#include "judge/build/diagnostics.hpp"
#include "judge/build/source.hpp"
#include "judge/counts.hpp"
#include "judge/result/clean_text.hpp"

namespace rungs::judge {
namespace {

using simt::check::Access;
using simt::check::LaunchCounters;
using simt::check::Space;

/// A value without the comment behind it and without quotes.
std::string bare(const std::string& text) {
    std::string value = trimmed(text.substr(0, text.find('#')));
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"')
        value = trimmed(value.substr(1, value.size() - 2));
    return value;
}

}  // namespace

double read_answer(const Question& question, const std::string& text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
        throw Rejected(fmt::format(
            "'{}' is not a number; a number such as 12, 0.5 or 1e6 is needed, or \"?\"", one_line(text, 40)));
    const std::vector<double>& choices = question.choices;
    if (!choices.empty() && std::find(choices.begin(), choices.end(), value) == choices.end())
        throw Rejected(fmt::format("{} is not one of the choices {}", value, fmt::join(choices, ", ")));
    return value;
}

std::vector<Answer> read_answers(const RungEntry& rung, const std::string& text, const std::string& name) {
    std::vector<Answer> answers(rung.questions.size());
    std::istringstream lines(text);
    unsigned number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        line = trimmed(line);
        if (line.empty() || line[0] == '#') continue;
        const auto refuse = [&](const std::string& why) {
            throw Rejected(fmt::format("{}:{}: {}", name, number, why));
        };
        const std::size_t equals = line.find('=');
        if (equals == std::string::npos) refuse("expected NAME = NUMBER");
        const std::string key = trimmed(line.substr(0, equals)), value = bare(line.substr(equals + 1));
        const auto same = [&](const Question& question) { return question.name == key; };
        const auto question = std::find_if(rung.questions.begin(), rung.questions.end(), same);
        if (question == rung.questions.end())
            refuse(fmt::format("there is no question '{}'", one_line(key, 40)));
        Answer& answer = answers[static_cast<std::size_t>(question - rung.questions.begin())];
        if (answer.line > 0) refuse(fmt::format("'{}' was answered in line {} already", key, answer.line));
        answer.line = number;
        if (value == "?" || value.empty()) continue;
        try {
            answer.value = read_answer(*question, value);
        } catch (const Rejected& why) {
            refuse(fmt::format("{}: {}", key, why.what()));
        }
    }
    return answers;
}

std::string with_answer(const RungEntry& rung, const std::string& text, const std::string& name,
                        std::size_t question, const std::string& answer) {
    const unsigned line = read_answers(rung, text, name)[question].line;
    const std::string mine = rung.questions[question].name + " = " + answer + '\n';
    if (line == 0) return text + (text.empty() || text.back() == '\n' ? "" : "\n") + mine;
    std::istringstream lines(text);
    std::string out;
    unsigned number = 0;
    for (std::string one; std::getline(lines, one);) out += ++number == line ? mine : one + '\n';
    return out;
}

namespace {

/// What a counter's name stands for.
struct NamedCounter {
    std::function<double(const Tally&)> value;
    bool of_lines = false;  ///< known of each line, as what accesses cost is
};

const NamedCounter& counter_named(const std::string& name) {
    const auto memory = [](Space space, auto value) {
        return NamedCounter{
            [=](const Tally& t) { return static_cast<double>(std::invoke(value, t.total(space))); }, true};
    };
    const auto accesses = [](Access access, auto value) {
        return NamedCounter{
            [=](const Tally& t) {
                return static_cast<double>(std::invoke(value, t.total(Space::global, access)));
            },
            true};
    };
    const auto launches = [](std::uint64_t LaunchCounters::*value) {
        return NamedCounter{[=](const Tally& t) {
            double sum = 0;
            for (const LaunchCounters& launch : t.launches) sum += static_cast<double>(launch.*value);
            return sum;
        }};
    };
    using Memory = simt::check::MemoryCounters;
    static const std::map<std::string, NamedCounter> counters{
        {"launches", {[](const Tally& t) { return static_cast<double>(t.host.launches); }}},
        {"blocks", launches(&LaunchCounters::blocks)},
        {"warps", launches(&LaunchCounters::warps)},
        {"threads", launches(&LaunchCounters::threads)},
        {"barriers", launches(&LaunchCounters::barriers)},
        {"shuffles", launches(&LaunchCounters::shuffles)},
        {"active_lanes", {[](const Tally& t) { return 32 * t.simt_efficiency(); }}},
        {"load_requests", accesses(Access::read, &Memory::requests)},
        {"load_sectors", accesses(Access::read, &Memory::sectors)},
        {"sectors_per_load", accesses(Access::read, &Memory::sectors_per_request)},
        {"store_requests", accesses(Access::write, &Memory::requests)},
        {"store_sectors", accesses(Access::write, &Memory::sectors)},
        {"sectors_per_store", accesses(Access::write, &Memory::sectors_per_request)},
        {"atomics", accesses(Access::atomic, &Memory::lanes)},
        {"global_bytes", memory(Space::global, &Memory::moved_bytes)},
        {"useful_share", memory(Space::global, &Memory::useful_share)},
        {"shared_requests", memory(Space::shared, &Memory::requests)},
        {"wavefronts", memory(Space::shared, &Memory::wavefronts)},
        {"wavefronts_per_request", memory(Space::shared, &Memory::wavefronts_per_request)},
        {"bank_conflicts", memory(Space::shared, &Memory::bank_conflicts)},
        {"copied_bytes", {[](const Tally& t) { return static_cast<double>(t.host.copied_bytes); }}}};
    return counters.at(name);
}

}  // namespace

double counter_of(const std::string& counter, const Tally& tally) {
    return counter_named(counter).value(tally);
}

bool counter_is_of_lines(const std::string& counter) { return counter_named(counter).of_lines; }

bool is_right(const Question& question, double answer, double counted) {
    constexpr double rounding = 1e-9;  // of a ratio that a student has written out
    return std::abs(answer - counted) <= (question.tolerance + rounding) * std::abs(counted);
}

Case case_of(const Question& question) {
    return {question.which.problem, question.which.sizes, question.which.kind, 1};
}

/// Counts what the questions ask for, on all cores, where count_reference() finds it later.
static void count_ahead(const Trial& trial) {
    std::vector<std::pair<std::string, Case>> calls;
    for (const Question& question : trial.rung.questions) {
        if (question.answer) continue;
        for (const std::string& name : {question.rung, question.over}) {
            std::pair call{name, case_of(question)};
            if (!name.empty() && std::find(calls.begin(), calls.end(), call) == calls.end())
                calls.push_back(std::move(call));
        }
    }
    // The longest first: no core is left with it at the end.
    std::stable_sort(calls.begin(), calls.end(), [&](const auto& one, const auto& other) {
        return trial.exam.work(one.second).size() > trial.exam.work(other.second).size();
    });
    std::atomic<std::size_t> next{0};
    std::atomic<int> done{0};
    const auto count = [&](bool tells) {
        for (std::size_t i = next++; i < calls.size(); i = next++) {
            const auto& [name, which] = calls[i];
            if (tells && trial.options.progress)
                trial.options.progress({trial.rung, Phase::counters, done, static_cast<int>(calls.size())});
            try {
                std::string ignored;
                count_reference(trial.reference(*trial.manifest.find(name)), which, ignored);
            } catch (const std::exception&) {
                // Whoever asks for it meets it, too.
            }
            ++done;
        }
    };
    std::vector<std::future<void>> others;
    for (std::size_t i = 1; i < std::min<std::size_t>(calls.size(), std::thread::hardware_concurrency()); ++i)
        others.push_back(std::async(std::launch::async, count, false));
    count(true);
}

std::vector<double> count_answers(const Trial& asked) {
    JudgeOptions options = asked.options;
    options.backend = Backend::cpu;
    const Trial trial = asked.with(options);
    count_ahead(trial);
    std::vector<double> counted;
    for (const Question& question : trial.rung.questions) {
        if (question.answer) {
            counted.push_back(*question.answer);
            continue;
        }
        const auto tally_of = [&](const std::string& name) {
            std::string why_not;
            const auto tally =
                count_reference(trial.reference(*trial.manifest.find(name)), case_of(question), why_not);
            if (!tally) throw InfraError(fmt::format("{} could not be counted: {}", name, why_not));
            return *tally;
        };
        const Tally tally = tally_of(question.rung);
        const double value =
            question.counter == "modelled_microseconds" ? 1e6 * modelled_seconds(options, tally)
            : question.counter == "modelled_speedup"
                ? modelled_seconds(options, tally_of(question.over)) / modelled_seconds(options, tally)
                : counter_of(question.counter, tally);
        counted.push_back(value / question.per);
    }
    return counted;
}

void judge_answers(RungResult& result, const Trial& trial) {
    const RungEntry& rung = trial.rung;
    const bool reference = trial.source.filename() == "chapter.toml";
    std::vector<Answer> answers(rung.questions.size());
    try {
        if (!reference) answers = read_answers(rung, read_rung(trial.source), rung.file());
    } catch (const Rejected& why) {
        return result.decide({.kind = Verdict::compile_error, .text = why.what(), .source = Source::build});
    }
    const std::vector<double> counted = count_answers(trial);
    std::string open;
    Cause cause;
    cause.kind = Verdict::wrong;
    cause.source = Source::counters;
    std::size_t right = 0;
    for (std::size_t i = 0; i < answers.size(); ++i) {
        const Question& question = rung.questions[i];
        if (reference) answers[i].value = counted[i];
        const std::optional<double>& answer = answers[i].value;
        const bool hit = answer && is_right(question, *answer, counted[i]);
        result.predictions.push_back({question.name, question.ask, answer, hit});
        if (hit) {
            ++right;
        } else if (!answer) {
            open += (open.empty() ? "" : ", ") + question.name;
            if (cause.place.line == 0 && answers[i].line > 0)
                cause.place = {rung.file(), answers[i].line, 0, ""};
        }
    }
    if (right == answers.size()) {
        result.verdict = Verdict::ok;
        return;
    }
    // Which ones are wrong is told where the counters are shown: here it would be an invitation to try.
    cause.text = fmt::format("{} of {} answers are right", right, answers.size());
    if (!open.empty()) cause.text += "; not answered: " + open;
    result.decide(std::move(cause));
}

}  // namespace rungs::judge
