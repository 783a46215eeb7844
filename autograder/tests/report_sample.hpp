#pragma once
// A report with one rung of every kind, for tests of what is rendered from it.

#include <limits>
#include <string>
#include <type_traits>

#include "judge/result/fields.hpp"
#include "report/report.hpp"

namespace rungs::test {

/// Text that breaks careless writers: markup, end of CDATA, NUL, invalid UTF-8, an escape,
/// a bidirectional override.
inline std::string hostile() {
    static constexpr char text[] =
        "<script>alert(1)</script> ]]> & \"q\" 'a' \0 \xff\xc3 \x1b[31m \xe2\x80\xae end";
    return {text, sizeof text - 1};
}

inline RungReport sample_rung(const std::string& name, judge::Verdict verdict, double points,
                              double max_points) {
    RungReport rung;
    rung.idea = "one atomic a block";
    rung.file = "chapters/01_reduction/" + name + ".cu";
    judge::RungResult& result = rung.result;
    result.chapter = "01_reduction";
    result.rung = name;
    result.given = max_points == 0;
    result.verdict = verdict;
    result.judged = judge::owner_of(verdict) == judge::Owner::student;
    result.points = points;
    result.max_points = max_points;
    result.correctness.cases = 54;
    result.correctness.passed = result.passed() ? 54 : 3;
    result.correctness.measure = "|got - expected| / sum |v|";
    result.correctness.error = 1e-8;
    result.correctness.tolerance = 1e-6;
    result.speed.why_not = "speed: not judged on the cpu backend";
    result.seconds = 1.5;
    return rung;
}

/// A race, as check mode reports it, with `text` wherever a text may be.
inline judge::QuotedFinding sample_finding(const std::string& text) {
    judge::QuotedFinding finding;
    finding.tool = simt::check::Tool::racecheck;
    finding.kind = "read-write";
    finding.kernel = text;
    finding.side.place = {"08_grid_stride.cu", 21, 0, text};
    finding.side.access = "write of 4 bytes";
    finding.side.thread = {1, 0, 0};
    finding.side.block = {2, 0, 0};
    finding.has_other = true;
    finding.other = finding.side;
    finding.other.place.line = 24;
    finding.other.access = "read of 4 bytes";
    finding.other.thread = {37, 0, 0};
    finding.array = text;
    finding.index = 5;
    finding.element = 4;
    finding.extent = 256;
    finding.message = text;
    finding.advice = "Put __syncthreads() between the two.";
    finding.count = 12;
    finding.source = text;
    finding.other_source = "sum += partial[i];";
    return finding;
}

/// Gives each value that it meets another one than the last, and none its default.
class Fill {
  public:
    template <class T>
    void operator()(T& value) const {
        const unsigned next = ++count_;
        if constexpr (std::is_same_v<T, bool>) {
            value = true;
        } else if constexpr (std::is_same_v<T, std::string>) {
            value = "text " + std::to_string(next);
        } else if constexpr (std::is_enum_v<T>) {
            value = static_cast<T>(1);
        } else if constexpr (std::is_arithmetic_v<T>) {
            value = static_cast<T>(next + (std::is_floating_point_v<T> ? 0.5 : 0));
        } else if constexpr (judge::is_optional<T>) {
            value.emplace();
        } else if constexpr (requires { value.x; }) {
            value = T{next, next + 1, next + 2};
        } else if constexpr (std::is_same_v<T, judge::Profile>) {
            for (std::size_t i = 0; i < judge::parts; ++i)
                value.add(static_cast<judge::Part>(i), next + 0.25 * static_cast<double>(i));
        } else if constexpr (requires { value.resize(2); }) {
            value.resize(2);
        }
    }

