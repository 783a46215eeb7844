// How speed is judged: what a race decides, of contestants whose times and answers are made up.

#include <chrono>
#include <cmath>
#include <stdexcept>
#include <thread>
#include <vector>

#include "judge/build/build.hpp"
#include "judge/clock/quiet.hpp"
#include "judge/clock/speed.hpp"
#include "machine.hpp"
#include "rungs/catch.hpp"
#include "rungs/random.hpp"

using namespace rungs;
using namespace rungs::judge;
using made::machine;
using made::Runner;

namespace {

/// Its answer is twice its input.
class Doubling : public Exam {
  public:
    mutable std::atomic<int> at_work{0}, made{0}, looked_at{0};
    bool throws = false;

    Task make(const Case& which) const override {
        const Busy busy(at_work);
        ++made;
        return {{Array::of("in", std::vector<long long>{static_cast<long long>(which.seed % 1000003)})},
                {Array::unset<long long>("out", 1)},
                {}};
    }
    Check check(const Case&, const Task& task, std::span<const Array> outputs) const override {
        const Busy busy(at_work);
        ++looked_at;
        if (throws) throw std::runtime_error("no memory for the oracle");
        Check check;
        check.passed = outputs[0].as<long long>()[0] == 2 * task.inputs[0].as<long long>()[0];
        return check;
    }
    Work work(const Case&) const override { return {8, 1}; }

  private:
    struct Busy {
        explicit Busy(std::atomic<int>& of) : count(of) {
            ++count;
            std::this_thread::sleep_for(std::chrono::microseconds(200));
        }
        ~Busy() { --count; }
        std::atomic<int>& count;
    };
};

Runner takes(double microseconds) {
    return {[=](int) { return 1e-6 * microseconds; }};
}

/// A rung of a chapter with a slow given one, and its reference, which is three times as fast.
struct Race {
    Doubling exam;
    Manifest manifest;
    JudgeOptions options;
    std::vector<std::string> told;  ///< the order of what matters

    Race() {
        made::new_machine();
        machine().runners["01_slow"] = takes(300);
        machine().runners["02_fast"] = takes(100);
        manifest.timed = {{"double", {1}, "any", 4}};
        RungEntry slow, fast;
        slow.name = "01_slow";
        fast.name = "02_fast";
        slow.problems = fast.problems = {"double"};
        fast.points = 10;
        fast.speed = SpeedRule{.points = 20, .baseline = "01_slow", .zero = 1.5, .full = 2.5};
        manifest.rungs = {slow, fast};
        options.backend = Backend::cuda;
        options.before_timing = [this] { told.push_back("before"); };
        options.after_timing = [this] { told.push_back("after"); };
        machine().while_timed = [this] {
            // Nothing of the judge's own runs beside the clock.
            for (int look = 0; look < 3; ++look) {
                CHECK(exam.at_work == 0);
                std::this_thread::sleep_for(std::chrono::microseconds(20));
            }
        };
    }

    RungResult of(const Runner& student, const std::string& rung = "02_fast") {
        machine().runners["student"] = student;
        RungResult result;
        result.verdict = Verdict::ok;
        judge_speed(result, {manifest, *manifest.find(rung), "student", exam, options}, "student");
        return result;
    }

    ~Race() {
        // Whatever happened: no process is left, and no memory.
        CHECK(made::memories() == 0);
        CHECK(made::device_bytes() == 0);
    }
};

bool about(double a, double b) { return std::abs(a - b) < 0.02 * b; }

}  // namespace

TEST_CASE("a rung gets the points that its ratio to the baseline earns") {
    Race race;
    const RungResult result = race.of(takes(150));
    CHECK(result.verdict == Verdict::ok);
    CHECK(result.causes.empty());
    CHECK(about(result.speed.speedup, 2));
    CHECK(about(result.speed.of_reference, 0.667));
    CHECK(result.speed.judged);
    CHECK(result.speed.decided);
    CHECK(about(result.speed.points, 10));
    CHECK(race.told == std::vector<std::string>{"before", "after"});
    CHECK(race.exam.looked_at > 4);
}

