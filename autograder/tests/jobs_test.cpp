// Jobs side by side: their order, those that have to be run alone, stopping, and exceptions.
#include "program/jobs.hpp"

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "rungs/catch.hpp"

using namespace rungs;

namespace {

void nothing() {}

/// Waits for something that other threads do; false when it takes too long.
template <class Condition>
bool comes_true(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!condition()) {
        if (std::chrono::steady_clock::now() > end) return false;
        std::this_thread::yield();
    }
    return true;
}

}  // namespace

TEST_CASE("as many jobs run at once as there are threads, and every one once", "[jobs]") {
    for (const unsigned threads : {1U, 2U, 4U}) {
        CAPTURE(threads);
        std::vector<std::atomic<int>> runs(9);
        std::atomic<unsigned> running{0}, most{0}, begun{0};
        std::atomic<bool> met{true};
        Jobs jobs(runs.size(), threads, [&](std::size_t job, bool alone, const std::atomic<bool>&) {
            const unsigned now = ++running;
            for (unsigned old = most; old < now && !most.compare_exchange_weak(old, now);) {
            }
            // The first ones wait for each other: they could not if they came one after the other.
            if (++begun <= threads && !comes_true([&] { return begun >= threads; })) met = false;
            if (alone != (threads == 1)) met = false;
            ++runs[job];
            --running;
            return Jobs::End::finished;
        });
        for (std::size_t job = 0; job < runs.size(); ++job) {
            CHECK(jobs.wait(job, nothing));
            CHECK(runs[job] == 1);
        }
        CHECK(met);
        CHECK(most == threads);
    }
}

TEST_CASE("a job that asks for it is run once more while nothing else runs", "[jobs]") {
    std::vector<std::atomic<int>> runs(12);
    std::atomic<int> running{0};
    std::atomic<bool> disturbed{false};
    Jobs jobs(runs.size(), 4, [&](std::size_t job, bool alone, const std::atomic<bool>&) {
        ++running;
        ++runs[job];
        if (alone && running != 1) disturbed = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        if (alone && running != 1) disturbed = true;
        --running;
        return !alone && job % 3 == 0 ? Jobs::End::alone_once_more : Jobs::End::finished;
    });
    for (std::size_t job = 0; job < runs.size(); ++job) {
        CHECK(jobs.wait(job, nothing));
        CHECK(runs[job] == (job % 3 == 0 ? 2 : 1));
    }
    CHECK_FALSE(disturbed);
}

TEST_CASE("a job that waits to be alone is, for the rest of its run", "[jobs]") {
    std::vector<std::atomic<int>> runs(20);
    std::atomic<int> running{0}, alone_at_once{0};
    std::atomic<bool> disturbed{false};
    Jobs jobs(runs.size(), 4, [&](std::size_t job, bool, const std::atomic<bool>&) {
        ++running;
        std::this_thread::sleep_for(std::chrono::milliseconds(job % 4));
        if (job % 3 != 0) {
            --running;
            jobs.wait_to_be_alone();
            for (int look = 0; look < 3; ++look) {
                if (running != 0 || ++alone_at_once != 1) disturbed = true;
                std::this_thread::sleep_for(std::chrono::milliseconds(2));
                --alone_at_once;
                jobs.wait_to_be_alone();  // which it is
            }
            ++running;
        }
        const bool again = ++runs[job] == 1 && job % 5 == 0;
        --running;
        return again ? Jobs::End::alone_once_more : Jobs::End::finished;
    });
    for (std::size_t job = 0; job < runs.size(); ++job) {
        CHECK(jobs.wait(job, nothing));
        CHECK(runs[job] == (job % 5 == 0 ? 2 : 1));
    }
    CHECK_FALSE(disturbed);
}

TEST_CASE("a job that is no longer alone goes on beside the next one that is", "[jobs]") {
    std::atomic<int> alone_at_once{0}, had_turn{0}, begun{0};
    std::atomic<bool> met{true}, disturbed{false};
    Jobs jobs(8, 4, [&](std::size_t job, bool, const std::atomic<bool>&) {
        ++begun;
        jobs.no_longer_alone();  // which it is not: nothing happens
        jobs.wait_to_be_alone();
        if (++alone_at_once != 1) disturbed = true;
        const int mine = ++had_turn;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        --alone_at_once;
        jobs.no_longer_alone();
        // Three of four see another one have its turn; behind the fourth, new jobs begin.
        if (job < 4 && !comes_true([&] { return had_turn > mine || begun > 4; })) met = false;
        if (job >= 6) {  // it can have another turn
            jobs.wait_to_be_alone();
            if (++alone_at_once != 1) disturbed = true;
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
            --alone_at_once;
        }
        return Jobs::End::finished;
    });
    for (std::size_t job = 0; job < 8; ++job) CHECK(jobs.wait(job, nothing));
    CHECK(met);
    CHECK_FALSE(disturbed);
    CHECK(had_turn == 8);
}