  private:
    mutable unsigned count_ = 0;
};

/// A result in which every field has a value of its own.
inline judge::RungResult full_result() {
    judge::RungResult result;
    judge::each_value(result, Fill());
    return result;
}

/// Given OK, exercise OK with a remark, RACE after WRONG with NaN and infinity, COMPILE_ERROR with
/// hostile text, NOT_RUN.
inline Report sample_report() {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    constexpr double infinity = std::numeric_limits<double>::infinity();
    Report report;
    report.version = "0.1.0";
    report.what = "your rungs";
    report.title = "Reduction";
    report.started = "2026-01-31T12:00:00Z";
    report.seconds = 7.5;
    report.finished = true;
    report.toolchain = "GNU 12.2.0";
    report.sandbox = "S1: limits";
    report.seed = 0x2a;
    report.command = "./rungs check 01 --seed 0x2a";
    report.machine = {"Debian", "6.1", "CPU <model>", 2, 8e9, false, {}};
    report.machine.gpu.why_not = "no NVIDIA driver on this machine";
    report.rungs = {sample_rung("01_atomic", judge::Verdict::ok, 0, 0),
                    sample_rung("03_shared_tree", judge::Verdict::ok, 10, 10),
                    sample_rung("08_grid_stride", judge::Verdict::wrong, 0, 10),
                    sample_rung("09_warp_shuffle", judge::Verdict::compile_error, 0, 10),
                    sample_rung("11_one_launch", judge::Verdict::not_run, 0, 20)};
    for (RungReport& rung : report.rungs) rung.result.checks.why_not = "not done";
    for (std::size_t i = 0; i < 4; ++i) report.rungs[i].result.sandbox = "S1";
    judge::ChecksResult& remarks = report.rungs[1].result.checks;
    remarks = {true, "", "check mode, GNU 12.2.0",           20,
               20,   3,  {sample_finding("at <5> & \"q\"")}, "sum of 2 floats",
               0.5};
    remarks.findings[0].severity = simt::check::Severity::note;
    judge::ChecksResult& race = report.rungs[2].result.checks;
    race = {
        true,      "", "check mode, GNU 12.2.0", 0, 20, 3, {sample_finding(hostile()), sample_finding("")},
        hostile(), 0.5};
    race.findings[1].tool = simt::check::Tool::memcheck;
    race.findings[1].has_other = false;
    race.findings[1].index = -3;
    judge::RungResult& wrong = report.rungs[2].result;
    wrong.correctness.failing_case = "sum of 257 floats, kind uniform, seed 0x2a";
    wrong.correctness.error = nan;
    wrong.correctness.wrong = wrong.correctness.of = 3;
    wrong.correctness.first = {{0, nan, 1.5, ulp_undefined}, {1, -infinity, infinity, 7}, {2, 1, 2, 8388608}};
    wrong.correctness.cause = "never written";
    wrong.decide(judge::wrong_outputs(wrong.correctness));
    judge::RungResult& broken = report.rungs[3].result;
    broken.rung = "05_<b>";
    broken.decide({.kind = judge::Verdict::compile_error,
                   .text = hostile(),
                   .source = judge::Source::build,
                   .place = {hostile(), 3, 0, ""}});
    report.rungs[4].kind = name_of(Kind::predict);
    report.rungs[4].result.predictions = {{"sectors", hostile(), 12.5, true},
                                          {"bytes", "How many?", {}, false}};
    broken.diagnostics = hostile() + "\n" + hostile();
    return report;
}

/// The same ladder on a GPU, with speed.
inline Report sample_gpu_report() {
    Report report = sample_report();
    report.backend = Backend::cuda;
    report.machine.gpu = {.present = true,
                          .name = "NVIDIA H200",
                          .driver = "13.0",
                          .capability = "9.0",
                          .uuid = "00112233445566778899aabbccddeeff",
                          .clock_mhz = 1980,
                          .memory_clock_mhz = 3201,
                          .ecc = true,
                          .memory = 150e9,
                          .count = 1,
                          .why_not = ""};
    report.rungs.resize(2);
    double bandwidth = 0.4e12;
    for (RungReport& rung : report.rungs) {
        judge::Speed& speed = rung.result.speed;
        speed.judged = speed.decided = true;
        speed.why_not.clear();
        speed.baseline = "01_atomic";
        speed.speedup = bandwidth / 0.4e12;
        speed.low = 0.99 * speed.speedup;
        speed.high = 1.01 * speed.speedup;
        speed.of_reference = 1.05;
        speed.of_reference_low = 1.04;
        speed.of_reference_high = 1.06;
        speed.beats_reference = !rung.result.given;
        speed.pairs = 21;
        speed.seconds = 67e6 / bandwidth;
        speed.baseline_seconds = 67e6 / 0.4e12;
        speed.reference_seconds = speed.seconds;
        speed.bandwidth = bandwidth;
        speed.roof = 4.2e12;
        speed.floor = 67e6 / speed.roof;
        speed.flops = bandwidth / 4;
        speed.fma_roof = 60e12;
        speed.trust = "judge's clock, judge's buffers";
        speed.conditions = {1755, 1980, {"power"}, 2.5};
        for (int pair = 0; pair < speed.pairs; ++pair) {
            const double noise = 1 + 0.01 * (pair % 5);
            speed.times.rung.push_back(static_cast<float>(1e6 * noise * speed.seconds));
            speed.times.baseline.push_back(static_cast<float>(1e6 * noise * speed.baseline_seconds));
            speed.times.reference.push_back(static_cast<float>(1e6 * noise * speed.reference_seconds));
        }
        bandwidth *= 8;
    }
    return report;
}

}  // namespace rungs::test
