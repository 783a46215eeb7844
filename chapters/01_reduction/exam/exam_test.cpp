// The exam itself on trial: honest sums of every shape must pass, each classic fault must fail, and the cause
// that a student reads must be the right one. No rung is called here.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>

#include "exam/diagnosis.hpp"
#include "exam/reference.hpp"
#include "ladder/chapter_exam.hpp"
#include "ladder/exam_trial.hpp"
#include "rungs/catch.hpp"
#include "rungs/exam.hpp"
#include "rungs/random.hpp"

namespace {

using Catch::Matchers::ContainsSubstring;
using Terms = std::span<const float>;
using Sum = std::function<float(Terms)>;

const std::unique_ptr<rungs::Exam> exam = rungs::make_chapter_exam();

/// What a rung for the dot product forms first; the sum's terms are v itself.
std::vector<float> terms_of(const rungs::Task& task) {
    const auto v = task.inputs[0].as<float>();
    std::vector<float> terms(v.begin(), v.end());
    if (task.inputs.size() == 2) {
        for (std::size_t i = 0; i < terms.size(); ++i) terms[i] *= task.inputs[1].as<float>()[i];
    }
    return terms;
}

rungs::Check judge(const rungs::Case& which, const Sum& sum) {
    const rungs::Task task = exam->make(which);
    const std::vector<rungs::Array> outputs{rungs::Array::of("sum", std::vector<float>{sum(terms_of(task))})};
    return exam->check(which, task, outputs);
}

rungs::Case integers(long long n, const char* problem = "sum", std::uint64_t seed = 1) {
    return {problem, {n}, "integers", seed};
}

// Honest sums, in the orders that kernels use.

float in_a_row(Terms terms) { return std::accumulate(terms.begin(), terms.end(), 0.0f); }

float shuffled(Terms terms) {  // what one float atomic for every element may do
    std::vector<float> order(terms.begin(), terms.end());
    for (std::size_t i = order.size(); i > 1; --i) {
        std::swap(order[i - 1], order[rungs::random_word(99, i) % i]);
    }
    return in_a_row(order);
}

float tree(Terms terms) {
    if (terms.size() < 2) return terms.empty() ? 0.0f : terms[0];
    const std::size_t half = terms.size() / 2;
    return tree(terms.first(half)) + tree(terms.subspan(half));
}

float blocks_in_a_row(Terms terms) {  // a tree in each block, one atomic a block
    float sum = 0;
    for (std::size_t begin = 0; begin < terms.size(); begin += 256) {
        sum += tree(terms.subspan(begin, std::min<std::size_t>(256, terms.size() - begin)));
    }
    return sum;
}

float grid_stride(Terms terms) {
    std::vector<float> threads(4096, 0.0f);
    for (std::size_t i = 0; i < terms.size(); ++i) threads[i % threads.size()] += terms[i];
    return tree(threads);
}

float in_double(Terms terms) { return static_cast<float>(std::accumulate(terms.begin(), terms.end(), 0.0)); }

// Shorter types.

float short_accumulator(Terms terms) {
    float sum = 0;
    for (const float term : terms) sum = rungs::rounded(sum + term, 11);
    return sum;
}

/// The sum of the terms that `wanted` picks by index and n.
template <class Wanted>
Sum only(Wanted wanted) {
    return [wanted](Terms terms) {
        double sum = 0;
        for (std::size_t i = 0; i < terms.size(); ++i) sum += wanted(i, terms.size()) * terms[i];
        return static_cast<float>(sum);
    };
}

}  // namespace

TEST_CASE("the oracle is exact on whole numbers", "[exam][oracle]") {
    std::vector<float> v(1000);
    std::iota(v.begin(), v.end(), 1.0f);
    const reduction::Reference sum = reduction::reference_sum(v);
    CHECK(sum.value == 500500);
    CHECK(sum.magnitude == 500500);
    CHECK(sum.exact);
    CHECK(reduction::reference_dot(v, v).value == 333833500);
    CHECK_FALSE(reduction::reference_dot(v, v).exact);  // beyond 2^24
    CHECK(reduction::reference_sum({}).value == 0);
    CHECK(reduction::reference_sum({}).exact);
}

