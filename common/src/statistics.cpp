#include "rungs/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>

#include "rungs/random.hpp"

namespace rungs {
namespace {

/// The q-quantile of `values`, which are reordered.
double quantile_in_place(std::span<double> values, double q) {
    const double place = q * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(below);
    std::nth_element(values.begin(), middle, values.end());
    if (below + 1 == values.size()) return *middle;
    const double next = *std::min_element(middle + 1, values.end());
    return *middle + (place - static_cast<double>(below)) * (next - *middle);
}

constexpr double low_quantile = 0.2;
constexpr double outside = 0.005;  // on each side of a 99 % interval

void require_time(double time) {
    if (!(time > 0) || !std::isfinite(time)) {
        throw std::invalid_argument("a measured time must be positive, not " + std::to_string(time));
    }
}

}  // namespace

double quantile(std::span<const double> values, double q) {
    if (values.empty()) throw std::invalid_argument("quantile of no values");
    if (!(q >= 0 && q <= 1)) throw std::invalid_argument("a quantile is asked for by a number from 0 to 1");
    for (const double value : values) {
        if (std::isnan(value)) throw std::invalid_argument("quantile: one of the values is NaN");
    }
    std::vector<double> copy(values.begin(), values.end());
    return quantile_in_place(copy, q);
}

double median(std::span<const double> values) { return quantile(values, 0.5); }

bool may_count(std::span<const double> before, double time) {
    const auto faster = static_cast<double>(
        std::count_if(before.begin(), before.end(), [&](double other) { return other < time; }));
    return faster < std::ceil((low_quantile + 0.1) * static_cast<double>(before.size() + 1));
}

Ratio speed_ratio(std::span<const double> baseline, std::span<const double> candidate, std::uint64_t seed,
                  int resamples) {
    const std::size_t n = baseline.size();
    if (n == 0 || n != candidate.size()) {
        throw std::invalid_argument("speed_ratio: " + std::to_string(n) + " baseline and " +
                                    std::to_string(candidate.size()) + " candidate times do not make pairs");
    }
    std::for_each(baseline.begin(), baseline.end(), require_time);
    std::for_each(candidate.begin(), candidate.end(), require_time);

    std::vector<double> resampled_baseline(baseline.begin(), baseline.end());
    std::vector<double> resampled_candidate(candidate.begin(), candidate.end());
    Ratio ratio;
    ratio.value = quantile_in_place(resampled_baseline, low_quantile) /
                  quantile_in_place(resampled_candidate, low_quantile);

    std::vector<double> ratios(static_cast<std::size_t>(std::max(resamples, 1)));
    std::vector<std::uint32_t> words(n);
    for (std::size_t r = 0; r < ratios.size(); ++r) {
        random_words(words, seed, r * n);
        for (std::size_t i = 0; i < n; ++i) {
            const auto pick = static_cast<std::size_t>((std::uint64_t{words[i]} * n) >> 32);
            resampled_baseline[i] = baseline[pick];
            resampled_candidate[i] = candidate[pick];
        }
        ratios[r] = quantile_in_place(resampled_baseline, low_quantile) /
                    quantile_in_place(resampled_candidate, low_quantile);
    }
    ratio.low = quantile_in_place(ratios, outside);
    ratio.high = quantile_in_place(ratios, 1 - outside);
    return ratio;
}

SpeedTest::SpeedTest(double threshold, Options options) : threshold_(threshold), options_(options) {
    if (!(threshold > 0) || !std::isfinite(threshold) || !(options.slack >= 0 && options.slack < 1) ||
        options.block == 0 || options.block > options.cap) {
        throw std::invalid_argument("SpeedTest: needs threshold > 0, 0 <= slack < 1 and 0 < block <= cap");
    }
}

void SpeedTest::add(double baseline, double candidate) {
    if (!wants_more())
        throw std::logic_error("SpeedTest: already decided; more pairs would bias the decision");
    require_time(baseline);
    require_time(candidate);
    baseline_.push_back(baseline);
    candidate_.push_back(candidate);
    const std::size_t most = options_.cap + options_.more;
    if (pairs() % options_.block != 0 && pairs() != options_.cap && pairs() != most) return;

    ratio_ = speed_ratio(baseline_, candidate_, options_.seed, options_.resamples);
    const bool narrow = ratio_.relative_half_width() <= options_.narrow;
    const bool wide = ratio_.relative_half_width() > options_.unstable_beyond;
    const bool last = pairs() >= (wide ? most : options_.cap);
    if (ratio_.low >= bar())
        outcome_ = Outcome::above;
    else if (ratio_.high < bar() && (ratio_.high < options_.zero || narrow))
        outcome_ = Outcome::below;
    else if (last && wide)
        outcome_ = Outcome::unstable;
    else if (last || (options_.level && narrow))
        outcome_ = Outcome::undecided;
}

Ratio SpeedTest::ratio() const {
    return wants_more() ? speed_ratio(baseline_, candidate_, options_.seed, options_.resamples) : ratio_;
}

bool SpeedTest::passed() const {
    return outcome_ == Outcome::above || (outcome_ == Outcome::undecided && ratio_.value >= bar());
}

std::string SpeedTest::summary() const {
    const Ratio now = ratio();
    char text[160];
    std::snprintf(text, sizeof text, "%.3gx, 99 %% interval %.3g to %.3g, %zu pairs: %s %.3g", now.value,
                  now.low, now.high, pairs(), name_of(outcome_), bar());
    return text;
}

const char* name_of(SpeedTest::Outcome outcome) {
    switch (outcome) {
        case SpeedTest::Outcome::running:
            return "not yet decided against";
        case SpeedTest::Outcome::above:
            return "above";
        case SpeedTest::Outcome::below:
            return "below";
        case SpeedTest::Outcome::undecided:
            return "could not decide against";
        case SpeedTest::Outcome::unstable:
            return "too unstable to compare with";
    }
    return "";
}

}  // namespace rungs
