// Quantiles, the ratio and its interval, and how often the speed test is right when the truth is known.

#include "rungs/statistics.hpp"

#include <cmath>
#include <span>
#include <stdexcept>
#include <vector>

#include "rungs/catch.hpp"
#include "rungs/random.hpp"

using namespace rungs;

namespace {

/// Times as a busy machine gives them: jitter of 1.5 %, a slow drift that both of a pair share, and bursts
/// that slow a measurement down by 60 % on average, four times in ten.
class NoisyMachine {
  public:
    explicit NoisyMachine(std::uint64_t seed) : seed_(seed) {}

    double time(double truth) {
        const double drift = 1 + 0.05 * std::sin(0.02 * static_cast<double>(next_ / 8));
        const double jitter = 1 + 0.015 * std::abs(random_at<double>(next_++, seed_, Normal{}));
        const bool burst = random_at<double>(next_++, seed_, Uniform{}) < 0.4;
        const double exponential = -std::log(1 - random_at<double>(next_++, seed_, Uniform{}));
        ++next_;
        return truth * drift * jitter * (burst ? 1 + 0.6 * exponential : 1);
    }

  private:
    std::uint64_t seed_;
    std::uint64_t next_ = 0;
};

struct Calibration {
    double pass_rate = 0;
    double mean_pairs = 0;
};

Calibration calibrate(double true_ratio, int trials) {
    Calibration result;
    for (int trial = 0; trial < trials; ++trial) {
        NoisyMachine machine(1000 + static_cast<std::uint64_t>(trial));
        SpeedTest::Options options;
        options.resamples = 500;
        options.seed = static_cast<std::uint64_t>(trial);
        SpeedTest test(2.0, options);
        while (test.wants_more()) {
            const double baseline = machine.time(true_ratio);
            test.add(baseline, machine.time(1));
        }
        result.pass_rate += test.passed() / static_cast<double>(trials);
        result.mean_pairs += static_cast<double>(test.pairs()) / trials;
    }
    return result;
}

}  // namespace

TEST_CASE("quantiles interpolate between neighbours", "[common][statistics]") {
    const std::vector<double> v = {4, 1, 3, 2};
    CHECK(quantile(v, 0) == 1);
    CHECK(quantile(v, 1) == 4);
    CHECK(median(v) == 2.5);
    CHECK(quantile(v, 0.2) == Catch::Approx(1.6));
    CHECK(median(std::vector<double>{7}) == 7);
    CHECK(median(std::vector<double>{5, 1, 9}) == 5);
    CHECK(v == std::vector<double>{4, 1, 3, 2});
    std::vector<double> ramp(101);
    for (std::size_t i = 0; i < ramp.size(); ++i) ramp[i] = static_cast<double>((i * 37) % 101);
    for (const double q : {0.0, 0.01, 0.2, 0.5, 0.99, 1.0})
        CHECK(quantile(ramp, q) == Catch::Approx(100 * q));
}

TEST_CASE("quantiles refuse what has none", "[common][statistics]") {
    CHECK_THROWS_AS(quantile({}, 0.5), std::invalid_argument);
    CHECK_THROWS_AS(quantile(std::vector<double>{1}, 1.5), std::invalid_argument);
    CHECK_THROWS_AS(quantile(std::vector<double>{1}, std::nan("")), std::invalid_argument);
    CHECK_THROWS_AS(quantile(std::vector<double>{1, std::nan("")}, 0.5), std::invalid_argument);
}

TEST_CASE("no time that a low quantile comes from is passed over", "[common][statistics]") {
    CHECK(may_count({}, 1));
    CHECK(may_count(std::vector<double>{2, 2, 2}, 1));
    CHECK(may_count(std::vector<double>{2, 2, 2}, 2));
    CHECK_FALSE(may_count(std::vector<double>{1, 1, 2}, 2));

    // Whoever leaves work out in every fourth run, and is faster for it, is noticed in each of those runs.
    std::size_t noticed = 0, shortened = 0, looks = 0;
    std::vector<double> times;
    NoisyMachine machine(7);
    for (std::size_t run = 0; run < 80; ++run) {
        const bool shorter = run % 4 == 3;
        times.push_back(shorter ? 0.5 : machine.time(1));
        const bool looked_at = may_count(std::span(times).first(run), times.back());
        shortened += shorter, noticed += shorter && looked_at, looks += looked_at;
    }
    CHECK(noticed == shortened);
    CHECK(looks < 40);
}

