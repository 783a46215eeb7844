// judge/clock/officials.cpp: inputs that are made ahead, and answers that are looked at later.

#include "judge/clock/officials.hpp"

#include <atomic>
#include <chrono>
#include <optional>
#include <set>
#include <stdexcept>
#include <thread>

#include "rungs/catch.hpp"

#include "judge/build/build.hpp"
#include "judge/clock/quiet.hpp"

using namespace rungs;
using namespace rungs::judge;

namespace {

/// Its input is its seed, and its answer, too.
class Echo : public Exam {
  public:
    mutable std::atomic<int> at_work{0}, most_at_work{0}, made{0}, looked_at{0};
    bool throws_when_made = false, throws_when_asked = false, numbers_differ = false;
    std::chrono::milliseconds takes{0};

    Task make(const Case& which) const override {
        const Busy busy(*this);
        const int number = made++;
        if (throws_when_made) throw std::invalid_argument("no such kind");
        const std::vector<long long> seed{static_cast<long long>(which.seed)};
        return {{Array::of("in", seed)},
                {Array::unset<long long>("out", 1)},
                {Number(static_cast<long long>(numbers_differ ? number : 7))}};
    }
    Check check(const Case& which, const Task& task, std::span<const Array> outputs) const override {
        const Busy busy(*this);
        ++looked_at;
        if (throws_when_asked) throw std::runtime_error("out of memory");
        Check check;
        check.passed = task.inputs[0].as<long long>()[0] == outputs[0].as<long long>()[0] &&
                       static_cast<long long>(which.seed) == task.inputs[0].as<long long>()[0];
        return check;
    }
    Work work(const Case&) const override { return {}; }

  private:
    struct Busy {
        explicit Busy(const Echo& of) : exam(of) {
            const int now = ++exam.at_work;
            for (int most = exam.most_at_work; most < now;)
                if (exam.most_at_work.compare_exchange_weak(most, now)) break;
            std::this_thread::sleep_for(exam.takes);
        }
        ~Busy() { --exam.at_work; }
        const Echo& exam;
    };
};

const TimedCase timed{"echo", {1}, "random", 3};

long long seed_of(const Heat& heat) { return heat.task->inputs[0].as<long long>()[0]; }

/// Answers of a contestant that does what it is asked for, but for `wrong` in the last call.
Heats answered(const Heats& heats, bool wrong = false) {
    Heats answers = heats;
    for (Heat& heat : answers)
        heat.outputs = {Array::of(
            "out", std::vector<long long>{seed_of(heat) + (wrong && &heat == &answers.back() ? 1 : 0)})};
    return answers;
}

/// Takes `runs` runs' inputs, each as soon as it is there.
template <class Use>
void take(Officials& officials, int runs, Use use) {
    for (int run = 0; run < runs; ++run) {
        if (!officials.has_inputs()) officials.wait_for_inputs();
        use(run, officials.next());
    }
}

}  // namespace

TEST_CASE("officials make inputs that differ, and look at every answer that is kept") {
    const std::size_t room = GENERATE(0U, 1U, 4U, 100U);
    Echo exam;
    Officials officials(exam, timed, 3, room);
    std::set<long long> seeds;
    for (const int block : {5, 1, 4}) {
        officials.want(static_cast<std::size_t>(block));
        take(officials, block, [&](int, const Heats& heats) {
            REQUIRE(heats.size() == 3);
            for (const Heat& heat : heats) seeds.insert(seed_of(heat));
            officials.keep(1, answered(heats));
        });
    }
    CHECK_FALSE(officials.finish());
    CHECK(seeds.size() == 30);
    CHECK(exam.made == 30);
    CHECK(exam.looked_at == 30);
    CHECK_FALSE(officials.has_inputs());
    CHECK_THROWS_AS(officials.next(), std::logic_error);
}

TEST_CASE("officials say whose answer is wrong, wherever it is") {
    const int wrong = GENERATE(0, 3, 7);
    Echo exam;
    Officials officials(exam, timed, 3, 2);
    officials.want(8);
    take(officials, 8, [&](int run, const Heats& heats) {
        officials.keep(run == wrong ? 2 : 0, answered(heats, run == wrong));
    });
    const auto found = officials.finish();
    REQUIRE(found);
    CHECK(found->first == 2);
    CHECK(found->second.kind == Verdict::wrong);
    CHECK(found->second.which.find("while timed") != std::string::npos);
    CHECK(officials.found());
}