TEST_CASE("the oracle keeps what cancellation leaves", "[exam][oracle]") {
    const std::vector<float> v{1e30f, 1.0f, 3e-20f, -1e30f};
    CHECK(reduction::reference_sum(v).value == 1.0);  // a plain double sum gives 0
    const std::vector<float> w{1e30f, 1.0f, 0.0f, 1e30f};
    CHECK(reduction::reference_dot(v, w).value == 1.0);
    CHECK_THROWS_AS(reduction::reference_dot(v, std::vector<float>(3)), std::length_error);
}

TEST_CASE("the oracle treats NaN and infinity as IEEE 754 does", "[exam][oracle]") {
    const float inf = std::numeric_limits<float>::infinity();
    const float nan = std::numeric_limits<float>::quiet_NaN();
    CHECK(reduction::reference_sum(std::vector<float>{1, inf, 2}).value == inf);
    CHECK(reduction::reference_sum(std::vector<float>{1, -inf, 2}).value == -inf);
    CHECK(std::isnan(reduction::reference_sum(std::vector<float>{inf, 1, -inf}).value));
    CHECK(std::isnan(reduction::reference_sum(std::vector<float>{1, nan}).value));
    CHECK(std::isnan(reduction::reference_dot(std::vector<float>{inf}, std::vector<float>{0}).value));
    // Large floats do not overflow the oracle.
    const float most = std::numeric_limits<float>::max();
    CHECK(reduction::reference_sum(std::vector<float>{most, most, -most}).value == most);
}

TEST_CASE("the rounding bound allows nothing for nothing, and grows with the root of n",
          "[exam][tolerance]") {
    CHECK(reduction::rounding_bound(0, 1e6) == 0);
    CHECK(reduction::rounding_bound(1, 1) >= reduction::unit_roundoff);
    CHECK(reduction::rounding_bound(1, 1) <= 1.001 * reduction::unit_roundoff);
    const double ratio = reduction::rounding_bound(4'000'000, 1) / reduction::rounding_bound(1'000'000, 1);
    CHECK(std::abs(ratio - 2) < 1e-6);
}

TEST_CASE("tasks have the arrays that the contract says", "[exam][cases]") {
    for (const rungs::Case& which : rungs::manifest_cases(1)) {
        CAPTURE(which.problem, which.sizes, which.kind, which.seed);
        const rungs::Task task = exam->make(which);
        REQUIRE(task.inputs.size() == (which.problem == "dot" ? 2u : 1u));
        REQUIRE(task.outputs.size() == 1);
        REQUIRE(task.inputs[0].count == static_cast<std::size_t>(which.sizes[0]));
    }
}

TEST_CASE("the exam refuses what it does not know", "[exam][cases]") {
    CHECK_THROWS_WITH(exam->make({"product", {10}, "uniform"}), ContainsSubstring("product"));
    CHECK_THROWS_WITH(exam->make({"sum", {10}, "gaussian"}), ContainsSubstring("it has uniform"));
    CHECK_THROWS_AS(exam->make({"sum", {10, 10}, "uniform"}), std::invalid_argument);
    CHECK_THROWS_AS(exam->make({"sum", {-1}, "uniform"}), std::invalid_argument);
}

TEST_CASE("unaligned vectors start off the boundary, each by another distance", "[exam][cases]") {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
        const rungs::Task task = exam->make({"dot", {100}, "unaligned", seed});
        CHECK(task.inputs[0].misalignment >= 1);
        CHECK(task.inputs[0].misalignment <= 3);
        CHECK(task.inputs[0].misalignment != task.inputs[1].misalignment);
    }
}

