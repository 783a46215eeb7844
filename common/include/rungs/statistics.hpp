#pragma once
// Judging speed on noisy machines: ratios of low quantiles over interleaved pairs, with an interval, decided
// in steps. Noise only ever adds time, so the 20 % quantile is steadier than the mean or the median, and less
// of an accident than the minimum.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace rungs {

/// The quantile `q` in [0, 1] with linear interpolation between neighbours (0.5: the median).
/// @throws std::invalid_argument for no values, a NaN among them, or q outside [0, 1].
double quantile(std::span<const double> values, double q);

/// quantile(values, 0.5)
double median(std::span<const double> values);

/// Whether a time may come to count for a low quantile: it is the first, or among the fastest 30 % of all so
/// far. A time that is not is as slow as others that were before it.
/// @param before  the times so far, this one not among them
bool may_count(std::span<const double> before, double time);

/// A ratio and the interval that holds it with 99 % confidence.
struct Ratio {
    double value = 0;
    double low = 0;
    double high = 0;

    /// Half of the interval's width over the value.
    double relative_half_width() const { return (high - low) / 2 / value; }
};

/// The 20 % quantile of `baseline` over that of `candidate`: 2 means that the candidate takes half the time.
/// Element i of both was measured in the same moment (a pair); the interval is a bootstrap over pairs, so
/// drift that both share cancels. The same input and seed give the same interval everywhere.
/// @param resamples  2000 give the 99 % interval to about a tenth of its width
/// @throws std::invalid_argument for no pairs, different lengths, or a time that is not positive.
Ratio speed_ratio(std::span<const double> baseline, std::span<const double> candidate, std::uint64_t seed = 1,
                  int resamples = 2000);

/// Decides whether a candidate is `threshold` times as fast as a baseline, from as few pairs as that takes.
///
///     SpeedTest test(2.0);
///     while (test.wants_more()) test.add(time(baseline), time(candidate));
///     test.outcome();
///
/// After each block of pairs the interval is compared with the bar, `threshold * (1 - slack)`. Wholly on one
/// side: done. If a part of the points is given below the threshold, "below" alone does not say how many:
/// then pairs go on until the interval is narrow, or lies where there are none. At the cap the point estimate
/// is all there is, and the outcome says so.
class SpeedTest {
  public:
    enum class Outcome {
        running,    ///< more pairs are wanted
        above,      ///< the interval lies above the bar
        below,      ///< the interval lies below the bar
        undecided,  ///< the cap is reached with the bar inside a narrow interval: the point estimate decides
        unstable,   ///< no more pairs, and the interval is wider than +-5 %: measure again on a quiet machine
    };

    struct Options {
        double slack = 0.02;     ///< granted below the threshold
        double zero = HUGE_VAL;  ///< up to here the ratio earns nothing; beyond the threshold: all or nothing
        double narrow = 0.02;    ///< relative half width that settles a part of the points
        std::size_t block = 10;  ///< pairs between two looks
        std::size_t cap = 80;    ///< pairs at most
        std::size_t more = 0;    ///< beyond the cap, as long as it would otherwise be unstable
        double unstable_beyond = 0.05;  ///< relative half width of the interval at the cap
        std::uint64_t seed = 1;         ///< of the bootstrap
        int resamples = 2000;
        bool level = false;  ///< a narrow interval around the bar is an answer, too: undecided
    };

    /// @throws std::invalid_argument unless threshold > 0, 0 <= slack < 1 and 0 < block <= cap.
    explicit SpeedTest(double threshold) : SpeedTest(threshold, Options()) {}
    SpeedTest(double threshold, Options options);

    bool wants_more() const { return outcome_ == Outcome::running; }
    /// One interleaved pair of times, in any unit. @throws std::invalid_argument for a time that is not
    /// positive, std::logic_error when no more are wanted.
    void add(double baseline, double candidate);

    Outcome outcome() const { return outcome_; }
    double bar() const { return threshold_ * (1 - options_.slack); }
    std::size_t pairs() const { return baseline_.size(); }
    /// Estimate and interval from the pairs so far. @throws std::invalid_argument before the first pair.
    Ratio ratio() const;
    /// May points be given for this threshold? Where it could not be decided, the point estimate says; a
    /// measurement that is unstable never passes.
    bool passed() const;
    /// "2.04x, 99 % interval 2.01 to 2.08, 30 pairs: above 1.96"
    std::string summary() const;

  private:
    double threshold_;
    Options options_;
    Outcome outcome_ = Outcome::running;
    std::vector<double> baseline_;
    std::vector<double> candidate_;
    Ratio ratio_;
};

/// "above", "could not decide", ...
const char* name_of(SpeedTest::Outcome outcome);

}  // namespace rungs
