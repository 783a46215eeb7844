// The oracle: sums in double, with what each addition rounds away collected beside them.

#include "exam/reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "rungs/norms.hpp"

namespace reduction {
namespace {

/// Adds up terms and watches whether float could go wrong on them at all.
class Oracle {
  public:
    void add(double term) {
        sum_.add(term);
        magnitude_.add(std::abs(term));
        whole_ = whole_ && term == std::trunc(term);  // false for NaN
    }

    Reference answer() const {
        // Whole numbers whose magnitudes sum to at most 2^24: so does every partial sum in every order, and
        // float holds each of them without rounding.
        const double magnitude = magnitude_.value();
        return {sum_.value(), magnitude, whole_ && magnitude <= 0x1p24};
    }

  private:
    rungs::CompensatedSum sum_;
    rungs::CompensatedSum magnitude_;
    bool whole_ = true;
};

}  // namespace

Reference reference_sum(std::span<const float> v) {
    Oracle oracle;
    for (const float value : v) oracle.add(value);
    return oracle.answer();
}

Reference reference_dot(std::span<const float> v, std::span<const float> w) {
    if (v.size() != w.size()) {
        throw std::length_error("dot product of " + std::to_string(v.size()) + " and " +
                                std::to_string(w.size()) + " elements");
    }
    Oracle oracle;
    for (std::size_t i = 0; i < v.size(); ++i) {
        oracle.add(static_cast<double>(v[i]) * static_cast<double>(w[i]));  // 24 + 24 bits: exact in double
    }
    return oracle.answer();
}

// Let u be the unit roundoff, A = sum |terms| and k the number of rounded operations. Each operation leaves a
// partial sum wrong by a factor 1 + d, |d| <= u, and no partial sum exceeds A. Then, to first order in u,
//
//   always:  |error| <= k u A.  Any order has at most n - 1 additions on the way to the result (N. Higham,
//            Accuracy and Stability of Numerical Algorithms, 2nd ed. 2002, section 4.2, eq. 4.3 and 4.4);
//            a dot product adds one rounding a term (section 3.1). To all orders: k u / (1 - k u).
//   nearly always:  |error| <= L sqrt(k) u A.  The d of different operations scatter around zero, so the
//            error is a martingale with steps of at most u A, and Azuma's inequality gives
//            P(|error| > L sqrt(k) u A) <= 2 exp(-L^2 / 2) (N. Higham, T. Mary, SIAM J. Sci. Comput. 41,
//            2019, and M. Connolly, N. Higham, T. Mary, 43, 2021, for when the premise holds).
//
// With L = 5.25 that is 2e-6, and in fact far less: partial sums are below A for most of the way. The first
// form is the smaller one up to k = 27. A chain that stalls (each addition rounded the same way) breaks the
// premise, and is meant to fail.
double rounding_bound(std::size_t roundings, double magnitude) {
    constexpr double confidence = 5.25;
    const auto k = static_cast<double>(roundings);
    const double likely = confidence * std::sqrt(k) * unit_roundoff;
    const double always = k * unit_roundoff < 1 ? k * unit_roundoff / (1 - k * unit_roundoff)
                                                : std::numeric_limits<double>::infinity();
    // Results too small for float's exponent are off by half the smallest subnormal, whatever their size.
    return std::min(likely, always) * magnitude + 0.5 * k * std::numeric_limits<float>::denorm_min();
}

}  // namespace reduction