TEST_CASE("a rung that is no faster than the baseline is SLOW") {
    Race race;
    const RungResult result = race.of(takes(290));
    CHECK(result.verdict == Verdict::slow);
    CHECK(result.speed.points == 0);
    CHECK(result.speed.pairs == 10);
}

TEST_CASE("a wrong answer while timed is found, whichever run it is that counts") {
    Race race;
    SECTION("always") {
        Runner student = takes(50);
        student.is_wrong = [](int) { return true; };
        const RungResult result = race.of(student);
        CHECK(result.verdict == Verdict::wrong);
        CHECK(result.speed.points == 0);
    }
    SECTION("where that makes it fast") {
        Runner student;
        student.is_wrong = [](int run) { return run % 4 == 3; };
        student.seconds = [=](int run) { return student.is_wrong(run) ? 30e-6 : 290e-6; };
        CHECK(race.of(student).verdict == Verdict::wrong);
    }
    SECTION("in the last pair alone") {
        Runner student;
        student.is_wrong = [](int run) { return run >= 12; };
        student.seconds = [=](int run) { return student.is_wrong(run) ? 30e-6 : 100e-6; };
        CHECK(race.of(student).verdict == Verdict::wrong);
        CHECK(race.told == std::vector<std::string>{"before", "after"});
    }
}

TEST_CASE("what the workbook's own contestants do wrong is no verdict on a student") {
    Race race;
    SECTION("a wrong answer of the reference") {
        machine().runners["02_fast"].is_wrong = [](int) { return true; };
        CHECK_THROWS_AS(race.of(takes(100)), InfraError);
    }
    SECTION("a baseline that fails with the rung's process and without it") {
        machine().runners["01_slow"].fails = [](int run) {
            return run == 3 ? std::optional(Cause{Verdict::runtime_error, "an error"}) : std::nullopt;
        };
        CHECK_THROWS_AS(race.of(takes(100)), InfraError);
    }
    SECTION("a reference that does not start") {
        machine().runners["02_fast"].does_not_start = Cause{Verdict::runtime_error, "no context"};
        CHECK_THROWS_AS(race.of(takes(100)), InfraError);
    }
    SECTION("an exam that throws") {
        race.exam.throws = true;
        CHECK_THROWS_AS(race.of(takes(100)), std::runtime_error);
    }
}

TEST_CASE("a wrong answer counts for more than what fails once the rung has gone") {
    Race race;
    Runner student = takes(100);
    student.is_wrong = [](int run) { return run >= 12; };
    machine().runners["01_slow"].fails = [](int) {
        return !made::is_alive("student") ? std::optional(Cause{Verdict::runtime_error, "an error"})
                                          : std::nullopt;
    };
    CHECK(race.of(student).verdict == Verdict::wrong);
}

TEST_CASE("what fails once the rung has gone is no verdict on it") {
    Race race;
    machine().runners["01_slow"].fails = [](int) {
        return !made::is_alive("student") ? std::optional(Cause{Verdict::runtime_error, "an error"})
                                          : std::nullopt;
    };
    CHECK_THROWS_AS(race.of(takes(100)), InfraError);
}

TEST_CASE("a rung in whose presence others fail or are slow is SUSPECT") {
    Race race;
    const auto beside = [] { return made::is_alive("student"); };
    SECTION("fail") {
        machine().runners["01_slow"].fails = [=](int) {
            return beside() ? std::optional(Cause{Verdict::oom, "no memory"}) : std::nullopt;
        };
    }
    SECTION("are slow") {
        machine().runners["01_slow"].seconds = [=](int) { return beside() ? 900e-6 : 300e-6; };
    }
    CHECK(race.of(takes(290)).verdict == Verdict::suspect);
}

