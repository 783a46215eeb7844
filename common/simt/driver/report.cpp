// Linked into what `simt++ --check` makes, and into what links simt::report: says at the end of the program
// what it did wrong and, where that is asked for, what its launches cost.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "simt/error.h"
#include "simt/inspect/check.h"
#include "simt/inspect/counters.h"
#include "simt/inspect/model.h"
#include "simt/inspect/profile.h"

// What the command line asked for: simt++ compiles these, in place of the ones here. (Not const, whose values
// the compiler would believe.)
[[gnu::weak]] bool simt_driver_counts = false;
[[gnu::weak]] const char* simt_driver_model = "";  ///< a machine's file; empty: none
[[gnu::weak]] const char* simt_driver_json = "";   ///< where all of it goes; empty: text to standard error
[[gnu::weak]] bool simt_driver_leaks = false;      ///< memory that is never freed is an error

namespace {

using simt::check::json_text;
using simt::check::Severity;

/// What watches the launches, from before main() to the end.
struct Watch {
    simt::check::Counting counting;
    std::unique_ptr<simt::model::Machine> machine;
    std::unique_ptr<simt::model::Traffic> traffic;
};
Watch* watch = nullptr;

/// Different launches that are printed; more are for --json.
constexpr std::size_t most_printed = 10;

std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", value);
    return text;
}

std::string to_json(const simt::model::Prediction& prediction) {
    std::string text = "{\"machine\": " + json_text(watch->machine->name) +
                       ", \"seconds\": " + number(prediction.seconds) + ", \"launches\": [";
    const char* between = "\n";
    for (const simt::model::LaunchPrediction& launch : prediction.launches) {
        text += between + ("  {\"kernel\": " + json_text(launch.kernel)) +
                ", \"seconds\": " + number(launch.seconds) + ", \"limit\": " + json_text(launch.limit) + "}";
        between = ",\n";
    }
    return text + "\n]}";
}

void print(const std::vector<simt::check::LaunchCounters>& launches) {
    std::size_t printed = 0, next = 0;
    while (next < launches.size() && printed < most_printed) {
        const std::string text = to_text(launches[next]);
        std::size_t same = 1;  // in a loop, often all of them
        while (next + same < launches.size() && to_text(launches[next + same]) == text) ++same;
        if (same > 1) std::fprintf(stderr, "%zu launches like this: ", same);
        std::fputs(text.c_str(), stderr);
        next += same;
        ++printed;
    }
    if (next < launches.size())
        std::fprintf(stderr, "and %zu more launches: --json FILE has all of them\n", launches.size() - next);
}

void print(const simt::model::Prediction& prediction) {
    simt::model::Prediction some = prediction;
    if (some.launches.size() > most_printed) some.launches.resize(most_printed);
    std::fprintf(stderr, "modelled for an %s: %.4g us in %zu launches\n%s", watch->machine->name.c_str(),
                 1e6 * prediction.seconds, prediction.launches.size(), to_text(some).c_str());
}

simt::model::Prediction modelled() {
    return simt::model::predict(*watch->machine, simt::model::profile(watch->counting, *watch->traffic));
}

void print(const std::vector<simt::check::Finding>& all) {
    for (const simt::check::Finding& finding : all) std::fprintf(stderr, "%s\n", to_text(finding).c_str());
    if (watch) print(watch->counting.launches());
    if (watch && watch->machine) print(modelled());
}

std::string json_of(const std::vector<simt::check::Finding>& all) {
    std::string json = "{\"findings\": " + simt::check::to_json(all);
    if (watch) json += ", \"counters\": " + simt::check::to_json(watch->counting.launches());
    if (watch && watch->machine) json += ", \"modelled\": " + to_json(modelled());
    return json + "}\n";
}

bool write(const std::string& json) {
    std::FILE* const file = std::fopen(simt_driver_json, "w");
    const bool written = file && std::fwrite(json.data(), 1, json.size(), file) == json.size();
    if (file && std::fclose(file) == 0 && written) return true;
    std::fprintf(stderr, "simt: cannot write %s\n", simt_driver_json);
    return false;
}

/// Most severe first, as findings() has them.
std::vector<simt::check::Finding> found() {
    auto all = simt::check::findings();
    if (!simt_driver_leaks) return all;
    for (simt::check::Finding& finding : all)
        if (finding.kind == name_of(simt::check::Kind::leak) && finding.severity == Severity::warning)
            finding.severity = Severity::error;
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.severity < b.severity; });
    return all;
}

void tell(int status, void*) {
    const auto all = found();
    std::size_t errors = 0;
    for (const simt::check::Finding& finding : all) errors += finding.severity == Severity::error ? 1 : 0;
    std::fflush(nullptr);

    if (watch) watch->counting.stop();
    bool told = true;
    if (*simt_driver_json) {
        told = write(json_of(all));
    } else {
        print(all);
    }
    std::fprintf(stderr, "simt: %zu finding%s, %zu of them %s\n", all.size(), all.size() == 1 ? "" : "s",
                 errors, errors == 1 ? "an error" : "errors");
    if ((errors > 0 || !told) && status == 0) _exit(1);
}

/// A failed assert() and an exception that nobody catches end a program without what on_exit() has asked for.
void tell_at_abort(int number) {
    std::signal(number, SIG_DFL);
    tell(number, nullptr);
}

/// What is still allocated when the program's static objects are gone has leaked.
void tell_at_exit(int status, void*) {
    if (simt::sticky_error() == cudaSuccess) simt::check::find_leaks();  // after a crash nothing can be freed
    tell(status, nullptr);
}

struct Beginning {
    Beginning() {
        simt::check::watch_host(true);
        if (simt_driver_counts) {
            try {
                auto mine = std::make_unique<Watch>();
                if (*simt_driver_model) {
                    mine->machine =
                        std::make_unique<simt::model::Machine>(simt::model::read_machine(simt_driver_model));
                    mine->traffic = std::make_unique<simt::model::Traffic>(mine->machine->l2_bytes);
                }
                watch = mine.release();  // for what ends after everything else
            } catch (const std::exception& error) {
                std::fprintf(stderr, "simt: %s\n", error.what());
                std::_Exit(2);
            }
        }
        std::signal(SIGABRT, tell_at_abort);
        ::on_exit(tell_at_exit, nullptr);
    }
};
/// Before the program's static objects, so that what is asked for at the exit comes behind their destructors.
[[gnu::init_priority(102)]] const Beginning beginning;

}  // namespace