TEST_CASE("a job that waits to be alone is let go when jobs are stopped", "[jobs]") {
    std::atomic<bool> neighbour{false}, waiting{false};
    Jobs jobs(2, 2, [&](std::size_t job, bool, const std::atomic<bool>& stop) {
        if (job == 1) {
            neighbour = true;
            comes_true([&] { return stop.load(); });
        } else if (comes_true([&] { return neighbour.load(); })) {
            waiting = true;
            jobs.wait_to_be_alone();
        }
        return stop ? Jobs::End::stopped : Jobs::End::finished;
    });
    REQUIRE(comes_true([&] { return waiting.load(); }));
    jobs.stop();
    for (std::size_t job = 0; job < 2; ++job) CHECK_FALSE(jobs.wait(job, nothing));
}

TEST_CASE("a single job is alone, however many threads there are", "[jobs]") {
    int runs = 0;
    Jobs jobs(1, 4, [&](std::size_t, bool alone, const std::atomic<bool>&) {
        ++runs;
        return alone ? Jobs::End::finished : Jobs::End::alone_once_more;
    });
    CHECK(jobs.wait(0, nothing));
    CHECK(runs == 1);
}

TEST_CASE("what is finished when jobs are stopped stays finished, and nothing is begun", "[jobs]") {
    std::atomic<int> begun{0};
    std::atomic<bool> second_is_done{false};
    Jobs jobs(10, 2, [&](std::size_t job, bool, const std::atomic<bool>& stop) {
        ++begun;
        if (job == 1) {
            second_is_done = true;
            return Jobs::End::finished;
        }
        return comes_true([&] { return stop.load(); }) ? Jobs::End::stopped : Jobs::End::finished;
    });
    // Jobs 0 and 2 hold both threads by then.
    REQUIRE(comes_true([&] { return second_is_done && begun == 3; }));
    int looks = 0;
    CHECK_FALSE(jobs.wait(0, [&] {
        if (++looks == 2) jobs.stop();
    }));
    CHECK(jobs.wait(1, nothing));
    for (std::size_t job = 2; job < 10; ++job) CHECK_FALSE(jobs.wait(job, nothing));
    CHECK(begun == 3);
}

TEST_CASE("jobs that nobody waits for are stopped", "[jobs]") {
    std::atomic<int> ended{0};
    {
        Jobs jobs(5, 2, [&](std::size_t, bool, const std::atomic<bool>& stop) {
            const bool stopped = comes_true([&] { return stop.load(); });
            ++ended;
            return stopped ? Jobs::End::stopped : Jobs::End::finished;
        });
    }
    CHECK(ended <= 2);
}

TEST_CASE("what a job throws comes to the one who waits", "[jobs]") {
    Jobs jobs(4, 2, [&](std::size_t job, bool, const std::atomic<bool>&) {
        if (job == 1) throw std::runtime_error("out of pipes");
        return Jobs::End::finished;
    });
    const auto wait_for_all = [&] {
        for (std::size_t job = 0; job < 4; ++job) jobs.wait(job, nothing);
    };
    CHECK_THROWS_WITH(wait_for_all(), "out of pipes");
    Jobs none(0, 4, [](std::size_t, bool, const std::atomic<bool>&) { return Jobs::End::finished; });
}

TEST_CASE("the number of jobs follows cores and memory", "[jobs]") {
    Machine machine;
    machine.cores = 1;
    machine.memory = 1e15;
    CHECK(jobs_at_once(machine, Backend::cpu) == 1);
    machine.cores = 1000000;
    machine.memory = 2.5 * (1ULL << 30);
    CHECK(jobs_at_once(machine, Backend::cpu) <= 2);
    machine.memory = 1e6;
    CHECK(jobs_at_once(machine, Backend::cpu) == 1);
    CHECK(jobs_at_once(Machine{}, Backend::cpu) == 1);
    machine.cores = 16;
    machine.memory = 1e15;
    machine.gpu.memory = 9.5 * (1ULL << 30);
    CHECK(jobs_at_once(machine, Backend::cuda) <= 3);
}