TEST_CASE("officials make all that is wanted before somebody takes it, as far as there is room") {
    Echo exam;
    Officials officials(exam, timed, 3, 2);
    officials.want(4);
    officials.wait_for_inputs();
    CHECK(exam.made == 6);
    take(officials, 4, [&](int, const Heats& heats) { officials.keep(0, answered(heats)); });
    CHECK_FALSE(officials.finish());
    CHECK(exam.made == 12);
    CHECK(exam.looked_at == 12);
}

TEST_CASE("no official works while it is quiet, whatever race he belongs to") {
    Echo exam;
    exam.takes = std::chrono::milliseconds(1);
    Officials one(exam, timed, 3, 4), other(exam, timed, 3, 4);
    for (int round = 0; round < 20; ++round) {
        one.want(2);
        other.want(2);
        take(one, round % 2, [&](int, const Heats& heats) { one.keep(0, answered(heats)); });
        {
            const Quiet quiet;
            const int made = exam.made, looked_at = exam.looked_at;
            CHECK(exam.at_work == 0);
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
            CHECK(exam.at_work == 0);
            CHECK(exam.made == made);
            CHECK(exam.looked_at == looked_at);
        }
        take(other, 1, [&](int, const Heats& heats) { other.keep(0, answered(heats)); });
    }
    CHECK_FALSE(one.finish());
    CHECK_FALSE(other.finish());
}

TEST_CASE("what an exam throws in an official's thread reaches whoever asks") {
    Echo exam;
    SECTION("while inputs are made") {
        exam.throws_when_made = true;
        Officials officials(exam, timed, 3, 2);
        officials.want(2);
        officials.wait_for_inputs();
        CHECK_THROWS_AS(officials.next(), std::invalid_argument);
    }
    SECTION("while answers are looked at") {
        exam.throws_when_asked = true;
        Officials officials(exam, timed, 3, 2);
        officials.want(1);
        officials.wait_for_inputs();
        officials.keep(0, answered(officials.next()));
        CHECK_THROWS_AS(officials.finish(), std::runtime_error);
    }
    SECTION("numbers that depend on the seed are the manifest's fault") {
        exam.numbers_differ = true;
        Officials officials(exam, timed, 3, 2);
        officials.want(1);
        officials.wait_for_inputs();
        CHECK_THROWS_AS(officials.next(), InfraError);
    }
}

TEST_CASE("officials who are sent away leave, whatever is left to do, also while it is quiet") {
    const bool is_quiet = GENERATE(false, true);
    Echo exam;
    exam.takes = std::chrono::milliseconds(1);
    std::optional<Quiet> quiet;
    {
        Officials officials(exam, timed, 3, 1'000'000);
        officials.want(1'000'000);
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        if (is_quiet) quiet.emplace();
    }
    CHECK(exam.at_work == 0);
    CHECK(exam.made < 3'000'000);
}

TEST_CASE("answers are looked at in the end, when it is nobody's turn, or where there is no room for more") {
    const Echo exam;
    std::optional<Turn> turn(std::in_place);
    Officials officials(exam, timed, 3, 2), next(exam, timed, 3, 4);
    officials.want(1);
    officials.wait_for_inputs();
    const Heats heats = officials.next();
    officials.keep(0, answered(heats, true));
    officials.keep(0, answered(heats));
    SECTION("in the end") {
        bool found = false;
        std::thread end([&] { found = officials.finish().has_value(); });
        next.want(2);
        next.wait_for_inputs();
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        CHECK(exam.made == 9);
        CHECK(exam.looked_at == 0);
        turn.reset();
        end.join();
        CHECK(found);
    }
    SECTION("no room") {
        officials.keep(0, answered(heats));
        while (!officials.found()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    CHECK(exam.looked_at > 0);
}

TEST_CASE("in the end no more answers are looked at at once than there are cores") {
    Echo exam;
    Officials one(exam, timed, 3, 9), other(exam, timed, 3, 9);
    for (Officials* officials : {&one, &other}) {
        officials->want(8);
        take(*officials, 8, [&](int, const Heats& heats) { officials->keep(0, answered(heats)); });
    }
    exam.most_at_work = 0;
    exam.takes = std::chrono::milliseconds(1);
    bool found = true;
    std::thread beside([&] { found = one.finish().has_value(); });
    CHECK_FALSE(other.finish());
    beside.join();
    CHECK_FALSE(found);
    CHECK(exam.looked_at == 48);
    CHECK(exam.most_at_work <= static_cast<int>(std::thread::hardware_concurrency()));
}