TEST_CASE("the ratio of exact times is exact", "[common][statistics]") {
    const Ratio ratio = speed_ratio(std::vector<double>(10, 3.0), std::vector<double>(10, 1.5));
    CHECK(ratio.value == 2);
    CHECK(ratio.low == 2);
    CHECK(ratio.high == 2);
    const Ratio one = speed_ratio(std::vector<double>{5}, std::vector<double>{2});
    CHECK(one.value == 2.5);
}

TEST_CASE("the interval is the same every time and contains the estimate", "[common][statistics]") {
    NoisyMachine machine(3);
    std::vector<double> a, b;
    for (int i = 0; i < 30; ++i) {
        a.push_back(machine.time(2));
        b.push_back(machine.time(1));
    }
    const Ratio first = speed_ratio(a, b, 5);
    const Ratio again = speed_ratio(a, b, 5);
    CHECK(first.low == again.low);
    CHECK(first.high == again.high);
    CHECK(first.low <= first.value);
    CHECK(first.value <= first.high);
    CHECK(first.low > 1.8);
    CHECK(first.high < 2.2);
}

TEST_CASE("the 99 % interval holds the truth nearly always", "[common][statistics]") {
    int held = 0;
    const int trials = 300;
    for (int trial = 0; trial < trials; ++trial) {
        NoisyMachine machine(5000 + static_cast<std::uint64_t>(trial));
        std::vector<double> a, b;
        for (int i = 0; i < 40; ++i) {
            a.push_back(machine.time(2));
            b.push_back(machine.time(1));
        }
        const Ratio ratio = speed_ratio(a, b, static_cast<std::uint64_t>(trial), 500);
        held += ratio.low <= 2 && 2 <= ratio.high;
    }
    CHECK(held >= 0.95 * trials);
}

TEST_CASE("times that cannot be are refused", "[common][statistics]") {
    CHECK_THROWS_AS(speed_ratio({}, {}), std::invalid_argument);
    CHECK_THROWS_AS(speed_ratio(std::vector<double>{1, 2}, std::vector<double>{1}), std::invalid_argument);
    CHECK_THROWS_AS(speed_ratio(std::vector<double>{0}, std::vector<double>{1}), std::invalid_argument);
    CHECK_THROWS_AS(speed_ratio(std::vector<double>{1}, std::vector<double>{-1}), std::invalid_argument);
    CHECK_THROWS_AS(speed_ratio(std::vector<double>{1}, std::vector<double>{std::nan("")}),
                    std::invalid_argument);
    CHECK_THROWS_AS(SpeedTest(0), std::invalid_argument);
    CHECK_THROWS_AS(SpeedTest(2, {1.0}), std::invalid_argument);
    CHECK_THROWS_AS(SpeedTest(2, {0.02, HUGE_VAL, 0.02, 100, 80}), std::invalid_argument);
    SpeedTest test(2);
    CHECK_THROWS_AS(test.ratio(), std::invalid_argument);
    CHECK_THROWS_AS(test.add(1, HUGE_VAL), std::invalid_argument);
}

TEST_CASE("a quiet machine decides after one block", "[common][statistics]") {
    const double truth = GENERATE(1.0, 1.9, 2.1, 40.0);
    SpeedTest test(2.0);
    int pairs = 0;
    while (test.wants_more()) {
        test.add(truth * (1 + 0.001 * (pairs % 3)), 1 + 0.001 * (pairs % 2));
        ++pairs;
    }
    CHECK(pairs == 10);
    CHECK(test.pairs() == 10);
    CHECK(test.outcome() == (truth < 2 ? SpeedTest::Outcome::below : SpeedTest::Outcome::above));
    CHECK(test.passed() == (truth > 2));
    CHECK_THROWS_AS(test.add(1, 1), std::logic_error);
}

TEST_CASE("wild times end as unstable and never pass", "[common][statistics]") {
    SpeedTest::Options options;
    const std::size_t more = options.more = GENERATE(0, 35);
    SpeedTest test(2.0, options);
    for (std::uint64_t i = 0; test.wants_more(); ++i) {
        test.add(2 * std::exp(random_at<double>(2 * i, 9, Normal{})),
                 std::exp(random_at<double>(2 * i + 1, 9, Normal{})));
    }
    CHECK(test.pairs() == 80 + more);
    CHECK(test.outcome() == SpeedTest::Outcome::unstable);
    CHECK_FALSE(test.passed());
    CHECK_THAT(test.summary(), Catch::Matchers::ContainsSubstring("unstable"));
}