TEST_CASE("workers that wake up sooner once a rung has gone accuse it of nothing") {
    Race race;
    const double later = GENERATE(5, 10);  // us of each of four calls: 20 and 40 of a run
    machine().runners["02_fast"].seconds = [=](int) {
        return 1e-6 * (25 + (made::is_alive("student") ? later : 0));
    };
    const Verdict verdict = race.of(takes(30)).verdict;
    CHECK(verdict == (later < 7 ? Verdict::ok : Verdict::suspect));
}

TEST_CASE("times that scatter by far are taken twice as often before they are UNSTABLE") {
    Race race;
    race.manifest.rungs[1].speed->zero = 2, race.manifest.rungs[1].speed->full = 4.6;
    Runner student;
    student.seconds = [](int run) {
        return 150e-6 * std::exp(random_at<double>(static_cast<std::uint64_t>(run), 9, Normal{}));
    };
    const RungResult result = race.of(student);
    CHECK(result.verdict == Verdict::unstable);
    CHECK(result.speed.pairs == 160);
    CHECK(result.speed.points == 0);
}

TEST_CASE("a rung that crashes, or does not start, while timed gets that verdict") {
    Race race;
    Runner student = takes(100);
    SECTION("crashes") {
        student.fails = [](int run) {
            return run == 5 ? std::optional(Cause{Verdict::runtime_signal, "crashed"}) : std::nullopt;
        };
        CHECK(race.of(student).verdict == Verdict::runtime_signal);
    }
    SECTION("does not start") {
        student.does_not_start = Cause{Verdict::oom, "no memory"};
        CHECK(race.of(student).verdict == Verdict::oom);
    }
}

TEST_CASE("a rung without points for speed gets a glance") {
    Race race;
    const RungResult result = race.of(takes(300), "01_slow");
    CHECK(result.verdict == Verdict::ok);
    CHECK(result.speed.judged);
    CHECK(result.speed.pairs == 5);
    CHECK(about(result.speed.speedup, 1));
}

TEST_CASE("a rung without points for speed whose baseline takes half a second is timed three times") {
    Race race;
    machine().runners["01_slow"] = takes(125e3);
    race.manifest.rungs[1].speed.reset();
    int runs = 0;
    Runner student = takes(100);
    student.seconds = [&](int run) { return runs = run + 1, 100e-6; };
    const RungResult result = race.of(student);
    CHECK(result.speed.pairs == 3);
    CHECK(runs == 4);  // one has warmed up
    CHECK(about(result.speed.speedup, 1250));
}

TEST_CASE("the next rung begins before processes end where there is memory for both, and times nothing yet") {
    Race race;
    bool others_there = false, timed_beside = false;
    std::thread next;
    race.options.after_timing = [&] {
        others_there = made::is_alive("02_fast");
        next = std::thread([&] {
            const Quiet quiet;
            timed_beside = made::is_alive("02_fast");
        });
    };
    SECTION("for both") {}
    SECTION("for one") { machine().most_bytes = 300U << 20; }  // 256 MiB of it empty the cache
    const bool both = machine().most_bytes > (1U << 30);
    const RungResult result = race.of(takes(100));
    next.join();
    CHECK(result.verdict == Verdict::ok);
    CHECK(others_there == both);
    CHECK_FALSE(timed_beside);
}

TEST_CASE("a GPU that has too little memory judges no speed") {
    Race race;
    machine().most_bytes = 1U << 20;
    const RungResult result = race.of(takes(100));
    CHECK(result.verdict == Verdict::ok);
    CHECK_FALSE(result.speed.judged);
    CHECK(result.speed.why_not.find("memory") != std::string::npos);
}

TEST_CASE("more pairs are timed, each on inputs of its own, while nothing is decided") {
    Race race;
    race.manifest.rungs[1].speed->zero = 2.9, race.manifest.rungs[1].speed->full = 3;
    Runner student;  // its times scatter around the threshold
    student.seconds = [](int run) { return (run * 37 % 23 + 97) * 1e-6; };
    const RungResult result = race.of(student);
    CHECK(result.speed.pairs > 10);
    CHECK(race.exam.made >= 4 * result.speed.pairs);
}