TEST_CASE("honest sums pass in every order, on all data", "[exam][tolerance]") {
    const std::pair<const char*, Sum> honest[] = {
        {"in a row", in_a_row},   {"shuffled", shuffled},      {"tree", tree},
        {"in double", in_double}, {"blocks", blocks_in_a_row}, {"grid stride", grid_stride}};
    rungs::Honest answers;
    for (std::uint64_t key = 1; key <= 3; ++key) {
        for (const rungs::Case& which : rungs::manifest_cases(key)) {
            if (which.sizes[0] > 200'000 && key > 1) continue;
            for (const auto& [name, sum] : honest) {
                CAPTURE(name);
                const rungs::Check check = judge(which, sum);
                // Beyond the reach of the bound that always holds, leave the other one room.
                answers.require(which, check, which.sizes[0] > 100);
                REQUIRE(check.first.empty());
            }
        }
    }
    answers.require_room(0.6, 0.01);
}

TEST_CASE("shorter types fail", "[exam][tolerance]") {
    const long long n = GENERATE(33, 1000, 65537);
    for (const char* kind : {"uniform", "integers"}) {
        CAPTURE(n, kind);
        CHECK_FALSE(judge({"sum", {n}, kind}, short_accumulator).passed);
    }
    const auto halves = [](Terms terms) {
        float sum = 0;
        for (const float term : terms) sum += rungs::rounded(term, 11);
        return sum;
    };
    CHECK_FALSE(judge({"sum", {33}, "uniform"}, halves).passed);
    CHECK_FALSE(judge(integers(1000), halves).passed);
}

TEST_CASE("a chain that stalls at 2^24 fails, and the cause says so", "[exam][diagnosis]") {
    const rungs::Check check = judge({"sum", {20'000'000}, "ones"}, in_a_row);
    CHECK_FALSE(check.passed);
    CHECK_THAT(check.cause, ContainsSubstring("stuck at 2^24"));
}

TEST_CASE("one element too few or too many fails at any size", "[exam][tolerance]") {
    const long long n = GENERATE(1, 2, 33, 1000, 100003, 1048573);
    const std::string problem = GENERATE("sum", "dot");
    for (const char* kind : {"integers", "unaligned", "ones"}) {
        const auto at = static_cast<std::size_t>(n / 2);
        CAPTURE(n, problem, kind);
        CHECK_FALSE(judge({problem, {n}, kind}, only([at](auto i, auto) { return i != at; })).passed);
        CHECK_FALSE(judge({problem, {n}, kind}, only([at](auto i, auto) { return 1 + (i == at); })).passed);
    }
}

TEST_CASE("NaN and infinity have to arrive", "[exam]") {
    const std::string problem = GENERATE("sum", "dot");
    const std::string kind = GENERATE("nan", "infinity", "opposite_infinities");
    for (std::uint64_t seed = 1; seed < 40; ++seed) {
        for (const long long n : {1, 2, 257, 4099}) {
            CAPTURE(problem, kind, seed, n);
            const rungs::Case which{problem, {n}, kind, seed};
            CHECK(judge(which, in_a_row).passed);
            const rungs::Check check = judge(which, [](Terms terms) {
                float sum = 0;
                for (const float term : terms) sum += std::isfinite(term) ? term : 0;
                return sum;
            });
            CHECK_FALSE(check.passed);
            CHECK_THAT(check.cause, ContainsSubstring("element"));
        }
    }
}

TEST_CASE("an empty sum must be written", "[exam][diagnosis]") {
    const float poison = std::numeric_limits<float>::quiet_NaN();
    CHECK(judge(integers(0), [](Terms) { return 0.0f; }).passed);
    CHECK(judge(integers(0), [](Terms) { return -0.0f; }).passed);
    const rungs::Check check = judge(integers(0), [=](Terms) { return poison; });
    CHECK_FALSE(check.passed);
    CHECK_THAT(check.cause, ContainsSubstring("NaN"));
    CHECK_FALSE(judge(integers(0), [](Terms) { return 1.0f; }).passed);
}

TEST_CASE("the cause of a wrong sum is named", "[exam][diagnosis]") {
    struct Fault {
        const char* name;
        Sum sum;
        long long n;
        const char* cause;
    };
    const Fault faults[] = {
        {"nothing added", only([](auto, auto) { return 0; }), 1000, "exactly 0"},
        {"added twice", only([](auto, auto) { return 2; }), 1000, "2 times the right sum"},
        {"every lane adds", only([](auto, auto) { return 32; }), 1000, "lanes"},
        {"every thread adds", only([](auto, auto) { return 256; }), 1000, "threads of a block"},
        {"steps of a block", only([](auto i, auto) { return i / 256 + 1; }), 1000, "each block of 256"},
        {"negative", only([](auto, auto) { return -1; }), 1000, "wrong sign"},
        {"mean", only([](auto, auto n) { return 1.0 / static_cast<double>(n); }), 1024, "mean"},
        {"full blocks", only([](auto i, auto n) { return i < n / 256 * 256; }), 1000, "whole blocks of 256"},
        {"full blocks of 128", only([](auto i, auto n) { return i < n / 128 * 128; }), 1000,
         "whole blocks of 128"},
        {"full float4s", only([](auto i, auto n) { return i < n / 4 * 4; }), 1003, "groups of 4"},
        {"last missing", only([](auto i, auto n) { return i + 1 < n; }), 1000, "without the last element"},
        {"first missing", only([](auto i, auto) { return i > 0; }), 1000, "without the first element"},
        {"head missing", only([](auto i, auto) { return i > 2; }), 1000, "first aligned address"},
        {"tail twice", only([](auto i, auto n) { return 1 + (i + 3 >= n); }), 1000,
         "the last 3 elements were added twice"},
        {"element 0", only([](auto i, auto) { return i == 0; }), 1000, "element 0 alone"},
        {"warp 0", only([](auto i, auto) { return i < 32; }), 1000, "only warp 0"},
        {"block 0", only([](auto i, auto) { return i < 256; }), 100003, "only block 0"},
        {"small grid", only([](auto i, auto) { return i < 40 * 256; }), 100003, "40 blocks of 256"},
        {"every second", only([](auto i, auto) { return i % 2 == 0; }), 1000, "stride 1, never happened"},
        {"lane 0s", only([](auto i, auto) { return i % 32 == 0; }), 1000, "only lane 0"},
        {"thread 0s", only([](auto i, auto) { return i % 256 == 0; }), 100003, "only thread 0"},
        {"step 128", only([](auto i, auto) { return i % 256 < 128; }), 100003, "step with stride 128"},
        {"step 8", only([](auto i, auto) { return i % 16 < 8; }), 100003, "step with stride 8"},
        {"warp 0 of blocks", only([](auto i, auto) { return i % 256 < 32; }), 100003, "only warp 0 counted"},
        {"last block wins", only([](auto i, auto n) { return i / 256 == (n - 1) / 256; }), 1000,
         "block 3 alone"},
        {"one of four", only([](auto i, auto) { return i % 4 != 3; }), 1000, "one of the four of a float4"},
        {"first of four loads", only([](auto i, auto) { return i % 4096 < 1024; }), 4099, "only the first?"},
        {"no shuffle by 1", only([](auto i, auto) { return i % 2 == 0 && i / 32 % 2 == 0; }), 1000,
         "the shuffle by 1 lane never happened"},
        {"no shuffle by 4", only([](auto i, auto) { return i / 4 % 2 == 0 && i % 256 / 32 < 4; }), 1000,
         "the shuffle by 4 lanes never happened"},
        {"lane 0 of each warp", only([](auto i, auto) { return i % 256 < 32 ? 1 : 2; }), 1000,
         "all warps but the first were added twice"},
        {"blocks start alike", only([](auto i, auto) { return i % 1024 < 256 ? 4 : 0; }), 1000,
         "same elements"},
        {"last trip", only([](auto i, auto n) { return i + 512 >= n; }), 1000, "keep its last one only"},
        {"one missing", only([](auto i, auto) { return i != 500; }), 1000, "this is the sum without"},
        {"one twice", only([](auto i, auto) { return 1 + (i == 500); }), 1000, "added twice"},
    };
    for (const Fault& fault : faults) {
        for (const char* kind : {"integers", "uniform"}) {
            for (std::uint64_t seed = 1; seed <= 3; ++seed) {
                const rungs::Case which{"sum", {fault.n}, kind, seed};
                const rungs::Check check = judge(which, fault.sum);
                CAPTURE(fault.name, kind, seed, check.cause);
                CHECK(check.wrong == 1);
                CHECK(check.first.size() == 1);
                rungs::require_cause(check, fault.cause);
            }
        }
    }
}

TEST_CASE("the step that a tree in device memory has lost is named", "[exam][diagnosis]") {
    const auto fold = [](bool up, std::size_t enough) {
        return [=](Terms terms) {
            std::vector<float> left(terms.begin(), terms.end());
            while (left.size() > enough) {
                const std::size_t half = (left.size() + up) / 2;
                for (std::size_t i = 0; i + half < left.size() && i < half; ++i) left[i] += left[i + half];
                left.resize(half);
            }
            return left[0];
        };
    };
    CHECK(judge(integers(1000), fold(true, 1)).passed);
    CHECK_THAT(judge(integers(1000), fold(true, 2)).cause, ContainsSubstring("the first of 2 words"));
    CHECK_THAT(judge(integers(1000), fold(true, 999)).cause, ContainsSubstring("after 1 step "));
    CHECK_THAT(judge(integers(1000), fold(false, 1)).cause, ContainsSubstring("has to be rounded up"));
}

TEST_CASE("what all lanes of a warp hold after the shuffles is known", "[exam][diagnosis]") {
    const auto all_lanes = [](Terms terms) {
        double sum = 0;
        for (std::size_t begin = 0; begin < terms.size(); begin += 256) {
            std::vector<double> held(32, 0.0);
            for (std::size_t i = begin; i < std::min(begin + 256, terms.size()); ++i) {
                held[(i - begin) / 32] += terms[i];
            }
            for (std::size_t step = 16; step > 0; step /= 2) {
                const std::vector<double> before = held;
                for (std::size_t lane = 0; lane < 32; ++lane) {
                    held[lane] += before[lane + step < 32 ? lane + step : lane];
                }
            }
            sum = std::accumulate(held.begin(), held.end(), sum);
        }
        return static_cast<float>(sum);
    };
    CHECK_THAT(judge(integers(1000), all_lanes).cause, ContainsSubstring("all 32 lanes of the first warp"));
}

TEST_CASE("whole numbers tell how often a tail was added", "[exam][diagnosis]") {
    const auto every_block = only([](auto i, auto n) { return i + 1 < n ? 1 : 17; });
    CHECK_THAT(judge(integers(65537), every_block).cause, ContainsSubstring("17 times"));
}

TEST_CASE("more than all elements is said to be more", "[exam][diagnosis]") {
    const rungs::Check check = judge(integers(1000), only([](auto i, auto) { return 1 + i % 3; }));
    CHECK_THAT(check.cause, ContainsSubstring("some were added more than once"));
}

TEST_CASE("few elements and no sum point at what is left over", "[exam][diagnosis]") {
    CHECK_THAT(judge(integers(1), only([](auto, auto) { return 0; })).cause, ContainsSubstring("left over"));
}

TEST_CASE("whole numbers tell which element is missing", "[exam][diagnosis]") {
    const rungs::Check missing = judge(integers(1000), only([](auto i, auto) { return i != 500; }));
    CHECK_THAT(missing.cause, ContainsSubstring("without element 500"));
    const rungs::Check twice = judge(integers(1000), only([](auto i, auto) { return 1 + (i == 500); }));
    CHECK_THAT(twice.cause, ContainsSubstring("element 500 was added twice"));
}

TEST_CASE("the vector that a dot product forgets is named", "[exam][diagnosis]") {
    for (const char* kind : {"integers", "uniform", "wide"}) {
        const rungs::Case which{"dot", {1000}, kind, 3};
        const rungs::Task task = exam->make(which);
        const auto answer = [&](std::size_t a, std::optional<std::size_t> b) {
            const auto v = task.inputs[a].as<float>();
            const double sum = b ? reduction::reference_dot(v, task.inputs[*b].as<float>()).value
                                 : reduction::reference_sum(v).value;
            const std::vector<rungs::Array> out{
                rungs::Array::of("sum", std::vector<float>{static_cast<float>(sum)})};
            return exam->check(which, task, out).cause;
        };
        CHECK_THAT(answer(0, {}), ContainsSubstring("w was not used"));
        CHECK_THAT(answer(1, {}), ContainsSubstring("v was not used"));
        CHECK_THAT(answer(0, 0), ContainsSubstring("v with itself"));
        CHECK(answer(0, 1).empty());
    }
}

TEST_CASE("noise is given no cause", "[exam][diagnosis]") {
    // A race leaves any number. A wrong guess costs a student more than none.
    const auto [n, kind] = GENERATE(table<long long, const char*>(
        {{1000, "integers"}, {4099, "integers"}, {1000, "uniform"}, {4099, "uniform"}, {65537, "uniform"}}));
    int guesses = 0;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        const rungs::Case which{"sum", {n}, kind, seed};
        const auto noise = [seed](Terms terms) {
            return std::floor(in_double(terms) * (0.1f + 0.8f * rungs::random_at(0, seed, rungs::Uniform{})));
        };
        if (!judge(which, noise).cause.empty()) ++guesses;
    }
    CAPTURE(n, kind);
    CHECK(guesses <= 4);
}

TEST_CASE("useful work is counted once", "[exam]") {
    const rungs::Work sum = exam->work({"sum", {1000}, "uniform"});
    CHECK(sum.bytes == 4004);
    CHECK(sum.flops == 999);
    const rungs::Work dot = exam->work({"dot", {1000}, "uniform"});
    CHECK(dot.bytes == 8004);
    CHECK(dot.flops == 1999);
    CHECK(exam->work({"sum", {0}, "uniform"}).flops == 0);
}