TEST_CASE("what would be unstable at the cap is measured for longer, and no longer than that takes",
          "[common][statistics]") {
    // Seven of ten runs take 10 % longer: by chance the quantile lies where the two kinds meet.
    SpeedTest::Options options;
    options.more = 80;
    const auto time = [](std::uint64_t i) { return random_word(3, i) % 10 < 3 ? 1.0 : 1.1; };
    const auto end_of = [&] {
        SpeedTest test(1.0, options);
        for (std::uint64_t i = 0; test.wants_more(); ++i) test.add(time(2 * i), time(2 * i + 1));
        return test;
    };
    const SpeedTest longer = end_of();
    CHECK(longer.pairs() > 80);
    CHECK(longer.pairs() < 160);
    CHECK(longer.passed());
    CHECK(longer.ratio().relative_half_width() <= options.unstable_beyond);
    options.more = 0;
    const SpeedTest at_cap = end_of();
    CHECK(at_cap.pairs() == 80);
    CHECK(at_cap.outcome() == SpeedTest::Outcome::unstable);
}

TEST_CASE("where a part of the points is given, below the threshold is not enough to stop",
          "[common][statistics]") {
    SpeedTest::Options options;
    options.zero = 1.5;
    const double truth = GENERATE(1.2, 1.8);  // worth nothing, worth a part
    const double noise = GENERATE(0.001, 0.05);
    SpeedTest test(2.5, options);
    for (std::uint64_t i = 0; test.wants_more(); ++i) {
        test.add(truth * (1 + noise * random_at<double>(2 * i, 5, Uniform{})),
                 1 + noise * random_at<double>(2 * i + 1, 5, Uniform{}));
    }
    CHECK(test.outcome() == SpeedTest::Outcome::below);
    const Ratio ratio = test.ratio();
    CHECK((ratio.high < 1.5 || ratio.relative_half_width() <= options.narrow));
    if (truth == 1.2 || noise == 0.001) CHECK(test.pairs() == 10);
    CHECK(std::abs(ratio.value - truth) < 0.03 * truth);
}

TEST_CASE("exactly at the bar the point estimate decides, and the outcome says so", "[common][statistics]") {
    SpeedTest test(2.0);
    for (std::uint64_t i = 0; test.wants_more(); ++i) {
        test.add(1.96 * (1 + 0.01 * random_at<double>(2 * i, 4, Uniform{})),
                 1 + 0.01 * random_at<double>(2 * i + 1, 4, Uniform{}));
    }
    CHECK(test.outcome() == SpeedTest::Outcome::undecided);
    CHECK(test.passed() == (test.ratio().value >= test.bar()));
    CHECK_THAT(test.summary(), Catch::Matchers::ContainsSubstring("80 pairs: could not decide"));
}

TEST_CASE("level with the bar is an answer where that is asked", "[common][statistics]") {
    SpeedTest::Options options;
    options.slack = 0;
    options.level = true;
    SpeedTest test(1.0, options);
    for (std::uint64_t i = 0; test.wants_more(); ++i) {
        test.add(1 + 0.01 * random_at<double>(2 * i, 4, Uniform{}),
                 1 + 0.01 * random_at<double>(2 * i + 1, 4, Uniform{}));
    }
    CHECK(test.outcome() == SpeedTest::Outcome::undecided);
    CHECK(test.pairs() == options.block);
}

TEST_CASE("under heavy noise the decision is right when the truth is known",
          "[common][statistics][calibration]") {
    const int trials = 150;
    const Calibration far_below = calibrate(1.90, trials);
    const Calibration below = calibrate(1.94, trials);
    const Calibration at_threshold = calibrate(2.00, trials);
    const Calibration above = calibrate(2.06, trials);
    CAPTURE(far_below.pass_rate, below.pass_rate, at_threshold.pass_rate, above.pass_rate);
    CAPTURE(far_below.mean_pairs, below.mean_pairs, at_threshold.mean_pairs, above.mean_pairs);
    CHECK(far_below.pass_rate <= 0.02);
    CHECK(below.pass_rate <= 0.10);
    CHECK(at_threshold.pass_rate >= 0.93);
    CHECK(above.pass_rate >= 0.98);
    CHECK(far_below.mean_pairs < 40);
    CHECK(above.mean_pairs < 40);
}
